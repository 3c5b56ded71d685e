/** Obligations by enumeration of values for all unknowns: the reference for the tiers. */
import type { KernelContext } from '../../../src/check/context/facts.ts';
import type { Random } from '../../../src/base/random.ts';
import type { Instances, TermInstance } from '../../../src/check/obligations/instance.ts';
import type { AccessSide, Obligation } from '../../../src/check/obligations/obligation.ts';
import { evaluateTerm } from '../../../src/term/evaluate-term.ts';
import type { Term } from '../../../src/term/term.ts';
import { valuation } from '../../term/natural-value.ts';

/** Values of the unknowns under which the accesses overlap. */
export type Assignment = ReadonlyMap<string, bigint>;

const axes = ['x', 'y', 'z'] as const;
const mostRounds = 6n;

/** Whether none of the terms wraps around, for given integers of the atoms. */
export function areMet({ view }: KernelContext['symbolic'], assumes: readonly Term[], atom: (leaf: Term) => bigint): boolean {
  return valuation(view, atom).holds({ constant: 0n, terms: new Map(), low: 0n, high: 0n, assumes });
}

/**
 * Looks for two different threads (blocks) of an obligation that overlap.
 * @param limit assignments to try; if there are more, a random sample of this size
 * @param assumes terms that must not wrap around in either thread
 */
export function findOverlap(
  { symbolic, dimensions }: KernelContext,
  instances: Instances,
  obligation: Obligation,
  assumes: readonly Term[],
  random: Random,
  limit: number,
): Assignment | null {
  const { first, second, scope, warp, mayBeOne, betweenClusters } = obligation;
  const choices = new Map<string, readonly bigint[]>();
  const upTo = (count: number): bigint[] => Array.from({ length: count }, (_, i) => BigInt(i));
  for (const side of [1, 2]) {
    axes.forEach((axis, i) => {
      choices.set(`t${axis}_${side}`, upTo(dimensions.block[i] ?? 3));
      choices.set(scope === 'grid' ? `b${axis}_${side}` : `b${axis}`, upTo(dimensions.grid[i] ?? 2));
    });
  }
  const admit = (term: Term, reading: TermInstance): void => {
    for (const leaf of term.leaves) {
      const { name, bounds } = instances.of(leaf, reading);
      if (name === null || choices.has(name)) continue;
      const { kind } = leaf.atom!;
      if (kind === 'iteration') choices.set(name, upTo(Number((bounds.high < mostRounds ? bounds.high : mostRounds) + 1n)));
      else if (kind === 'block-size') choices.set(name, [1n, 2n, 3n]);
      else if (kind === 'grid-size') choices.set(name, [1n, 2n]);
      else if (leaf.width === 0) choices.set(name, [0n, 1n]);
      else choices.set(name, [0n, 1n, BigInt(random.between(-20, 20)), bounds.low, bounds.high]);
    }
  };
  for (const { target, reading, conditions } of [first, second]) {
    admit(target.offset, reading);
    for (const condition of conditions) admit(condition.term, condition.reading);
    for (const term of assumes) admit(term, reading);
  }

  const names = [...choices.keys()];
  const total = names.reduce((product, name) => product * choices.get(name)!.length, 1);
  for (let n = 0; n < Math.min(total, limit); n++) {
    const values = new Map<string, bigint>();
    let rest = n;
    for (const name of names) {
      const list = choices.get(name)!;
      values.set(name, total > limit ? random.pick(list) : list[rest % list.length]!);
      rest = Math.floor(rest / list.length);
    }
    if (isOverlap(values)) return values;
  }
  return null;

  function isOverlap(values: ReadonlyMap<string, bigint>): boolean {
    for (const side of [1, 2]) {
      for (const axis of axes) {
        if (values.get(`t${axis}_${side}`)! >= (values.get(`n${axis}`) ?? 1n << 20n)) return false;
        const block = values.get(`b${axis}_${side}`) ?? values.get(`b${axis}`)!;
        if (block >= (values.get(`g${axis}`) ?? 1n << 20n)) return false;
      }
    }
    const at = (letter: string, side: number): bigint[] => axes.map((axis) => values.get(`${letter}${axis}_${side}`)!);
    const letter = scope === 'block' ? 't' : 'b';
    if (!mayBeOne && String(at(letter, 1)) === String(at(letter, 2))) return false;
    const clusterOf = (side: number): string => String(at('b', side).map((index, axis) => index / BigInt(betweenClusters![axis]!)));
    if (betweenClusters && clusterOf(1) === clusterOf(2)) return false;
    const [width, height] = axes.map((axis, i) => values.get(`n${axis}`) ?? BigInt(dimensions.block[i] ?? 1));
    const warpOf = (side: number): bigint => {
      const [x, y, z] = at('t', side) as [bigint, bigint, bigint];
      return (x + width! * (y + height! * z)) / 32n;
    };
    if (warp && (warpOf(1) === warpOf(2)) !== (warp === 'same')) return false;
    const atom =
      (reading: TermInstance) =>
      (leaf: Term): bigint => {
        const { name, offset } = instances.of(leaf, reading);
        return (name === null ? 0n : values.get(name)!) + offset;
      };
    const holds = (side: AccessSide): boolean =>
      side.conditions.every(({ term, reading }) => evaluateTerm(term, atom(reading), new Map()) === 1n) &&
      areMet(symbolic, assumes, atom(side.reading));
    const address = ({ target, reading }: AccessSide): bigint | undefined => evaluateTerm(target.offset, atom(reading), new Map());
    const a = address(first);
    const b = address(second);
    if (a === undefined || b === undefined) return false;
    const distance = BigInt.asIntN(first.target.offset.width, a - b);
    const isOverlap = distance < BigInt(second.access.bytes) && distance > -BigInt(first.access.bytes);
    return isOverlap && holds(first) && holds(second);
  }
}
