/** Writes the body of one function of C that computes quantities of a launch and tests conditions on it. */
import { invariant } from '../../base/assert.ts';
import { maximumBlock, maximumGrid } from '../../device/hardware-limits.ts';
import type { AddressSet, Quantity, ValidatorCondition } from '../model/quantity.ts';
import { operationBounds, every, hull, isBounded, largest, literalText, opposite, orZero, some, typeOf } from './c-quantity.ts';
import type { ValueBounds, CNumber, Flag } from './c-quantity.ts';
import { StructuralKeys } from './structural-keys.ts';

/** Offset of a parameter in the buffer of the arguments. */
export interface ParameterPlace {
  readonly offset: number;
  readonly bytes: number;
}

/** A condition in the C text: two flags. */
interface CTruth {
  /** Whether it is known to hold. */
  readonly holds: Flag;
  /** Whether it is known to hold or not to hold. */
  readonly known: Flag;
}

const addresses: ValueBounds = { low: 0n, high: (1n << 64n) - 1n };

/** The lines of a function. Each quantity, set and condition is computed once, at its first use. */
export class CFunction {
  public readonly lines: string[] = [];
  /** Maximum number of steps of a set. */
  public mostSteps = 0;
  private readonly parameters: readonly ParameterPlace[];
  private readonly keys = new StructuralKeys();
  /** Names written in the blocks around the current line, the innermost last. */
  private readonly scopes: Map<string, unknown>[] = [new Map<string, unknown>()];
  private names = 0;
  private indent = '  ';

  public constructor(parameters: readonly ParameterPlace[]) {
    this.parameters = parameters;
  }

  /** Emits a return of whether the condition is known to hold. A decisive part makes later parts unnecessary. */
  public decide(condition: ValidatorCondition): void {
    const isAll = condition.kind === 'all';
    if (!isAll && condition.kind !== 'any') {
      this.line(`return ${this.test(condition)};`);
      return;
    }
    for (const part of flattened(condition)) {
      const holds = this.test(part);
      if (holds === isAll) continue;
      if (holds === !isAll) {
        this.line(`return ${holds};`);
        return;
      }
      this.line(`if (${isAll ? '!' : ''}${holds}) return ${!isAll};`);
    }
    this.line(`return ${isAll};`);
  }

  /**
   * Emits code that writes the ranges of sets to `ranges` and returns their number, or SIZE_MAX if one is unknown.
   * @param needs condition under which they are correct
   */
  public listRanges(sets: readonly AddressSet[], needs: ValidatorCondition): void {
    const holds = this.test(needs);
    if (holds !== true) this.line(`if (!${holds}) return SIZE_MAX;`);
    if (holds === false) return;
    this.line('size_t count = 0;');
    this.line('bool known = true;');
    for (const set of sets) this.line(`selvage_range_of(&${this.set(set)}, ranges, capacity, &count, &known);`);
    this.line('return known ? count : SIZE_MAX;');
  }

  private line(text: string): void {
    this.lines.push(this.indent + text);
  }

  /** Emits an expression at its first use; later uses of the key reuse its variable. */
  private once<Written>(key: string, write: () => Written): Written {
    for (const scope of this.scopes) if (scope.has(key)) return scope.get(key) as Written;
    const written = write();
    this.scopes.at(-1)!.set(key, written);
    return written;
  }

  private variable(type: string, value: string): string {
    this.names += 1;
    const name = `v${this.names}`;
    this.line(`${type} ${name} = ${value};`);
    return name;
  }

  /** A flag as one word, which may be used several times. */
  private flag(flag: Flag): Flag {
    return typeof flag === 'boolean' || /^\w+$/.test(flag) ? flag : this.variable('bool', flag);
  }

  // Conditions.

  /** Whether the condition is known to hold. */
  private test(condition: ValidatorCondition): Flag {
    return this.once(`test ${this.keys.ofCondition(condition)}`, () => this.testAnew(condition));
  }

  private testAnew(condition: ValidatorCondition): Flag {
    switch (condition.kind) {
      case 'all':
      case 'any':
        return this.testParts(flattened(condition), condition.kind === 'all');
      case 'disjoint':
        return this.compareSets('selvage_apart', condition.left, condition.right).holds;
      case 'within':
        return this.compareSets('selvage_within', condition.inner, condition.outer).holds;
      default:
        return this.truth(condition).holds;
    }
  }

