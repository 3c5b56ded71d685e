import { decidingPhrases, decidingText } from '../messages/finding/deciding-phrases.ts';
import { launchPhrase, witnessPhrase } from '../messages/text/launch-text.ts';
import { place } from '../messages/text/place.ts';
import { count } from '../messages/text/code-text.ts';
import { type Style, type Paint, severityStyle, painter } from './markup/paint.ts';
import type { Regression } from '../report-model/regression.ts';
import type { DivergenceReport, RaceReport } from '../report-model/finding.ts';
import { comparedCauses, findingsByKernel, groupedFindings, type FindingGroup } from '../report-model/finding-group.ts';
import { aloneInGroup, instanceGroups, findingsOfInstances, type InstanceGroup } from '../report-model/instance-group.ts';
import { violationsOf, placesOf } from '../report-model/outcome.ts';
import type { KernelReport, Report } from '../report-model/report.ts';
import { baselineReason } from '../settings/baseline-file.ts';
import { codeChangesPretty } from './cost/code-changes.ts';
import { briefCostLines, costLines, grantedLine, launchCostText } from './cost/cost-pretty.ts';
import { renderPatch } from './patch.ts';
import { hasPartialWarp, partialWarpText } from '../messages/cost/bound-text.ts';
import { idempotencyCounts, idempotencyDetails, idempotencyPhrase } from '../messages/idempotency.ts';
import { costsPhrase, lineRole, reasonOf, thresholdOf, worseCosts } from '../messages/cost/worse-costs.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';
import { sharedTexts, toldElsewhereText } from '../messages/review.ts';
import {
  assumptionsOf,
  comingsAndGoings,
  conditionOf,
  countsPhrase,
  decidingOf,
  findingsPhrase,
  instancesPhrase,
  markedLine,
  marksOf,
  alternativePhrases,
  repairPhrase,
  repairsPhrase,
  standing,
  type Mark,
} from '../messages/phrases.ts';

export interface PrettyOptions {
  readonly color: boolean;
  readonly verbose: boolean;
  /** The text of a source file, if available. */
  readonly source: (file: string) => string | undefined;
}

