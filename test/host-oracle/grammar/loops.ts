/** Loops, with launches whose arguments change. Each has a bound of its trip count. */
import { type Scope, block, rule } from './draft.ts';
import { type StatementRule, launchingBody } from './statements.ts';

/** The body of a loop: launches, and possibly an early end of an iteration. */
function body(scope: Scope): readonly string[] {
  const { random } = scope;
  const lines: string[] = [];
  if (scope.options.isLoop && random.chance(0.15)) lines.push(`if (${scope.grammar.condition(scope, 1)}) continue;`);
  lines.push(...(random.chance(0.85) ? launchingBody(scope) : scope.statements(1)));
  if (scope.options.isLoop && random.chance(0.15)) lines.push(`if (${scope.grammar.condition(scope, 1)}) break;`);
  return lines;
}

/** The largest trip count for which the body may launch; null without such a loop. */
function trips(scope: Scope, most: number): number | null {
  if (scope.isDeep) return null;
  for (const count of [most, 8, 6, 4, 3, 2]) if (count <= most && scope.canLaunch(count)) return count;
  return null;
}

export const loopRules: readonly StatementRule[] = [
  rule('upwards', 6, (scope) => {
    const most = trips(scope, 6);
    if (most === null) return null;
    const [start, count] = [scope.random.below(3), scope.integer(1, most)];
    const name = scope.name('i');
    const inner = scope.loop(most);
    const type = scope.random.pick(['int', 'int', 'unsigned', 'unsigned long', 'short'] as const);
    inner.declare(name, type, start, start + most - 1);
    const spelled = type === 'unsigned long' ? 'size_t' : type;
    const bound = start === 0 ? count.text : `${start} + ${count.text}`;
    return [
      `for (${spelled} ${name} = ${start}; ${name} < ${bound}; ${scope.random.pick([`${name}++`, `++${name}`, `${name} += 1`])}) ${block(body(inner))}`,
    ];
  }),
  rule('inclusive', 1.5, (scope) => {
    const most = trips(scope, 5);
    if (most === null) return null;
    const count = scope.integer(1, most);
    const name = scope.name('i');
    const inner = scope.loop(most);
    inner.declare(name, 'int', 1, most);
    return [`for (int ${name} = 1; ${name} <= ${count.text}; ${name}++) ${block(body(inner))}`];
  }),
  rule('downwards', 2, (scope) => {
    const most = trips(scope, 6);
    if (most === null) return null;
    const count = scope.integer(1, most);
    const name = scope.name('i');
    const inner = scope.loop(most);
    const form = scope.random.below(3);
    inner.declare(name, 'int', form === 0 ? 0 : form === 1 ? 1 : 0, form === 1 ? most : most - 1);
    const head = [
      `for (int ${name} = ${count.text} - 1; ${name} >= 0; ${name}--)`,
      `for (int ${name} = ${count.text}; ${name} > 0; --${name})`,
      `for (int ${name} = ${count.text}; ${name}-- > 0;)`,
    ][form]!;
    return [`${head} ${block(body(inner))}`];
  }),
  rule('steps', 2, (scope) => {
    const most = trips(scope, 5);
    if (most === null) return null;
    const step = scope.random.pick([2, 3, 16, 64]);
    const name = scope.name('offset');
    const count = scope.integer(1, most * step);
    const inner = scope.loop(most);
    inner.declare(name, 'int', 0, most * step - 1);
    return [`for (int ${name} = 0; ${name} < ${count.text}; ${name} += ${step}) ${block(body(inner))}`];
  }),
  rule('doubling', 2.5, (scope) => {
    const most = trips(scope, 8);
    if (most === null) return null;
    const name = scope.name('stride');
    const bound = scope.integer(1, 2 ** most);
    const inner = scope.loop(most);
    inner.declare(name, 'int', 1, 2 ** most - 1);
    return [
      `for (int ${name} = 1; ${name} < ${bound.text}; ${name} ${scope.random.pick(['*= 2', '<<= 1', `+= ${name}`])}) ${block(body(inner))}`,
    ];
  }),
  rule('halving', 2.5, (scope) => {
    const most = trips(scope, 8);
    if (most === null) return null;
    const name = scope.name('s');
    const bound = scope.integer(1, 2 ** most - 1);
    const inner = scope.loop(most);
    inner.declare(name, 'unsigned', 1, 2 ** most - 1);
    return [
      `for (unsigned int ${name} = ${bound.text}; ${name} > 0; ${name} ${scope.random.pick(['/= 2', '>>= 1'])}) ${block(body(inner))}`,
    ];
  }),
  rule('two variables', 1, (scope) => {
    const most = trips(scope, 5);
    if (most === null) return null;
    const [first, second] = [scope.name('lo'), scope.name('hi')];
    const inner = scope.loop(most);
    inner.declare(first, 'int', 0, most * 2);
    inner.declare(second, 'int', 1, most * 2);
    const count = scope.integer(1, most * 2);
    return [`for (int ${first} = 0, ${second} = ${count.text}; ${first} < ${second}; ++${first}, --${second}) ${block(body(inner))}`];
  }),
  rule('while', 3, (scope) => {
    const most = trips(scope, 6);
    if (most === null) return null;
    const name = scope.name('left');
    const value = scope.integer(1, most);
    const inner = scope.loop(most, false);
    inner.declare(name, 'int', 1, most);
    scope.declare(name, 'int', 0, most);
    const lines = [
      `int ${name} = ${value.text};`,
      `while (${name} > 0) ${block([...body(inner), scope.random.pick([`${name}--;`, `${name} -= 1;`])])}`,
    ];
    return lines;
  }),
  rule('while with remainder', 1.2, (scope) => {
    const most = trips(scope, 6);
    if (most === null) return null;
    const [name, chunk] = [scope.name('remaining'), scope.name('chunk')];
    const size = scope.random.pick([10, 64, 100]);
    const inner = scope.loop(most, false);
    inner.declare(name, 'int', 1, size * most);
    inner.declare(chunk, 'int', 1, size);
    return [
      `int ${name} = ${scope.integer(1, size * most).text};`,
      `while (${name} > 0) ${block([`const int ${chunk} = ${name} < ${size} ? ${name} : ${size};`, ...body(inner), `${name} -= ${chunk};`])}`,
    ];
  }),
  rule('do', 2, (scope) => {
    const most = trips(scope, 5);
    if (most === null) return null;
    const name = scope.name('pass');
    const count = scope.integer(1, most);
    const inner = scope.loop(most, false);
    inner.declare(name, 'int', 0, most - 1);
    return [`int ${name} = 0;`, `do ${block([...body(inner), `${name}++;`])} while (${name} < ${count.text});`];
  }),
  rule('halving do', 1, (scope) => {
    const most = trips(scope, 8);
    if (most === null) return null;
    const name = scope.name('n');
    const value = scope.integer(1, 2 ** most - 1);
    const inner = scope.loop(most, false);
    inner.declare(name, 'int', 1, 2 ** most - 1);
    return [
      `int ${name} = ${value.text};`,
      `do ${block([...body(inner), `${name} = (${name} + 1) / 2;`, `if (${name} == 1) break;`])} while (true);`,
    ];
  }),
  rule('without condition', 1, (scope) => {
    const most = trips(scope, 5);
    if (most === null) return null;
    const name = scope.name('pass');
    const inner = scope.loop(most, false);
    inner.declare(name, 'int', 0, most - 1);
    const end = `if (${name} >= ${scope.integer(1, most).text}) break;`;
    return [
      block([
        `int ${name} = 0;`,
        `${scope.random.pick(['for (;;)', 'while (true)', 'while (1)'])} ${block([end, ...body(inner), `++${name};`])}`,
      ]),
    ];
  }),
  rule('nested', 2, (scope) => {
    if (trips(scope, 9) !== 9) return null;
    const [row, column] = [scope.name('row'), scope.name('column')];
    const inner = scope.loop(9);
    inner.declare(row, 'int', 0, 2);
    inner.declare(column, 'int', 0, 2);
    const [rows, columns] = [scope.integer(1, 3), scope.integer(1, 3)];
    const start = scope.random.pick(['0', row]);
    return [
      `for (int ${row} = 0; ${row} < ${rows.text}; ${row}++) for (int ${column} = ${start}; ${column} < ${columns.text}; ${column}++) ${block(body(inner))}`,
    ];
  }),
  rule('over list', 1.5, (scope) => {
    const most = trips(scope, 4);
    if (most === null) return null;
    const values = Array.from({ length: most }, () => `(int)${scope.integer(1, 128).text}`);
    const name = scope.name('each');
    const inner = scope.loop(most);
    inner.declare(name, 'int', 1, 128);
    scope.header('initializer_list');
    return [
      `for (${scope.random.pick(['int', 'auto', 'const int', 'const auto&'])} ${name} : {${values.join(', ')}}) ${block(body(inner))}`,
    ];
  }),
  rule('over array', 1.5, (scope) => {
    const most = trips(scope, 4);
    if (most === null) return null;
    const values = Array.from({ length: most }, () => `(unsigned char)${scope.integer(1, 200).text}`);
    const [array, name] = [scope.name('list'), scope.name('each')];
    const inner = scope.loop(most);
    inner.declare(name, 'unsigned char', 0, 255);
    return [
      `unsigned char ${array}[] = {${values.join(', ')}};`,
      `for (${scope.random.pick(['auto', 'auto&', 'const unsigned char&'])} ${name} : ${array}) ${block(body(inner))}`,
    ];
  }),
  rule('over arguments', 1, (scope) => {
    if (!scope.options.hasArguments) return null;
    const { arguments: args } = scope.program;
    const [name, at] = [scope.name('sum'), scope.name('arg')];
    scope.header('cstdlib');
    const sum = args.reduce((total, value) => total + value, 0);
    const launches = args.length > 0 && !scope.isDeep && scope.canLaunch(args.length) && scope.random.chance(0.5);
    const inner = scope.loop(args.length, false);
    inner.declare(name, 'int', 1, sum + 1);
    inner.declare(at, 'int', 1, Math.max(1, args.length));
    const lines = launches ? launchingBody(inner) : [];
    scope.declare(name, 'int', 1, sum + 1, false);
    return [`int ${name} = 1;`, `for (int ${at} = 1; ${at} < argc; ${at}++) ${block([`${name} += atoi(argv[${at}]);`, ...lines])}`];
  }),
  rule('while with continue', 1, (scope) => {
    const most = trips(scope, 6);
    if (most === null) return null;
    const name = scope.name('index');
    const inner = scope.loop(most);
    inner.declare(name, 'int', 1, most);
    return [
      `int ${name} = 0;`,
      `while (${name} < ${scope.integer(1, most).text}) ${block([`++${name};`, `if (${name} % ${scope.random.pick([2, 3])} == 0) continue;`, ...body(inner)])}`,
    ];
  }),
  rule('by pointer', 1, (scope) => {
    const most = trips(scope, 4);
    if (most === null) return null;
    const values = Array.from({ length: most }, () => `(int)${scope.integer(1, 100).text}`);
    const [array, name] = [scope.name('list'), scope.name('ptr')];
    const inner = scope.loop(most);
    inner.declare(`*${name}`, 'int', 1, 100);
    return [
      `const int ${array}[] = {${values.join(', ')}};`,
      `for (const int* ${name} = ${array}; ${name} != ${array} + ${most}; ++${name}) ${block(body(inner))}`,
    ];
  }),
  rule('changing launch', 2, (scope) => {
    const most = trips(scope, 6);
    if (most === null) return null;
    const [n, blocks] = [scope.name('n'), scope.name('blocks')];
    const inner = scope.loop(most, false);
    inner.declare(n, 'int', 1, 4 ** most);
    inner.declare(blocks, 'int', 1, Math.ceil(4 ** most / 4));
    return [
      `int ${n} = ${scope.integer(1, 4 ** most).text};`,
      `while (${n} > 1) ${block([`int ${blocks} = (${n} + 3) / 4;`, ...body(inner), `${n} = ${blocks};`])}`,
    ];
  }),
  rule('swapped buffers', 1.2, (scope) => {
    const most = trips(scope, 4);
    if (most === null) return null;
    const kernel = scope.program.once(
      'stencil',
      'stencil',
      (name) => `__global__ void ${name}(float* p0, const float* p1, int p2) {\nif (threadIdx.x == 0 && blockIdx.x == 0) p0[0] = p1[0];\n}`,
    );
    const before: string[] = [];
    const [a, b, name] = [scope.name('a'), scope.name('b'), scope.name('t')];
    const pointers = [1, 2].map(() => scope.grammar.argument(scope, { kind: 'pointer', element: 'float', isConst: false }, before));
    const inner = scope.loop(most);
    inner.chargeLaunches(1);
    inner.declare(name, 'int', 0, most - 1);
    scope.header('utility');
    const swap = scope.random.pick([`std::swap(${a}, ${b});`, `float* keep = ${a};\n${a} = ${b};\n${b} = keep;`]);
    return [
      ...before,
      block([
        `float* ${a} = ${pointers[0]};`,
        `float* ${b} = ${pointers[1]};`,
        `for (int ${name} = 0; ${name} < ${scope.integer(1, most).text}; ${name}++) ${block([`${kernel}<<<${inner.integer(1, 64).text}, 64>>>(${b}, ${a}, ${name});`, swap])}`,
      ]),
    ];
  }),
];
