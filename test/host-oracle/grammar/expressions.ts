/** Integer expressions. */
import {
  type BinaryOperator,
  type IntegerType,
  binary,
  convert,
  integerTypes,
  isRepeatable,
  isWithin,
  joined,
  literal,
  negated,
  oneWordTypes,
  promoted,
  rangeOf,
  spellings,
} from './arithmetic.ts';
import { RuleTable, type Rule, type Scope, type Value, type Wanted, rule } from './draft.ts';
import { functionExpressions, programInputs } from './function-expressions.ts';

type IntegerRule = Rule<Wanted, Value>;

/** A subexpression without a wanted interval. */
export function subexpression(scope: Scope, wanted: Wanted): Value {
  const inner = { ...wanted, depth: wanted.depth - 1 };
  return wanted.depth <= 1 ? leaves.make(scope, inner) : expressions.make(scope, inner);
}

/** A value of the wanted interval, as a literal. */
function constant(scope: Scope, { low, high }: Wanted): number {
  const { random } = scope;
  const common = [1, 2, 3, 4, 5, 7, 8, 10, 16, 17, 32, 33, 64, 96, 100, 128, 255, 256, 512, 1000, 1024];
  const fitting = common.filter((value) => value >= low && value <= high);
  if (fitting.length > 0 && random.chance(0.75)) return random.pick(fitting);
  return low + Math.floor(random.next() * (Math.min(high, low + 5000) - low + 1));
}

const literals: readonly IntegerRule[] = [
  rule('literal', 6, (scope, wanted) => literal(constant(scope, wanted))),
  rule('hexadecimal', 1, (scope, wanted) => {
    const value = constant(scope, wanted);
    return value < 0 ? null : { ...literal(value), text: `0x${value.toString(16)}` };
  }),
  rule('suffixed literal', 2, (scope, wanted) => {
    const value = constant(scope, wanted);
    const [suffix, type] = scope.random.pick([
      ['u', 'unsigned'],
      ['L', 'long'],
      ['LL', 'long long'],
      ['UL', 'unsigned long'],
      ['ull', 'unsigned long long'],
    ] as const);
    return value < 0 ? null : { text: `${value}${suffix}`, type, low: value, high: value };
  }),
  rule('character', 0.7, (scope, wanted) => {
    const value = scope.random.between(Math.max(48, wanted.low), 122);
    if (value > wanted.high || value < 48 || value > 122 || value === 92) return null;
    return { text: `'${String.fromCharCode(value)}'`, type: 'char', low: value, high: value };
  }),
  rule('octal and separated literal', 0.4, (scope, wanted) => {
    const value = constant(scope, wanted);
    if (value < 8) return null;
    const text = value >= 1000 ? `${Math.floor(value / 1000)}'${String(value % 1000).padStart(3, '0')}` : `0${value.toString(8)}`;
    return { ...literal(value), text };
  }),
];

const variables: readonly IntegerRule[] = [
  rule('variable', 14, (scope, { low, high }) => {
    const visible = scope.visibleVariables();
    if (visible.length === 0) return null;
    // Near ones are likelier, and ones that need no adjustment.
    const fitting = visible.filter((variable) => isWithin(variable, low, high));
    return scope.random.pick(fitting.length > 0 && scope.random.chance(0.7) ? fitting : visible.slice(-8));
  }),
];

const leaves = new RuleTable<Wanted, Value>('leaf', [...literals, ...variables, ...programInputs]);

function operatorRule(name: string, weight: number, operator: BinaryOperator): IntegerRule {
  return rule(name, weight, (scope, wanted) => binary(subexpression(scope, wanted), operator, subexpression(scope, wanted)));
}

/** A rule for operators whose right operand is small and positive. */
function smallOperandRule(name: string, weight: number, operator: BinaryOperator, most: number): IntegerRule {
  return rule(name, weight, (scope, wanted) => {
    const right = scope.integer(1, most, wanted.depth - 2);
    return binary(subexpression(scope, wanted), operator, right);
  });
}

