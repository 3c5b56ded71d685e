/** Kernels with trivial bodies and various signatures. */
import { type ElementType, type Kernel, type Parameter, type Rule, RuleTable, type Scope, rule } from './draft.ts';
import type { IntegerType } from './arithmetic.ts';

const elements: readonly ElementType[] = ['float', 'float', 'int', 'double', 'unsigned char', 'unsigned'];

const pointer = (element: ElementType, isConst = false): Parameter => ({ kind: 'pointer', element, isConst });

/** Types of kernel arguments that are records. */
const records = new RuleTable<null, Parameter>('record', [
  rule('plain', 3, (scope) => {
    const type = scope.program.once('plain record', 'Options', (name) => `struct ${name} {\nint n;\nfloat scale;\n};`);
    return { kind: 'struct', type, make: (at) => `${type}{(int)${at.integer(0, 1000).text}, (float)${at.grammar.float(at, 1)}}` };
  }),
  rule('with padding', 2, (scope) => {
    const type = scope.program.once(
      'padded record',
      'Header',
      (name) => `struct ${name} {\nchar tag;\ndouble value;\nshort count;\nbool flag;\n};`,
    );
    return {
      kind: 'struct',
      type,
      make: (at) =>
        `${type}{'${at.random.pick(['a', 'b', 'z'])}', ${at.grammar.float(at, 1)}, (short)${at.integer(0, 99).text}, ${at.random.pick(['true', 'false'])}}`,
    };
  }),
  rule('with array', 2, (scope) => {
    const type = scope.program.once('array record', 'Shape', (name) => `struct ${name} {\nint extent[3];\nunsigned char rank;\n};`);
    return { kind: 'struct', type, make: (at) => `${type}{{${[1, 2, 3].map(() => `(int)${at.integer(1, 64, 1).text}`).join(', ')}}, 3}` };
  }),
  rule('nested', 2, (scope) => {
    const inner = scope.program.once('plain record', 'Options', (name) => `struct ${name} {\nint n;\nfloat scale;\n};`);
    const type = scope.program.once('nested record', 'Job', (name) => `struct ${name} {\n${inner} options;\nlong long id;\n};`);
    return { kind: 'struct', type, make: (at) => `${type}{{(int)${at.integer(0, 500).text}, 1.5f}, (long long)${at.integer(0, 99).text}}` };
  }),
  rule('template', 1.5, (scope) => {
    const name = scope.program.once('record template', 'Vec', (called) => `template <typename T, int N>\nstruct ${called} {\nT v[N];\n};`);
    const type = `${name}<int, 2>`;
    return { kind: 'struct', type, make: (at) => `${type}{{(int)${at.integer(0, 500).text}, (int)${at.integer(-9, 9).text}}}` };
  }),
  rule('with constructor', 1.5, (scope) => {
    const type = scope.program.once(
      'constructed record',
      'Range',
      (name) =>
        `struct ${name} {\nint begin, end;\n${name}(int first, int count) : begin(first), end(first + count) {}\nint size() const { return end - begin; }\n};`,
    );
    return { kind: 'struct', type, make: (at) => `${type}(${at.integer(0, 500).text}, ${at.integer(1, 64).text})` };
  }),
  rule('vector type', 1, (scope) => {
    const [type, count] = scope.random.pick([
      ['int2', 2],
      ['int4', 4],
      ['uint3', 3],
    ] as const);
    return {
      kind: 'struct',
      type,
      make: (at) => `make_${type}(${Array.from({ length: count }, () => at.integer(0, 100, 1).text).join(', ')})`,
    };
  }),
]);

const integers: readonly IntegerType[] = [
  'int',
  'int',
  'int',
  'unsigned',
  'long',
  'long long',
  'unsigned long',
  'short',
  'unsigned char',
  'char',
  'bool',
  'unsigned short',
  'signed char',
];

/** Further parameters after the first pointer. */
const parameters = new RuleTable<null, Parameter>('parameter', [
  rule('integer', 6, (scope) => ({ kind: 'integer', type: scope.random.pick(integers) })),
  rule('float', 2, (scope) => ({ kind: 'float', type: scope.random.pick(['float', 'double']) })),
  rule('pointer', 2, (scope) => pointer(scope.random.pick(elements), scope.random.chance(0.5))),
  rule('record', 2, (scope) => records.make(scope, null)),
]);

