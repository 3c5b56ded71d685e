/** Functions, templates and lambdas that launch. */
import { type Scope, block, rule } from './draft.ts';
import { type StatementRule, launchingBody } from './statements.ts';

/** Calls that are within the bound of launches, at least one. */
export function calls(scope: Scope, callee: Scope, most: number): number {
  let count = 1;
  while (count < most && scope.canLaunch(callee.launches * (count + 1))) count++;
  const made = scope.random.between(1, count);
  scope.charge(callee, made);
  return made;
}

const repeated = (count: number, make: (at: number) => string): readonly string[] => Array.from({ length: count }, (_, at) => make(at));

/** A kernel with the parameters `(float*, int)`, which many rules share. */
export function simpleKernel(scope: Scope): string {
  return scope.program.once(
    'simple kernel',
    'work',
    (name) => `__global__ void ${name}(float* p0, int p1) {\nif (threadIdx.x == 0 && blockIdx.x == 0) p0[0] = p1;\n}`,
  );
}

const specifier = (scope: Scope): string => scope.random.pick(['static ', '', 'inline ', 'static inline ', '']);

export const functionRules: readonly StatementRule[] = [
  rule('parameter by value', 4, (scope) => {
    const callee = scope.callee();
    if (!callee) return null;
    const name = scope.name('run');
    const type = scope.random.pick(['int', 'unsigned', 'long', 'short'] as const);
    callee.declare('n', type, 1, 200, true);
    const body = launchingBody(callee);
    scope.define(`${specifier(scope)}void ${name}(${type} n) ${block(body)}`);
    return repeated(calls(scope, callee, 3), () => `${name}(${scope.integer(1, 200).text});`);
  }),
  rule('pointer parameter', 3, (scope) => {
    const callee = scope.callee();
    if (!callee) return null;
    const name = scope.name('process');
    callee.pointers.push({ text: 'data', element: 'float', count: 64 });
    callee.declare('count', 'int', 1, 64);
    const body = launchingBody(callee);
    scope.define(`${specifier(scope)}void ${name}(float* data, const int count) ${block(body)}`);
    const before: string[] = [];
    const pointer = scope.grammar.argument(scope, { kind: 'pointer', element: 'float', isConst: false }, before);
    calls(scope, callee, 1);
    return [...before, `${name}(${pointer}, ${scope.integer(1, 64).text});`];
  }),
  rule('dimensions as parameters', 2, (scope) => {
    if (!scope.canLaunch()) return null;
    const kernel = simpleKernel(scope);
    const name = scope.name('submit');
    scope.define(
      `static void ${name}(${scope.random.pick(['dim3', 'const dim3&'])} grid, dim3 block, float* data, int n = 1) {\n${kernel}<<<grid, block>>>(data, n);\n}`,
    );
    scope.chargeLaunches(1);
    const before: string[] = [];
    const pointer = scope.grammar.argument(scope, { kind: 'pointer', element: 'float', isConst: false }, before);
    const last = scope.random.chance(0.5) ? `, ${scope.integer(0, 99).text}` : '';
    return [
      ...before,
      `${name}(${scope.random.pick([scope.integer(1, 64).text, `dim3(${scope.integer(1, 8).text}, 2)`])}, ${scope.integer(1, 256).text}, ${pointer}${last});`,
    ];
  }),
  rule('output parameter', 2, (scope) => {
    const name = scope.program.once(
      'output parameter',
      'computeSizes',
      (called) =>
        `static void ${called}(int n, int& blocks, int* threads) {\n*threads = n < 128 ? 32 : 128;\nblocks = (n + *threads - 1) / *threads;\n}`,
    );
    const [blocks, threads] = [scope.name('blocks'), scope.name('threads')];
    const n = scope.integer(1, 1000).text;
    scope.declare(blocks, 'int', 1, 32, true);
    scope.declare(threads, 'int', 32, 128, true);
    return [`int ${blocks} = 0, ${threads};`, `${name}(${n}, ${blocks}, &${threads});`];
  }),
  rule('result after launch', 2, (scope) => {
    const callee = scope.callee();
    if (!callee) return null;
    const [name, result] = [scope.name('launchAndCount'), scope.name('result')];
    callee.declare('n', 'int', 1, 100);
    const body = launchingBody(callee);
    const value = callee.integer(0, 100).text;
    scope.define(`static int ${name}(int n) ${block([...body, `return ${value};`])}`);
    const [call, argument] = [calls(scope, callee, 1), scope.integer(1, 100).text];
    scope.declare(result, 'int', 0, 100);
    return [`const int ${result} = ${name}(${argument});`].slice(0, call);
  }),
  rule('early return', 2, (scope) => {
    const callee = scope.callee(3, 'return;');
    if (!callee) return null;
    const name = scope.name('maybe');
    callee.declare('n', 'int', 0, 100);
    const first = `if (${callee.grammar.condition(callee, 1)}) return;`;
    const body = launchingBody(callee);
    scope.define(`${specifier(scope)}void ${name}(int n) ${block([first, ...body])}`);
    return repeated(calls(scope, callee, 3), () => `${name}(${scope.integer(0, 100).text});`);
  }),
  rule('recursion', 2, (scope) => {
    const callee = scope.callee(1);
    if (!callee || !scope.canLaunch(6)) return null;
    const name = scope.name('descend');
    callee.declare('n', 'int', 1, 63);
    const body = launchingBody(callee);
    const next = scope.random.pick([`${name}(n / 2);`, `${name}(n >> 1);`, `if (n > 1) ${name}(n / 2);`]);
    const order = scope.random.chance(0.5) ? [...body, next] : [next, ...body];
    scope.define(`static void ${name}(int n) ${block(['if (n <= 0) return;', ...order])}`);
    scope.charge(callee, 6);
    return [`${name}(${scope.integer(1, 63).text});`];
  }),
  rule('mutual recursion', 0.8, (scope) => {
    if (!scope.canLaunch(5)) return null;
    const kernel = simpleKernel(scope);
    const [even, odd] = [scope.name('even'), scope.name('odd')];
    scope.define(
      `static void ${odd}(float* data, int n);\nstatic void ${even}(float* data, int n) {\nif (n == 0) return;\n${kernel}<<<n, 32>>>(data, n);\n${odd}(data, n - 1);\n}\nstatic void ${odd}(float* data, int n) {\nif (n > 0) ${even}(data, n - 1);\n}`,
    );
    scope.chargeLaunches(3);
    const before: string[] = [];
    const pointer = scope.grammar.argument(scope, { kind: 'pointer', element: 'float', isConst: false }, before);
    return [...before, `${scope.random.pick([even, odd])}(${pointer}, ${scope.integer(0, 6).text});`];
  }),
  rule('static variable', 1.5, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const kernel = simpleKernel(scope);
    const name = scope.name('tick');
    scope.define(
      `static void ${name}() {\nstatic int calls = ${scope.random.between(1, 5)};\n${scope.random.pick(['calls++', '++calls', 'calls += 3'])};\n${kernel}<<<calls, 64>>>(nullptr, calls);\n}`,
    );
    const count = scope.random.between(1, 3);
    scope.chargeLaunches(count);
    return repeated(count, () => `${name}();`);
  }),
  rule('overloads', 1.5, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    const name = scope.program.once(
      'launching overloads',
      'dispatch',
      (called) =>
        `static void ${called}(int n) { ${kernel}<<<1, 32>>>(nullptr, n); }\nstatic void ${called}(double x) { ${kernel}<<<2, 64>>>(nullptr, (int)x); }\nstatic void ${called}(const char* text) { ${kernel}<<<3, 96>>>(nullptr, text[0]); }`,
    );
    scope.chargeLaunches(2);
    return [`${name}((int)${scope.integer(0, 50).text});`, `${name}(${scope.random.pick(['2.5', '"word"', "'c'", 'true', '1.5f'])});`];
  }),
  rule('template over type', 2, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const name = scope.program.once(
      'typed launcher',
      'runTyped',
      (called) =>
        `template <typename T>\n__global__ void ${called}Kernel(T* p0, T p1) {\nif (threadIdx.x == 0 && blockIdx.x == 0) p0[0] = p1;\n}\ntemplate <typename T>\nvoid ${called}(T value, int n) {\nconst int threads = 256 / sizeof(T);\n${called}Kernel<T><<<(n + threads - 1) / threads, threads>>>(nullptr, value);\n}`,
    );
    const count = scope.random.between(1, 2);
    scope.chargeLaunches(count);
    return repeated(
      count,
      () =>
        `${name}${scope.random.pick(['<float>', '<double>', '<unsigned char>', ''])}(${scope.integer(0, 100).text}, ${scope.integer(1, 1000).text});`,
    );
  }),
  rule('template over value', 2, (scope) => {
    if (!scope.canLaunch(4)) return null;
    const kernel = simpleKernel(scope);
    const name = scope.program.once(
      'counted launcher',
      'halveBlocks',
      (called) =>
        `template <int Threads>\nvoid ${called}(float* data) {\n${kernel}<<<${scope.random.between(1, 8)}, Threads>>>(data, Threads);\nif constexpr (Threads > 64) ${called}<Threads / 2>(data);\n}`,
    );
    const threads = scope.random.pick([64, 128, 256]);
    scope.chargeLaunches(3);
    return [`${name}<${threads}>(nullptr);`];
  }),
  rule('variadic template', 1.2, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const kernel = simpleKernel(scope);
    const name = scope.program.once(
      'variadic launcher',
      'forEach',
      (called) =>
        `template <typename T, typename... Rest>\nvoid ${called}(T first, Rest... rest) {\n${kernel}<<<first, 32>>>(nullptr, sizeof...(rest));\nif constexpr (sizeof...(rest) > 0) ${called}(rest...);\n}`,
    );
    const count = scope.random.between(1, 3);
    scope.chargeLaunches(count);
    return [`${name}(${repeated(count, () => scope.integer(1, 64).text).join(', ')});`];
  }),
  rule('fold of launches', 0.8, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const kernel = simpleKernel(scope);
    const name = scope.program.once(
      'folding launcher',
      'launchAll',
      (called) => `template <int... Sizes>\nvoid ${called}(float* data) {\n(${kernel}<<<Sizes, 32>>>(data, Sizes), ...);\n}`,
    );
    scope.chargeLaunches(3);
    return [`${name}<${repeated(scope.random.between(1, 3), () => String(scope.random.between(1, 40))).join(', ')}>(nullptr);`];
  }),
  rule('type trait', 1, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    scope.header('type_traits');
    const name = scope.program.once(
      'trait launcher',
      'byKind',
      (called) =>
        `template <typename T, std::enable_if_t<std::is_integral<T>::value, int> = 0>\nvoid ${called}(T n) {\n${kernel}<<<1, 32>>>(nullptr, (int)n);\n}\ntemplate <typename T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0>\nvoid ${called}(T x) {\n${kernel}<<<2, 64>>>(nullptr, (int)(x * 2));\n}`,
    );
    scope.chargeLaunches(1);
    return [`${name}(${scope.random.pick([scope.integer(0, 99).text, '3.5', '1.25f'])});`];
  }),
  rule('dispatch macro', 1.2, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const name = scope.program.once(
      'type template',
      'assign',
      (called) =>
        `template <typename T>\n__global__ void ${called}(T* p0, T p1, int p2) {\nif (threadIdx.x == 0 && blockIdx.x == 0) p0[0] = 1;\n}`,
    );
    const macro = scope.program.macro(
      'DISPATCH',
      '(which, ...)                 \\\n  switch (which) {                                 \\\n    case 0: { using scalar_t = float; __VA_ARGS__(); break; }  \\\n    case 1: { using scalar_t = double; __VA_ARGS__(); break; } \\\n    default: { using scalar_t = int; __VA_ARGS__(); }          \\\n  }',
    );
    scope.chargeLaunches(1);
    const threads = scope.integer(1, 256).text;
    return [
      `${macro}((${scope.integer(0, 3).text}), [&] { ${name}<scalar_t><<<${scope.integer(1, 32).text}, ${threads}>>>(nullptr, (scalar_t)2, ${scope.random.below(9)}); });`,
    ];
  }),
  rule('launch in macro', 1, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const macro = scope.program.macro(
      'RUN',
      `(n)                         \\\n  do {                                   \\\n    int threads_ = (n) > 128 ? 128 : (n); \\\n    ${kernel}<<<((n) + threads_ - 1) / threads_, threads_>>>(nullptr, n); \\\n  } while (0)`,
    );
    scope.chargeLaunches(1);
    return [`${macro}((int)${scope.integer(1, 1000).text});`];
  }),
  rule('pointer to function', 1.5, (scope) => {
    const callee = scope.callee(2);
    if (!callee) return null;
    const [first, second, name] = [scope.name('fast'), scope.name('slow'), scope.name('chosen')];
    const kernel = simpleKernel(scope);
    callee.declare('n', 'int', 1, 64);
    const body = launchingBody(callee);
    scope.define(`static void ${first}(int n) ${block(body)}\nstatic void ${second}(int n) {\n${kernel}<<<n, n>>>(nullptr, n);\n}`);
    scope.chargeLaunches(Math.max(1, callee.launches));
    return [
      `void (*${name})(int) = ${scope.grammar.condition(scope, 1)} ? ${first} : ${second};`,
      `${scope.random.pick([name, `(*${name})`])}(${scope.integer(1, 64).text});`,
    ];
  }),
  rule('table of functions', 1.2, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const [name, at] = [scope.name('steps'), scope.name('i')];
    const kernel = simpleKernel(scope);
    scope.define(
      `static void ${name}A(int n) { ${kernel}<<<n, 32>>>(nullptr, 1); }\nstatic void ${name}B(int n) { ${kernel}<<<1, n>>>(nullptr, 2); }\ntypedef void (*${name}Type)(int);\nstatic const ${name}Type ${name}[] = {${name}A, ${name}B, ${name}A};`,
    );
    scope.chargeLaunches(3);
    return scope.random.pick([
      [`for (auto ${at} : ${name}) ${at}(${scope.integer(1, 64).text});`],
      [`${name}[${scope.integer(0, 2).text}](${scope.integer(1, 64).text});`],
    ]);
  }),
  rule('callback', 1.5, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const kernel = simpleKernel(scope);
    const name = scope.program.once(
      'callback',
      'visitLevels',
      (called) =>
        `static void ${called}(int levels, void (*visit)(int, void*), void* data) {\nfor (int level = 0; level < levels; level++) visit(level, data);\n}\nstatic void ${called}Launch(int level, void* data) {\n${kernel}<<<level + 1, 32>>>((float*)data, level);\n}`,
    );
    scope.chargeLaunches(3);
    return [`${name}(${scope.integer(1, 3).text}, ${name}Launch, nullptr);`];
  }),
  rule('array parameter', 1.2, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const kernel = simpleKernel(scope);
    const [name, array] = [scope.name('launchSizes'), scope.name('sizes')];
    const count = scope.random.between(2, 3);
    const parameter = scope.random.pick(['const int sizes[]', 'const int* sizes', 'int const* const sizes']);
    scope.define(
      `static void ${name}(${parameter}, size_t count) {\nfor (size_t i = 0; i < count; i++) ${kernel}<<<sizes[i], 32>>>(nullptr, (int)i);\n}`,
    );
    scope.chargeLaunches(count);
    return [
      `int ${array}[${count}] = {${repeated(count, () => `(int)${scope.integer(1, 64).text}`).join(', ')}};`,
      `${name}(${array}, ${count});`,
    ];
  }),
  rule('reference to array', 1, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const kernel = simpleKernel(scope);
    const name = scope.program.once(
      'array reference',
      'launchEach',
      (called) =>
        `template <typename T, size_t N>\nvoid ${called}(T (&sizes)[N]) {\nfor (auto& size : sizes) ${kernel}<<<size, N>>>(nullptr, size);\n}`,
    );
    const array = scope.name('sizes');
    const count = scope.random.between(1, 3);
    scope.chargeLaunches(count);
    return [
      `${scope.random.pick(['int', 'const int', 'unsigned'])} ${array}[] = {${repeated(count, () => `(unsigned char)${scope.integer(1, 64).text}`).join(', ')}};`,
      `${name}(${array});`,
    ];
  }),
  rule('record by value', 1.5, (scope) => {
    const callee = scope.callee(2);
    if (!callee) return null;
    const [type, name] = [scope.name('Setup'), scope.name('runSetup')];
    callee.declare('setup.blocks', 'int', 1, 64, true);
    callee.declare('setup.threads', 'int', 1, 128, true);
    const body = launchingBody(callee);
    scope.define(
      `struct ${type} {\nint blocks;\nint threads = 64;\n};\nstatic void ${name}(${scope.random.pick([type, `${type}&`, `${type}&&`])} setup) ${block(body)}`,
    );
    const isReference = scope.program.definitions.at(-1)!.includes(`${name}(${type}& `);
    const variable = scope.name('setup');
    calls(scope, callee, 1);
    const made = `${type} ${variable}{(int)${scope.integer(1, 64).text}, (int)${scope.integer(1, 128).text}};`;
    return isReference ? [made, `${name}(${variable});`] : [made, `${name}(${type}(${variable}));`];
  }),
  rule('record as result', 1.2, (scope) => {
    const name = scope.program.once(
      'record result',
      'choose',
      (called) =>
        `struct ${called}Result {\nint blocks, threads;\nsize_t shared;\n};\nstatic ${called}Result ${called}(int n) {\n${called}Result result = {};\nresult.threads = n > 100 ? 128 : 32;\nresult.blocks = (n + result.threads - 1) / result.threads;\nresult.shared = result.threads * sizeof(float);\nreturn result;\n}`,
    );
    const variable = scope.name('plan');
    const n = scope.integer(1, 512).text;
    scope.declare(`${variable}.blocks`, 'int', 1, 16);
    scope.declare(`${variable}.threads`, 'int', 32, 128);
    scope.declare(`${variable}.shared`, 'unsigned long', 128, 512);
    return [`${scope.random.pick(['auto', 'const auto', `${name}Result`])} ${variable} = ${name}(${n});`];
  }),
  rule('reference as result', 0.8, (scope) => {
    const name = scope.program.once(
      'reference result',
      'current',
      (called) => `static int ${called}State = 3;\nstatic int& ${called}() { return ${called}State; }`,
    );
    const variable = scope.name('now');
    const value = scope.integer(1, 100).text;
    scope.declare(variable, 'int', 1, 100);
    return [`${name}() = ${value};`, `const int ${variable} = ${name}();`];
  }),
  rule('options from arguments', 1.2, (scope) => {
    if (!scope.options.hasArguments) return null;
    scope.header('cstdlib');
    const [first, second] = scope.program.arguments;
    const parse = scope.program.once(
      'options',
      'parse',
      (name) =>
        `struct ${name}Options {\nint size = 40;\nint repeats = 2;\nbool verbose = false;\n};\nstatic ${name}Options ${name}(int argc, char** argv) {\n${name}Options options;\nif (argc > 1) options.size = atoi(argv[1]);\nif (argc > 2) options.repeats = atoi(argv[2]);\noptions.verbose = argc > 3 && argv[3][0] == 'v';\nreturn options;\n}`,
    );
    const name = scope.name('options');
    scope.declare(`${name}.size`, 'int', first ?? 40, first ?? 40, false);
    scope.declare(`${name}.repeats`, 'int', second ?? 2, second ?? 2, false);
    scope.declare(`${name}.verbose`, 'bool', 0, 1);
    return [`${scope.random.pick(['const auto', 'auto', `${parse}Options`])} ${name} = ${parse}(argc, argv);`];
  }),
  rule('C linkage', 0.8, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const name = `${scope.name('c_launch')}_s${scope.program.seed}`;
    scope.define(`extern "C" void ${name}(float* data, int n) {\n${kernel}<<<n, 32>>>(data, n);\n}`);
    scope.chargeLaunches(1);
    return [`${name}(nullptr, ${scope.integer(1, 99).text});`];
  }),
  rule('namespaces and using', 0.8, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const name = scope.name('api');
    scope.define(
      `namespace ${name} {\ninline namespace v1 {\nstatic void start(int n) { ${kernel}<<<n, 32>>>(nullptr, n); }\n}\nnamespace detail {\nconst int width = 48;\n}\n}`,
    );
    scope.chargeLaunches(1);
    const value = scope.integer(1, 99).text;
    return scope.random.pick([
      [`${name}::start(${value});`],
      [block([`using namespace ${name};`, `start(${value} + detail::width);`])],
      [block([`using ${name}::start;`, `start(${value});`])],
    ]);
  }),
  rule('local static object', 0.7, (scope) => {
    const name = scope.program.once(
      'static object',
      'registry',
      (called) =>
        `struct ${called}Type {\nint next = 1;\nint take() { return next++; }\n};\nstatic ${called}Type& ${called}() {\nstatic ${called}Type object;\nreturn object;\n}`,
    );
    const variable = scope.name('ticket');
    scope.declare(variable, 'int', 1, 1000);
    return [`const int ${variable} = ${name}().take();`];
  }),
];

