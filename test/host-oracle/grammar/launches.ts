/** Launches: dimensions, arguments, and the forms in which a program launches a kernel. */
import { binary, literal, rangeOf } from './arithmetic.ts';
import { type Kernel, type Parameter, RuleTable, type Scope, type Value, rule } from './draft.ts';
import { kernelPointer, parameterType } from './kernels.ts';
import { pointerArgument } from './memory.ts';

type Extents = readonly Value[];

const blocks = new RuleTable<Kernel, Extents>('block', [
  rule('constant', 5, (scope) => [literal(scope.random.pick([1, 32, 64, 96, 128, 256]))]),
  rule('expression', 5, (scope, { maxThreads }) => [scope.integer(1, Math.min(256, maxThreads))]),
  rule('large expression', 1.5, (scope, { maxThreads }) => [scope.integer(1, maxThreads)]),
  rule('multiple of warp', 2, (scope) => {
    const warps = scope.integer(1, 8);
    return [binary(warps, '*', literal(32)) ?? literal(64)];
  }),
  rule('two dimensions', 3, (scope) => [scope.integer(1, 16), scope.integer(1, 16)]),
  rule('three dimensions', 1.5, (scope) => [scope.integer(1, 8), scope.integer(1, 8), scope.integer(1, 4)]),
]);

const grids = new RuleTable<Kernel, Extents>('grid', [
  rule('expression', 8, (scope) => [scope.integer(1, 256, 3)]),
  rule('constant', 3, (scope) => [literal(scope.random.pick([1, 2, 4, 7, 16, 132]))]),
  rule('two dimensions', 3, (scope) => [scope.integer(1, 64), scope.integer(1, 64)]),
  rule('three dimensions', 1, (scope) => [scope.integer(1, 16), scope.integer(1, 16, 1), scope.integer(1, 16, 1)]),
  rule('division rounded up', 3, (scope) => {
    const [count, unit] = [scope.integer(1, 4096), scope.random.pick([32, 64, 128, 256])];
    if (count.type === 'unsigned char') return null;
    const text = `(${count.text} + ${unit} - 1) / ${unit}`;
    return [{ text, type: count.type, low: 1, high: Math.ceil(count.high / unit) }];
  }),
]);

/** How a program states dimensions. Declarations are appended to `before`. */
interface Spelling {
  readonly extents: Extents;
  readonly before: string[];
}

/** Each extent without a narrowing conversion. */
const unsignedList = (extents: Extents): string => extents.map(({ text }) => `(unsigned)(${text})`).join(', ');
const list = (extents: Extents): string => extents.map(({ text }) => text).join(', ');

const spellings = new RuleTable<Spelling, string>('dimensions', [
  rule('number', 10, (_, { extents }) => (extents.length === 1 ? extents[0]!.text : null)),
  rule('constructor', 4, (_, { extents }) => `dim3(${list(extents)})`),
  rule('variable', 4, (scope, { extents, before }) => {
    const name = scope.name('dims');
    before.push(`${scope.random.pick(['', 'const '])}dim3 ${name}(${list(extents)});`);
    return name;
  }),
  rule('braces', 1.5, (scope, { extents, before }) => {
    const name = scope.name('dims');
    before.push(`dim3 ${name}{${unsignedList(extents)}};`);
    return name;
  }),
  rule('copied constructor', 1.5, (scope, { extents, before }) => {
    const name = scope.name('dims');
    before.push(`${scope.random.pick(['dim3', 'auto', 'const auto'])} ${name} = dim3(${list(extents)});`);
    return name;
  }),
  rule('members', 2, (scope, { extents, before }) => {
    const name = scope.name('dims');
    before.push(`dim3 ${name};`, ...extents.map(({ text }, at) => `${name}.${'xyz'[at]} = ${text};`));
    return name;
  }),
  rule('changed members', 1, (scope, { extents, before }) => {
    const name = scope.name('dims');
    before.push(`dim3 ${name}(${list(extents)});`);
    if (extents[0]!.high > 64) before.push(`${name}.x = (${name}.x + 1) / 2;`);
    else before.push(`${name}.${scope.random.pick(['x', 'y', 'z'])} *= 1;`);
    return name;
  }),
  rule('arithmetic of members', 1, (scope, { extents, before }) => {
    const [first, name] = [scope.name('dims'), scope.name('dims')];
    before.push(`dim3 ${first}(${list(extents)});`, `dim3 ${name}(${first}.x, ${first}.y * 1u, ${first}.z);`);
    return name;
  }),
  rule('implicit conversion', 1, (scope, { extents, before }) => {
    const name = scope.name('dims');
    if (extents.length !== 1) return null;
    before.push(`dim3 ${name} = ${extents[0]!.text};`);
    return name;
  }),
  rule('function', 1, (scope, { extents }) => {
    const make = scope.program.once(
      'extent',
      'extent',
      (name) => `static dim3 ${name}(int x, int y = 1, int z = 1) {\nreturn dim3(x, y, z);\n}`,
    );
    return `${make}(${list(extents)})`;
  }),
  rule(
    'conditional',
    0.8,
    (scope, { extents }) => `(${scope.grammar.condition(scope, 1)} ? dim3(${list(extents)}) : dim3(${scope.random.pick([1, 2])}))`,
  ),
  rule('uint3', 0.5, (scope, { extents, before }) => {
    const name = scope.name('extent');
    const all = [...extents, literal(1), literal(1)].slice(0, 3);
    before.push(`uint3 ${name} = make_uint3(${list(all)});`);
    return `dim3(${name})`;
  }),
]);

