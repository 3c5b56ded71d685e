/**
 * Instructions of the PTX that the SASS must have, by line: barriers, mbarriers, fences, atomics, stores, copies and
 * waits for them.
 */
import type { BlockId, Instruction, Kernel, Operand } from '../../ir/form/kernel.ts';
import { groupsLeftBy, participantsOf } from '../../isa/model/effect.ts';
import type { Effect } from '../../isa/model/operation.ts';
import type { SassFlow } from '../sass-flow.ts';
import { rootOf } from '../displacements.ts';
import { overwrittenLines, type StoreInBlock } from './overwritten-stores.ts';
import { accessBits, fenceScope, type SassInstruction, wordBits } from '../instruction/decode.ts';

const wantedKinds = ['barrier', 'mbarrier', 'fence', 'atomic', 'store', 'copy', 'group', 'wait'] as const;
type Wanted = (typeof wantedKinds)[number];

/** A PTX instruction without SASS although other instructions of its block have SASS. `group`: a group of copies. */
export interface LostInstruction {
  readonly what: Wanted;
  readonly ptxLine: number;
}

const accessSpaces: ReadonlySet<string | undefined> = new Set(['global', 'shared', 'generic']);

/** Scope of a fence, 1 to 3, and whether all fences of its kind have one order. */
interface FenceStrength {
  readonly scope: number;
  readonly isSequential: boolean;
}

/**
 * Scopes by strength. Blocks of a cluster are on several multiprocessors, so a fence of the cluster is one of the
 * device.
 */
const scopes = { cta: 1, cluster: 2, gpu: 2, sys: 3 } as const;

/** Arrivals, which are required whether or not their result is used. */
const arriving: ReadonlySet<string> = new Set(['arrive', 'arrive_drop']);

/** First architecture with operations that order accesses before an arrival; earlier ones need a fence before it. */
const laterMbarriers = 90;

/**
 * The fence that an instruction of the PTX needs; null if it needs none. Pure acquires have SASS of a different kind.
 * @param version of the architecture; without it, none that needs fences for mbarriers
 */
export function fenceWanted({ operation: { effect, mnemonic } }: Instruction, version: number = laterMbarriers): FenceStrength | null {
  if (effect.kind === 'mbarrier')
    return arriving.has(effect.form) && effect.semantics === 'release' && version < laterMbarriers
      ? { scope: scopes[effect.scope], isSequential: false }
      : null;
  if (effect.kind !== 'fence' && effect.kind !== 'atomic' && effect.kind !== 'store') return null;
  const { semantics } = effect;
  if (semantics !== 'sc' && semantics !== 'acq_rel' && semantics !== 'release') return null;
  // The mbarrier was just initialised: the SASS of the initialisation orders it.
  if (mnemonic.includes('mbarrier_init')) return null;
  return { scope: scopes[effect.scope], isSequential: semantics === 'sc' };
}

/** The fence of a SASS instruction; null if it does not order memory accesses. */
export function fenceStrength(instruction: SassInstruction): FenceStrength | null {
  if (instruction.opcode?.mnemonic !== 'MEMBAR') return null;
  const scope = fenceScope(instruction);
  // Bit 79 is set if it is not sequentially consistent.
  return { scope: scope === undefined ? 3 : scopes[scope], isSequential: wordBits(instruction, 79, 1) === 0 };
}

/** Maximum number of incomplete groups of copies after a wait of the PTX; null for other instructions. */
export function groupsLeft({ operation: { effect }, arguments: [count] }: Instruction): number | null {
  const left = participantsOf(effect) === 'thread' ? groupsLeftBy(effect, count) : null;
  return left === undefined ? 0 : left;
}

/**
 * Maximum number of incomplete groups after a wait of the SASS for the first scoreboard; null for other instructions.
 */
export function groupsLeftOf(instruction: SassInstruction): number | null {
  if (instruction.code !== 0x91a || wordBits(instruction, 44, 3) !== 0) return null;
  return wordBits(instruction, 38, 6);
}

/** Whether an instruction stores to memory that other threads may read, at once and not atomically. */
export function isStoring(effect: Effect): boolean {
  const isStore = effect.kind === 'store' || (effect.kind === 'matrix-access' && effect.operation === 'write');
  return isStore && accessSpaces.has(effect.space);
}

function wantedOf(instruction: Instruction): Wanted | undefined {
  const { effect } = instruction.operation;
  if (effect.kind === 'barrier') return effect.form === 'arrive' ? undefined : 'barrier';
  if (effect.kind === 'fence') return fenceWanted(instruction) ? 'fence' : undefined;
  if (effect.kind === 'mbarrier') return arriving.has(effect.form) || effect.form === 'init' ? 'mbarrier' : undefined;
  if (effect.kind === 'atomic') return 'atomic';
  if (effect.kind === 'copy') return 'copy';
  if (effect.kind === 'group' && participantsOf(effect) === 'thread') return effect.form === 'commit' ? 'group' : 'wait';
  return isStoring(effect) ? 'store' : undefined;
}

