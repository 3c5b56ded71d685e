/**
 * Shared memory: whether each read of it returns a value that its block has written in this execution, and not contents
 * left by an earlier block.
 */
import type { Access } from '../analysis/values/access.ts';
import type { Target } from '../analysis/values/memory-base.ts';
import type { SymbolicKernel } from '../analysis/values/symbolic.ts';
import { inBounds } from '../check/context/assumed-facts.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { Kernel, Operand } from '../ir/form/kernel.ts';
import { allOf, anyOf, compare, conditionKey, number } from './build-condition.ts';
import type { Coverage } from './coverage.ts';
import { sourcePlaces } from './lasting-effects.ts';
import type { Footprint } from './footprint/footprint.ts';
import { always, type Axis, never, type Quantity, type ValidatorCondition } from './model/quantity.ts';
import type { IdempotencyReason } from './model/kernel-idempotency.ts';
import { isUsuallyMet } from './usual-launch.ts';

interface Initialised {
  /** On the launch; `never` is among the reasons instead. */
  readonly condition: ValidatorCondition;
  readonly reasons: readonly IdempotencyReason[];
  readonly assumptions: readonly string[];
}

/** Shapes of blocks that are tried, by the axes that a kernel reads. */
const lines: readonly Dim3[] = [256, 128, 512, 1024, 64, 32, 1, 16, 96, 160, 192, 224, 320, 384, 448, 640, 768, 896].map((x) => [x, 1, 1]);
const planes: readonly Dim3[] = (
  [
    [16, 16],
    [32, 8],
    [8, 8],
    [32, 32],
    [32, 4],
    [32, 16],
    [16, 8],
    [8, 16],
    [4, 4],
    [64, 4],
    [8, 32],
    [16, 32],
    [16, 4],
    [8, 4],
    [32, 2],
    [64, 2],
    [64, 8],
    [64, 16],
    [128, 2],
    [128, 4],
    [128, 8],
    [256, 2],
    [256, 4],
  ] as const
).map(([x, y]) => [x, y, 1]);
const boxes: readonly Dim3[] = [
  [4, 4, 4],
  [8, 4, 4],
  [8, 8, 1],
  [8, 8, 2],
  [8, 8, 4],
  [8, 8, 8],
  [16, 4, 4],
  [16, 8, 8],
  [16, 16, 1],
  [16, 16, 4],
  [32, 4, 4],
  [32, 8, 1],
  [32, 8, 4],
];

export class SharedMemory {
  private readonly symbolic: SymbolicKernel;
  private readonly accesses: readonly Access[];
  private readonly footprints: readonly Footprint[];
  private readonly coverage: Coverage;
  private readonly objectName: (symbol: string) => string;
  private readonly axes: readonly Axis[];
  /** The blocks that are tried. */
  readonly shapes: readonly Dim3[];

  constructor(
    symbolic: SymbolicKernel,
    accesses: readonly Access[],
    footprints: readonly Footprint[],
    coverage: Coverage,
    objectName: (symbol: string) => string,
    shapes?: readonly Dim3[],
  ) {
    this.symbolic = symbolic;
    this.accesses = accesses;
    this.footprints = footprints;
    this.coverage = coverage;
    this.objectName = objectName;
    const { requiredThreads } = symbolic.kernel;
    this.axes = requiredThreads ? [] : readAxes(symbolic.kernel);
    this.shapes = requiredThreads
      ? [requiredThreads]
      : shapes
        ? shapes
        : this.axes.includes(2)
          ? [...lines, ...planes, ...boxes]
          : this.axes.includes(1)
            ? [...lines.filter(([x]) => x % 32 === 0), ...planes]
            : lines;
  }

  /** Condition that the block has one of the tried shapes and the launch satisfies the condition of that shape. */
  ofShapes(said: (shape: Dim3) => ValidatorCondition): ValidatorCondition {
    return anyOf(
      this.shapes.map((shape) => {
        const condition = said(shape);
        const sizes = this.axes.map((axis) => compare({ kind: 'block-size', axis }, '=', number(shape[axis])));
        return condition.kind === 'never' ? never : allOf([...sizes, condition]);
      }),
    );
  }

