/** Vacuity: a proof under assumptions states nothing about an access that no execution satisfying them reaches. */
import { AssumedFacts } from './context/assumed-facts.ts';
import { CertificateLog } from './certifying/certificate-log.ts';
import type { KernelAndLaunch, KernelContext, SymbolicFacts, ElementFacts } from './context/facts.ts';
import type { Exclusion } from './request/check-request.ts';
import { fieldAt } from './context/scalars.ts';
import type { Access } from '../analysis/values/access.ts';
import type { UniformityResult } from '../analysis/values/uniformity.ts';
import type { Steps } from '../base/coroutine.ts';
import { type AtomColumn, ColumnEvaluation } from '../term/evaluate-columns.ts';
import { evaluateTerm } from '../term/evaluate-term.ts';
import type { Term } from '../term/term.ts';
import { usualContents } from './deciding/held-contents.ts';
import { meetsStated, SolverTiers } from './deciding/solver-tiers.ts';
import { type ScalarChoice, scalarChoices } from './representative/scalar-choice.ts';

const sampledBlocks = 4;

export interface Reachability {
  /**
   * The first access that no execution satisfying the assumptions reaches; null if each is reached by some execution.
   */
  readonly unreachable: Access | null;
  /** Accesses that are excluded by statements of the user, without other assumptions: intentionally switched off. */
  readonly off: readonly Access[];
}

/** The result if every access is reached by some execution. */
export const allReached: Reachability = { unreachable: null, off: [] };

/** Determines which accesses are reached by executions that satisfy the assumptions. */
export function* reachabilityOf(
  context: KernelAndLaunch & SymbolicFacts & ElementFacts,
  uniformity: UniformityResult,
  tiers: SolverTiers,
  assumed: AssumedFacts,
): Steps<Reachability> {
  if (!assumed.areRestrictive) return allReached;
  const { symbolic, request } = context;
  const isAssuming = request.assumptions.length > 0 || symbolic.stated.length > 0;
  const choices = scalarChoices(context);
  const chosen: ScalarChoice[] = [];
  /** Whether some choice of the scalars shows that an access is reached; further choices are made only if one is needed. */
  const isSampled = (access: Access): boolean => {
    if (chosen.some((scalar) => sampled(context, access, scalar))) return true;
    for (let next = choices.next(); !next.done; next = choices.next()) {
      chosen.push(next.value);
      if (sampled(context, access, next.value)) return true;
    }
    return false;
  };
  const decided = new Map<number, Standing>();
  const off: Access[] = [];
  let isAnyReached = false;
  for (const access of context.accesses) {
    // If an access is unreachable without assumptions, the proof is not vacuous.
    if (!isAssuming && symbolic.reach(access.block) === symbolic.store.false) continue;
    let standing = decided.get(access.block);
    if (standing === undefined) {
      standing =
        !restsOnContents(context, tiers, access) && isSampled(access)
          ? 'reached'
          : yield* standingOf(context, tiers, uniformity, access, assumed);
      decided.set(access.block, standing);
    }
    if (standing === 'unreached') return { unreachable: access, off: [] };
    if (standing === 'off') off.push(access);
    else isAnyReached = true;
  }
  // Statements of the user that exclude every access of a kernel are an error of the user.
  return isAnyReached ? { unreachable: null, off } : { unreachable: off[0] ?? null, off: [] };
}

/**
 * `off`: the user's statements exclude that the access is reached; `unreached`: they do together with other
 * assumptions.
 */
type Standing = 'reached' | 'off' | 'unreached';

/** Whether the reach condition of an access depends on assumed contents of memory, so that the solver is needed. */
function restsOnContents({ symbolic }: SymbolicFacts, { contents }: SolverTiers, { block }: Access): boolean {
  return symbolic.reach(block).leaves.some(({ atom }) => atom?.kind === 'havoc' && contents.has(atom.value));
}

/**
 * Whether some thread of the first blocks reaches the access in the first iteration of the loops around it. Threads
 * that agree on all values in the condition are evaluated only once.
 */
