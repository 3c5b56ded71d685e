/**
 * Classifies the idempotency of a kernel on its production build: which launches may be stopped anywhere and executed
 * again, all blocks from the start, with the same memory in the end. Proof under the condition: the kernel has no race
 * and no divergence, so the writes before a read are the same in every execution. Take the first read, in execution
 * order, that sees another value when the launch is executed again. Either no thread writes its bytes, or some write of
 * them certainly precedes it, or all writes of them do. In the first case memory is unchanged. In the others the read
 * sees the same write, whose value depends on earlier reads.
 */
import { OutOfTime } from '../base/out-of-time.ts';
import { type Access, collectAccesses, isWriter } from '../analysis/values/access.ts';
import { isFullBarrier } from '../analysis/barriers/barrier-interval.ts';
import type { DeclaredAs } from '../analysis/values/memory-base.ts';
import { canReach, pointsOf, type ProgramPoint } from '../analysis/values/program-point.ts';
import { type SymbolicKernel, evaluateSymbolically } from '../analysis/values/symbolic.ts';
import { inBounds } from '../check/context/assumed-facts.ts';
import { declarationOf } from '../check/context/scalars.ts';
import { namedPointer } from '../check/premises/premises.ts';
import type { Dim3 } from '../base/dim3.ts';
import { integerType } from '../cuda/syntax/basic-type.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import { fieldName } from '../launch/parameter-field.ts';
import type { ParameterSource, StatedAssumption } from '../launch/parameter-source.ts';
import type { Location } from '../source/location.ts';
import type * as ptx from '../ptx/ast.ts';
import { allOf, anyOf, disjointSets, compare, conditionKey } from './build-condition.ts';
import { briefWork, Coverage } from './coverage.ts';
import { endWhen, spend, TooMuchWork } from './model/effort.ts';
import { atomicForm, distinct, lastingEffects, sourcePlaces } from './lasting-effects.ts';
import { type Footprint, type Root, footprintsOf } from './footprint/footprint.ts';
import { type Amount, atom, fixedAmount } from './footprint/amount.ts';
import type { StatedValue } from './footprint/linear-interpretation.ts';
import { InPlaceMap } from './in-place.ts';
import { localMemory } from './local-memory.ts';
import { OwnThread } from './same-thread-hazards.ts';
import { always, never, type Quantity, type ValidatorCondition } from './model/quantity.ts';
import type { IdempotencyReason, KernelIdempotency, OverlapClause, PointerArgument, WrittenMemory } from './model/kernel-idempotency.ts';
import { isOfOtherKernels } from '../check/stable-memory.ts';
import { isUsuallyMet } from './usual-launch.ts';
import { type KernelProofs, launchValue, type RaceFreedom, raceFreedom } from './race-freedom.ts';
import { withoutConflicts } from './disjoint-stores.ts';
import { ofLaunches, separationOf } from './separation.ts';
import { SharedMemory } from './shared-memory.ts';
import { shortCondition } from './shorten.ts';
import { isFetch, texturesOf } from './textures.ts';

export interface ClassifyRequest {
  /** The kernel of the production build, and its module. */
  readonly kernel: Kernel;
  readonly module: ptx.Module;
  /** By parameter index; shorter or empty if the source is not available. */
  readonly parameters: readonly ParameterSource[];
  /** Name in reports of a memory object, from its symbol. */
  readonly objectName: (symbol: string) => string;
  /** Results of the checks of races and divergence; null: the kernel was not checked. */
  readonly checked: KernelProofs | null;
  /** Statements of the user on the kernel. */
  readonly stated: readonly StatedAssumption[];
  /**
   * Bounded analysis: stops at the first reason for `undecided`, skips kernels with many accesses, and tries few shapes
   * of blocks, with fewer threads and iterations. The class may be `undecided` where the full analysis decides it.
   */
  readonly brief?: { readonly shapes: readonly Dim3[] };
  /** Whether the time limit of the kernel has passed: then it is undecided, with that reason. */
  readonly expired?: () => boolean;
  /** Arrays whose writes are redirected, each to a separate array: a kernel after a possible change. */
  readonly elsewhere?: readonly PointerArgument[];
  /**
   * One of the kernels that result if the kernel is split at barriers. Each but the last saves the state that the next
   * ones need in separate memory. Absent: the unsplit kernel.
   */
  readonly part?: { readonly barriers: readonly ProgramPoint[]; readonly number: number };
}

