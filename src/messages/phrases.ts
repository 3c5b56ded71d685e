/** Phrases for the parts of a report, the same in every format. */
import type { DivergenceReport, RaceReport, ReportedFact } from '../report-model/finding.ts';
import type { AccessDescription, Assumption } from '../verdict/finding.ts';
import { groupedFindings, tallyCauses } from '../report-model/finding-group.ts';
import { accessesInOrder, isFailure, isRace, withoutThread, type Finding } from '../report-model/outcome.ts';
import type { KernelReport, RepairReport, Report } from '../report-model/report.ts';
import type { Location } from '../source/location.ts';
import { count, readable } from './text/code-text.ts';
import { triple } from './text/launch-text.ts';

/**
 * A single access: `write of s[t] by thread (0, 0, 0) of block (1, 0, 0)`; if the text is unknown, `write of 4 bytes of
 * s by …`.
 */
export function accessPhrase({ operation, expression, thread, block, bytes }: AccessDescription, array?: string): string {
  const isCall = operation === 'atomic' && expression?.includes('(');
  const what = isCall ? '' : `${operation === 'atomic' ? 'atomic update' : operation} of `;
  const size = bytes === undefined ? '' : count(bytes, 'byte');
  const object = expression ?? [size, array].filter((part) => part !== undefined && part !== '').join(' of ');
  const who = thread === undefined ? '' : ` by thread ${triple(thread)}`;
  const where = block === undefined ? '' : ` of block ${triple(block)}`;
  return `${what}${object === '' ? 'memory' : object}${who}${where}`;
}

/** A location of a finding, and what happens there. */
export interface Mark {
  readonly location?: Location | undefined;
  readonly text: string;
  /** The marked source text, if known. */
  readonly expression?: string | undefined;
}

const laneMarks: Readonly<Record<string, string>> = {
  'warp/missing-lanes': 'some lanes that this waits for do not execute it',
  'warp/outside-mask': 'a lane executes this whose mask does not contain it',
  'warp/undefined-value': 'the value is undefined: the source lane does not take part',
};

/** Marks for the accesses of a race in source order, or for the barrier. */
export function marksOf(finding: Finding): Mark[] {
  if (!isRace(finding)) {
    const text =
      laneMarks[finding.code] ??
      (finding.code === 'barrier/early-exit'
        ? `some threads of the block ${finding.confirmed ? '' : 'may '}have returned before this barrier`
        : finding.confirmed
          ? 'not all threads of the block reach this barrier'
          : 'some threads of the block may not reach this barrier');
    return [{ location: finding.barrier, text }];
  }
  return accessesInOrder(finding).map((access) => markOf(access, finding.array));
}

/** Marks for the other accesses of the cause, each once. */
export function otherMarksOf(finding: Finding): Mark[] {
  if (!isRace(finding)) return [];
  const nameOf = ({ location, text }: Mark): string => `${location?.file}:${location?.line} ${text}`;
  const known = new Set(accessesInOrder(finding).map((access) => nameOf(markOf(withoutThread(access), finding.array))));
  const marks = new Map<string, Mark>();
  for (const access of (finding.also ?? []).flatMap(accessesInOrder)) {
    const mark = markOf(access, finding.array);
    if (!known.has(nameOf(mark))) marks.set(nameOf(mark), mark);
  }
  return [...marks.values()];
}

function markOf(access: AccessDescription, array: string | undefined): Mark {
  const { location, expression } = access;
  return { location, text: accessPhrase(access, access.array ?? array), expression };
}

/**
 * A source line with tabs replaced by blanks, and its marked columns: the first one, counted from 0, and their number.
 */
interface MarkedLine {
  readonly text: string;
  readonly column: number;
  readonly width: number;
}

/**
 * A line with its mark under the expression. If the line does not contain it, the mark is at the column, otherwise at
 * the start of the text.
 */
