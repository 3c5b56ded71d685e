/** Values of variables of a host program. */
import { integerType } from '../syntax/basic-type.ts';
import {
  type Fact,
  type HostSymbol,
  type HostTerm,
  integer,
  one,
  symbolTerm,
  termConstant,
  zeroTerm,
} from '../../assumptions/expression.ts';
import { isLarge, isSame } from '../../assumptions/parts.ts';
import { printCondition, printExpression } from '../../assumptions/print-assumption.ts';
import { arithmetic, choice, compared, negatedFact, truth } from '../../assumptions/simplify.ts';

/** Memory that pointers point to: an allocation, or the unknown target of a pointer. */
export interface HostMemory {
  readonly id: string;
  readonly label: string;
  /** Present if the program allocates the memory, so that it is disjoint from other allocations. */
  readonly isAllocation?: true;
  /** Present if only the device and copies access the memory. */
  readonly isOfDevice?: true;
  /** Number of allocated bytes, if known. */
  readonly bytes?: HostTerm;
  /** Present for a string literal. */
  readonly text?: string;
}

/** Contents of device memory, which variables cannot have as a value. */
export interface MemoryContents {
  readonly kind: 'contents';
  /** Bytes of an element. */
  readonly element: number;
  /** Its elements as unsigned numbers, all of them; undefined if each byte is {@link fill}. */
  readonly values?: readonly bigint[];
  readonly fill: number;
}

/** A function of the program, or one that is looked up by name in a module (driver API). */
export interface HostFunction {
  readonly kind: 'function';
  readonly name: string;
  /** Other functions that it may be instead. */
  readonly others?: readonly HostFunction[];
}

export type HostValue =
  | { readonly kind: 'number'; readonly term: HostTerm }
  /** A floating-point number, represented as an exact quotient. */
  | { readonly kind: 'quotient'; readonly numerator: HostTerm; readonly denominator: HostTerm }
  | { readonly kind: 'condition'; readonly fact: Fact }
  /** @property offset in bytes; null if unknown */
  | { readonly kind: 'pointer'; readonly memory: HostMemory; readonly offset: HostTerm | null }
  /** A texture object, and the memory that it is bound to. */
  | { readonly kind: 'texture'; readonly memory: HostMemory }
  /**
   * @property rest represents the fields that are not listed
   * @property length elements of an array, if it is known to have no others
   */
  | {
      readonly kind: 'record';
      readonly fields: ReadonlyMap<string, HostValue>;
      readonly rest: HostSymbol;
      readonly length?: number;
    }
  | HostFunction
  | { readonly kind: 'text'; readonly text: string }
  | MemoryContents
  /** One of two pointers. */
  | { readonly kind: 'either'; readonly condition: Fact; readonly then: HostValue; readonly otherwise: HostValue }
  /** An unknown value. */
  | { readonly kind: 'symbol'; readonly symbol: HostSymbol };

/** The null pointer. */
export const nullPointer: HostValue = { kind: 'pointer', memory: { id: 'null', label: 'null' }, offset: zeroTerm };

/** The pointer that a literal is; other values as they are. */
export function pointerOfText(value: HostValue): HostValue {
  if (value.kind !== 'text') return value;
  return { kind: 'pointer', memory: { id: `text ${JSON.stringify(value.text)}`, label: 'a text', text: value.text }, offset: zeroTerm };
}

/** An integer as a value. */
export function integerValue(term: HostTerm): HostValue {
  return { kind: 'number', term };
}

/** A value as an integer; null if it is not one. */
export function termOf(value: HostValue): HostTerm | null {
  switch (value.kind) {
    case 'number':
      return value.term;
    case 'symbol':
      return symbolTerm(value.symbol);
    case 'condition':
      return choice(value.fact, one, zeroTerm);
    case 'quotient':
      return arithmetic('/', value.numerator, value.denominator);
    default:
      return null;
  }
}

/** A value as a constant integer; undefined if it is not one. */
export function constantIn(value: HostValue): bigint | undefined {
  const term = termOf(value);
  return term ? termConstant(term) : undefined;
}

