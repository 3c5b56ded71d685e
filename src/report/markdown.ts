import { toMarkdown } from './markup/code-pieces.ts';
import { decidingPhrases } from '../messages/finding/deciding-phrases.ts';
import { launchPhrase, witnessPhrase } from '../messages/text/launch-text.ts';
import { place } from '../messages/text/place.ts';
import type { ReportedFact } from '../report-model/finding.ts';
import { findingsByKernel, type FindingGroup, type KernelFindingGroups } from '../report-model/finding-group.ts';
import { instanceGroups, findingsOfInstances, type InstanceGroup } from '../report-model/instance-group.ts';
import { code as codeText } from '../messages/text/code-text.ts';
import type { Report } from '../report-model/report.ts';
import type { Location } from '../source/location.ts';
import { codeChangesMarkdown } from './cost/code-changes.ts';
import { costNotesList, costTable, regressionCharts, regressionTable } from './cost/cost-markdown.ts';
import { renderPatch } from './patch.ts';
import { costsPhrase, worseCosts } from '../messages/cost/worse-costs.ts';
import { idempotencyDetails, idempotencyPhrase } from '../messages/idempotency.ts';
import { codeSpan, details, escapeText, fencedBlock, tableCode } from './markup/inert-markdown.ts';
import {
  assumptionsOf,
  comingsAndGoings,
  conditionOf,
  countsPhrase,
  decidingOf,
  findingsPhrase,
  instancesPhrase,
  marksOf,
  alternativePhrases,
  repairPhrase,
  repairsPhrase,
  standing,
} from '../messages/phrases.ts';
import { sharedTexts, toldElsewhereText } from '../messages/review.ts';
import { sequenceDiagram } from './sequence-diagram.ts';

interface MarkdownOptions {
  /** The text of a source file, if available. */
  readonly source: (file: string) => string | undefined;
}

/** The report as Markdown for a file or a page; text of the input never becomes markup. */
export function renderMarkdown(report: Report, { source }: MarkdownOptions): string {
  const lines = [
    '# Selvage',
    '',
    `${[countsPhrase(report), findingsPhrase(report), costsPhrase(worseCosts(report)), repairsPhrase(report)].filter((part) => part !== '').join('; ')}.`,
    '',
  ];
  const toldOf = findingsByKernel(report);
  const groups = instanceGroups(report.kernels, toldOf);
  if (report.kernels.length > 0) {
    lines.push('| kernel | races | barrier divergence |', '|---|---|---|');
    for (const { name, instances, kernels } of groups) {
      const [{ race, divergence }] = kernels;
      lines.push(
        `| ${tableCode(name)}${instances.length > 0 ? ` (${instances.length} instances)` : ''} | ${race.verdict} | ${divergence.verdict} |`,
      );
    }
    lines.push('');
  }
  const moves = comingsAndGoings(report, codeSpan);
  if (moves.length > 0) lines.push(moves.join(' '), '');
  const costs = worseCosts(report);
  if (costs.length > 0) {
    const where = (location: Location | undefined): string => (location ? tableCode(place(location)) : '');
    lines.push('## Costs', '', regressionTable(costs, where, Infinity), '');
    const charts = regressionCharts(costs);
    if (charts !== '') lines.push(charts, '');
  }
  const code = codeChangesMarkdown(report.comparison ?? {}, Infinity, source);
  if (code !== '') lines.push('## Machine code that changed', '', code, '');
  const notes = costNotesList(report.comparison?.costNotes ?? []);
  if (notes !== '') lines.push(notes, '');
  for (const group of groups) lines.push(...kernelSection(group, findingsOfInstances(group, toldOf), source));
  const patch = renderPatch(report, source);
  if (patch !== '') {
    const shown = report.kernels.some(({ repair }) => repair.leaves !== undefined) ? 'checked' : 'proved';
    lines.push('## Repairs', '', `Compiled and ${shown}; \`git apply\` takes them.`, '', fencedBlock(patch, 'diff'), '');
  }
  if (report.diagnostics.length > 0) {
    lines.push('## Messages', '');
    for (const { severity, code: id, message, location } of report.diagnostics) {
      lines.push(`- ${severity} \`${id}\`${location ? ` at ${codeSpan(place(location))}` : ''}: ${toMarkdown(message)}`);
    }
    lines.push('');
  }
  if (report.notAnalysed && report.notAnalysed.length > 0) {
    lines.push('## Not analysed', '');
    for (const { what, reason, location } of report.notAnalysed) {
      lines.push(`- ${codeSpan(what)}${location ? ` (${codeSpan(place(location))})` : ''}: ${escapeText(reason)}`);
    }
    lines.push('');
  }
  return lines.join('\n');
}