export interface Classification extends KernelIdempotency {
  /**
   * Reasons to expect that no launch with an effect is idempotent. A re-execution should confirm it, so that the class
   * becomes `non-idempotent`. Empty if that is not expected.
   */
  readonly candidate: readonly IdempotencyReason[];
  /** Arrays that are read and then written, if nothing else prevents idempotency. */
  readonly rewritten: readonly PointerArgument[];
  /** Reads and later writes of one array, if nothing else prevents idempotency. */
  readonly rewrites: readonly { readonly read: ProgramPoint; readonly write: ProgramPoint }[];
  /** Requirements of the condition other than disjoint arrays: shapes of blocks, sizes and the like. */
  readonly asked: ValidatorCondition;
}

/** A pair of accesses of global memory that have to be disjoint. */
interface Pair {
  readonly first: Footprint;
  readonly second: Footprint;
  readonly condition: ValidatorCondition;
  /** Both start from one pointer, so that other arguments of a launch do not make them disjoint. */
  readonly isOfOneRoot: boolean;
}

/** Units of work for a pair of accesses, in addition to those for the terms of each. */
const workOfPair = 20;

/** Maximum number of accesses of a kernel in a bounded analysis. */
const maxAccesses = 12;

/** Classifies a kernel. No launch is run. */
export function classify(request: ClassifyRequest): Classification {
  const { kernel, parameters, checked, brief } = request;
  if (brief) {
    const { open } = raceFreedom(kernel, parameters, checked);
    if (open.length > 0) return undecided(notRaceFree(kernel, open));
  }
  try {
    return new Classifier(request).classify();
  } catch (error) {
    const kind = error instanceof OutOfTime ? 'out-of-time' : error instanceof TooMuchWork ? 'too-large' : null;
    if (kind === null) throw error;
    return undecided([{ kind, locations: sourcePlaces(kernel) }]);
  }
}

function notRaceFree(kernel: Kernel, open: readonly string[]): IdempotencyReason[] {
  return open.map((what) => ({ kind: 'not-race-free', locations: sourcePlaces(kernel), what }));
}

/** Classification of a kernel that is not analyzed further. */
function undecided(reasons: readonly IdempotencyReason[]): Classification {
  return {
    class: 'undecided',
    condition: never,
    overlaps: [],
    reasons: distinct([...reasons]),
    assumptions: [],
    pointers: null,
    written: null,
    separations: [],
    writtenMemory: null,
    touched: null,
    candidate: [],
    rewritten: [],
    rewrites: [],
    asked: always,
  };
}

/** Results that a classifier derives from the accesses. */
interface Derived {
  readonly footprints: readonly Footprint[];
  readonly coverage: Coverage;
  readonly shared: SharedMemory;
  readonly ownThread: OwnThread;
}

class Classifier {
  private readonly request: ClassifyRequest;
  private readonly symbolic: SymbolicKernel;
  private readonly accesses: readonly Access[];
  /** Arrays of pointers that are stated to point to disjoint arrays. */
  private readonly tables: ReadonlySet<string>;
  private readonly hasPlainBarriers: boolean;
  private isRaceFree = false;
  private known: Derived | null = null;

  constructor(request: ClassifyRequest) {
    const { kernel, parameters, expired } = request;
    this.request = request;
    const unknown = (): undefined => undefined;
    const block = kernel.requiredThreads ?? ([null, null, null] as const);
    this.symbolic = evaluateSymbolically(kernel, {
      dimensions: { block, grid: [null, null, null] },
      scalar: unknown,
      scalarBounds: unknown,
      sharedBytes: null,
      expired,
    });
    if (expired) endWhen(this.symbolic, expired);
    const declaredAs: DeclaredAs = (index, offset) => declarationOf(parameters[index], offset);
    this.accesses = this.redirected(collectAccesses(this.symbolic, declaredAs));
    this.tables = this.statedTables();
    this.hasPlainBarriers = pointsOf(kernel, ({ operation: { effect } }) => /barrier/.test(effect.kind)).every(
      ({ instruction }) => isFullBarrier(instruction) || instruction.operation.effect.kind === 'warp-barrier',
    );
  }