/** The memory that a value points to: several for the pointers of a record, none for numbers. */
export function memoriesIn(value: HostValue): readonly HostMemory[] {
  if (value.kind === 'pointer') return [value.memory];
  if (value.kind === 'symbol') return value.symbol.type === undefined ? [value.symbol] : [];
  return value.kind === 'record' ? [...value.fields.values()].flatMap(memoriesIn) : [];
}

/** A value as a floating-point number; null if it is not one. */
export function quotientOf(value: HostValue): { readonly numerator: HostTerm; readonly denominator: HostTerm } | null {
  if (value.kind === 'quotient') return value;
  const term = termOf(value);
  return term && { numerator: term, denominator: one };
}

/** Whether a value counts as true. */
export function factOf(value: HostValue): Fact {
  switch (value.kind) {
    case 'condition':
      return value.fact;
    case 'number':
      return compared('!=', value.term, zeroTerm);
    case 'symbol':
      return { kind: 'unknown', id: value.symbol.id };
    case 'quotient':
      return compared('!=', value.numerator, zeroTerm);
    case 'pointer':
      // An allocation may have failed; programs that continue regardless are not considered.
      return { kind: 'unknown', id: `${value.memory.id}!=0` };
    case 'texture':
    case 'either':
      return { kind: 'unknown', id: valueKey(value) };
    case 'record':
    case 'function':
    case 'text':
    case 'contents':
      return truth(true);
  }
}

/** A floating-point literal as a quotient; null unless it equals a quotient of small numbers exactly. */
export function quotientOfNumber(value: number): HostValue | null {
  // A negative zero is not a quotient.
  if (!Number.isFinite(value) || Object.is(value, -0)) return null;
  let denominator = 1;
  while (!Number.isInteger(value * denominator) && denominator < 2 ** 20) denominator *= 2;
  const numerator = value * denominator;
  if (!Number.isSafeInteger(numerator)) return null;
  return { kind: 'quotient', numerator: integer(numerator), denominator: integer(denominator) };
}

/** A key that is equal for equal values. */
export function valueKey(value: HostValue): string {
  switch (value.kind) {
    case 'number':
      return printExpression(value.term);
    case 'quotient':
      return `${printExpression(value.numerator)}/.${printExpression(value.denominator)}`;
    case 'condition':
      return `b${printCondition(value.fact)}`;
    case 'pointer':
      return `*${value.memory.id}+${value.offset ? printExpression(value.offset) : '?'}`;
    case 'texture':
      return `texture ${value.memory.id}`;
    case 'either':
      return `(${printCondition(value.condition)}?${valueKey(value.then)}:${valueKey(value.otherwise)})`;
    case 'record':
      return `{${[...value.fields].map(([name, field]) => `${name}:${valueKey(field)}`).join()}|${value.rest.id}}`;
    case 'function':
      return `f${[value, ...(value.others ?? [])].map((one) => one.name).join('|')}`;
    case 'text':
      return JSON.stringify(value.text);
    case 'contents':
      return `c${value.element}:${value.values?.join() ?? `*${value.fill}`}`;
    case 'symbol':
      return `‹${value.symbol.id}›`;
  }
}

/** Whether two values are equal, as a comparison of their keys would determine. */
function isSameValue(a: HostValue, b: HostValue): boolean {
  if (a === b) return true;
  switch (a.kind) {
    case 'number':
      return b.kind === 'number' && isSame(a.term, b.term);
    case 'quotient':
      return b.kind === 'quotient' && isSame(a.numerator, b.numerator) && isSame(a.denominator, b.denominator);
    case 'condition':
      return b.kind === 'condition' && isSame(a.fact, b.fact);
    case 'pointer':
      return (
        b.kind === 'pointer' && a.memory.id === b.memory.id && (a.offset && b.offset ? isSame(a.offset, b.offset) : a.offset === b.offset)
      );
    case 'record': {
      if (b.kind !== 'record' || a.rest.id !== b.rest.id || a.length !== b.length || a.fields.size !== b.fields.size) return false;
      const others = [...b.fields];
      return [...a.fields].every(([name, field], at) => others[at]![0] === name && isSameValue(field, others[at]![1]));
    }
    case 'symbol':
      return b.kind === 'symbol' && a.symbol.id === b.symbol.id;
    default:
      return a.kind === b.kind && valueKey(a) === valueKey(b);
  }
}

