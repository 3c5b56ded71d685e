import { findingsOf, tally, type Finding } from '../driver/outcome.ts';
import type { KernelReport, Report } from '../driver/report.ts';
import {
  accessPhrase,
  assumptionsOf,
  count,
  countsPhrase,
  launchPhrase,
  place,
  standing,
  witnessPhrase,
} from './phrases.ts';

// Everything that can begin Markdown or HTML, a mention, an issue reference or a link.
const active = /[&<>@#`*_[\]\\|~$:!]/g;

/** The report as Markdown for a file or a page; nothing of the input becomes markup. */
export function renderMarkdown(report: Report): string {
  const { errors, warnings } = tally(report);
  const lines = [
    '# Selvage',
    '',
    `${countsPhrase(report)}; ${count(errors, 'error')}, ${count(warnings, 'warning')}.`,
    '',
  ];
  if (report.kernels.length > 0) {
    lines.push('| kernel | races | barrier divergence |', '|---|---|---|');
    for (const { name, race, divergence } of report.kernels) {
      lines.push(`| ${cell(code(name))} | ${race.verdict} | ${divergence.verdict} |`);
    }
    lines.push('');
  }
  for (const kernel of report.kernels) lines.push(...kernelSection(kernel));
  if (report.diagnostics.length > 0) {
    lines.push('## Messages', '');
    for (const { severity, code: id, message, location } of report.diagnostics) {
      lines.push(`- ${severity} \`${id}\`${location ? ` at ${code(place(location))}` : ''}: ${plain(message)}`);
    }
    lines.push('');
  }
  if (report.notAnalysed && report.notAnalysed.length > 0) {
    lines.push('## Not analysed', '');
    for (const { what, reason, location } of report.notAnalysed) {
      lines.push(`- ${code(what)}${location ? ` (${code(place(location))})` : ''}: ${plain(reason)}`);
    }
    lines.push('');
  }
  return lines.join('\n');
}

function kernelSection(kernel: KernelReport): string[] {
  const { race, divergence } = kernel;
  const lines = [`## ${code(kernel.name)}`, ''];
  if (kernel.location) lines.push(`At ${code(place(kernel.location))}.`, '');
  for (const launch of kernel.launches) lines.push(`- launch: ${plain(launchPhrase(launch))}`);
  lines.push(`- races: ${race.verdict}${race.reason === undefined ? '' : `, ${plain(race.reason)}`}`);
  lines.push(
    `- barrier divergence: ${divergence.verdict}${divergence.reason === undefined ? '' : `, ${plain(divergence.reason)}`}`,
  );
  for (const { kind, text } of assumptionsOf(kernel)) lines.push(`- assumption (${kind}): ${plain(text)}`);
  lines.push('');
  for (const finding of findingsOf(kernel)) lines.push(...findingSection(finding), '');
  return lines;
}

function findingSection(finding: Finding): string[] {
  const lines = [`### ${finding.severity}: \`${finding.code}\``, '', plain(finding.message), ''];
  if ('barrier' in finding) {
    lines.push(`- barrier at ${code(place(finding.barrier))}`);
    if (finding.condition !== undefined) lines.push(`- under the condition ${code(finding.condition)}`);
  } else {
    for (const access of [finding.first, finding.second]) {
      lines.push(`- ${plain(accessPhrase(access))}${access.location ? ` at ${code(place(access.location))}` : ''}`);
    }
  }
  const witness = witnessPhrase(finding);
  lines.push(`- ${plain(standing(finding))}${witness === undefined ? '' : `: ${plain(witness)}`}`);
  if (finding.reproduce !== undefined) lines.push(`- ${code(finding.reproduce)}`);
  return lines;
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(active, (character) => `&#${character.codePointAt(0)};`);
}

function code(text: string): string {
  const content = text.replace(/\s+/g, ' ').trim();
  const longest = Math.max(0, ...[...content.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const padding = content.startsWith('`') || content.endsWith('`') ? ' ' : '';
  return `${fence}${padding}${content}${padding}${fence}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