  /** Expensive results are computed on first use. */
  private get derived(): Derived {
    if (this.known) return this.known;
    const { brief, part, objectName } = this.request;
    const stated = this.contents();
    const footprints = [...footprintsOf(this.symbolic, this.accesses, stated), ...texturesOf(this.symbolic.kernel, this.request.module)];
    const work = brief && briefWork;
    const whole = new Coverage(this.symbolic, this.accesses, work);
    // Later parts get shared memory as earlier ones have left it, but not the order of their writes.
    const shared = new SharedMemory(this.symbolic, this.accesses, footprints, whole, objectName, brief?.shapes);
    const coverage = part
      ? new Coverage(
          this.symbolic,
          this.accesses.filter((access) => this.isOfPart(access)),
          work,
        )
      : whole;
    return (this.known = { footprints, coverage, shared, ownThread: new OwnThread(this.symbolic, stated) });
  }

  private get footprints(): readonly Footprint[] {
    return this.derived.footprints;
  }

  private get coverage(): Coverage {
    return this.derived.coverage;
  }

  private get shared(): SharedMemory {
    return this.derived.shared;
  }

  private get ownThread(): OwnThread {
    return this.derived.ownThread;
  }

  /** With the writes of some arrays redirected to others, which have no accesses before. */
  private redirected(accesses: readonly Access[]): readonly Access[] {
    const { kernel, elsewhere = [] } = this.request;
    const isOf = ({ targets }: Access, { index, offset }: PointerArgument): boolean =>
      targets.some(({ base }) => base.kind === 'parameter' && base.index === index && base.offset === offset);
    return elsewhere.reduce((all, array, at): readonly Access[] => {
      const own = all.filter((access) => isOf(access, array));
      const writes = own.filter(isWriter);
      // Later reads of written elements would have to use the other array.
      const isReadAgain = writes.some((write) => own.some((read) => !isWriter(read) && canReach(kernel, write, read)));
      if (isReadAgain || writes.some(({ operation, targets }) => operation !== 'write' || targets.length > 1)) return all;
      const index = kernel.parameters.length + at;
      const base = { kind: 'parameter', index, offset: 0, key: `parameter${index}.0` } as const;
      return all.map((access) =>
        writes.includes(access) ? { ...access, targets: access.targets.map((target) => ({ ...target, base })) } : access,
      );
    }, accesses);
  }

