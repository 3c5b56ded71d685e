/** Allocations, and pointers as arguments. */
import { type ElementType, type Pointer, RuleTable, type Scope, rule } from './draft.ts';

interface Request {
  readonly element: ElementType;
  /** Receives the declarations. */
  readonly before: string[];
}

/** Declares device memory; the pointer is added to the scope by `allocate`. */
const allocations = new RuleTable<Request, Pointer>('allocation', [
  rule('cudaMalloc', 8, (scope, { element, before }) => {
    const [name, count] = [scope.name('d'), scope.random.pick([64, 100, 256, 1000])];
    const address = scope.random.pick([`&${name}`, `(void**)&${name}`, `reinterpret_cast<void**>(&${name})`]);
    const bytes = scope.random.pick([`${count} * sizeof(${element})`, `sizeof(${element}) * ${count}`, `${count} * sizeof(*${name})`]);
    before.push(`${element}* ${name}${scope.random.pick(['', ' = nullptr', ' = NULL'])};`, `cudaMalloc(${address}, ${bytes});`);
    return { text: name, element, count };
  }),
  rule('checked cudaMalloc', 2, (scope, { element, before }) => {
    const [name, count] = [scope.name('d'), scope.random.pick([128, 512])];
    scope.header('cstdio');
    scope.header('cstdlib');
    const check = scope.program.macro(
      'CHECK',
      '(call)                                       \\\n  do {                                                     \\\n    cudaError_t status_ = (call);                          \\\n    if (status_ != cudaSuccess) {                          \\\n      fprintf(stderr, "%s\\n", cudaGetErrorString(status_)); \\\n      exit(EXIT_FAILURE);                                  \\\n    }                                                      \\\n  } while (0)',
    );
    before.push(`${element}* ${name};`, `${check}(cudaMalloc(&${name}, ${count} * sizeof(${element})));`);
    return { text: name, element, count };
  }),
  rule('variable size', 3, (scope, { element, before }) => {
    const [name, size] = [scope.name('d'), scope.name('bytes')];
    const count = scope.integer(32, 1024);
    before.push(
      `const size_t ${size} = ${count.text} * sizeof(${element});`,
      `${element}* ${name};`,
      `cudaMalloc((void**)&${name}, ${size});`,
    );
    return { text: name, element, count: 32 };
  }),
  rule('cudaMallocManaged', 2, (scope, { element, before }) => {
    const [name, count] = [scope.name('m'), scope.random.pick([64, 256])];
    before.push(`${element}* ${name};`, `cudaMallocManaged(&${name}, ${count} * sizeof(${element}));`);
    return { text: name, element, count };
  }),
  rule('cudaMallocAsync', 0.8, (scope, { element, before }) => {
    const [name, count] = [scope.name('d'), scope.random.pick([64, 256])];
    before.push(`${element}* ${name};`, `cudaMallocAsync(&${name}, ${count} * sizeof(${element}), 0);`);
    return { text: name, element, count };
  }),
  rule('cudaMallocPitch', 0.6, (scope, { element, before }) => {
    const [name, pitch] = [scope.name('d'), scope.name('pitch')];
    before.push(`${element}* ${name};`, `size_t ${pitch};`, `cudaMallocPitch(&${name}, &${pitch}, 100 * sizeof(${element}), 4);`);
    return { text: name, element, count: 128 };
  }),
  rule('mapped host memory', 0.6, (scope, { element, before }) => {
    const [host, name] = [scope.name('h'), scope.name('d')];
    before.push(
      `${element} *${host}, *${name};`,
      `cudaHostAlloc(&${host}, 64 * sizeof(${element}), cudaHostAllocMapped);`,
      `cudaHostGetDevicePointer(&${name}, ${host}, 0);`,
    );
    return { text: name, element, count: 64 };
  }),
  rule('function template', 2, (scope, { element, before }) => {
    const make = scope.program.once(
      'allocate',
      'allocate',
      (name) =>
        `template <typename T>\nT* ${name}(size_t count) {\nT* memory = nullptr;\ncudaMalloc(&memory, count * sizeof(T));\nreturn memory;\n}`,
    );
    const name = scope.name('d');
    before.push(`${scope.random.pick(['auto', 'auto*', `${element}*`])} ${name} = ${make}<${element}>(128);`);
    return { text: name, element, count: 128 };
  }),
  rule('owning class', 2.5, (scope, { element, before }) => {
    const type = scope.program.once(
      'buffer',
      'Buffer',
      (name) =>
        `template <typename T>\nclass ${name} {\npublic:\nexplicit ${name}(size_t count) : count_(count) { cudaMalloc(&data_, count * sizeof(T)); }\n~${name}() { cudaFree(data_); }\n${name}(const ${name}&) = delete;\n${name}& operator=(const ${name}&) = delete;\n${name}(${name}&& other) noexcept : data_(other.data_), count_(other.count_) { other.data_ = nullptr; }\nT* get() const { return data_; }\nsize_t size() const { return count_; }\n\nprivate:\nT* data_ = nullptr;\nsize_t count_;\n};`,
    );
    const name = scope.name('buffer');
    const count = scope.integer(64, 512);
    before.push(scope.random.pick([`${type}<${element}> ${name}(${count.text});`, `auto ${name} = ${type}<${element}>(${count.text});`]));
    scope.declare(`${name}.size()`, 'unsigned long', 64, 512);
    return { text: `${name}.get()`, element, count: 64 };
  }),
  rule('unique_ptr with deleter', 1, (scope, { element, before }) => {
    scope.header('memory');
    const deleter = scope.program.once(
      'deleter',
      'Release',
      (name) => `struct ${name} {\nvoid operator()(void* memory) const { cudaFree(memory); }\n};`,
    );
    const [raw, name] = [scope.name('raw'), scope.name('owner')];
    before.push(
      `${element}* ${raw} = nullptr;`,
      `cudaMalloc(&${raw}, 96 * sizeof(${element}));`,
      `std::unique_ptr<${element}[], ${deleter}> ${name}(${raw});`,
    );
    return { text: `${name}.get()`, element, count: 96 };
  }),
  rule('array of pointers', 1, (scope, { element, before }) => {
    const [name, at] = [scope.name('planes'), scope.name('i')];
    const count = scope.random.between(2, 4);
    before.push(
      `${element}* ${name}[${count}];`,
      `for (int ${at} = 0; ${at} < ${count}; ${at}++) cudaMalloc(&${name}[${at}], 64 * sizeof(${element}));`,
    );
    const index = scope.integer(0, count - 1);
    return { text: `${name}[${index.text}]`, element, count: 64 };
  }),
  rule('pointer to pointer', 0.8, (scope, { element, before }) => {
    const make = scope.program.once(
      'allocate into',
      'allocateInto',
      (name) => `static void ${name}(void** where, size_t bytes) {\ncudaMalloc(where, bytes);\n}`,
    );
    const [name, where] = [scope.name('d'), scope.name('where')];
    before.push(
      `${element}* ${name} = nullptr;`,
      `${element}** ${where} = &${name};`,
      `${make}((void**)${where}, 64 * sizeof(${element}));`,
    );
    return { text: scope.random.pick([name, `*${where}`]), element, count: 64 };
  }),
  rule('part of arena', 1, (scope, { element, before }) => {
    const [arena, name] = [scope.name('arena'), scope.name('part')];
    before.push(
      `char* ${arena};`,
      `cudaMalloc(&${arena}, 4096);`,
      `${element}* ${name} = reinterpret_cast<${element}*>(${arena} + ${scope.random.pick([0, 256, 1024])});`,
    );
    return { text: name, element, count: 128 };
  }),
  rule('member of structure', 1, (scope, { element, before }) => {
    const type = scope.program.once(`field ${element}`, 'Field', (name) => `struct ${name} {\n${element}* data;\nint count;\n};`);
    const name = scope.name('field');
    const count = scope.random.pick([64, 200]);
    before.push(`${type} ${name}{nullptr, ${count}};`, `cudaMalloc(&${name}.data, ${name}.count * sizeof(${element}));`);
    scope.declare(`${name}.count`, 'int', count, count);
    return { text: `${name}.data`, element, count };
  }),
]);

