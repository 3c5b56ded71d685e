/** Containers, algorithms and other types of the standard library. */
import { type Scope, block, rule } from './draft.ts';
import { simpleKernel } from './functions.ts';
import { type StatementRule, launchingBody } from './statements.ts';

const text = (scope: Scope, low: number, high: number): string => scope.integer(low, high).text;

/** Integers of the interval, and the same separated by commas. */
const elements = (scope: Scope, count: number, low: number, high: number): readonly string[] =>
  Array.from({ length: count }, () => `(int)${text(scope, low, high)}`);
const list = (...wanted: Parameters<typeof elements>): string => elements(...wanted).join(', ');

/** Declares a vector with three elements from 1 to 100; its name. */
function vector(scope: Scope, lines: string[]): string {
  scope.header('vector');
  const name = scope.name('sizes');
  const values = elements(scope, 3, 1, 100);
  const all = values.join(', ');
  lines.push(
    ...scope.random.pick([
      [`std::vector<int> ${name} = {${all}};`],
      [`std::vector<int> ${name}{${all}};`],
      [`std::vector<int> ${name};`, ...values.map((value) => `${name}.${scope.random.pick(['push_back', 'emplace_back'])}(${value});`)],
      [`std::vector<int> ${name}(3, ${text(scope, 1, 100)});`, `${name}[${text(scope, 0, 2)}] = ${text(scope, 1, 100)};`],
    ]),
  );
  return name;
}

/** A loop over values from 1 to 100, at most three. */
function over(scope: Scope, name: string, most = 3): readonly string[] | null {
  if (scope.isDeep || !scope.canLaunch(most)) return null;
  const each = scope.name('each');
  const inner = scope.loop(most);
  inner.declare(each, 'int', 0, 400);
  return [`for (${scope.random.pick(['int', 'const int'])} ${each} : ${name}) ${block(launchingBody(inner))}`];
}

/** Declares a variable for a value that an algorithm computes. */
function computed(scope: Scope, lines: string[], value: string, low: number, high: number): readonly string[] {
  const name = scope.name('found');
  lines.push(`${scope.random.pick(['const int', 'int', 'auto', 'long'].slice(0, 2))} ${name} = ${value};`);
  scope.declare(name, 'int', low, high);
  return lines;
}