function linesByKind(): Readonly<Record<Wanted, Set<number>>> {
  return {
    barrier: new Set(),
    mbarrier: new Set(),
    fence: new Set(),
    atomic: new Set(),
    store: new Set(),
    copy: new Set(),
    group: new Set(),
    wait: new Set(),
  };
}

/** SASS instructions by their PTX lines. */
interface CodeByLine {
  readonly kept: ReadonlySet<number>;
  readonly byKind: Readonly<Record<Wanted, ReadonlySet<number>>>;
  readonly atomics: ReadonlySet<number>;
  /**
   * Lines with an arrival on completion of copies, and lines that increment the pending count, possibly for the same
   * arrival.
   */
  readonly copyArrivals: ReadonlySet<number>;
  readonly counting: ReadonlySet<number>;
  /** Lines with SASS that loads. */
  readonly looking: ReadonlySet<number>;
  /** Lines with unknown SASS. */
  readonly unknown: ReadonlySet<number>;
  /** By line: the number of bits of the widest store. */
  readonly stored: ReadonlyMap<number, number>;
  /** By line, the total bits of its stores in each block of the SASS. */
  readonly storedInBlocks: ReadonlyMap<number, readonly number[]>;
  readonly fences: ReadonlyMap<number, readonly FenceStrength[]>;
  /** By line: the smallest number of groups that its waits leave incomplete. */
  readonly left: ReadonlyMap<number, number>;
}

function codeByLine(
  flow: SassFlow,
  version: number,
  lineOf: (instruction: SassInstruction) => number | undefined,
  isBarrier: (instruction: SassInstruction) => boolean,
): CodeByLine {
  const [kept, atomics, looking, unknown] = [new Set<number>(), new Set<number>(), new Set<number>(), new Set<number>()];
  const [copyArrivals, counting] = [new Set<number>(), new Set<number>()];
  const byKind = linesByKind();
  const stored = new Map<number, number>();
  const fences = new Map<number, FenceStrength[]>();
  const left = new Map<number, number>();
  for (const instruction of flow.instructions) {
    const line = lineOf(instruction);
    if (line === undefined) continue;
    const { opcode } = instruction;
    const kind = opcode?.kind;
    if (kind !== 'none') kept.add(line);
    // An unknown instruction may be of any kind.
    if (!opcode) {
      unknown.add(line);
      for (const lines of Object.values(byKind)) lines.add(line);
    }
    if (isBarrier(instruction) || kind === 'barrier') byKind.barrier.add(line);
    const fence = fenceStrength(instruction);
    if (fence) {
      byKind.fence.add(line);
      fences.set(line, [...(fences.get(line) ?? []), fence]);
    }
    if (kind === 'copy') byKind.copy.add(line);
    if (opcode?.mnemonic === 'LDGDEPBAR' || opcode?.mnemonic === 'UTMACMDFLUSH') byKind.group.add(line);
    const groups = groupsLeftOf(instruction);
    if (groups !== null) {
      byKind.wait.add(line);
      left.set(line, Math.min(groups, left.get(line) ?? groups));
    }
    if (opcode?.mnemonic === 'ARRIVES') copyArrivals.add(line);
    else if (kind === 'atomic' || kind === 'mbarrier' || !opcode) counting.add(line);
    if (kind === 'atomic') atomics.add(line);
    if (kind === 'load' || kind === 'atomic') looking.add(line);
    if (kind === 'atomic' || kind === 'mbarrier' || kind === 'store') byKind.mbarrier.add(line);
    // Some atomics become a loop that ends with a store.
    if (kind === 'atomic' || kind === 'mbarrier' || kind === 'store') byKind.atomic.add(line);
    if (kind === 'store' && accessSpaces.has(opcode?.space)) {
      byKind.store.add(line);
      stored.set(line, Math.max(stored.get(line) ?? 0, accessBits(instruction, version) ?? 32));
    }
  }
  const storedInBlocks = bitsInBlocks(flow, version, lineOf);
  return { kept, byKind, atomics, copyArrivals, counting, looking, unknown, stored, storedInBlocks, fences, left };
}

