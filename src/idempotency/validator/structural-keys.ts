import type { AddressSet, Quantity, ValidatorCondition } from '../model/quantity.ts';

/** Names quantities, sets and conditions, so that structurally identical ones have one name. */
export class StructuralKeys {
  private readonly numbers = new Map<string, number>();
  private readonly named = new Map<object, string>();

  public ofQuantity(quantity: Quantity): string {
    return this.name(quantity, () => {
      switch (quantity.kind) {
        case 'constant':
          return [quantity.kind, quantity.value];
        case 'argument':
          return [quantity.kind, quantity.index, quantity.offset, quantity.bytes, quantity.signed];
        case 'block-size':
        case 'grid-size':
          return [quantity.kind, quantity.axis];
        case 'dynamic-shared':
          return [quantity.kind];
        case 'allocation-start':
        case 'allocation-bytes':
          return [quantity.kind, this.ofQuantity(quantity.pointer)];
        case 'texture-start':
        case 'texture-bytes':
          return [quantity.kind, this.ofQuantity(quantity.texture)];
        case 'symbol':
          return [quantity.kind, quantity.name];
        case 'sum':
        case 'product':
        case 'min':
        case 'max':
          return [quantity.kind, ...quantity.operands.map((operand) => this.ofQuantity(operand))];
        case 'quotient':
        case 'remainder':
          return [quantity.kind, this.ofQuantity(quantity.dividend), this.ofQuantity(quantity.divisor)];
        case 'and':
        case 'or':
        case 'xor':
        case 'shift-left':
        case 'shift-right':
          return [quantity.kind, this.ofQuantity(quantity.left), this.ofQuantity(quantity.right)];
        case 'choice': {
          const { test, yes, no } = quantity;
          return [quantity.kind, this.ofCondition(test), this.ofQuantity(yes), this.ofQuantity(no)];
        }
      }
    });
  }

  public ofSet(set: AddressSet): string {
    return this.name(set, () => {
      const steps = set.steps.flatMap(({ stride, count }) => [this.ofQuantity(stride), this.ofQuantity(count)]);
      return ['set', set.bytes, this.ofQuantity(set.base), ...steps];
    });
  }

  public ofCondition(condition: ValidatorCondition): string {
    return this.name(condition, () => {
      switch (condition.kind) {
        case 'always':
        case 'never':
          return [condition.kind];
        case 'compare': {
          const { comparison, left, right } = condition;
          return [condition.kind, comparison, this.ofQuantity(left), this.ofQuantity(right)];
        }
        case 'all':
        case 'any':
          return [condition.kind, ...condition.conditions.map((part) => this.ofCondition(part))];
        case 'disjoint':
          return [condition.kind, this.ofSet(condition.left), this.ofSet(condition.right)];
        case 'within':
          return [condition.kind, this.ofSet(condition.inner), this.ofSet(condition.outer)];
      }
    });
  }

  private name(what: object, parts: () => readonly unknown[]): string {
    const known = this.named.get(what);
    if (known !== undefined) return known;
    const key = parts()
      .map((part) => (typeof part === 'string' ? JSON.stringify(part) : String(part)))
      .join(' ');
    let number = this.numbers.get(key);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(key, number);
    }
    const name = `#${number}`;
    this.named.set(what, name);
    return name;
  }
}