const sharedBytes = new RuleTable<null, string>('shared', [
  rule('zero', 2, () => '0'),
  rule('constant', 2, (scope) => String(scope.random.pick([64, 128, 1024, 4096]))),
  rule('elements', 3, (scope) => `${scope.integer(1, 256).text} * sizeof(${scope.random.pick(['float', 'int', 'double'])})`),
  rule('expression', 2, (scope) => scope.integer(0, 8192).text),
]);

const integerArguments = new RuleTable<Parameter & { readonly kind: 'integer' }, string>('integer argument', [
  rule('any', 4, (scope, { type }) => {
    const { low, high } = rangeOf(type);
    return scope.integer(Math.max(low, -1000), Math.min(high, 100_000)).text;
  }),
  rule('small', 3, (scope, { type }) => scope.integer(0, Math.min(rangeOf(type).high, 256)).text),
  rule('converted', 1.5, (scope) => scope.integer(0, 100_000, 3).text),
  rule('extreme', 0.6, (scope, { type }) => {
    const { low, high } = rangeOf(type);
    if (Math.abs(low) > 2 ** 40 || high > 2 ** 40) return '0x7fffffffffffffffLL';
    return scope.random.pick([high, low === -(2 ** 31) ? low + 1 : low]).toString();
  }),
  rule('boolean', 1, (scope, { type }) => (type === 'bool' ? scope.random.pick(['true', 'false']) : scope.grammar.condition(scope, 1))),
  rule('float', 0.5, (scope) => `(int)(${scope.integer(0, 100).text} * 1.5f)`),
]);

const structArguments = new RuleTable<{ readonly parameter: Parameter & { readonly kind: 'struct' }; readonly before: string[] }, string>(
  'record argument',
  [
    rule('temporary', 3, (scope, { parameter }) => parameter.make(scope)),
    rule('variable', 3, (scope, { parameter, before }) => {
      const name = scope.name('record');
      before.push(`${scope.random.pick(['const ', '', ''])}${parameter.type} ${name} = ${parameter.make(scope)};`);
      return name;
    }),
    rule('copy', 1, (scope, { parameter, before }) => {
      const [first, name] = [scope.name('record'), scope.name('copy')];
      before.push(`${parameter.type} ${first} = ${parameter.make(scope)};`, `auto ${name} = ${first};`);
      return name;
    }),
    rule('memcpy', 0.8, (scope, { parameter, before }) => {
      if (parameter.type.startsWith('Range')) return null;
      const [first, name] = [scope.name('record'), scope.name('copy')];
      scope.header('cstring');
      before.push(
        `${parameter.type} ${first} = ${parameter.make(scope)};`,
        `${parameter.type} ${name};`,
        `memcpy(&${name}, &${first}, sizeof(${name}));`,
      );
      return name;
    }),
    rule('pointer', 0.8, (scope, { parameter, before }) => {
      const [first, name] = [scope.name('record'), scope.name('where')];
      before.push(`${parameter.type} ${first} = ${parameter.make(scope)};`, `${parameter.type}* ${name} = &${first};`);
      return `*${name}`;
    }),
    rule('reference', 0.8, (scope, { parameter, before }) => {
      const name = scope.name('bound');
      before.push(`const ${parameter.type}& ${name} = ${parameter.make(scope)};`);
      return name;
    }),
  ],
);

