/**
 * What threads have acquired at each instruction: a data flow analysis. The branch on the result of an acquiring access
 * shows that it has acquired, a fence after the access orders the accesses that follow (PTX ISA 8.7 to 8.10), and the
 * release of a lock ends both.
 */
import type { Broadcast } from '../../analysis/values/broadcast.ts';
import { ofLeader, partsOf } from '../../analysis/values/leader.ts';
import {
  type ProgramPoint,
  canReach,
  everyPathPasses,
  pointAfter,
  pointDominates,
  pointsOf,
  walkFrom,
} from '../../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Block, BlockId, Instruction } from '../../ir/form/kernel.ts';
import { type FenceUse, isAcquiring, isFenceFor } from '../../memory-model/fence.ts';
import { substituted } from '../../term/rewrite.ts';
import type { Term } from '../../term/term.ts';
import type { Access } from '../../analysis/values/access.ts';
import type { Acquire, Supposition } from './pattern.ts';

/** On every path: possibly nothing is acquired; it is acquired; it is, and a fence has followed. */
export const [nothing, acquired, fenced] = [0, 1, 2] as const;
type Holding = typeof nothing | typeof acquired | typeof fenced;

/** Greater than each holding. */
const unreached = fenced + 1;

/** An edge that threads take on a condition. */
interface Edge {
  readonly from: BlockId;
  readonly to: BlockId;
  /**
   * The conjuncts of the condition; and for each edge into the block where the condition may hold, those of the condition
   * with the phis replaced by the values of that edge.
   */
  readonly condition: readonly Term[];
  readonly incoming: readonly (readonly Term[])[];
}

/** Which fences order what a thread has acquired. */
interface FenceScope {
  readonly use: FenceUse;
  readonly acrossBlocks: boolean;
}

/** The flow of what threads have acquired. */
export class AcquisitionFlow {
  private readonly symbolic: SymbolicKernel;
  private readonly isOfLeaders: boolean;
  /** Edges by the results on which their conditions depend. */
  private readonly edges = new Map<number, Edge[]>();
  /** Edges that are never taken. */
  private readonly closed = new Set<string>();
  private readonly supposed: ReadonlySet<Supposition>;

  /** @param isOfLeaders whether only threads 0 of blocks are considered */
  constructor(symbolic: SymbolicKernel, isOfLeaders: boolean, supposed: ReadonlySet<Supposition> = new Set()) {
    this.symbolic = symbolic;
    this.isOfLeaders = isOfLeaders;
    this.supposed = supposed;
    for (const block of symbolic.kernel.blocks) for (const to of new Set(block.successors)) this.addEdge(block, to);
  }

  private addEdge({ id: from, phis, predecessors }: Block, to: BlockId): void {
    const { symbolic } = this;
    const { store } = symbolic;
    const read = (term: Term): Term => (this.isOfLeaders ? ofLeader(symbolic, term) : term);
    const condition = symbolic.edge(from, to);
    if (read(condition) === store.false) this.closed.add(`${from}>${to}`);
    if (condition.leaves.length === 0) return;
    const ofPhis =
      phis.length === 0
        ? []
        : predecessors.map((_, at) => {
            const incoming = new Map(phis.map(({ result, inputs }) => [Number(result), inputs[at]!]));
            const valueOf = ({ atom }: Term): Term | undefined => {
              const value = atom?.kind === 'phi' || atom?.kind === 'havoc' ? incoming.get(atom.value) : undefined;
              return value && symbolic.operand(value);
            };
            return substituted(store, condition, valueOf, new Map());
          });
    const open = ofPhis.filter((one) => one !== store.false);
    const edge = { from, to, condition: partsOf(read(condition)), incoming: open.map((one) => partsOf(read(one))) };
    const values = [condition, ...open].flatMap(({ leaves }) => leaves.flatMap(({ atom }) => (atom?.kind === 'havoc' ? [atom.value] : [])));
    for (const value of new Set(values)) this.edges.set(value, [...(this.edges.get(value) ?? []), edge]);
  }

  /**
   * As {@link before}, by conjuncts of several branches on one result, too: nothing is acquired before the first execution of
   * an access, and so before each further one, as both are at one place.
   */
  beforeTogether(acquires: readonly Acquire[], fences: FenceScope): ReadonlyMap<Instruction, Holding> {
    const found = new Map(this.before(acquires, fences));
    for (const { access, together = [] } of acquires) {
      const each = together.map((shows) => this.before([{ access, shows }], fences));
      for (const instruction of each[0]?.keys() ?? []) {
        const least = each.reduce<Holding>((holding, of) => {
          const other = of.get(instruction) ?? nothing;
          return other < holding ? other : holding;
        }, fenced);
        if (least > (found.get(instruction) ?? nothing)) found.set(instruction, least);
      }
    }
    return found;
  }