/** The report for a terminal. Text of the input cannot move the cursor, colour or reorder the output. */
export function renderPretty(given: Report, { color, verbose, source: sourceOf }: PrettyOptions): string {
  const report = JSON.parse(JSON.stringify(given), (_, value: unknown) => (typeof value === 'string' ? visible(value) : value)) as Report;
  const source = (file: string): string | undefined => {
    const text = sourceOf(file);
    return text === undefined ? undefined : visible(text);
  };
  const options: PrettyOptions = { color, verbose, source };
  const paint = painter(color);
  const lines: string[] = [];
  let file: string | undefined;
  // In a comparison, changes of costs are shown instead of the costs.
  const withCosts = verbose || !report.comparison;
  const toldOf = findingsByKernel(report);
  for (const group of verbose ? report.kernels.map(aloneInGroup) : instanceGroups(report.kernels, toldOf)) {
    const [kernel] = group.kernels;
    const together = findingsOfInstances(group, toldOf);
    const [here, elsewhere] = [together.here, together.elsewhere].map((all) =>
      verbose ? all : all.filter((told) => !isInBaseline(told.example.finding)),
    );
    const kernelFile = kernel.location?.file ?? '';
    if (kernelFile !== file && kernelFile !== '') lines.push(paint('bold', kernelFile));
    file = kernelFile;
    lines.push(...kernelLines(group, options, withCosts, paint));
    if (elsewhere!.length > 0) lines.push(paint('dim', `      ${toldElsewhereText(elsewhere!)}`));
    for (const told of here!) lines.push('', ...findingLines(told, options, paint), '');
    for (const cost of group.kernels.flatMap(violationsOf).filter((one) => verbose || !isInBaseline(one)))
      lines.push('', ...costFindingLines(cost, options, paint), '');
  }
  const tabled = report.kernels.flatMap((kernel) => (kernel.cost && withCosts && isAboutCosts(kernel) ? [kernel.cost] : []));
  if (!verbose && tabled.length > 0) lines.push('', ...grantedLine(tabled, paint));
  for (const cost of report.comparison?.regressions ?? []) lines.push('', ...costFindingLines(cost, options, paint), '');
  if (report.diagnostics.length > 0) lines.push('');
  for (const diagnostic of report.diagnostics) lines.push(...diagnosticLines(diagnostic, paint));
  for (const { what, reason, location } of report.notAnalysed ?? []) {
    lines.push(`${paint('cyan', 'not analysed')}: ${what}${location ? ` (${place(location)})` : ''}: ${reason}`);
  }
  if (report.comparison) {
    const { regressions, improvements = [], costNotes = [] } = report.comparison;
    const { added, fixed, unchanged } = comparedCauses(report);
    lines.push('', ...comingsAndGoings(report, (name) => name));
    for (const { kernel, message } of improvements) lines.push(`${paint('green', 'better')}: ${kernel}: ${message}`);
    lines.push(...codeChangesPretty(report.comparison, verbose, paint, source));
    for (const { kernel, message } of costNotes) lines.push(paint('dim', `costs compared: ${kernel}: ${message}`));
    const told = [
      regressions.length === 0 ? '' : `${count(regressions.length, 'cost')} worse`,
      improvements.length === 0 ? '' : `${count(improvements.length, 'cost')} better`,
    ];
    const costs = told
      .filter((part) => part !== '')
      .map((part) => `; ${part}`)
      .join('');
    lines.push('', `${count(added, 'finding')} new, ${fixed} fixed, ${unchanged} unchanged${costs}`);
  }
  const patch = renderPatch(given, sourceOf);
  if (patch !== '' && patch.replaceAll('\r\n', '\n') !== visible(patch.replaceAll('\r\n', '\n')))
    lines.push('', 'Control characters are not shown in this patch, so it does not apply; --write edits the file.');
  // Line ends of the patch are not converted, so that it applies.
  if (patch !== '')
    lines.push(
      '',
      ...patch
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => (line.endsWith('\r') ? `${visible(line.slice(0, -1))}\r` : visible(line))),
    );
  const classes = idempotencyCounts(report.kernels.filter(showsIdempotency(verbose)).map(({ idempotency }) => idempotency));
  if (lines.some(hasPartialWarp) && !lines.some((line) => line.includes(partialWarpText))) lines.push('', paint('dim', partialWarpText));
  const sums = [
    countsPhrase(report),
    classes,
    findingsPhrase(report),
    costsPhrase(worseCosts(report)),
    repairsPhrase(report),
    baselinePhrase(report),
  ];
  lines.push('', paint('bold', sums.filter((part) => part !== '').join('; ')));
  for (const [stage, time] of Object.entries(report.timings ?? {})) lines.push(paint('dim', `${stage} ${time} ms`));
  const text = lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+/, '');
  return text + '\n';
}

/** Replaces control characters, except line ends and tabs, and bidirectional control characters. */
export function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** Whether a finding or cost is in the baseline. It is then shown only with `--verbose`. */
function isInBaseline({ suppressed }: Pick<Regression, 'suppressed'>): boolean {
  return suppressed === baselineReason;
}

/** The number of findings in the baseline: `3 findings in the baseline`; empty for zero. */
function baselinePhrase(report: Report): string {
  const findings = groupedFindings(report).filter(({ example }) => isInBaseline(example.finding)).length;
  const number = findings + report.kernels.flatMap(violationsOf).filter(isInBaseline).length;
  return number === 0 ? '' : `${count(number, 'finding')} in the baseline`;
}

/** Whether only costs of a kernel were requested. */
function isAboutCosts({ race }: KernelReport): boolean {
  return race.verdict === 'skipped';
}

