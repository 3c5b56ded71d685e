/** How the parts of a report read, the same in every format. */
import type { Dim3 } from '../check/launch.ts';
import type { AccessDescription, Assumption } from '../check/verdict.ts';
import type { Finding } from '../driver/outcome.ts';
import type { KernelReport, LaunchReport, Report } from '../driver/report.ts';
import type { Location } from '../source/location.ts';

/** `1 race`, `2 races`. */
export function count(amount: number, singular: string, plural = `${singular}s`): string {
  return `${amount} ${amount === 1 ? singular : plural}`;
}

/** `src/a.cu:12:3`. */
export function place({ file, line, column }: Location): string {
  return `${file}:${line}${column === undefined ? '' : `:${column}`}`;
}

/** `(3, 0, 0)`. */
export function triple(value: Dim3): string {
  return `(${value.join(', ')})`;
}

/** `write of s[t] by thread (0, 0, 0) of block (1, 0, 0)`. */
export function accessPhrase({ operation, expression, thread, block, bytes }: AccessDescription): string {
  const what = operation === 'atomic' ? 'atomic access' : operation;
  const object = expression === undefined ? '' : ` of ${expression}`;
  const size = bytes === undefined || expression !== undefined ? '' : ` of ${count(bytes, 'byte')}`;
  const who = thread === undefined ? '' : ` by thread ${triple(thread)}`;
  const where = block === undefined ? '' : ` of block ${triple(block)}`;
  return `${what}${object}${size}${who}${where}`;
}

/** `block 256, 1, 1 · grid 64, 1, 1 · 4096 bytes shared (annotation, src/a.cu:9)`. */
export function launchPhrase(launch: LaunchReport): string {
  const parts = [
    `block ${launch.block ? launch.block.join(', ') : 'any'}`,
    `grid ${launch.grid ? launch.grid.join(', ') : 'any'}`,
    ...(launch.cluster ? [`cluster ${launch.cluster.join(', ')}`] : []),
    ...(typeof launch.sharedBytes === 'number' ? [`${count(launch.sharedBytes, 'byte')} shared`] : []),
    ...(launch.cooperative ? ['cooperative'] : []),
  ];
  const sources: Record<LaunchReport['source'], string> = {
    'option': 'command line', 'config': 'configuration', 'annotation': 'annotation', 'launch-site': 'launch',
    'launch-bounds': 'launch bounds', 'reqntid': '.reqntid', 'symbolic': 'any launch',
  }; // prettier-ignore
  const source = sources[launch.source] + (launch.location ? `, ${place(launch.location)}` : '');
  return `${parts.join(' · ')} (${source})`;
}

/** What is known of a finding beyond its message: how it was shown, and what was chosen for that. */
export function standing(finding: Finding): string {
  if (finding.suppressed !== undefined) return `suppressed: ${finding.suppressed}`;
  if (!finding.confirmed) return 'not confirmed by a run';
  return finding.witnessOrigin === 'chosen'
    ? 'confirmed by a run with dimensions or arguments of our choosing'
    : 'confirmed by a run';
}

/** The launch and scalar arguments of the run that shows a finding. */
export function witnessPhrase({ witness }: Finding): string | undefined {
  if (!witness) return undefined;
  const scalars = Object.entries(witness.args).flatMap(([name, value]) =>
    typeof value === 'object' ? [] : [`${name} = ${value}`],
  );
  return [`block ${witness.block.join(', ')}`, `grid ${witness.grid.join(', ')}`, ...scalars].join(' · ');
}

/** Assumptions of both checks, each once. */
export function assumptionsOf(kernel: KernelReport): Assumption[] {
  const all = [...(kernel.race.assumptions ?? []), ...(kernel.divergence.assumptions ?? [])];
  return [...new Map(all.map((assumption) => [`${assumption.kind} ${assumption.text}`, assumption])).values()];
}

export interface VerdictCounts {
  readonly race: number;
  readonly divergent: number;
  readonly possible: number;
  readonly unknown: number;
  readonly proved: number;
}

/** Kernels by their worst verdict. */
export function verdictCounts(report: Report): VerdictCounts {
  const counts = { race: 0, divergent: 0, possible: 0, unknown: 0, proved: 0 };
  for (const { race, divergence } of report.kernels) {
    const verdicts: string[] = [race.verdict, divergence.verdict];
    const worst = (['race', 'divergent', 'unknown', 'possible', 'proved'] as const).find((v) => verdicts.includes(v));
    if (worst) counts[worst] += 1;
  }
  return counts;
}

/** `3 kernels: 1 race, 2 proved`. */
export function countsPhrase(report: Report): string {
  const counts = verdictCounts(report);
  const parts = [
    counts.race > 0 ? `${counts.race} with races` : '',
    counts.divergent > 0 ? `${counts.divergent} with barrier divergence` : '',
    counts.possible > 0 ? `${counts.possible} possible` : '',
    counts.unknown > 0 ? `${counts.unknown} unknown` : '',
    counts.proved > 0 ? `${counts.proved} proved` : '',
  ].filter((part) => part !== '');
  return `${count(report.kernels.length, 'kernel')}${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`;
}