  classify(): Classification {
    const { kernel, module, brief } = this.request;
    const local = localMemory(this.symbolic);
    const effects = lastingEffects(this.symbolic, this.accesses, module, {
      volatileRaces: this.request.checked?.volatileRaces === true,
      initialised: local.initialised,
    });
    if (brief && effects.length > 0) return undecided(effects);
    if (brief && this.accesses.length > maxAccesses) return undecided([{ kind: 'many-accesses', locations: sourcePlaces(kernel) }]);
    const free = this.raceFreedom();
    this.isRaceFree = free.open.length === 0;
    const shared = this.shared.initialised(free.inBounds);
    const ofLocal = local.usesBounds ? [inBounds] : [];
    const reasons: IdempotencyReason[] = [...effects, ...shared.reasons, ...notRaceFree(kernel, free.open)];
    const others = reasons.length;
    const inTheWay: Pair[] = [];
    const pairs = this.pairs();
    const rewritten = this.rewrittenRoots(pairs);
    const isRewritten = ({ first, isOfOneRoot }: Pair): boolean =>
      isOfOneRoot && rewritten.own.get(rootKey(first.root))?.has(first.access) === true;
    const open = pairs.filter((pair) => !isRewritten(pair));
    const conditions = open.map((pair) => anyOf([pair.condition, rewritten.alias(pair)]));
    const certain: IdempotencyReason[] = [];
    const isOfOwn = (at: number): boolean => open[at]!.isOfOneRoot && conditions[at]!.kind !== 'never';
    const own = conditions.filter((_, at) => isOfOwn(at));
    // Of an unrolled loop, some pairs are idle in launches of few iterations, others in launches of many.
    const areIdle = own.length > 1 && this.isOnlyWhereIdle(allOf(own));
    open.forEach((pair, at) => {
      const reason = this.reasonOf(pair);
      const isNever = conditions[at]!.kind === 'never';
      if (!isNever && !(isOfOwn(at) && (areIdle || this.isOnlyWhereIdle(conditions[at]!)))) return;
      (isNever ? reasons : certain).push(reason);
      inTheWay.push(pair);
    });
    const needs = this.needs(open, free.unread);
    for (const { access, root, needs: own, reason } of needs) {
      if (own.kind !== 'never') continue;
      const place = sourcePlaces(access.instruction);
      reasons.push({ kind: reason ?? 'unbounded', locations: place, [isWriter(access) ? 'written' : 'read']: this.nameOf(root) });
    }
    const isOpen = reasons.length > 0;
    const condition = isOpen
      ? never
      : shortCondition(allOf([free.condition, shared.condition, ...needs.map((one) => one.needs), ...conditions]));
    const overlaps = isOpen ? [] : this.overlaps(open);
    const isUndecided = isOpen || certain.length > 0 || condition.kind === 'never';
    // In blocks of other shapes a read may precede the write of its bytes, and in launches without the precondition
    // threads may race.
    const isConditional =
      free.isRestricted ||
      shared.condition.kind !== 'always' ||
      conditions.some(({ kind }) => kind !== 'always') ||
      this.ofGlobal().some(isUnreached);
    const beside = allOf([free.isRestricted ? free.condition : always, shared.condition, ...own]);
    // Facts that a proof derives from the given launches are not part of the class, but restrict other launches.
    const asked = isOpen ? always : shortCondition(allOf([beside, ...ofLaunches(free.condition)]));
    return {
      class: isUndecided ? 'undecided' : isConditional ? 'conditional' : 'idempotent',
      condition,
      overlaps,
      reasons: distinct([...reasons, ...certain]),
      assumptions: [...new Set([...free.assumptions, ...shared.assumptions, ...ofLocal, ...this.usedContents()])],
      pointers: this.pointerArguments(),
      written: this.written(),
      separations:
        isUndecided || beside.kind !== 'always'
          ? []
          : separationOf(
              open.map(({ first, second }) => [first.root, second.root]),
              free.condition,
            ),
      writtenMemory: effects.some(({ kind }) => kind !== 'atomic') ? null : this.writtenMemory(),
      touched: this.ofGlobal().map(({ access, bytes, needs, exact }) => ({ isWrite: isWriter(access), bytes, needs, exact })),
      candidate: distinct([
        ...effects.filter(({ kind }) => kind === 'atomic'),
        ...certain,
        ...reasons.filter(({ kind }) => kind === 'read-then-write'),
      ]),
      rewritten: others > 0 ? [] : rewrittenBy(inTheWay),
      rewrites:
        others > 0 || !inTheWay.every(({ isOfOneRoot }) => isOfOneRoot)
          ? []
          : inTheWay.map(({ first, second }) => ({ read: first.access, write: second.access })),
      asked,
    };
  }

  /** Conditions for freedom of races: from the proofs of the checks, or, if they prove nothing, from the footprints. */
  private raceFreedom(): RaceFreedom {
    const { kernel, parameters, checked } = this.request;
    const proved = raceFreedom(kernel, parameters, checked);
    // Footprints do not cover accesses of another, concurrent kernel.
    if (proved.open.some(isOfOtherKernels)) return proved;
    if (proved.open.length === 0 && !proved.isOfOneAlong) return proved;
    // Disjointness of writes and textures is required separately.
    const footprints = this.footprints.filter(({ root }) => root.kind !== 'texture');
    const condition = withoutConflicts(this.symbolic, this.accesses, footprints, this.contents());
    if (proved.open.length === 0) return { ...proved, condition: anyOf([proved.condition, condition]) };
    if (condition.kind === 'never' || this.isOnlyWhereIdle(condition)) return proved;
    return { condition, isRestricted: true, isOfOneAlong: false, unread: 'none', assumptions: [], inBounds: false, open: [] };
  }

  /** Whether a launch makes accesses of one array disjoint only by executing hardly any of them. */
  private isOnlyWhereIdle(condition: ValidatorCondition): boolean {
    const large = this.shared.shapes.filter(([x, y, z]) => x * y * z >= 32).slice(0, 6);
    const written = this.ofGlobal().flatMap(({ access, bytes }) => (isWriter(access) ? [bytes] : []));
    const shapes = large.length > 0 ? large : this.shared.shapes;
    return !isUsuallyMet(condition, this.request.kernel, shapes, written.length > 0 ? written : [null]);
  }

