/** Declarations, assignments and control flow. */
import { type IntegerType, convertedRange, integerTypes, isWithin, rangeOf, spellings } from './arithmetic.ts';
import { type Rule, type Scope, type Variable, block, rule } from './draft.ts';

export type StatementRule = Rule<null, readonly string[]>;

/** Lines with a launch, and possibly other statements before and after it. */
export function launchingBody(scope: Scope): readonly string[] {
  const { random, grammar } = scope;
  const before = random.chance(0.35) ? grammar.statement(scope) : [];
  const launch = grammar.launch(scope);
  return [...before, ...launch, ...(random.chance(0.2) ? grammar.statement(scope) : [])];
}

/** A block with statements, of which some launch. */
function branch(scope: Scope): readonly string[] {
  const inner = scope.inner();
  return scope.random.chance(0.6) ? launchingBody(inner) : inner.statements(scope.random.between(1, 2));
}

/** A type that contains the interval. */
function typeFor(scope: Scope, low: number, high: number): IntegerType {
  return scope.random.pick(
    [...integerTypes, 'int', 'int', 'int', 'unsigned', 'unsigned long'].filter((each): each is IntegerType => {
      const range = rangeOf(each as IntegerType);
      return each !== 'bool' && each !== 'char' && range.low <= low && range.high >= high;
    }),
  );
}

/** Names for variables of programs. */
const stems = ['n', 'count', 'size', 'threads', 'blocks', 'width', 'total', 'step', 'offset', 'limit', 'value'];

