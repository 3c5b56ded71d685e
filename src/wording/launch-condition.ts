/** Conditions that validators test, in the words of the source. */
import type { Quantity, ValidatorCondition } from '../idempotency/model/quantity.ts';
import { code } from './text/code-text.ts';

/** The name of a parameter, or of a field of one. */
type NameOf = (field: { readonly index: number; readonly offset: number }) => string;

/** Parts of a condition that are told; of more of them the reader learns nothing. */
const mostParts = 4;
/** Sizes of blocks that are listed. */
const mostSizes = 8;

/** A condition on dimensions and numbers, as a clause after "if"; null where that takes too many words. */
export function launchConditionText(condition: ValidatorCondition, nameOf: NameOf): string | null {
  switch (condition.kind) {
    case 'compare':
      return comparisonText(condition, nameOf);
    case 'all': {
      // Most launches have one dimension; where that is all, it is told.
      const parts = condition.conditions.filter((part) => !isOfOneDimension(part));
      return joined(parts.length > 0 ? parts : condition.conditions, ' and ', nameOf);
    }
    case 'any':
      return oneOf(condition.conditions, nameOf) ?? joined(condition.conditions, ' or ', nameOf);
    default:
      return null;
  }
}

/** `blockDim.y == 1` and the like. */
function isOfOneDimension(condition: ValidatorCondition): boolean {
  if (condition.kind !== 'compare' || condition.comparison !== '=') return false;
  const { left, right } = condition;
  const isSize = left.kind === 'block-size' || left.kind === 'grid-size';
  return isSize && left.axis > 0 && right.kind === 'constant' && right.value === 1n;
}

function joined(parts: readonly ValidatorCondition[], word: string, nameOf: NameOf): string | null {
  const told = parts.map((part) => launchConditionText(part, nameOf));
  const isNested = parts.some((part) => part.kind === 'all' || part.kind === 'any');
  return told.includes(null) || told.length > mostParts || (isNested && word === ' and ') ? null : told.join(word);
}

/** `` `blockDim.x` is 64, 128 or 256 ``; null for all other conditions. */
function oneOf(parts: readonly ValidatorCondition[], nameOf: NameOf): string | null {
  const sizes: bigint[] = [];
  const names = new Set<string | null>();
  for (const part of parts) {
    if (part.kind !== 'compare' || part.comparison !== '=' || part.right.kind !== 'constant') return null;
    names.add(quantityText(part.left, nameOf));
    sizes.push(part.right.value);
  }
  const [name, ...others] = names;
  if (!name || others.length > 0 || sizes.length > mostSizes) return null;
  const sorted = sizes.sort((a, b) => Number(a - b));
  return `${code(name)} is ${sorted.slice(0, -1).join(', ')} or ${sorted.at(-1)}`;
}

function comparisonText(
  { left, comparison, right }: Extract<ValidatorCondition, { kind: 'compare' }>,
  nameOf: NameOf,
): string | null {
  const [a, b] = [quantityText(left, nameOf), quantityText(right, nameOf)];
  return a === null || b === null ? null : code(`${a} ${comparison === '=' ? '==' : comparison} ${b}`);
}

function quantityText(quantity: Quantity, nameOf: NameOf): string | null {
  switch (quantity.kind) {
    case 'constant':
      return String(quantity.value);
    case 'argument':
      return nameOf(quantity);
    case 'block-size':
    case 'grid-size':
      return `${quantity.kind === 'block-size' ? 'blockDim' : 'gridDim'}.${'xyz'[quantity.axis]}`;
    case 'sum':
    case 'product': {
      const parts = quantity.operands.map((operand) => quantityText(operand, nameOf));
      const isFlat = quantity.kind === 'sum' || quantity.operands.every(({ kind }) => kind !== 'sum');
      if (parts.includes(null) || parts.length > mostParts || !isFlat) return null;
      return parts.join(quantity.kind === 'sum' ? ' + ' : ' * ');
    }
    default:
      return null;
  }
}