function kernelLines(group: InstanceGroup, { verbose, source }: PrettyOptions, withCosts: boolean, paint: Paint): string[] {
  const [kernel] = group.kernels;
  const { race, divergence } = kernel;
  const isTabled = verbose || isAboutCosts(kernel);
  const marks: Readonly<Record<string, string>> = {
    proved: paint('green', '✓'),
    possible: paint('yellow', '?'),
    unknown: paint('yellow', '?'),
    race: paint('red', '✗'),
    divergent: paint('red', '✗'),
    skipped: paint('dim', '-'),
  };
  const verdict = (noun: string, result: RaceReport | DivergenceReport): string[] => {
    if (result.verdict === 'skipped') return [];
    const found = result.verdict === 'race' || result.verdict === 'divergent';
    const text = result.verdict === 'proved' ? `no ${noun} (proved)` : found ? noun : `${noun} ${result.verdict}`;
    const fact = decidingOf(result);
    return [
      `    ${marks[result.verdict] ?? ' '} ${text}${result.reason === undefined ? '' : `: ${result.reason}`}`,
      ...(fact ? [paint('dim', `      ${decidingText(fact)}`)] : []),
    ];
  };
  const line = kernel.location ? `  line ${kernel.location.line}` : '';
  const where = paint('dim', line + (kernel.arch === undefined ? '' : `  ${kernel.arch}`));
  const lines = [
    `  ${paint('bold', group.name)}${where}`,
    ...(group.instances.length > 0 ? [paint('dim', `      ${instancesPhrase(group.instances)}`)] : []),
    ...verdict('race', race),
    ...verdict('barrier divergence', divergence),
    ...(showsIdempotency(verbose)(kernel) ? idempotencyLines(kernel, verbose, paint) : []),
    ...repairLines(kernel, paint),
    ...(kernel.cost && withCosts && isTabled ? costLines(kernel, verbose, paint, source) : []),
  ];
  const launches = verbose ? kernel.launches : kernel.launches.slice(0, 3);
  for (const launch of launches) {
    lines.push(paint('dim', `      ${launchPhrase(launch)}`));
    if (verbose) for (const reason of launch.open ?? []) lines.push(paint('dim', `        ${reason}`));
    if (launch.cost && withCosts && isTabled) lines.push(paint('dim', `        ${launchCostText(launch.cost)}`));
  }
  if (launches.length < kernel.launches.length) {
    lines.push(paint('dim', `      and ${count(kernel.launches.length - launches.length, 'more launch', 'more launches')}`));
  }
  const assumptions = assumptionsOf(kernel);
  if (verbose) {
    for (const { kind, text } of assumptions) lines.push(paint('dim', `      assuming (${kind}) ${text}`));
  } else if (assumptions.length > 0) {
    const shown = assumptions.slice(0, 3).map(({ text }) => text);
    const more = assumptions.length > 3 ? `; ${assumptions.length - 3} more with --verbose` : '';
    lines.push(paint('dim', `      assuming ${shown.join('; ')}${more}`));
  }
  if (kernel.cost && withCosts && !isTabled && group.kernels.length === 1) lines.push(...briefCostLines(kernel.cost, paint));
  for (const [stage, time] of Object.entries(kernel.timings ?? {})) lines.push(paint('dim', `      ${stage} ${time} ms`));
  return lines;
}

/** Whether to show the class of a kernel: if verdicts were requested too, only with `--verbose`. */
function showsIdempotency(verbose: boolean): (kernel: KernelReport) => boolean {
  return ({ race, idempotency }) => idempotency !== undefined && (verbose || race.verdict === 'skipped');
}

/** Maximum number of reasons shown without `--verbose`. */
const fewReasons = 4;

function idempotencyLines({ idempotency }: KernelReport, verbose: boolean, paint: Paint): string[] {
  if (!idempotency) return [];
  const { kernel: kind } = idempotency;
  const mark = kind === 'unknown' ? paint('yellow', '?') : kind === 'non-idempotent' ? paint('red', '✗') : paint('green', '✓');
  const details = idempotencyDetails(idempotency, verbose ? Infinity : fewReasons);
  const taken = verbose ? (idempotency.assumptions ?? []).map((text) => `assuming ${text}`) : [];
  return [`    ${mark} ${idempotencyPhrase(idempotency)}`, ...[...details, ...taken].map((text) => paint('dim', `      ${text}`))];
}

function repairLines({ repair }: KernelReport, paint: Paint): string[] {
  const phrase = repairPhrase(repair);
  if (!phrase) return [];
  return [phrase, ...alternativePhrases(repair)].map(
    ({ isEdit, head, detail }) => `    ${isEdit ? paint('green', '✓') : paint('yellow', '-')} ${head}${detail === '' ? '' : `: ${detail}`}`,
  );
}

