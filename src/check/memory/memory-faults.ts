/** Findings on single accesses other than those of known or open sizes, and what they mean for the race verdict. */
import type { Steps } from '../../base/coroutine.ts';
import type { RaceFinding, RaceResult } from '../../verdict/finding.ts';
import { isMemoryFault } from '../../verdict/memory-fault.ts';
import type { Reason } from '../../verdict/reason.ts';
import { inferUniformity } from '../../analysis/values/uniformity.ts';
import type { KernelContext } from '../context/facts.ts';
import { baseName, placeOf } from '../context/names.ts';
import { Instances } from '../obligations/instance.ts';
import type { CheckResult } from '../request/check-request.ts';
import { weaker } from '../witness/origin.ts';
import { Confirmation } from '../witness/scenarios.ts';
import { type Misaligned, misalignedAccesses } from './alignment-check.ts';
import { type MemoryResult, wrongIndices } from './bounds-check.ts';
import { decidedWithout, faultFinding } from './fault-finding.ts';
import { type UninitialisedRead, uninitialisedReads } from './initialisation-check.ts';
import { type WrappedAccess, narrowAccesses, overflowNotices, racesByWrapAround, wrappedAccesses } from './width-check.ts';

/** The result with the faults of single accesses that runs have shown. */
export function* withMemoryFaults(context: KernelContext, result: CheckResult): Steps<CheckResult> {
  const { request, kernel, dependences, loaded, symbolic } = context;
  if (!request.checks.race || request.budget.replaySteps === 0) return result;
  const instances = (): Instances => new Instances(symbolic, inferUniformity(kernel, dependences, loaded, new Set(), 'grid'), 'grid');
  const confirmation = new Confirmation(context);
  const overflow = yield* overflowFindings(context, instances(), confirmation, result.race);
  const misaligned = yield* misalignedAccesses(context, instances, confirmation);
  const found = new Map<string, RaceFinding>();
  for (const one of misaligned) {
    const key = `${baseName(context, one.target.base)} ${one.needs === undefined}`;
    if (!found.has(key)) found.set(key, misalignedFinding(context, one));
  }
  for (const one of yield* uninitialisedReads(context, result, confirmation))
    found.set(one.target.base.key, uninitialisedFinding(context, one));
  const isWrapped = (finding: RaceFinding): boolean => racesByWrapAround(context, instances, finding);
  const wrapped = [...result.race.findings, ...overflow.findings].filter(({ computedAt, confirmed }) => computedAt && confirmed);
  const races = result.race.findings.map((finding) =>
    finding.interleaving?.missing && wrapped.some(({ array }) => array === finding.array) && isWrapped(finding)
      ? { ...finding, interleaving: { ...finding.interleaving, missing: { kind: 'width' } as const } }
      : finding,
  );
  if (found.size + overflow.findings.length === 0 && overflow.reason === null)
    return { ...result, race: { ...result.race, findings: races } };
  const wrong = misaligned.find(({ needs }) => needs === undefined);
  const reason: Reason | null = wrong
    ? {
        kind: 'misaligned',
        array: baseName(context, wrong.target.base),
        line: placeOf(kernel, wrong.access.instruction).line,
      }
    : overflow.reason;
  return {
    ...result,
    race: withFindings({ ...result.race, findings: races }, [...overflow.findings, ...found.values()], reason),
    open: { ...result.open, beside: result.open.beside ?? reason },
  };
}

/** Indices that wrap around: at the given launch, unless the array has a finding already, and from a size on. */
function* overflowFindings(context: KernelContext, instances: Instances, runs: Confirmation, race: RaceResult): Steps<MemoryResult> {
  const reported = new Set(race.findings.filter(({ kind }) => isMemoryFault(kind)).map(({ array }) => array));
  const narrowed = narrowAccesses(context);
  const wraps = yield* wrappedAccesses(context, narrowed, instances, runs, ({ targets }) =>
    targets.some(({ base }) => reported.has(baseName(context, base))),
  );
  const shown = wraps.flatMap((one) => (one.shown ? { ...one, shown: one.shown, extent: 0, isGiven: true } : []));
  const { reason, findings } = wrongIndices(context, shown);
  const isAssumed = race.assumptions?.some(({ kind }) => kind === 'no-wrap') === true;
  const broken = isAssumed && wraps[0] ? brokenAssumption(context, wraps[0]) : null;
  return { reason: reason ?? broken, findings: [...findings, ...overflowNotices(context, narrowed, instances)] };
}

/** Each execution of the given launch breaks the assumption of a proof that indices do not wrap around. */
function brokenAssumption(context: KernelContext, { access, target }: WrappedAccess): Reason {
  return { kind: 'index-overflow', array: baseName(context, target.base), line: placeOf(context.kernel, access.instruction).line };
}

/** A race verdict with further findings; after an access at a wrong address a proof would be about another execution. */
function withFindings(race: RaceResult, added: readonly RaceFinding[], reason: Reason | null): RaceResult {
  const findings = [...race.findings, ...added];
  if (!reason || race.verdict === 'race' || (race.reason && isMemoryFault(race.reason.kind))) return { ...race, findings };
  return {
    verdict: 'possible',
    reason,
    wouldDecide: decidedWithout(reason),
    findings,
  };
}

function misalignedFinding(context: KernelContext, misaligned: Misaligned): RaceFinding {
  const { multiple, offset, needs, dependsOnStart } = misaligned;
  const { alignment } = context.request.policy;
  const finding = faultFinding(context, 'misaligned', misaligned);
  return {
    ...finding,
    severity: needs === undefined ? (dependsOnStart ? weaker('error') : 'error') : alignment === 'allow' ? 'notice' : alignment,
    first: { ...finding.first, bytes: multiple },
    second: { ...finding.second, bytes: multiple },
    misaligned: { multiple, ...(offset !== undefined && { offset }), ...(needs !== undefined && { needs }) },
  };
}

function uninitialisedFinding(context: KernelContext, read: UninitialisedRead): RaceFinding {
  const { use, shown } = read;
  const { unwritten } = shown.event;
  return {
    ...faultFinding(context, 'uninitialised', read),
    severity: use ? 'error' : 'warning',
    uninitialised: {
      ...(unwritten && { offset: unwritten.offset }),
      ...(use && { reaches: use.kind === 'memory' ? use.array : null }),
    },
  };
}
