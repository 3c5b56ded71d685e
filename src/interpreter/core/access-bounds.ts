/**
 * The variable of shared memory that the address of an access is derived from, if there is only one. The access must
 * stay within that variable, and must not reach even the adjacent one.
 */
import type { Instruction, Kernel, Operand } from '../../ir/form/kernel.ts';
import { sharedWindow } from '../../isa/model/address-window.ts';
import type { StateSpace } from '../../isa/model/operation.ts';
import type { Layout } from './global-memory.ts';
import type { LeftObject } from './run-result.ts';

/** Part of shared memory, in bytes from its start. */
export interface ParentObject {
  /** Symbol of the variable. */
  readonly object: string;
  readonly start: number;
  /** Null: the end of the dynamic part. */
  readonly end: number | null;
}

/** Origin of a value: an object's ID, or one of these. */
const unvisited = -3;
const several = -2;
const nothing = -1;

/** Instructions whose results have the origins of their operands: they move, convert or offset addresses. */
const carrying = new Set(['mov', 'cvta', 'cvt', 'add', 'sub', 'mad', 'selp']);

/** Maps an operand, the address of an access to shared memory, to its variable; undefined if unknown. */
export function parentObjects(kernel: Kernel, layout: Layout): (address: Operand) => ParentObject | undefined {
  const { objects, blocks, values } = kernel;
  if (!objects.some(({ space }) => space === 'shared')) return () => undefined;
  const origins = new Int32Array(values.length).fill(unvisited);
  const originOf = (operand: Operand): number => {
    if (operand.kind === 'value') return origins[operand.id]!;
    return operand.kind === 'address' ? operand.object : nothing;
  };
  const either = (a: number, b: number): number => {
    if (a === b || b === unvisited) return a;
    return a === unvisited ? b : several;
  };
  const together = (a: number, b: number): number => {
    if (a === unvisited || b === unvisited) return unvisited;
    if (a === nothing || b === nothing) return a === nothing ? b : a;
    return several;
  };
  const resultOf = ({ operation, arguments: operands }: Instruction): number => {
    const origin = operands.map(originOf);
    const isNumber = (at: number): boolean => origin[at] === nothing || origin[at] === unvisited;
    if (operation.effect.kind !== 'pure') return nothing;
    if (!carrying.has(operation.opcode)) return origin.every((_, at) => isNumber(at)) ? nothing : several;
    switch (operation.opcode) {
      case 'sub':
        return isNumber(1) ? together(origin[0]!, origin[1]!) : several;
      case 'mad':
        return isNumber(0) && isNumber(1) ? (origin[2] ?? nothing) : several;
      case 'selp':
        return either(origin[0]!, origin[1]!);
      default:
        return origin.reduce(together, nothing);
    }
  };
  for (let changed = true; changed;) {
    changed = false;
    const put = (value: number, origin: number): void => {
      const now = either(origins[value]!, origin);
      changed ||= now !== origins[value];
      origins[value] = now;
    };
    for (const { phis, instructions } of blocks) {
      for (const { result, inputs } of phis) for (const input of inputs) put(result, originOf(input));
      for (const instruction of instructions)
        for (const result of instruction.results) if (result !== null) put(result, resultOf(instruction));
    }
  }
  return (address) => {
    const object = objects[originOf(address)];
    if (object?.space !== 'shared') return undefined;
    const start = layout.addresses[object.id]!;
    return { object: object.symbol, start, end: object.bytes === null ? null : start + object.bytes };
  };
}

/**
 * The object that an access leaves, or null.
 * @param address as computed by the thread: in the window of shared memory, or generic
 * @param all size of shared memory in bytes
 */
export function leftParentObject(
  { object, start, end }: ParentObject,
  { space, bytes }: { readonly space: StateSpace; readonly bytes: number },
  address: number,
  all: number,
): LeftObject | null {
  // Addresses before the window wrap around to the top of the 32-bit range.
  const inWindow = space === 'generic' ? address - Number(sharedWindow) : address >= 2 ** 31 ? address - 2 ** 32 : address;
  const last = end ?? all;
  if (inWindow >= start && inWindow + bytes <= last) return null;
  return { object, offset: inWindow - start, bytes: last - start };
}