  /**
   * Conditions of footprints (`Footprint.needs`) that a launch must satisfy: those of all writes, and of accesses that
   * must be disjoint from writes.
   * @param unread also those of shared memory with addresses like these
   */
  private needs(open: readonly Pair[], unread: 'none' | 'rounds' | 'any'): readonly Footprint[] {
    const meant = new Set(this.ofGlobal().filter(({ access }) => isWriter(access)));
    for (const { first, second, condition } of open) if (condition.kind !== 'always') meant.add(first).add(second);
    const ofShared =
      unread === 'none' ? [] : this.footprints.filter((one) => isShared(one.root) && (unread === 'any' || countsRounds(one)));
    return [...meant, ...ofShared.map((one) => (isUnboundedStep(one) ? { ...one, needs: never } : one))];
  }

  /** The pointer arguments; null if some access starts from another base. */
  private pointerArguments(): readonly PointerArgument[] | null {
    const byKey = new Map<string, PointerArgument>();
    for (const { base } of this.accesses.flatMap(({ targets }) => targets)) {
      if (base.kind === 'parameter') byKey.set(base.key, { index: base.index, offset: base.offset });
      else if (base.kind !== 'object') return null;
    }
    return [...byKey.values()].sort((a, b) => a.index - b.index || a.offset - b.offset);
  }

  private writtenMemory(): WrittenMemory | null {
    const writes = this.ofGlobal().filter(({ access }) => isWriter(access));
    const sets = writes.flatMap(({ bytes }) => bytes ?? []);
    const needs = allOf(writes.map((one) => one.needs));
    return sets.length < writes.length || needs.kind === 'never' ? null : { sets, needs };
  }

  /** The pointer arguments of written memory. */
  private written(): readonly PointerArgument[] | null {
    const roots = this.ofGlobal().flatMap(({ access, root }) => (isWriter(access) ? [root] : []));
    return roots.some(({ kind }) => kind !== 'parameter') ? null : pointersTo(roots);
  }

  private ofGlobal(): readonly Footprint[] {
    return this.footprints.filter(({ access, root }) => access.memory !== 'shared' && !isShared(root) && this.isOfPart(access));
  }

  /** Whether the classified part of the kernel contains an access: the access follows that number of barriers. */
  private isOfPart(access: Access): boolean {
    const { part, kernel } = this.request;
    return !part || part.barriers.filter((barrier) => canReach(kernel, barrier, access)).length === part.number;
  }

  /** The pairs of accesses of which at least one writes, without pairs that are known to be harmless. */
  private pairs(): readonly Pair[] {
    const footprints = this.ofGlobal();
    const pairs: Pair[] = [];
    footprints.forEach((second, at) => {
      if (!isWriter(second.access)) return;
      footprints.forEach((first, before) => {
        if (first === second || (isWriter(first.access) && before > at)) return;
        spend(this.symbolic, workOfPair);
        const isOfOneRoot = rootKey(first.root) === rootKey(second.root);
        if (isOfOneRoot && this.isOrdered(first.access, second.access)) return;
        const byOrder = isOfOneRoot && this.isRaceFree ? this.ordered(first, second) : never;
        const condition = anyOf([this.areDisjoint(first, second), byOrder]);
        if (condition.kind !== 'always') pairs.push({ first, second, condition, isOfOneRoot });
      });
    });
    return pairs;
  }

  private areDisjoint(first: Footprint, second: Footprint): ValidatorCondition {
    if (isOfToolkit(first.root) || isOfToolkit(second.root)) return always;
    if (this.areOfDifferentObjects(first, second) || this.areNonAliasing(first.root, second.root)) return always;
    return first.bytes && second.bytes ? disjointSets(first.bytes, second.bytes) : never;
  }

  /** Whether it is stated that the pointers of a table point to other arrays than any other pointer. */
  private areNonAliasing(a: Root, b: Root): boolean {
    const isStated = (root: Root): boolean => root.kind === 'loaded' && this.tables.has(root.table.key);
    if (a.kind === 'unknown' || b.kind === 'unknown') return false;
    // Two pointers loaded from one table may be equal.
    if (a.kind === 'loaded' && b.kind === 'loaded') return a.table.key !== b.table.key && isStated(a) && isStated(b);
    return isStated(a) || isStated(b);
  }

