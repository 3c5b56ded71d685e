/** Generator expressions and conditions of CMake. */
import { hasUnknown, unknownText } from './build-reading.ts';
import type { CMakeArgument } from './cmake-syntax.ts';

/** A truth value; undefined if only a build determines it. */
type Truth = boolean | undefined;

/**
 * Replaces generator expressions (`$<…>`) by their value for CUDA files on Linux. One that is not on the list becomes
 * unknown text.
 * @param buildType value of `CMAKE_BUILD_TYPE`
 */
export function withoutGenerators(text: string, buildType: string): string {
  let result = '';
  for (let at = 0; at < text.length;) {
    if (!text.startsWith('$<', at)) {
      result += text[at++];
      continue;
    }
    const end = endOfGenerator(text, at);
    result += valueOfGenerator(text.slice(at + 2, end), buildType);
    at = end + 1;
  }
  return result;
}

/** Place of the `>` that closes the expression at `start`. */
function endOfGenerator(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text.startsWith('$<', at)) depth++;
    else if (text[at] === '>' && --depth === 0) return at;
  }
  return text.length;
}

function valueOfGenerator(inner: string, buildType: string): string {
  const colon = colonOf(inner);
  const name = withoutGenerators(inner.slice(0, colon), buildType);
  const value = withoutGenerators(inner.slice(colon + 1), buildType);
  const [, language] = /^(CUDA|CXX|C)_COMPILER_ID$/.exec(name) ?? [];
  const known = language !== undefined ? compilerOf[language]! : name === 'PLATFORM_ID' ? 'Linux' : undefined;
  if (known !== undefined) return colon === inner.length ? known : bit(value.split(',').includes(known));
  const result = Object.hasOwn(generators, name) ? generators[name]!({ value, operands: value.split(','), buildType }) : unknownText;
  return typeof result === 'string' ? result : bit(result);
}

const compilerOf: Readonly<Record<string, string>> = { CUDA: 'NVIDIA', CXX: 'GNU', C: 'GNU' };

interface GeneratorOperands {
  readonly value: string;
  readonly operands: readonly string[];
  readonly buildType: string;
}

type Generator = (operands: GeneratorOperands) => string | Truth;

const empty: Generator = () => '';
const sameText: Generator = ({ value }) => value;
const comparison = (operator: string): readonly [string, Generator] => [
  operator,
  ({ operands: [left = '', right = ''] }) => compared(operator, left, right),
];

const generators: Readonly<Record<string, Generator>> = {
  0: empty,
  INSTALL_INTERFACE: empty,
  LINK_ONLY: empty,
  TARGET_OBJECTS: empty,
  LINK_LANGUAGE: empty,
  1: sameText,
  BUILD_INTERFACE: sameText,
  BUILD_LOCAL_INTERFACE: sameText,
  COMPILE_LANGUAGE: ({ operands }) => operands.includes('CUDA'),
  COMPILE_LANG_AND_ID: ({ operands: [compiled, ...compilers] }) => compiled === 'CUDA' && compilers.includes('NVIDIA'),
  CONFIG: ({ operands, buildType }) =>
    hasUnknown(buildType) ? undefined : operands.some((one) => one.toLowerCase() === buildType.toLowerCase()),
  BOOL: ({ value }) => truthOf(value),
  NOT: ({ value }) => negated(bitOf(value)),
  AND: ({ operands }) => operands.map(bitOf).reduce<Truth>(both, true),
  OR: ({ operands }) => operands.map(bitOf).reduce<Truth>(either, false),
  IF: ({ operands: [condition = '', yes = '', no = ''] }) => {
    const truth = bitOf(condition);
    return truth === undefined ? undefined : truth ? yes : no;
  },
  STREQUAL: ({ operands: [left = '', right = ''] }) => (hasUnknown(left, right) ? undefined : left === right),
  ...Object.fromEntries(
    ['EQUAL', 'VERSION_EQUAL', 'VERSION_LESS', 'VERSION_GREATER', 'VERSION_LESS_EQUAL', 'VERSION_GREATER_EQUAL'].map(comparison),
  ),
  LOWER_CASE: ({ value }) => value.toLowerCase(),
  UPPER_CASE: ({ value }) => value.toUpperCase(),
  SEMICOLON: () => ';',
  COMMA: () => ',',
};

function bit(truth: Truth): string {
  return truth === undefined ? unknownText : truth ? '1' : '0';
}

/** Place of the first colon that is not part of a nested expression; otherwise the length. */
function colonOf(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text.startsWith('$<', at)) at = endOfGenerator(text, at);
    else if (text[at] === ':') return at;
  }
  return text.length;
}

function bitOf(text: string): Truth {
  return text === '1' ? true : text === '0' ? false : undefined;
}

function negated(truth: Truth): Truth {
  return truth === undefined ? undefined : !truth;
}

function both(left: Truth, right: Truth): Truth {
  if (left === false || right === false) return false;
  return left === undefined || right === undefined ? undefined : true;
}

function either(left: Truth, right: Truth): Truth {
  return negated(both(negated(left), negated(right)));
}

/** Truth of a text as a constant; another text is false, as for a variable that is not set. */
function constantTruth(text: string): Truth {
  if (/^(?:1|ON|YES|TRUE|Y|[1-9]\d*(?:\.\d+)?)$/i.test(text)) return true;
  return /^(?:0|OFF|NO|FALSE|N|IGNORE|NOTFOUND|.*-NOTFOUND|)$/i.test(text) ? false : undefined;
}

/** Truth of the value of a variable. */
function truthOf(value: string): Truth {
  if (value === unknownText || value === '') return value === '' ? false : undefined;
  // A list with a known item is not empty.
  return constantTruth(value) ?? true;
}

