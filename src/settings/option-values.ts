/** Values of options of the command line: integers, choices, extents and pairs of a name and a value. */
import type { Dim3 } from '../base/dim3.ts';
import { nearest } from '../base/nearest.ts';
import { UsageError } from '../base/usage-error.ts';
import { firstBuffered, firstInterleaved, reversedSchedule } from '../interpreter/core/schedule.ts';
import { parseDimensions } from './dimensions.ts';

/** Parses indices of blocks: `0,7`. @throws UsageError for any other text */
export function blockNumbers(text: string): number[] {
  const numbers = text.split(',').map((part) => part.trim());
  if (!numbers.every((part) => /^\d{1,15}$/.test(part)))
    throw new UsageError(`--blocks ${text}: give block numbers, for example --blocks 0,7.`);
  return [...new Set(numbers.map(Number))];
}

/** Parses dimensions: `16,16`. @throws UsageError for invalid extents */
export function dimensions(kind: 'block' | 'grid' | 'cluster', text: string | undefined): Dim3 | undefined {
  if (text === undefined) return undefined;
  const read = parseDimensions(kind, text);
  if ('problem' in read) throw new UsageError(`--${kind} ${text} ${read.problem}.`);
  return read;
}

/** Parses an integer. @throws UsageError if it is not an integer in the range */
export function wholeNumber(name: string, text: string | undefined, minimum: number, maximum: number, unit: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
    throw new UsageError(`--${name} ${text}: give ${unit} as a whole number from ${minimum} to ${maximum}.`);
  }
  return value;
}

/** Parses a choice. @throws UsageError for any other word */
export function oneOf<const Choice extends string>(
  name: string,
  text: string | undefined,
  choices: readonly Choice[],
  fallback: Choice,
): Choice {
  if (text === undefined) return fallback;
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  const close = nearest(text, choices);
  throw new UsageError(`--${name} ${text}: choose one of ${choices.join(', ')}${close ? `; did you mean ${close}?` : '.'}`);
}

/**
 * Parses `NAME=VALUE` pairs. A name may be `p.n`, or `p+8` for the value at byte 8 of a struct with unknown members.
 */
export function namedValues(option: string, given: readonly string[], form: string): Map<string, string> {
  const result = new Map<string, string>();
  for (const text of given) {
    const match = /^([A-Za-z_](?:[\w.]|\[\d+\])*(?:\+\d+)?)=(.+)$/s.exec(text);
    if (!match?.[1] || !match[2]) throw new UsageError(`--${option} ${text}: write ${form}.`);
    if (result.has(match[1])) throw new UsageError(`--${option} gives ${match[1]} twice; give it once.`);
    result.set(match[1], match[2]);
  }
  return result;
}

/** Number of the first schedule of each name, and count of schedules with that name. */
const schedules: Readonly<Record<string, readonly [number, number]>> = {
  reverse: [reversedSchedule, 1],
  shuffled: [reversedSchedule + 1, firstInterleaved - reversedSchedule - 1],
  interleaved: [firstInterleaved, firstBuffered - firstInterleaved],
  'store-buffer': [firstBuffered, 2 ** 32 - firstBuffered],
};

/** The number of a schedule: `reverse`, `interleaved:3`, or the number itself. @throws UsageError for anything else */
export function scheduleNamed(text: string | undefined): number | undefined {
  if (text === undefined || /^\d/.test(text)) return wholeNumber('schedule', text, 0, 2 ** 32 - 1, 'a name or a number');
  const [name, seed = '0', ...rest] = text.split(':');
  const [first, count] = schedules[oneOf('schedule', name, Object.keys(schedules), 'reverse')]!;
  if (rest.length > 0 || !/^\d{1,10}$/.test(seed) || Number(seed) >= count)
    throw new UsageError(
      `--schedule ${text}: give ${name}${count > 1 ? `, or ${name}:SEED with a seed from 0 to ${count - 1}` : ' without a seed'}.`,
    );
  return first + Number(seed);
}
