/** The text of a finding on a barrier that not all threads reach, or before which some threads return. */
import type { DivergenceFinding } from '../../verdict/finding.ts';
import { code, readable, sentences, unknownValue } from '../text/code-text.ts';
import { actionText, notAwaited } from './interleaving-phrases.ts';
import { chosenText } from '../text/launch-text.ts';
import { laneFaultKind, laneMessage, laneRemedy } from './lane-fault.ts';
import { calledFrom, homeOf, lineText } from '../text/place.ts';

/** The sentences on a barrier divergence or an early exit. */
export function divergenceMessage(finding: DivergenceFinding): string {
  const { interleaving, chosen, when, confirmed, kind, among, fault, loop } = finding;
  const ofLanes = laneFaultKind(kind);
  if (ofLanes && fault) return laneMessage(finding, ofLanes, fault);
  const [waiting, absent] = interleaving?.threads ?? [];
  const step = interleaving?.steps[1];
  const line = step?.location && step.action !== 'exit' ? ` on line ${step.location.line}` : '';
  const who = waiting && absent && step ? `${waiting.name} waits there while ${absent.name} ${actionText(step)}${line}` : '';
  return sentences(
    whatHappens(finding),
    who,
    chosen &&
      `this happens${when === undefined ? '' : ` when ${code(when)}`}, for example, if the kernel is launched with ${chosenText(chosen)}`,
    confirmed ? remedyText(kind, among, loop) : undefined,
  );
}

/** The possible remedies of a divergence of this kind. */
export function divergenceRemedies({ kind, fault, loop }: Pick<DivergenceFinding, 'kind' | 'fault' | 'loop'>): string[] {
  const ofLanes = laneFaultKind(kind);
  if (ofLanes && fault) return [laneRemedy(ofLanes, fault, loop)];
  const texts = (['block', 'grid'] as const).map((among) => remedyText(kind, among, loop));
  return texts.filter((text) => text !== undefined);
}

/** The remedy for a divergence; undefined for an early exit, which is allowed. */
function remedyText(
  kind: DivergenceFinding['kind'],
  among: DivergenceFinding['among'],
  loop: DivergenceFinding['loop'],
): string | undefined {
  switch (kind) {
    default:
      return undefined;
    case 'partial-arrival':
      return 'make the thread count of the barrier equal to the number of threads that reach it';
    case 'deadlock':
      return 'let all threads reach the barriers in the same order';
    case 'divergent': {
      const all = `all threads of the ${among}`;
      return loop === 'left'
        ? `let ${all} execute the same number of iterations, and guard the rest of the loop body instead`
        : `move ${loop === 'whole' ? 'the loop with the barrier' : 'the barrier'} to where ${all} reach it`;
    }
  }
}

function whatHappens({ barrier, condition: raw, confirmed, kind, among }: DivergenceFinding): string {
  const home = homeOf([barrier]);
  const at = `${lineText(barrier, home)}${calledFrom([barrier], home)}`;
  const condition = raw === undefined ? undefined : readable(raw);
  const [who, name] = among === 'grid' ? ['threads of the grid', 'barrier of the grid'] : ['threads of the block', 'barrier'];
  switch (kind) {
    default:
      return '';
    case 'early-exit':
      return `some ${who} ${confirmed ? '' : 'may '}return before the ${name} on ${at}${condition === undefined ? '' : `, depending on ${condition}`}; ${notAwaited}`;
    case 'partial-arrival':
      return `fewer threads arrive at the ${name} on ${at} than it waits for`;
    case 'deadlock':
      return `threads wait at the ${name} on ${at} for others that never arrive`;
    case 'divergent': {
      const what = confirmed ? `not all ${who} reach the ${name} on ${at}` : `some ${who} may not reach the ${name} on ${at}`;
      return `${what}; whether a thread reaches it depends on ${condition ?? unknownValue}`;
    }
  }
}