/** Text of an argument for the parameter. */
export function argument(scope: Scope, parameter: Parameter, before: string[]): string {
  switch (parameter.kind) {
    case 'pointer':
      return pointerArgument(scope, parameter.element, before);
    case 'integer':
      return integerArguments.make(scope, parameter);
    case 'float':
      return scope.grammar.float(scope, 1);
    case 'struct':
      return structArguments.make(scope, { parameter, before });
  }
}

/** One launch, before its form is chosen. */
interface Plan {
  readonly kernel: Kernel;
  readonly grid: string;
  readonly block: string;
  readonly shared: string | null;
  readonly stream: string | null;
  readonly arguments: readonly string[];
  readonly before: readonly string[];
}

function stream(scope: Scope, before: string[]): string {
  const kind = scope.random.below(4);
  if (kind > 0) return ['0', 'nullptr', 'cudaStreamDefault'][scope.random.below(2)]!;
  const name = scope.name('stream');
  before.push(`cudaStream_t ${name};`, `cudaStreamCreate(&${name});`);
  return name;
}

function planned(scope: Scope, kernel: Kernel, hasPair = false): Plan {
  const before: string[] = [];
  const args = kernel.parameters.map((parameter) => argument(scope, parameter, before));
  const extents = grids.make(scope, kernel);
  const isEven = kernel.hasCluster || hasPair;
  const wide = isEven ? [{ ...extents[0]!, text: `2 * (${extents[0]!.text})` }, ...extents.slice(1)] : extents;
  // The conditional form would not be a multiple of a cluster.
  let grid = spellings.make(scope, { extents: wide, before });
  if (isEven && grid.includes('? dim3(')) grid = `dim3(${list(wide)})`;
  const block = spellings.make(scope, { extents: blocks.make(scope, kernel), before });
  const shared = scope.random.chance(0.3) ? sharedBytes.make(scope, null) : null;
  const hasStream = shared !== null && scope.random.chance(0.4);
  return { kernel, grid, block, shared, stream: hasStream ? stream(scope, before) : null, arguments: args, before };
}

const configuration = ({ grid, block, shared, stream }: Plan): string =>
  [grid, block, shared, stream].filter((part) => part !== null).join(', ');

const arrows = (callee: string, plan: Plan): string => `${callee}<<<${configuration(plan)}>>>(${plan.arguments.join(', ')});`;

/** Declares each argument with the type of its parameter, and an array of their addresses. */
function addressed(scope: Scope, plan: Plan): { readonly lines: readonly string[]; readonly array: string } {
  const names = plan.kernel.parameters.map(() => scope.name('arg'));
  const lines = plan.kernel.parameters.map((parameter, at) => `${parameterType(parameter)} ${names[at]} = ${plan.arguments[at]};`);
  const array = scope.name('args');
  if (names.length === 0) return { lines: [], array: 'nullptr' };
  const addresses = names.map((name) => `${scope.random.pick(['', '(void*)'])}&${name}`).join(', ');
  const isConst = plan.kernel.parameters.some((parameter) => parameter.kind === 'pointer' && parameter.isConst);
  return { lines: [...lines, `void* ${array}[] = {${isConst ? names.map((name) => `(void*)&${name}`).join(', ') : addresses}};`], array };
}

/** Functions of the runtime take a kernel that is named without a cast. */
const asFunction = (scope: Scope, { callee }: Kernel): string =>
  scope.random.pick([
    `(const void*)${callee}`,
    `(void*)${callee}`,
    `reinterpret_cast<const void*>(&${callee.startsWith('(') ? `*${callee}` : callee})`,
  ]);

interface ExtendedAttribute {
  readonly lines: (name: string, scope: Scope) => readonly string[];
  readonly isCluster: boolean;
}

const attributes: readonly ExtendedAttribute[] = [
  {
    isCluster: true,
    lines: (name) => [
      `${name}.id = cudaLaunchAttributeClusterDimension;`,
      `${name}.val.clusterDim.x = 2;`,
      `${name}.val.clusterDim.y = 1;`,
      `${name}.val.clusterDim.z = 1;`,
    ],
  },
  {
    isCluster: false,
    lines: (name) => [
      `${name}.id = cudaLaunchAttributeProgrammaticStreamSerialization;`,
      `${name}.val.programmaticStreamSerializationAllowed = 1;`,
    ],
  },
  {
    isCluster: false,
    lines: (name, scope) => [`${name}.id = cudaLaunchAttributeCooperative;`, `${name}.val.cooperative = ${scope.random.pick([1, 1, 0])};`],
  },
];

