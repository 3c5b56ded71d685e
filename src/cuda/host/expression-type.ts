/** Types of expressions, and conversions of constants in C++. */
import { integerType, isFloatType } from '../syntax/basic-type.ts';
import { childIn, stripParentheses, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { sourceTextOf } from '../declarations/declarations.ts';
import { resolvedType } from '../declarations/resolved-type.ts';
import { type Frame, type Interpreter, type State, typeText } from './interpreter.ts';
import { type HostTerm, integer } from './term.ts';
import { type HostValue, integerValue } from './value.ts';

interface IntegerKind {
  readonly bytes: number;
  readonly signed: boolean;
}

/** The type of a number, promoted; `real` for floating point. */
export type NumberKind = IntegerKind | 'real';

/** The types of two operands; undefined: unknown. */
export type Kinds = readonly [NumberKind | undefined, NumberKind | undefined];

/** The name of the type of a kind. */
export function nameOfKind(kind: NumberKind): string {
  if (kind === 'real') return 'auto';
  return `${kind.signed ? '' : 'u'}int${8 * kind.bytes}_t`;
}

export const intKind: IntegerKind = { bytes: 4, signed: true };

function promoted(kind: IntegerKind): IntegerKind {
  return kind.bytes < 4 ? intKind : kind;
}

function kindOfType(type: string, host: Interpreter): NumberKind | undefined {
  const known = resolvedType(type.replace(/&+\s*$/, ''), host.declarations.aliases);
  if (isFloatType(known)) return 'real';
  const kind = integerType(known);
  return kind && promoted(kind);
}

/** The common type of two operands; undefined if one type is unknown. */
export function commonKind(a: NumberKind | undefined, b: NumberKind | undefined): NumberKind | undefined {
  if (!a || !b) return undefined;
  if (a === 'real' || b === 'real') return 'real';
  if (a.bytes !== b.bytes) return a.bytes > b.bytes ? a : b;
  return a.signed ? b : a;
}

/** The type of an expression that is a number. */
export function numberKindOf(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): NumberKind | undefined {
  const { text } = host.declarations;
  const inner = stripParentheses(node);
  const of = (field: string): NumberKind | undefined => {
    const part = childIn(inner, field);
    return part && numberKindOf(part, state, frame, host);
  };
  switch (inner.type) {
    case 'number_literal':
      return kindOfLiteral(text.slice(inner.start, inner.end));
    case 'true':
    case 'false':
    case 'char_literal':
      return intKind;
    case 'sizeof_expression':
    case 'alignof_expression':
      return { bytes: 8, signed: false };
    case 'unary_expression':
      return childIn(inner, 'operator')?.type === '!' ? intKind : of('argument');
    case 'update_expression':
      return of('argument');
    case 'comma_expression':
      return of('right');
    case 'assignment_expression':
      return of('left');
    case 'conditional_expression':
      return commonKind(of('consequence'), of('alternative'));
    case 'binary_expression': {
      const operator = childIn(inner, 'operator')?.type ?? '';
      if (/^(?:[<>]=?|[!=]=|&&|\|\|)$/.test(operator)) return intKind;
      return /^(?:<<|>>)$/.test(operator) ? of('left') : commonKind(of('left'), of('right'));
    }
    case 'identifier':
    case 'qualified_identifier': {
      const type = typeOfExpression(inner, state, frame, host);
      if (type !== undefined) return kindOfType(type, host);
      const bound = frame.template.get(sourceTextOf(text, inner));
      if (bound !== undefined && /^-?\d+$/.test(bound)) return kindOfTemplate(sourceTextOf(text, inner), frame, host);
      // An enumeration without a written type is computed as `int`.
      return undefined;
    }
    case 'call_expression': {
      const callee = childIn(inner, 'function');
      const name = callee ? sourceTextOf(text, callee) : '';
      const isType = callee?.type === 'primitive_type' || integerType(name) !== undefined || isFloatType(name);
      if (isType) return kindOfType(name, host);
      const cast = typeOfExpression(inner, state, frame, host);
      if (cast !== undefined) return kindOfType(cast, host);
      const [own, ...others] = host.declarations.functions.get(name.replace(/<[^]*$/, '').replace(/^.*(?:::|->|\.)/s, '')) ?? []; // oxfmt-ignore
      return own && others.length === 0 && own.template.length === 0 ? kindOfType(typeText(own.returns, frame), host) : undefined; // oxfmt-ignore
    }
    default: {
      const type = typeOfExpression(inner, state, frame, host);
      return type === undefined ? undefined : kindOfType(type, host);
    }
  }
}

/** The type of a parameter of the template of the function that is executed. */
function kindOfTemplate(name: string, frame: Frame, host: Interpreter): NumberKind | undefined {
  const { text } = host.declarations;
  const header = frame.function
    ? text.slice(Math.max(0, frame.function.node.start - 400), frame.function.node.start)
    : '';
  const type = new RegExp(`[<,]\\s*((?:(?:unsigned|signed|long|short|const)\\s+)*[\\w:]+)\\s+${name}\\s*[,=>]`).exec(header)?.[1]; // oxfmt-ignore
  return type === undefined ? undefined : kindOfType(type, host);
}

function kindOfLiteral(written: string): NumberKind | undefined {
  const [, digits, suffix = ''] =
    /^(0[xX][\da-fA-F']+|0[bB][01']+|[\d']+)([uUlLzZ]*)$/.exec(written.replace(/^[-+]\s*/, '')) ?? [];
  if (digits === undefined) return 'real';
  const plain = digits.replaceAll("'", '');
  const value = BigInt(/^0[0-7]+$/.test(plain) ? `0o${plain.slice(1)}` : plain);
  const isUnsigned = /u/i.test(suffix);
  const isDecimal = !/^0[xXbB0-7]/.test(plain);
  const kinds: readonly IntegerKind[] = (/l|z/i.test(suffix) ? [8] : [4, 8]).flatMap((bytes) => [
    ...(isUnsigned ? [] : [{ bytes, signed: true }]),
    ...(isUnsigned || !isDecimal ? [{ bytes, signed: false }] : []),
  ]);
  return kinds.find((kind) => canRepresent(kind, value));
}

function canRepresent({ bytes, signed }: IntegerKind, value: bigint): boolean {
  return (signed ? BigInt.asIntN(8 * bytes, value) : BigInt.asUintN(8 * bytes, value)) === value;
}

/** Whether a number fits in every type in which arithmetic is done. */
function isHeldByAll(value: bigint): boolean {
  return value >= 0n && value < 1n << 31n;
}

/** Two operands converted to their common type. Null if that type is unknown and the values differ between types. */
export function inCommonKind(a: HostTerm, b: HostTerm, kinds: Kinds): [HostTerm, HostTerm] | null {
  const kind = commonKind(...kinds);
  if (kind === 'real') return [a, b];
  const isPlain = [a, b].every((term) => term.kind !== 'integer' || isHeldByAll(term.value));
  if (isPlain) return [a, b];
  if (!kind) return null;
  const held = (term: HostTerm): HostTerm =>
    term.kind === 'integer' && !kind.signed ? integer(BigInt.asUintN(8 * kind.bytes, term.value)) : term;
  return [held(a), held(b)];
}

/**
 * The constant result of a computation in a type; null if the type cannot represent it, or if the type is unknown and
 * the value depends on it.
 * @param isShifted a signed number that was shifted to the left: its upper bits are lost
 */
export function asComputed(value: HostValue, kind: NumberKind | undefined, isShifted = false): HostValue | null {
  if (value.kind !== 'number' || value.term.kind !== 'integer' || kind === 'real') return value;
  const { value: number } = value.term;
  if (isHeldByAll(number)) return value;
  if (!kind) return null;
  if (!kind.signed) return integerValue(integer(BigInt.asUintN(8 * kind.bytes, number)));
  if (isShifted) return integerValue(integer(BigInt.asIntN(8 * kind.bytes, number)));
  return canRepresent(kind, number) ? value : null;
}

/** The declared type of the object that an expression names; undefined if it has no declaration. */
export function typeOfExpression(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): string | undefined {
  const { declarations } = host;
  const inner = stripParentheses(node);
  switch (inner.type) {
    case 'pack_element': {
      const cell = host.lookUp(inner.field ?? '', frame, state);
      return cell === undefined ? undefined : host.typeOfCell(cell);
    }
    case 'identifier':
    case 'qualified_identifier': {
      const cell = host.lookUp(sourceTextOf(declarations.text, inner).replace(/\s/g, ''), frame, state);
      if (cell !== undefined) return typeText(host.typeOfCell(cell), frame);
      const record = frame.function?.record === undefined ? undefined : declarations.records.get(frame.function.record);
      return record?.fields.find(({ name }) => name === sourceTextOf(declarations.text, inner))?.type;
    }
    case 'cast_expression': {
      const type = childIn(inner, 'type');
      return type && typeText(sourceTextOf(declarations.text, type).replace(/\s+(?=\*)/g, ''), frame);
    }
    case 'compound_literal_expression': {
      const type = childIn(inner, 'type');
      return type && typeText(sourceTextOf(declarations.text, type), frame);
    }
    case 'call_expression': {
      const callee = childIn(inner, 'function');
      const target = callee && /_cast\s*<([^]*)>\s*$/.exec(sourceTextOf(declarations.text, callee))?.[1];
      return target === undefined ? undefined : typeText(target.trim(), frame);
    }
    case 'field_expression': {
      const object = childIn(inner, 'argument');
      const owner = object && typeOfExpression(object, state, frame, host);
      if (owner === undefined) return undefined;
      const known = resolvedType(owner, declarations.aliases).replace(/[*&\s]+$/, '');
      if (/^(?:dim3|uint3|int3|int2|uint2)$/.test(known)) return 'int';
      return declarations.records.get(known.replace(/^.*::/, ''))?.fields.find(({ name }) => name === memberName(inner, declarations.text))?.type; // oxfmt-ignore
    }
    case 'subscript_expression':
    case 'pointer_expression': {
      const object = childIn(inner, 'argument');
      const outer = object && typeOfExpression(object, state, frame, host);
      if (outer === undefined) return undefined;
      if (childIn(inner, 'operator')?.type === '&') return `${outer}*`;
      return /(?:\*|\[\])\s*(?:const)?\s*$/.test(outer)
        ? outer.replace(/(?:\*|\[\])\s*(?:const)?\s*$/, '').trim()
        : undefined;
    }
    case 'binary_expression': {
      const [left, right] = [childIn(inner, 'left'), childIn(inner, 'right')];
      const first = left && typeOfExpression(left, state, frame, host);
      return first !== undefined && /\*/.test(first) ? first : right && typeOfExpression(right, state, frame, host);
    }
  }
  return undefined;
}

/** The name after `.` or `->`. */
export function memberName(node: SyntaxNode, text: string): string {
  const field = childIn(node, 'field');
  return field ? sourceTextOf(text, field) : '';
}