  /** Each part after the first is in a separate C block, since the parts before it may be decisive. */
  private testParts([first, ...rest]: readonly ValidatorCondition[], isAll: boolean): Flag {
    if (!first) return isAll;
    const start = this.test(first);
    if (start === !isAll || rest.length === 0) return start;
    const result = this.variable('bool', String(!isAll));
    this.line('do {');
    this.indent += '  ';
    this.scopes.push(new Map<string, unknown>());
    const leave = (flag: Flag): void => {
      if (flag === !isAll) this.line('break;');
      else if (flag !== isAll) this.line(`if (${isAll ? '!' : ''}${flag}) break;`);
    };
    leave(start);
    for (const part of rest) leave(this.test(part));
    this.line(`${result} = ${isAll};`);
    this.scopes.pop();
    this.indent = this.indent.slice(2);
    this.line('} while (0);');
    return result;
  }

  /** Also computes whether the condition is known not to hold, for which all parts are evaluated. */
  private truth(condition: ValidatorCondition): CTruth {
    return this.once(`truth ${this.keys.ofCondition(condition)}`, () => this.truthAnew(condition));
  }

  private truthAnew(condition: ValidatorCondition): CTruth {
    switch (condition.kind) {
      case 'always':
        return { holds: true, known: true };
      case 'never':
        return { holds: false, known: true };
      case 'compare': {
        const [left, right] = [this.number(condition.left), this.number(condition.right)];
        const known = this.flag(every([left.known, right.known]));
        if (known === false) return { holds: false, known };
        const sign = { '=': '==', '!=': '!=', '<': '<', '<=': '<=' }[condition.comparison];
        const holds = every([known, statically(condition.comparison, left, right) ?? `${left.text} ${sign} ${right.text}`]);
        return { holds: this.flag(holds), known };
      }
      case 'all':
      case 'any': {
        const parts = condition.conditions.map((part) => this.truth(part));
        const fails = parts.map(({ holds, known }) => this.flag(every([known, opposite(holds)])));
        const yes = parts.map(({ holds }) => holds);
        const isAll = condition.kind === 'all';
        const holds = this.flag(isAll ? every(yes) : some(yes));
        const refuted = this.flag(isAll ? some(fails) : every(fails));
        return { holds, known: this.flag(some([holds, refuted])) };
      }
      case 'disjoint':
        return this.compareSets('selvage_apart', condition.left, condition.right);
      case 'within':
        return this.compareSets('selvage_within', condition.inner, condition.outer);
    }
  }

  private compareSets(procedure: 'selvage_apart' | 'selvage_within', a: AddressSet, b: AddressSet): CTruth {
    return this.once(`${procedure} ${this.keys.ofSet(a)} ${this.keys.ofSet(b)}`, () => {
      const [first, second] = [this.set(a), this.set(b)];
      const known = this.variable('bool', 'true');
      const holds = this.variable('bool', `${procedure}(&${first}, &${second}, &${known})`);
      return { holds, known };
    });
  }

  /** @returns a variable */
  private set(set: AddressSet): string {
    return this.once(this.keys.ofSet(set), () => {
      const { base, steps, bytes } = set;
      invariant(Number.isSafeInteger(bytes) && bytes > 0, 'a set of no bytes');
      const start = this.number(base);
      const numbers = steps.map(({ stride, count }) => [this.number(stride), this.number(count)] as const);
      this.names += 1;
      const name = `s${this.names}`;
      this.mostSteps = Math.max(this.mostSteps, steps.length);
      this.line(`struct selvage_set ${name};`);
      this.line(`selvage_begin(&${name}, ${start.text}, ${start.known}, ${bytes});`);
      for (const [stride, count] of numbers)
        this.line(`selvage_add(&${name}, ${stride.text}, ${stride.known}, ${count.text}, ${count.known});`);
      this.line(`selvage_end(&${name});`);
      return name;
    });
  }

  // Quantities.

  private number(quantity: Quantity): CNumber {
    return this.once(this.keys.ofQuantity(quantity), () => this.numberAnew(quantity));
  }

