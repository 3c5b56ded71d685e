/**
 * Stores, atomics and fences that some path of the SASS omits. ptxas moves none of them across a barrier or an end of
 * the kernel. So all SASS paths between two of these anchors must have the effects that all PTX paths have. This
 * includes copies of paths by unrolling or duplication.
 */
import { addBit, hasBit } from '../../base/bit-set.ts';
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { SassFlow } from '../sass-flow.ts';
import { type SassGuard, type SassInstruction, sassGuard } from '../instruction/decode.ts';
import { fenceStrength, fenceWanted, isStoring } from './missing.ts';
import { waysAroundLoops } from './loop-bypasses.ts';
import { overwrittenLines, type StoreInBlock } from './overwritten-stores.ts';
import { predicatesWritten } from '../predicates.ts';

/**
 * A step: an anchor, which no access is moved across; an effect, by index; or a written predicate. A half is an effect
 * under a guard of unknown value.
 */
interface Step {
  readonly kind: 'anchor' | 'effect' | 'half' | 'predicate' | 'trap';
  readonly number: number;
  readonly guard?: SassGuard;
}

/** An effect of a guarded instruction. */
interface Half {
  readonly effect: number;
  readonly guard: SassGuard;
}

interface StepBlock {
  readonly steps: readonly Step[];
  readonly predecessors: readonly number[];
  /** Whether paths begin at this block. */
  readonly isStart: boolean;
  /** Whether the kernel ends in this block. */
  readonly ends: boolean;
  /** The guard of its final branch, and the target block. */
  readonly branch?: SassGuard & { readonly taken: number };
}

const [start, end] = [0, 1];
const accessSpaces: ReadonlySet<string> = new Set(['global', 'shared', 'generic']);

/** Limit on the total size of all sets in words; with more, the result is null. */
const maxWords = 1 << 20;