/** Body of a lambda that sees the scope around it. */
function lambdaBody(scope: Scope, most = 2): { readonly inner: Scope; readonly lines: () => readonly string[] } | null {
  if (scope.isDeep || !scope.canLaunch(most)) return null;
  const inner = scope.inner({ isLoop: false, exit: null });
  return { inner, lines: () => launchingBody(inner) };
}

export const lambdaRules: readonly StatementRule[] = [
  rule('by reference', 3, (scope) => {
    const made = lambdaBody(scope);
    if (!made) return null;
    const name = scope.name('step');
    made.inner.declare('n', 'int', 1, 100);
    return [`auto ${name} = [&](int n) ${block(made.lines())};`, `${name}(${scope.integer(1, 100).text});`];
  }),
  rule('by value', 2, (scope) => {
    const made = lambdaBody(scope);
    if (!made) return null;
    const [name, captured] = [scope.name('job'), scope.name('size')];
    const value = scope.integer(1, 64);
    scope.chargeLaunches(1);
    // The captured value is that of the closure, not the later one.
    return [
      `int ${captured} = ${value.text};`,
      `auto ${name} = [${scope.random.pick(['=', captured])}](int n) { ${simpleKernel(scope)}<<<${captured}, 32>>>(nullptr, ${captured} + n); };`,
      `${captured} = 1;`,
      `${name}(${scope.integer(0, 9).text});`,
    ];
  }),
  rule('modifying capture', 1.5, (scope) => {
    const made = lambdaBody(scope, 3);
    if (!made) return null;
    const [name, captured] = [scope.name('advance'), scope.name('state')];
    const start = scope.random.between(1, 9);
    const kernel = simpleKernel(scope);
    const isMutable = scope.random.chance(0.5);
    scope.chargeLaunches(2);
    return [
      `int ${captured} = ${start};`,
      `auto ${name} = [${isMutable ? captured : `&${captured}`}]() ${isMutable ? 'mutable ' : ''}{\n${captured} *= 2;\n${kernel}<<<${captured}, 32>>>(nullptr, ${captured});\n};`,
      `${name}();`,
      `${name}();`,
    ];
  }),
  rule('initialised capture', 1.2, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const [name, kernel] = [scope.name('task'), simpleKernel(scope)];
    scope.chargeLaunches(1);
    return [
      `auto ${name} = [blocks = (int)${scope.integer(1, 64).text}, threads = ${scope.random.pick([32, 64])}] { ${kernel}<<<blocks, threads>>>(nullptr, blocks * threads); };`,
      `${name}();`,
    ];
  }),
  rule('generic', 1.5, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const [name, kernel] = [scope.name('generic'), simpleKernel(scope)];
    scope.chargeLaunches(2);
    return [
      `auto ${name} = [](auto x, ${scope.random.pick(['auto', 'auto&&', 'const auto&'])} y) { ${kernel}<<<(int)(x + y), sizeof(x)>>>(nullptr, (int)x); };`,
      `${name}(${scope.integer(1, 64).text}, ${scope.integer(0, 9).text});`,
      `${name}(2.5, '${scope.random.pick(['a', 'b'])}');`,
    ];
  }),
  rule('in std::function', 2, (scope) => {
    const made = lambdaBody(scope);
    if (!made) return null;
    scope.header('functional');
    const name = scope.name('action');
    made.inner.declare('n', 'int', 1, 64);
    return [`std::function<void(int)> ${name} = [&](int n) ${block(made.lines())};`, `if (${name}) ${name}(${scope.integer(1, 64).text});`];
  }),
  rule('passed to template', 2, (scope) => {
    const most = scope.canLaunch(3) ? 3 : null;
    if (most === null || scope.isDeep) return null;
    const name = scope.program.once(
      'repeat',
      'repeat',
      (called) =>
        `template <typename F>\nvoid ${called}(int count, F${scope.random.pick(['', '&&', ' const&'])} body) {\nfor (int i = 0; i < count; ++i) body(i);\n}`,
    );
    const inner = scope.loop(most, false).inner({ exit: null });
    const at = scope.name('i');
    inner.declare(at, 'int', 0, most - 1);
    return [`${name}(${scope.integer(1, most).text}, [&](int ${at}) ${block(launchingBody(inner))});`];
  }),
  rule('passed as std::function', 1.2, (scope) => {
    if (!scope.canLaunch(3) || scope.isDeep) return null;
    scope.header('functional');
    const name = scope.program.once(
      'schedule',
      'schedule',
      (called) =>
        `static void ${called}(const std::function<bool(int)>& body, int limit) {\nfor (int i = 1; i <= limit; i++)\nif (!body(i)) break;\n}`,
    );
    const inner = scope.loop(3, false).inner({ exit: null });
    const at = scope.name('i');
    inner.declare(at, 'int', 1, 3);
    return [`${name}([&](int ${at}) ${block([...launchingBody(inner), `return ${at} < ${inner.integer(1, 3).text};`])}, 3);`];
  }),
  rule('as result', 1, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    const name = scope.program.once(
      'lambda result',
      'makeLauncher',
      (called) =>
        `static auto ${called}(int threads) {\nreturn [threads](int blocks) { ${kernel}<<<blocks, threads>>>(nullptr, threads); };\n}`,
    );
    const variable = scope.name('launcher');
    scope.chargeLaunches(2);
    return [
      `auto ${variable} = ${name}(${scope.integer(1, 256).text});`,
      `${variable}(${scope.integer(1, 64).text});`,
      `${name}(32)(${scope.integer(1, 9).text});`,
    ];
  }),
  rule('recursive', 0.8, (scope) => {
    if (!scope.canLaunch(4)) return null;
    scope.header('functional');
    const [name, kernel] = [scope.name('visit'), simpleKernel(scope)];
    scope.chargeLaunches(4);
    return [
      `std::function<void(int)> ${name} = [&](int n) {\nif (n < 1) return;\n${kernel}<<<n, 32>>>(nullptr, n);\n${name}(n / 2);\n};`,
      `${name}(${scope.integer(0, 15).text});`,
    ];
  }),
  rule('list of functions', 1, (scope) => {
    if (!scope.canLaunch(2)) return null;
    scope.header('functional');
    scope.header('vector');
    const [name, kernel, at] = [scope.name('tasks'), simpleKernel(scope), scope.name('task')];
    scope.chargeLaunches(2);
    const value = scope.integer(1, 64).text;
    return [
      `std::vector<std::function<void()>> ${name};`,
      `${name}.push_back([] { ${kernel}<<<1, 32>>>(nullptr, 1); });`,
      `${name}.emplace_back([n = (int)${value}] { ${kernel}<<<n, 32>>>(nullptr, n); });`,
      `for (${scope.random.pick(['auto&', 'const auto&', 'auto'])} ${at} : ${name}) ${at}();`,
    ];
  }),
  rule('as function pointer', 1, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const [name, kernel] = [scope.name('plain'), simpleKernel(scope)];
    scope.chargeLaunches(1);
    return [
      `${scope.random.pick([`void (*${name})(int)`, `auto ${name}`])} = ${scope.random.pick(['+', ''])}[](int n) { ${kernel}<<<n, 64>>>(nullptr, n); };`,
      `${name}(${scope.integer(1, 64).text});`,
    ];
  }),
  rule('called in place', 1, (scope) => {
    const made = lambdaBody(scope);
    if (!made) return null;
    const name = scope.name('status');
    const body = made.lines();
    const value = made.inner.integer(0, 50).text;
    scope.declare(name, 'int', 0, 50);
    return [`const int ${name} = [&]() -> int ${block([...body, `return ${value};`])}();`];
  }),
];
