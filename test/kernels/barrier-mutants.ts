/** The test kernels without one of their barriers. */
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { checkFile, type CheckedFile } from './checked-file.ts';
import { checkedInPtx } from './checked-in.ts';

const barrier = /^\s*(bar|barrier)(\.cta)?\.(sync|red)\b.*$/;

/** A barrier in the PTX of a file. */
export interface BarrierLine {
  /** From 0. */
  readonly at: number;
  /** The entry or function whose body contains it. */
  readonly touched: { readonly isEntry: boolean; readonly name: string };
}

/** The barriers of the verification build of a file. */
export function barrierLines(file: string): BarrierLine[] {
  const lines = checkedInPtx(file, 'verification').split('\n');
  return lines.flatMap((line, at) => (barrier.test(line) ? [{ at, touched: enclosingFunction(lines, at) }] : []));
}

function enclosingFunction(lines: readonly string[], at: number): BarrierLine['touched'] {
  for (let i = at; i >= 0; i--) {
    const match = /^(?:\.\w+ )*\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)/.exec(lines[i]!);
    if (match) return { isEntry: match[1] === 'entry', name: match[2]! };
  }
  return { isEntry: false, name: '' };
}

/**
 * Checks a file without one of its barriers.
 * @param name - of the kernel to check; default: all
 */
export function checkWithout(file: string, { at }: BarrierLine, name: string | undefined): Promise<CheckedFile> {
  const lines = checkedInPtx(file, 'verification').split('\n');
  const mutant = lines.with(at, lines[at]!.replace(barrier, '')).join('\n');
  const options = name === undefined ? {} : { kernel: name.replace(/\([^()]*\)$/, '') };
  // Both builds get the mutant: the two must agree on the barriers.
  return checkFile(file, { ptx: () => mutant, options });
}

/** Number of barriers of a kernel, including those of called functions. */
export function barriersIn({ blocks }: Kernel): number {
  return blocks.flatMap(({ instructions }) => instructions).filter(({ operation }) => operation.effect.kind === 'barrier').length;
}