function bitsInBlocks(
  { instructions, blocks }: SassFlow,
  version: number,
  lineOf: (instruction: SassInstruction) => number | undefined,
): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, number[]>();
  for (const { first, end } of blocks) {
    const bits = new Map<number, number>();
    for (let at = first; at < end; at++) {
      const one = instructions[at]!;
      const line = one.opcode?.kind === 'store' && accessSpaces.has(one.opcode.space) ? lineOf(one) : undefined;
      if (line !== undefined) bits.set(line, (bits.get(line) ?? 0) + (accessBits(one, version) ?? 32));
    }
    for (const [line, sum] of bits) found.set(line, [...(found.get(line) ?? []), sum]);
  }
  return found;
}

/**
 * PTX blocks that the SASS contains: blocks with SASS, the postdominators of such blocks, and blocks whose single
 * incoming edge has a predicate with SASS. Blocks that every launch executes are included.
 */
function keptBlocks(kernel: Kernel, kept: ReadonlySet<number>): ReadonlySet<BlockId> {
  const { blocks, postdominators } = kernel;
  const leftCode = (one: BlockId): boolean => blocks[one]!.instructions.some(({ ptxLine }) => kept.has(ptxLine));
  const found = new Set<BlockId>();
  for (const { id } of blocks) {
    if (id !== blocks[0]!.id && !leftCode(id)) continue;
    for (let one: BlockId | null = id; one !== null && !found.has(one); one = postdominators[one]!) found.add(one);
  }
  for (let size = -1; size !== found.size;) {
    size = found.size;
    for (const { id, predecessors } of blocks) {
      const [before, ...others] = predecessors;
      if (before === undefined || others.length > 0 || !found.has(before)) continue;
      const { terminator } = blocks[before]!;
      if (
        terminator.kind === 'branch' &&
        (leftPredicate(kernel, kept, terminator.condition) || isOpenChoice(kernel, found, terminator.condition))
      )
        found.add(id);
    }
  }
  return found;
}

/** Whether a predicate is a phi of different constants, and the SASS has paths for both. */
function isOpenChoice(kernel: Kernel, found: ReadonlySet<BlockId>, predicate: Operand): boolean {
  if (predicate.kind !== 'value') return false;
  const { definition } = kernel.values[predicate.id]!;
  if (definition.kind === 'instruction') {
    const { operation, arguments: operands } = definition.instruction;
    return operation.mnemonic === 'not.pred' && isOpenChoice(kernel, found, operands[0]!);
  }
  const { phis, predecessors } = kernel.blocks[definition.block]!;
  const ways = phis[definition.index]!.inputs.flatMap((one, index) =>
    one.kind === 'constant' && found.has(predecessors[index]!) ? [one.value !== 0n] : [],
  );
  return ways.includes(true) && ways.includes(false);
}

/** Whether the instruction that computes a predicate has SASS; combinations of predicates need not have any. */
function leftPredicate(kernel: Kernel, kept: ReadonlySet<number>, predicate: Operand): boolean {
  if (predicate.kind !== 'value') return false;
  const { definition } = kernel.values[predicate.id]!;
  if (definition.kind !== 'instruction') return false;
  const { ptxLine, operation, arguments: operands } = definition.instruction;
  if (kept.has(ptxLine)) return true;
  return /^(?:not|and|or|xor)\.pred$/.test(operation.mnemonic) && operands.every((one) => leftPredicate(kernel, kept, one));
}

/**
 * Stores of a block that were merged into wider ones: one store of 64 bits may be two of 32. Stores without SASS are
 * assumed to be merged into wider ones with the same base while those have enough bits; if bases are recomputed, into
 * any wider one of the block.
 */
function mergedStores(kernel: Kernel, instructions: readonly Instruction[], code: CodeByLine): ReadonlySet<Instruction> {
  const groups = new Map<string, { spare: number; bits: number; readonly lost: Instruction[] }>();
  for (const one of instructions) {
    const { effect } = one.operation;
    const [address] = one.arguments;
    if (effect.kind !== 'store' || !address) continue;
    const root = rootOf(kernel, address)?.root ?? '';
    const group = groups.get(root) ?? { spare: 0, bits: 0, lost: [] };
    groups.set(root, group);
    const own = effect.bytes * effect.lanes * 8;
    const made = code.stored.get(one.ptxLine);
    if (made === undefined) {
      group.lost.push(one);
      group.bits += own;
    } else group.spare += Math.max(0, made - own);
  }
  const all = [...groups.values()];
  const left = all.filter(({ spare, bits }) => bits > spare);
  const spare = all.reduce((total, one) => total + Math.max(0, one.spare - one.bits), 0);
  const wanting = left.reduce((total, one) => total + one.bits - one.spare, 0);
  return new Set(all.flatMap((one) => (left.includes(one) && wanting > spare ? [] : one.lost)));
}

