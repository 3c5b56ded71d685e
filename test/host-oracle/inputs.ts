/**
 * Values that the program's text does not determine: arguments, environment, random numbers, properties of the device.
 * Intervals are those of the recorded run.
 */
import { type Rule, type Value, type Wanted, rule } from './draft.ts';

function smallFunction(result: string, name: string, parameters: string, body: string): string {
  return `static ${result} ${name}(${parameters}) {\n${body}\n}`;
}

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
  rule('environment variable', 1, (scope) => {
    const value = scope.random.between(1, 128);
    scope.header('cstdlib');
    const setting = scope.program.once(
      'setting',
      'setting',
      (name) =>
      smallFunction('int', name, 'const char* name, int fallback', 'const char* text = getenv(name);\nreturn text ? atoi(text) : fallback;'), // oxfmt-ignore
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
    const attribute = scope.program.once(
      'attribute',
      'attribute',
      (name) =>
      smallFunction('int', name, 'cudaDeviceAttr which', 'int value = 0;\ncudaDeviceGetAttribute(&value, which, 0);\nreturn value;'), // oxfmt-ignore
    );
    const [which, value] = scope.random.pick([['MultiProcessorCount', 132], ['WarpSize', 32], ['ComputeCapabilityMajor', 9]] as const); // oxfmt-ignore
    return { text: `${attribute}(cudaDevAttr${which})`, type: 'int', low: value, high: value };
  }),
  rule('device property', 0.5, (scope) => {
    const properties = scope.program.once(
      'properties',
      'properties',
      (name) =>
      smallFunction('cudaDeviceProp', name, '', 'cudaDeviceProp read;\ncudaGetDeviceProperties(&read, 0);\nreturn read;'), // oxfmt-ignore
    );
    const [which, value] = scope.random.pick([['multiProcessorCount', 132], ['warpSize', 32], ['maxThreadsPerBlock', 1024]] as const); // oxfmt-ignore
    return { text: `${properties}().${which}`, type: 'int', low: value, high: value };
  }),
];
