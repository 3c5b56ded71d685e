/**
 * Addresses of functions: numbers of our own, which say which function is meant and nothing else. They may be copied,
 * chosen from, kept in memory and compared for equality; what computes with them does not compute what a GPU does.
 */
import type { Draft, DraftBlock, DraftInstruction } from './draft.ts';
import type { Operand } from './kernel.ts';
import { equalAddresses, havocOperation, isCopy } from './synthetic-operation.ts';

/** Why a call through a pointer to none of the functions that the module takes the address of is opaque. */
export const callToUnknown = 'call through a pointer to no function of the module';

/** Above every address of memory; functions are 16 bytes apart. */
const functionSpace = 1n << 52n;
const largestModule = 1n << 24n;

/** The address that stands for the n-th function of a module. */
export function functionAddress(index: number): bigint {
  return functionSpace + 16n * BigInt(index);
}

/** Whether an operand is such an address. Another constant in that range is taken for one, which proves less. */
export function isFunctionAddress(operand: Operand): boolean {
  return (
    operand.kind === 'constant' &&
    operand.type === 64 &&
    operand.value >= functionSpace &&
    operand.value < functionSpace + largestModule
  );
}

/**
 * Whether an operation only hands addresses on, or tells whether two are the same, or one is null.
 * @param carries whether an operand holds the address of a function
 */
export function respectsFunctionAddresses(
  { operation, arguments: operands }: Pick<DraftInstruction, 'operation' | 'arguments'>,
  carries: (operand: Operand) => boolean = isFunctionAddress,
): boolean {
  if (isCopy(operation) || operation.opcode === 'selp' || operation === equalAddresses) return true;
  const isComparison = /^setp\.(eq|ne)\.[usb]64$/.test(operation.mnemonic);
  return isComparison && operands.every((operand) => isNull(operand) || carries(operand));
}

function isNull(operand: Operand): boolean {
  return operand.kind === 'constant' && operand.value === 0n;
}

/** What hands a value on: the inputs of a phi, a copy or a choice, by result. */
type Sources = ReadonlyMap<number, readonly Operand[]>;

/**
 * Makes what computes with the address of a function an unknown value, and takes away the ways on which a pointer is
 * none of the functions that it may hold.
 * @param draft in static single assignment; changed in place
 * @returns whether a terminator changed
 */
export function settleFunctionPointers(draft: Draft): boolean {
  const sources = collectSources(draft.blocks);
  const carrying = carriersOf(sources);
  const carries = (operand: Operand): boolean =>
    isFunctionAddress(operand) || (operand.kind === 'value' && carrying.has(operand.id));
  for (const block of draft.blocks) {
    block.instructions = block.instructions.map((instruction) => {
      const { operation, arguments: operands } = instruction;
      if (
        operation.effect.kind !== 'pure' ||
        respectsFunctionAddresses(instruction, carries) ||
        !operands.some(carries)
      )
        return instruction;
      const unknown = havocOperation(operation.mnemonic, 'the address of a function', operation.results);
      return { ...instruction, operation: unknown, arguments: [] };
    });
  }
  let changed = false;
  for (const block of draft.blocks) {
    const call = block.instructions.find(
      ({ operation: { effect } }) => effect.kind === 'opaque' && effect.reason === callToUnknown,
    );
    if (!call || !isBehindAllFunctions(draft, block, sources)) continue;
    const { ptxLine, location } = call;
    block.instructions = [];
    block.terminator = { kind: 'trap', ptxLine, ...(location && { location }) };
    changed = true;
  }
  return changed;
}

function collectSources(blocks: readonly DraftBlock[]): Sources {
  const sources = new Map<number, readonly Operand[]>();
  for (const { phis, instructions } of blocks) {
    for (const { result, inputs } of phis) sources.set(result, inputs);
    for (const { operation, arguments: operands, results } of instructions) {
      const [result] = results;
      if (typeof result !== 'number') continue;
      if (isCopy(operation)) sources.set(result, operands);
      else if (operation.opcode === 'selp') sources.set(result, operands.slice(0, 2));
    }
  }
  return sources;
}

/** Values that may hold the address of a function. */
function carriersOf(sources: Sources): ReadonlySet<number> {
  const carrying = new Set<number>();
  for (let before = -1; before < carrying.size;) {
    before = carrying.size;
    for (const [result, operands] of sources) {
      if (
        operands.some((operand) => isFunctionAddress(operand) || (operand.kind === 'value' && carrying.has(operand.id)))
      )
        carrying.add(result);
    }
  }
  return carrying;
}

/**
 * Whether a block is reached only by a pointer that is none of the functions it is compared with on the way, though it
 * holds nothing but addresses of these.
 */
function isBehindAllFunctions({ blocks }: Draft, block: DraftBlock, sources: Sources): boolean {
  const compared = new Set<bigint>();
  let pointer: Operand | null = null;
  for (let at = block; at.predecessors.length === 1;) {
    const from = blocks[at.predecessors[0]!]!;
    const { terminator } = from;
    if (terminator.kind !== 'branch' || blocks[terminator.otherwise] !== at || terminator.then === terminator.otherwise)
      break;
    const { condition } = terminator;
    const test = from.instructions.find(({ results }) => condition.kind === 'value' && results[0] === condition.id);
    const [target, address] = test?.arguments ?? [];
    if (test?.operation !== equalAddresses || !target || address?.kind !== 'constant') break;
    if (pointer && !(pointer.kind === 'value' && target.kind === 'value' && pointer.id === target.id)) break;
    pointer = target;
    compared.add(address.value);
    at = from;
  }
  return pointer !== null && holdsOnly(pointer, compared, sources, new Set());
}

/** Whether an operand is one of these addresses, or null, whose call ends the launch, whichever way it came about. */
function holdsOnly(operand: Operand, addresses: ReadonlySet<bigint>, sources: Sources, seen: Set<number>): boolean {
  if (operand.kind === 'constant') return operand.value === 0n || addresses.has(operand.value);
  if (operand.kind !== 'value') return false;
  if (seen.has(operand.id)) return true;
  seen.add(operand.id);
  return sources.get(operand.id)?.every((input) => holdsOnly(input, addresses, sources, seen)) ?? false;
}
