/**
 * Promotion of `.local` and call `.param` memory to variables: byte ranges whose every access has a constant address
 * become variables that renaming turns into SSA values. An object whose address escapes (into memory, arithmetic with
 * an unknown, an atomic, an unknown call) stays in memory as a whole.
 */
import type { Width } from '../isa/model/domain.ts';
import type { Effect } from '../isa/model/operation.ts';
import type { Draft, DraftInstruction } from './form/draft.ts';
import { newValue, operandType, valueOperand } from './form/draft.ts';
import type { Operand } from './form/kernel.ts';
import { withOperands } from './ssa.ts';
import { convertOperation, copyOperation, extractOperation, insertOperation } from './form/synthetic-operation.ts';

/** A range of bytes that overlapping accesses share. */
interface Slot {
  start: number;
  end: number;
  /** False if an access of several lanes touches a range that cannot be promoted. */
  promoted: boolean;
  variable: number;
}

type MemoryEffect = Extract<Effect, { kind: 'load' | 'store' }>;

/** An access at a constant address of a private object. */
interface Access {
  readonly instruction: DraftInstruction;
  readonly effect: MemoryEffect;
  readonly start: number;
}

/**
 * Rewrites accesses to promotable ranges as copies from and to new variables.
 *
 * @returns whether there was such a range; the new variables begin at the former end of `draft.types`
 */
export function promoteSlots(draft: Draft): boolean {
  const candidates = draft.objects.map(
    (object) => object.space === 'local' || (object.space === 'param' && object.parameter === undefined),
  );
  if (!candidates.includes(true)) return false;
  const accesses = collectAccesses(draft, candidates);
  const slots = new Map<number, Slot[]>();
  for (const [object, list] of accesses) {
    if (!candidates[object] || list.length === 0) continue;
    slots.set(object, partition(list));
  }
  if (slots.size === 0) return false;
  for (let changed = true; changed;) {
    changed = false;
    for (const [object, list] of slots) {
      if (list.every((slot) => slot.promoted)) continue;
      for (const access of accesses.get(object)!) {
        const touched = lanesOf(access).map((start) => slotAt(list, start));
        if (touched.every((slot) => slot.promoted)) continue;
        for (const slot of touched) {
          changed ||= slot.promoted;
          slot.promoted = false;
        }
      }
    }
  }
  let promoted = false;
  const addressed = new Map<DraftInstruction, { access: Access; slots: Slot[] }>();
  for (const [object, list] of slots) {
    for (const slot of list) {
      if (!slot.promoted) continue;
      promoted = true;
      slot.variable = newValue(draft, slotWidth(slot), `${draft.objects[object]!.symbol}+${slot.start}`);
    }
    for (const access of accesses.get(object)!) {
      if (slotAt(list, access.start).promoted) addressed.set(access.instruction, { access, slots: list });
    }
  }
  if (!promoted) return false;
  for (const block of draft.blocks) {
    if (!block.instructions.some((instruction) => addressed.has(instruction))) continue;
    const rewritten: DraftInstruction[] = [];
    for (const instruction of block.instructions) {
      const found = addressed.get(instruction);
      if (!found) rewritten.push(instruction);
      else if (found.access.effect.kind === 'load') rewriteLoad(draft, found.access, found.slots, rewritten);
      else rewriteStore(draft, found.access, found.slots, rewritten);
    }
    block.instructions = rewritten;
  }
  return true;
}

/** Accesses by object; `candidates` is cleared for objects whose address escapes or that are accessed out of range. */
function collectAccesses(draft: Draft, candidates: boolean[]): Map<number, Access[]> {
  const accesses = new Map<number, Access[]>();
  const escape = (operand: Operand): Operand => {
    if (operand.kind === 'address') candidates[operand.object] = false;
    return operand;
  };
  for (const block of draft.blocks) {
    for (const phi of block.phis) phi.inputs.forEach(escape);
    withOperands(block.terminator, escape);
    for (const instruction of block.instructions) {
      const { effect } = instruction.operation;
      const [address] = instruction.arguments;
      const isAccess = (effect.kind === 'load' || effect.kind === 'store') && address?.kind === 'address';
      for (let i = isAccess ? 1 : 0; i < instruction.arguments.length; i++) escape(instruction.arguments[i]!);
      if (!isAccess || !candidates[address.object]) continue;
      const start = address.offset + instruction.offset;
      const { bytes } = draft.objects[address.object]!;
      if (start < 0n || bytes === null || start + BigInt(effect.bytes * effect.lanes) > BigInt(bytes)) {
        candidates[address.object] = false;
        continue;
      }
      const access: Access = { instruction, effect, start: Number(start) };
      const list = accesses.get(address.object);
      if (list) list.push(access);
      else accesses.set(address.object, [access]);
    }
  }
  return accesses;
}

