/** The interleaving of a finding as a Mermaid sequence diagram. */
import type { ReportedStep } from '../report-model/finding.ts';
import { isRace, type Finding } from '../report-model/outcome.ts';
import { stepText } from '../messages/finding/interleaving-phrases.ts';
import { toPlainText } from './markup/code-pieces.ts';

/** Maximum number of UTF-16 units of a label. */
const longestLabel = 120;

/**
 * The diagram as the body of a `mermaid` block: threads, their actions, and the missing order between them. Text of the
 * input never becomes syntax.
 * @returns undefined for a finding that no run confirmed
 */
export function sequenceDiagram(finding: Finding): string | undefined {
  const { interleaving } = finding;
  if (!interleaving || interleaving.threads.length === 0) return undefined;
  const { threads, steps, missing } = interleaving;
  const object = isRace(finding) ? (finding.overlap?.element ?? finding.array ?? 'memory') : undefined;
  const all = threads.map((_, index) => `t${index}`);
  const over = (numbers: readonly number[]): string =>
    numbers.length > 1 ? `${all[numbers[0]!]},${all[numbers.at(-1)!]}` : all[numbers[0]!]!;
  const participants = threads.map(({ name }, index) => `participant t${index} as ${label(name)}`);
  if (object !== undefined) participants.splice(1, 0, `participant m as ${label(object)}`);
  const isAccess = ({ action }: ReportedStep): boolean => /^(read|write|atomic)$/.test(action);
  const accesses = steps.filter(isAccess);
  const lines = [
    ...participants,
    ...steps.filter((step) => !isAccess(step)).map((step) => `Note over ${over(step.threads)}: ${label(stepText(step, interleaving))}`),
    // The racing accesses are unordered, so they are shown in parallel.
    ...accesses.flatMap((step, index) => {
      const thread = step.threads[0]!;
      const arrow = `  t${thread}->>m: ${label(stepText(step, interleaving))}`;
      return [`${index === 0 ? 'par' : 'and'} ${label(threads[thread]!.name)}`, arrow];
    }),
    ...(accesses.length > 0 ? ['end'] : []),
    ...(missing ? [`Note over ${over(threads.map((_, index) => index))}: ${label(missing.text)}`] : []),
  ];
  return ['sequenceDiagram', ...lines.map((line) => `  ${line}`)].join('\n');
}

/**
 * Escapes text for Mermaid: characters that may be syntax become character codes (`#59;`). The word `end` would end a
 * block.
 */
function label(text: string): string {
  const line = toPlainText(text).trim();
  const clipped = line.length > longestLabel ? `${line.slice(0, longestLabel - 1).replace(/[\ud800-\udbff]$/, '')}…` : line;
  const shown = clipped.replace(/[^A-Za-z0-9 _.,()[\]+*/=]|\b[eE](?=nd\b)/gu, (character) => `#${character.codePointAt(0)};`);
  return shown === '' ? '#32;' : shown;
}
