/**
 * Values that the lanes of a warp exchange: shuffles, votes, matches, reductions (PTX ISA 9.7.9 shfl, 9.7.13). Values
 * are in the canonical form of staged code: 32 bits as a signed integer, 64 as an unsigned bigint.
 */
import type { Effect } from '../../isa/model/operation.ts';
import { referenceDomain } from '../../isa/arithmetic/reference-domain.ts';

/** A participating lane with the sources of its instruction; results are parallel to those of the operation. */
interface Participant {
  readonly lane: number;
  readonly operands: readonly unknown[];
}

/**
 * The value that a participant gets from a lane that does not take part.
 * @param reader index of the participant
 * @param own the value that the participant passed
 */
type UndefinedValue = (reader: number, source: number, own: unknown) => unknown;

/** The results of each participant, in order. All of them execute instructions of the same effect. */
export function warpResults(
  effect: Effect,
  participants: readonly Participant[],
  undefinedValue: UndefinedValue = (_reader, _source, own) => own,
): readonly (readonly unknown[])[] {
  switch (effect.kind) {
    case 'shuffle':
      return participants.map((participant, reader) =>
        shuffle(effect.mode, participant, participants, (source) => undefinedValue(reader, source, participant.operands[0])),
      );
    case 'vote':
      return vote(effect.mode, participants);
    case 'warp-value':
      return warpValue(effect.name, participants);
    default:
      return participants.map(() => []);
  }
}

/**
 * Sources: value, lane or distance, clamp and segment mask. The source lane is within the segment, or the lane itself
 * with a false predicate; the value of a lane that does not take part is undefined.
 */
function shuffle(
  mode: string,
  self: Participant,
  participants: readonly Participant[],
  undefinedFrom: (source: number) => unknown,
): readonly unknown[] {
  const [, b, c] = self.operands as readonly number[];
  const distance = b! & 31;
  const clamp = c! & 31;
  const segment = (c! >> 8) & 31;
  const { lane } = self;
  const maximum = (lane & segment) | (clamp & ~segment);
  const minimum = lane & segment;
  let source = 0;
  let inRange = false;
  switch (mode) {
    case 'up':
      source = lane - distance;
      inRange = source >= maximum;
      break;
    case 'down':
      source = lane + distance;
      inRange = source <= maximum;
      break;
    case 'bfly':
      source = lane ^ distance;
      inRange = source <= maximum;
      break;
    default:
      source = minimum | (distance & ~segment);
      inRange = source <= maximum;
  }
  if (!inRange) source = lane;
  const other = participants.find((participant) => participant.lane === source);
  return [other ? other.operands[0] : undefinedFrom(source), inRange];
}

function vote(mode: string, participants: readonly Participant[]): readonly (readonly unknown[])[] {
  const truths = participants.map((participant) => participant.operands[0] === true);
  const count = truths.filter(Boolean).length;
  let result: unknown;
  if (mode === 'ballot') result = laneMask(participants.filter((_, index) => truths[index]));
  else if (mode === 'all') result = count === truths.length;
  else if (mode === 'any') result = count > 0;
  else result = count === 0 || count === truths.length;
  return participants.map(() => [result]);
}

/** The lanes as bits of a signed 32-bit integer. */
function laneMask(participants: readonly Participant[]): number {
  return participants.reduce((mask, { lane }) => mask | (1 << lane), 0);
}

function warpValue(name: string, participants: readonly Participant[]): readonly (readonly unknown[])[] {
  if (name === 'activemask') return participants.map(() => [laneMask(participants)]);
  if (name === 'elect') {
    const leader = Math.min(...participants.map(({ lane }) => lane));
    return participants.map(({ lane }) => [leader, lane === leader]);
  }
  if (name === 'match.any') {
    return participants.map((self) => [laneMask(participants.filter((other) => sameValue(self, other)))]);
  }
  if (name === 'match.all') {
    const same = participants.every((other) => sameValue(participants[0]!, other));
    return participants.map(() => [same ? laneMask(participants) : 0, same]);
  }
  const result = reduce(name, participants);
  return participants.map(() => [result]);
}

function sameValue(a: Participant, b: Participant): boolean {
  return a.operands[0] === b.operands[0];
}

/** `redux.operation[.abs][.NaN].type`. */
function reduce(name: string, participants: readonly Participant[]): number {
  const parts = name.split('.');
  const operation = parts[1]!;
  const type = parts.at(-1)!;
  const values = participants.map(({ operands }) => operands[0] as number);
  if (type === 'f32') {
    const absolute = parts.includes('abs');
    const full = { name: parts.includes('NaN') ? `${operation}.nan` : operation, from: type, to: type };
    const patterns = values.map((value) => BigInt((absolute ? value & 0x7fffffff : value) >>> 0));
    const result = patterns.reduce((a, b) => referenceDomain.float({ ...full, rounding: 'none', ftz: false, saturate: false }, [a, b]));
    return Number(BigInt.asIntN(32, result));
  }
  const order = (value: number): number => (type === 's32' ? value : value >>> 0);
  return values.reduce((a, b) => {
    switch (operation) {
      case 'add':
        return (a + b) | 0;
      case 'min':
        return order(b) < order(a) ? b : a;
      case 'max':
        return order(b) > order(a) ? b : a;
      case 'and':
        return a & b;
      case 'or':
        return a | b;
      default:
        return a ^ b;
    }
  });
}