/** The first bytes of the lanes of an access. */
function lanesOf({ effect, start }: Access): number[] {
  const lanes: number[] = [];
  for (let lane = 0; lane < effect.lanes; lane++) lanes.push(start + lane * effect.bytes);
  return lanes;
}

/** The ranges of one object: lanes that overlap share one. A range wider than a register is not promoted. */
function partition(accesses: readonly Access[]): Slot[] {
  const lanes = accesses.flatMap((access) =>
    lanesOf(access).map((start): Slot => ({ start, end: start + access.effect.bytes, promoted: true, variable: -1 })),
  );
  lanes.sort((a, b) => a.start - b.start);
  const slots: Slot[] = [];
  for (const lane of lanes) {
    const last = slots[slots.length - 1];
    if (last && lane.start < last.end) last.end = Math.max(last.end, lane.end);
    else slots.push(lane);
  }
  for (const slot of slots) slot.promoted = slot.end - slot.start <= 8;
  return slots;
}

function slotAt(slots: readonly Slot[], byte: number): Slot {
  let low = 0;
  let high = slots.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (slots[middle]!.start <= byte) low = middle;
    else high = middle - 1;
  }
  return slots[low]!;
}

function slotWidth(slot: Slot): Width {
  const bytes = slot.end - slot.start;
  return bytes <= 1 ? 8 : bytes <= 2 ? 16 : bytes <= 4 ? 32 : 64;
}

function rewriteLoad(draft: Draft, access: Access, slots: readonly Slot[], into: DraftInstruction[]): void {
  const { instruction, effect } = access;
  const part = (effect.bytes * 8) as Width;
  lanesOf(access).forEach((start, lane) => {
    const result = instruction.results[lane];
    if (result === null || result === undefined) return;
    const slot = slotAt(slots, start);
    const whole = slotWidth(slot);
    const target = draft.types[result] as Width;
    let value = valueOperand(slot.variable);
    if (part < whole) {
      const extracted = newValue(draft, part);
      into.push(replace(instruction, extractOperation(whole, part, (start - slot.start) * 8), extracted, [value]));
      value = valueOperand(extracted);
    }
    const signed = effect.kind === 'load' && effect.extend === 'sign';
    const operation = target === part ? copyOperation(target) : convertOperation(part, target, signed);
    into.push(replace(instruction, operation, result, [value]));
  });
}

function rewriteStore(draft: Draft, access: Access, slots: readonly Slot[], into: DraftInstruction[]): void {
  const { instruction, effect } = access;
  const part = (effect.bytes * 8) as Width;
  lanesOf(access).forEach((start, lane) => {
    const slot = slotAt(slots, start);
    const whole = slotWidth(slot);
    let value = instruction.arguments[1 + lane]!;
    const from = operandType(draft.types, value) as Width;
    if (from !== part) {
      const narrowed = newValue(draft, part);
      into.push(replace(instruction, convertOperation(from, part, false), narrowed, [value]));
      value = valueOperand(narrowed);
    }
    const operation = part === whole ? copyOperation(whole) : insertOperation(whole, part, (start - slot.start) * 8);
    into.push(replace(instruction, operation, slot.variable, part === whole ? [value] : [valueOperand(slot.variable), value]));
  });
}

function replace(
  instruction: DraftInstruction,
  operation: DraftInstruction['operation'],
  result: number,
  operands: Operand[],
): DraftInstruction {
  const { ptxLine, location } = instruction;
  return { operation, results: [result], arguments: operands, offset: 0n, ptxLine, location };
}
