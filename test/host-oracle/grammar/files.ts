/** Functions that one file defines, a header declares and another file calls. */
import { type Scope, type Wrapper, RuleTable, block, rule } from './draft.ts';
import { simpleKernel } from './functions.ts';
import { launchingBody } from './statements.ts';

const text = (scope: Scope, low: number, high: number): string => scope.integer(low, high).text;

/** Definitions are made in the program of `scope`, the callee; calls in that of the scope that they receive. */
const wrappers = new RuleTable<null, Wrapper>('wrapper', [
  rule('function', 4, (scope) => {
    const name = scope.name('runKernels');
    scope.declare('n', 'int', 1, 200, true);
    const body = launchingBody(scope);
    scope.define(`void ${name}(int n) ${block(body)}`);
    return { declaration: `void ${name}(int n);`, launches: scope.launches, call: (at) => [`${name}(${text(at, 1, 200)});`] };
  }),
  rule('function with pointer', 3, (scope) => {
    const name = scope.name('launchOn');
    scope.declare('count', 'unsigned', 1, 64);
    scope.pointers.push({ text: 'data', element: 'float', count: 64 });
    const body = launchingBody(scope);
    scope.define(`void ${name}(float* data, unsigned count) ${block(body)}`);
    const isDefault = scope.random.chance(0.5);
    return {
      declaration: `void ${name}(float* data, unsigned count${isDefault ? ' = 16' : ''});`,
      launches: scope.launches,
      call: (at) => {
        const before: string[] = [];
        const pointer = at.grammar.argument(at, { kind: 'pointer', element: 'float', isConst: false }, before);
        const last = isDefault && at.random.chance(0.5) ? '' : `, ${text(at, 1, 64)}`;
        return [...before, `${name}(${pointer}${last});`];
      },
    };
  }),
  rule('C linkage', 1.5, (scope) => {
    const name = `${scope.name('c_run')}_s${scope.program.seed}`;
    const kernel = simpleKernel(scope);
    scope.define(
      `extern "C" int ${name}(int blocks, int threads) {\n${kernel}<<<blocks, threads>>>(nullptr, blocks * threads);\nreturn blocks + threads;\n}`,
    );
    return {
      declaration: `extern "C" int ${name}(int blocks, int threads);`,
      launches: 1,
      call: (at) => {
        const result = at.name('status');
        const line = `int ${result} = ${name}(${text(at, 1, 64)}, ${text(at, 1, 256)});`;
        at.declare(result, 'int', 2, 320, true);
        return [line];
      },
    };
  }),
  rule('class', 2, (scope) => {
    const [type, kernel] = [scope.name('Solver'), simpleKernel(scope)];
    scope.define(
      `${type}::${type}(int size) : size_(size), steps_(0) {}\nvoid ${type}::step(int threads) {\n${kernel}<<<(size_ + threads - 1) / threads, threads>>>(nullptr, ++steps_);\n}`,
    );
    return {
      declaration: `class ${type} {\npublic:\nexplicit ${type}(int size);\nvoid step(int threads);\nint steps() const { return steps_; }\n\nprivate:\nint size_;\nint steps_;\n};`,
      launches: 2,
      call: (at) => {
        const name = at.name('solver');
        const lines = [`${type} ${name}(${text(at, 1, 1000)});`, `${name}.step(${text(at, 1, 256)});`, `${name}.step(64);`];
        at.declare(`${name}.steps()`, 'int', 2, 2);
        return lines;
      },
    };
  }),
  rule('shared variable', 1.5, (scope) => {
    const [variable, name, kernel] = [scope.name('sharedSize'), scope.name('runShared'), simpleKernel(scope)];
    scope.define(
      `int ${variable} = ${scope.random.between(1, 64)};\nvoid ${name}() {\n${kernel}<<<${variable}, 32>>>(nullptr, ${variable});\n}`,
    );
    return {
      declaration: `extern int ${variable};\nvoid ${name}();`,
      launches: 1,
      call: (at) => [...(at.random.chance(0.7) ? [`${variable} = ${text(at, 1, 64)};`] : []), `${name}();`],
    };
  }),
  rule('explicit instances', 1.2, (scope) => {
    const name = scope.name('runAs');
    scope.define(
      `template <typename T>\n__global__ void ${name}Kernel(T* p0, T p1) {\nif (threadIdx.x == 0 && blockIdx.x == 0) p0[0] = p1;\n}\ntemplate <typename T>\nvoid ${name}(T value, int blocks) {\n${name}Kernel<T><<<blocks, 256 / sizeof(T)>>>(nullptr, value);\n}\ntemplate void ${name}<float>(float, int);\ntemplate void ${name}<double>(double, int);`,
    );
    return {
      declaration: `template <typename T>\nvoid ${name}(T value, int blocks);`,
      launches: 1,
      call: (at) => [`${name}<${at.random.pick(['float', 'double'])}>(${text(at, 0, 100)}, ${text(at, 1, 64)});`],
    };
  }),
  rule('kernel', 1.2, (scope) => {
    const name = scope.name('sharedKernel');
    scope.define(`__global__ void ${name}(int* p0, int p1) {\nif (threadIdx.x == 0 && blockIdx.x == 0) p0[0] = p1;\n}`);
    return {
      declaration: `__global__ void ${name}(int* p0, int p1);`,
      launches: 1,
      call: (at) => [`${name}<<<${text(at, 1, 64)}, ${text(at, 1, 256)}>>>(nullptr, ${text(at, 0, 1000)});`],
    };
  }),
  rule('inline function of header', 1.2, (scope) => {
    const [name, inner] = [scope.name('runChecked'), scope.name('runUnchecked')];
    const kernel = simpleKernel(scope);
    scope.define(`void ${inner}(dim3 grid, int threads) {\n${kernel}<<<grid, threads>>>(nullptr, threads);\n}`);
    return {
      declaration: `void ${inner}(dim3 grid, int threads);\ninline void ${name}(int n) {\nif (n > 0) ${inner}(dim3(n, 2), n < 128 ? n : 128);\n}`,
      launches: 1,
      call: (at) => [`${name}(${text(at, 0, 200)});`],
    };
  }),
  rule('interface', 1.2, (scope) => {
    const [type, kernel] = [scope.name('Backend'), simpleKernel(scope)];
    scope.define(
      `namespace {\nclass ${type}Device : public ${type} {\npublic:\nexplicit ${type}Device(int blocks) : blocks_(blocks) {}\nvoid run(int n) override { ${kernel}<<<blocks_, n>>>(nullptr, n); }\n\nprivate:\nint blocks_;\n};\n}\nstd::unique_ptr<${type}> make${type}(int blocks) {\nreturn std::unique_ptr<${type}>(new ${type}Device(blocks));\n}`,
    );
    return {
      declaration: `class ${type} {\npublic:\nvirtual ~${type}() = default;\nvirtual void run(int n) = 0;\n};\nstd::unique_ptr<${type}> make${type}(int blocks);`,
      launches: 1,
      call: (at) => [`make${type}(${text(at, 1, 64)})->run(${text(at, 1, 256)});`],
    };
  }),
]);

/** A function for another file. The scope is that of the function. */
export function wrapper(scope: Scope): Wrapper {
  return wrappers.make(scope, null);
}

export const fileRules = wrappers.names;
