/** Values of Python, Starlark and Meson, as far as the text determines them. */
import { posix } from 'node:path';
import { mergedItems } from './branches.ts';
import { hasUnknown, unknownText } from './build-reading.ts';
import { parseScript, type ScriptArgument, type ScriptExpression, type ScriptLanguage } from './script-syntax.ts';

/** A name that no statement sets: an import, or a function of the language. */
export class ScriptReference {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Instead of the value of a call that is left to another part. */
export const notEvaluated = Symbol('not evaluated');

/** Undefined if unknown. Paths are texts. */
export type ScriptValue = string | number | boolean | null | undefined | ScriptReference | ScriptValue[] | Map<string, ScriptValue>;

/** Arguments of a call. */
export interface ScriptCall {
  /** `os.path.join`, or the name of a method. */
  readonly name: string;
  /** The object of a method; undefined for a function. */
  readonly of: ScriptValue;
  readonly given: readonly ScriptValue[];
  readonly named: ReadonlyMap<string, ScriptValue>;
  readonly line: number;
}

export interface ScriptContext {
  readonly language: ScriptLanguage;
  readonly variables: Map<string, ScriptValue>;
  /** The value of a call that this file does not evaluate. */
  readonly call: (call: ScriptCall) => ScriptValue;
  /** The value of an imported name, such as `torch.version.hip`; a reference if it is unknown. */
  readonly reference: (name: string) => ScriptValue;
}

/** Evaluates an expression. */
export function evaluateScript(expression: ScriptExpression, context: ScriptContext): ScriptValue {
  const value = (one: ScriptExpression): ScriptValue => evaluateScript(one, context);
  switch (expression.kind) {
    case 'text':
      return expression.isFormatted ? formatted(expression.text, context) : expression.text;
    case 'number':
      return expression.value;
    case 'name': {
      if (/^(?:True|true)$/.test(expression.name)) return true;
      if (/^(?:False|false)$/.test(expression.name)) return false;
      if (expression.name === 'None') return null;
      return context.variables.has(expression.name) ? context.variables.get(expression.name) : context.reference(expression.name);
    }
    case 'list':
      return expression.items.map(value);
    case 'dictionary':
      return new Map(expression.entries.map(([key, item]) => [textOf(value(key)), value(item)]));
    case 'member': {
      const object = value(expression.of);
      if (object instanceof ScriptReference) return context.reference(`${object.name}.${expression.name}`);
      return typeof object === 'string' && expression.name === 'parent' ? posix.dirname(object) : undefined;
    }
    case 'item': {
      const object = value(expression.of);
      const key = value(expression.key);
      if (object instanceof Map) return typeof key === 'string' ? object.get(key) : undefined;
      return Array.isArray(object) && typeof key === 'number' ? object.at(key) : undefined;
    }
    case 'not': {
      const truth = scriptTruth(value(expression.operand));
      return truth === undefined ? undefined : !truth;
    }
    case 'choice': {
      const truth = scriptTruth(value(expression.condition));
      const [yes, no] = [value(expression.yes), value(expression.no)];
      return truth === undefined ? mergedValue(yes, no) : truth ? yes : no;
    }
    case 'each':
      return comprehension(expression, context);
    case 'binary':
      return binaryValue(expression.operator, value(expression.left), () => value(expression.right));
    case 'call':
      return callValue(expression.called, expression.given, expression.line, context);
    case 'opaque':
      return undefined;
  }
}

function formatted(text: string, context: ScriptContext): string {
  return text.replaceAll(/\{\{|\}\}|\{([^{}]*)\}/g, (whole, inner: string | undefined) => {
    if (inner === undefined) return whole[0]!;
    return textOf(evaluateScript(parseScript(inner.replace(/[:!][^:!]*$/, ''), context.language), context));
  });
}

/** A value as text; unknown text if it has no value that reading determines. */
export function textOf(value: ScriptValue): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : unknownText;
}

