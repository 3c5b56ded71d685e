/** What GCC makes of the host code of a unit, before it optimises. */
import { readFile, writeFile } from 'node:fs/promises';
import { exitedWell, type ProcessLimits, type ProcessResult } from '../system/child-process.ts';
import type { ProgramCall } from '../toolchain/nvcc-steps.ts';
import { type HostSteps, withoutStubs } from './host-steps.ts';

/** The dump and the assembly, which has layouts of types, tables of virtual functions and initialised data. */
export interface HostDump {
  readonly gimple: string;
  readonly assembly: string;
}

/** The step that failed, and what its program printed. */
interface HostFailure {
  readonly step: 'preprocess' | 'rewrite' | 'lower';
  readonly result: ProcessResult;
}

/**
 * Compiles the host code of a unit up to its dump.
 * @param run runs a program in the environment of nvcc
 */
export async function hostDump(
  steps: HostSteps,
  limits: ProcessLimits,
  run: (command: ProgramCall, limits: ProcessLimits) => Promise<ProcessResult>,
): Promise<HostDump | HostFailure> {
  for (const step of ['preprocess', 'rewrite'] as const) {
    const result = await run(steps[step], limits);
    if (!exitedWell(result)) return { step, result };
  }
  // Names in the text may have any bytes.
  const text = withoutStubs(await readFile(steps.rewritten, 'latin1'));
  await writeFile(steps.source, text ?? '#error "cudafe++ includes no file of stubs"\n', 'latin1');
  const result = await run(steps.lower, limits);
  if (!exitedWell(result)) return { step: 'lower', result };
  const [gimple, assembly] = await Promise.all([readFile(steps.dump, 'utf8'), readFile(steps.assembly, 'utf8')]);
  return { gimple, assembly };
}