function findingLines(group: FindingGroup, { source }: PrettyOptions, paint: Paint): string[] {
  const { finding } = group.example;
  const style = severityStyle[finding.severity];
  const gutter = Math.max(1, ...placesOf(finding).map(({ line }) => String(line).length));
  const margin = ' '.repeat(gutter);
  const lines = [
    `${paint(style, paint('bold', `${finding.severity}[${finding.code}]`))}: ${finding.message}`,
    ...markLines(marksOf(finding), source, gutter, paint, style),
  ];
  for (const text of sharedTexts(group)) lines.push(`${margin} ${paint('blue', '=')} ${text}`);
  const condition = conditionOf(finding);
  if (condition !== undefined) lines.push(`${margin} ${paint('blue', '=')} under the condition ${condition}`);
  const witness = witnessPhrase(finding);
  lines.push(`${margin} ${paint('blue', '=')} ${standing(finding)}${witness === undefined ? '' : `: ${witness}`}`);
  if (finding.wouldDecide) {
    const { fact, statement } = decidingPhrases(finding.wouldDecide);
    lines.push(`${margin} ${paint('blue', '=')} ${fact}`);
    if (statement) lines.push(`${margin} ${paint('blue', '=')} ${statement.before}\`${paint('bold', statement.code)}\`${statement.after}`);
  }
  if (finding.reproduce !== undefined) lines.push(`${margin} ${paint('blue', '=')} ${finding.reproduce}`);
  return lines;
}

/** Lines on a cost that is higher than in the base, or above a limit. */
function costFindingLines(cost: Regression, { source }: PrettyOptions, paint: Paint): string[] {
  const { severity, code, kernel, message, location, suppressed } = cost;
  const style = severityStyle[severity];
  const gutter = location ? String(location.line).length : 1;
  const margin = ' '.repeat(gutter);
  const threshold = thresholdOf(cost);
  const what = { location, text: reasonOf(cost) ?? lineRole(cost) };
  return [
    `${paint(style, paint('bold', `${severity}[${code}]`))}: ${kernel}: ${message}`,
    ...(location ? markLines([what], source, gutter, paint, style) : []),
    ...(threshold === '' ? [] : [`${margin} ${paint('blue', '=')} ${threshold}`]),
    ...(suppressed === undefined ? [] : [`${margin} ${paint('blue', '=')} suppressed: ${suppressed}`]),
  ];
}

/**
 * Source lines with their marked ranges, each mark once.
 * @param gutter width of the line-number column in characters
 */
export function markLines(marks: readonly Mark[], source: PrettyOptions['source'], gutter: number, paint: Paint, style: Style): string[] {
  const margin = ' '.repeat(gutter);
  const lines: string[] = [];
  let previous: Location | undefined;
  const told = new Set<string>();
  for (const mark of marks) {
    const { location, text } = mark;
    // If the threads are unknown, the texts of both accesses of one statement are identical and shown once.
    const key = JSON.stringify([location, text]);
    if (told.has(key)) continue;
    told.add(key);
    if (!location) {
      lines.push(`${margin} ${paint('blue', '=')} ${text}`);
      continue;
    }
    const again = location.file === previous?.file && location.line === previous.line;
    if (location.file !== previous?.file) lines.push(`${margin}${paint('blue', '-->')} ${place(location)}`);
    else if (Math.abs(location.line - previous.line) > 1) lines.push(`${margin}${paint('blue', '...')}`);
    const sourceLine = source(location.file)?.split('\n')[location.line - 1];
    if (sourceLine === undefined) lines.push(`${margin} ${paint('blue', '=')} ${text} at ${place(location)}`);
    else {
      const shown = markedLine(sourceLine, mark);
      const underline = ' '.repeat(shown.column) + '^'.repeat(shown.width);
      if (!again) lines.push(`${paint('blue', `${String(location.line).padStart(gutter)} |`)} ${shown.text}`);
      lines.push(`${paint('blue', `${margin} |`)} ${paint(style, `${underline} ${text}`)}`);
    }
    for (let frame = location.inlinedAt; frame; frame = frame.inlinedAt) {
      lines.push(`${margin} ${paint('blue', '=')} inlined at ${place(frame)}`);
    }
    previous = location;
  }
  return lines;
}

function diagnosticLines({ severity, code, message, location }: Diagnostic, paint: Paint): string[] {
  const head = paint(severityStyle[severity], paint('bold', `${severity}[${code}]`));
  return [`${head}: ${message}`, ...(location ? [` ${paint('blue', '-->')} ${place(location)}`] : [])];
}