/** Text of a parameter's type. */
export function parameterType(parameter: Parameter): string {
  if (parameter.kind === 'pointer') return `${parameter.isConst ? 'const ' : ''}${parameter.element}*`;
  return parameter.type;
}

/** `void (*name)(…)` with the type of the kernel. */
export function kernelPointer(kernel: Kernel, name: string): string {
  return `void (*${name})(${kernel.parameters.map(parameterType).join(', ')})`;
}

function declared(list: readonly Parameter[]): string {
  return list.map((parameter, at) => `${parameterType(parameter)} p${at}`).join(', ');
}

const store = '{\nif (threadIdx.x == 0 && blockIdx.x == 0) p0[0] = 1;\n}';

function plain(callee: string, list: readonly Parameter[], changes: Partial<Kernel> = {}): Kernel {
  return { callee, parameters: list, maxThreads: 1024, hasCluster: false, ...changes };
}

function someParameters(scope: Scope): readonly Parameter[] {
  const count = scope.random.pick([0, 1, 1, 2, 2, 3]);
  const first = pointer(scope.random.pick(elements));
  return [first, ...Array.from({ length: count }, () => parameters.make(scope, null))];
}

/** Defines a kernel that is not a template. `head` contains NAME and ends before the parameters. */
function ordinary(name: string, weight: number, head: string, changes: Partial<Kernel> = {}): Rule<null, Kernel> {
  return rule(name, weight, (scope) => {
    const list = someParameters(scope);
    const called = scope.name(scope.random.pick(['fill', 'scale', 'update', 'copy', 'step']));
    scope.define(`${head.replaceAll('NAME', called)}(${declared(list)}) ${store}`);
    return plain(called, list, changes);
  });
}

