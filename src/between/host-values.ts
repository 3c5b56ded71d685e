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

/**
 * Some samples in which all facts hold; a single one if the terms have no symbols.
 * @param count number of samples
 */
export function samplesOf(facts: readonly Fact[], terms: readonly HostTerm[], count: number): HostSample[] {
  const symbols = new Set<string>();
  for (const node of [...facts, ...terms]) for (const id of symbolsOf(node).keys()) symbols.add(id);
  const given = { values: new Map<string, bigint>(), conditions: new Map<string, boolean>(), constants: new Set<bigint>() };
  for (const fact of facts) collect(fact, given);
  const { values, conditions, constants } = given;
  const pool = [...usual, ...[...constants].flatMap((value) => [value, value + 1n, value - 1n])];
  const random = seededRandom(51);
  const found = new Map<string, HostSample>();
  const open = [...symbols].filter((id) => !values.has(id));
  for (let trial = 0; trial < maxTrials && found.size < count; trial++) {
    const common = usual[trial];
    const chosen = new Map([...values, ...open.map((id) => [id, common ?? random.pick(pool)] as const)]);
    const truths = new Map(conditions);
    const isTrue = trial % 2 === 0;
    const sample: SymbolValues = {
      symbol: (id) => chosen.get(id),
      condition: (id) => {
        const truth = truths.get(id) ?? (common === undefined ? random.below(2) === 0 : isTrue);
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
