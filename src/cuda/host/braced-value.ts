/** Values of brace-enclosed initialiser lists. */
import { listItems, childIn, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { sourceTextOf } from '../declarations/declarations.ts';
import { resolvedType } from '../declarations/resolved-type.ts';
import { type Frame, type Interpreter, type State, converted, dim3Of, typeText } from './interpreter.ts';
import { type HostTerm, one, zeroTerm } from './term.ts';
import { type HostValue, integerValue, symbolOf, zeroed } from './value.ts';

/** The first fields of CUDA structures that programs initialise without designators. */
const firstFields: Readonly<Record<string, string>> = { cudaGraphNodeParams: 'type' };

/** A list in braces: a record whose fields the type determines, or an array. */
export function bracedValue(list: SyntaxNode, type: string, state: State, frame: Frame, host: Interpreter): HostValue {
  const { declarations } = host;
  const known = resolvedType(typeText(type, frame), declarations.aliases);
  const items = listItems(list);
  const record = declarations.records.get(known.replace(/^.*::/, '').replace(/<[^]*$/, ''));
  const names = /^dim3$/.test(known) ? ['x', 'y', 'z'] : record?.fields.map(({ name }) => name);
  const isStructure = /^(?:cuda|CU)\w+$/.test(known);
  if (isStructure && !items.some(({ type: kind }) => kind === 'initializer_pair')) {
    const rest = symbolOf(host.symbol(known));
    const values = items.map((item): HostValue => item.type === 'initializer_list' ? bracedValue(item, '', state, frame, host) : host.evaluate(item, state, frame)); // oxfmt-ignore
    const isZero = items.every((item) => sourceTextOf(declarations.text, item) === '0');
    const first = firstFields[known];
    const fields = new Map(first === undefined || isZero ? [] : values.slice(0, 1).map((value): [string, HostValue] => [first, value])); // oxfmt-ignore
    return { kind: 'record', fields, rest: isZero ? { ...rest, type: zeroed } : rest };
  }
  if (!names && items.length === 1 && known !== '' && !/\[\]$/.test(known)) {
    const only = host.evaluate(items[0]!, state, frame);
    return converted(only, known, declarations.aliases);
  }
  if (known === 'dim3' && items.length === 1) return dim3Of(host.evaluate(items[0]!, state, frame));
  const fields = new Map<string, HostValue>();
  for (const [index, item] of items.entries()) {
    const designated = item.type === 'initializer_pair' ? childIn(item, 'designator') : undefined;
    const name = designated ? sourceTextOf(declarations.text, designated).replace(/^\./, '') : (names?.[index] ?? String(index)); // oxfmt-ignore
    const inner = item.type === 'initializer_pair' ? (childIn(item, 'value') ?? item) : item;
    const fieldType = record?.fields.find((field) => field.name === name)?.type ?? known.replace(/\[\]$/, '');
    fields.set(name, inner.type === 'initializer_list' ? bracedValue(inner, fieldType, state, frame, host) : host.evaluate(inner, state, frame)); // oxfmt-ignore
  }
  if (known === 'dim3') {
    for (const axis of ['x', 'y', 'z']) if (!fields.has(axis)) fields.set(axis, integerValue(one));
  } else {
    // Fields without initialisers are 0.
    for (const { name, type: own } of record?.fields ?? [])
      if (!fields.has(name) && !declarations.records.has(own)) fields.set(name, integerValue(zeroTerm));
  }
  const label = known === '' ? sourceTextOf(declarations.text, list) : known;
  const rest = symbolOf(host.symbol(label));
  return { kind: 'record', fields, rest: isStructure || known.endsWith('[]') ? { ...rest, type: zeroed } : rest };
}

/**
 * The value of an array together with its length, if its initialiser lists all elements in order.
 * @param size as declared, null if that is not a number; undefined if it is omitted
 */
export function withLength(
  value: HostValue,
  type: string,
  list: SyntaxNode,
  size: HostTerm | null | undefined,
): HostValue {
  const items = listItems(list);
  const isListed = size === undefined || (size?.kind === 'integer' && size.value === BigInt(items.length));
  const isPlain = items.every((item) => item.type !== 'initializer_pair');
  if (value.kind !== 'record' || !/\[\]$/.test(type) || !isListed || !isPlain) return value;
  return { ...value, length: items.length };
}