  private numberAnew(quantity: Quantity): CNumber {
    switch (quantity.kind) {
      case 'constant':
        return constant(quantity.value);
      case 'argument':
        return this.argument(quantity);
      case 'block-size':
      case 'grid-size': {
        const isBlock = quantity.kind === 'block-size';
        const high = BigInt((isBlock ? maximumBlock : maximumGrid)[quantity.axis]);
        const text = `launch->${isBlock ? 'block' : 'grid'}[${quantity.axis}]`;
        return this.value({ low: 1n, high }, text, true);
      }
      case 'dynamic-shared':
        return this.value({ low: 0n, high: (1n << 32n) - 1n }, 'launch->dynamic_shared', true);
      case 'allocation-start':
      case 'allocation-bytes': {
        const { found, known } = this.allocation(quantity.pointer);
        if (known === false) return unknown;
        return this.value(addresses, `${found}[${quantity.kind === 'allocation-start' ? 0 : 1}]`, known);
      }
      // No driver function returns the binding of a texture.
      case 'texture-start':
      case 'texture-bytes':
        return unknown;
      case 'symbol': {
        this.names += 1;
        const found = `a${this.names}`;
        this.line(`uint64_t ${found};`);
        const known = this.variable('bool', `selvage_symbol(launch, ${textLiteral(quantity.name)}, &${found})`);
        return this.value(addresses, found, known);
      }
      case 'sum':
      case 'product': {
        const { kind } = quantity;
        const none = constant(kind === 'sum' ? 0n : 1n);
        return this.fold(quantity.operands, none, (a, b) => this.arithmetic(kind, a, b));
      }
      case 'min':
      case 'max': {
        const { kind } = quantity;
        const sign = kind === 'min' ? '<' : '>';
        return this.fold(quantity.operands, unknown, (a, b) =>
          this.value(operationBounds[kind](a, b), `${a.text} ${sign} ${b.text} ? ${a.text} : ${b.text}`, this.both(a, b)),
        );
      }
      case 'quotient':
      case 'remainder':
        return this.division(quantity.kind, this.number(quantity.dividend), this.number(quantity.divisor));
      case 'and':
      case 'or':
      case 'xor':
      case 'shift-left':
      case 'shift-right':
        return this.bits(quantity.kind, this.number(quantity.left), this.number(quantity.right));
      case 'choice': {
        const { holds, known } = this.truth(quantity.test);
        if (known === false) return unknown;
        const [yes, no] = [this.number(quantity.yes), this.number(quantity.no)];
        if (holds === true) return { ...yes, known: this.flag(every([known, yes.known])) };
        if (holds === false) return { ...no, known: this.flag(every([known, no.known])) };
        const chosen = yes.known === true && no.known === true ? true : `(${holds} ? ${yes.known} : ${no.known})`;
        const bounds = hull([yes.low, yes.high, no.low, no.high]);
        return this.value(bounds, `${holds} ? ${yes.text} : ${no.text}`, this.flag(every([known, chosen])));
      }
    }
  }

  /** A variable of the type that the bounds need. */
  private value(bounds: ValueBounds, text: string, known: Flag): CNumber {
    return known === false ? unknown : { text: this.variable(typeOf(bounds), text), ...bounds, known };
  }

  private both(a: CNumber, b: CNumber): Flag {
    return this.flag(every([a.known, b.known]));
  }

  private fold(operands: readonly Quantity[], none: CNumber, combine: (a: CNumber, b: CNumber) => CNumber): CNumber {
    const [first, ...rest] = operands.map((operand) => this.number(operand));
    return first ? rest.reduce(combine, first) : none;
  }

  private argument({ index, offset, bytes, signed }: Quantity & { readonly kind: 'argument' }): CNumber {
    const begin = this.parameters[index]?.offset;
    const end = Math.max(0, ...this.parameters.map((place) => place.offset + place.bytes));
    if (begin === undefined || offset < 0 || begin + offset + bytes > end) return unknown;
    const bits = BigInt(bytes * 8);
    const bounds = signed ? { low: -(1n << (bits - 1n)), high: (1n << (bits - 1n)) - 1n } : { low: 0n, high: (1n << bits) - 1n };
    const type = `${signed ? '' : 'u'}int${bits}_t`;
    return this.value(bounds, `selvage_argument_${type}(launch, ${begin + offset})`, true);
  }

  private allocation(pointer: Quantity): { readonly found: string; readonly known: Flag } {
    return this.once(`allocation ${this.keys.ofQuantity(pointer)}`, () => {
      const address = this.number(pointer);
      if (address.known === false) return { found: '', known: false };
      this.names += 1;
      const found = `a${this.names}`;
      this.line(`uint64_t ${found}[2];`);
      const asked = `selvage_allocation(launch, ${address.known === true ? address.text : `${address.known} ? ${address.text} : -1`}, ${found})`;
      return { found, known: this.variable('bool', asked) };
    });
  }

  private arithmetic(kind: 'sum' | 'product', a: CNumber, b: CNumber): CNumber {
    const bounds = operationBounds[kind](a, b);
    if (!isBounded(bounds)) return this.checked(`selvage_${kind}`, bounds, a, b, every([a.known, b.known]));
    return this.value(bounds, `${widened(a, bounds)} ${kind === 'sum' ? '+' : '*'} ${b.text}`, this.both(a, b));
  }

