/** The interleaving of a finding, as a sequence of steps. */
import type { ReportedInterleaving, ReportedMove, ReportedStep } from '../../report-model/finding.ts';
import type { AccessDescription, Interleaving, InterleavingStep, RecordedStep } from '../../verdict/finding.ts';
import { isCall, objectText, verbOf } from '../text/access-text.ts';
import { code, count } from '../text/code-text.ts';
import { missingText } from './missing-order.ts';

/** Array and element of a race, which its steps name. */
interface Racing {
  readonly first: AccessDescription;
  readonly second: AccessDescription;
  readonly array?: string;
  readonly element?: string;
}

/**
 * The interleaving of a finding with its texts.
 * @param racing array and element if the finding is a race
 */
export function reportedInterleaving(
  { threads, steps, missing, recording, narrowFence }: Interleaving,
  racing?: Racing,
): ReportedInterleaving {
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
    ...(recording && { recording: recording.map(reportedMove) }),
    ...(narrowFence && { narrowFence }),
    ...(missing && {
      missing: {
        ...missing,
        text: racing ? missingText(missing, { ...racing, isOwnCopy: threads.length === 1 }) : '',
      },
    }),
  };
}

function reportedMove(step: RecordedStep): ReportedMove {
  const { thread, action, location, cell } = step;
  return {
    thread,
    action,
    text: moveText(step),
    location,
    ...(cell && {
      cell: {
        name: cellName(cell),
        ...(cell.value !== undefined && { value: cell.value }),
        ...(cell.isShared && { isShared: true as const }),
      },
    }),
  };
}

/**
 * Name of an accessed element: `partial[128]`, or `bytes 512 to 515 of partial` if no declaration determines the
 * element.
 */
function cellName({ element, array, offset, bytes }: NonNullable<RecordedStep['cell']>): string {
  return element ?? `bytes ${offset} to ${offset + bytes - 1} of ${array}`;
}

/** A recorded step as a clause: ``writes 1 to `partial[128]` ``. */
function moveText({ action, to, cell }: RecordedStep): string {
  const name = cell === undefined ? 'memory' : code(cellName(cell));
  const value = cell?.value;
  switch (action) {
    case 'read':
      return value === undefined ? `reads ${name}` : `reads ${value} from ${name}`;
    case 'write':
      return value === undefined ? `writes ${name}` : `writes ${value} to ${name}`;
    case 'atomic':
      return `atomically updates ${name}${value === undefined ? '' : `, which held ${value}`}`;
    case 'pass':
      return 'passes the barrier';
    case 'wait':
      return 'waits at the barrier';
    case 'go':
      return to === undefined ? 'goes on' : `goes on at line ${to.line}`;
    case 'exit':
      return 'has ended';
  }
}

function isAccess({ action }: InterleavingStep): boolean {
  return /^(read|write|atomic)$/.test(action);
}

/** An access with the element that it accesses in this run: ``writes `s[t]`, here `s[32]` ``. */
function accessText(access: AccessDescription, { array, element }: Racing): string {
  const here =
    element === undefined || access.expression === undefined || access.expression === element || isCall(access)
      ? ''
      : `, here ${code(element)}`;
  return `${verbOf(access)} ${objectText(access, array, element)}${here}`;
}

/** Why threads may return before a barrier, as a clause. */
export const notAwaited = 'on sm_70 and later the barrier does not wait for threads that have returned';

/** The action of a thread in the third person. */
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

/** The place of a step: the line, with the file if the steps are in several. */
function stepPlace({ location }: ReportedStep, { steps }: ReportedInterleaving): string {
  if (!location) return '';
  const files = new Set(steps.map((step) => step.location?.file));
  files.delete(undefined);
  return files.size > 1 ? `${location.file}:${location.line}` : `line ${location.line}`;
}

/** A step in words, without its thread: `reads s[t + 1], here s[32] (line 14)`. */
export function stepText(step: ReportedStep, interleaving: ReportedInterleaving): string {
  const place = stepPlace(step, interleaving);
  const often = step.times === undefined ? '' : `, ${step.times} times so far`;
  return `${step.text}${often}${place === '' ? '' : ` (${place})`}`;
}