/** A choice between two values; null if its kind is unknown. */
export function eitherValue(condition: Fact, then: HostValue, otherwise: HostValue): HostValue | null {
  if (isSameValue(then, otherwise)) return then;
  const isOneArray = then.kind === 'record' && otherwise.kind === 'record' && then.length === otherwise.length;
  if (isOneArray && then.rest.id === otherwise.rest.id) {
    const fields = new Map<string, HostValue>();
    for (const name of new Set([...then.fields.keys(), ...otherwise.fields.keys()])) {
      const field = eitherValue(condition, hostField(then, name), hostField(otherwise, name));
      if (!field) return null;
      fields.set(name, field);
    }
    return { ...then, fields };
  }
  if (then.kind === 'condition' && otherwise.kind === 'condition') {
    const fact: Fact = {
      kind: 'or',
      left: { kind: 'and', left: condition, right: then.fact },
      right: { kind: 'and', left: negatedFact(condition), right: otherwise.fact },
    };
    return isLarge(fact) ? null : { kind: 'condition', fact };
  }
  const isNumber = (value: HostValue): boolean => /^(?:number|symbol|condition)$/.test(value.kind);
  if (!isNumber(then) || !isNumber(otherwise)) return null;
  const [a, b] = [termOf(then), termOf(otherwise)];
  const term = a && b && choice(condition, a, b);
  return term && integerValue(term);
}

/** A function that a value may be, and under which conditions it is. */
export interface ChosenFunction {
  readonly name: string;
  readonly facts: readonly Fact[];
}

/** The functions that a value may be, except for null pointers; null if it may be something else. */
export function functionsOf(value: HostValue): readonly ChosenFunction[] | null {
  if (value.kind === 'pointer' && value.memory.id === 'null') return [];
  if (value.kind === 'function') return [value, ...(value.others ?? [])].map(({ name }) => ({ name, facts: [] }));
  if (value.kind !== 'either') return null;
  const [then, otherwise] = [functionsOf(value.then), functionsOf(value.otherwise)];
  if (!then || !otherwise) return null;
  const under = (all: readonly ChosenFunction[], fact: Fact): ChosenFunction[] =>
    all.map(({ name, facts }) => ({ name, facts: [fact, ...facts] }));
  return [...under(then, value.condition), ...under(otherwise, negatedFact(value.condition))];
}

/** A field of a record, or of a value that may be a record. */
export function hostField(value: HostValue, name: string): HostValue {
  if (value.kind === 'record') {
    const own = value.fields.get(name);
    if (own) return own;
    // An unknown element may be one of the listed elements, or another.
    if (name.startsWith('[')) return { kind: 'symbol', symbol: { id: `${valueKey(value)}${name}`, label: `${value.rest.label}[]` } };
    return symbolField(value.rest, name);
  }
  return symbolField(symbolOf(value), name);
}

/** The symbol for a part of a symbolic object. */
function symbolField(symbol: HostSymbol, name: string): HostValue {
  return { kind: 'symbol', symbol: { id: `${symbol.id}.${name}`, label: `${symbol.label}.${name}` } };
}

/** A symbol for a value, the same for equal values. */
export function symbolOf(value: HostValue): HostSymbol {
  if (value.kind === 'symbol') return value.symbol;
  if (value.kind === 'pointer') return { id: value.memory.id, label: value.memory.label };
  return { id: valueKey(value), label: 'a value' };
}

/** The three extents of a `dim3`, or of a number that becomes one; null if it may be either. */
export function extentsOf(value: HostValue): readonly [HostTerm, HostTerm, HostTerm] | null {
  const isRecord = value.kind === 'record' || (value.kind === 'symbol' && value.symbol.type === 'dim3');
  if (isRecord) {
    const [x, y, z] = ['x', 'y', 'z'].map((axis) => termOf(hostField(value, axis)));
    return x && y && z ? [x, y, z] : null;
  }
  if (value.kind === 'symbol' && !integerType(value.symbol.type ?? '')) return null;
  const term = termOf(value);
  return term && [term, one, one];
}