function sampled(context: KernelAndLaunch & SymbolicFacts & ElementFacts, access: Access, scalar: ScalarChoice): boolean {
  const { dimensions, symbolic } = context;
  const condition = symbolic.reach(access.block);
  // Statements about the elements of an array need the solver.
  if (condition.leaves.some(({ atom }) => atom?.kind === 'havoc' && context.elements.has(atom.value))) return false;
  const block = dimensions.block.map((size) => size ?? 32) as [number, number, number];
  const grid = dimensions.grid.map((size) => size ?? 2) as [number, number, number];
  const reads = (kind: 'thread' | 'block', axis: number): boolean =>
    condition.leaves.some(({ atom }) => atom?.kind === kind && atom.axis === axis);
  const threads = block.map((size, axis) => (reads('thread', axis) ? size : 1)) as [number, number, number];
  const readsBlock = [0, 1, 2].some((axis) => reads('block', axis));
  const blocks = readsBlock ? Math.min(sampledBlocks, grid[0] * grid[1] * grid[2]) : 1;
  const column = (count: number, axis: 0 | 1 | 2): Float64Array =>
    Float64Array.from({ length: count }, (_, thread) => coordinate(thread, threads, axis));
  // Evaluating the first thread suffices in most cases, so it is tried before the whole block.
  for (const count of new Set([1, threads[0] * threads[1] * threads[2]])) {
    const numbers = ([0, 1, 2] as const).map((axis) => (count === 1 ? 0n : column(count, axis)));
    for (let number = 0; number < blocks; number++) {
      const value = (leaf: Term): AtomColumn => {
        const atom = leaf.atom!;
        switch (atom.kind) {
          case 'thread':
            return numbers[atom.axis];
          case 'block':
            return BigInt(coordinate(number, grid, atom.axis));
          case 'block-size':
            return BigInt(block[atom.axis]);
          case 'grid-size':
            return BigInt(grid[atom.axis]);
          case 'iteration':
            return 0n;
          case 'parameter': {
            const field = fieldAt(context, atom.index, atom.offset);
            return field && !field.isPointer ? scalar(field) : undefined;
          }
          default:
            return undefined;
        }
      };
      if (new ColumnEvaluation(count, value).someNotFalse(condition)) return true;
    }
  }
  return false;
}

function coordinate(linear: number, extents: readonly [number, number, number], axis: 0 | 1 | 2): number {
  const [x, y] = extents;
  if (axis === 0) return linear % x;
  return axis === 1 ? Math.floor(linear / x) % y : Math.floor(linear / (x * y));
}

/**
 * Shows that no execution that satisfies the assumptions of the request reaches an access.
 * @returns null if it is not proved
 */
export function* excludesAllAccesses(context: KernelContext, uniformity: UniformityResult): Steps<Exclusion | null> {
  const { kernel, request, symbolic, accesses } = context;
  const { tier, encoding } = new SolverTiers(context, new Map()).linear('grid', uniformity);
  const reading = { side: 1 as const, rounds: kernel.loops.map(() => 'free' as const) };
  const assumed = new AssumedFacts(context);
  const log = request.certificates ? new CertificateLog(kernel) : null;
  for (const access of new Map(accesses.map((one) => [one.block, one])).values()) {
    const [condition] = encoding.conditions([{ term: symbolic.reach(access.block), reading }]);
    const result = yield* tier.decide(condition!, encoding.modes.slice(0, 1));
    if (result.kind !== 'proved') return null;
    assumed.addNoWrap(result.assumes);
    log?.addExcluded(access, result.asked);
  }
  return { assumptions: assumed.list(), ...(log && { certificates: log.certificates }) };
}

function* standingOf(
  context: KernelAndLaunch & SymbolicFacts,
  tiers: SolverTiers,
  uniformity: UniformityResult,
  access: Access,
  assumed: AssumedFacts,
): Steps<Standing> {
  const { tier, encoding } = tiers.linear('grid', uniformity);
  const reading = { side: 1 as const, rounds: context.kernel.loops.map(() => 'free' as const) };
  const reach = context.symbolic.reach(access.block);
  const [condition] = encoding.conditions([{ term: reach, reading }]);
  const modes = assumed.usesContents ? encoding.modes : encoding.modes.slice(0, 1);
  const linear = yield* tier.decide(condition!, modes);
  const isOfContents = linear.kind === 'proved' && linear.mode === usualContents;
  if (linear.kind === 'proved' && linear.assumes.length === 0 && !isOfContents) return 'off';
  if (linear.kind === 'open' && linear.model) {
    // If the model satisfies the condition and the statements exactly, it is an execution that reaches the access.
    const { model } = linear;
    const patternOf = (leaf: Term): bigint | undefined => encoding.patternIn(model, leaf, reading);
    if (evaluateTerm(reach, patternOf, new Map()) === 1n && meetsStated(context, patternOf)) return 'reached';
  }
  // Assumptions that only the bit-vector tier encodes may exclude the access, too.
  const bits = tiers.bits('grid', uniformity);
  const [exact] = bits.encoding.conditions([{ term: reach, reading }]);
  const result = yield* bits.decide(exact!);
  if (result.kind === 'proved' && result.assumes.length === 0) return 'off';
  return linear.kind === 'proved' || result.kind === 'proved' ? 'unreached' : 'reached';
}
