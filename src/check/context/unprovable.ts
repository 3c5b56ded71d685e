/** What of a kernel is not understood well enough to prove anything. */
import { objectName } from '../../cuda/names/demangle.ts';
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import type { Assumption } from '../../verdict/finding.ts';
import type { Reason } from '../../verdict/reason.ts';
import type { KernelAndLaunch, SymbolicFacts } from './facts.ts';
import { declarationOf } from './scalars.ts';

/** Why nothing about this kernel can be proved; null where all of it is understood. */
export function unprovable(context: KernelAndLaunch & SymbolicFacts): Reason | null {
  const { kernel } = context;
  if (kernel.isTooLarge) return { kind: 'too-large' };
  const calls = new Set(callsWithoutEffect(context).map(({ operation: { effect } }) => effect.kind === 'opaque' && effect.reason)); // prettier-ignore
  const unsupported = kernel.unsupported.find(({ reason }) => !calls.has(reason));
  if (unsupported) return { kind: 'not-understood', what: unsupported.reason };
  for (const block of kernel.blocks) {
    if (block.terminator.kind === 'unknown') return { kind: 'not-understood', what: block.terminator.reason };
    for (const { operation } of block.instructions) {
      const { effect, mnemonic } = operation;
      if (effect.kind === 'opaque' && !calls.has(effect.reason)) return { kind: 'unknown-effect', mnemonic };
      if (effect.kind === 'bulk-copy' || effect.kind === 'bulk-wait' || effect.kind === 'warpgroup-matrix')
        return { kind: 'later-effect', mnemonic };
    }
  }
  return null;
}

/** Whether the kernel writes surfaces: each such write is a store to an unknown element. */
export function writesSurfaces({ blocks }: Kernel): boolean {
  return blocks.some(({ instructions }) =>
    instructions.some(({ operation: { effect } }) => effect.kind === 'surface-store'),
  );
}

/** What is taken for granted of functions without a body. */
export function assumedOfCalls(context: KernelAndLaunch & SymbolicFacts): Assumption[] {
  const callees = callsWithoutEffect(context).map(({ operation: { effect } }) => (effect.kind === 'opaque' ? effect.callee! : '')); // prettier-ignore
  return [...new Set(callees)].map((callee) => ({
    kind: 'no-effect',
    text: `${objectName(callee)} touches no memory of this kernel, holds no barrier and returns`,
  }));
}

/**
 * Calls of functions without a body that are handed no address: of the memory of the kernel they know nothing. A function
 * that is once handed one counts with all its calls, and none counts where the kernel leaves an address in memory.
 */
function callsWithoutEffect(context: KernelAndLaunch & SymbolicFacts): readonly Instruction[] {
  const calls = context.kernel.blocks.flatMap(({ instructions }) =>
    instructions.filter(({ operation: { effect } }) => effect.kind === 'opaque' && effect.callee !== undefined),
  );
  if (calls.length === 0 || storesAddress(context)) return [];
  const { symbolic } = context;
  const isHanded = (call: Instruction): boolean =>
    call.arguments.some(
      (operand) =>
        operand.kind === 'address' || symbolic.operand(operand).leaves.some((leaf) => mayBeAddress(context, leaf)),
    );
  const reasonOf = ({ operation: { effect } }: Instruction): string => (effect.kind === 'opaque' ? effect.reason : '');
  const handed = new Set(calls.filter(isHanded).map(reasonOf));
  return calls.filter((call) => !handed.has(reasonOf(call)));
}

/** Whether some store or atomic may leave an address where other functions find it. */
function storesAddress(context: KernelAndLaunch & SymbolicFacts): boolean {
  return context.kernel.blocks.some(({ instructions }) =>
    instructions.some(({ operation: { effect, mnemonic, sources }, arguments: operands }) => {
      if ((effect.kind !== 'store' && effect.kind !== 'atomic') || effect.space === 'local') return false;
      // Numbers of 64 bits may be addresses; those that are stored as floating-point numbers are none.
      return operands.some(
        (operand, at) =>
          at > 0 &&
          sources[at] === 64 &&
          !mnemonic.endsWith('.f64') &&
          (operand.kind === 'address' ||
            context.symbolic.operand(operand).leaves.some((leaf) => mayBeAddress(context, leaf))),
      );
    }),
  );
}

function mayBeAddress({ request, fields }: KernelAndLaunch, leaf: Term): boolean {
  const atom = leaf.atom!;
  switch (atom.kind) {
    case 'thread':
    case 'block':
    case 'block-size':
    case 'grid-size':
    case 'iteration':
      return false;
    case 'parameter': {
      const { index, offset, bytes } = atom;
      const isPointer = fields.some((field) => field.isPointer && field.index === index && field.offset === offset);
      return isPointer || (bytes === 8 && declarationOf(request.parameters[index], offset) !== 'scalar');
    }
    case 'havoc':
    case 'phi':
      // A float, or half of an address that somebody took apart.
      return leaf.width > 32;
    case 'line':
      return false;
    case 'object':
      return true;
  }
}