const operators: readonly IntegerRule[] = [
  operatorRule('sum', 5, '+'),
  operatorRule('difference', 4, '-'),
  operatorRule('product', 4, '*'),
  smallOperandRule('quotient', 3, '/', 64),
  smallOperandRule('remainder', 3, '%', 97),
  smallOperandRule('left shift', 2, '<<', 5),
  smallOperandRule('right shift', 2, '>>', 6),
  operatorRule('bitwise and', 1.5, '&'),
  operatorRule('bitwise or', 1.5, '|'),
  operatorRule('exclusive or', 1, '^'),
  rule('complement', 0.7, (scope, wanted) => {
    const operand = subexpression(scope, wanted);
    const type = promoted(operand.type);
    if (type !== 'int') return { text: `(~${operand.text})`, type, ...rangeOf(type) };
    return { text: `(~${operand.text})`, type, low: -operand.high - 1, high: -operand.low - 1 };
  }),
  rule('negation', 0.8, (scope, wanted) => negated(subexpression(scope, wanted))),
  rule('unsigned wrap-around', 0.8, (scope, wanted) => {
    const operand = subexpression(scope, wanted);
    return binary({ text: '0u', type: 'unsigned', low: 0, high: 0 }, '-', operand);
  }),
  rule('alignment by mask', 1.5, (scope, wanted) => {
    const operand = subexpression(scope, { ...wanted, low: 1 });
    const unit = scope.random.pick([4, 8, 16, 32, 64]);
    const sum = binary(operand, '+', literal(unit - 1));
    if (!sum || sum.low < 0 || promoted(operand.type) === 'unsigned') return null;
    return { ...sum, text: `((${operand.text} + ${unit - 1}) & ~${unit - 1})`, low: 0 };
  }),
  rule('division rounded up', 3, (scope, wanted) => {
    const unit = scope.integer(1, 64, wanted.depth - 2);
    const operand = subexpression(scope, { ...wanted, low: 1 });
    const sum = binary(operand, '+', unit);
    const less = sum && binary(sum, '-', literal(1));
    const quotient = less && binary(less, '/', unit);
    return quotient && { ...quotient, text: `((${operand.text} + ${unit.text} - 1) / ${unit.text})` };
  }),
  rule('comma', 0.4, (scope, wanted) => {
    const [first, second] = [subexpression(scope, wanted), subexpression(scope, wanted)];
    return { ...second, text: `((void)${first.text}, ${second.text})` };
  }),
];

const conditionals: readonly IntegerRule[] = [
  rule('conditional', 4, (scope, wanted) => {
    const condition = scope.grammar.condition(scope, wanted.depth - 1);
    const [yes, no] = [subexpression(scope, wanted), subexpression(scope, wanted)];
    const sum = binary(yes, '+', no);
    return (
      sum &&
      joined(`(${condition} ? ${yes.text} : ${no.text})`, sum.type === promoted(sum.type) && yes.type === no.type ? yes.type : sum.type, [
        yes,
        no,
      ])
    );
  }),
  rule('chained conditional', 1, (scope, wanted) => {
    const conditions = [1, 2].map(() => scope.grammar.condition(scope, 1));
    const values = [1, 2, 3].map(() => literal(constant(scope, wanted)));
    const [a, b, c] = values;
    if (values.some(({ type }) => type !== 'int')) return null;
    return joined(`(${conditions[0]} ? ${a!.text} : ${conditions[1]} ? ${b!.text} : ${c!.text})`, 'int', values);
  }),
  rule('condition as number', 1.5, (scope, wanted) => {
    const condition = truths.make(scope, wanted.depth - 1);
    return { text: `(${condition})`, type: 'bool', low: 0, high: 1 };
  }),
  rule('double not', 0.5, (scope, wanted) => {
    return { text: `(!!${subexpression(scope, wanted).text})`, type: 'bool', low: 0, high: 1 };
  }),
  rule('sum of conditions', 0.6, (scope) => {
    const conditions = [1, 2].map(() => truths.make(scope, 1));
    return { text: `((${conditions[0]}) + (${conditions[1]}))`, type: 'int', low: 0, high: 2 };
  }),
];

/** Types of casts: wide ones keep the value, narrow ones truncate it. */
const castTypes = integerTypes.filter((type) => type !== 'bool');

const casts: readonly IntegerRule[] = [
  rule('cast', 2.5, (scope, wanted) => {
    const type = scope.random.pick(castTypes);
    const operand = subexpression(scope, wanted);
    return convert(operand, type, `((${scope.random.pick(spellings(type))})${operand.text})`);
  }),
  rule('static_cast', 2, (scope, wanted) => {
    const type = scope.random.pick(castTypes);
    const operand = subexpression(scope, wanted);
    return convert(operand, type, `static_cast<${scope.random.pick(spellings(type))}>(${operand.text})`);
  }),
  rule('functional cast', 1, (scope, wanted) => {
    const type = scope.random.pick(oneWordTypes);
    const operand = subexpression(scope, wanted);
    // `int n(int(x))` declares a function, and `(int((bool(x[2]))) + 1)` is a cast of `+1` to a type of functions.
    return convert(operand, type, `(${type}(+${operand.text}))`);
  }),
  rule('truncation', 1, (scope, wanted) => {
    const type = scope.random.pick<IntegerType>(['unsigned char', 'signed char', 'char', 'short', 'unsigned short']);
    const operand = subexpression(scope, { ...wanted, low: 100, high: 100_000 });
    return convert(operand, type, `((${type})${operand.text})`);
  }),
  rule('cast to bool', 0.5, (scope, wanted) => {
    const operand = subexpression(scope, wanted);
    return convert(operand, 'bool', `static_cast<bool>(${operand.text})`);
  }),
];