const kernels = new RuleTable<null, Kernel>('kernel', [
  ordinary('function', 10, '__global__ void NAME'),
  ordinary('static function', 2, 'static __global__ void NAME'),
  ordinary('launch bounds', 1.5, '__global__ void __launch_bounds__(256) NAME', { maxThreads: 256 }),
  ordinary('fixed cluster', 0.6, '__global__ void __cluster_dims__(2, 1, 1) NAME', { hasCluster: true }),
  rule('C linkage', 1, (scope) => {
    const list = someParameters(scope);
    // Such names are shared by the programs of one unit.
    const called = `${scope.name('plain')}_s${scope.program.seed}`;
    scope.define(`extern "C" __global__ void ${called}(${declared(list)}) ${store}`);
    return plain(called, list);
  }),
  rule('namespace', 1.5, (scope) => {
    const list = someParameters(scope);
    const [space, called] = [scope.name('kernels'), scope.name('run')];
    scope.define(`namespace ${space} {\n__global__ void ${called}(${declared(list)}) ${store}\n}`);
    return plain(`${space}::${called}`, list);
  }),
  rule('unnamed namespace', 1, (scope) => {
    const list = someParameters(scope);
    const called = scope.name('hidden');
    scope.define(`namespace {\n__global__ void ${called}(${declared(list)}) ${store}\n}`);
    return plain(called, list);
  }),
  rule('type template', 3, (scope) => {
    const name = scope.program.once(
      'type template',
      'assign',
      (called) => `template <typename T>\n__global__ void ${called}(T* p0, T p1, int p2) ${store}`,
    );
    const element = scope.random.pick(elements);
    const value: Parameter =
      element === 'float' || element === 'double' ? { kind: 'float', type: element } : { kind: 'integer', type: element };
    return plain(`${name}<${element}>`, [pointer(element), value, { kind: 'integer', type: 'int' }]);
  }),
  rule('value template', 2.5, (scope) => {
    const name = scope.program.once(
      'value template',
      'tiled',
      (called) => `template <int Tile, bool Last = false>\n__global__ void ${called}(float* p0, int p1) ${store}`,
    );
    const callee = `${name}<${scope.random.pick(['8', '16', '32', '4 * 4', '1, true', '64, false'])}>`;
    return plain(callee, [pointer('float'), { kind: 'integer', type: 'int' }]);
  }),
  rule('type and value template', 1.5, (scope) => {
    const name = scope.program.once(
      'mixed template',
      'reduce',
      (called) => `template <typename T, unsigned N>\n__global__ void ${called}(const T* p1, T* p0, unsigned p2) ${store}`,
    );
    const element = scope.random.pick(elements);
    const callee = `${name}<${element}, ${scope.random.pick([32, 64, 128])}>`;
    return plain(callee, [pointer(element, true), pointer(element), { kind: 'integer', type: 'unsigned' }]);
  }),
  rule('specialised template', 1, (scope) => {
    const name = scope.program.once(
      'specialised',
      'convert',
      (called) =>
        `template <typename T>\n__global__ void ${called}(T* p0, short p1) ${store}\ntemplate <>\n__global__ void ${called}<int>(int* p0, short p1) {\np0[0] = p1;\n}`,
    );
    const element = scope.random.pick<ElementType>(['int', 'float']);
    return plain(`${name}<${element}>`, [pointer(element), { kind: 'integer', type: 'short' }]);
  }),
  rule('functor template', 1.2, (scope) => {
    const functor = scope.program.once(
      'functor',
      'Scale',
      (called) => `struct ${called} {\nfloat factor;\n__host__ __device__ float operator()(float x) const { return x * factor; }\n};`,
    );
    const name = scope.program.once(
      'functor template',
      'map',
      (called) =>
        `template <typename F>\n__global__ void ${called}(float* p0, int p1, F p2) {\nif (threadIdx.x < p1) p0[threadIdx.x] = p2(1.0f);\n}`,
    );
    const type: Parameter = { kind: 'struct', type: functor, make: (at) => `${functor}{(float)${at.grammar.float(at, 1)}}` };
    return plain(`${name}<${functor}>`, [pointer('float'), { kind: 'integer', type: 'int' }, type]);
  }),
  rule('variadic template', 1, (scope) => {
    const name = scope.program.once(
      'variadic kernel',
      'many',
      (called) =>
        `template <typename... T>\n__global__ void ${called}(int* p0, T... rest) {\nif (threadIdx.x == 0) p0[0] = sizeof...(rest);\n}`,
    );
    const list: readonly Parameter[] = [
      pointer('int'),
      { kind: 'integer', type: 'int' },
      { kind: 'float', type: 'double' },
      { kind: 'integer', type: 'unsigned char' },
    ].slice(0, scope.random.between(1, 4)) as Parameter[];
    return plain(`${name}<${list.slice(1).map(parameterType).join(', ')}>`, list);
  }),
  rule('overload', 1, (scope) => {
    const called = scope.program.once(
      'overloaded kernel',
      'apply',
      (name) => `__global__ void ${name}(float* p0, int p1) ${store}\n__global__ void ${name}(double* p0, int p1) ${store}`,
    );
    const element = scope.random.pick<ElementType>(['float', 'double']);
    // A cast selects the overload if the name is not called.
    return plain(`((void (*)(${element}*, int))${called})`, [pointer(element), { kind: 'integer', type: 'int' }]);
  }),
  rule('grid constant', 0.8, (scope) => {
    const name = scope.program.once(
      'constant parameter',
      'frozen',
      (called) =>
        `struct ${called}Data {\nint a;\nint b[2];\n};\n__global__ void ${called}(int* p0, const __grid_constant__ ${called}Data p1) {\nif (threadIdx.x == 0) p0[0] = p1.a;\n}`,
    );
    const type = `${name}Data`;
    return plain(name, [pointer('int'), { kind: 'struct', type, make: (at) => `${type}{(int)${at.integer(0, 9).text}, {1, 2}}` }]);
  }),
  rule('without parameters', 0.6, (scope) => {
    const called = scope.name('empty');
    scope.define(`__device__ int counter${called};\n__global__ void ${called}() {\ncounter${called} = 1;\n}`);
    return plain(called, []);
  }),
]);

/** A kernel of the program: a new one, or one that exists. */
export function kernel(scope: Scope): Kernel {
  const { program, random } = scope;
  if (program.kernels.length > 0 && random.chance(program.kernels.length * 0.2)) return random.pick(program.kernels);
  const made = kernels.make(scope, null);
  program.kernels.push(made);
  return made;
}

/** An element type of device memory. */
export function element(scope: Scope): ElementType {
  return scope.random.pick(elements);
}

export const kernelRules = [records, parameters, kernels].flatMap(({ names }) => names);