  /**
   * What a thread has acquired immediately before each instruction that it may reach.
   * @param broadcasts with which thread 0 of the block publishes that it has acquired; null: the thread itself acquires
   * @param releases that end what the thread has acquired
   */
  before(
    acquires: readonly Acquire[],
    fences: FenceScope,
    broadcasts: readonly Broadcast[] | null = null,
    releases: ReadonlySet<Instruction> = new Set(),
  ): ReadonlyMap<Instruction, Holding> {
    const { kernel } = this.symbolic;
    const gains = new Map<string, Holding>();
    for (const acquire of acquires)
      for (const [edge, gained] of this.gainsOf(acquire, fences, broadcasts, releases))
        if (gained > (gains.get(edge) ?? nothing)) gains.set(edge, gained);
    const found = new Map<Instruction, Holding>();
    const isGate = this.gate(fences);
    if (gains.size === 0 && releases.size === 0) return found;
    const through = ({ instructions }: Block, start: Holding): Holding => {
      let holding = start;
      for (const instruction of instructions) {
        found.set(instruction, holding);
        if (releases.has(instruction)) holding = nothing;
        else if (holding === acquired && isGate(instruction)) holding = fenced;
      }
      return holding;
    };
    // Greatest fixed point over the blocks that are reached. The last visit of a block is with its final state.
    const before = new Map<BlockId, Holding>([[0 as BlockId, nothing]]);
    for (let changed = true; changed;) {
      changed = false;
      for (const block of kernel.blocks) {
        const start = before.get(block.id);
        if (start === undefined) continue;
        const after = through(block, start);
        for (const to of block.successors) {
          const edge = `${block.id}>${to}`;
          const gained = gains.get(edge) ?? nothing;
          const holding = gained > after ? gained : after;
          if (holding >= (before.get(to) ?? unreached) || this.closed.has(edge)) continue;
          before.set(to, holding);
          changed = true;
        }
      }
    }
    return found;
  }

  /** Whether a fence, or the access itself, orders what follows a barrier after an access of the thread. */
  private isFencedBefore(access: Access, barrier: ProgramPoint, { use, acrossBlocks }: FenceScope): boolean {
    if (this.isAcquire(access, use)) return true;
    return everyPathPasses(this.symbolic.kernel, access, barrier, this.gate({ use, acrossBlocks }));
  }

  private blocksFrom(from: ProgramPoint, isWall: (instruction: Instruction) => boolean): readonly BlockId[] {
    return walkFrom(this.symbolic.kernel, pointAfter(from), (instruction) => !isWall(instruction)).map(({ id }) => id);
  }

  /** The headers of the loops whose iteration selects the element of an access. */
  private headersOf({ targets }: Access): readonly BlockId[] {
    const { loops } = this.symbolic.kernel;
    return loops
      .filter(({ id }) => targets[0]!.offset.leaves.some(({ atom }) => atom?.kind === 'iteration' && atom.loop === id))
      .map(({ header }) => header);
  }

  /** Whether an access acquires without a fence. */
  private isAcquire({ instruction }: Access, use: FenceUse): boolean {
    // A `__threadfence()` that is supposed to be there is a `fence.sc`.
    return this.supposed.has('acquire') || (use === 'patterns' && isAcquiring(instruction));
  }

  /** Whether an instruction is a fence between a thread and others of its block, or of other blocks. */
  private gate({ use, acrossBlocks }: FenceScope): (instruction: Instruction) => boolean {
    const isNarrow = use === 'patterns' && this.supposed.has('scope');
    return (instruction) => isFenceFor(instruction, use, acrossBlocks && !isNarrow);
  }

  /**
   * The edges after which an access is known to have acquired.
   * @param broadcasts with which thread 0 of the block publishes its result; null: the thread itself acquires
   */
  private gainsOf(
    { access, shows }: Acquire,
    fences: FenceScope,
    broadcasts: readonly Broadcast[] | null,
    releases: ReadonlySet<Instruction>,
  ): readonly (readonly [string, Holding])[] {
    const { kernel, leaderValues, valuesOfOthers } = this.symbolic;
    const value = access.instruction.results[0]!;
    const isShown = (parts: readonly Term[]): boolean => parts.some(shows);
    // Values of incoming edges are out of date if the block executes the access again.
    const edges = (this.edges.get(value) ?? []).filter(
      ({ from, condition, incoming }) => isShown(condition) || (from !== access.block && incoming.length > 0 && incoming.every(isShown)),
    );
    if (edges.length === 0) return [];
    const told = broadcasts?.filter(({ leaderValues: values }) => values.includes(value)) ?? [];
    if (broadcasts && told.length === 0) return [];
    const areFenced = told.length > 0 && told.every(({ barrier }) => this.isFencedBefore(access, barrier, fences));
    // The fence of another thread acquires nothing that thread 0 has read.
    if (told.length > 0 && !areFenced && fences.use === 'patterns') return [];
    const isAcquire = this.isAcquire(access, fences.use);
    const isGate = this.gate(fences);
    const withoutFence = new Set(areFenced || isAcquire ? [] : this.blocksFrom(access, isGate));
    // Branches that a thread may execute after a release, or after a value is defined again that selects the element: the
    // result is out of date there.
    const names = new Set(access.targets[0]!.offset.leaves.map(({ atom }) => (atom?.kind === 'havoc' ? atom.value : null)));
    const isEnd = (instruction: Instruction): boolean =>
      releases.has(instruction) || instruction.results.some((result) => result !== null && names.has(result));
    const nextRounds = this.headersOf(access).map((block) => ({ block, position: -1 }));
    const reached = [...pointsOf(kernel, isEnd).filter((end) => canReach(kernel, access, end)), ...nextRounds];
    const stale = new Set(reached.flatMap((end) => this.blocksFrom(end, (instruction) => instruction === access.instruction)));
    return edges.flatMap(({ from, to }) => {
      const end = { block: from, position: kernel.blocks[from]!.instructions.length };
      // A value that one thread broadcasts does not show that another one has acquired.
      const isOfOthers = this.isOfLeaders ? valuesOfOthers : leaderValues;
      const isOther = !broadcasts && isOfOthers.has(value) && !pointDominates(kernel, access, end);
      if (isOther || stale.has(from) || !told.every(({ barrier }) => pointDominates(kernel, barrier, end))) return [];
      return [[`${from}>${to}`, withoutFence.has(from) ? acquired : fenced] as const];
    });
  }
}
