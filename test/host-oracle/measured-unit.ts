/** Stated and recorded launches of generated programs that are compiled as one unit. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Knowledge, matchOf, openSymbols, readLaunches } from './compare.ts';
import { drawUnit } from './generator.ts';
import { type Recording, parametersIn, recordUnit } from './record.ts';
import type { ReadLaunch } from '../../src/host/operations/host-operation.ts';

export interface Measured {
  programs: number;
  launches: number;
  readonly known: Record<Knowledge | 'missing', number>;
  /** Launches that are not stated, with the differences from the nearest that is. */
  readonly missing: string[];
  /** What extents of launches depend on that no argument determines, with the number of launches. */
  readonly reasons: Map<string, number>;
  /** Programs whose interpretation reached the work limit. */
  cutShort: number;
  /** Uses of each rule of the grammar. */
  readonly rules: Map<string, number>;
}

/** Nothing measured yet. */
export function nothingMeasured(): Measured {
  return {
    programs: 0,
    launches: 0,
    known: { exact: 0, constrained: 0, input: 0, open: 0, missing: 0 },
    missing: [],
    reasons: new Map(),
    cutShort: 0,
    rules: new Map(),
  };
}

/** Compiles, runs and reads the programs of `count` successive seeds, and adds what was found. Needs nvcc. */
export async function measureUnit(first: number, count: number, sum: Measured): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-oracle-'));
  try {
    const unit = drawUnit(first, count);
    const recordings = await recordUnit(unit, folder);
    const parameters = parametersIn(readFileSync(join(folder, `${unit.name.replace(/\.cu$/, '')}.parameters`), 'utf8'));
    // Names of internal linkage contain the name of the file.
    const reader = join(folder, 'reader');
    mkdirSync(reader);
    writeFileSync(join(reader, unit.name), unit.text.replace(/\nint main\(int argc, char\*{2} argv\) \{\n[^]*$/, '\n'));
    const isEntry = (symbol: string): boolean => /^_ZN\d+p\d+5entryEiPPc$/.test(symbol);
    const reading = await readLaunches([unit.name], reader, parameters, { startsAt: isEntry });
    for (const { rules } of unit.programs) for (const rule of rules) add(sum.rules, rule);
    for (const [seed, recording] of recordings) {
      sum.programs++;
      const isOwn = new RegExp(`(?<!\\d)${`p${seed}`.length}p${seed}(?!\\d{2})`);
      const stated = reading.launches.filter(({ entry, kernel }) => isOwn.test(entry.symbol) || isOwn.test(kernel));
      addRecording(recording, stated, `seed ${seed}`, sum);
    }
    sum.cutShort += reading.cutShort.length;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Compares the launches of one recording with the stated ones. @param program its name in lines about missing launches */
export function addRecording(recording: Recording, stated: readonly ReadLaunch[], program: string, sum: Measured): void {
  for (const [at, launch] of recording.launches.entries()) {
    sum.launches++;
    const earlier = recording.allocations.filter(({ launchesBefore }) => launchesBefore <= at);
    const { knowledge, differences, stated: nearest } = matchOf(launch, stated, earlier);
    sum.known[knowledge ?? 'missing']++;
    if (knowledge === null)
      sum.missing.push(
        `${program}: ${launch.name} grid ${launch.grid.join()} block ${launch.block.join()}: ${differences.join('; ')} (line ${nearest?.location?.line})`,
      );
    if (knowledge === 'open' && nearest)
      for (const reason of new Set(openSymbols(nearest).map((id) => id.replace(/[#@+\d].*$/s, '').slice(0, 40)))) add(sum.reasons, reason);
  }
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
