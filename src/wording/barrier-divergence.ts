/** The text of a finding on a barrier that not all threads reach, or that some have returned before. */
import type { DivergenceFinding } from '../verdict/finding.ts';
import { readable, sentences } from './code-text.ts';
import { actionText } from './interleaving.ts';
import { chosenText } from './launch.ts';
import { calledFrom, homeOf, lineText } from './place.ts';

/** The sentences on a barrier divergence or an early exit. */
export function divergenceMessage(finding: DivergenceFinding): string {
  const { interleaving, chosen, confirmed, kind, among } = finding;
  const [waiting, absent] = interleaving?.threads ?? [];
  const step = interleaving?.steps[1];
  const line = step?.location && step.action !== 'exit' ? ` on line ${step.location.line}` : '';
  const who = waiting && absent && step ? `${waiting.name} waits there, ${absent.name} ${actionText(step)}${line}` : '';
  const remedy = among === 'grid' ? 'all blocks of the grid reach it' : 'all threads of the block reach it';
  return sentences(
    whatHappens(finding),
    who,
    chosen && `happens if launched with ${chosenText(chosen)}`,
    confirmed && kind !== 'early-exit' ? `move the barrier to where ${remedy}` : undefined,
  );
}

function whatHappens({ barrier, condition: raw, confirmed, kind, among }: DivergenceFinding): string {
  const home = homeOf([barrier]);
  const at = `${lineText(barrier, home)}${calledFrom([barrier], home)}`;
  const condition = raw === undefined ? undefined : readable(raw);
  const [who, name] = among === 'grid' ? ['blocks', 'barrier of the grid'] : ['threads of the block', 'barrier'];
  switch (kind) {
    case 'early-exit':
      return `${condition === undefined ? '' : `depending on ${condition}, `}some ${who} return before the ${name} on ${at}; sm_70 and later count them as arrived`;
    case 'partial-arrival':
      return `fewer threads arrive at the ${name} on ${at} than it waits for`;
    case 'deadlock':
      return `threads wait at the ${name} on ${at} for others that never arrive`;
    case 'divergent': {
      const what = confirmed
        ? `not all ${who} reach the ${name} on ${at}`
        : `some ${who} may not reach the ${name} on ${at}`;
      return `${what}: that depends on ${condition ?? 'a value that Selvage cannot follow'}`;
    }
  }
}
