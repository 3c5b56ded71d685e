/** Changes in the SASS of a kernel, as sentences. */
import type { Accesses, CodeChange, CountedWork } from '../../sass/profile-changes.ts';
import { count } from '../text/code-text.ts';
import { amountText } from './bound-text.ts';

/** Maximum number of characters of a bound in a sentence. */
const maxLetters = 60;

const workNames: Readonly<Record<CountedWork, readonly [singular: string, plural?: string]>> = {
  barrier: ['barrier'],
  fence: ['fence'],
  atomic: ['atomic'],
  double: ['double-precision instruction'],
  division: ['call of a division', 'calls of a division'],
  tensor: ['tensor instruction'],
  special: ['special-function instruction'],
  copy: ['asynchronous copy', 'asynchronous copies'],
  texture: ['texture fetch', 'texture fetches'],
  call: ['call'],
};

/**
 * `line 41: 4 loads of 32 bits became 1 of 128`, `3 spills in the inner loop at line 57`.
 * @returns one sentence without a full stop
 */
export function codeChangeText(change: CodeChange): string {
  const { location, loop, rounds } = change;
  const isOnce = rounds === undefined || (rounds.bound === String(rounds.value) && rounds.value! < 2);
  const ofRounds = isOnce ? '' : `, of at most ${amountText(rounds, maxLetters)} iterations`;
  const at = location ? `line ${location.line}: ` : '';
  const inLoop = location
    ? ` in ${loop === 'inner' ? 'the inner loop at ' : loop === 'outer' ? 'the loop at ' : ''}line ${location.line}`
    : '';
  const inRounds = ofRounds === '' ? '' : `, in a loop${ofRounds.slice(1)}`;
  switch (change.kind) {
    case 'spills': {
      const { before, after, areSpills } = change;
      const spills = (many: number): string =>
        areSpills ? count(many, 'spill') : count(many, 'access of local memory', 'accesses of local memory');
      if (before === 0) return `${spills(after)}${loop === 'none' && location ? ` at line ${location.line}` : inLoop}${ofRounds}`;
      return `${at}${spills(after)} instead of ${before}${after > before ? inRounds : ''}`;
    }
    case 'accesses': {
      const { before, after, access, space } = change;
      const of = space === 'global' ? '' : space === 'shared' ? ` ${access === 'load' ? 'from' : 'to'} shared memory` : ` (${space})`;
      const [lost, gained] = [minus(before, after), minus(after, before)];
      if (lost.length > 0 && gained.length > 0) {
        return `${at}${accessesText(lost, access)}${of} became ${gained.map(({ bits, count: many }) => `${many} of ${bits}`).join(' and ')}`;
      }
      const isMore = gained.length > 0;
      const changed = isMore ? gained : lost;
      const rest = isMore ? before : after;
      const others = rest.reduce((total, { count: many }) => total + many, 0);
      return `${at}${accessesText(changed, access)}${of} ${isMore ? 'more' : 'fewer'}${others === 0 ? (isMore ? ', none before' : ', none left') : ''}`;
    }
    case 'work': {
      const { work, before, after } = change;
      return `${at}${count(after, ...workNames[work])} instead of ${before}${after > before ? inRounds : ''}`;
    }
    case 'instructions':
      return `${count(change.after, 'instruction')} instead of ${change.before}${location ? `, most of the difference at line ${location.line}` : ''}`;
  }
}

function minus(a: readonly Accesses[], b: readonly Accesses[]): Accesses[] {
  return a.flatMap(({ bits, count: many }) => {
    const left = many - (b.find((one) => one.bits === bits)?.count ?? 0);
    return left > 0 ? [{ bits, count: left }] : [];
  });
}

function accessesText(of: readonly Accesses[], access: 'load' | 'store'): string {
  return of.map(({ bits, count: many }) => `${count(many, access)} of ${bits} bits`).join(' and ');
}