  /** Whether two accesses stay within two different variables of the module. */
  private areOfDifferentObjects({ root: a, access: x }: Footprint, { root: b, access: y }: Footprint): boolean {
    if (a.kind !== 'object' || b.kind !== 'object' || a.object === b.object) return false;
    return [x, y].every(({ targets, bytes }) =>
      targets.every(({ base, offset }) => {
        const { low, high, assumes } = this.symbolic.view.natural(offset);
        const size = base.kind === 'object' ? base.object.bytes : null;
        return size !== null && assumes.length === 0 && low >= 0n && high + BigInt(bytes) <= BigInt(size);
      }),
    );
  }

  /** Whether a read of an array has the same value in each re-execution, although another access writes it. */
  private isOrdered(first: Access, second: Access): boolean {
    if (first.operation === 'atomic' || second.operation === 'atomic')
      return this.atomicForm(first) !== null && this.atomicForm(first) === this.atomicForm(second);
    if (isWriter(first)) return true;
    if (!this.isRaceFree || this.isCached(first)) return false;
    // A read that no write follows, in any thread, sees all writes of its bytes.
    if (this.hasPlainBarriers && !canReach(this.symbolic.kernel, first, second)) return true;
    return first.targets.every((target) => this.coverage.byOwnThread(first, target));
  }

  /** Condition under which the bytes of a read are written only before it, or not at all. */
  private ordered(first: Footprint, second: Footprint): ValidatorCondition {
    if (first.root.kind === 'unknown' || (first.root.kind === 'loaded' && !this.tables.has(first.root.table.key))) return never;
    const byThread = this.ownThread.keepsApart(first.access, second.access);
    return byThread.kind === 'always' ? always : anyOf([byThread, this.coveredShapes(first)]);
  }

  private atomicForm({ instruction }: Access): string | null {
    return atomicForm(instruction, this.symbolic);
  }

  /** Loads through the read-only path may see earlier contents. */
  private isCached({ instruction: { operation } }: Access): boolean {
    return operation.effect.kind === 'load' && operation.effect.nonCoherent;
  }

  /** Condition on the block shape under which the block has certainly written the bytes that its thread reads. */
  private coveredShapes({ access }: Footprint): ValidatorCondition {
    const [target, ...others] = access.targets;
    if (access.operation !== 'read' || this.isCached(access) || !target || others.length > 0) return never;
    const byOwn = this.coverage.covers(access, target, null, null);
    return byOwn.kind === 'always' ? always : this.shared.ofShapes((shape) => this.coverage.covers(access, target, shape, null));
  }

  /** Arrays updated in place by an idempotent element-wise map: separately, and pairs that begin at one address. */
  private rewrittenRoots(pairs: readonly Pair[]) {
    const own = new Map<string, ReadonlySet<Access>>();
    const known = new Map<string, ValidatorCondition>();
    // A read in another part may see changed elements, and the value of a texture may depend on them.
    const isPlain = !this.request.part && pointsOf(this.symbolic.kernel, isFetch).length === 0;
    const mayRewrite = this.isRaceFree && isPlain;
    const isMap = (accesses: ReadonlySet<Access>): boolean =>
      mayRewrite && new InPlaceMap(this.symbolic, [...accesses], this.accesses).isRepeatable;
    const ofRoots = (...keys: readonly string[]): ReadonlySet<Access> =>
      new Set(this.ofGlobal().flatMap(({ root, access }) => (keys.includes(rootKey(root)) ? access : [])));
    const tried = new Set<string>();
    for (const { first, second, isOfOneRoot } of pairs) {
      const key = rootKey(second.root);
      if (isOfOneRoot && /^(parameter|object)$/.test(second.root.kind) && !tried.has(key)) {
        tried.add(key);
        // Other elements of the array that are read are unchanged if their own pairs satisfy the condition.
        const changed = new Set([...ofRoots(key)].filter((access) => isWriter(access) || isAtOnePlace(access, second.access)));
        if (isMap(changed)) own.set(key, changed);
      }
      if (isOfOneRoot || first.root.kind !== 'parameter' || second.root.kind !== 'parameter') continue;
      const both = pairKey(first.root, second.root);
      if (known.has(both)) continue;
      const condition = isMap(ofRoots(rootKey(first.root), key)) ? compare(pointer(first.root), '=', pointer(second.root)) : never;
      known.set(both, condition);
    }
    const alias = ({ first, second, isOfOneRoot }: Pair): ValidatorCondition =>
      isOfOneRoot ? never : (known.get(pairKey(first.root, second.root)) ?? never);
    return { own, alias };
  }

