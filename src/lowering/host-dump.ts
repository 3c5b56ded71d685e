/** What GCC makes of the host code of a unit, before it optimises. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { Diagnostic } from '../source/diagnostic.ts';
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

/** The dump of a text is known. */
interface Known {
  readonly isKnown: true;
}

/** Why a text must not be compiled. */
interface Refused {
  readonly refused: Diagnostic;
}

/**
 * Compiles the host code of a unit up to its dump.
 * @param run runs a program in the environment of nvcc
 * @param before gets the preprocessed text, and what the preprocessor printed: returns why it must not be compiled, or that its dump is known; null: it is
 *   compiled
 * @returns the dump; or why it is missing; or that it is known
 */
export async function hostDump(
  steps: HostSteps,
  limits: ProcessLimits,
  run: (command: ProgramCall, limits: ProcessLimits) => Promise<ProcessResult>,
  before: (preprocessed: string, printed: string) => Promise<Refused | Known | null> = async () => null,
): Promise<HostDump | HostFailure | Refused | Known> {
  const preprocessed = await run(steps.preprocess, limits);
  if (!exitedWell(preprocessed)) return { step: 'preprocess', result: preprocessed };
  // Names in the text may have any bytes.
  const plain = await readFile(steps.preprocessed, 'latin1');
  const early = await before(plain, preprocessed.stderr);
  if (early) return early;
  if (steps.rewrite) {
    const rewritten = await run(steps.rewrite, limits);
    if (!exitedWell(rewritten)) return { step: 'rewrite', result: rewritten };
  }
  const text = steps.rewrite ? withoutStubs(await readFile(steps.rewritten, 'latin1')) : plain;
  await writeFile(steps.source, text ?? '#error "cudafe++ includes no file of stubs"\n', 'latin1');
  const result = await run(steps.lower, limits);
  if (!exitedWell(result)) return { step: 'lower', result };
  // GCC writes a dump only if the file has functions.
  const gimple = existsSync(steps.dump) ? await readFile(steps.dump, 'utf8') : '';
  return { gimple, assembly: await readFile(steps.assembly, 'utf8') };
}