/** The operators of versions and numbers. */
function compared(operator: string, left: string, right: string): Truth {
  if (hasUnknown(left, right)) return undefined;
  const isVersion = operator.startsWith('VERSION_');
  const numbers = (text: string): number[] => text.split('.').map((part) => Number.parseInt(part, 10) || 0);
  if (!isVersion && !/^-?\d/.test(left)) return false;
  const [one, other] = isVersion ? [numbers(left), numbers(right)] : [[Number(left)], [Number(right)]];
  let order = 0;
  for (let at = 0; at < Math.max(one.length, other.length) && order === 0; at++) order = Math.sign((one[at] ?? 0) - (other[at] ?? 0));
  const [kind, mayBeEqual] = operator.replace('VERSION_', '').split('_');
  return (order === 0 && (kind === 'EQUAL' || mayBeEqual !== undefined)) || order === { LESS: -1, GREATER: 1 }[kind!];
}

/** What a condition asks of the evaluation. */
interface ConditionContext {
  /** Value of a variable; undefined if it is not set. */
  readonly variable: (name: string) => string | undefined;
  /** Sets `CMAKE_MATCH_1` and the like. */
  readonly setMatches: (groups: readonly string[]) => void;
  readonly isTarget: (name: string) => boolean;
  readonly isCommand: (name: string) => boolean;
  /** Whether a path exists; undefined outside of the repository. */
  readonly exists: (path: string) => Truth;
  readonly isFolder: (path: string) => Truth;
}

const binary = /^(?:STREQUAL|STRLESS|STRGREATER|EQUAL|LESS|GREATER|LESS_EQUAL|GREATER_EQUAL|VERSION_\w+|MATCHES|IN_LIST|PATH_EQUAL)$/;

/**
 * Truth of the arguments of `if()`.
 * @param words references replaced
 */
export function conditionTruth(words: readonly CMakeArgument[], context: ConditionContext): Truth {
  let at = 0;
  const isWord = (text: string): boolean => words[at]?.form === 'plain' && words[at]?.text === text;
  /** An operand of a comparison: the value of a variable, or the text itself. */
  const operand = ({ text, form }: CMakeArgument): string => (form === 'plain' ? context.variable(text) : undefined) ?? text;
  const disjunction = (): Truth => {
    let truth = conjunction();
    for (; isWord('OR'); truth = either(truth, conjunction())) at++;
    return truth;
  };
  const conjunction = (): Truth => {
    let truth = negation();
    for (; isWord('AND'); truth = both(truth, negation())) at++;
    return truth;
  };
  const negation = (): Truth => {
    if (!isWord('NOT')) return primary();
    at++;
    return negated(negation());
  };
  const primary = (): Truth => {
    if (isWord('(')) {
      at++;
      const truth = disjunction();
      at++;
      return truth;
    }
    const word = words[at++];
    if (word === undefined) return undefined;
    const next = words[at];
    if (next?.form === 'plain' && binary.test(next.text)) {
      at += 2;
      const right = words[at - 1];
      return right === undefined ? undefined : comparison(word, next.text, right);
    }
    if (
      word.form === 'plain' &&
      /^(?:DEFINED|TARGET|EXISTS|COMMAND|POLICY|IS_DIRECTORY|IS_ABSOLUTE|IS_SYMLINK|TEST)$/.test(word.text) &&
      next !== undefined
    ) {
      at++;
      return unary(word.text, next.text);
    }
    if (word.text === unknownText) return undefined;
    const constant = constantTruth(word.text);
    if (constant !== undefined) return constant;
    return word.form === 'plain' ? truthOf(context.variable(word.text) ?? '') : false;
  };
  const unary = (operator: string, text: string): Truth => {
    switch (operator) {
      case 'DEFINED': {
        if (text.startsWith('ENV{')) return false;
        const value = context.variable(text.replace(/^CACHE\{(.*)\}$/, '$1'));
        return value === unknownText ? undefined : value !== undefined;
      }
      case 'TARGET':
        // An imported target may come from any package.
        return context.isTarget(text) || /^CUDA::/.test(text) ? true : text.includes('::') || hasUnknown(text) ? undefined : false;
      case 'COMMAND':
        return context.isCommand(text) || undefined;
      case 'EXISTS':
        return context.exists(text);
      case 'IS_DIRECTORY':
        return context.isFolder(text);
      case 'IS_ABSOLUTE':
        return hasUnknown(text) ? undefined : text.startsWith('/');
      default:
        return operator === 'POLICY' ? true : undefined;
    }
  };
  const comparison = (first: CMakeArgument, operator: string, second: CMakeArgument): Truth => {
    const left = operand(first);
    if (operator === 'MATCHES') {
      if (hasUnknown(left, second.text)) return undefined;
      try {
        const groups = new RegExp(second.text.replaceAll('[[:space:]]', '\\s')).exec(left);
        if (groups) context.setMatches([...groups].map((group) => group ?? ''));
        return groups !== null;
      } catch {
        return undefined;
      }
    }
    if (operator === 'IN_LIST') {
      const items = (context.variable(second.text) ?? '').split(';');
      return items.includes(first.text) ? true : hasUnknown(first.text, ...items) ? undefined : false;
    }
    const right = operand(second);
    if (!operator.startsWith('STR') && operator !== 'PATH_EQUAL') return compared(operator, left, right);
    if (hasUnknown(left, right)) return undefined;
    return operator === 'STRLESS' ? left < right : operator === 'STRGREATER' ? left > right : left === right;
  };
  const truth = disjunction();
  return at < words.length ? undefined : truth;
}