  private reasonOf({ first, second, isOfOneRoot }: Pair): IdempotencyReason {
    const [read, written] = [first, second];
    const names = { written: this.nameOf(written.root), read: this.nameOf(read.root) };
    const locations = sourcePlaces(read.access.instruction, written.access.instruction);
    if (isAtomic(first) || isAtomic(second)) {
      const atomic = isAtomic(second) ? second : first;
      return { kind: 'atomic', locations, ...names, what: atomic.access.instruction.operation.mnemonic };
    }
    const unbounded = [first, second].find(({ bytes }) => bytes === null);
    if (unbounded) return { kind: unbounded.reason ?? 'unbounded', locations: sourcePlaces(unbounded.access.instruction), ...names };
    return { kind: isOfOneRoot ? 'read-then-write' : 'overlap', locations, ...names };
  }

  /** Pairs of arrays that a launch must keep disjoint, by their names in the source. */
  private overlaps(open: readonly Pair[]): readonly OverlapClause[] {
    const reads = new Map<string, Set<string>>();
    const places = new Map<string, number>();
    const lines = new Map<string, readonly Location[]>();
    for (const { first, second, isOfOneRoot } of open) {
      if (isOfOneRoot) continue;
      const [written, read] = [this.nameOf(second.root), this.nameOf(first.root)];
      places.set(written, placeOf(second.root)).set(read, placeOf(first.root));
      if (isWriter(first.access) && reads.get(read)?.has(written)) continue;
      reads.set(written, (reads.get(written) ?? new Set()).add(read));
      if (!lines.has(written)) lines.set(written, sourcePlaces(first.access.instruction, second.access.instruction));
    }
    const inOrder = (names: Iterable<string>): string[] => [...names].sort((a, b) => places.get(a)! - places.get(b)!);
    return inOrder(reads.keys()).map((written) => ({ written, read: inOrder(reads.get(written)!), locations: lines.get(written)! }));
  }

  private nameOf(root: Root): string {
    const { parameters, objectName, kernel } = this.request;
    if (root.kind === 'texture') return fieldName(parameters, root, kernel);
    if (root.kind === 'parameter') {
      const instead = this.request.elsewhere?.[root.index - kernel.parameters.length];
      return instead ? `${fieldName(parameters, instead, kernel)}_new` : fieldName(parameters, root, kernel);
    }
    if (root.kind === 'loaded' && root.table.kind === 'parameter') return `${fieldName(parameters, root.table, kernel)}[…]`;
    return root.kind === 'object' ? objectName(root.object.symbol) : '?';
  }

  private statedTables(): ReadonlySet<string> {
    const { stated, parameters } = this.request;
    const arrays = stated.flatMap(({ expression }) =>
      expression.kind === 'pointers-apart' ? (namedPointer(parameters, expression.array) ?? []) : [],
    );
    return new Set(arrays.map(({ index, offset }) => `parameter${index}.${offset}`));
  }

  /** Stated contents of arrays that the kernel does not write. */
  private contents(): StatedValue {
    const { stated, parameters, kernel } = this.request;
    const written = new Set(this.accesses.filter(isWriter).flatMap(({ targets }) => targets.map(({ base }) => base.key)));
    const facts = new Map<string, { readonly low: Amount; readonly high: Amount; readonly bytes: number }>();
    for (const { expression } of stated) {
      if (expression.kind !== 'elements') continue;
      const array = namedPointer(parameters, expression.array);
      const type =
        array &&
        integerType(
          array.type
            .replace(/\*.*$/, '')
            .replace(/\bconst\b/, '')
            .trim(),
        );
      const low = launchValue(kernel, parameters, expression.low);
      const high = launchValue(kernel, parameters, expression.high);
      if (array && type && low && high)
        facts.set(`parameter${array.index}.${array.offset}`, { low: polynomial(low), high: polynomial(high), bytes: type.bytes });
    }
    return (value) => {
      const access = this.accesses.find(({ instruction }) => instruction.results.some((result) => result === value));
      const [target, ...others] = access?.targets ?? [];
      const effect = access?.instruction.operation.effect;
      if (!target || others.length > 0 || written.has(target.base.key) || written.has('unknown')) return undefined;
      const fact = facts.get(target.base.key);
      return effect?.kind === 'load' && effect.bytes === fact?.bytes ? fact : undefined;
    };
  }