export const declarationRules: readonly StatementRule[] = [
  rule('variable', 8, (scope) => {
    const high = scope.random.pick([10, 100, 255, 1000, 4096]);
    const type = typeFor(scope, 0, high);
    const value = scope.integer(0, high, 3);
    const name = scope.name(scope.random.pick(stems));
    scope.declare(name, type, 0, high, true);
    return [`${scope.random.pick(spellings(type))} ${name}${scope.random.pick([` = ${value.text}`, `(${value.text})`])};`];
  }),
  rule('constant', 4, (scope) => {
    const value = scope.integer(1, 512, 3);
    const type = typeFor(scope, value.low, value.high);
    const name = scope.name(scope.random.pick(stems));
    const { low, high } = convertedRange(value, type);
    scope.declare(name, type, low, high);
    return [`const ${scope.random.pick(spellings(type))} ${name} = ${value.text};`];
  }),
  rule('auto', 3, (scope) => {
    const value = scope.integer(0, 1000, 3);
    const name = scope.name(scope.random.pick(stems));
    scope.declare(name, value.type, value.low, value.high);
    return [`${scope.random.pick(['auto', 'const auto', 'auto&&', 'const auto&'])} ${name} = (${value.type})(${value.text});`];
  }),
  rule('constexpr', 2, (scope) => {
    const value = scope.random.pick([1, 3, 8, 16, 31, 64, 100, 128]);
    const name = scope.name('k');
    scope.declare(name, 'int', value, value);
    return [`${scope.random.pick(['constexpr', 'static const', 'static constexpr'])} int ${name} = ${value};`];
  }),
  rule('narrow variable', 1.5, (scope) => {
    const type = scope.random.pick<IntegerType>(['unsigned char', 'signed char', 'short', 'unsigned short', 'char']);
    const name = scope.name('narrow');
    const { text } = scope.integer(0, 100_000, 3);
    scope.declare(name, type, rangeOf(type).low, rangeOf(type).high, true);
    return [`${scope.random.pick(spellings(type))} ${name} = ${text};`];
  }),
  rule('boolean', 1.5, (scope) => {
    const name = scope.name('flag');
    const text = scope.random.pick([scope.grammar.condition(scope, 2), scope.integer(0, 3).text]);
    scope.declare(name, 'bool', 0, 1, true);
    return [`bool ${name} = ${text};`];
  }),
  rule('float', 1.5, (scope) => {
    const name = scope.name('scale');
    const [value, number] = scope.random.pick([
      ['0.5f', 0.5],
      ['0.75f', 0.75],
      ['2.0f', 2],
      ['1.25f', 1.25],
    ] as const);
    scope.declare(`(int)(${name} * 100)`, 'int', number * 100, number * 100);
    return [`${scope.random.pick(['float', 'const float', 'double', 'auto'])} ${name} = ${value};`];
  }),
  rule('two variables', 1, (scope) => {
    const [a, b] = [scope.name('a'), scope.name('b')];
    const [first, second] = [scope.integer(1, 64), scope.integer(1, 64)];
    scope.declare(a, 'int', 1, 64, true);
    scope.declare(b, 'int', 1, 64, true);
    return [`int ${a} = ${first.text}, ${b}(${second.text});`];
  }),
  rule('reference', 1.5, (scope) => {
    const target = mutable(scope);
    if (!target) return null;
    const name = scope.name('ref');
    const isConst = scope.random.chance(0.4);
    scope.declare(name, target.type, target.low, target.high, !isConst);
    return [`${isConst ? 'const ' : ''}${scope.random.pick([target.type, 'auto'])}& ${name} = ${target.text};`];
  }),
  rule('pointer', 1.5, (scope) => {
    const target = mutable(scope);
    if (!target) return null;
    const name = scope.name('where');
    scope.declare(`(*${name})`, target.type, target.low, target.high, true);
    return [`${scope.random.pick([target.type, 'auto'])}* ${name} = &${target.text};`];
  }),
  rule('pointer to pointer', 1.2, (scope) => {
    const target = mutable(scope);
    if (!target) return null;
    const [first, name] = [scope.name('where'), scope.name('where')];
    scope.declare(`(**${name})`, target.type, target.low, target.high, true);
    return [`${target.type}* ${first} = &${target.text};`, `${target.type}** ${name} = &${first};`];
  }),
  rule('array', 2, (scope) => {
    const count = scope.random.between(2, 5);
    const values = Array.from({ length: count }, () => `(int)${scope.integer(1, 200, 1).text}`);
    const name = scope.name('sizes');
    const at = scope.integer(0, count - 1, 1);
    const text = `${name}[${at.text}]`;
    const isConst = scope.random.chance(0.5);
    // The index may change, but every element is in the interval.
    scope.declare(text, 'int', 1, 200, !isConst);
    scope.declare(`${name}[${scope.random.below(count)}]`, 'int', 1, 200, !isConst);
    return [`${isConst ? 'const ' : ''}int ${name}[${scope.random.pick(['', String(count)])}] = {${values.join(', ')}};`];
  }),
  rule('two-dimensional array', 1, (scope) => {
    const values = [0, 1].map(() => [1, 2, 3].map(() => `(int)${scope.integer(1, 64, 1).text}`));
    const name = scope.name('grid');
    scope.declare(`${name}[${scope.integer(0, 1, 1).text}][${scope.integer(0, 2, 1).text}]`, 'int', 1, 64, true);
    return [`int ${name}[2][3] = {${values.map((list) => `{${list.join(', ')}}`).join(', ')}};`];
  }),
  rule('pointer into array', 1, (scope) => {
    const [name, pointer] = [scope.name('data'), scope.name('cursor')];
    const values = [1, 2, 3, 4].map(() => `(int)${scope.integer(1, 100, 1).text}`);
    const at = scope.random.below(3);
    scope.declare(`*(${pointer} + 1)`, 'int', 1, 100);
    scope.declare(`${pointer}[0]`, 'int', 1, 100, true);
    scope.declare(`(${pointer} - ${name})`, 'long', at, at);
    return [`int ${name}[] = {${values.join(', ')}};`, `int* ${pointer} = ${scope.random.pick([`${name} + ${at}`, `&${name}[${at}]`])};`];
  }),
  rule('global', 2, (scope) => {
    const [value, high] = [scope.random.between(1, 64), scope.random.pick([64, 100, 500])];
    const type = typeFor(scope, 0, high);
    const specifier = scope.random.pick(['static ', '', 'extern "C" ', 'thread_local ', 'static volatile ']);
    const isVolatile = specifier.includes('volatile');
    // Names with C linkage are shared by the programs of one unit.
    const isShared = specifier.startsWith('extern');
    const name = `${scope.name('global')}${isShared ? `_s${scope.program.seed}` : ''}`;
    if (isShared) scope.define(`extern "C" {\n${type} ${name} = ${value};\n}`);
    else scope.define(`${specifier}${isVolatile ? 'int' : type} ${name} = ${value};`);
    scope.program.globals.push({ text: isVolatile ? `(+${name})` : name, type: isVolatile ? 'int' : type, low: 0, high, isMutable: false });
    return [`${name} = ${scope.integer(0, high).text};`];
  }),
  rule('global constant', 1.5, (scope) => {
    const value = scope.random.pick([16, 32, 100, 256]);
    const name = scope.name('k');
    scope.define(
      `${scope.random.pick(['const', 'constexpr', 'static const', 'inline constexpr'])} int ${name} = ${scope.random.pick([`${value}`, `${value / 2} * 2`])};`,
    );
    scope.program.globals.push({ text: name, type: 'int', low: value, high: value, isMutable: false });
    return [];
  }),
  rule('union', 0.8, (scope) => {
    const type = scope.program.once('union', 'Word', (called) => `union ${called} {\nunsigned whole;\nfloat real;\nint number;\n};`);
    const name = scope.name('word');
    const value = scope.integer(0, 1000);
    scope.declare(`${name}.number`, 'int', 0, 1000);
    return [`${type} ${name};`, `${name}.number = ${value.text};`];
  }),
  rule('bit-field', 1, (scope) => {
    const type = scope.program.once(
      'bit-field',
      'Packed',
      (called) => `struct ${called} {\nunsigned low : 3;\nunsigned middle : 5;\nint high : 8;\n};`,
    );
    const name = scope.name('packed');
    scope.declare(`(${name}.low + 0)`, 'int', 0, 7);
    scope.declare(`(${name}.middle + 1)`, 'int', 1, 32);
    return [`${type} ${name} = {};`, `${name}.low = ${scope.integer(0, 1000).text};`, `${name}.middle = ${scope.integer(0, 1000).text};`];
  }),
  rule('structure', 2, (scope) => {
    const type = scope.program.once(
      'configuration',
      'Config',
      (called) => `struct ${called} {\nint blocks = 4;\nunsigned threads = 64;\nshort level;\n};`,
    );
    const name = scope.name('config');
    scope.declare(`${name}.blocks`, 'int', 1, 64, true);
    scope.declare(`${name}.threads`, 'unsigned', 32, 256, true);
    const lines = [`${type} ${name};`, `${name}.level = 0;`];
    if (scope.random.chance(0.5)) lines.push(`${name}.blocks = ${scope.integer(1, 64).text};`);
    if (scope.random.chance(0.5)) lines.push(`${name}.threads = ${scope.integer(32, 256).text};`);
    return lines;
  }),
  rule('cleared structure', 0.8, (scope) => {
    scope.header('cstring');
    const [type, name] = [
      scope.program.once('cleared', 'State', (called) => `struct ${called} {\nint step;\nunsigned short sizes[2];\nfloat ratio;\n};`),
      scope.name('state'),
    ];
    const value = scope.integer(1, 300).text;
    scope.declare(`${name}.step`, 'int', 0, 60, true);
    scope.declare(`${name}.sizes[${scope.random.pick([0, 1])}]`, 'unsigned short', 0, 300, true);
    return [`${type} ${name};`, `memset(&${name}, 0, sizeof(${scope.random.pick([name, type])}));`, `${name}.sizes[1] = ${value};`];
  }),
  rule('copied structure', 1, (scope) => {
    const type = scope.program.once('pair of sizes', 'Sizes', (called) => `struct ${called} {\nint a, b;\n};`);
    const [first, second] = [scope.name('sizes'), scope.name('sizes')];
    const values = [1, 2, 3].map(() => scope.integer(1, 64).text);
    for (const text of [`${first}.a`, `${first}.b`, `${second}.a`, `${second}.b`]) scope.declare(text, 'int', 1, 64, true);
    const copy = scope.random.pick([
      `${type} ${second} = ${first};`,
      `${type} ${second};\n${second} = ${first};`,
      `auto ${second}(${first});`,
      `${type}& ${second} = ${first};`,
    ]);
    return [
      `${type} ${first} = {(int)${values[0]}, (int)${values[1]}};`,
      copy,
      `${scope.random.pick([first, second])}.${scope.random.pick(['a', 'b'])} = ${values[2]};`,
    ];
  }),
  rule('nested structure', 1.2, (scope) => {
    const type = scope.program.once(
      'problem',
      'Problem',
      (called) => `struct ${called} {\nstruct Extent {\nint rows, columns;\n} extent;\nint counts[2];\n};`,
    );
    const name = scope.name('problem');
    const values = [1, 2, 3, 4].map(() => `(int)${scope.integer(1, 64).text}`);
    scope.declare(`${name}.extent.rows`, 'int', 1, 64, true);
    scope.declare(`${name}.extent.columns`, 'int', 1, 64);
    scope.declare(`${name}.counts[${scope.integer(0, 1, 1).text}]`, 'int', 1, 64, true);
    return [`${type} ${name} = {{${values[0]}, ${values[1]}}, {${values[2]}, ${values[3]}}};`];
  }),
  rule('structured binding', 0.8, (scope) => {
    const names = ['u', 'v'].map((stem) => scope.name(stem));
    const [rows, columns] = [scope.name('rows'), scope.name('columns')];
    const values = [1, 2].map(() => scope.integer(1, 64));
    scope.header('utility');
    scope.declare(rows, 'int', 1, 64);
    scope.declare(columns, 'int', 1, 64);
    return [
      `auto [${names.join(', ')}] = std::pair<int, int>(${values.map(({ text }) => text).join(', ')});`,
      `const int ${rows} = ${names[0]}, ${columns} = ${names[1]};`,
    ];
  }),
  rule('type alias', 0.7, (scope) => {
    const alias = scope.name('index_t');
    const type = scope.random.pick<IntegerType>(['int', 'long', 'unsigned', 'unsigned short']);
    const name = scope.name('n');
    const value = scope.integer(0, 1000);
    scope.declare(name, type, 0, 1000, true);
    return [scope.random.pick([`using ${alias} = ${type};`, `typedef ${type} ${alias};`]), `${alias} ${name} = ${value.text};`];
  }),
];

