/** A finding as HTML: what happens, then its lines, the run that confirms it and the fix in one frame. */
import { type FindingGroup, findingsInGroup, locationOf } from '../../report-model/finding-group.ts';
import { accessesInOrder, type Finding, isRace, placesOf } from '../../report-model/outcome.ts';
import type { ReportedFact } from '../../report-model/finding.ts';
import { decidingPhrases } from '../../messages/finding/deciding-phrases.ts';
import { witnessPhrase } from '../../messages/text/launch-text.ts';
import { place } from '../../messages/text/place.ts';
import { alternativePhrases, conditionOf, marksOf, otherMarksOf, repairPhrase, standing, type Mark } from '../../messages/phrases.ts';
import { sharedTexts, titleText } from '../../messages/review.ts';
import { toHtml } from '../markup/code-pieces.ts';
import { escapeHtml } from '../markup/html-text.ts';
import type { PageParts } from './page-parts.ts';
import { patchLines, sourceLines } from './source-lines.ts';
import { stepper } from './stepper.ts';
import { isMemoryFault } from '../../verdict/memory-fault.ts';

/**
 * The card of a finding.
 * @param number of the finding on the page, from 0
 */
export function findingCard(group: FindingGroup, number: number, parts: PageParts): string {
  const { finding, kernel } = group.example;
  const at = locationOf(group.example);
  const where = [
    at ? escapeHtml(place(at)) : '',
    `<a href="#kernel-${parts.numberOf(kernel)}"><code>${escapeHtml(kernel.name)}</code></a>`,
  ].filter((part) => part !== '');
  const state = parts.isNew(group) === undefined ? '' : `<span class="badge">${parts.isNew(group) ? 'new' : 'unchanged'}</span>`;
  const text = [group.kernels.join(' '), finding.code, at?.file ?? '', finding.message].join(' ').toLowerCase();
  const kinds = [finding.severity, 'barrier' in finding ? 'divergent' : 'race', ...(finding.confirmed ? [] : ['open'])];
  return [
    `<article class="card ${finding.severity}" id="finding-${number}" tabindex="-1" data-text="${escapeHtml(text)}" data-kinds="${kinds.join(' ')}">`,
    `<header><span class="badge ${finding.severity}">${finding.severity}</span><h3>${toHtml(titleText(findingsInGroup(group)))}</h3>${state}<code>${escapeHtml(finding.code)}</code></header>`,
    `<p class="dim">${where.join(' · ')}</p>`,
    `<p>${toHtml(finding.message)}</p>`,
    frame(group, parts),
    facts(group),
    finding.reproduce === undefined
      ? ''
      : `<details><summary>Run it again</summary><pre class="command">${escapeHtml(finding.reproduce)}</pre></details>`,
    '</article>',
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** Frame with the source lines, the steps and the patch, stacked, or side by side on wide screens. */
function frame(group: FindingGroup, parts: PageParts): string {
  const { finding } = group.example;
  const { interleaving } = finding;
  const marks = [
    ...ownMarks(finding),
    ...otherMarksOf(finding),
    ...placesOf(finding).map(({ inlinedAt }): Mark => ({ location: inlinedAt, text: 'inlined here' })),
  ];
  const moves = interleaving?.recording ?? [];
  const files = [...new Set(marks.flatMap(({ location }) => (location ? [location.file] : [])))];
  const listings = files.flatMap((file) => {
    const lines = parts.source(file)?.trimEnd().split('\n');
    if (!lines) return [];
    const also = new Set(moves.flatMap(({ location }) => (location.file === file ? [location.line] : [])));
    return [`<figcaption><code>${escapeHtml(file)}</code></figcaption>${sourceLines(lines, file, marks, also)}`];
  });
  const code = listings.length === 0 ? '' : `<div>${listings.join('')}</div>`;
  const steps = interleaving && interleaving.threads.length > 0 ? stepper(interleaving) : '';
  const fix = fixPart(group, parts);
  if (code + steps + fix === '') return '';
  const upper = code !== '' && steps !== '' ? `<div class="split">${code}${steps}</div>` : code + steps;
  return `<figure class="frame">${upper}${fix}</figure>`;
}

/** The lines of the finding itself, with short texts for the actions of the threads. */
function ownMarks(finding: Finding): Mark[] {
  const { interleaving } = finding;
  if (!isRace(finding) || !interleaving || isMemoryFault(finding.kind)) return marksOf(finding);
  return accessesInOrder(finding).map(({ thread, block, operation, location, expression }) => {
    const by = interleaving.threads.find((one) => one.thread.join() === thread?.join() && one.block.join() === block?.join());
    const verb = operation === 'atomic' ? 'atomically updates' : `${operation}s`;
    return { location, expression, text: `${by?.name ?? 'another thread'} ${verb}${expression === undefined ? '' : ` ${expression}`}` };
  });
}

/** The patch of the kernel of a finding, if it removes the finding; otherwise why it is missing. */
function fixPart(group: FindingGroup, parts: PageParts): string {
  const { kernel } = group.example;
  const { repair } = kernel;
  const phrase = repairPhrase(repair);
  if (!phrase || !group.example.finding.confirmed) return '';
  const own = new Set(group.fingerprints);
  if (phrase.isEdit && repair.fixes && !repair.fixes.some((name) => own.has(name))) return '';
  const heading = phrase.isEdit ? `<b class="proved">Fix</b>` : `<b class="possible">${escapeHtml(phrase.head)}</b>`;
  const more = phrase.isEdit ? ` <span class="dim">${escapeHtml(phrase.head)}</span>` : '';
  const detail = phrase.detail === '' ? '' : `<span>${toHtml(phrase.detail)}</span>`;
  const others = alternativePhrases(repair).map(
    ({ head, detail: text }) => `<div class="part"><b>${escapeHtml(head)}</b><span>${toHtml(text)}</span></div>`,
  );
  const patch = phrase.isEdit ? withoutHead(parts.patchOf(kernel)) : '';
  return `<div class="part">${heading}${detail}${more}</div>${patch === '' ? '' : patchLines(patch)}${others.join('')}`;
}

/** The hunks of a patch of one file. The file name precedes the patch on the page. */
function withoutHead(patch: string): string {
  const isOfOne = patch.split(/^diff --git /m).length === 2;
  return isOfOne ? patch.replace(/^diff --git .*\n--- .*\n\+\+\+ .*\n/, '') : patch;
}

function facts(group: FindingGroup): string {
  const { finding } = group.example;
  const list = sharedTexts(group).map(toHtml);
  const condition = conditionOf(finding);
  if (condition !== undefined) list.push(`under the condition <code>${escapeHtml(condition)}</code>`);
  const witness = witnessPhrase(finding);
  list.push(escapeHtml(standing(finding)) + (witness === undefined ? '' : `: ${escapeHtml(witness)}`));
  if (finding.wouldDecide) list.push(decidingHtml(finding.wouldDecide));
  const items = unlocated(finding, group).concat(list);
  return `<ul>${items.map((fact) => `<li>${fact}</li>`).join('')}</ul>`;
}

/** Accesses that the frame cannot display, because their locations are unknown. */
function unlocated(finding: Finding, { kernels }: FindingGroup): string[] {
  return kernels.length === 0 ? [] : marksOf(finding).flatMap(({ location, text }) => (location ? [] : [toHtml(text)]));
}

/** A fact that would decide an open question. */
export function decidingHtml(wouldDecide: ReportedFact): string {
  const { fact, statement } = decidingPhrases(wouldDecide);
  return toHtml(fact) + (statement ? `; ${statement.before}<code>${escapeHtml(statement.code)}</code>${statement.after}` : '');
}
