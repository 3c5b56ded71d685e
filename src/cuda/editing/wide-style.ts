/** How the source around an index writes integers of 64 bits and casts. */
import { integerType } from '../syntax/basic-type.ts';
import type { FunctionDefinition } from '../syntax/outline.ts';
import type { CudaSource } from '../syntax/syntax.ts';
import { type SyntaxNode, childIn, nodesWhere } from '../syntax/syntax-tree.ts';

/** The types of 64 bits and the form of casts of a source. */
export interface WideStyle {
  readonly signed: string;
  readonly unsigned: string;
  /** The one of them that the source uses most. */
  readonly usual: string;
  readonly cast: 'function' | 'parentheses' | 'static_cast';
}

const signed = ['int64_t', 'std::int64_t', 'long long', 'ptrdiff_t', 'ssize_t'];
const unsigned = ['size_t', 'std::size_t', 'uint64_t', 'std::uint64_t', 'unsigned long long'];
const ofTypes = /(?<![\w:])(?:std::)?(?:u?int64_t|s?size_t|ptrdiff_t)\b|\b(?:unsigned )?long long\b/g;

/** The style of a function; what it does not show is as in its file. */
export function wideStyle(source: CudaSource, definition: Pick<FunctionDefinition, 'start' | 'end'>): WideStyle {
  const own = source.text.slice(definition.start, definition.end);
  const most = (names: readonly string[]): string | undefined => mostFrequent(own, names) ?? mostFrequent(source.text, names);
  const knows64 = /\bint64_t\b|<c?stdint(?:\.h)?>/.test(source.text);
  return {
    signed: most(signed) ?? (knows64 ? 'int64_t' : 'long long'),
    unsigned: most(unsigned) ?? 'size_t',
    usual: most([...unsigned, ...signed]) ?? 'size_t',
    cast: castIn(source, definition),
  };
}

function mostFrequent(text: string, names: readonly string[]): string | undefined {
  const found = text.match(ofTypes) ?? [];
  const counts = names.map((name) => found.filter((one) => one === name).length);
  const most = Math.max(...counts);
  return most === 0 ? undefined : names[counts.indexOf(most)];
}

/** The most frequent form of casts in a function, or else in its file; without casts as in `size_t(i)`. */
function castIn(source: CudaSource, definition: Pick<FunctionDefinition, 'start' | 'end'>): WideStyle['cast'] {
  const words = ({ start, end }: SyntaxNode): string => source.text.slice(start, end);
  const formOf = (node: SyntaxNode): WideStyle['cast'][] => {
    const called = node.type === 'call_expression' ? childIn(node, 'function') : undefined;
    if (node.type === 'cast_expression') return /\*/.test(words(childIn(node, 'type') ?? node)) ? [] : ['parentheses'];
    if (called?.type === 'template_function') return /^static_cast\b[^*]*$/.test(words(called)) ? ['static_cast'] : [];
    return called && (called.type === 'primitive_type' || integerType(words(called))) ? ['function'] : [];
  };
  const all = nodesWhere(source.tree(), ({ type }) => /^(?:cast|call)_expression$/.test(type));
  const own = all.filter(({ start, end }) => start >= definition.start && end <= definition.end).flatMap(formOf);
  const forms = own.length > 0 ? own : all.flatMap(formOf);
  const count = (form: WideStyle['cast']): number => forms.filter((one) => one === form).length;
  return (['function', 'parentheses', 'static_cast'] as const).reduce((most, form) => (count(form) > count(most) ? form : most));
}

/** An expression cast to a type: `size_t(i)`. @param isInParentheses whether the expression has its own parentheses */
export function castTo(type: string, expression: string, { cast }: WideStyle, isInParentheses: boolean): string {
  const inner = isInParentheses ? expression.slice(1, -1) : expression;
  if (cast === 'static_cast') return `static_cast<${type}>(${inner})`;
  const isSimple = /^[\w.]+(?:\[[^\][]*\])?$/.test(inner);
  if (cast === 'parentheses' || type.includes(' ')) return `(${type})${isSimple ? inner : `(${inner})`}`;
  return `${type}(${inner})`;
}
