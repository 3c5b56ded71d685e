/**
 * Stores, atomics and fences that some path of the code leaves out. Neither leaves the part of a path between two barriers, or
 * between a barrier and an end of the kernel. So what all paths of the PTX do between two of these, all paths of the
 * code must do: a copy of an unrolled or divided path, too.
 */
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { SassFlow } from '../control-flow.ts';
import { type SassGuard, type SassInstruction, sassGuard } from '../instruction/decode.ts';
import { fenceStrength, fenceWanted } from './missing.ts';
import { overwrittenLines, type StoreInBlock } from './overwritten-stores.ts';
import { predicatesWritten } from '../predicates.ts';

/** A place that no access crosses, an effect, by its number, or a predicate that is written. */
interface Step {
  readonly kind: 'anchor' | 'effect' | 'predicate';
  readonly number: number;
  readonly guard?: SassGuard;
}

interface StepBlock {
  readonly steps: readonly Step[];
  readonly predecessors: readonly number[];
  /** Whether the kernel ends here. */
  readonly ends: boolean;
  /** Under which guard its end leads to which block, else elsewhere. */
  readonly branch?: SassGuard & { readonly taken: number };
}

const [start, end] = [0, 1];
const accessSpaces: ReadonlySet<string> = new Set(['global', 'shared', 'generic']);

/** Words of all sets together, beyond which nothing is computed. */
const mostWords = 1 << 20;

