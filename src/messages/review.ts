/** Texts that a review adds to the message of a finding: a title, further lines, the launch and the kernels. */
import type { Finding } from '../report-model/outcome.ts';
import { placeNames } from '../report-model/cause.ts';
import { type FindingGroup, findingsInGroup } from '../report-model/finding-group.ts';
import { isRace } from '../report-model/outcome.ts';
import type { MissingOrder } from '../verdict/finding.ts';
import { divergenceRemedies } from './finding/barrier-divergence.ts';
import { remedyText } from './finding/missing-order.ts';
import { fenceBetween } from './finding/race.ts';
import { homeOf } from './text/place.ts';
import type { FixedFinding, LaunchReport } from '../report-model/report.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { LaunchSource } from '../launch/launch.ts';
import type { Location } from '../source/location.ts';
import { code, count, listed, sentences } from './text/code-text.ts';
import { memoryFaultTitle } from './finding/memory-fault.ts';
import { otherPairsText } from './finding/other-pairs.ts';

const maxArguments = 6;
const maxKernels = 5;

/**
 * Title of a finding: ``Data race on shared `s` ``.
 * @param findings of one cause, the reported one first
 */
export function titleText([finding, ...others]: readonly [Finding, ...Finding[]]): string {
  if (!isRace(finding)) return divergenceTitle(finding.code);
  const arrays = new Set<string>();
  for (const one of [finding, ...others]) if (isRace(one) && one.array !== undefined) arrays.add(one.array);
  return accessTitle(finding.code, finding.memory, [...arrays]);
}

const divergenceTitles: Readonly<Record<string, string>> = {
  'barrier/early-exit': 'Threads return before a barrier',
  'warp/missing-lanes': 'Lanes of a warp are missing',
  'warp/outside-mask': 'A lane is outside its mask',
  'warp/undefined-value': 'Undefined value of a shuffle',
};

function divergenceTitle(name: string): string {
  return divergenceTitles[name] ?? 'Barrier divergence';
}

function accessTitle(name: string, memory: string | undefined, arrays: readonly string[]): string {
  const space = memory === undefined || memory === 'generic' ? '' : `${memory} `;
  const object = `${space}${arrays.length === 0 ? 'memory' : arrays.slice(0, 3).map(code).join(', ')}`;
  return memoryFaultTitle(name, object) ?? `Data race on ${object}`;
}