/** The texts of a list, or of one text; unknown items are unknown text. */
export function textsOf(value: ScriptValue | readonly ScriptValue[]): string[] {
  if (value === null || value === undefined) return value === null ? [] : [unknownText];
  return isList(value) ? value.flatMap(textsOf) : [textOf(value)];
}

function isList(value: ScriptValue | readonly ScriptValue[]): value is readonly ScriptValue[] {
  return Array.isArray(value);
}

/** Truth of a value; undefined if unknown. */
export function scriptTruth(value: ScriptValue): boolean | undefined {
  if (value === undefined || value instanceof ScriptReference) return undefined;
  if (typeof value === 'string') return value === '' ? false : value === unknownText ? undefined : true;
  if (Array.isArray(value)) return value.length > 0;
  return value instanceof Map ? value.size > 0 : Boolean(value);
}

function comprehension(
  { element, variable, over, condition }: Extract<ScriptExpression, { kind: 'each' }>,
  context: ScriptContext,
): ScriptValue {
  const items = evaluateScript(over, context);
  if (!Array.isArray(items)) return undefined;
  const variables = new Map(context.variables);
  return items.flatMap((item): ScriptValue[] => {
    variables.set(variable, item);
    const inner = { ...context, variables };
    const truth = condition === undefined ? true : scriptTruth(evaluateScript(condition, inner));
    return truth === false ? [] : [truth === undefined ? undefined : evaluateScript(element, inner)];
  });
}

function binaryValue(operator: string, left: ScriptValue, rightValue: () => ScriptValue): ScriptValue {
  if (operator === 'and' || operator === 'or') {
    const truth = scriptTruth(left);
    if (truth === (operator === 'or')) return left;
    const right = rightValue();
    if (truth !== undefined) return right;
    return scriptTruth(right) === (operator === 'or') ? right : undefined;
  }
  const right = rightValue();
  switch (operator) {
    case '+':
      if (Array.isArray(left) || Array.isArray(right)) return [...listOrUnknown(left), ...listOrUnknown(right)];
      if (typeof left === 'number' && typeof right === 'number') return left + right;
      return typeof left === 'string' || typeof right === 'string' ? textOf(left) + textOf(right) : undefined;
    case '/':
      if (typeof left === 'number') return undefined;
      return textOf(right).startsWith('/') ? textOf(right) : posix.join(textOf(left), textOf(right));
    case '%':
      return undefined;
    case 'is':
    case '==':
    case '!=': {
      const isSame = sameValue(left, right);
      return isSame === undefined ? undefined : isSame === (operator !== '!=');
    }
    case 'in':
      if (right instanceof Map && typeof left === 'string') return right.has(left);
      if (typeof right === 'string' && typeof left === 'string') return hasUnknown(left, right) ? undefined : right.includes(left);
      if (!Array.isArray(right)) return undefined;
      return right.some((item) => sameValue(left, item))
        ? true
        : right.every((item) => sameValue(left, item) === false)
          ? false
          : undefined;
    default:
      if (typeof left !== 'number' || typeof right !== 'number') return undefined;
      if (operator === '<') return left < right;
      if (operator === '>') return left > right;
      if (operator === '<=') return left <= right;
      return operator === '>=' ? left >= right : undefined;
  }
}

function listOrUnknown(value: ScriptValue): ScriptValue[] {
  return Array.isArray(value) ? value : [typeof value === 'string' ? value : undefined];
}

function sameValue(left: ScriptValue, right: ScriptValue): boolean | undefined {
  const isPlain = (value: ScriptValue): boolean =>
    value === null || (typeof value === 'string' && !hasUnknown(value)) || typeof value === 'number' || typeof value === 'boolean';
  if (isPlain(left) && isPlain(right)) return left === right;
  // A list or a text with known parts is not None.
  if (left === null || right === null) {
    const other = left === null ? right : left;
    return Array.isArray(other) || other instanceof Map ? false : undefined;
  }
  return undefined;
}