export const containerRules: readonly StatementRule[] = [
  rule('vector', 3, (scope) => {
    const lines: string[] = [];
    const name = vector(scope, lines);
    const loop = over(scope, name);
    return loop && [...lines, ...loop];
  }),
  rule('vector by index', 2, (scope) => {
    if (scope.isDeep || !scope.canLaunch(3)) return null;
    const lines: string[] = [];
    const name = vector(scope, lines);
    const at = scope.name('i');
    const inner = scope.loop(3);
    inner.declare(`${name}[${at}]`, 'int', 1, 100, true);
    const type = scope.random.pick(['size_t', 'int', 'unsigned', 'auto'] as const);
    inner.declare(at, type === 'size_t' ? 'unsigned long' : type === 'unsigned' ? 'unsigned' : 'int', 0, 2);
    return [
      ...lines,
      `for (${type} ${at} = 0; ${at} < ${scope.random.pick([`${name}.size()`, `(int)${name}.size()`])}; ${at}++) ${block(launchingBody(inner))}`,
    ];
  }),
  rule('vector by iterator', 1.2, (scope) => {
    if (scope.isDeep || !scope.canLaunch(3)) return null;
    const lines: string[] = [];
    const name = vector(scope, lines);
    const at = scope.name('it');
    const inner = scope.loop(3);
    inner.declare(`(*${at})`, 'int', 1, 100, true);
    inner.declare(`(${at} - ${name}.begin())`, 'long', 0, 2);
    return [
      ...lines,
      `for (${scope.random.pick(['auto', 'std::vector<int>::iterator'])} ${at} = ${name}.begin(); ${at} != ${name}.end(); ++${at}) ${block(launchingBody(inner))}`,
    ];
  }),
  rule('members of vector', 1.5, (scope) => {
    const lines: string[] = [];
    const name = vector(scope, lines);
    scope.declare(`${name}.front()`, 'int', 1, 100);
    scope.declare(`${name}.back()`, 'int', 1, 100);
    scope.declare(`${name}.size()`, 'unsigned long', 1, 3);
    scope.declare(`${name}.at(${scope.random.pick([0, 1, 2])})`, 'int', 1, 100);
    return [...lines, ...scope.statements(1)];
  }),
  rule('growing vector', 1, (scope) => {
    if (!scope.canLaunch(3)) return null;
    scope.header('vector');
    const [name, kernel, at] = [scope.name('levels'), simpleKernel(scope), scope.name('n')];
    scope.chargeLaunches(3);
    return [
      `std::vector<int> ${name};`,
      `for (int ${at} = ${text(scope, 1, 63)}; ${at} > 0; ${at} /= 4) ${name}.push_back(${at});`,
      `while (!${name}.empty()) {\n${kernel}<<<${name}.back(), ${name}.size()>>>(nullptr, ${name}.front());\n${name}.pop_back();\n}`,
    ];
  }),
  rule('vector of vectors', 1, (scope) => {
    if (!scope.canLaunch(4)) return null;
    scope.header('vector');
    const [name, row, value, kernel] = [scope.name('rows'), scope.name('row'), scope.name('value'), simpleKernel(scope)];
    scope.chargeLaunches(4);
    return [
      `std::vector<std::vector<int>> ${name} = {{${list(scope, 2, 1, 64)}}, {}, {${list(scope, 1, 1, 64)}}};`,
      `${name}[1].push_back(${text(scope, 1, 64)});`,
      `for (const auto& ${row} : ${name}) for (int ${value} : ${row}) ${kernel}<<<${value}, ${row}.size() * 32>>>(nullptr, ${value});`,
    ];
  }),
  rule('vector of records', 1, (scope) => {
    if (!scope.canLaunch(3)) return null;
    scope.header('vector');
    const type = scope.program.once('stage record', 'Stage', (name) => `struct ${name} {\nint blocks, threads;\nfloat* data;\n};`);
    const [name, each, kernel] = [scope.name('stages'), scope.name('stage'), simpleKernel(scope)];
    scope.chargeLaunches(2);
    return [
      `std::vector<${type}> ${name};`,
      `${name}.push_back({(int)${text(scope, 1, 64)}, (int)${text(scope, 1, 128)}, nullptr});`,
      `${name}.push_back(${type}{(int)${text(scope, 1, 64)}, 64, nullptr});`,
      `for (const ${scope.random.pick(['auto', type])}& ${each} : ${name}) ${kernel}<<<${each}.blocks, ${each}.threads>>>(${each}.data, ${each}.blocks * ${each}.threads);`,
    ];
  }),
  rule('vector of device pointers', 1, (scope) => {
    if (!scope.canLaunch(3)) return null;
    scope.header('vector');
    const [name, each, at, kernel] = [scope.name('buffers'), scope.name('buffer'), scope.name('i'), simpleKernel(scope)];
    scope.chargeLaunches(3);
    scope.pointers.push({ text: `${name}[${scope.random.below(3)}]`, element: 'float', count: 64 });
    return [
      `std::vector<float*> ${name}(3);`,
      `for (auto& ${each} : ${name}) cudaMalloc(&${each}, 64 * sizeof(float));`,
      `for (size_t ${at} = 0; ${at} < ${name}.size(); ${at}++) ${kernel}<<<${at} + 1, 64>>>(${name}[${at}], (int)${at});`,
    ];
  }),
  rule('vector of kernels', 0.8, (scope) => {
    if (!scope.canLaunch(2)) return null;
    scope.header('vector');
    const [name, each, first] = [scope.name('kernels'), scope.name('kernel'), simpleKernel(scope)];
    const second = scope.program.once('other simple kernel', 'rest', (called) => `__global__ void ${called}(float* p0, int p1) {}`);
    scope.chargeLaunches(2);
    return [
      `std::vector<void (*)(float*, int)> ${name} = {${first}, ${second}};`,
      `for (auto ${each} : ${name}) ${each}<<<${text(scope, 1, 64)}, 32>>>(nullptr, ${text(scope, 0, 9)});`,
    ];
  }),
  rule('array', 1.5, (scope) => {
    scope.header('array');
    const name = scope.name('extents');
    const lines = [
      `${scope.random.pick(['', 'const '])}std::array<int, 3> ${name}${scope.random.pick([' = ', ''])}{${list(scope, 3, 1, 100)}};`,
    ];
    const loop = scope.random.chance(0.6) ? over(scope, name) : null;
    scope.declare(`${name}[${text(scope, 0, 2)}]`, 'int', 1, 100);
    scope.declare(`std::get<1>(${name})`, 'int', 1, 100);
    return [...lines, ...(loop ?? [])];
  }),
  rule('pair', 1.2, (scope) => {
    scope.header('utility');
    const name = scope.name('range');
    const [first, second] = [text(scope, 1, 64), text(scope, 1, 256)];
    const made = scope.random.pick([
      `std::pair<int, unsigned> ${name}(${first}, ${second});`,
      `auto ${name} = std::make_pair((int)${first}, (unsigned)${second});`,
      `const std::pair<int, unsigned> ${name} = {(int)${first}, (unsigned)${second}};`,
    ]);
    scope.declare(`${name}.first`, 'int', 1, 64);
    scope.declare(`${name}.second`, 'unsigned', 1, 256);
    return [made];
  }),
  rule('tuple', 1, (scope) => {
    scope.header('tuple');
    const [name, a, b] = [scope.name('parts'), scope.name('a'), scope.name('b')];
    const made = `auto ${name} = std::make_tuple((int)${text(scope, 1, 64)}, (short)${text(scope, 1, 100)}, 2.5f);`;
    scope.declare(`std::get<0>(${name})`, 'int', 1, 64);
    const lines = [made];
    if (scope.random.chance(0.5)) {
      lines.push(`int ${a};`, `short ${b};`, `std::tie(${a}, ${b}, std::ignore) = ${name};`);
      scope.declare(a, 'int', 1, 64, true);
      scope.declare(b, 'short', 1, 100, true);
    }
    return lines;
  }),
  rule('map', 1.5, (scope) => {
    if (scope.isDeep || !scope.canLaunch(3)) return null;
    scope.header('map');
    const [name, entry] = [scope.name('table'), scope.name('entry')];
    const inner = scope.loop(3);
    inner.declare(`${entry}.first`, 'int', 1, 50);
    inner.declare(`${entry}.second`, 'int', 1, 100);
    const lines = [`std::map<int, int> ${name}${scope.random.pick([';', ` = {{3, (int)${text(scope, 1, 100)}}, {1, 20}};`])}`];
    lines.push(`${name}[${text(scope, 1, 50)}] = ${text(scope, 1, 100)};`);
    const form = scope.random.pick(['auto&', 'const auto&', 'auto', 'const std::pair<const int, int>&']);
    return [...lines, `for (${form} ${entry} : ${name}) ${block(launchingBody(inner))}`];
  }),
  rule('map of names', 1, (scope) => {
    if (!scope.canLaunch(2)) return null;
    for (const header of ['map', 'string', 'unordered_map']) scope.header(header);
    const [name, found, kernel] = [scope.name('options'), scope.name('found'), simpleKernel(scope)];
    scope.chargeLaunches(2);
    const key = scope.random.pick(['blocks', 'threads', 'missing']);
    return [
      `std::${scope.random.pick(['map', 'unordered_map'])}<std::string, int> ${name} = {{"blocks", (int)${text(scope, 1, 64)}}, {"threads", 64}};`,
      `${kernel}<<<${name}["blocks"], ${name}.at("threads")>>>(nullptr, ${name}.count("blocks"));`,
      `auto ${found} = ${name}.find("${key}");`,
      `if (${found} != ${name}.end()) ${kernel}<<<1, ${found}->second>>>(nullptr, 1);`,
    ];
  }),
  rule('structured binding of map', 0.8, (scope) => {
    if (!scope.canLaunch(2)) return null;
    scope.header('map');
    const [name, key, value, kernel] = [scope.name('costs'), scope.name('key'), scope.name('cost'), simpleKernel(scope)];
    scope.chargeLaunches(2);
    return [
      `std::map<char, int> ${name}{{'b', (int)${text(scope, 1, 64)}}, {'a', (int)${text(scope, 1, 64)}}};`,
      `for (${scope.random.pick(['auto&', 'const auto&'])} [${key}, ${value}] : ${name}) ${kernel}<<<${value}, 32>>>(nullptr, ${key});`,
    ];
  }),
  rule('set', 0.8, (scope) => {
    scope.header('set');
    const name = scope.name('unique');
    const lines = [`std::set<int> ${name} = {${list(scope, 3, 1, 100)}};`];
    const loop = over(scope, name);
    return loop && [...lines, ...loop];
  }),
  rule('queue', 1, (scope) => {
    if (!scope.canLaunch(4)) return null;
    const kind = scope.random.pick(['queue', 'stack'] as const);
    scope.header(kind);
    const [name, value, kernel] = [scope.name('work'), scope.name('item'), simpleKernel(scope)];
    scope.chargeLaunches(4);
    return [
      `std::${kind}<int> ${name};`,
      `${name}.push(${text(scope, 1, 8)});`,
      `while (!${name}.empty()) {\nint ${value} = ${name}.${kind === 'queue' ? 'front' : 'top'}();\n${name}.pop();\n${kernel}<<<${value}, 32>>>(nullptr, (int)${name}.size());\nif (${value} > 1) ${name}.push(${value} / 2);\n}`,
    ];
  }),
  rule('string', 1.2, (scope) => {
    scope.header('string');
    const [name, word] = [scope.name('label'), scope.random.pick(['grid', 'block', 'warp'])];
    scope.declare(`${name}.size()`, 'unsigned long', 4, 12);
    scope.declare(`${name}[${scope.random.below(4)}]`, 'char', 97, 122);
    scope.declare(`(${name} == "${word}")`, 'bool', 0, 1);
    return [
      `std::string ${name} = "${word}";`,
      scope.random.pick([
        `${name} += "${scope.random.pick(['x', 'size'])}";`,
        `if (${scope.grammar.condition(scope, 1)}) ${name} = ${name} + "abc";`,
        `${name}.append("z");`,
      ]),
    ];
  }),
  rule('number from string', 1, (scope) => {
    scope.header('string');
    const [name, value] = [scope.name('digits'), scope.name('parsed')];
    const made = `std::string ${name} = ${scope.random.pick([`"${scope.random.between(1, 500)}"`, `std::to_string(${text(scope, 1, 500)})`])};`;
    scope.declare(value, 'int', 1, 500);
    return [made, `const int ${value} = ${scope.random.pick([`std::stoi(${name})`, `atoi(${name}.c_str())`])};`];
  }),
  rule('optional', 1, (scope) => {
    if (!scope.canLaunch(1)) return null;
    scope.header('optional');
    const [name, kernel] = [scope.name('choice'), simpleKernel(scope)];
    scope.chargeLaunches(1);
    return [
      `std::optional<int> ${name};`,
      `if (${scope.grammar.condition(scope, 1)}) ${name} = ${text(scope, 1, 64)};`,
      `if (${name}${scope.random.pick(['', '.has_value()'])}) ${kernel}<<<*${name}, 32>>>(nullptr, ${name}.value()); else ${kernel}<<<1, 64>>>(nullptr, ${name}.value_or(5));`,
    ];
  }),
  rule('variant', 0.8, (scope) => {
    if (!scope.canLaunch(1)) return null;
    scope.header('variant');
    const [name, kernel] = [scope.name('either'), simpleKernel(scope)];
    scope.chargeLaunches(1);
    return [
      `std::variant<int, float> ${name} = ${scope.random.pick([`(int)${text(scope, 1, 64)}`, '2.5f'])};`,
      scope.random.pick([
        `if (std::holds_alternative<int>(${name})) ${kernel}<<<std::get<int>(${name}), 32>>>(nullptr, 0); else ${kernel}<<<1, 32>>>(nullptr, (int)std::get<float>(${name}));`,
        `std::visit([](auto value) { ${kernel}<<<(int)value, sizeof(value) * 8>>>(nullptr, 1); }, ${name});`,
      ]),
    ];
  }),
  rule('unique_ptr', 1.2, (scope) => {
    scope.header('memory');
    const name = scope.name('box');
    const value = text(scope, 1, 200);
    scope.declare(`(*${name})`, 'int', 1, 200, true);
    const lines = [`auto ${name} = std::make_unique<int>(${value});`];
    if (scope.random.chance(0.4)) lines.push(`*${name} = ${text(scope, 1, 200)};`);
    return lines;
  }),
  rule('array in unique_ptr', 0.8, (scope) => {
    scope.header('memory');
    const [name, at] = [scope.name('cells'), scope.name('i')];
    const lines = [
      `std::unique_ptr<int[]> ${name}(new int[4]);`,
      `for (int ${at} = 0; ${at} < 4; ${at}++) ${name}[${at}] = ${at} * ${scope.random.between(1, 20)} + 1;`,
    ];
    scope.declare(`${name}[${text(scope, 0, 3)}]`, 'int', 1, 61);
    return lines;
  }),
  rule('shared_ptr', 1, (scope) => {
    scope.header('memory');
    const [first, second] = [scope.name('shared'), scope.name('shared')];
    const value = text(scope, 1, 200);
    scope.declare(`*${first}`, 'int', 1, 200, true);
    scope.declare(`${second}.use_count()`, 'long', 1, 2);
    return [
      `std::shared_ptr<int> ${first} = std::make_shared<int>(${value});`,
      `auto ${second} = ${first};`,
      `if (${scope.grammar.condition(scope, 1)}) ${second}.reset(new int(3));`,
    ];
  }),
  rule('initializer list', 0.8, (scope) => {
    if (!scope.canLaunch(3)) return null;
    scope.header('initializer_list');
    const kernel = simpleKernel(scope);
    const name = scope.program.once(
      'list parameter',
      'launchList',
      (called) =>
        `static void ${called}(std::initializer_list<int> sizes) {\nfor (auto size : sizes) ${kernel}<<<size, 32 * sizes.size()>>>(nullptr, size);\n}`,
    );
    scope.chargeLaunches(3);
    return [`${name}({${list(scope, scope.random.between(0, 3), 1, 64)}});`];
  }),
  rule('host and device copies', 2, (scope) => {
    if (!scope.canLaunch(1)) return null;
    for (const header of ['cstdlib', 'cstring']) scope.header(header);
    const [n, bytes, threads, blocks] = [scope.name('n'), scope.name('bytes'), scope.name('threads'), scope.name('blocks')];
    const [host, device, kernel] = [scope.name('h_in'), scope.name('d_in'), simpleKernel(scope)];
    const count = text(scope, 1, 1000);
    scope.chargeLaunches(1);
    const size = scope.random.pick([64, 128, 256]);
    const rounded = scope.random.pick([
      `(${n} + ${threads} - 1) / ${threads}`,
      `${n} / ${threads} + (${n} % ${threads} ? 1 : 0)`,
      `(int)ceil((double)${n} / ${threads})`,
    ]);
    scope.header('cmath');
    const lines = [
      `${scope.random.pick(['int', 'const int', 'unsigned'])} ${n} = ${count};`,
      `size_t ${bytes} = ${n} * sizeof(float);`,
      `float* ${host} = (float*)malloc(${bytes});`,
      `memset(${host}, 0, ${bytes});`,
      `float* ${device};`,
      `cudaMalloc((void**)&${device}, ${bytes});`,
      `cudaMemcpy(${device}, ${host}, ${bytes}, cudaMemcpyHostToDevice);`,
      `int ${threads} = ${size};`,
      `int ${blocks} = ${rounded};`,
      `${kernel}<<<${blocks}, ${threads}>>>(${device}, ${n});`,
      `cudaMemcpy(${host}, ${device}, ${bytes}, cudaMemcpyDeviceToHost);`,
    ];
    if (scope.random.chance(0.5)) lines.push(`cudaFree(${device});`);
    lines.push(`free(${host});`);
    scope.declare(blocks, 'int', 1, 16);
    scope.declare(threads, 'int', size, size);
    return lines;
  }),
  rule('host data', 2.5, (scope) => {
    scope.header('vector');
    const pointer = scope.visiblePointers().find(({ element }) => element === 'float');
    if (!pointer) return null;
    const name = scope.name('host');
    return [
      `std::vector<float> ${name}(${pointer.count}, 1.0f);`,
      `cudaMemcpy(${pointer.text}, ${name}.data(), ${scope.random.pick([`${name}.size()`, String(pointer.count)])} * sizeof(float), cudaMemcpyHostToDevice);`,
      `cudaMemcpy(&${name}[0], ${pointer.text}, sizeof(float) * ${Math.min(16, pointer.count)}, cudaMemcpyDeviceToHost);`,
    ];
  }),
  rule('cleared memory', 1, (scope) => {
    const [pointer] = scope.visiblePointers();
    return pointer
      ? [`${scope.random.pick(['cudaMemset', 'cudaMemsetAsync'])}(${pointer.text}, 0, ${pointer.count} * sizeof(${pointer.element}));`]
      : null;
  }),
  rule('constant memory', 0.7, (scope) => {
    const name = scope.program.once('constant memory', 'coefficients', (called) => `__constant__ float ${called}[8];`);
    const host = scope.name('values');
    return [`float ${host}[8] = {1, 2, 3};`, `cudaMemcpyToSymbol(${name}, ${host}, sizeof(${host}));`];
  }),
  rule('events and streams', 0.8, (scope) => {
    const [start, stop, time] = [scope.name('start'), scope.name('stop'), scope.name('ms')];
    const lines = [
      `cudaEvent_t ${start}, ${stop};`,
      `cudaEventCreate(&${start});`,
      `cudaEventCreate(&${stop});`,
      `cudaEventRecord(${start});`,
    ];
    return [
      ...lines,
      ...scope.grammar.launch(scope),
      `cudaEventRecord(${stop}, 0);`,
      `cudaEventSynchronize(${stop});`,
      `float ${time} = 0;`,
      `cudaEventElapsedTime(&${time}, ${start}, ${stop});`,
    ];
  }),
  rule('occupancy', 0.8, (scope) => {
    const [grid, threads, kernel] = [scope.name('minGrid'), scope.name('bestBlock'), simpleKernel(scope)];
    scope.declare(threads, 'int', 1, 1024);
    return [`int ${grid} = 0, ${threads} = 0;`, `cudaOccupancyMaxPotentialBlockSize(&${grid}, &${threads}, ${kernel}, 0, 0);`];
  }),
  rule('function attribute', 0.6, (scope) => [
    `cudaFuncSetAttribute(${simpleKernel(scope)}, cudaFuncAttributeMaxDynamicSharedMemorySize, ${scope.random.pick([65536, 98304])});`,
  ]),
];