/** A variable that statements may change. */
function mutable(scope: Scope): Variable | undefined {
  const all = scope.visibleVariables().filter(({ isMutable, text }) => isMutable && /^\w+$/.test(text));
  return all.length > 0 ? scope.random.pick(all) : undefined;
}

export const assignmentRules: readonly StatementRule[] = [
  rule('assignment', 5, (scope) => {
    const all = scope.visibleVariables().filter(({ isMutable }) => isMutable);
    if (all.length === 0) return null;
    const { text, low, high } = scope.random.pick(all);
    return [`${text} = ${scope.integer(low, high, 3).text};`];
  }),
  rule('compound assignment', 2, (scope) => {
    const target = mutable(scope);
    if (!target || target.low !== 0 || target.type === 'bool') return null;
    const operator = scope.random.pick(['/=', '%=', '>>=', '&=']);
    const operand = operator === '>>=' ? scope.integer(0, 3) : scope.integer(1, 50);
    if (operand.type.startsWith('unsigned') && target.type.startsWith('signed')) return null;
    return [`${target.text} ${operator} ${operand.text};`];
  }),
  rule('guarded increase', 2, (scope) => {
    const target = mutable(scope);
    if (!target || target.high - target.low < 2 || target.high > 10_000) return null;
    const amount = scope.integer(1, Math.min(10, target.high - target.low), 1);
    const line = `${target.text} ${amount.high === 1 ? '++' : `+= ${amount.text}`};`;
    return [`if (${target.text} < ${target.high - amount.high + 1}) ${line.replace(' ++', '++')}`];
  }),
  rule('guarded decrease', 1.2, (scope) => {
    const target = mutable(scope);
    if (!target || target.high - target.low < 1 || target.type === 'bool') return null;
    return [`if (${target.text} > ${target.low}) ${scope.random.pick([`--${target.text}`, `${target.text}--`, `${target.text} -= 1`])};`];
  }),
  rule('swap', 1.5, (scope) => {
    const all = scope.visibleVariables().filter(({ isMutable }) => isMutable);
    const pairs = all.flatMap((first) =>
      all
        .filter((each) => each.text < first.text && each.type === first.type && each.low === first.low && each.high === first.high)
        .map((second) => [first, second] as const),
    );
    if (pairs.length === 0) return null;
    const [first, second] = scope.random.pick(pairs);
    scope.header('utility');
    return [`std::swap(${first.text}, ${second.text});`];
  }),
  rule('chained assignment', 1.2, (scope) => {
    const all = scope.visibleVariables().filter(({ isMutable }) => isMutable);
    const pairs = all.flatMap((first) =>
      all.filter((each) => each.text !== first.text && isWithin(first, each.low, each.high)).map((second) => [first, second] as const),
    );
    if (pairs.length === 0) return null;
    const [first, second] = scope.random.pick(pairs);
    return [`${second.text} = ${first.text} = ${scope.integer(first.low, first.high).text};`];
  }),
  rule('function that changes a global', 1.2, (scope) => {
    const [name, global] = [scope.name('bump'), scope.name('level')];
    scope.define(
      `static int ${global} = ${scope.random.between(1, 9)};\nstatic ${scope.random.pick(['void', 'int'])} ${name}(int by) { ${global} = (${global} + by) % 60 + 1; }`.replace(
        /static int (\w+)\(int by\) \{ (.*) \}/,
        'static int $1(int by) {\n$2\nreturn by;\n}',
      ),
    );
    scope.program.globals.push({ text: global, type: 'int', low: 1, high: 60, isMutable: false });
    return Array.from({ length: scope.random.between(1, 3) }, () => `${name}(${scope.integer(0, 50).text});`);
  }),
  rule('value of increment', 1, (scope) => {
    const target = mutable(scope);
    if (!target || target.high < 2 || target.type === 'bool' || target.high > 10_000) return null;
    const name = scope.name('old');
    scope.declare(name, 'int', Math.min(0, target.low), target.high);
    return [
      `int ${name} = 0;`,
      `if (${target.text} < ${target.high}) ${name} = ${scope.random.pick([`${target.text}++`, `++${target.text}`])};`,
    ];
  }),
];

