/** One finding per cause: a check reports every pair of lines, and a report groups those of one cause. */
import { connected } from '../../base/connected.ts';
import { placeName } from '../../report-model/cause.ts';
import type { ReportedRace } from '../../report-model/finding.ts';
import { compareFindings, withoutThread } from '../../report-model/outcome.ts';
import type { KernelReport } from '../../report-model/report.ts';
import { otherPairsText } from '../../messages/finding/other-pairs.ts';

/** Merges races of the same cause and the same suppression, of each launch and of the kernel. */
export function mergeCauses(kernel: KernelReport): KernelReport {
  const perLaunch = kernel.launches.map(({ race }) => race.findings);
  return {
    ...kernel,
    race: { ...kernel.race, findings: merged(perLaunch) },
    launches: kernel.launches.map((launch) => ({
      ...launch,
      race: { ...launch.race, findings: merged([launch.race.findings]) },
    })),
  };
}

/** @param perLaunch - the numbers of causes are those of a launch */
function merged(perLaunch: readonly (readonly ReportedRace[])[]): ReportedRace[] {
  const all = perLaunch.flatMap((findings, launch) => findings.map((finding) => ({ finding, launch })));
  const groups = connected(all, ({ finding, launch }) => {
    const { fingerprint, cause, suppressed = '' } = finding;
    const names = [fingerprint, placeName(finding), ...(cause === undefined ? [] : [`${launch} ${cause}`])];
    return names.map((name) => JSON.stringify([suppressed, name]));
  });
  return groups.map((group) => oneFinding(group.map(({ finding }) => finding)));
}

/** The finding that represents its cause: the first one of the highest severity. */
function oneFinding(findings: readonly ReportedRace[]): ReportedRace {
  const [told] = [...findings].sort(compareFindings) as [ReportedRace];
  const { cause: _, ...finding } = told;
  const others = new Map<string, ReportedRace>();
  for (const other of findings) {
    const name = placeName(other);
    if (name !== placeName(told) && !others.has(name)) others.set(name, other);
  }
  if (others.size === 0) return finding;
  const also = [...others.values()].map(({ fingerprint, first, second }) => ({
    fingerprint,
    first: withoutThread(first),
    second: withoutThread(second),
  }));
  return { ...finding, also, message: `${finding.message} ${otherPairsText(finding, also)}` };
}
