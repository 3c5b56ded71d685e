/**
 * Preconditions: requirements of a kernel on its launch and scalars that every representative launch satisfies. If only
 * other launches could show a race, the kernel is proved under as few preconditions as possible. Where strides nest in
 * one of several orders, it is proved under each of them.
 */
import { invariant } from '../../base/assert.ts';
import type { Steps } from '../../base/coroutine.ts';
import type { StatedAssumption } from '../../launch/parameter-source.ts';
import type { Location } from '../../source/location.ts';
import type { Assumption, RaceFinding } from '../../verdict/finding.ts';
import type { Reason } from '../../verdict/reason.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { placeOf } from '../context/names.ts';
import { effortOfExclusions, effortOfOrders, effortOfWeaker } from '../../solver/limits.ts';
import { useReserve } from '../request/check-budget.ts';
import type { CheckRequest, CheckResult, Exclusion } from '../request/check-request.ts';
import { type StrideOrderCase, preconditionCandidates } from './precondition-candidates.ts';

/** Reasons for a missing proof that no precondition removes. */
const beyond: ReadonlySet<Reason['kind']> = new Set<Reason['kind']>([
  'out-of-memory',
  'defect',
  'unknown-pointer',
  'aliased-pointers',
  'unmodelled-order',
  'contradiction',
  'not-understood',
  'unknown-effect',
  'accesses-of-warp',
  'later-effect',
  'surface-writes',
  'unmodelled-barrier',
  'cluster-barrier',
  'locked-barrier',
  'builds-differ',
  'out-of-bounds',
  'index-overflow',
  'misaligned',
]);

/**
 * Repeats a check under preconditions if no representative launch refutes its open obligations.
 * @param check a check that does not try further preconditions or facts
 * @param excluded a proof that no execution that satisfies the assumptions of a request reaches an access, or null
 * @param failed the statements that did not suffice so far, together
 * @param ofAll whether small representative launches satisfy the statements, too, and the proof under all of them needs no
 *   equal writes: then no run of a representative launch can show a race
 * @returns the result proved under the fewest preconditions; null if they do not suffice for a proof
 */