function isEffect({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'atomic' || (effect.kind === 'store' && accessSpaces.has(effect.space));
}

function isBarrierOfBlock({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'barrier' && effect.form !== 'arrive';
}

/**
 * The effects that all paths from one anchor to another one have, without a further anchor in between: by the number of
 * the first times `anchors`, plus that of the second.
 */
function betweenAnchors(
  blocks: readonly StepBlock[],
  anchors: number,
  effects: number,
): ReadonlyMap<number, Uint32Array> | null {
  const words = Math.max(1, Math.ceil(effects / 32));
  if (words * blocks.length * anchors > mostWords) return null;
  const found = new Map<number, Uint32Array>();
  /** By block: the effects since each anchor that reaches its end, where its branch is taken and where it is not. */
  const atEnd = blocks.map(() => ({ taken: new Map<number, Uint32Array>(), passed: new Map<number, Uint32Array>() }));
  const meet = (target: Map<number, Uint32Array>, key: number, set: Uint32Array): boolean => {
    const known = target.get(key);
    if (!known) {
      target.set(key, set.slice());
      return true;
    }
    let changed = false;
    for (let word = 0; word < words; word++) {
      const both = (known[word]! & set[word]!) >>> 0;
      if (both === known[word]) continue;
      known[word] = both;
      changed = true;
    }
    return changed;
  };
  const add = (open: ReadonlyMap<number, Uint32Array>, effect: number): void => {
    for (const set of open.values()) set[effect >> 5]! |= 1 << (effect & 31);
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const [index, { steps, predecessors, ends, branch }] of blocks.entries()) {
      let open = new Map<number, Uint32Array>();
      if (index === 0) open.set(start, new Uint32Array(words));
      for (const one of predecessors) {
        const way = blocks[one]!.branch?.taken === index ? 'taken' : 'passed';
        for (const [anchor, set] of atEnd[one]![way]) meet(open, anchor, set);
      }
      /** Effects that happen on one of the two ways behind the block. */
      let divided: { readonly number: number; readonly isTaken: boolean }[] = [];
      for (const { kind, number, guard } of steps) {
        if (kind === 'effect') {
          if (guard && guard.register === branch?.register)
            divided.push({ number, isTaken: guard.negated === branch.negated }); // prettier-ignore
          else add(open, number);
          continue;
        }
        if (kind === 'anchor' || number === branch?.register) {
          for (const one of divided) add(open, one.number);
          divided = [];
        }
        if (kind === 'predicate') continue;
        for (const [anchor, set] of open) meet(found, anchor * anchors + number, set);
        if (number === end) continue;
        open = new Map([[number, new Uint32Array(words)]]);
      }
      if (ends) for (const [anchor, set] of open) meet(found, anchor * anchors + end, set);
      for (const way of ['taken', 'passed'] as const) {
        const own = new Map([...open].map(([anchor, set]) => [anchor, set.slice()]));
        for (const { number, isTaken } of divided) if (isTaken === (way === 'taken')) add(own, number);
        for (const [anchor, set] of own) if (meet(atEnd[index]![way], anchor, set)) changed = true;
      }
    }
  }
  return found;
}

/**
 * Finds stores and atomics, by their lines of the PTX, that some path of the code leaves out.
 * @param lineOf the line of the PTX that an instruction is of
 * @param isBarrier whether threads wait for each other at an instruction
 */
export function skippedEffects(
  kernel: Kernel,
  flow: SassFlow,
  lineOf: (instruction: SassInstruction) => number | undefined,
  isBarrier: (instruction: SassInstruction) => boolean,
): number[] {
  // Behind a trap, or in a function that does not return, a path ends that looks as if it went on.
  if (flow.instructions.some(({ opcode }) => !opcode || opcode.kind === 'call' || opcode.mnemonic === 'BPT')) return [];
  if (kernel.blocks.some(({ terminator }) => terminator.kind === 'trap' || terminator.kind === 'unknown')) return [];
  const [anchors, effects, fences] = [new Map<number, number>(), new Map<number, number>(), new Map<number, number>()];
  const lines: number[] = [];
  const numbersOf = (one: Instruction): Map<number, number>[] => [
    ...(isEffect(one) ? [effects] : []),
    ...(fenceWanted(one) ? [fences] : []),
  ];
  for (const { instructions } of kernel.blocks) {
    for (const one of instructions) {
      if (isBarrierOfBlock(one) && !anchors.has(one.ptxLine)) anchors.set(one.ptxLine, anchors.size + 2);
      for (const numbers of numbersOf(one)) {
        if (numbers.has(one.ptxLine)) continue;
        numbers.set(one.ptxLine, lines.length);
        lines.push(one.ptxLine);
      }
    }
  }
  if (lines.length === 0) return [];
  const wanted = kernel.blocks.map(({ instructions, predecessors, terminator }): StepBlock => ({
    predecessors,
    ends: terminator.kind === 'exit',
    steps: instructions.flatMap((one): Step[] => {
      if (isBarrierOfBlock(one)) return [{ kind: 'anchor', number: anchors.get(one.ptxLine)! }];
      return numbersOf(one).map((numbers) => ({ kind: 'effect', number: numbers.get(one.ptxLine)! }));
    }),
  }));
  const present = new Set<number>();
  const made = flow.blocks.map(({ first, end: last, predecessors, branch }): StepBlock => ({
    predecessors,
    ends: false,
    ...(branch && { branch }),
    steps: flow.instructions.slice(first, last).flatMap((one): Step[] => {
      const kind = one.opcode?.kind;
      if (kind === 'exit') return [{ kind: 'anchor', number: end }];
      const written = predicatesWritten(one).map((number): Step => ({ kind: 'predicate', number }));
      const line = lineOf(one);
      if (line === undefined) return written;
      const anchor = isBarrier(one) ? anchors.get(line) : undefined;
      if (anchor !== undefined) return [{ kind: 'anchor', number: anchor }];
      const isFence = fenceStrength(one) !== null;
      const effect = (isFence ? fences : effects).get(line);
      if (effect === undefined) return written;
      const isAccess = isFence || kind === 'store' || kind === 'atomic' || kind === 'mbarrier';
      if (isAccess) present.add(effect);
      const guard = sassGuard(one);
      // One lane may do what all lanes ask for: then a guard says nothing of the path.
      return isAccess ? [{ kind: 'effect', number: effect, ...(guard && { guard }) }, ...written] : written;
    }),
  }));
  const count = anchors.size + 2;
  const [own, does] = [betweenAnchors(wanted, count, lines.length), betweenAnchors(made, count, lines.length)];
  if (!own || !does) return [];
  const skipped = new Set<number>();
  for (const [pair, set] of own) {
    const other = does.get(pair);
    if (!other) continue;
    for (const effect of present) {
      const has = (of: Uint32Array): boolean => ((of[effect >> 5]! >>> (effect & 31)) & 1) === 1;
      if (has(set) && !has(other)) skipped.add(lines[effect]!);
    }
  }
  const stores = kernel.blocks.flatMap(({ id, instructions }) => instructions.flatMap((instruction): StoreInBlock[] => (instruction.operation.effect.kind === 'store' ? [{ instruction, block: id }] : []))); // prettier-ignore
  const overwritten = overwrittenLines(kernel, stores, skipped);
  return [...skipped].filter((line) => !overwritten.has(line)).sort((a, b) => a - b);
}