const expressions = new RuleTable<Wanted, Value>('integer', [
  rule('leaf', 10, (scope, wanted) => leaves.make(scope, wanted)),
  ...operators,
  ...conditionals,
  ...casts,
  ...functionExpressions(subexpression),
]);

/** Adjustments of any value to the wanted interval, `low` and `high` included. */
const adjustments = new RuleTable<{ readonly value: Value; readonly wanted: Wanted }, Value>('adjustment', [
  rule('minimum of maximum', 3, (scope, { value, wanted: { low, high } }) => {
    scope.header('algorithm');
    if (value.low < -(2 ** 31) || value.high >= 2 ** 31) return null;
    return { text: `std::min(std::max<int>(${value.text}, ${low}), ${high})`, type: 'int', low, high };
  }),
  rule('clamp', 1.5, (scope, { value, wanted: { low, high } }) => {
    scope.header('algorithm');
    if (Math.abs(value.low) > 2 ** 52 || value.high > 2 ** 52) return null;
    return { text: `std::clamp<long>(${value.text}, ${low}, ${high})`, type: 'long', low, high };
  }),
  rule('remainder', 4, (_, { value, wanted: { low, high } }) => {
    if (value.low < 0) return null;
    const remainder = binary(value, '%', literal(high - low + 1));
    return remainder && binary(remainder, '+', literal(low));
  }),
  rule('unsigned remainder', 2, (_, { value, wanted: { low, high } }) => {
    if (low < 0) return null;
    const operand = convert(value, 'unsigned', `(unsigned)${value.text}`);
    const remainder = binary(operand, '%', literal(high - low + 1));
    return remainder && binary(remainder, '+', literal(low));
  }),
  rule('mask', 2, (_, { value, wanted: { low, high } }) => {
    const mask = 2 ** Math.floor(Math.log2(high - low + 1)) - 1;
    const masked = value.low < 0 ? null : binary(value, '&', literal(mask));
    return masked && (low === 0 ? masked : binary(masked, '+', literal(low)));
  }),
  rule('conditional', 3, (scope, { value, wanted }) => {
    if (Math.abs(value.low) > 2 ** 52 || value.high > 2 ** 52) return null;
    if (!isRepeatable(value)) return null;
    const other = constant(scope, wanted);
    const tests = [
      value.low < wanted.low ? `(long)${value.text} < ${wanted.low}` : null,
      value.high > wanted.high ? `${value.text} > ${wanted.high}` : null,
    ].filter((test) => test !== null);
    const type = promoted(value.type);
    if (type === 'unsigned' || type.startsWith('unsigned')) return null;
    const low = Math.min(other, Math.max(value.low, wanted.low));
    const high = Math.max(other, Math.min(value.high, wanted.high));
    return { text: `(${tests.join(' || ')} ? ${other} : ${value.text})`, type, low, high };
  }),
  rule('macros', 1, (scope, { value, wanted: { low, high } }) => {
    if (promoted(value.type) !== 'int' || !isRepeatable(value)) return null;
    const least = scope.program.macro('MIN', '(a, b) ((a) < (b) ? (a) : (b))');
    const most = scope.program.macro('MAX', '(a, b) ((a) > (b) ? (a) : (b))');
    return { text: `${least}(${most}(${value.text}, ${low}), ${high})`, type: 'int', low, high };
  }),
  rule('constant', 1, (scope, { wanted }) => literal(constant(scope, wanted))),
]);

/** An expression whose values are in the wanted interval. */
export function integer(scope: Scope, wanted: Wanted): Value {
  const { random } = scope;
  const value = wanted.depth > 0 && random.chance(0.75) ? expressions.make(scope, wanted) : leaves.make(scope, wanted);
  if (isWithin(value, wanted.low, wanted.high)) return value;
  const adjusted = adjustments.make(scope, { value, wanted });
  return isWithin(adjusted, wanted.low, wanted.high) ? adjusted : literal(constant(scope, wanted));
}

type Comparison = '<' | '>' | '<=' | '>=' | '==' | '!=';