export function* underPreconditions(
  context: KernelAndLaunch & SymbolicFacts,
  result: CheckResult,
  check: (request: CheckRequest) => Steps<CheckResult>,
  excluded: (request: CheckRequest) => Steps<Exclusion | null>,
  failed: Set<string>,
  ofAll = false,
): Steps<CheckResult | null> {
  const { request } = context;
  const wanted = [result.race, result.divergence].filter(({ verdict }) => /^(possible|unknown|race)$/.test(verdict));
  const shown = result.race.findings.filter(({ confirmed }) => confirmed);
  const isDefect = result.divergence.verdict === 'divergent' || !shown.every(isSelfStore);
  if (wanted.length === 0 || isDefect || request.budget.expired()) return null;
  if (wanted.some(({ reason }) => reason && beyond.has(reason.kind))) return null;
  const { weak, shapes, sizes, orders } = preconditionCandidates(context, result, ofAll || shown.length > 0);
  const { kernel, symbolic } = context;
  const dead = context.accesses.filter(({ block }) => symbolic.reach(block) === symbolic.store.false);
  const alreadyOff = new Set(
    [...(result.switchedOff ?? []), ...dead.map(({ instruction }) => placeOf(kernel, instruction))].map(keyOfPlace),
  );
  /** Whether an attempt failed only because threads may write equal values, which runs are to show first. */
  let needsRuns = false;
  /** The effort of one further trial: a weaker statement that takes far more than the proof is not searched for. */
  let most = Infinity;
  function* proves(statements: readonly StatedAssumption[], isWhole = false): Steps<CheckResult | null> {
    if (request.budget.expired() || statements.length === 0) return null;
    const assumptions = [...request.assumptions, ...statements];
    const { effort } = request.budget;
    const left = effort && Math.min(most, effort.left);
    const own = effort && { left: left!, kept: 0 };
    const tried = yield* check({
      ...request,
      assumptions,
      untilOpen: true,
      budget: { ...request.budget, replaySteps: 0, ...(own && { effort: own }) },
    });
    if (effort) effort.left -= left! - own!.left;
    const isProved =
      tried.contradiction === undefined && [tried.race, tried.divergence].every(({ verdict }) => /^(proved|skipped)$/.test(verdict));
    // A race shown by a run is harmless only if its threads store equal values.
    const writesEqually = tried.race.assumptions?.some(({ kind }) => kind === 'equal-value-writes') === true;
    const isHarmless = shown.length === 0 || writesEqually;
    // Under fewer statements threads may write equal values in launches that are not representative.
    if (ofAll && isWhole && writesEqually) {
      needsRuns = true;
      return null;
    }
    return isProved && isHarmless && !(yield* switchesOff(tried, statements)) ? tried : null;
  }
  /** One proof for each order of the strides, each also under statements that all orders have in common. */
  function* provesEach(
    common: readonly StatedAssumption[],
    cases: readonly StrideOrderCase[],
    isWhole = false,
  ): Steps<CheckResult[] | null> {
    const results: CheckResult[] = [];
    for (const nested of cases) {
      const proved = yield* proves([...common, ...nested], isWhole);
      if (!proved) return null;
      results.push(proved);
    }
    return results;
  }
  /**
   * Whether preconditions keep all threads from an access, since a proof under them states nothing about it. Positive
   * sizes may switch off accesses that are executed only for empty inputs.
   */
  function* switchesOff({ switchedOff = [] }: CheckResult, statements: readonly StatedAssumption[]): Steps<boolean> {
    const found = switchedOff.map(keyOfPlace).filter((place) => !alreadyOff.has(place));
    if (found.length === 0) return false;
    const positive = statements.filter((one) => sizes.includes(one));
    if (positive.length === 0 || positive.length === statements.length) return positive.length === 0;
    const assumptions = [...request.assumptions, ...positive];
    const bySizes = yield* check({ ...request, assumptions, budget: { ...request.budget, replaySteps: 0 } });
    const offBySizes = new Set((bySizes.switchedOff ?? []).map(keyOfPlace));
    return found.some((place) => !offBySizes.has(place));
  }
  const needsSizes = !/^(?:proved|skipped)$/.test(result.divergence.verdict);
  /** Sizes that are positive in every execution, since guards exclude all accesses if they are not. */
  function* implied(kept: readonly StatedAssumption[]): Steps<Implied> {
    const effort = { left: effortOfExclusions, kept: 0 };
    let found: Implied = { sizes: [], proofs: [] };
    if (needsSizes || request.budget.expired()) return found;
    for (const size of sizes.filter((one) => kept.includes(one)).reverse()) {
      const others = kept.filter((one) => one !== size && !found.sizes.includes(one));
      const assumptions = [...request.assumptions, ...others, negated(size)];
      const proof = yield* excluded({ ...request, assumptions, budget: { ...request.budget, effort } });
      if (proof) found = { sizes: [...found.sizes, size], proofs: [...found.proofs, proof] };
    }
    return found;
  }
  for (const all of shapes.length > 0 ? [weak, [...weak, ...shapes]] : [weak]) {
    let cases: readonly StrideOrderCase[] = orders.length > 0 ? orders : [[]];
    const texts = [...all, ...cases.flat()].map(({ text }) => text).join('\n');
    if (texts === '' || failed.has(texts)) continue;
    const { left = 0 } = request.budget.effort ?? {};
    // Digits decide nested strides without the solver; what they leave open is decided under the other statements only.
    most = orders.length > 0 ? effortOfOrders : Infinity;
    let proofs = yield* provesEach(all, cases, true);
    if (!proofs && orders.length > 0 && !needsRuns) {
      [most, cases] = [Infinity, [[]]];
      proofs = yield* provesEach(all, cases, true);
    }
    if (!proofs) {
      if (!needsRuns) failed.add(texts);
      continue;
    }
    most = effortOfWeaker + left - (request.budget.effort?.left ?? 0);
    useReserve(request.budget.effort);
    let kept = all;
    const inOne = cases.length > 1 ? yield* provesEach(all, [[]]) : null;
    if (inOne) [proofs, cases] = [inOne, [[]]];
    let guarded = yield* implied(kept);
    // The strongest preconditions are removed first.
    for (const one of [...all].reverse()) {
      if (guarded.sizes.includes(one)) continue;
      const fewer = kept.filter((other) => other !== one);
      const tried = yield* provesEach(fewer, cases);
      if (!tried) continue;
      const without = yield* implied(fewer);
      if (fewer.length - without.sizes.length > kept.length - guarded.sizes.length) continue;
      [proofs, kept, guarded] = [tried, fewer, without];
    }
    for (const [at, nested] of cases.entries()) {
      let left = nested;
      for (const one of nested.toReversed()) {
        const fewer = left.filter((other) => other !== one);
        const tried = fewer.length === 0 ? null : yield* proves([...kept, ...fewer]);
        if (tried) [proofs, left] = [proofs.with(at, tried), fewer];
      }
      cases = cases.with(at, left);
    }
    let best = inAnyOrder(proofs, cases);
    best = withImplied(best, guarded);
    kept = kept.filter((one) => !guarded.sizes.includes(one));
    const stated = [...kept.map(({ text }) => text), ...(cases.length > 1 ? [textOfOrders(cases)] : [])];
    const proved = labelled(best, new Set(stated));
    const notices = shown.map((finding) => ({ ...finding, severity: 'notice' as const, sameValue: true }));
    return { ...proved, race: { ...proved.race, findings: [...proved.race.findings, ...notices] } };
  }
  return null;
}

