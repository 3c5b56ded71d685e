/**
 * Synthetic addresses of functions, which only identify the function. They may be copied, selected, stored in memory
 * and compared for equality; other computations with them differ from those of a GPU.
 */
import type { Draft, DraftBlock, DraftInstruction } from './draft.ts';
import type { Operand } from './kernel.ts';
import { equalAddresses, havocOperation, isCopy } from './synthetic-operation.ts';

/**
 * Reason why a call through a pointer is opaque if the module takes the address of no function that the pointer may
 * equal.
 */
export const callToUnknown = 'call through a pointer to no function of the module';

/** Above every address of memory; functions are at a distance of 16 bytes. */
const functionSpace = 1n << 52n;
const largestModule = 1n << 24n;

/** The address of the n-th function of a module. */
export function functionAddress(index: number): bigint {
  return functionSpace + 16n * BigInt(index);
}

/** Whether a value is such an address. */
export function isFunctionReference(value: bigint): boolean {
  return value >= functionSpace && value < functionSpace + largestModule;
}

/** Whether an operand is such an address. Another constant in that range is treated as one, which is conservative. */
export function isFunctionAddress(operand: Operand): boolean {
  return operand.kind === 'constant' && operand.type === 64 && isFunctionReference(operand.value);
}

/**
 * Whether an operation only copies or selects addresses, or compares two for equality, or one with null.
 * @param carries whether an operand may be the address of a function
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

/** By result: the operands that it may be a copy of, through phis, copies and selections. */
type Sources = ReadonlyMap<number, readonly Operand[]>;

/** By value: the functions of which it is one according to `SELVAGE_ASSUME`. */
type Stated = ReadonlyMap<number, ReadonlySet<bigint>>;

/**
 * Replaces computations with function addresses by unknown values, and removes the paths on which a pointer equals none
 * of its possible functions.
 * @param draft in static single assignment; changed in place
 * @returns whether a terminator changed
 */
export function settleFunctionPointers(draft: Draft): boolean {
  const sources = collectSources(draft.blocks);
  const stated = collectStated(draft.blocks);
  const carrying = carriersOf(sources, stated);
  const carries = (operand: Operand): boolean => isFunctionAddress(operand) || (operand.kind === 'value' && carrying.has(operand.id));
  for (const block of draft.blocks) {
    block.instructions = block.instructions.map((instruction) => {
      const { operation, arguments: operands } = instruction;
      if (operation.effect.kind !== 'pure' || respectsFunctionAddresses(instruction, carries) || !operands.some(carries))
        return instruction;
      const unknown = havocOperation(operation.mnemonic, 'the address of a function', operation.results);
      return { ...instruction, operation: unknown, arguments: [] };
    });
  }
  let changed = false;
  for (const block of draft.blocks) {
    const call = block.instructions.find(({ operation: { effect } }) => effect.kind === 'opaque' && effect.reason === callToUnknown);
    if (!call || !isBehindAllFunctions(draft, block, sources, stated)) continue;
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
      // Synthetic addresses have no meaningful order, so the result may be either operand.
      else if (/^(min|max)\.u64$/.test(operation.mnemonic)) sources.set(result, operands);
    }
  }
  return sources;
}

/** Statements about pointers in the entry block, which every thread passes: `f == g || f == h`. */
function collectStated(blocks: readonly DraftBlock[]): Stated {
  const definitions = new Map<number, DraftInstruction>();
  for (const { instructions } of blocks) {
    for (const instruction of instructions) {
      const [result] = instruction.results;
      if (typeof result === 'number') definitions.set(result, instruction);
    }
  }
  const stated = new Map<number, ReadonlySet<bigint>>();
  for (const {
    marker,
    arguments: [subject],
  } of blocks[0]?.instructions ?? []) {
    const said = marker?.name === 'assume' && subject ? alternatives(subject, definitions) : null;
    if (said) stated.set(said.pointer, said.functions);
  }
  return stated;
}

/** The pointer that equals one of some functions if an operand is not zero; null if the operand does not imply that. */
function alternatives(
  operand: Operand,
  definitions: ReadonlyMap<number, DraftInstruction>,
): { readonly pointer: number; readonly functions: ReadonlySet<bigint> } | null {
  const definition = operand.kind === 'value' ? definitions.get(operand.id) : undefined;
  if (!definition) return null;
  const { operation } = definition;
  const [a, b, c] = definition.arguments;
  if (isCopy(operation)) return alternatives(a!, definitions);
  if (operation.opcode === 'selp') return b && c && isNull(b) ? alternatives(c, definitions) : null;
  if (/^setp\.ne\.[usb](32|64)$/.test(operation.mnemonic)) return b && isNull(b) ? alternatives(a!, definitions) : null;
  if (/^setp\.eq\.[usb]64$/.test(operation.mnemonic)) {
    const [pointer, address] = a && isFunctionAddress(a) ? [b, a] : [a, b];
    if (pointer?.kind !== 'value' || address?.kind !== 'constant' || !isFunctionAddress(address)) return null;
    return { pointer: pointer.id, functions: new Set([address.value]) };
  }
  if (operation.opcode !== 'or') return null;
  const [one, other] = [a!, b!].map((part) => alternatives(part, definitions));
  if (!one || !other || one.pointer !== other.pointer) return null;
  return { pointer: one.pointer, functions: new Set([...one.functions, ...other.functions]) };
}

/** Values that may be the address of a function. */
function carriersOf(sources: Sources, stated: Stated): ReadonlySet<number> {
  const carrying = new Set<number>(stated.keys());
  for (let before = -1; before < carrying.size;) {
    before = carrying.size;
    for (const [result, operands] of sources) {
      if (operands.some((operand) => isFunctionAddress(operand) || (operand.kind === 'value' && carrying.has(operand.id))))
        carrying.add(result);
    }
  }
  return carrying;
}

/**
 * Whether a block is reached only if a pointer differs from all functions with which it was compared on the path,
 * although these are its only possible values.
 */
function isBehindAllFunctions({ blocks }: Draft, block: DraftBlock, sources: Sources, stated: Stated): boolean {
  const compared = new Set<bigint>();
  let pointer: Operand | null = null;
  for (let at = block; at.predecessors.length === 1;) {
    const from = blocks[at.predecessors[0]!]!;
    const { terminator } = from;
    if (terminator.kind !== 'branch' || blocks[terminator.otherwise] !== at || terminator.then === terminator.otherwise) break;
    const { condition } = terminator;
    const test = from.instructions.find(({ results }) => condition.kind === 'value' && results[0] === condition.id);
    const [target, address] = test?.arguments ?? [];
    if (test?.operation !== equalAddresses || !target || address?.kind !== 'constant') break;
    if (pointer && !(pointer.kind === 'value' && target.kind === 'value' && pointer.id === target.id)) break;
    pointer = target;
    compared.add(address.value);
    at = from;
  }
  return pointer !== null && holdsOnly(pointer, compared, sources, stated, new Set());
}

/** Whether an operand can only be one of these addresses or null; a call of null ends the launch. */
function holdsOnly(operand: Operand, addresses: ReadonlySet<bigint>, sources: Sources, stated: Stated, seen: Set<number>): boolean {
  if (operand.kind === 'constant') return operand.value === 0n || addresses.has(operand.value);
  if (operand.kind !== 'value') return false;
  if (seen.has(operand.id)) return true;
  seen.add(operand.id);
  const functions = stated.get(operand.id);
  if (functions) return [...functions].every((address) => addresses.has(address));
  return sources.get(operand.id)?.every((input) => holdsOnly(input, addresses, sources, stated, seen)) ?? false;
}