  /**
   * Condition under which all shared memory that is read was written before.
   * @param usesBounds whether the checks assume that indices are within their arrays
   */
  initialised(usesBounds: boolean): Initialised {
    const reasons: IdempotencyReason[] = [];
    const assumptions = new Set<string>();
    const conditions: ValidatorCondition[] = usesBounds ? this.insideArrays(assumptions) : [];
    const refused = new Set<Dim3>();
    for (const access of this.accesses) {
      const targets = access.targets.filter(isOfShared);
      if (access.operation === 'write' || targets.length === 0) continue;
      if (targets.every((target) => this.coverage.byOwnThread(access, target))) continue;
      if (this.covers(access, targets, null, assumptions).kind === 'always') continue;
      const [one, ...others] = targets;
      const bySets = others.length === 0 ? anyOf(this.withinWritten(access, one!)) : never;
      const byShapes = this.ofShapes((shape) => {
        if (bySets.kind === 'always' || refused.has(shape)) return never;
        const condition = this.covers(access, targets, shape, assumptions);
        // In blocks of this shape some read is uninitialised, so other reads need not be examined.
        if (condition.kind === 'never' && bySets.kind === 'never') refused.add(shape);
        return condition;
      });
      const condition = anyOf([bySets, byShapes]);
      if (condition.kind === 'never' || !isUsuallyMet(condition, this.symbolic.kernel, this.shapes)) {
        const [array] = targets.flatMap(({ base }) => (base.kind === 'object' ? [base.object.symbol] : []));
        const read = array === undefined ? {} : { read: this.objectName(array) };
        reasons.push({ kind: 'uninitialised-shared', locations: sourcePlaces(access.instruction), ...read });
        refused.clear();
      }
      conditions.push(condition);
    }
    return { condition: reasons.length > 0 ? never : allOf(conditions), reasons, assumptions: [...assumptions] };
  }

  /** Condition under which the bytes of a read are among those that its whole block has written before. */
  private withinWritten(read: Access, target: Target): readonly ValidatorCondition[] {
    const [inner, ...more] = this.footprints.filter(({ access }) => access === read);
    const bytes = inner?.bytes;
    if (!bytes || more.length > 0) return [];
    return this.coverage.writesBefore(read, target).flatMap((write) => {
      const [outer, ...others] = this.footprints.filter(({ access }) => access === write);
      if (!outer?.exact || !outer.bytes || others.length > 0) return [];
      const isSame = conditionKey(bytes) === conditionKey(outer.bytes);
      const within: ValidatorCondition = isSame ? always : { kind: 'within', inner: bytes, outer: outer.bytes };
      return [allOf([inner.needs, outer.needs, within])];
    });
  }

  private covers(access: Access, targets: readonly Target[], shape: Dim3 | null, assumptions: Set<string>): ValidatorCondition {
    return allOf(
      targets.map((target) => {
        const exactly = this.coverage.covers(access, target, shape, null);
        const whole = target.base.kind === 'object' ? target.base.object.bytes : null;
        if (exactly.kind !== 'never' || whole === null) return exactly;
        const condition = this.coverage.covers(access, target, shape, whole);
        if (condition.kind !== 'never') assumptions.add(inBounds);
        return condition;
      }),
    );
  }

  /** Condition under which writes stay in their array; an assumption if no launch determines it. */
  private insideArrays(assumptions: Set<string>): ValidatorCondition[] {
    return this.footprints.flatMap(({ access, root, bytes, needs, exact }) => {
      if (root.kind !== 'object' || root.object.space !== 'shared' || access.operation === 'read') return [];
      const size = root.object.bytes;
      const targets = access.targets.filter(({ base }) => base.kind === 'object' && base.object === root.object);
      const isInside = targets.every(({ offset }) => {
        const { low, high, assumes } = this.symbolic.view.natural(offset);
        return size !== null && assumes.length === 0 && low >= 0n && high + BigInt(access.bytes) <= BigInt(size);
      });
      if (isInside) return [];
      const count: Quantity = size === null ? { kind: 'dynamic-shared' } : number(size);
      const array = { base: number(0), steps: [{ stride: number(1), count }], bytes: 1 };
      const bySet = bytes ? allOf([needs, { kind: 'within', inner: bytes, outer: array }]) : never;
      if (bytes && (exact || size === null)) return [bySet];
      const isOfLaunch = targets.every(({ offset }) => offset.leaves.every(({ atom }) => atom!.kind !== 'havoc'));
      const byShapes = this.ofShapes((shape) =>
        size !== null && isOfLaunch && targets.every((target) => this.coverage.staysInside(access, target, shape, size)) ? always : never,
      );
      const condition = anyOf([bySet, byShapes]);
      if (isOfLaunch && condition.kind !== 'never') return [condition];
      // A value from memory determines the index.
      assumptions.add(inBounds);
      return [];
    });
  }
}

function isOfShared({ base }: Target): boolean {
  return base.kind === 'object' && base.object.space === 'shared';
}

/** The axes along which threads behave differently. */
function readAxes({ blocks }: Kernel): readonly Axis[] {
  const read = new Set<Axis>();
  const visit = (operand: Operand): void => {
    if (operand.kind !== 'special') return;
    const axis = /^n?tid\.([xyz])$/.exec(operand.register)?.[1];
    if (axis !== undefined) read.add('xyz'.indexOf(axis) as Axis);
    // The lane number depends on all axes.
    else if (/^lane/.test(operand.register)) for (const each of [0, 1, 2] as const) ofLanes.add(each);
  };
  const ofLanes = new Set<Axis>();
  for (const { phis, instructions, terminator } of blocks) {
    for (const { inputs } of phis) inputs.forEach(visit);
    for (const instruction of instructions) instruction.arguments.forEach(visit);
    if (terminator.kind === 'branch') visit(terminator.condition);
    if (terminator.kind === 'switch') visit(terminator.index);
  }
  return ([0, 1, 2] as const).filter((axis) => read.has(axis) || ofLanes.has(axis));
}
