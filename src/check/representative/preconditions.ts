/**
 * Preconditions: requirements of a kernel on its launch and scalars that every representative launch satisfies. If only
 * other launches could show a race, the kernel is proved under as few preconditions as possible.
 */
import type { Access } from '../../analysis/values/access.ts';
import { invariant } from '../../base/assert.ts';
import type { Steps } from '../../base/coroutine.ts';
import { parseAssumption } from '../../assumptions/assumption-parser.ts';
import { type Lookup, evaluateCondition } from '../../assumptions/evaluate.ts';
import { type ParameterField, fieldName } from '../../launch/parameter-field.ts';
import type { StatedAssumption } from '../../launch/parameter-source.ts';
import type { Location } from '../../source/location.ts';
import type { Assumption, RaceFinding } from '../../verdict/finding.ts';
import type { Reason } from '../../verdict/reason.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { placeOf } from '../context/names.ts';
import { integerField } from '../context/scalars.ts';
import { namedScalar } from '../premises/premises.ts';
import { effortOfExclusions } from '../../solver/limits.ts';
import { useReserve } from '../request/check-budget.ts';
import type { CheckRequest, CheckResult, Exclusion } from '../request/check-request.ts';
import { fieldOf } from '../shape/roles.ts';
import { listedValues } from './launch-constraints.ts';
import { nestingText } from './nesting-text.ts';
import { representativeLaunches, satisfiesAssumptions, shapeOf } from './representative-launches.ts';

/** Limit on the number of candidate preconditions. */
const maxCandidates = 12;

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
  const { weak, shapes, sizes } = preconditionCandidates(context, result, ofAll || shown.length > 0);
  const { kernel, symbolic } = context;
  const dead = context.accesses.filter(({ block }) => symbolic.reach(block) === symbolic.store.false);
  const alreadyOff = new Set(
    [...(result.switchedOff ?? []), ...dead.map(({ instruction }) => placeOf(kernel, instruction))].map(keyOfPlace),
  );
  /** Whether an attempt failed only because threads may write equal values, which runs are to show first. */
  let needsRuns = false;
  function* proves(statements: readonly StatedAssumption[], isWhole = false): Steps<CheckResult | null> {
    if (request.budget.expired()) return null;
    const assumptions = [...request.assumptions, ...statements];
    const tried = yield* check({
      ...request,
      assumptions,
      untilOpen: true,
      budget: { ...request.budget, replaySteps: 0 },
    });
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
    const texts = all.map(({ text }) => text).join('\n');
    if (all.length === 0 || failed.has(texts)) continue;
    let best = yield* proves(all, true);
    if (!best) {
      if (!needsRuns) failed.add(texts);
      continue;
    }
    useReserve(request.budget.effort);
    let kept = all;
    let guarded = yield* implied(kept);
    // The strongest preconditions are removed first.
    for (const one of [...all].reverse()) {
      if (guarded.sizes.includes(one)) continue;
      const fewer = kept.filter((other) => other !== one);
      const tried = fewer.length === 0 ? null : yield* proves(fewer);
      if (!tried) continue;
      const without = yield* implied(fewer);
      if (fewer.length - without.sizes.length > kept.length - guarded.sizes.length) continue;
      [best, kept, guarded] = [tried, fewer, without];
    }
    best = withImplied(best, guarded);
    kept = kept.filter((one) => !guarded.sizes.includes(one));
    const proved = labelled(best, new Set(kept.map(({ text }) => text)));
    const notices = shown.map((finding) => ({ ...finding, severity: 'notice' as const, sameValue: true }));
    return { ...proved, race: { ...proved.race, findings: [...proved.race.findings, ...notices] } };
  }
  return null;
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

/**
 * Candidate preconditions: statements that only exclude unrealistic launches, and statements on the shape of the block.
 * @param ofAll whether small launch instances satisfy them, too, and not only large ones
 */