/** Expressions of type bool. */
const truths: RuleTable<number, string> = new RuleTable<number, string>('truth', [
  rule('comparison', 8, (scope, depth) => {
    const wanted = { low: 0, high: 100, depth };
    const operator = scope.random.pick<Comparison>(['<', '>', '<=', '>=', '==', '!=']);
    return `(${subexpression(scope, wanted).text} ${operator} ${subexpression(scope, wanted).text})`;
  }),
  rule('negated integer', 1, (scope, depth) => `!${subexpression(scope, { low: 0, high: 3, depth }).text}`),
  rule('parity', 2, (scope, depth) => {
    const value = subexpression(scope, { low: 0, high: 100, depth });
    return `(${value.text} % ${scope.random.pick([2, 3, 4])} == ${scope.random.pick([0, 1])})`;
  }),
  rule('conjunction', 1.5, (scope, depth) =>
    depth <= 0 ? null : `(${conditions.make(scope, depth - 1)} && ${conditions.make(scope, depth - 1)})`,
  ),
  rule('disjunction', 1.5, (scope, depth) =>
    depth <= 0 ? null : `(${conditions.make(scope, depth - 1)} || ${conditions.make(scope, depth - 1)})`,
  ),
  rule('negation', 1, (scope, depth) => (depth <= 0 ? null : `!(${conditions.make(scope, depth - 1)})`)),
  rule('text of argument', 0.8, (scope) => {
    const [first] = scope.program.arguments;
    if (!scope.options.hasArguments) return null;
    const digit = scope.random.between(1, 9);
    scope.header('cstring');
    return scope.random.pick([
      `(argc > 1 && argv[1][0] == '${digit}')`,
      `(argc > 1 && strcmp(argv[1], "${first ?? digit}") == 0)`,
      `(argc < 2 || !strchr(argv[1], '${digit}'))`,
    ]);
  }),
  rule('range test', 1, (scope, depth) => {
    const value = subexpression(scope, { low: 0, high: 100, depth });
    const low = scope.random.below(40);
    return `(${value.text} >= ${low} && ${value.text} < ${low + scope.random.between(1, 60)})`;
  }),
  rule('floats', 0.6, (scope, depth) => `(${scope.grammar.float(scope, depth - 1)} < ${scope.random.pick(['1.5', '0.25f', '10.0'])})`),
]);

const conditions = new RuleTable<number, string>('condition', [
  rule('truth', 15, (scope, depth) => truths.make(scope, depth)),
  rule('integer', 1.5, (scope, depth) => subexpression(scope, { low: 0, high: 3, depth }).text),
  rule('bit test', 1, (scope, depth) => {
    const value = subexpression(scope, { low: 0, high: 100, depth });
    return `(${value.text} & ${scope.random.pick([1, 2, 4, 8])})`;
  }),
]);

/** An expression that is converted to bool. */
export function condition(scope: Scope, depth: number): string {
  return conditions.make(scope, depth);
}

const floats: RuleTable<number, string> = new RuleTable<number, string>('float', [
  rule('literal', 4, (scope) =>
    scope.random.pick(['0.5f', '2.0f', '1.5', '0.25', '1e-3f', '3.14159', '.5f', '1e2', '-1.0f', '0x1p-2', '100.f']),
  ),
  rule('cast of integer', 2, (scope) => `(float)${scope.integer(0, 1000, 1).text}`),
  rule('double of integer', 1, (scope) => `static_cast<double>(${scope.integer(0, 1000, 1).text})`),
  rule('scaled integer', 2, (scope) => `(${scope.integer(0, 1000, 1).text} * ${scope.random.pick(['0.5f', '0.125', '1.5f'])})`),
  rule('reciprocal', 2, (scope) => `(${scope.random.pick(['1.0f', '1.0', '2.f'])} / ${scope.integer(1, 64, 1).text})`),
  rule('sum', 1, (scope, depth) => (depth <= 0 ? null : `(${floats.make(scope, depth - 1)} + ${floats.make(scope, depth - 1)})`)),
  rule('conditional', 1, (scope, depth) =>
    depth <= 0 ? null : `(${condition(scope, 1)} ? ${floats.make(scope, depth - 1)} : ${floats.make(scope, 0)})`,
  ),
  rule('square root', 1, (scope) => {
    scope.header('cmath');
    return `${scope.random.pick(['std::sqrt', 'sqrtf', 'sqrt'])}((${scope.random.pick(['float', 'double'])})${scope.integer(0, 900, 1).text})`;
  }),
  rule('absolute value', 0.7, (scope, depth) => {
    scope.header('cmath');
    return `std::fabs(${floats.make(scope, depth - 1)})`;
  }),
]);

/** A finite expression of type float or double. */
export function float(scope: Scope, depth: number): string {
  return floats.make(scope, depth);
}

export const expressionRules = [leaves, expressions, adjustments, truths, conditions, floats].flatMap(({ names }) => names);
