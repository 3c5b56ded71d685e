import { messageOf } from '../../base/text.ts';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import type { CheckPolicy } from '../../check/request/check-request.ts';
import type { OutputReport, RunReport } from '../../report-model/run-report.ts';
import type { Launch } from '../../launch/launch.ts';
import type { RunResult } from '../../interpreter/core/run-result.ts';
import type { LaunchCounters } from '../../interpreter/counters.ts';
import type { Options } from '../../settings/options.ts';
import { toolVersion } from '../../system/version.ts';
import type { LaunchedKernel } from '../build/phase-data.ts';
import type { SourceFacts } from '../project/source-facts.ts';
import type { Binding } from './run-binding.ts';
import { countersReport } from './run-counters.ts';
import { elementAt, valueOf } from '../../launch/element.ts';
import { runFindings, RunWords } from './run-findings.ts';
import type { RunWitness } from './run-witness.ts';

const shownElements = 8;

interface Told {
  readonly policy: CheckPolicy;
  readonly options: Options;
  readonly witness: RunWitness | undefined;
  readonly track: readonly string[];
  readonly cwd: string;
  readonly result: RunResult;
  readonly counters: LaunchCounters | undefined;
  readonly schedule: number | undefined;
  readonly schedules: number | undefined;
}

/** The report of a run. Also writes the contents of the requested arrays to files. */
export async function reportOf(
  entry: LaunchedKernel,
  facts: SourceFacts,
  launch: Launch,
  binding: Binding,
  { policy, options, witness, track, cwd, result, counters, schedule, schedules }: Told,
): Promise<RunReport> {
  const { kernel, name, unit } = entry;
  const { run } = options;
  const blocks = run.blocks ?? witness?.schedule?.blocks;
  return {
    schema: 1,
    tool: { name: 'selvage', version: toolVersion },
    kernel: {
      name: name.full,
      symbol: kernel.symbol,
      ...(kernel.location ? { location: kernel.location } : {}),
      build: unit.kind === 'ptx' ? 'ptx' : run.build,
    },
    launch: {
      block: launch.block!,
      grid: launch.grid!,
      sharedBytes: launch.sharedBytes ?? 0,
      cooperative: launch.cooperative,
      ...(blocks ? { blocks } : {}),
      ...(schedule === undefined ? {} : { schedule }),
      ...(schedules === undefined ? {} : { schedules }),
      backend: run.backEnd,
      races: run.races,
      args: binding.described,
    },
    outcome: result.outcome,
    steps: result.steps,
    findings: await runFindings({ entry, facts, policy, launch, result, steps: run.steps, track }),
    counters: counters ? countersReport(counters, new RunWords(entry)) : null,
    outputs: outputsOf(binding, result, run.dump, cwd),
  };
}

/** The contents of arrays after the run. Also writes the requested ones to files. */
function outputsOf(
  { arrays, buffers }: Binding,
  result: RunResult,
  dump: ReadonlyMap<string, string>,
  cwd: string,
): Record<string, OutputReport> {
  const outputs: Record<string, OutputReport> = {};
  for (const { name, names, buffer, type, length, aliases } of arrays) {
    const shown = Math.min(length ?? shownElements, shownElements);
    const bytes = result.readBytes(buffer, 0, (length ?? shown) * type.bytes);
    const first = Array.from({ length: shown }, (_, index) => valueOf(type, elementAt(type, bytes, index)));
    const file = [...dump].find(([wanted]) => names.includes(wanted))?.[1];
    if (file !== undefined) writeBytes(resolve(cwd, file), bytes);
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
    outputs[name] = {
      type: type.name,
      length,
      sha256: length === null ? null : digest,
      changed: length === null ? null : !hasInitialBytes(bytes, buffers[buffer]!),
      first,
      ...(aliases.length > 0 ? { aliases } : {}),
      ...(file === undefined ? {} : { file }),
    };
  }
  return outputs;
}

/** Whether bytes are the initial contents of a buffer. */
function hasInitialBytes(bytes: Uint8Array, { initial, fill, elementBytes }: Binding['buffers'][number]): boolean {
  if (initial) return Buffer.compare(bytes, initial) === 0;
  const pattern = Uint8Array.from({ length: elementBytes }, (_, at) => Number((fill >> BigInt(8 * at)) & 255n));
  return bytes.every((byte, at) => byte === pattern[at % elementBytes]);
}

/** @throws UsageError if the file cannot be written */
function writeBytes(file: string, bytes: Uint8Array): void {
  try {
    writeFileSync(file, bytes);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${messageOf(error)}.`);
  }
}
