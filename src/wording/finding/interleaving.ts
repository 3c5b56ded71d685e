/** What the threads of a finding did, step by step. */
import type { ReportedInterleaving, ReportedStep } from '../../document/finding.ts';
import type { AccessDescription, Interleaving, InterleavingStep } from '../../verdict/finding.ts';
import { isCall, objectText, verbOf } from '../text/access.ts';
import { code, count } from '../text/code-text.ts';
import { missingText } from './missing-order.ts';

/** What two threads race on. */
interface Racing {
  readonly first: AccessDescription;
  readonly second: AccessDescription;
  readonly array?: string;
  readonly element?: string;
}

/**
 * The interleaving of a finding with its words.
 * @param racing of a race
 */
export function reportedInterleaving({ threads, steps, missing }: Interleaving, racing?: Racing): ReportedInterleaving {
  const accesses = steps.filter(isAccess);
  return {
    threads,
    steps: steps.map((step): ReportedStep => {
      const { threads: by, action, location } = step;
      const access = racing && isAccess(step) ? (accesses[0] === step ? racing.first : racing.second) : undefined;
      return {
        threads: by,
        action,
        text: racing && access ? accessText(access, racing) : actionText(step),
        ...(step.action === 'pass' && step.times > 1 && { times: step.times }),
        ...(location && { location }),
      };
    }),
    ...(missing && {
      missing: {
        ...missing,
        text: racing ? missingText(missing, { ...racing, isOwnCopy: threads.length === 1 }) : '',
      },
    }),
  };
}

function isAccess({ action }: InterleavingStep): boolean {
  return /^(read|write|atomic)$/.test(action);
}

/** ``writes `s[t]`, here `s[32]` ``. */
function accessText(access: AccessDescription, { array, element }: Racing): string {
  const here =
    element === undefined || access.expression === undefined || access.expression === element || isCall(access)
      ? ''
      : `, here ${code(element)}`;
  return `${verbOf(access)} ${objectText(access, array, element)}${here}`;
}

/** Why threads may return before a barrier, as a clause. */
export const notAwaited = 'on sm_70 and later the barrier does not wait for threads that have returned';

/** What a thread does that is no access, in the third person. */
export function actionText(step: InterleavingStep): string {
  switch (step.action) {
    case 'pass':
      return step.of === 'grid' ? 'pass the barrier of the grid' : 'pass the barrier';
    case 'wait':
      return waitText(step);
    case 'exit':
      return step.how === 'returned' ? 'has returned' : 'has ended without reaching it';
    case 'run':
      return 'still runs';
    case 'read':
      return 'reads';
    case 'write':
      return 'writes';
    case 'atomic':
      return 'atomically updates';
  }
}

function waitText(step: Extract<InterleavingStep, { action: 'wait' }>): string {
  switch (step.at) {
    case 'barrier':
      return `waits at the barrier${step.others > 0 ? ` with ${count(step.others, 'other thread')}` : ''}`;
    case 'other-barrier':
      return 'waits at another barrier';
    case 'other-round':
      return 'waits there in another iteration';
    case 'instruction':
      return `waits at ${code(step.mnemonic)}`;
  }
}