/** A launch with a configuration record, and attributes. */
function extended(scope: Scope, isTyped: boolean): readonly string[] {
  const kernel = scope.grammar.kernel(scope);
  const chosen = attributes.filter((attribute) => scope.random.chance(0.5) && !(attribute.isCluster && kernel.hasCluster));
  const plan = planned(
    scope,
    kernel,
    chosen.some(({ isCluster }) => isCluster),
  );
  const config = scope.name('config');
  const lines = [...plan.before, `cudaLaunchConfig_t ${config} = ${scope.random.pick(['{0}', '{}'])};`];
  lines.push(`${config}.gridDim = ${plan.grid};`, `${config}.blockDim = ${plan.block};`);
  if (plan.shared !== null) lines.push(`${config}.dynamicSmemBytes = ${plan.shared};`);
  if (plan.stream !== null) lines.push(`${config}.stream = ${plan.stream === 'cudaStreamDefault' ? '0' : plan.stream};`);
  if (chosen.length > 0) {
    const array = scope.name('attributes');
    lines.push(`cudaLaunchAttribute ${array}[${chosen.length}];`);
    lines.push(...chosen.flatMap((attribute, at) => attribute.lines(`${array}[${at}]`, scope)));
    lines.push(`${config}.attrs = ${array};`, `${config}.numAttrs = ${chosen.length};`);
  }
  if (isTyped) {
    const args = plan.kernel.parameters.map((parameter, at) => `, (${parameterType(parameter)})(${plan.arguments[at]})`);
    return [...lines, `cudaLaunchKernelEx(&${config}, ${kernel.callee}${args.join('')});`];
  }
  const { lines: declarations, array } = addressed(scope, plan);
  return [...lines, ...declarations, `cudaLaunchKernelExC(&${config}, ${asFunction(scope, kernel)}, ${array});`];
}

