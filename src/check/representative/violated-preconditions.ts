/**
 * Launch sites that violate preconditions of a kernel. If the launch constraints of a site exclude all representative
 * launches (`k<<<…>>>(a, w, w / 2)` if rows need `ld >= w`), a race is a bug of the site, not of the kernel.
 */
import type { Steps } from '../../base/coroutine.ts';
import { dimensionsIn } from '../../assumptions/parts.ts';
import type { StatedAssumption } from '../../launch/parameter-source.ts';
import type { KernelAndLaunch, KernelContext, SymbolicFacts } from '../context/facts.ts';
import type { CheckRequest, CheckResult, Exclusion } from '../request/check-request.ts';
import { preconditionCandidates } from './precondition-candidates.ts';
import { underPreconditions } from './preconditions.ts';
import { satisfiesAssumptions, representativeLaunches } from './representative-launches.ts';

/**
 * Repeats a check with open obligations without the launch constraints, and looks for preconditions that this launch
 * never satisfies.
 * @param request the request without the launch constraints among its assumptions
 * @param facts, result of the check under the constraints
 * @param contextOf the facts of another request
 * @param check a check that does not try further preconditions or facts
 * @param excluded as for {@link underPreconditions}
 * @returns the proof under preconditions, with those that no representative launch of the site satisfies; null if none
 *   exist, or if values given by the program show the race
 */
export function* violatedPreconditions(
  request: CheckRequest,
  facts: KernelAndLaunch & SymbolicFacts,
  result: CheckResult,
  contextOf: (request: CheckRequest) => KernelContext,
  check: (request: CheckRequest) => Steps<CheckResult>,
  excluded: (request: CheckRequest) => Steps<Exclusion | null>,
): Steps<CheckResult | null> {
  const { ties = [] } = request.launch;
  const shown = [...result.race.findings, ...result.divergence.findings].filter(({ confirmed }) => confirmed);
  const isOpen = [result.race, result.divergence].some(({ verdict }) => !/^(proved|skipped)$/.test(verdict));
  if (!isOpen || shown.some(({ witnessOrigin }) => witnessOrigin !== 'chosen')) return null;
  for (const kept of looser(ties)) {
    const without: CheckRequest = {
      ...request,
      launch: { ...request.launch, ties: kept },
      assumptions: [...request.assumptions, ...kept],
    };
    const loose = contextOf(without);
    const broken: string[] = [];
    for (const statement of preconditionCandidates(loose, result, false).weak)
      if (yield* isNeverMet(facts, statement, check)) broken.push(statement.text);
    if (broken.length === 0) continue;
    const proved = yield* underPreconditions(loose, yield* check(without), check, excluded, new Set());
    const needed = proved ? neededOf(proved).filter((text) => broken.includes(text)) : [];
    if (proved && needed.length > 0) return { ...proved, brokenPreconditions: needed };
  }
  return null;
}

/** Weaker and weaker sets of constraints: without those between scalars, then without those of dimensions, too. */
function looser(ties: readonly StatedAssumption[]): (readonly StatedAssumption[])[] {
  const ofDimensions = ties.filter(({ expression }) => dimensionsIn(expression).size > 0);
  return [ofDimensions, []].filter((kept, index, all) => kept.length < (all[index - 1] ?? ties).length);
}

function neededOf({ race, divergence }: CheckResult): string[] {
  const all = [...(race.assumptions ?? []), ...(divergence.assumptions ?? [])];
  return [...new Set(all.filter(({ kind }) => kind === 'precondition').map(({ text }) => text))];
}

/** Whether all representative launches of a site violate a statement. If none exist, whether every execution does. */
function* isNeverMet(
  facts: KernelAndLaunch & SymbolicFacts,
  statement: StatedAssumption,
  check: (request: CheckRequest) => Steps<CheckResult>,
): Steps<boolean> {
  const { request } = facts;
  const settings = representativeLaunches(facts);
  const asked = { ...facts, request: { ...request, assumptions: [statement] } };
  if (settings.length > 0) return settings.every((setting) => !satisfiesAssumptions(asked, setting));
  const assumptions = [...request.assumptions, statement];
  const both = yield* check({ ...request, assumptions, checks: { race: false, divergence: false } });
  return both.contradiction === true;
}