/** Device memory of the element type, visible or newly allocated. */
export function pointerOf(scope: Scope, element: ElementType, before: string[]): Pointer {
  const visible = scope.visiblePointers().filter((pointer) => pointer.element === element);
  if (visible.length > 0 && scope.random.chance(0.85)) return scope.random.pick(visible);
  const pointer = allocations.make(scope, { element, before });
  scope.pointers.push(pointer);
  return pointer;
}

/** The argument of a parameter that is a pointer. */
const pointerArguments = new RuleTable<Request, string>('pointer argument', [
  rule('start', 10, (scope, { element, before }) => pointerOf(scope, element, before).text),
  rule('offset', 3, (scope, { element, before }) => {
    const { text, count } = pointerOf(scope, element, before);
    return `${text} + ${scope.integer(0, count - 1).text}`;
  }),
  rule('address of element', 1.5, (scope, { element, before }) => {
    const { text, count } = pointerOf(scope, element, before);
    return `&${text.startsWith('*') ? `(${text})` : text}[${scope.integer(0, count - 1).text}]`;
  }),
  rule('cast', 1, (scope, { element }) => {
    const [pointer] = scope.visiblePointers();
    if (!pointer) return null;
    return scope.random.pick([`(${element}*)${pointer.text}`, `reinterpret_cast<${element}*>(${pointer.text})`]);
  }),
  rule('difference from end', 0.7, (scope, { element, before }) => {
    const { text, count } = pointerOf(scope, element, before);
    return `${text} + ${count} - ${scope.integer(1, count).text}`;
  }),
  rule('null', 0.5, (scope, { element }) => scope.random.pick(['nullptr', `(${element}*)nullptr`, `static_cast<${element}*>(0)`])),
]);

/** Text of an argument that points to the element type. */
export function pointerArgument(scope: Scope, element: ElementType, before: string[]): string {
  return pointerArguments.make(scope, { element, before });
}

export const memoryRules = [allocations, pointerArguments].flatMap(({ names }) => names);