export const algorithmRules: readonly StatementRule[] = [
  rule('sort', 1.5, (scope) => {
    scope.header('algorithm');
    const lines: string[] = [];
    const name = vector(scope, lines);
    lines.push(
      scope.random.pick([
        `std::sort(${name}.begin(), ${name}.end());`,
        `std::sort(${name}.begin(), ${name}.end(), [](int a, int b) { return a > b; });`,
        `std::sort(${name}.rbegin(), ${name}.rend());`,
        `std::stable_sort(std::begin(${name}), std::end(${name}), std::greater<int>());`,
      ]),
    );
    scope.header('functional');
    const loop = over(scope, name);
    return loop && [...lines, ...loop];
  }),
  rule('sum', 1.5, (scope) => {
    scope.header('numeric');
    const lines: string[] = [];
    const name = vector(scope, lines);
    return computed(
      scope,
      lines,
      scope.random.pick([
        `std::accumulate(${name}.begin(), ${name}.end(), 0)`,
        `std::accumulate(${name}.cbegin(), ${name}.cend(), 1, [](int a, int b) { return a + b / 2; })`,
      ]),
      1,
      300,
    );
  }),
  rule('product', 0.6, (scope) => {
    scope.header('numeric');
    scope.header('functional');
    const lines: string[] = [];
    const name = vector(scope, lines);
    return computed(scope, lines, `std::accumulate(${name}.begin(), ${name}.end(), 1, std::multiplies<int>())`, 1, 1_000_000);
  }),
  rule('largest element', 1.2, (scope) => {
    scope.header('algorithm');
    const lines: string[] = [];
    const name = vector(scope, lines);
    return computed(scope, lines, `*std::${scope.random.pick(['max', 'min'])}_element(${name}.begin(), ${name}.end())`, 1, 100);
  }),
  rule('count', 0.8, (scope) => {
    scope.header('algorithm');
    const lines: string[] = [];
    const name = vector(scope, lines);
    return computed(scope, lines, `(int)std::count_if(${name}.begin(), ${name}.end(), [](int value) { return value % 2 == 0; })`, 0, 3);
  }),
  rule('fill', 0.8, (scope) => {
    scope.header('algorithm');
    const lines: string[] = [];
    const name = vector(scope, lines);
    lines.push(
      scope.random.pick([
        `std::fill(${name}.begin(), ${name}.end(), ${text(scope, 1, 100)});`,
        `std::fill_n(${name}.begin(), 2, ${text(scope, 1, 100)});`,
      ]),
    );
    const loop = over(scope, name);
    return loop && [...lines, ...loop];
  }),
  rule('consecutive numbers', 1, (scope) => {
    scope.header('numeric');
    const lines: string[] = [];
    const name = vector(scope, lines);
    lines.push(`std::iota(${name}.begin(), ${name}.end(), ${scope.random.between(1, 40)});`);
    const loop = over(scope, name);
    return loop && [...lines, ...loop];
  }),
  rule('transform', 1, (scope) => {
    scope.header('algorithm');
    const lines: string[] = [];
    const name = vector(scope, lines);
    lines.push(
      `std::transform(${name}.begin(), ${name}.end(), ${name}.begin(), [&](int value) { return value * ${scope.random.between(1, 3)} + 1; });`,
    );
    const loop = over(scope, name);
    return loop && [...lines, ...loop];
  }),
  rule('for_each', 1.2, (scope) => {
    if (scope.isDeep || !scope.canLaunch(3)) return null;
    scope.header('algorithm');
    const lines: string[] = [];
    const name = vector(scope, lines);
    const inner = scope.loop(3, false).inner({ exit: null });
    const value = scope.name('value');
    inner.declare(value, 'int', 1, 100);
    return [...lines, `std::for_each(${name}.begin(), ${name}.end(), [&](int ${value}) ${block(launchingBody(inner))});`];
  }),
  rule('reverse', 0.8, (scope) => {
    scope.header('algorithm');
    const lines: string[] = [];
    const name = vector(scope, lines);
    lines.push(
      scope.random.pick([
        `std::reverse(${name}.begin(), ${name}.end());`,
        `std::rotate(${name}.begin(), ${name}.begin() + 1, ${name}.end());`,
        `std::swap(${name}[0], ${name}[2]);`,
      ]),
    );
    const loop = over(scope, name);
    return loop && [...lines, ...loop];
  }),
  rule('find', 0.8, (scope) => {
    if (!scope.canLaunch(1)) return null;
    scope.header('algorithm');
    const lines: string[] = [];
    const [name, found, kernel] = [vector(scope, lines), scope.name('found'), simpleKernel(scope)];
    scope.chargeLaunches(1);
    return [
      ...lines,
      `auto ${found} = std::find(${name}.begin(), ${name}.end(), ${text(scope, 1, 100)});`,
      `if (${found} == ${name}.end()) ${kernel}<<<1, 32>>>(nullptr, 0); else ${kernel}<<<*${found}, 32>>>(nullptr, (int)(${found} - ${name}.begin()));`,
    ];
  }),
  rule('erased elements', 0.8, (scope) => {
    scope.header('algorithm');
    const lines: string[] = [];
    const name = vector(scope, lines);
    lines.push(
      `${name}.erase(std::remove_if(${name}.begin(), ${name}.end(), [](int value) { return value > ${scope.random.between(20, 80)}; }), ${name}.end());`,
    );
    const loop = over(scope, name);
    return loop && [...lines, ...loop];
  }),
  rule('partial sums', 0.7, (scope) => {
    scope.header('numeric');
    const lines: string[] = [];
    const name = vector(scope, lines);
    lines.push(`std::partial_sum(${name}.begin(), ${name}.end(), ${name}.begin());`);
    const loop = over(scope, name);
    return loop && [...lines, ...loop];
  }),
  rule('lower bound', 0.6, (scope) => {
    scope.header('algorithm');
    const sizes = scope.program.once('sorted sizes', 'sorted', (name) => `static const int ${name}[] = {8, 16, 32, 64, 128};`);
    return computed(scope, [], `(int)(std::lower_bound(${sizes}, ${sizes} + 5, ${text(scope, 1, 128)}) - ${sizes})`, 0, 4);
  }),
  rule('greatest common divisor', 0.6, (scope) => {
    scope.header('numeric');
    return computed(
      scope,
      [],
      `std::${scope.random.pick(['gcd', 'lcm'])}((int)${text(scope, 1, 30)}, ${scope.random.pick([6, 12, 16])})`,
      1,
      480,
    );
  }),
  rule('applied tuple', 0.7, (scope) => {
    if (!scope.canLaunch(1)) return null;
    scope.header('tuple');
    const kernel = simpleKernel(scope);
    scope.chargeLaunches(1);
    return [
      `std::apply([](int blocks, int threads) { ${kernel}<<<blocks, threads>>>(nullptr, blocks); }, std::make_tuple((int)${text(scope, 1, 64)}, (int)${text(scope, 1, 256)}));`,
    ];
  }),
];
