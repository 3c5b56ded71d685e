/** Verdicts and findings of a check in the form of a report: the data of the check, with texts. */
import type { DivergenceReport, RaceReport, ReportedDivergence, ReportedRace } from '../../report-model/finding.ts';
import type { DecidingFact } from '../../verdict/deciding-fact.ts';
import type { Assumption, DivergenceFinding, DivergenceResult, RaceFinding, RaceResult } from '../../verdict/finding.ts';
import type { Reason } from '../../verdict/reason.ts';
import { divergenceMessage } from './barrier-divergence.ts';
import { reportedFact } from './deciding-phrases.ts';
import { reportedInterleaving } from './interleaving-phrases.ts';
import { raceMessage } from './race.ts';
import { reasonText } from '../text/verdict-reason.ts';

/** The race verdict with its texts. */
export function raceReport({ findings, ...result }: RaceResult): RaceReport {
  return reported(result, findings.map(reportedRace));
}

/** The divergence verdict with its texts. */
export function divergenceReport({ findings, ...result }: DivergenceResult): DivergenceReport {
  return reported(result, findings.map(reportedDivergence));
}

interface Decided<Verdict> {
  readonly verdict: Verdict;
  readonly reason?: Reason;
  readonly wouldDecide?: DecidingFact;
  readonly assumptions?: readonly Assumption[];
  readonly nondeterministic?: boolean;
}

function reported<Verdict, Finding>(
  { verdict, reason, wouldDecide, assumptions, nondeterministic }: Decided<Verdict>,
  findings: readonly Finding[],
) {
  return {
    verdict,
    ...(reason && { reason: reasonText(reason) }),
    ...(wouldDecide && { wouldDecide: reportedFact(wouldDecide) }),
    ...(assumptions && { assumptions }),
    findings,
    ...(nondeterministic !== undefined && { nondeterministic }),
  };
}

function reportedRace(finding: RaceFinding): ReportedRace {
  const { overlap, interleaving, wouldDecide, chosen: _, reason: _why, more: _others, subject: _subject, ...rest } = finding;
  const element = overlap?.element;
  return {
    ...rest,
    ...(wouldDecide && { wouldDecide: reportedFact(wouldDecide) }),
    message: raceMessage(finding),
    ...(overlap && { overlap }),
    ...(interleaving && {
      interleaving: reportedInterleaving(interleaving, { ...finding, ...(element !== undefined && { element }) }),
    }),
  };
}

function reportedDivergence(finding: DivergenceFinding): ReportedDivergence {
  const { interleaving, wouldDecide, among: _, chosen: _chosen, subject: _subject, ...rest } = finding;
  return {
    ...rest,
    ...(interleaving && { interleaving: reportedInterleaving(interleaving) }),
    ...(wouldDecide && { wouldDecide: reportedFact(wouldDecide) }),
    message: divergenceMessage(finding),
  };
}