export function preconditionCandidates(
  context: KernelAndLaunch & SymbolicFacts,
  result: Pick<CheckResult, 'open'>,
  ofAll: boolean,
): {
  readonly weak: readonly StatedAssumption[];
  readonly shapes: readonly StatedAssumption[];
  /** Those weak candidates that state that a size is positive. */
  readonly sizes: readonly StatedAssumption[];
} {
  const { dimensions, request, kernel } = context;
  const shape = shapeOf(context);
  const settings = representativeLaunches(context);
  const large = settings.filter(({ isLarge }) => isLarge);
  const nameOf = (of: Parameters<typeof fieldName>[1]): string => fieldName(request.parameters, of, kernel);
  const open = new Set(result.open.races.flatMap(({ first, second }) => [first, second]));
  const texts: string[] = [];
  // A divisor of an index is a size, as it is the number of values of the remainder.
  const isDivisor = (field: ParameterField): boolean =>
    shape.divisors.some(({ leaves }) => leaves.some((leaf) => fieldOf(context, leaf) === field));
  const positive = shape.scalars.flatMap(({ field, isSize }) => (isSize || isDivisor(field) ? [`${nameOf(field)} >= 1`] : []));
  texts.push(...positive);
  const isOpen = ({ instruction }: Access): boolean => open.size === 0 || open.has(instruction.id);
  for (const order of ['last', 'first'] as const)
    for (const { form, stride, below } of shape.nestings(order)) {
      const text = isOpen(form.access) ? nestingText(context, stride, below) : null;
      if (text) texts.push(text.nests);
    }
  for (const { field, mask, divisors } of shape.scalars) {
    if (mask !== null) texts.push(`(${nameOf(field)} & (${nameOf(field)} ${mask === 'size' ? '-' : '+'} 1)) == 0`);
    if (divisors.length === 1) texts.push(`${nameOf(field)} % ${divisors[0]} == 0`);
  }
  const free = ([0, 1, 2] as const).filter((axis) => dimensions.block[axis] === null);
  for (const axis of free) if (shape.rankOnly[axis] === true) texts.push(`blockDim.${'xyz'[axis]} == 1`);
  if (shape.usesWarps && free.includes(0)) texts.push('blockDim.x % 32 == 0');
  const hints = shape.axes;
  for (const axis of free) if (hints[axis]!.suggested.length > 0) texts.push(`blockDim.${'xyz'[axis]} <= ${hints[axis]!.most}`);
  const shapes = free.flatMap((axis) => {
    const sizes = new Set(large.map(({ block }) => block[axis]));
    const [size] = sizes;
    const name = `blockDim.${'xyz'[axis]}`;
    return sizes.size === 1 && shape.rankOnly[axis] !== true ? [`${name} <= ${size}`, `${name} == ${size}`] : [];
  });
  const stated = (list: readonly string[]): StatedAssumption[] =>
    [...new Set(list)].slice(0, maxCandidates).flatMap((text): StatedAssumption[] => {
      const parsed = parseAssumption(text);
      if (!('expression' in parsed) || request.assumptions.some((one) => one.text === text)) return [];
      const statement = { expression: parsed.expression, text };
      const asked = { ...context, request: { ...request, assumptions: [statement] } };
      if (!isMetByListed(context, statement)) return [];
      return large.length > 0 && (ofAll ? settings : large).every((setting) => satisfiesAssumptions(asked, setting)) ? [statement] : [];
    });
  const weak = stated(texts);
  const sizes = weak.filter(({ text }) => positive.includes(text));
  return { weak, shapes: stated(shapes.filter((text) => !texts.includes(text))), sizes };
}

/**
 * Whether every value that the host program enumerates for a scalar satisfies a statement on that scalar, without
 * further facts.
 */
function isMetByListed(context: KernelAndLaunch, { expression }: StatedAssumption): boolean {
  if (expression.kind !== 'condition') return true;
  return context.fields.every((field) =>
    (listedValues(context, field) ?? []).every((value) => {
      const lookup: Lookup = (name) => {
        const named = name.kind === 'parameter' ? namedScalar(context.request.parameters, name.path) : null;
        return named && integerField(context, named) === field ? value : undefined;
      };
      return evaluateCondition(expression.condition, lookup) !== false;
    }),
  );
}
