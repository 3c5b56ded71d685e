/** Integer expressions that use definitions: functions without side effects, constants, the standard library. */
import { type IntegerType, binary, bitsOf, convert, extremum, isRepeatable, isWithin, joined, literal } from './arithmetic.ts';
import { type Program, type Rule, type Scope, type Value, type Wanted, rule } from './draft.ts';

type Subexpression = (scope: Scope, wanted: Wanted) => Value;

/** Whether a call that takes an int keeps the value. */
const isInt = (value: Value): boolean => isWithin(value, -(2 ** 31), 2 ** 31 - 1);

/** A small unsigned or non-negative value, for parameters of type int. */
function small(scope: Scope, wanted: Wanted, high = 4096): Value {
  return scope.integer(0, high, wanted.depth - 1);
}

const specifiers = ['static ', 'inline ', 'static inline ', 'constexpr ', 'static constexpr ', ''];

function define(program: Program, key: string, stem: string, text: string): string {
  // A function without specifier is defined in one file only, which each program is.
  return program.once(key, stem, (name) => program.random.pick(specifiers) + text.replaceAll('NAME', name));
}

/** Rules of functions that return a value of an interval that depends on the arguments. */
function calls(subexpression: Subexpression): readonly Rule<Wanted, Value>[] {
  return [
    rule('standard minimum and maximum', 3, (scope, wanted) => {
      const [left, right] = [subexpression(scope, wanted), subexpression(scope, wanted)];
      const kind = scope.random.pick(['min', 'max'] as const);
      scope.header('algorithm');
      const type = scope.random.pick<IntegerType>(left.type === right.type ? [left.type] : ['int', 'long', 'unsigned']);
      const explicit = left.type === right.type && scope.random.chance(0.5) && left.type !== 'bool' ? '' : `<${type}>`;
      return extremum(`std::${kind}${explicit}(${left.text}, ${right.text})`, type, kind, [left, right]);
    }),
    rule('maximum of list', 1, (scope, wanted) => {
      const values = Array.from({ length: scope.random.between(2, 4) }, () => small(scope, wanted));
      const kind = scope.random.pick(['min', 'max'] as const);
      scope.header('algorithm');
      const list = values.map((value) => `(int)${value.text}`).join(', ');
      return extremum(`std::${kind}({${list}})`, 'int', kind, values);
    }),
    rule('macro', 1.5, (scope, wanted) => {
      const [left, right] = [small(scope, wanted), small(scope, wanted)];
      if (!isRepeatable(left) || !isRepeatable(right)) return null;
      const kind = scope.random.pick(['min', 'max'] as const);
      const text = kind === 'min' ? '(a, b) ((a) < (b) ? (a) : (b))' : '(a, b) ((a) > (b) ? (a) : (b))';
      const macro = scope.program.macro(kind.toUpperCase(), text);
      const sum = binary(left, '+', right);
      const type = left.type === right.type ? left.type : sum?.type;
      return type ? extremum(`${macro}(${left.text}, ${right.text})`, type, kind, [left, right]) : null;
    }),
    rule('template of two', 1.5, (scope, wanted) => {
      const [left, right] = [subexpression(scope, wanted), subexpression(scope, wanted)];
      if (left.type !== right.type) return null;
      const name = scope.program.once(
        'larger',
        'larger',
        (called) => `template <typename T>\nT ${called}(T a, T b) {\nreturn a > b ? a : b;\n}`,
      );
      return extremum(`${name}(${left.text}, ${right.text})`, left.type, 'max', [left, right]);
    }),
    rule('division macro', 2.5, (scope, wanted) => {
      const [count, unit] = [small(scope, wanted), scope.integer(1, 64, wanted.depth - 2)];
      const macro = scope.program.macro('DIV_UP', '(a, b) (((a) + (b) - 1) / (b))');
      const sum = binary(count, '+', unit);
      const quotient = sum && binary(binary(sum, '-', literal(1))!, '/', unit);
      return quotient && { ...quotient, text: `${macro}(${count.text}, ${unit.text})` };
    }),
    rule('division function', 2.5, (scope, wanted) => {
      const [count, unit] = [small(scope, wanted), scope.integer(1, 64, wanted.depth - 2)];
      const name = define(scope.program, 'divUp', 'divUp', 'int NAME(int a, int b) { return a / b + (a % b != 0); }');
      const high = Math.ceil(count.high / unit.low);
      return { text: `${name}(${count.text}, ${unit.text})`, type: 'int', low: Math.ceil(count.low / unit.high), high };
    }),
    rule('division template', 1, (scope, wanted) => {
      const [count, unit] = [small(scope, wanted), scope.integer(1, 64, 0)];
      const name = scope.program.once(
        'divTemplate',
        'blocksFor',
        (called) => `template <int Unit, typename T>\nconstexpr T ${called}(T n) {\nreturn (n + Unit - 1) / Unit;\n}`,
      );
      const fixed = unit.low;
      return {
        text: `${name}<${fixed}>((int)${count.text})`,
        type: 'int',
        low: Math.ceil(count.low / fixed),
        high: Math.ceil(count.high / fixed),
      };
    }),
    rule('rounded up float', 2, (scope, wanted) => {
      const count = small(scope, wanted);
      const unit = scope.random.pick([16, 32, 64, 100, 256]);
      scope.header('cmath');
      const text = scope.random.pick([
        `(int)ceil(${count.text} / ${unit}.0)`,
        `(int)std::ceil((float)${count.text} / ${unit})`,
        `static_cast<int>(ceilf(${count.text} / ${unit}.0f))`,
      ]);
      return { text: `(${text})`, type: 'int', low: Math.ceil(count.low / unit), high: Math.ceil(count.high / unit) };
    }),
    rule('rounded down float', 1, (scope, wanted) => {
      const count = small(scope, wanted);
      const [factor, number] = scope.random.pick([
        ['0.5f', 0.5],
        ['0.75', 0.75],
        ['1.5', 1.5],
        ['0.1', 0.1],
      ] as const);
      const text = scope.random.pick([`(int)(${count.text} * ${factor})`, `static_cast<int>(std::floor(${count.text} * ${factor}))`]);
      scope.header('cmath');
      return { text: `(${text})`, type: 'int', low: Math.max(0, Math.floor(count.low * number) - 1), high: Math.ceil(count.high * number) };
    }),
    rule('logarithm', 0.5, (scope, wanted) => {
      const value = scope.integer(1, 1024, wanted.depth - 1);
      const name = define(
        scope.program,
        'log2',
        'logarithm',
        'int NAME(unsigned n) {\nint bits = 0;\nwhile (n >>= 1) ++bits;\nreturn bits;\n}',
      );
      return { text: `${name}(${value.text})`, type: 'int', low: 0, high: 10 };
    }),
    rule('power of two', 1, (scope, wanted) => {
      const value = scope.integer(1, 1024, wanted.depth - 1);
      const name = define(
        scope.program,
        'pow2',
        'nextPower',
        'unsigned int NAME(unsigned int x) {\n--x;\nx |= x >> 1;\nx |= x >> 2;\nx |= x >> 4;\nx |= x >> 8;\nx |= x >> 16;\nreturn ++x;\n}',
      );
      return { text: `${name}(${value.text})`, type: 'unsigned', low: 1, high: 2 ** Math.ceil(Math.log2(value.high)) };
    }),
    rule('recursion', 1, (scope, wanted) => {
      const [a, b] = [small(scope, wanted, 500), scope.integer(1, 100, wanted.depth - 1)];
      const name = define(scope.program, 'gcd', 'divisor', 'int NAME(int a, int b) { return b == 0 ? a : NAME(b, a % b); }');
      return { text: `${name}(${a.text}, ${b.text})`, type: 'int', low: 1, high: Math.max(a.high, b.high) };
    }),
    rule('recursion over sum', 0.6, (scope, wanted) => {
      const value = small(scope, wanted, 20);
      const name = define(scope.program, 'triangle', 'triangle', 'int NAME(int n) {\nif (n <= 0) return 0;\nreturn n + NAME(n - 1);\n}');
      const sum = (n: number): number => (n * (n + 1)) / 2;
      return { text: `${name}(${value.text})`, type: 'int', low: sum(value.low), high: sum(value.high) };
    }),
    rule('loop function', 1, (scope, wanted) => {
      const value = small(scope, wanted, 1000);
      const name = define(
        scope.program,
        'ones',
        'countBits',
        'int NAME(unsigned x) {\nint n = 0;\nfor (; x; x &= x - 1) n++;\nreturn n;\n}',
      );
      return { text: `${name}(${value.text})`, type: 'int', low: 0, high: 10 };
    }),
    rule('function with default argument', 1, (scope, wanted) => {
      const value = small(scope, wanted, 1000);
      const name = scope.program.once(
        'scaled',
        'scaled',
        (called) => `static int ${called}(int n, int factor = 2, int offset = 1) {\nreturn n * factor + offset;\n}`,
      );
      const factor = scope.random.pick([2, 2, 3, 5]);
      const text = `${name}(${value.text}${factor === 2 ? '' : `, ${factor}`})`;
      return { text, type: 'int', low: value.low * factor + 1, high: value.high * factor + 1 };
    }),
    rule('overload', 1, (scope, wanted) => {
      const name = scope.program.once('width', 'width', (called) =>
        ['float', 'double', 'char', 'int', 'long']
          .map((type, at) => `static int ${called}(${type}) { return ${[4, 8, 1, 32, 64][at]}; }`)
          .join('\n'),
      );
      const value = subexpression(scope, wanted);
      const result = { int: 32, long: 64, char: 1 }[value.type as string];
      if (result === undefined) return null;
      return { text: `${name}(${value.text})`, type: 'int', low: result, high: result };
    }),
    rule('variadic template', 1, (scope, wanted) => {
      const values = Array.from({ length: scope.random.between(1, 4) }, () => small(scope, wanted, 500));
      const name = scope.program.once(
        'total',
        'total',
        (called) => `template <typename... T>\nint ${called}(T... values) {\nreturn (0 + ... + static_cast<int>(values));\n}`,
      );
      const text = `${name}(${values.map((value) => value.text).join(', ')})`;
      const sum = (bound: 'low' | 'high'): number => values.reduce((total, value) => total + value[bound], 0);
      return { text, type: 'int', low: sum('low'), high: sum('high') };
    }),
    rule('recursive template', 0.7, (scope) => {
      const name = scope.program.once(
        'factorial',
        'Factorial',
        (called) =>
          `template <int N>\nstruct ${called} {\nstatic constexpr int value = N * ${called}<N - 1>::value;\n};\ntemplate <>\nstruct ${called}<0> {\nstatic constexpr int value = 1;\n};`,
      );
      const [argument, value] = scope.random.pick([
        [3, 6],
        [4, 24],
        [5, 120],
        [0, 1],
      ] as const);
      return { text: `${name}<${argument}>::value`, type: 'int', low: value, high: value };
    }),
    rule('if constexpr', 0.8, (scope) => {
      scope.header('type_traits');
      const name = scope.program.once(
        'perThread',
        'perThread',
        (called) =>
          `template <typename T>\nconstexpr int ${called}() {\nif constexpr (std::is_same_v<T, float>) return 4;\nelse if constexpr (sizeof(T) == 8) return 2;\nelse return 8;\n}`,
      );
      const [type, value] = scope.random.pick([
        ['float', 4],
        ['double', 2],
        ['char', 8],
        ['long', 2],
      ] as const);
      return { text: `${name}<${type}>()`, type: 'int', low: value, high: value };
    }),
    rule('reference parameter', 0.8, (scope, wanted) => {
      const value = small(scope, wanted, 1000);
      const name = define(scope.program, 'half', 'half', 'int NAME(const int& n) { return n / 2; }');
      return { text: `${name}(${value.text})`, type: 'int', low: Math.floor(value.low / 2), high: Math.floor(value.high / 2) };
    }),
    rule('truncating parameter', 0.8, (scope, wanted) => {
      const value = small(scope, wanted, 100_000);
      const name = define(scope.program, 'low byte', 'lowByte', 'int NAME(unsigned char c) { return c; }');
      return { ...convert(value, 'unsigned char', `${name}(${value.text})`), type: 'int' };
    }),
    rule('called lambda', 1, (scope, wanted) => {
      const value = small(scope, wanted, 1000);
      const n = scope.name('n');
      const factor = scope.random.between(1, 5);
      const text = scope.random.pick([
        `[](int ${n}) { return ${n} * ${factor}; }(${value.text})`,
        `[&] { return (int)${value.text} * ${factor}; }()`,
        ...(/^[a-z]\w*$/.test(value.text) ? [`[=]() -> int { return ${value.text} * ${factor}; }()`] : []),
      ]);
      // Two square brackets in succession would begin an attribute.
      return { text: `(${text})`, type: 'int', low: value.low * factor, high: value.high * factor };
    }),
    rule('lambda with initialised capture', 0.7, (scope, wanted) => {
      const value = small(scope, wanted, 1000);
      const n = scope.name('n');
      // The sign, because GCC does not accept such a lambda first in parentheses.
      const text = `(+[${n} = (int)${value.text}] { return ${n} + 3; }())`;
      return { text, type: 'int', low: value.low + 3, high: value.high + 3 };
    }),
    rule('absolute value', 0.8, (scope, wanted) => {
      const value = scope.integer(-500, 500, wanted.depth - 1);
      scope.header('cstdlib');
      return isInt(value) ? { text: `std::abs((int)${value.text})`, type: 'int', low: 0, high: 500 } : null;
    }),
    rule('element of temporary', 0.6, (scope, wanted) => {
      const values = [1, 2, 3].map(() => small(scope, wanted));
      const at = scope.random.below(3);
      scope.header('tuple');
      const list = values.map(({ text }) => `(int)${text}`).join(', ');
      return { ...values[at]!, text: `std::get<${at}>(std::make_tuple(${list}))`, type: 'int' };
    }),
    rule('member of temporary', 0.8, (scope, wanted) => {
      const values = [1, 2].map(() => scope.integer(1, 1000, wanted.depth - 1));
      const at = scope.random.below(2);
      const list = values.map(({ text }) => text).join(', ');
      const { low, high } = values[at]!;
      return { text: `dim3(${list}).${['x', 'y'][at]}`, type: 'unsigned', low, high };
    }),
  ];
}