const single = (lines: readonly string[]): boolean =>
  lines.length === 1 && /^\w[^{}]*<<<[^{}]*;$/.test(lines[0]!) && !lines[0]!.includes('\n');

/** A substatement: braces are left out sometimes. */
const substatement = (scope: Scope, lines: readonly string[]): string =>
  single(lines) && scope.random.chance(0.7) ? lines[0]! : block(lines);

export const controlRules: readonly StatementRule[] = [
  rule('if', 5, (scope) => {
    if (scope.isDeep) return null;
    return [`if (${scope.grammar.condition(scope, 2)}) ${substatement(scope, branch(scope))}`];
  }),
  rule('if and else', 4, (scope) => {
    if (scope.isDeep) return null;
    const condition = scope.grammar.condition(scope, 2);
    return [`if (${condition}) ${block(branch(scope))} else ${substatement(scope, branch(scope))}`];
  }),
  rule('chain', 1.5, (scope) => {
    if (scope.isDeep) return null;
    const [first, second] = [scope.grammar.condition(scope, 1), scope.grammar.condition(scope, 1)];
    return [`if (${first}) ${block(branch(scope))} else if (${second}) ${block(branch(scope))} else ${block(branch(scope))}`];
  }),
  rule('if with initialiser', 0.8, (scope) => {
    if (scope.isDeep) return null;
    const name = scope.name('x');
    const inner = scope.inner();
    const value = scope.integer(0, 100);
    inner.declare(name, 'int', 0, 100);
    return [`if (int ${name} = ${value.text}; ${name} > ${scope.random.below(60)}) ${block(launchingBody(inner))}`];
  }),
  rule('if with declaration', 0.6, (scope) => {
    if (scope.isDeep) return null;
    const name = scope.name('x');
    const inner = scope.inner();
    const value = scope.integer(0, 9);
    inner.declare(name, 'int', 0, 9);
    return [`if (const int ${name} = ${value.text}) ${block(launchingBody(inner))}`];
  }),
  rule('switch', 2, (scope) => {
    if (scope.isDeep) return null;
    const value = scope.integer(0, 6);
    const cases = [0, 1, 2, 3].slice(0, scope.random.between(2, 4));
    const lines = cases.map(
      (number) =>
        `case ${number}: ${block([...branch(scope.inner({ isLoop: false })), scope.random.chance(0.8) ? 'break;' : '[[fallthrough]];'])}`,
    );
    return [`switch (${value.text}) {\n${lines.join('\n')}\ndefault: ${block(branch(scope.inner({ isLoop: false })))}\n}`];
  }),
  rule('switch over instances', 1.5, (scope) => {
    if (scope.isDeep || !scope.canLaunch()) return null;
    const name = scope.program.once(
      'value template',
      'tiled',
      (called) =>
        `template <int Tile, bool Last = false>\n__global__ void ${called}(float* p0, int p1) {\nif (threadIdx.x == 0 && blockIdx.x == 0) p0[0] = 1;\n}`,
    );
    const inner = scope.inner();
    const before: string[] = [];
    const args = [
      scope.grammar.argument(scope, { kind: 'pointer', element: 'float', isConst: false }, before),
      scope.grammar.argument(scope, { kind: 'integer', type: 'int' }, before),
    ];
    const [grid, threads] = [inner.integer(1, 64), inner.integer(1, 512)];
    scope.chargeLaunches(1);
    const sizes = [8, 16, 32, 64].slice(0, scope.random.between(2, 4));
    const value = scope.integer(1, 128);
    const lines = sizes.map((size) => `case ${size}:\n${name}<${size}><<<${grid.text}, ${threads.text}>>>(${args.join(', ')});\nbreak;`);
    return [...before, `switch (${value.text}) {\n${lines.join('\n')}\ndefault:\n${name}<1, true><<<1, 1>>>(${args.join(', ')});\n}`];
  }),
  rule('block', 1, (scope) => (scope.isDeep ? null : [block(branch(scope))])),
  rule('early return', 0.6, (scope) => {
    const { exit } = scope.options;
    // The value is rare, so that most programs continue.
    if (exit === null) return null;
    return [`if (${scope.integer(0, 5000).text} ${scope.random.pick(['== 4999', '> 4990', '< 0'])}) ${exit}`];
  }),
  rule('goto', 0.7, (scope) => {
    if (scope.isDeep) return null;
    const label = scope.name('done');
    const condition = scope.grammar.condition(scope, 1);
    return [`if (${condition}) goto ${label};`, block(branch(scope)), `${label}:;`];
  }),
  rule('goto backwards', 0.5, (scope) => {
    if (scope.isDeep || !scope.canLaunch(3)) return null;
    const [label, name] = [scope.name('again'), scope.name('tries')];
    const inner = scope.loop(3, false);
    inner.declare(name, 'int', 0, 2);
    return [
      block([
        `int ${name} = 0;`,
        `${label}:`,
        block(launchingBody(inner)),
        `if (++${name} < ${scope.random.between(1, 3)}) goto ${label};`,
      ]),
    ];
  }),
  rule('conditional expression of launches', 0.6, (scope) => {
    if (!scope.canLaunch()) return null;
    const name = scope.program.once('small kernel', 'mark', (called) => `__global__ void ${called}(int p0) {}`);
    scope.chargeLaunches(1);
    const values = [1, 2].map(() => scope.integer(0, 100).text);
    return [
      `${scope.grammar.condition(scope, 1)} ? ${name}<<<1, 32>>>(${values[0]}) : ${name}<<<2, ${scope.integer(1, 64).text}>>>(${values[1]});`,
    ];
  }),
  rule('short circuit', 0.6, (scope) => {
    if (!scope.canLaunch()) return null;
    const name = scope.program.once(
      'launching predicate',
      'tryLaunch',
      (called) =>
        `__global__ void ${called}Kernel(int p0) {}\nstatic bool ${called}(int n) {\nif (n > 50) return false;\n${called}Kernel<<<n + 1, 32>>>(n);\nreturn true;\n}`,
    );
    scope.chargeLaunches(1);
    const condition = scope.grammar.condition(scope, 1);
    return [`if (${condition} ${scope.random.pick(['&&', '||'])} ${name}(${scope.integer(0, 100).text})) {\n}`];
  }),
];