/** Launch forms: each executes the number of launches that it charges. */
const forms = new RuleTable<null, readonly string[]>('launch', [
  rule('arrows', 14, (scope) => {
    const plan = planned(scope, scope.grammar.kernel(scope));
    return [...plan.before, arrows(plan.kernel.callee, plan)];
  }),
  rule('cudaLaunchKernel', 2, (scope) => {
    const plan = planned(scope, scope.grammar.kernel(scope));
    const { lines, array } = addressed(scope, plan);
    return [
      ...plan.before,
      ...lines,
      `cudaLaunchKernel(${asFunction(scope, plan.kernel)}, ${plan.grid}, ${plan.block}, ${array}, ${plan.shared ?? '0'}, ${plan.stream ?? '0'});`,
    ];
  }),
  rule('typed cudaLaunchKernel', 1, (scope) => {
    const plan = planned(scope, scope.grammar.kernel(scope));
    const { lines, array } = addressed(scope, plan);
    return [
      ...plan.before,
      ...lines,
      `cudaLaunchKernel(${plan.kernel.callee}, ${plan.grid}, ${plan.block}, ${array}${plan.shared === null ? '' : `, ${plan.shared}`});`,
    ];
  }),
  rule('cudaLaunchCooperativeKernel', 1.2, (scope) => {
    const plan = planned(scope, scope.grammar.kernel(scope));
    const { lines, array } = addressed(scope, plan);
    return [
      ...plan.before,
      ...lines,
      `cudaLaunchCooperativeKernel(${asFunction(scope, plan.kernel)}, ${plan.grid}, ${plan.block}, ${array}, ${plan.shared ?? '0'}, 0);`,
    ];
  }),
  rule('cudaLaunchKernelEx', 2, (scope) => extended(scope, true)),
  rule('cudaLaunchKernelExC', 1, (scope) => extended(scope, false)),
  rule('kernel pointer', 1.5, (scope) => {
    const kernel = scope.grammar.kernel(scope);
    const name = scope.name('kernel');
    const plan = planned(scope, kernel);
    const declaration = scope.random.pick([kernelPointer(kernel, name), `auto ${name}`, `const auto ${name}`, `auto* ${name}`]);
    return [...plan.before, `${declaration} = ${kernel.callee};`, arrows(name, plan)];
  }),
  rule('chosen kernel', 1.2, (scope) => {
    const [first, second] = sameSignature(scope);
    if (!second) return null;
    const name = scope.name('kernel');
    const plan = planned(scope, { ...first, hasCluster: first.hasCluster || second.hasCluster });
    return [
      ...plan.before,
      `${kernelPointer(first, name)} = ${scope.grammar.condition(scope, 1)} ? ${first.callee} : ${second.callee};`,
      arrows(name, plan),
    ];
  }),
  rule('table of kernels', 0.8, (scope) => {
    const [first, second] = sameSignature(scope);
    if (!second) return null;
    const name = scope.name('kernels');
    const plan = planned(scope, { ...first, hasCluster: first.hasCluster || second.hasCluster });
    return [
      ...plan.before,
      `${kernelPointer(first, `${name}[2]`)} = {${first.callee}, ${second.callee}};`,
      arrows(`${name}[${scope.integer(0, 1).text}]`, plan),
    ];
  }),
  rule('macro', 1, (scope) => {
    const plan = planned(scope, scope.grammar.kernel(scope));
    if (
      plan.arguments.length === 0 ||
      /[,<]/.test(plan.kernel.callee) ||
      [plan.grid, plan.block, ...plan.arguments].some((text) => text.includes('{'))
    )
      return null;
    const macro = scope.program.macro(
      'LAUNCH',
      '(kernel, grid, block, ...)            \\\n  do {                                          \\\n    kernel<<<(grid), (block)>>>(__VA_ARGS__);   \\\n    cudaGetLastError();                         \\\n  } while (0)',
    );
    return [...plan.before, `${macro}(${plan.kernel.callee}, (${plan.grid}), (${plan.block}), ${plan.arguments.join(', ')});`];
  }),
  rule('variadic wrapper', 1.2, (scope) => {
    const kernel = scope.grammar.kernel(scope);
    const plan = planned(scope, kernel);
    const wrapper = scope.program.once(
      'launcher',
      'launch',
      (name) =>
        `template <typename... P, typename... A>\nvoid ${name}(void (*kernel)(P...), dim3 grid, dim3 block, A&&... args) {\nkernel<<<grid, block>>>(std::forward<A>(args)...);\n}`,
    );
    scope.header('utility');
    const args = kernel.parameters.map((parameter, at) => `, (${parameterType(parameter)})(${plan.arguments[at]})`);
    return [...plan.before, `${wrapper}(${kernel.callee}, ${plan.grid}, ${plan.block}${args.join('')});`];
  }),
  rule('kernel as template argument', 1, (scope) => {
    const kernel = scope.grammar.kernel(scope);
    if (kernel.callee.startsWith('(')) return null;
    const plan = planned(scope, kernel);
    const runner = scope.program.once(
      'runner',
      'runKernel',
      (name) =>
        `template <auto Kernel, typename... A>\nvoid ${name}(dim3 grid, dim3 block, A... args) {\nKernel<<<grid, block>>>(args...);\n}`,
    );
    const args = kernel.parameters.map((parameter, at) => `, (${parameterType(parameter)})(${plan.arguments[at]})`);
    return [...plan.before, `${runner}<${scope.random.pick(['&', ''])}${kernel.callee}>(${plan.grid}, ${plan.block}${args.join('')});`];
  }),
  rule('checked', 1.5, (scope) => {
    const plan = planned(scope, scope.grammar.kernel(scope));
    scope.header('cstdio');
    return [
      ...plan.before,
      arrows(plan.kernel.callee, plan),
      'if (cudaGetLastError() != cudaSuccess) printf("launch failed\\n");',
      'cudaDeviceSynchronize();',
    ];
  }),
  rule('lambda', 1.2, (scope) => {
    const plan = planned(scope, scope.grammar.kernel(scope));
    const name = scope.name('go');
    return [...plan.before, `auto ${name} = [&] { ${arrows(plan.kernel.callee, plan)} };`, `${name}();`];
  }),
]);

/** A kernel and another one with its signature, if there is one. */
function sameSignature(scope: Scope): readonly [Kernel, Kernel | undefined] {
  const first = scope.grammar.kernel(scope);
  const { kernels } = scope.program;
  const type = kernelPointer(first, '');
  const others = kernels.filter((kernel) => kernel.callee !== first.callee && kernelPointer(kernel, '') === type);
  if (others.length > 0) return [first, scope.random.pick(others)];
  const name = scope.name('variant');
  const parameters = first.parameters.map((parameter, at) => `${parameterType(parameter)} p${at}`).join(', ');
  scope.define(`__global__ void ${name}(${parameters}) {}`);
  const second = { ...first, callee: name, hasCluster: false };
  kernels.push(second);
  return [first, second];
}

/** Statements that launch once, if the bound of the function permits. */
export function launch(scope: Scope): readonly string[] {
  if (!scope.canLaunch()) return [`(void)${scope.integer(0, 10, 1).text};`];
  scope.chargeLaunches(1);
  return forms.make(scope, null);
}

export const launchRules = [blocks, grids, spellings, sharedBytes, integerArguments, structArguments, forms].flatMap(({ names }) => names);