/** Rules of constants. */
const constants: readonly Rule<Wanted, Value>[] = [
  rule('size', 1.5, (scope) => {
    const [operand, value] = scope.random.pick([
      ['float', 4],
      ['double', 8],
      ['int', 4],
      ['char', 1],
      ['dim3', 12],
      ['void*', 8],
      ['long', 8],
      ['float[3]', 12],
    ] as const);
    return { text: `sizeof(${operand})`, type: 'unsigned long', low: value, high: value };
  }),
  rule('size of expression', 0.7, (scope, wanted) => {
    const value = scope.integer(0, 100, wanted.depth - 1);
    // Lambdas are not allowed there.
    if (value.text.includes('{')) return null;
    const size = Math.max(1, bitsOf(value.type) / 8);
    return { text: `sizeof(${value.text})`, type: 'unsigned long', low: Math.ceil(size), high: Math.ceil(size) };
  }),
  rule('enumerator', 1.2, (scope) => {
    const name = scope.program.once(
      'sizes',
      'Size',
      (called) => `enum ${called} { ${called}Small = 8, ${called}Medium, ${called}Large = ${called}Small * 4 };`,
    );
    const [which, value] = scope.random.pick([
      ['Small', 8],
      ['Medium', 9],
      ['Large', 32],
    ] as const);
    return { text: `(int)${name}${which}`, type: 'int', low: value, high: value };
  }),
  rule('scoped enumerator', 1, (scope) => {
    const name = scope.program.once('mode', 'Mode', (called) => `enum class ${called} : unsigned char { Off, Low = 3, High = 200 };`);
    const [which, value] = scope.random.pick([
      ['Off', 0],
      ['Low', 3],
      ['High', 200],
    ] as const);
    return { text: `static_cast<int>(${name}::${which})`, type: 'int', low: value, high: value };
  }),
  rule('constant of namespace', 1, (scope) => {
    const name = scope.program.once(
      'settings',
      'settings',
      (called) =>
        `namespace ${called} {\nconstexpr int tile = 16;\nconst unsigned rows = 24u;\nnamespace inner {\nenum { lanes = 32 };\n}\n}`,
    );
    const [which, type, value] = scope.random.pick([
      ['tile', 'int', 16],
      ['rows', 'unsigned', 24],
      ['inner::lanes + 0', 'int', 32],
    ] as const);
    return { text: `(${name}::${which})`, type, low: value, high: value };
  }),
  rule('static member constant', 1, (scope) => {
    const name = scope.program.once(
      'traits',
      'Traits',
      (called) =>
        `template <typename T>\nstruct ${called} {\nstatic constexpr int threads = 128;\n};\ntemplate <>\nstruct ${called}<double> {\nstatic constexpr int threads = 64;\n};`,
    );
    const [type, value] = scope.random.pick([
      ['float', 128],
      ['double', 64],
      ['int', 128],
    ] as const);
    return { text: `${name}<${type}>::threads`, type: 'int', low: value, high: value };
  }),
  rule('variable template', 0.7, (scope) => {
    const name = scope.program.once(
      'vector width',
      'lanesOf',
      (called) => `template <typename T>\nconstexpr int ${called} = 16 / sizeof(T);`,
    );
    const [type, value] = scope.random.pick([
      ['float', 4],
      ['double', 2],
      ['short', 8],
    ] as const);
    return { text: `(${name}<${type}>)`, type: 'int', low: value, high: value };
  }),
  rule('table', 1.5, (scope, wanted) => {
    const values = [1, 2, 3, 4].map(() => scope.random.between(1, 256));
    const at = scope.integer(0, 3, wanted.depth - 1);
    const name = scope.name('table');
    const specifier = scope.random.pick(['static const', 'const', 'constexpr', 'static']);
    scope.define(`${specifier} int ${name}[4] = {${values.join(', ')}};`);
    return { text: `${name}[${at.text}]`, type: 'int', low: Math.min(...values), high: Math.max(...values) };
  }),
  rule('two-dimensional table', 0.8, (scope, wanted) => {
    const values = [0, 1].map(() => [1, 2, 3].map(() => scope.random.between(1, 200)));
    const [row, column] = [scope.integer(0, 1, wanted.depth - 1), scope.integer(0, 2, wanted.depth - 1)];
    const name = scope.name('matrix');
    scope.define(`static const short ${name}[][3] = {${values.map((list) => `{${list.join(', ')}}`).join(', ')}};`);
    return {
      text: `${name}[${row.text}][${column.text}]`,
      type: 'short',
      low: Math.min(...values.flat()),
      high: Math.max(...values.flat()),
    };
  }),
  rule('length of array', 0.8, (scope) => {
    const count = scope.random.between(2, 9);
    const name = scope.name('list');
    scope.define(`static int ${name}[] = {${Array.from({ length: count }, (_, at) => at * 3).join(', ')}};`);
    return { text: `(sizeof(${name}) / sizeof(${name}[0]))`, type: 'unsigned long', low: count, high: count };
  }),
  rule('length of string', 0.7, (scope) => {
    const word = scope.random.pick(['block', 'thread', 'a', 'reduction', 'gpu']);
    scope.header(scope.random.pick(['cstring']));
    scope.header('string');
    const text = scope.random.pick([`strlen("${word}")`, `std::string("${word}").size()`, `(sizeof("${word}") - 1)`]);
    return { text, type: 'unsigned long', low: word.length, high: word.length };
  }),
  rule('numeric limit', 0.5, (scope) => {
    scope.header('limits');
    const [type, integer, value] = scope.random.pick([
      ['unsigned char', 'unsigned char', 255],
      ['short', 'short', 32767],
      ['signed char', 'signed char', 127],
    ] as const);
    return { text: `std::numeric_limits<${type}>::max()`, type: integer, low: value, high: value };
  }),
  rule('value of optional', 0.6, (scope, wanted) => {
    const value = scope.integer(1, 500, wanted.depth - 1);
    scope.header('optional');
    const [text, type] = scope.random.pick([
      [`std::optional<int>(${value.text}).value_or(7)`, 'int'],
      ['std::optional<int>().value_or(7)', 'int'],
    ] as const);
    return joined(text, type, [value, literal(7)]);
  }),
  rule('constant macro', 1.5, (scope) => {
    const value = scope.random.pick([4, 8, 16, 32, 64, 128, 256]);
    return { text: scope.program.macro('TILE', ` ${value}`), type: 'int', low: value, high: value };
  }),
  rule('macro expression', 0.7, (scope) => {
    const value = scope.random.pick([4, 8, 16]);
    const macro = scope.program.macro('UNIT', ` (${value} * 2)`);
    return { text: `(${macro} - 1)`, type: 'int', low: value * 2 - 1, high: value * 2 - 1 };
  }),
];