/** `s1 >= n && s2 >= n * s1 || s2 >= n && s1 >= n * s2`. */
function textOfOrders(cases: readonly StrideOrderCase[]): string {
  return cases.map((nested) => nested.map(({ text }) => text).join(' && ')).join(' || ');
}

/** The proof under one order of the strides or another, from the proofs under each of them. */
function inAnyOrder(results: readonly CheckResult[], cases: readonly StrideOrderCase[]): CheckResult {
  const [first, ...others] = results as [CheckResult, ...CheckResult[]];
  if (others.length === 0) return first;
  const nested = new Set(cases.flat().map(({ text }) => text));
  const any: Assumption = { kind: 'user', text: textOfOrders(cases) };
  const isOfOrder = ({ kind, text, location }: Assumption): boolean => kind === 'user' && location === undefined && nested.has(text);
  const merged = (lists: readonly (readonly Assumption[] | undefined)[]): { assumptions?: readonly Assumption[] } => {
    if (lists[0] === undefined) return {};
    const all = lists.flatMap((list) => list ?? []).map((one) => (isOfOrder(one) ? any : one));
    return { assumptions: [...new Map(all.map((one) => [JSON.stringify(one), one])).values()] };
  };
  const certificates = results.flatMap((result) => result.certificates ?? []);
  const switchedOff = results.flatMap((result) => result.switchedOff ?? []);
  return {
    ...first,
    race: { ...first.race, ...merged([first, ...others].map(({ race }) => race.assumptions)) },
    divergence: { ...first.divergence, ...merged([first, ...others].map(({ divergence }) => divergence.assumptions)) },
    ...(switchedOff.length > 0 && { switchedOff: [...new Map(switchedOff.map((place) => [keyOfPlace(place), place])).values()] }),
    ...(first.certificates && { certificates }),
  };
}

/** Statements that every execution with an access satisfies, and the proofs of that. */
interface Implied {
  readonly sizes: readonly StatedAssumption[];
  readonly proofs: readonly Exclusion[];
}

function negated({ expression, text }: StatedAssumption): StatedAssumption {
  invariant(expression.kind === 'condition', text);
  return {
    expression: { kind: 'condition', condition: { kind: 'not', operand: expression.condition } },
    text: `!(${text})`,
  };
}

/** A result without statements that are implied, with what the proofs of that assume. */
function withImplied(result: CheckResult, { sizes, proofs }: Implied): CheckResult {
  if (sizes.length === 0) return result;
  const isLeft = ({ kind, text }: Assumption): boolean => kind !== 'user' || sizes.every((size) => size.text !== text);
  const race = (result.race.assumptions ?? []).filter(isLeft);
  const texts = new Set(race.map(({ text }) => text));
  const more = proofs.flatMap(({ assumptions }) =>
    assumptions.filter(({ kind, text }) => kind === 'no-wrap' && !texts.has(text) && texts.add(text)),
  );
  const certificates = [...(result.certificates ?? []), ...proofs.flatMap((proof) => proof.certificates ?? [])];
  return {
    ...result,
    race: { ...result.race, ...(result.race.assumptions && { assumptions: [...race, ...more] }) },
    divergence: {
      ...result.divergence,
      ...(result.divergence.assumptions && { assumptions: result.divergence.assumptions.filter(isLeft) }),
    },
    ...(result.certificates && { certificates }),
  };
}

function keyOfPlace(place: Location): string {
  return JSON.stringify(place);
}

/**
 * Whether one store instruction races with itself within a block. Whole warps may store equal values with one
 * instruction.
 */
function isSelfStore({ kind, scope, code, first, second }: RaceFinding): boolean {
  const isOnePlace = JSON.stringify(first.location) === JSON.stringify(second.location);
  return kind === 'write-write' && scope !== 'grid' && code !== 'race/volatile' && isOnePlace;
}

/** A result that lists the statements `texts` as preconditions, and not as assumptions of the user. */
function labelled(result: CheckResult, texts: ReadonlySet<string>): CheckResult {
  const label = (assumption: Assumption): Assumption =>
    assumption.kind === 'user' && assumption.location === undefined && texts.has(assumption.text)
      ? { ...assumption, kind: 'precondition' }
      : assumption;
  const { race, divergence } = result;
  return {
    ...result,
    race: { ...race, ...(race.assumptions && { assumptions: race.assumptions.map(label) }) },
    divergence: { ...divergence, ...(divergence.assumptions && { assumptions: divergence.assumptions.map(label) }) },
  };
}