export function markedLine(line: string, { location, expression }: Mark): MarkedLine {
  const blanks = (part: string): string => part.replaceAll('\t', '    ');
  const text = blanks(line).trimEnd();
  const found = expression === undefined ? -1 : text.indexOf(expression);
  if (expression !== undefined && found !== -1) return { text, column: found, width: expression.length };
  const column = location?.column;
  const start = column !== undefined && column <= line.length ? column - 1 : line.length - line.trimStart().length;
  return { text, column: blanks(line.slice(0, start)).length, width: 1 };
}

/** The condition that a divergence depends on, if it is readable and the message does not contain it. */
export function conditionOf(finding: Finding): string | undefined {
  if (isRace(finding) || finding.condition === undefined) return undefined;
  const { condition } = finding;
  return finding.message.includes(condition) || readable(condition) === undefined ? undefined : condition;
}

/** The status of a finding that its message does not contain: whether it is confirmed, and which values were chosen. */
export function standing(finding: Finding): string {
  if (finding.suppressed !== undefined) return `suppressed: ${finding.suppressed}`;
  if (!finding.confirmed)
    return finding.code === 'memory/index-overflow' ? 'follows from the extents of the index' : 'not confirmed by a run';
  return finding.witnessOrigin === 'chosen' ? 'confirmed by a run; Selvage chose the dimensions or arguments' : 'confirmed by a run';
}

/** The fact that would decide the verdict of a check, if none of its findings states one. */
export function decidingOf({ wouldDecide, findings }: RaceReport | DivergenceReport): ReportedFact | undefined {
  return findings.some((finding) => finding.wouldDecide) ? undefined : wouldDecide;
}

/** The result of a repair: a short phrase, and its details. Undefined if there is nothing to report. */
export function repairPhrase({ status, reason, cost, leaves }: RepairReport): RepairPhrase | undefined {
  const price = cost ? ` (${cost.text})` : '';
  const detail = reason === undefined ? '' : `${reason}${price}`;
  switch (status) {
    case 'repaired':
      return {
        isEdit: true,
        head: leaves ? 'repaired in part, compiled and checked' : 'repaired, compiled and proved',
        detail,
      };
    case 'optimised':
      return { isEdit: true, head: 'also proved with fewer barriers', detail };
    case 'unrepairable':
      return { isEdit: false, head: 'not repaired', detail };
    case 'timeout':
      return { isEdit: false, head: 'not repaired within the time limit', detail };
    case 'not-needed':
      return undefined;
    case 'skipped':
      return reason === undefined ? undefined : { isEdit: false, head: 'not repaired', detail };
  }
}

/** Phrases for the alternative verified edits. */
export function alternativePhrases({ alternatives = [] }: RepairReport): RepairPhrase[] {
  return alternatives.map(({ reason, cost }) => ({
    isEdit: true,
    head: 'alternative (compiled and proved)',
    detail: `${reason}${cost ? ` (${cost.text})` : ''}`,
  }));
}

interface RepairPhrase {
  /** Whether the phrase describes a verified edit. */
  readonly isEdit: boolean;
  readonly head: string;
  readonly detail: string;
}

/** `2 kernels repaired, 1 not`; empty if no repair was tried. */
export function repairsPhrase({ kernels }: Report): string {
  const of = (...statuses: readonly RepairReport['status'][]): number =>
    kernels.filter(({ repair: { status } }) => statuses.includes(status)).length;
  const [repaired, failed] = [of('repaired'), of('unrepairable', 'timeout')];
  if (repaired === 0) return failed === 0 ? '' : `${count(failed, 'kernel')} not repaired`;
  return `${count(repaired, 'kernel')} repaired${failed === 0 ? '' : `, ${failed} not`}`;
}

/** Assumptions of both checks, each once. */
export function assumptionsOf(kernel: KernelReport): Assumption[] {
  const all = [...(kernel.race.assumptions ?? []), ...(kernel.divergence.assumptions ?? [])];
  return [...new Map(all.map((assumption) => [`${assumption.kind} ${assumption.text}`, assumption])).values()];
}

/**
 * Number of kernels by their worst verdict, in the order from races to proofs. The numbers add up to the number of
 * kernels.
 */