/** The other rules of this file. */
export function functionExpressions(subexpression: Subexpression): readonly Rule<Wanted, Value>[] {
  return [...calls(subexpression), ...constants].map((each) => ({ ...each, weight: each.weight * 0.6 }));
}

function smallFunction(result: string, name: string, parameters: string, body: string): string {
  return `static ${result} ${name}(${parameters}) {\n${body}\n}`;
}

/**
 * Values that the program's text does not determine: arguments, environment, random numbers, properties of the device.
 * Intervals are those of the recorded run.
 */
export const programInputs: readonly Rule<Wanted, Value>[] = [
  rule('argument count', 1, (scope) => {
    const count = scope.program.arguments.length + 1;
    return scope.options.hasArguments ? { text: 'argc', type: 'int', low: count, high: count } : null;
  }),
  rule('argument', 2.5, (scope) => {
    const { random } = scope;
    const args = scope.program.arguments;
    if (!scope.options.hasArguments || args.length === 0) return null;
    const at = random.below(args.length);
    const value = args[at]!;
    scope.header('cstdlib');
    const text = random.pick([`atoi(argv[${at + 1}])`, `std::atoi(argv[${at + 1}])`, `std::stoi(argv[${at + 1}])`]);
    if (text.includes('stoi')) scope.header('string');
    return { text, type: 'int', low: value, high: value };
  }),
  rule('argument with default', 1.5, (scope) => {
    const { random } = scope;
    const args = scope.program.arguments;
    if (!scope.options.hasArguments) return null;
    const at = random.below(2);
    const other = random.between(1, 64);
    const value = args[at] ?? other;
    scope.header('cstdlib');
    return { text: `(argc > ${at + 1} ? atoi(argv[${at + 1}]) : ${other})`, type: 'int', low: value, high: value };
  }),
  rule('long argument', 0.6, (scope) => {
    const [value] = scope.program.arguments;
    if (!scope.options.hasArguments || value === undefined) return null;
    scope.header('cstdlib');
    const text = scope.random.pick(['strtol(argv[1], nullptr, 10)', 'atol(argv[1])', 'std::strtol(argv[1], NULL, 0)']);
    return { text, type: 'long', low: value, high: value };
  }),
  rule('length of argument', 0.5, (scope) => {
    const [value] = scope.program.arguments;
    if (!scope.options.hasArguments || value === undefined) return null;
    scope.header('cstring');
    return { text: 'strlen(argv[1])', type: 'unsigned long', low: String(value).length, high: String(value).length };
  }),
  rule('digit of argument', 0.5, (scope) => {
    const [value] = scope.program.arguments;
    if (!scope.options.hasArguments || value === undefined) return null;
    return { text: "(argv[1][0] - '0')", type: 'int', low: 1, high: 9 };
  }),
  rule('environment variable', 1, (scope) => {
    const value = scope.random.between(1, 128);
    scope.header('cstdlib');
    const setting = scope.program.once('setting', 'setting', (name) =>
      smallFunction(
        'int',
        name,
        'const char* name, int fallback',
        'const char* text = getenv(name);\nreturn text ? atoi(text) : fallback;',
      ),
    );
    const variable = scope.random.pick(['BLOCKS', 'THREADS', 'REPEATS', 'SIZE']);
    return { text: `${setting}("${variable}", ${value})`, type: 'int', low: value, high: value };
  }),
  rule('random number', 1, (scope) => {
    const { random } = scope;
    scope.header('cstdlib');
    const bound = random.pick([2, 4, 10, 16, 100, 256]);
    const text = random.pick([`(rand() % ${bound})`, `(std::rand() & ${2 ** Math.floor(Math.log2(bound)) - 1})`]);
    return { text, type: 'int', low: 0, high: bound - 1 };
  }),
  rule('count of devices', 0.5, (scope) => {
    const count = scope.program.once('device count', 'deviceCount', (name) =>
      smallFunction('int', name, '', 'int count = 0;\ncudaGetDeviceCount(&count);\nreturn count;'),
    );
    return { text: `${count}()`, type: 'int', low: 1, high: 1 };
  }),
  rule('device attribute', 0.5, (scope) => {
    const attribute = scope.program.once('attribute', 'attribute', (name) =>
      smallFunction('int', name, 'cudaDeviceAttr which', 'int value = 0;\ncudaDeviceGetAttribute(&value, which, 0);\nreturn value;'),
    );
    const [which, value] = scope.random.pick([
      ['MultiProcessorCount', 132],
      ['WarpSize', 32],
      ['ComputeCapabilityMajor', 9],
    ] as const);
    return { text: `${attribute}(cudaDevAttr${which})`, type: 'int', low: value, high: value };
  }),
  rule('device property', 0.5, (scope) => {
    const properties = scope.program.once('properties', 'properties', (name) =>
      smallFunction('cudaDeviceProp', name, '', 'cudaDeviceProp read;\ncudaGetDeviceProperties(&read, 0);\nreturn read;'),
    );
    const [which, value] = scope.random.pick([
      ['multiProcessorCount', 132],
      ['warpSize', 32],
      ['maxThreadsPerBlock', 1024],
    ] as const);
    return { text: `${properties}().${which}`, type: 'int', low: value, high: value };
  }),
];
