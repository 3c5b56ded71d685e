import type { Severity } from '../source/diagnostic.ts';
import type { Term } from '../term/term.ts';
import { type KernelContext, fieldAt } from './context.ts';

/**
 * Whether a launch, an argument or an assumption gives every dimension, and every scalar that these terms depend on. A
 * scalar that decides neither an address nor a path may have any value. Contents of memory are never given.
 */
export function isGiven(context: KernelContext, terms: readonly Term[]): boolean {
  const { launch } = context.request;
  const gridIsGiven = launch.grid !== null || context.dimensions.grid.every((size) => size !== null);
  if ((launch.block ?? context.kernel.requiredThreads ?? null) === null || !gridIsGiven) return false;
  return terms.every((term) =>
    term.leaves.every((leaf) => {
      const atom = leaf.atom!;
      if (atom.kind === 'parameter') return fieldAt(context, atom.index, atom.offset)?.isPointer ?? false;
      return atom.kind !== 'havoc';
    }),
  );
}

/** What is not certain within the given launch is at most a warning. */
export function weaker(severity: Severity): Severity {
  return severity === 'error' ? 'warning' : severity;
}
