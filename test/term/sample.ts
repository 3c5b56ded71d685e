/** Random terms with integers for their atoms, and the same expressions over plain integers. */
import type { Random } from '../../src/base/random.ts';
import type { Width } from '../../src/isa/model/domain.ts';
import { referenceDomain } from '../../src/isa/arithmetic/reference-domain.ts';
import { termDomain } from '../../src/term/term-domain.ts';
import { type Bounds, LinearView, signedBounds, unsignedBounds } from '../../src/term/linear.ts';
import { type Term, TermStore } from '../../src/term/term.ts';
import { interpret, interpretTruth, randomBits, randomExpression, randomTruth } from './random-term.ts';

/** Widths of the atoms of a sample, by index. */
const atomWidths: readonly Width[] = [8, 16, 32, 32, 64, 64];

export interface Sample {
  readonly store: TermStore;
  readonly view: LinearView;
  readonly term: Term;
  readonly bounds: readonly Bounds[];
  /** Integers of the atoms, each within its bounds. */
  readonly values: () => readonly bigint[];
  /** The pattern (0 or 1 for a truth value) that the expression has by plain arithmetic. */
  readonly reference: (values: readonly bigint[]) => bigint;
}

/** The integer of an atom of a sample. */
export function atomValue(values: readonly bigint[], leaf: Term): bigint {
  const { atom } = leaf;
  if (atom?.kind !== 'parameter') throw new Error('no atom of a sample');
  return values[atom.index]!;
}

function randomBounds(random: Random, width: Width): Bounds {
  const small = BigInt(random.below(width === 8 ? 100 : 3000));
  const start = BigInt(random.between(-50, 50));
  return random.pick([
    signedBounds(width),
    unsignedBounds(width),
    { low: 0n, high: BigInt(random.below(100)) },
    { low: start, high: start + BigInt(random.below(70)) },
    { low: 0n, high: small },
  ]);
}

function valueWithin(random: Random, { low, high }: Bounds): bigint {
  if (random.chance(0.3)) return low;
  return random.chance(0.4) ? high : low + (randomBits(random) % (high - low + 1n));
}

/** A random term of a width, or a condition (width 0), with random ranges of its atoms. */
export function randomSample(random: Random, width: Width | 0, depth: number): Sample {
  const store = new TermStore();
  const bounds = atomWidths.map((of) => randomBounds(random, of));
  const leaf = (index: number, of: Width): Term => store.atom(of, { kind: 'parameter', index, offset: 0, bytes: of / 8 });
  const domain = termDomain(store);
  const values = (): bigint[] => bounds.map((range) => valueWithin(random, range));
  const view = new LinearView(store, {
    atom: (term) => bounds[(term.atom as { index: number }).index]!,
    known: new Map(),
  });
  const pattern =
    (numbers: readonly bigint[]) =>
    (index: number, of: Width): bigint =>
      BigInt.asUintN(of, numbers[index]!);
  if (width === 0) {
    const truth = randomTruth(random, atomWidths, depth);
    const term = interpretTruth(domain, truth, leaf);
    const reference = (numbers: readonly bigint[]): bigint => (interpretTruth(referenceDomain, truth, pattern(numbers)) ? 1n : 0n);
    return { store, view, term, bounds, values, reference };
  }
  const expression = randomExpression(random, width, atomWidths, depth);
  const term = interpret(domain, expression, leaf);
  const reference = (numbers: readonly bigint[]): bigint => interpret(referenceDomain, expression, pattern(numbers));
  return { store, view, term, bounds, values, reference };
}

/** Text of a failed comparison. */
export function describeSample(seed: number, { bounds }: Sample, values: readonly bigint[]): string {
  return `seed ${seed}: atoms ${values.join(', ')} in ${bounds.map(({ low, high }) => `${low}..${high}`).join(', ')}`;
}