/**
 * Finds required instructions of the PTX without SASS.
 * @param lineOf the PTX line of an instruction
 * @param isBarrier whether threads wait for each other at an instruction
 */
export function lostInstructions(
  kernel: Kernel,
  flow: SassFlow,
  version: number,
  lineOf: (instruction: SassInstruction) => number | undefined,
  isBarrier: (instruction: SassInstruction) => boolean,
): LostInstruction[] {
  const code = codeByLine(flow, version, lineOf, isBarrier);
  const { byKind } = code;
  const [wanted, inKept] = [linesByKind(), linesByKind()];
  /** Lines with SASS that is weaker than required. */
  const weaker: Partial<Record<Wanted, Set<number>>> & Record<'fence' | 'wait' | 'mbarrier' | 'store', Set<number>> = {
    fence: new Set(),
    wait: new Set(),
    mbarrier: new Set(),
    store: new Set(),
  };
  /** Lines of fences that need SASS of another kind, and of mbarrier operations that are not required here. */
  const others = { fence: new Set<number>(), mbarrier: new Set<number>() };
  /** Lines without a store. */
  const computing = new Set<number>();
  const stores: StoreInBlock[] = [];
  const keptOnes = keptBlocks(kernel, code.kept);
  for (const { id, instructions } of kernel.blocks) {
    const isKept = keptOnes.has(id);
    const merged = mergedStores(kernel, instructions, code);
    for (const instruction of instructions) {
      const { ptxLine } = instruction;
      const fence = fenceWanted(instruction, version);
      // The line table may assign the fence of a store or an atomic to the line before it.
      const what = wantedOf(instruction);
      const { effect } = instruction.operation;
      const also = [
        ...(fence && what !== 'fence' ? ['fence' as const] : []),
        ...(effect.kind === 'group' && effect.form === 'wait-all' ? ['group' as const] : []),
      ];
      if (effect.kind === 'fence' && !fence) others.fence.add(ptxLine);
      if (effect.kind === 'mbarrier') others.mbarrier.add(ptxLine);
      if (effect.kind === 'pure' || effect.kind === 'load') computing.add(ptxLine);
      for (const one of what ? [what, ...also] : also) {
        wanted[one].add(ptxLine);
        if (one === 'store') stores.push({ instruction, block: id });
        if (isKept && !(one === 'store' && merged.has(instruction))) inKept[one].add(ptxLine);
      }
      const fences = fence ? code.fences.get(ptxLine) : undefined;
      if (fence && fences && !fences.some((own) => own.scope >= fence.scope && (own.isSequential || !fence.isSequential)))
        weaker.fence.add(ptxLine);
      // The copies of two such lines may share one arrival; one of the lines has no SASS then.
      const [counts, arrives] = [code.counting.has(ptxLine), code.copyArrivals.has(ptxLine)];
      if (effect.kind === 'mbarrier' && effect.form === 'cp_async_arrive' && !effect.noIncrement && counts !== arrives) {
        for (const lines of [wanted, inKept, weaker]) lines.mbarrier.add(ptxLine);
      }
      // A matrix fragment is stored by several instructions of one block.
      const whole = effect.kind === 'matrix-access' && effect.operation === 'write' ? effect.words * 32 : 0;
      if (whole > 0 && code.storedInBlocks.get(ptxLine)?.some((bits) => bits % whole !== 0)) weaker.store.add(ptxLine);
      const left = code.left.get(ptxLine);
      const most = groupsLeft(instruction);
      if (most !== null && left !== undefined && left > most) weaker.wait.add(ptxLine);
    }
  }
  return wantedKinds.flatMap((what) => {
    const isWeaker = (line: number): boolean => weaker[what]?.has(line) === true;
    // SASS that several lines of inline assembly share is assigned to one of them.
    const isOwn = (line: number): boolean =>
      wanted[what].has(line) ||
      ((what === 'fence' || what === 'mbarrier') && others[what].has(line)) ||
      (what === 'store' && !computing.has(line)) ||
      (what === 'mbarrier' && (wanted.store.has(line) || wanted.atomic.has(line))) ||
      (what === 'barrier' && code.unknown.has(line));
    const spare = [...(what === 'atomic' ? code.atomics : byKind[what])].filter((line) => !isOwn(line)).length;
    const lost = [...wanted[what]].filter((line) => !byKind[what].has(line) || isWeaker(line));
    if (lost.length <= spare) return [];
    const overwritten = what === 'store' ? overwrittenLines(kernel, stores, new Set(lost), code.looking) : new Set<number>();
    return lost.filter((line) => inKept[what].has(line) && !overwritten.has(line)).map((ptxLine) => ({ what, ptxLine }));
  });
}