/** Like {@link titleText}, for a fixed finding of the base. */
export function fixedTitle({ code: kind, memory, array }: FixedFinding): string {
  if (/^(barrier|warp)\//.test(kind)) return divergenceTitle(kind);
  return accessTitle(kind, memory, array === undefined ? [] : [array]);
}

/**
 * The pairs of lines of races with one cause that are not in the message of the first.
 * @param findings the reported one first
 */
export function otherLinesText([told, ...others]: readonly [Finding, ...Finding[]]): string {
  if (!isRace(told)) return '';
  const known = new Set(placeNames(told));
  const pairs = others.flatMap((finding) => {
    const names = placeNames(finding);
    return isRace(finding) ? [finding, ...(finding.also ?? [])].filter((_, at) => !known.has(names[at]!)) : [];
  });
  return otherPairsText(told, pairs);
}

/** Splits a message into sentences. Text in backticks is not split. */
export function sentencesIn(message: string): string[] {
  const found: string[] = [];
  let sentence = '';
  for (const [index, piece] of message.split(/(`[^`]+`)/).entries()) {
    if (index % 2 === 1) {
      sentence += piece;
      continue;
    }
    const [start = '', ...rest] = piece.split(/(?<=\.) (?=[A-Z]|$)/);
    sentence += start;
    for (const next of rest) {
      found.push(sentence);
      sentence = next;
    }
  }
  return [...found, sentence].filter((text) => text !== '');
}

/** The remedies as sentences, as a message may contain them. */
export function remediesOf(finding: Finding): string[] {
  if (!isRace(finding)) return divergenceRemedies(finding).map((text) => sentences(text));
  const { first, second, interleaving, sameValue = false } = finding;
  if (!interleaving?.missing) return [];
  const accesses = { first, second, isOwnCopy: interleaving.threads.length === 1, sameValue };
  return [
    remedyText(interleaving.missing as MissingOrder, accesses),
    fenceBetween(interleaving.narrowFence, homeOf([first.location, second.location])),
  ].map((text) => sentences(text));
}

/** Launch and arguments, and their origin; empty if the message states the chosen ones, or nothing was given. */
export function launchText({ witness, witnessOrigin }: Finding, launch: LaunchReport | undefined): string {
  if (witnessOrigin === 'chosen' || !launch) return '';
  const block = witness?.block ?? launch.block;
  const grid = witness?.grid ?? launch.grid;
  // Values that the launch leaves open do not come from it.
  const chosen = new Set(witness?.chosen);
  const scalars = Object.entries(witness?.args ?? {}).flatMap(([name, value]) =>
    typeof value === 'object' || chosen.has(name) ? [] : [`${code(name)} = ${code(String(value))}`],
  );
  const values = [
    ...(block ? [`block ${tuple(block)}`] : []),
    ...(grid ? [`grid ${tuple(grid)}`] : []),
    ...scalars.slice(0, maxArguments),
  ].join(', ');
  const from = originText(launch.source, launch.location);
  const parts = [values, ...(from === undefined ? [] : [values === '' ? from : `from ${from}`])];
  const told = parts.filter((part) => part !== '').join(', ');
  return told === '' ? '' : `Launch: ${told}.`;
}

/** The kernels that findings of one cause concern, shortened, and for which architectures. */
export function kernelsText(group: Pick<FindingGroup, 'kernels' | 'archs'>): string {
  const { length } = group.kernels;
  return `${length === 1 ? 'Kernel: ' : `Kernels (${length}): `}${kernelNames(group)}.`;
}

/** `` `reduce<128>`, `reduce<256>` (sm_80 and sm_90) ``. */
function kernelNames({ kernels, archs }: Pick<FindingGroup, 'kernels' | 'archs'>): string {
  const shown = kernels.slice(0, maxKernels).map(code).join(', ');
  const more = kernels.length > maxKernels ? ` and ${kernels.length - maxKernels} more` : '';
  return `${shown}${more}${archs.length === 0 ? '' : ` (${listed(archs)})`}`;
}

/**
 * Texts on a finding that several kernels share: their names, and lines that only some of them have. Empty for the finding
 * of one kernel.
 */
export function sharedTexts(group: FindingGroup): string[] {
  const isShared = group.kernels.length > 1 || group.archs.length > 0;
  const texts = [isShared ? `in ${kernelNames(group)}` : '', otherLinesText(findingsInGroup(group))];
  return texts.filter((text) => text !== '');
}

/** ``2 findings reported with `reduce<128>` ``; empty without findings. */
export function toldElsewhereText(groups: readonly FindingGroup[]): string {
  if (groups.length === 0) return '';
  const names = groups.map(({ example: { kernel } }) => code(kernel.name) + (kernel.arch ? ` (${kernel.arch})` : ''));
  return `${count(groups.length, 'finding')} reported with ${listed([...new Set(names)])}`;
}

function tuple(value: Dim3): string {
  return `(${value.join(',')})`;
}

function originText(source: LaunchSource, location?: Location): string | undefined {
  const at = location ? ` at ${code(`${location.file}:${location.line}`)}` : '';
  switch (source) {
    case 'option':
      return 'the command line';
    case 'config':
      return 'the configuration';
    case 'annotation':
      return `the annotation${at}`;
    case 'launch-site':
      return `the launch${at}`;
    case 'launch-bounds':
      return code('__launch_bounds__');
    case 'reqntid':
      return code('.reqntid');
    case 'symbolic':
      return undefined;
  }
}
