/** Values of the symbols of a host program that satisfy the facts of some of its operations. */
import { type Fact, type HostTerm, termConstant } from '../assumptions/expression.ts';
import { type SymbolValues, evaluateCondition, evaluateExpression } from '../assumptions/evaluate.ts';
import { symbolsOf } from '../assumptions/parts.ts';
import { seededRandom } from '../base/random.ts';

/** Values of terms on one path of the host program. */
export type HostSample = (term: HostTerm) => bigint | undefined;

/** Values that are tried for all symbols, then mixed. */
const usual = [1024n, 256n, 64n, 4096n, 1n, 128n, 512n, 32n, 2n, 0n];
const maxTrials = 300;

/** Chooses the value of the symbol at an index, in a trial; its value is one of a pool if it returns undefined. */
type Choice = (trial: number, index: number, id: string) => bigint | undefined;

/**
 * Some samples in which all facts hold; a single one if the terms have no symbols.
 * @param count number of samples
 */
export function samplesOf(facts: readonly Fact[], terms: readonly HostTerm[], count: number): HostSample[] {
  return search(facts, terms, { count, isSpread: false, choice: (trial) => usual[trial] });
}

/** Terms of operations, by their use. */
export interface UsedTerms {
  /** Numbers of threads and bytes. */
  readonly extents: readonly HostTerm[];
  readonly offsets: readonly HostTerm[];
  /** Arguments of kernels, which may use them as either. */
  readonly numbers: readonly HostTerm[];
}

/** The terms of one operation, of which extents come first. */
export function allTerms({ extents, offsets, numbers }: UsedTerms): readonly HostTerm[] {
  return [...extents, ...offsets, ...numbers];
}

/**
 * Samples in which all facts hold and the symbols of the terms have different values, those of offsets large ones that are far
 * from each other: a relation between symbols that no fact gives does not hold by chance.
 */
export function spreadSamplesOf(facts: readonly Fact[], used: readonly UsedTerms[], count: number): HostSample[] {
  const ofExtents = symbolsIn(used.flatMap(({ extents }) => extents));
  const ofOffsets = symbolsIn(used.flatMap(({ offsets }) => offsets));
  const choice: Choice = (trial, index, id) => {
    const isFar = !ofExtents.has(id) && (ofOffsets.has(id) || trial % 2 === 0);
    if (isFar && trial < maxTrials / 2) return farValue(index) * (trial % 2 === 0 ? 1n : 16n);
    return trial < 2 ? usual[index + trial] : undefined;
  };
  return search(facts, used.flatMap(allTerms), { count, isSpread: true, choice });
}

/** The differences of these values grow: they are larger than most arrays, and their products with usual numbers are small. */
function farValue(index: number): bigint {
  return 65_537n * BigInt(index * index + index + 1);
}

function symbolsIn(nodes: readonly (Fact | HostTerm)[]): Set<string> {
  return new Set(nodes.flatMap((node) => [...symbolsOf(node).keys()]));
}

function search(
  facts: readonly Fact[],
  terms: readonly HostTerm[],
  { count, isSpread, choice }: { readonly count: number; readonly isSpread: boolean; readonly choice: Choice },
): HostSample[] {
  const given = { values: new Map<string, bigint>(), conditions: new Map<string, boolean>(), constants: new Set<bigint>() };
  for (const fact of facts) collect(fact, given);
  const { values, conditions, constants } = given;
  const pool = [...usual, ...[...constants].flatMap((value) => [value, value + 1n, value - 1n])];
  if (isSpread) pool.push(...usual.map((_, index) => farValue(index)));
  const random = seededRandom(51);
  const found = new Map<string, HostSample>();
  const ofTerms = [...symbolsIn(terms)].filter((id) => !values.has(id));
  const open = [...new Set([...ofTerms, ...symbolsIn(facts)])].filter((id) => !values.has(id));
  for (let trial = 0; trial < maxTrials && found.size < count; trial++) {
    const chosen = new Map([...values, ...open.map((id, index) => [id, choice(trial, index, id) ?? random.pick(pool)] as const)]);
    if (isSpread && new Set(ofTerms.map((id) => chosen.get(id))).size < ofTerms.length) continue;
    const truths = new Map(conditions);
    const isTrue = trial % 2 === 0;
    const sample: SymbolValues = {
      symbol: (id) => chosen.get(id),
      condition: (id) => {
        const truth = truths.get(id) ?? (trial >= usual.length ? random.below(2) === 0 : isTrue);
        truths.set(id, truth);
        return truth;
      },
    };
    if (!facts.every((fact) => evaluateCondition(fact, unnamed, sample) === true)) continue;
    const key = terms.map((term) => String(evaluateExpression(term, unnamed, sample))).join();
    if (!found.has(key)) found.set(key, (term) => evaluateExpression(term, unnamed, sample));
    if (open.length === 0) break;
  }
  return [...found.values()];
}

function unnamed(): undefined {
  return undefined;
}

/** Values that a fact gives to symbols and unknown conditions, and the constants in its comparisons. */
function collect(
  fact: Fact,
  given: { readonly values: Map<string, bigint>; readonly conditions: Map<string, boolean>; readonly constants: Set<bigint> },
): void {
  switch (fact.kind) {
    case 'unknown':
      given.conditions.set(fact.id, true);
      break;
    case 'not':
      if (fact.operand.kind === 'unknown') given.conditions.set(fact.operand.id, false);
      break;
    case 'and':
      collect(fact.left, given);
      collect(fact.right, given);
      break;
    case 'comparison': {
      const { left, right, operator } = fact;
      const constant = termConstant(right) ?? termConstant(left);
      if (constant === undefined) return;
      given.constants.add(constant);
      const symbol = left.kind === 'symbol' ? left : right;
      if (operator === '==' && symbol.kind === 'symbol') given.values.set(symbol.symbol.id, constant);
      break;
    }
    default:
  }
}