function callValue(called: ScriptExpression, written: readonly ScriptArgument[], line: number, context: ScriptContext): ScriptValue {
  const given = written.filter(({ name }) => name === undefined).map(({ value }) => evaluateScript(value, context));
  const named = new Map(
    written.flatMap(({ name, value }) => (name === undefined ? [] : [[name, evaluateScript(value, context)] as const])),
  );
  if (called.kind === 'member') {
    const of = evaluateScript(called.of, context);
    if (of instanceof ScriptReference) return context.call({ name: `${of.name}.${called.name}`, of: undefined, given, named, line });
    const own = methodValue(called.name, of, given);
    return own === notEvaluated ? context.call({ name: called.name, of, given, named, line }) : own;
  }
  const target = evaluateScript(called, context);
  if (target instanceof ScriptReference) return context.call({ name: target.name, of: undefined, given, named, line });
  return called.kind === 'name' ? context.call({ name: called.name, of: undefined, given, named, line }) : undefined;
}

/** Methods of lists, dictionaries and texts. */
function methodValue(name: string, of: ScriptValue, given: readonly ScriptValue[]): ScriptValue | typeof notEvaluated {
  const [first, second] = given;
  if (Array.isArray(of)) {
    if (name === 'append') of.push(first);
    else if (name === 'extend') of.push(...listOrUnknown(first));
    else if (name === 'insert') of.splice(typeof first === 'number' ? first : of.length, 0, second);
    else if (name === 'copy') return [...of];
    else return notEvaluated;
    return null;
  }
  if (of instanceof Map) {
    if (name === 'get') return typeof first === 'string' && of.has(first) ? of.get(first) : (second ?? null);
    if (name === 'setdefault' && typeof first === 'string') {
      if (!of.has(first)) of.set(first, second ?? null);
      return of.get(first);
    }
    if (name === 'update' && first instanceof Map) first.forEach((value, key) => of.set(key, value));
    return name === 'update' ? null : notEvaluated;
  }
  if (typeof of !== 'string') return notEvaluated;
  const text = textOf(first);
  if (hasUnknown(of) && /^(?:startswith|endswith|split)$/.test(name)) return undefined;
  if (name === 'lower') return of.toLowerCase();
  if (name === 'upper') return of.toUpperCase();
  if (name === 'strip') return of.trim();
  if (name === 'startswith') return of.startsWith(text);
  if (name === 'endswith') return of.endsWith(text);
  if (name === 'replace') return of.replaceAll(text, textOf(second));
  if (name === 'split') return given.length === 0 ? of.split(/\s+/).filter((word) => word !== '') : of.split(text);
  if (/^(?:resolve|absolute|as_posix|expanduser|absolute_path|encode|format)$/.test(name)) return name === 'format' ? undefined : of;
  return notEvaluated;
}

/** A copy that shares nothing with the value. */
export function copiedValue(value: ScriptValue): ScriptValue {
  if (Array.isArray(value)) return value.map(copiedValue);
  return value instanceof Map ? new Map([...value].map(([key, item]) => [key, copiedValue(item)])) : value;
}

/** The value after one of two paths: common parts stay, other parts are unknown. */
export function mergedValue(one: ScriptValue, other: ScriptValue): ScriptValue {
  if (one === other) return one;
  if (Array.isArray(one) && Array.isArray(other)) {
    return mergedItems(one, other, undefined, isSameTree);
  }
  if (one instanceof Map && other instanceof Map) {
    const keys = new Set([...one.keys(), ...other.keys()]);
    return new Map([...keys].map((key) => [key, mergedValue(one.get(key), other.get(key))]));
  }
  return undefined;
}

function isSameTree(one: ScriptValue, other: ScriptValue): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, at) => isSameTree(item, other[at]));
  return one instanceof ScriptReference && other instanceof ScriptReference && one.name === other.name;
}
