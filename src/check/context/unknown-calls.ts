/** Calls of unknown functions in a kernel, and the assumptions about them. */
import { objectName } from '../../cuda/names/demangle.ts';
import { callToUnknown } from '../../ir/form/function-address.ts';
import type { BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';
import { equalAddresses } from '../../ir/form/synthetic-operation.ts';
import type { Term } from '../../term/term.ts';
import type { Assumption } from '../../verdict/finding.ts';
import type { KernelAndLaunch, SymbolicFacts } from './facts.ts';
import { declarationOf } from './scalars.ts';

/**
 * The reasons of opaque calls that do not prevent a proof, because {@link assumedOfCalls} lists an assumption for each.
 */
export function harmlessCalls(context: KernelAndLaunch & SymbolicFacts): ReadonlySet<string> {
  const reasons = callsWithoutEffect(context).map(({ operation: { effect } }) => (effect.kind === 'opaque' ? effect.reason : ''));
  return new Set(comparesPointers(context.kernel) ? [...reasons, callToUnknown] : reasons);
}

/**
 * Whether every call through a pointer in the kernel is preceded by comparisons of the pointer with the functions of
 * the module that have this signature. Then all functions that a program may call through it are known.
 */
export function comparesPointers({ blocks }: Kernel): boolean {
  const isCall = ({ operation: { effect } }: Instruction): boolean => effect.kind === 'opaque' && effect.reason === callToUnknown;
  const isCompared = (id: BlockId): boolean =>
    blocks[id]!.predecessors.length > 0 &&
    blocks[id]!.predecessors.every((from) => {
      const { terminator, instructions } = blocks[from]!;
      if (terminator.kind !== 'branch' || terminator.otherwise !== id || terminator.then === id) return false;
      const { condition } = terminator;
      return instructions.some(
        ({ operation, results }) => operation === equalAddresses && condition.kind === 'value' && results[0] === condition.id,
      );
    });
  const calling = blocks.filter(({ instructions }) => instructions.some(isCall));
  return calling.length > 0 && calling.every(({ id }) => isCompared(id));
}

const functionsOfModule = 'pointers to functions lead to functions whose address this module takes';

/** Assumptions about functions without a body, and about pointers to functions. */
export function assumedOfCalls(context: KernelAndLaunch & SymbolicFacts): Assumption[] {
  const callees = callsWithoutEffect(context).map(({ operation: { effect } }) => (effect.kind === 'opaque' ? effect.callee! : ''));
  const assumptions: Assumption[] = [...new Set(callees)].map((callee) => ({
    kind: 'no-effect',
    text: `${objectName(callee)} touches no memory of this kernel, holds no barrier and returns`,
  }));
  if (comparesPointers(context.kernel)) assumptions.push({ kind: 'contents', text: functionsOfModule });
  return assumptions;
}

/**
 * Calls of functions without a body that receive no address: these cannot access the memory of the kernel. If one call
 * passes an address to a function, no call of this function is included. If the kernel stores an address in memory, the
 * result is empty.
 */
function callsWithoutEffect(context: KernelAndLaunch & SymbolicFacts): readonly Instruction[] {
  const calls = context.kernel.blocks.flatMap(({ instructions }) =>
    instructions.filter(({ operation: { effect } }) => effect.kind === 'opaque' && effect.callee !== undefined),
  );
  if (calls.length === 0 || storesAddress(context)) return [];
  const { symbolic } = context;
  const isHanded = (call: Instruction): boolean =>
    call.arguments.some(
      (operand) => operand.kind === 'address' || symbolic.operand(operand).leaves.some((leaf) => mayBeAddress(context, leaf)),
    );
  const reasonOf = ({ operation: { effect } }: Instruction): string => (effect.kind === 'opaque' ? effect.reason : '');
  const handed = new Set(calls.filter(isHanded).map(reasonOf));
  return calls.filter((call) => !handed.has(reasonOf(call)));
}

/** Whether some store or atomic may write an address into memory that other functions can read. */
function storesAddress(context: KernelAndLaunch & SymbolicFacts): boolean {
  return context.kernel.blocks.some(({ instructions }) =>
    instructions.some(({ operation: { effect, mnemonic, sources }, arguments: operands }) => {
      if ((effect.kind !== 'store' && effect.kind !== 'atomic') || effect.space === 'local') return false;
      // A 64-bit value may be an address, unless it is stored as a floating-point number.
      return operands.some(
        (operand, at) =>
          at > 0 &&
          sources[at] === 64 &&
          !mnemonic.endsWith('.f64') &&
          (operand.kind === 'address' || context.symbolic.operand(operand).leaves.some((leaf) => mayBeAddress(context, leaf))),
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
      // A value of at most 32 bits is not an address, but a number or half of an address.
      return leaf.width > 32;
    case 'line':
      return false;
    case 'object':
      return true;
  }
}
