/**
 * Compares the counts of a GPU for launches with those of the interpreter.
 *
 *   node test/gpu/counts.ts write FOLDER   writes the launches to FOLDER/counts.launches
 *   node test/gpu/counts.ts read FOLDER    reads FOLDER/counts.csv, which `ncu` wrote of `launcher count`
 *
 * The profiler runs a file of launches with:
 *
 *   ncu --csv --page raw --clock-control none --metrics METRICS ./launcher count counts.launches > counts.csv
 *
 * where METRICS are those that `node test/gpu/counts.ts metrics` prints.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Counts } from '../../src/interpreter/counters.ts';
import { drawnLaunches, type KnownLaunch } from './drawn-launches.ts';
import { LaunchFile } from './launch-file.ts';

const [command, folder = '.', runs = '1'] = process.argv.slice(2);

/** Metrics of the profiler whose sum corresponds to a count of the interpreter. */
const metrics: Readonly<Partial<Record<keyof Counts, readonly string[]>>> = {
  steps: ['smsp__inst_executed.sum'],
  threadSteps: ['smsp__thread_inst_executed.sum'],
  globalAccesses: [
    'l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum',
    'l1tex__t_requests_pipe_lsu_mem_global_op_st.sum',
    'l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum',
    'l1tex__t_requests_pipe_lsu_mem_global_op_red.sum',
  ],
  sectors: [
    'l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum',
    'l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum',
    'l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum',
    'l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum',
  ],
  conflicts: ['l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum'],
  branches: ['smsp__sass_branch_targets.sum'],
  divergentBranches: ['smsp__sass_branch_targets_threads_divergent.sum'],
};
const names = Object.keys(metrics) as (keyof Counts)[];

async function all(): Promise<readonly KnownLaunch[]> {
  const launches: KnownLaunch[] = [];
  for await (const launch of drawnLaunches(21, Number(runs))) launches.push(launch);
  return launches;
}

async function write(): Promise<void> {
  const file = new LaunchFile();
  let ptx = '';
  const launches = await all();
  for (const [id, launch] of launches.entries()) {
    if (launch.ptx !== ptx) file.addModule((ptx = launch.ptx));
    file.addLaunch({ ...launch.record, id });
  }
  writeFileSync(join(folder, 'counts.launches'), file.bytes());
  console.log(`${launches.length} launches`);
}

/** The launches that the profiler saw, in order: metrics by name. */
function profiled(): readonly ReadonlyMap<string, number>[] {
  const lines = readFileSync(join(folder, 'counts.csv'), 'utf8').split('\n');
  const rows = lines.filter((line) => line.startsWith('"')).map((line) => [...line.matchAll(/"((?:[^"]|"")*)"/g)].map(([, cell]) => cell!));
  const [head = [], , ...launches] = rows;
  return launches.map((row) => new Map(head.map((name, at) => [name, Number((row[at] ?? '').replaceAll(',', ''))])));
}

async function read(): Promise<void> {
  const launches = await all();
  const rows = profiled();
  if (rows.length !== launches.length) throw new Error(`${rows.length} launches were profiled, of ${launches.length}`);
  for (const name of names) {
    const tally = { compared: 0, equal: 0, below: 0, above: 0 };
    const ratios: number[] = [];
    const told: string[] = [];
    for (const [at, { title, warps }] of launches.entries()) {
      if (warps.length === 0) continue;
      // The GPU counts a sector for each turn of an atomic.
      const turns = name === 'sectors' ? warps.reduce((sum, { atomicTurns }) => sum + atomicTurns, 0) : 0;
      const counted = warps.reduce((sum, warp) => sum + warp[name], turns);
      const parts = metrics[name]!.map((metric) => rows[at]!.get(metric) ?? NaN);
      const seen = parts.reduce((sum, part) => sum + part, 0);
      if (Number.isNaN(seen)) continue;
      tally.compared++;
      tally[counted === seen ? 'equal' : counted < seen ? 'below' : 'above']++;
      ratios.push(seen / Math.max(1, counted));
      if (counted !== seen && told.length < 400) told.push(`  ${name}: machine ${counted}, GPU ${seen} (${parts.join(' ')}): ${title}`);
    }
    ratios.sort((a, b) => a - b);
    const at = (share: number): string => (ratios[Math.floor(share * (ratios.length - 1))] ?? NaN).toFixed(2);
    console.log(
      `${name}: ${tally.compared} launches, equal ${tally.equal}, machine below the GPU ${tally.below}, above ${tally.above}; GPU over machine p10 ${at(0.1)}, median ${at(0.5)}, p90 ${at(0.9)}`,
    );
    if (process.argv.includes('--list')) console.log(told.join('\n'));
  }
}

if (command === 'write') await write();
else if (command === 'read') await read();
else if (command === 'metrics') console.log(Object.values(metrics).flat().join());
else throw new Error('node test/gpu/counts.ts write|read|metrics FOLDER');