function isEffect({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'atomic' || isStoring(effect);
}

/** Codes of calls to an address in a register: the function may not return. */
const registerCalls: ReadonlySet<number> = new Set([0x343, 0x344]);

function isBarrierOfBlock({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'barrier' && effect.form !== 'arrive';
}

/**
 * The effects that all paths from one anchor to another one have, without a further anchor in between: by the number of
 * the first times `anchors`, plus that of the second.
 * @param halves by the numbers of their steps. An effect counts from its second half on, since the one may be executed
 *   if the other is not, if the next anchor has the same guard, and after an anchor under any guard.
 */
function betweenAnchors(
  blocks: readonly StepBlock[],
  anchors: number,
  effects: number,
  halves: readonly Half[] = [],
): ReadonlyMap<number, Uint32Array> | null {
  const words = Math.max(1, Math.ceil((effects + halves.length + 1) / 32));
  if (words * blocks.length * anchors > maxWords) return null;
  const found = new Map<number, Uint32Array>();
  /** By block: the effects since each anchor that reaches its end, for a taken and for an untaken branch. */
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
    for (const set of open.values()) addBit(set, effect);
  };
  /** Set on a path from a guarded anchor: its guard may be that of the halves after it. */
  const fromGuarded = effects + halves.length;
  const siblings = halves.map(({ effect }, half) =>
    halves.flatMap((other, index) => (other.effect === effect && index !== half ? [effects + index] : [])),
  );
  const addHalf = (open: ReadonlyMap<number, Uint32Array>, half: number): void => {
    for (const set of open.values()) {
      if (hasBit(set, fromGuarded) || siblings[half]!.some((other) => hasBit(set, other))) addBit(set, halves[half]!.effect);
      addBit(set, effects + half);
    }
  };
  const complete = (open: ReadonlyMap<number, Uint32Array>, { register, negated }: SassGuard): void => {
    for (const [half, { effect, guard }] of halves.entries()) {
      if (guard.register !== register || guard.negated !== negated) continue;
      for (const set of open.values()) if (hasBit(set, effects + half)) addBit(set, effect);
    }
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const [index, { steps, predecessors, isStart, ends, branch }] of blocks.entries()) {
      let open = new Map<number, Uint32Array>();
      if (isStart) open.set(start, new Uint32Array(words));
      for (const one of predecessors) {
        const way = blocks[one]!.branch?.taken === index ? 'taken' : 'passed';
        for (const [anchor, set] of atEnd[one]![way]) meet(open, anchor, set);
      }
      /** Effects that occur only on one of the two edges out of the block. */
      let divided: { readonly number: number; readonly isTaken: boolean; readonly isHalf: boolean }[] = [];
      for (const { kind, number, guard } of steps) {
        if (kind === 'effect' || kind === 'half') {
          const effect = kind === 'half' ? halves[number]!.effect : number;
          if (guard && guard.register === branch?.register)
            divided.push({ number: effect, isTaken: guard.negated === branch.negated, isHalf: kind === 'half' });
          else if (kind === 'effect') add(open, effect);
          if (kind === 'half') addHalf(open, number);
          continue;
        }
        if (kind === 'trap') {
          open.clear();
          divided = [];
          continue;
        }
        if (kind === 'anchor' || number === branch?.register) {
          for (const one of divided) if (!one.isHalf) add(open, one.number);
          divided = [];
        }
        if (kind === 'predicate') continue;
        if (guard) complete(open, guard);
        for (const [anchor, set] of open) meet(found, anchor * anchors + number, set);
        if (number === end) continue;
        open = new Map([[number, new Uint32Array(words)]]);
        if (guard) add(open, fromGuarded);
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
 * By instruction: mask of the predicates that are true whenever the instruction is reached (bits 0 to 6), and of those
 * that are false (8 to 14).
 */
function knownPredicates({ instructions, blocks }: SassFlow): Uint16Array {
  const [whenTaken, whenPassed] = [new Uint16Array(blocks.length).fill(0xffff), new Uint16Array(blocks.length).fill(0xffff)];
  const known = new Uint16Array(instructions.length);
  for (let changed = true; changed;) {
    changed = false;
    for (const [index, { first, end: last, predecessors, branch }] of blocks.entries()) {
      let facts = index === 0 ? 0 : 0xffff;
      for (const one of predecessors) facts &= (blocks[one]!.branch?.taken === index ? whenTaken : whenPassed)[one]!;
      for (let at = first; at < last; at++) {
        known[at] = facts;
        for (const register of predicatesWritten(instructions[at]!)) facts &= ~(0x101 << register);
      }
      // Threads that exit at the end of the block do not continue.
      const leaves = instructions[last - 1]!.opcode?.kind === 'exit' ? sassGuard(instructions[last - 1]!) : undefined;
      const guard = branch ?? leaves;
      const opposite = guard && { register: guard.register, negated: !guard.negated };
      const [taken, passed] = [branch ? facts | factOf(branch) : facts, opposite ? facts | factOf(opposite) : facts];
      if (taken !== whenTaken[index] || passed !== whenPassed[index]) changed = true;
      whenTaken[index] = taken;
      whenPassed[index] = passed;
    }
  }
  return known;
}

function factOf({ register, negated }: SassGuard): number {
  return register === 7 ? 0 : 1 << (register + (negated ? 8 : 0));
}

function holds(facts: number, guard: SassGuard): boolean {
  return (facts & factOf(guard)) !== 0;
}

/** PTX lines of skipped effects, and of stores that lost their guard. */
interface SkippedEffects {
  /** Stores, atomics and fences that some path of the SASS omits, and no path of the PTX. */
  readonly skipped: readonly number[];
  /** Stores that no path of the SASS omits, although some path of the PTX does. */
  readonly always: readonly number[];
}

/**
 * Finds stores and atomics that some path of the SASS omits, and stores that lost their guard.
 * @param lineOf the PTX line of an instruction
 * @param isBarrier whether threads wait for each other at an instruction
 */
export function skippedEffects(
  kernel: Kernel,
  flow: SassFlow,
  lineOf: (instruction: SassInstruction) => number | undefined,
  isBarrier: (instruction: SassInstruction) => boolean,
): SkippedEffects {
  const nothing = { skipped: [], always: [] };
  if (flow.instructions.some(({ opcode }) => !opcode)) return nothing;
  if (kernel.blocks.some(({ terminator }) => terminator.kind === 'unknown')) return nothing;
  // A path may end in a function that does not return, such as that of a failed assertion, although the SASS has a
  // successor.
  const stops = kernel.blocks.some(({ terminator }) => terminator.kind === 'trap');
  if (stops && flow.instructions.some(({ code }) => registerCalls.has(code))) return nothing;
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
  if (lines.length === 0) return nothing;
  const around = waysAroundLoops(kernel);
  const wanted = kernel.blocks.map(({ instructions, terminator }, index): StepBlock => ({
    ...around[index]!,
    ends: terminator.kind === 'exit',
    steps: instructions.flatMap((one): Step[] => {
      if (isBarrierOfBlock(one)) return [{ kind: 'anchor', number: anchors.get(one.ptxLine)! }];
      return numbersOf(one).map((numbers) => ({ kind: 'effect', number: numbers.get(one.ptxLine)! }));
    }),
  }));
  const present = new Set<number>();
  const halves: Half[] = [];
  const known = knownPredicates(flow);
  const made = flow.blocks.map(({ first, end: last, predecessors, branch }, block): StepBlock => ({
    predecessors,
    isStart: block === 0,
    ends: false,
    ...(branch && { branch }),
    steps: flow.instructions.slice(first, last).flatMap((one, index): Step[] => {
      const kind = one.opcode?.kind;
      const guard = sassGuard(one);
      if (kind === 'exit') return [{ kind: 'anchor', number: end, ...(guard && { guard }) }];
      if (one.opcode?.mnemonic === 'BPT' && !guard) return [{ kind: 'trap', number: 0 }];
      const written = predicatesWritten(one).map((number): Step => ({ kind: 'predicate', number }));
      const line = lineOf(one);
      if (line === undefined) return written;
      const anchor = isBarrier(one) ? anchors.get(line) : undefined;
      if (anchor !== undefined) return [{ kind: 'anchor', number: anchor, ...(guard && { guard }) }];
      const isFence = fenceStrength(one) !== null;
      const effect = (isFence ? fences : effects).get(line);
      if (effect === undefined) return written;
      // Stores of spilled registers may be on any line.
      const isStore = kind === 'store' && accessSpaces.has(one.opcode!.space ?? '');
      const isAccess = isFence || isStore || kind === 'atomic' || kind === 'mbarrier';
      if (!isAccess) return written;
      present.add(effect);
      // One lane may execute the effect for all lanes; the guard then does not determine the path.
      if (kind === 'store' && guard && !holds(known[first + index]!, guard)) {
        halves.push({ effect, guard });
        return [{ kind: 'half', number: halves.length - 1, guard }, ...written];
      }
      return [{ kind: 'effect', number: effect, ...(guard && { guard }) }, ...written];
    }),
  }));
  const count = anchors.size + 2;
  const [own, does] = [betweenAnchors(wanted, count, lines.length), betweenAnchors(made, count, lines.length, halves)];
  if (!own || !does) return nothing;
  const always = addedEffects(kernel, wanted, made, count, lines, present);
  const skipped = new Set<number>();
  for (const [pair, set] of own) {
    const other = does.get(pair);
    if (!other) continue;
    for (const effect of present) if (hasBit(set, effect) && !hasBit(other, effect)) skipped.add(lines[effect]!);
  }
  const stores = kernel.blocks.flatMap(({ id, instructions }) =>
    instructions.flatMap((instruction): StoreInBlock[] =>
      instruction.operation.effect.kind === 'store' ? [{ instruction, block: id }] : [],
    ),
  );
  const looking = new Set(
    flow.instructions.flatMap((one) => (one.opcode?.kind === 'load' || one.opcode?.kind === 'atomic' ? [lineOf(one) ?? 0] : [])),
  );
  const overwritten = overwrittenLines(kernel, stores, skipped, looking);
  return { skipped: [...skipped].filter((line) => !overwritten.has(line)).sort((a, b) => a - b), always };
}

/**
 * Stores on each SASS path between two anchors that some PTX path between the same anchors lacks: they lost their
 * guard.
 */
function addedEffects(
  kernel: Kernel,
  wanted: readonly StepBlock[],
  made: readonly StepBlock[],
  anchors: number,
  lines: readonly number[],
  present: ReadonlySet<number>,
): number[] {
  const own = wanted.map((block, index): StepBlock => {
    const { predecessors, instructions } = kernel.blocks[index]!;
    const traps = instructions.some(({ operation: { effect } }) => effect.kind === 'trap');
    return { ...block, predecessors, isStart: index === 0, steps: traps ? [{ kind: 'trap', number: 0 }] : block.steps };
  });
  // Guarded instructions may be skipped.
  const certain = made.map((block): StepBlock => ({
    ...block,
    steps: block.steps.filter(
      ({ kind, guard }) => kind === 'anchor' || kind === 'predicate' || kind === 'trap' || (kind === 'effect' && !guard),
    ),
  }));
  const [may, does] = [betweenAnchors(own, anchors, lines.length), betweenAnchors(certain, anchors, lines.length)];
  if (!may || !does) return [];
  // Ptxas may know that a loop executes at least one iteration.
  const inLoops = new Set(kernel.loops.flatMap((loop) => [...loop.blocks]));
  const stores = new Set(
    kernel.blocks.flatMap(({ id, instructions }) =>
      instructions.flatMap(({ ptxLine, operation: { effect } }) => (effect.kind === 'store' && !inLoops.has(id) ? [ptxLine] : [])),
    ),
  );
  const found = new Set<number>();
  for (const [pair, set] of does) {
    const other = may.get(pair);
    if (!other) continue;
    for (const effect of present)
      if (stores.has(lines[effect]!) && hasBit(set, effect) && !hasBit(other, effect)) found.add(lines[effect]!);
  }
  return [...found].sort((a, b) => a - b);
}