function kernelSection(
  { kernels, name, instances }: InstanceGroup,
  { here, elsewhere }: KernelFindingGroups,
  source: MarkdownOptions['source'],
): string[] {
  const [kernel] = kernels;
  const { race, divergence } = kernel;
  const lines = [`## ${codeSpan(name)}${kernel.arch === undefined ? '' : ` (${kernel.arch})`}`, ''];
  if (instances.length > 0) lines.push(`${toMarkdown(instancesPhrase(instances.map(codeText)))}.`, '');
  if (kernel.location) lines.push(`At ${codeSpan(place(kernel.location))}.`, '');
  for (const launch of kernel.launches) lines.push(`- launch: ${escapeText(launchPhrase(launch))}`);
  lines.push(`- races: ${race.verdict}${race.reason === undefined ? '' : `, ${toMarkdown(race.reason)}`}`);
  lines.push(...decidingItems(decidingOf(race)));
  lines.push(
    `- barrier divergence: ${divergence.verdict}${divergence.reason === undefined ? '' : `, ${toMarkdown(divergence.reason)}`}`,
    ...decidingItems(decidingOf(divergence)),
  );
  if (kernel.idempotency) {
    lines.push(`- idempotency: ${toMarkdown(idempotencyPhrase(kernel.idempotency))}`);
    for (const text of idempotencyDetails(kernel.idempotency)) lines.push(`  - ${toMarkdown(text)}`);
  }
  const repair = repairPhrase(kernel.repair);
  for (const { head, detail } of repair ? [repair, ...alternativePhrases(kernel.repair)] : [])
    lines.push(`- ${head}${detail === '' ? '' : `: ${toMarkdown(detail)}`}`);
  if (elsewhere.length > 0) lines.push(`- ${toMarkdown(toldElsewhereText(elsewhere))}`);
  for (const { kind, text } of assumptionsOf(kernel)) lines.push(`- assumption (${kind}): ${escapeText(text)}`);
  lines.push('');
  if (kernel.cost && kernels.length === 1) lines.push(...costTable(kernel.cost, source));
  for (const group of here) lines.push(...findingSection(group), '');
  return lines;
}

function findingSection(group: FindingGroup): string[] {
  const { finding } = group.example;
  const lines = [`### ${finding.severity}: \`${finding.code}\``, '', toMarkdown(finding.message), ''];
  for (const { location, text } of marksOf(finding)) {
    lines.push(`- ${toMarkdown(text)}${location ? ` at ${codeSpan(place(location))}` : ''}`);
  }
  for (const text of sharedTexts(group)) lines.push(`- ${toMarkdown(text)}`);
  const condition = conditionOf(finding);
  if (condition !== undefined) lines.push(`- under the condition ${codeSpan(condition)}`);
  const witness = witnessPhrase(finding);
  lines.push(`- ${escapeText(standing(finding))}${witness === undefined ? '' : `: ${escapeText(witness)}`}`);
  lines.push(...decidingItems(finding.wouldDecide));
  if (finding.reproduce !== undefined) lines.push(`- ${codeSpan(finding.reproduce)}`);
  const diagram = sequenceDiagram(finding);
  if (diagram !== undefined) lines.push('', details('Interleaving', fencedBlock(diagram, 'mermaid')));
  return lines;
}

function decidingItems(wouldDecide: ReportedFact | undefined): string[] {
  if (!wouldDecide) return [];
  const { fact, statement } = decidingPhrases(wouldDecide);
  const how = statement ? `; ${statement.before}${codeSpan(statement.code)}${statement.after}` : '';
  return [`- ${toMarkdown(fact)}${how}`];
}