export function kernelsByWorstVerdict({ kernels }: Report): { readonly amount: number; readonly words: string }[] {
  const kinds = [
    ['with races', ['race']],
    ['with barrier divergence', ['divergent']],
    ['undecided', ['possible', 'unknown']],
    ['proved', ['proved']],
  ] as const;
  const worst = kernels.map(({ race, divergence }) =>
    kinds.findIndex(([, verdicts]) => [race, divergence].some(({ verdict }) => verdicts.some((v) => v === verdict))),
  );
  return kinds.map(([words], index) => ({ amount: worst.filter((kind) => kind === index).length, words }));
}

/** `3 kernels: 1 with races, 2 proved`, or `1 kernel proved`: each kernel by its worst verdict. */
export function countsPhrase(report: Report): string {
  const { kernels } = report;
  const parts = kernelsByWorstVerdict(report).filter(({ amount }) => amount > 0);
  const total = count(kernels.length, 'kernel');
  const [only] = parts;
  if (only?.amount === kernels.length) return `${total} ${only.words}`;
  return parts.length === 0 ? total : `${total}: ${parts.map(({ amount, words }) => `${amount} ${words}`).join(', ')}`;
}

/**
 * Sentences on kernels that were added, removed or renamed.
 * @param quote renders a name in the output format
 */
export function comingsAndGoings({ comparison }: Report, quote: (name: string) => string): string[] {
  const { addedKernels = [], removedKernels = [], renamedKernels = [] } = comparison ?? {};
  const list = (names: readonly string[]): string =>
    names.slice(0, 20).map(quote).join(', ') + (names.length > 20 ? ` and ${names.length - 20} more` : '');
  return [
    ...(addedKernels.length > 0 ? [`New: ${list(addedKernels)}.`] : []),
    ...(removedKernels.length > 0 ? [`Removed: ${list(removedKernels)}.`] : []),
    ...renamedKernels.slice(0, 20).map(({ base, head }) => `${quote(base)} is now ${quote(head)}.`),
  ];
}

/**
 * Number of findings by severity: `2 errors, 1 warning`, or `no findings`; if there are notices only, `no errors or
 * warnings`. Each cause counts once; costs are included. Notices on single accesses are named: `1 index that may overflow`.
 */
export function findingsPhrase(report: Report): string {
  const { errors, warnings, notices } = tallyCauses(report);
  const parts = [errors > 0 ? count(errors, 'error') : '', warnings > 0 ? count(warnings, 'warning') : ''];
  const hasNotices = notices > 0 || report.diagnostics.some(({ severity }) => severity === 'notice');
  const worst = parts.filter((part) => part !== '').join(', ') || (hasNotices ? 'no errors or warnings' : 'no findings');
  const found = [worst, ...noticedAccesses(report)].join(', ');
  const failed = report.diagnostics.filter(isFailure).length;
  return failed === 0 ? found : `${found}; incomplete because of ${count(failed, 'error')}`;
}

/** The notices on single accesses that some launches make wrong, in words: `2 indices that may overflow`. */
function noticedAccesses(report: Report): string[] {
  const notices = groupedFindings(report).filter(({ severity, example: { finding } }) => severity === 'notice' && !finding.suppressed);
  const of = (name: string): number => notices.filter(({ example: { finding } }) => finding.code === name).length;
  const [indices, addresses] = [of('memory/index-overflow'), of('memory/misaligned')];
  return [
    ...(indices > 0 ? [count(indices, 'index that may overflow', 'indices that may overflow')] : []),
    ...(addresses > 0 ? [count(addresses, 'access that may be misaligned', 'accesses that may be misaligned')] : []),
  ];
}

/** Maximum number of instances of a template that a text names. */
const maxInstances = 4;

/** The instances of a template that are reported together: `63 instances: <float, 1>, <float, 2> and 61 more`. */
export function instancesPhrase(instances: readonly string[]): string {
  const shown = instances.slice(0, maxInstances).join(', ');
  const more = instances.length > maxInstances ? ` and ${instances.length - maxInstances} more` : '';
  return `${instances.length} instances: ${shown}${more}`;
}