  private usedContents(): readonly string[] {
    return this.request.stated.flatMap(({ expression: { kind }, text }) =>
      kind === 'elements' || kind === 'pointers-apart' ? [text] : [],
    );
  }
}

/** The arguments of arrays that pairs read and then write; empty if some pair is of another kind. */
function rewrittenBy(pairs: readonly Pair[]): readonly PointerArgument[] {
  const roots = pairs.map(({ second }) => second.root);
  return pairs.every(({ isOfOneRoot }) => isOfOneRoot) && roots.every(({ kind }) => kind === 'parameter') ? pointersTo(roots) : [];
}

/** The pointers among the arguments, without duplicates. */
function pointersTo(roots: readonly Root[]): readonly PointerArgument[] {
  const known = new Map<string, PointerArgument>();
  for (const root of roots) if (root.kind === 'parameter') known.set(rootKey(root), { index: root.index, offset: root.offset });
  return [...known.values()];
}

function isAtomic({ access }: Footprint): boolean {
  return access.operation === 'atomic';
}

function isAtOnePlace({ targets: [a] }: Access, { targets: [b] }: Access): boolean {
  return a !== undefined && a.offset === b?.offset;
}

/** Whether an address depends on the iteration counter of a loop. */
function countsRounds({ access: { targets } }: Footprint): boolean {
  return targets.some(({ offset }) => offset.leaves.some(({ atom: leaf }) => leaf?.kind === 'iteration'));
}

/** Whether the range of an address is unbounded in a dimension that the launch scales. */
function isUnboundedStep({ access: { targets }, bytes, variables: [variable, ...others] }: Footprint): boolean {
  const isBounded = bytes !== null && (others.length > 0 || variable === undefined || variable.of.length > 0);
  const isOfLaunch = targets.some(({ offset }) => offset.leaves.some(({ atom: leaf }) => /^(parameter|block|grid-size)$/.test(leaf!.kind)));
  return isOfLaunch && !isBounded;
}

/** Whether an access is made only if the arithmetic of a condition wraps around. */
function isUnreached({ bytes, needs }: Footprint): boolean {
  return needs.kind !== 'always' && bytes !== null && disjointSets(bytes, bytes).kind === 'always';
}

function polynomial(quantity: Quantity): Amount {
  return quantity.kind === 'constant' ? fixedAmount(quantity.value) : atom(conditionKey(quantity), quantity, null, null);
}

function pairKey(a: Root, b: Root): string {
  return [rootKey(a), rootKey(b)].sort().join();
}

/** A key of the pointer or variable that an access starts from. */
function rootKey(root: Root): string {
  if (root.kind === 'parameter') return `parameter${root.index}.${root.offset}`;
  if (root.kind === 'texture') return `texture${root.index}.${root.offset}`;
  if (root.kind === 'loaded') return `${root.table.key}.${root.element.id}`;
  return root.kind === 'object' ? `object${root.object.id}` : 'unknown';
}

/** Sort key of a root: parameters in their order, then variables. */
function placeOf(root: Root): number {
  const kinds = { parameter: 0, texture: 0, object: 1, loaded: 2, unknown: 3 } as const;
  const within =
    root.kind === 'parameter' || root.kind === 'texture' ? root.index + root.offset / 65536 : root.kind === 'object' ? root.object.id : 0;
  return 1e6 * kinds[root.kind] + within;
}

function pointer({ index, offset }: Extract<Root, { kind: 'parameter' }>): Quantity {
  return { kind: 'argument', index, offset, bytes: 8, signed: false };
}

/**
 * Whether a root is a table of the toolkit's mathematical functions, which only these read. No pointer of a program
 * points to it: its name is reserved.
 */
function isOfToolkit(root: Root): boolean {
  return root.kind === 'object' && /^__cudart_i2opi_[fd]$/.test(root.object.symbol);
}

function isShared(root: Root): boolean {
  return root.kind === 'object' && root.object.space === 'shared';
}