  /** A checked operation, whose result is unknown if it needs too many bits. */
  private checked(procedure: string, bounds: ValueBounds, a: CNumber, b: CNumber, known: Flag): CNumber {
    if (known === false) return unknown;
    const flag = this.variable('bool', String(known));
    return this.value(orZero(bounds), `${procedure}(${a.text}, ${b.text}, &${flag})`, flag);
  }

  private division(kind: 'quotient' | 'remainder', a: CNumber, b: CNumber): CNumber {
    const known = this.flag(every([a.known, b.known, b.low > 0n || (b.high > 0n && `${b.text} > 0`)]));
    if (known === false) return unknown;
    const isNarrow = typeOf(a) === 'int64_t' && typeOf(b) === 'int64_t';
    const divided =
      a.low >= 0n
        ? `${a.text} ${kind === 'quotient' ? '/' : '%'} ${b.text}`
        : !isNarrow
          ? `selvage_${kind}(${a.text}, ${b.text})`
          : kind === 'quotient'
            ? `${a.text} / ${b.text} - (${a.text} % ${b.text} < 0)`
            : `${a.text} % ${b.text} + (${a.text} % ${b.text} < 0 ? ${b.text} : 0)`;
    return this.guarded(operationBounds[kind](a, b), divided, b.low > 0n, known);
  }

  private bits(kind: 'and' | 'or' | 'xor' | 'shift-left' | 'shift-right', a: CNumber, b: CNumber): CNumber {
    const signs = [a, b].map(({ text, low, high }) => low >= 0n || (high >= 0n && `${text} >= 0`));
    const known = this.flag(every([a.known, b.known, ...signs]));
    if (known === false) return unknown;
    const isSafe = every(signs) === true;
    const bounds = operationBounds.bits(kind, a, b);
    if (kind !== 'shift-left') {
      const operator = { and: '&', or: '|', xor: '^', 'shift-right': '' }[kind];
      const text = operator === '' ? `selvage_shift_right(${a.text}, ${b.text})` : `${a.text} ${operator} ${b.text}`;
      return this.guarded(bounds, text, isSafe, known);
    }
    const flag = this.variable('bool', String(known));
    const shifted = `selvage_shift_left(${a.text}, ${b.text}, &${flag})`;
    return this.value(orZero(bounds), isSafe ? shifted : `${flag} ? ${shifted} : 0`, flag);
  }

  /** A value that is computed only if its operands are known, unless the computation is safe. */
  private guarded(bounds: ValueBounds, text: string, isSafe: boolean, known: Flag): CNumber {
    if (known === true || isSafe) return this.value(bounds, text, known);
    return this.value(orZero(bounds), `${known} ? ${text} : 0`, known);
  }
}

const unknown: CNumber = { text: '0', low: 0n, high: 0n, known: false };

function constant(value: bigint): CNumber {
  if (value > largest || value < -largest) return unknown;
  return { text: literalText(value), low: value, high: value, known: true };
}

/** The first operand, converted to the type of the result of an operation with these bounds. */
function widened(a: CNumber, result: ValueBounds): string {
  return typeOf(result) === 'int64_t' ? a.text : `(selvage_wide)${a.text}`;
}

/** Result of a comparison that the bounds already determine. */
function statically(comparison: '=' | '!=' | '<' | '<=', left: ValueBounds, right: ValueBounds): boolean | undefined {
  switch (comparison) {
    case '<':
      return left.high < right.low ? true : left.low >= right.high ? false : undefined;
    case '<=':
      return left.high <= right.low ? true : left.low > right.high ? false : undefined;
    case '=':
    case '!=':
      return left.high < right.low || right.high < left.low ? comparison === '!=' : undefined;
  }
}

/** The parts of a condition, with nested conditions of its kind flattened. */
function flattened(condition: ValidatorCondition & { readonly kind: 'all' | 'any' }): ValidatorCondition[] {
  return condition.conditions.flatMap((part) =>
    (part.kind === 'all' || part.kind === 'any') && part.kind === condition.kind ? flattened(part) : [part],
  );
}

/** A string of C: letters, digits and underscores as they are, other characters as their UTF-8 bytes. */
export function textLiteral(text: string): string {
  const bytes = [...new TextEncoder().encode(text)];
  const escaped = bytes.map((byte) => {
    const character = String.fromCharCode(byte);
    return /\w/.test(character) ? character : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${escaped.join('')}"`;
}
