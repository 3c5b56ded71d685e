/** Classes whose members launch: constructors, destructors, virtual functions, operators. */
import { type Scope, block, rule } from './draft.ts';
import { calls, simpleKernel } from './functions.ts';
import { type StatementRule, launchingBody } from './statements.ts';

/** Text of an integer of the interval. */
const text = (scope: Scope, low: number, high: number): string => scope.integer(low, high).text;

/** A base class with a virtual function `run`, and two classes that derive from it. */
function hierarchy(scope: Scope): string {
  const kernel = simpleKernel(scope);
  return scope.program.once('hierarchy', 'Task', (name) => {
    const isAbstract = scope.random.chance(0.5);
    const base = isAbstract ? 'virtual void run(int n) = 0;' : `virtual void run(int n) { ${kernel}<<<1, n>>>(nullptr, 0); }`;
    return `class ${name} {\npublic:\n${scope.random.pick(['virtual ~NAME() = default;', 'virtual ~NAME() {}']).replace('NAME', name)}\n${base}\nvirtual int scale() const { return 1; }\nvoid twice(int n) {\nrun(n);\nrun(n * scale());\n}\n};\nclass ${name}Wide : public ${name} {\npublic:\nexplicit ${name}Wide(int blocks) : blocks_(blocks) {}\nvoid run(int n) override { ${kernel}<<<blocks_, n>>>(nullptr, n); }\nint scale() const override { return 2; }\n\nprivate:\nint blocks_;\n};\nclass ${name}Tall${scope.random.pick(['', ' final'])} : public ${name} {\npublic:\nvoid run(int n) override { ${kernel}<<<n, 32>>>(nullptr, n + scale()); }\n};`;
  });
}

export const classRules: readonly StatementRule[] = [
  rule('method', 3, (scope) => {
    const callee = scope.callee();
    if (!callee) return null;
    const [type, name] = [scope.name('Runner'), scope.name('runner')];
    callee.declare('blocks_', 'int', 1, 64);
    callee.declare('threads_', 'unsigned', 1, 256);
    callee.declare('n', 'int', 0, 100);
    const body = launchingBody(callee);
    scope.define(
      `class ${type} {\npublic:\n${type}(int blocks, unsigned threads) : blocks_(blocks), threads_(threads) {}\nvoid run(int n)${scope.random.pick(['', ' const'])} ${block(body)}\n\nprivate:\nint blocks_;\nunsigned threads_;\n};`,
    );
    const lines = [`${scope.random.pick([`${type} ${name}`, `auto ${name} = ${type}`])}(${text(scope, 1, 64)}, ${text(scope, 1, 256)});`];
    const count = calls(scope, callee, 2);
    for (let i = 0; i < count; i++) lines.push(`${name}.run(${text(scope, 0, 100)});`);
    return lines;
  }),
  rule('launch in constructor', 2, (scope) => {
    const callee = scope.callee(2);
    if (!callee) return null;
    const [type, name] = [scope.name('Started'), scope.name('object')];
    callee.declare('n', 'int', 1, 64);
    const body = launchingBody(callee);
    scope.define(`struct ${type} {\nexplicit ${type}(int n) : size(n) ${block(body)}\nint size;\n};`);
    calls(scope, callee, 1);
    const made = text(scope, 1, 64);
    scope.declare(`${name}.size`, 'int', 1, 64);
    return [
      scope.random.pick([`${type} ${name}(${made});`, `${type} ${name}{(int)${made}};`, `const ${type} ${name} = ${type}(${made});`]),
    ];
  }),
  rule('launch in destructor', 2, (scope) => {
    if (!scope.canLaunch(2) || scope.isDeep) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'guard',
      'Guard',
      (name) =>
        `class ${name} {\npublic:\nexplicit ${name}(int id) : id_(id) {}\n${name}(const ${name}&) = delete;\n~${name}() { ${kernel}<<<1, 32 + id_>>>(nullptr, id_); }\n\nprivate:\nint id_;\n};`,
    );
    scope.chargeLaunches(2);
    const [first, second] = [scope.name('guard'), scope.name('guard')];
    const inner = scope.inner();
    return [block([`${type} ${first}(${text(scope, 0, 99)});`, ...inner.statements(1), `${type} ${second}(${text(scope, 0, 99)});`])];
  }),
  rule('destructor on each path', 1, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const kernel = simpleKernel(scope);
    const name = scope.program.once(
      'guarded function',
      'guarded',
      (called) =>
        `struct ${called}Guard {\nint n;\n~${called}Guard() { ${kernel}<<<n, 64>>>(nullptr, n); }\n};\nstatic int ${called}(int n) {\n${called}Guard outer{1};\nif (n < 20) return n;\nfor (int i = 0; i < 2; i++) {\n${called}Guard inner{i + 2};\nif (i == 0 && n > 60) break;\n}\nreturn n - 1;\n}`,
    );
    scope.chargeLaunches(3);
    return [`${scope.random.pick(['', '(void)'])}${name}(${text(scope, 0, 100)});`];
  }),
  rule('virtual by reference', 2, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const type = hierarchy(scope);
    const [object, name] = [scope.name('task'), scope.name('base')];
    scope.chargeLaunches(2);
    const made = scope.random.pick([`${type}Wide ${object}(${text(scope, 1, 64)});`, `${type}Tall ${object};`]);
    return [made, `${type}& ${name} = ${object};`, `${name}.${scope.random.pick(['run', 'twice'])}(${text(scope, 1, 64)});`];
  }),
  rule('virtual by pointer', 2, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const type = hierarchy(scope);
    const name = scope.name('task');
    scope.chargeLaunches(2);
    const wide = `(${type}*)new ${type}Wide(${text(scope, 1, 64)})`;
    const made = scope.random.pick([wide, `new ${type}Tall`, `${scope.grammar.condition(scope, 1)} ? ${wide} : new ${type}Tall()`]);
    return [`${type}* ${name} = ${made};`, `${name}->${scope.random.pick(['run', 'twice'])}(${text(scope, 1, 64)});`, `delete ${name};`];
  }),
  rule('virtual by unique_ptr', 2, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const type = hierarchy(scope);
    const name = scope.name('owner');
    scope.header('memory');
    scope.chargeLaunches(2);
    const [wide, tall] = [`std::make_unique<${type}Wide>(${text(scope, 1, 64)})`, `std::make_unique<${type}Tall>()`];
    const lines = scope.random.pick([
      [`std::unique_ptr<${type}> ${name} = ${wide};`],
      [`std::unique_ptr<${type}> ${name};`, `if (${scope.grammar.condition(scope, 1)}) ${name} = ${wide}; else ${name} = ${tall};`],
      [`std::unique_ptr<${type}> ${name}(new ${type}Tall);`],
    ]);
    return [...lines, `${name}->${scope.random.pick(['run', 'twice'])}(${text(scope, 1, 64)});`];
  }),
  rule('list of objects with virtual functions', 1.2, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const type = hierarchy(scope);
    const [name, each] = [scope.name('pipeline'), scope.name('stage')];
    scope.header('memory');
    scope.header('vector');
    scope.chargeLaunches(3);
    const kind = scope.random.pick(['unique', 'shared']);
    return [
      `std::vector<std::${kind}_ptr<${type}>> ${name};`,
      `${name}.push_back(std::make_${kind}<${type}Wide>(${text(scope, 1, 64)}));`,
      `${name}.emplace_back(new ${type}Tall());`,
      `${name}.push_back(std::make_${kind}<${type}Wide>(2));`,
      `for (${scope.random.pick(['auto&', 'const auto&'])} ${each} : ${name}) ${each}->run(${text(scope, 1, 64)});`,
    ];
  }),
  rule('virtual call in constructor', 0.8, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'constructor dispatch',
      'Early',
      (name) =>
        `struct ${name} {\n${name}() { start(); }\nvirtual ~${name}() { start(); }\nvirtual void start() { ${kernel}<<<1, 32>>>(nullptr, 1); }\n};\nstruct ${name}Derived : ${name} {\n${name}Derived() { start(); }\nvoid start() override { ${kernel}<<<2, 32>>>(nullptr, 2); }\n};`,
    );
    scope.chargeLaunches(3);
    return [block([`${type}Derived ${scope.name('early')};`])];
  }),
  rule('multiple inheritance', 1, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'two bases',
      'Both',
      (name) =>
        `struct ${name}Left {\nint left = 3;\nvirtual ~${name}Left() = default;\nvirtual int blocks() const { return left; }\n};\nstruct ${name}Right {\nint right = 48;\nvirtual int threads() const { return right; }\n};\nstruct ${name} : ${name}Left, ${name}Right {\nexplicit ${name}(int n) { left = n; }\nint threads() const override { return right + left; }\nvoid go() { ${kernel}<<<blocks(), threads()>>>(nullptr, left); }\n};`,
    );
    const [name, base] = [scope.name('both'), scope.name('right')];
    scope.chargeLaunches(2);
    return [
      `${type} ${name}(${text(scope, 1, 64)});`,
      `${name}.go();`,
      `${type}Right* ${base} = &${name};`,
      `${kernel}<<<1, ${base}->threads()>>>(nullptr, ${name}.left);`,
    ];
  }),
  rule('virtual base', 0.6, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'virtual base',
      'Diamond',
      (name) =>
        `struct ${name}Top {\nint n = 7;\n};\nstruct ${name}A : virtual ${name}Top {\n${name}A() { n += 1; }\n};\nstruct ${name}B : virtual ${name}Top {\n${name}B() { n *= 2; }\n};\nstruct ${name} : ${name}A, ${name}B {};`,
    );
    const name = scope.name('diamond');
    scope.chargeLaunches(1);
    return [`${type} ${name};`, `${kernel}<<<${name}.n, 32>>>(nullptr, ${name}.n);`];
  }),
  rule('curiously recurring template', 1, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'crtp',
      'Static',
      (name) =>
        `template <typename D>\nstruct ${name}Base {\nvoid launch(int n) { ${kernel}<<<static_cast<D*>(this)->blocks(n), D::threads>>>(nullptr, n); }\n};\nstruct ${name}Small : ${name}Base<${name}Small> {\nstatic constexpr int threads = 32;\nint blocks(int n) const { return n; }\n};\nstruct ${name}Large : ${name}Base<${name}Large> {\nenum { threads = 128 };\nint blocks(int n) { return (n + threads - 1) / threads; }\n};`,
    );
    const name = scope.name('object');
    scope.chargeLaunches(1);
    return [`${type}${scope.random.pick(['Small', 'Large'])} ${name};`, `${name}.launch(${text(scope, 1, 200)});`];
  }),
  rule('class template', 1.5, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'class template',
      'Engine',
      (name) =>
        `template <typename T, int Threads = 64>\nclass ${name} {\npublic:\n${name}(T first) : first_(first) {}\nvoid run() { ${kernel}<<<(int)first_, Threads>>>(nullptr, sizeof(T)); }\n\nprivate:\nT first_;\n};\ntemplate <int Threads>\nclass ${name}<bool, Threads> {\npublic:\n${name}(bool) {}\nvoid run() { ${kernel}<<<1, Threads / 2>>>(nullptr, -1); }\n};`,
    );
    const name = scope.name('engine');
    scope.chargeLaunches(1);
    const made = scope.random.pick(['<short>', '<double, 128>', '<bool>', '<unsigned, 32>', '<bool, 256>']);
    return [`${type}${made} ${name}(${text(scope, 1, 64)});`, `${name}.run();`];
  }),
  rule('static members', 1, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'static members',
      'Counter',
      (name) =>
        `struct ${name} {\nstatic int made;\nstatic inline int launched = 0;\n${name}() { ++made; }\n~${name}() { --made; }\nstatic void launch() { ${kernel}<<<made + 1, 32>>>(nullptr, launched++); }\n};\nint ${name}::made = 0;`,
    );
    scope.chargeLaunches(2);
    return [
      `${type} ${scope.name('counted')};`,
      `${type}::launch();`,
      block([`${type} ${scope.name('counted')}, ${scope.name('counted')};`, `${type}::launch();`]),
    ];
  }),
  rule('arithmetic operators', 1.5, (scope) => {
    const type = scope.program.once(
      'operators',
      'Extent',
      (name) =>
        `struct ${name} {\nint x, y;\n${name}(int a = 1, int b = 1) : x(a), y(b) {}\n${name} operator+(const ${name}& other) const { return ${name}(x + other.x, y + other.y); }\nfriend ${name} operator*(int factor, const ${name}& extent) { return {factor * extent.x, factor * extent.y}; }\n${name}& operator+=(int n) {\nx += n;\nreturn *this;\n}\nbool operator<(const ${name}& other) const { return x * y < other.x * other.y; }\nint operator[](int at) const { return at == 0 ? x : y; }\noperator dim3() const { return dim3(x, y); }\n};`,
    );
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const [first, second] = [scope.name('extent'), scope.name('extent')];
    scope.chargeLaunches(1);
    const lines = [
      `${type} ${first}(${text(scope, 1, 16)}, ${text(scope, 1, 8)});`,
      `${type} ${second} = ${scope.random.pick([`${first} + ${type}(2, 3)`, `2 * ${first}`, `${first} + ${first}`])};`,
      `${second} += ${text(scope, 0, 9)};`,
      `${kernel}<<<${second}, ${first} < ${second} ? 64 : 32>>>(nullptr, ${first}.x);`,
    ];
    scope.declare(`${second}[${scope.integer(0, 1).text}]`, 'int', 1, 100);
    return lines;
  }),
  rule('call operator', 1.2, (scope) => {
    const callee = scope.callee(2);
    if (!callee) return null;
    const [type, name] = [scope.name('Submit'), scope.name('submit')];
    callee.declare('n', 'int', 1, 64);
    callee.declare('factor', 'int', 1, 4);
    const body = launchingBody(callee);
    scope.define(`struct ${type} {\nint factor = 2;\nvoid operator()(int n) const ${block(body)}\n};`);
    const count = calls(scope, callee, 2);
    const lines = [`${type} ${name}${scope.random.pick([';', '{3};', '{1};'])}`];
    for (let i = 0; i < count; i++) lines.push(scope.random.pick([`${name}(${text(scope, 1, 64)});`, `${type}()(${text(scope, 1, 64)});`]));
    return lines;
  }),
  rule('conversion operators', 1, (scope) => {
    const type = scope.program.once(
      'conversions',
      'Count',
      (name) =>
        `class ${name} {\npublic:\n${name}(int n) : n_(n) {}\noperator int() const { return n_; }\nexplicit operator bool() const { return n_ > 10; }\n${name}& operator++() {\n++n_;\nreturn *this;\n}\n${name} operator++(int) {\n${name} old = *this;\nn_++;\nreturn old;\n}\n\nprivate:\nint n_;\n};`,
    );
    const [name, value] = [scope.name('count'), scope.name('value')];
    const lines = [
      `${type} ${name} = ${text(scope, 0, 50)};`,
      `int ${value} = ${scope.random.pick([`${name}++`, `++${name}`, name, `${name} ? 3 : 4`, `${name} * 2`])};`,
    ];
    scope.declare(value, 'int', 0, 101);
    return lines;
  }),
  rule('copies that count', 1, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'copies',
      'Copied',
      (name) =>
        `struct ${name} {\nint copies = 0, moves = 0;\n${name}() = default;\n${name}(const ${name}& other) : copies(other.copies + 1), moves(other.moves) {}\n${name}(${name}&& other) noexcept : copies(other.copies), moves(other.moves + 1) { other.copies = 0; }\n${name}& operator=(const ${name}& other) {\ncopies = other.copies + 10;\nreturn *this;\n}\n};\nstatic void ${name}Launch(${name} object) { ${kernel}<<<object.copies + 1, 32 + object.moves>>>(nullptr, object.moves); }`,
    );
    const [first, second] = [scope.name('first'), scope.name('second')];
    scope.header('utility');
    scope.chargeLaunches(1);
    const lines = [`${type} ${first};`, `${type} ${second} = ${scope.random.pick([first, `std::move(${first})`])};`];
    if (scope.random.chance(0.5)) lines.push(`${first} = ${second};`);
    return [...lines, `${type}Launch(${scope.random.pick([first, second, `std::move(${second})`, `${type}(${first})`])});`];
  }),
  rule('reference member', 1, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'reference member',
      'View',
      (name) =>
        `class ${name} {\npublic:\n${name}(int& size, const float* data) : size_(size), data_(data) {}\nvoid grow() {\nsize_ += 5;\n${kernel}<<<size_, 32>>>(const_cast<float*>(data_), size_);\n}\n\nprivate:\nint& size_;\nconst float* data_;\n};`,
    );
    const [size, name] = [scope.name('size'), scope.name('view')];
    scope.chargeLaunches(2);
    const lines = [
      `int ${size} = ${text(scope, 1, 100)};`,
      `${type} ${name}(${size}, nullptr);`,
      `${name}.grow();`,
      `${size} += ${scope.random.pick([1, 2, 30])};`,
      `${name}.grow();`,
    ];
    scope.declare(size, 'int', 1, 200);
    return lines;
  }),
  rule('chained setters', 1, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'builder',
      'Builder',
      (name) =>
        `class ${name} {\npublic:\n${name}& blocks(int n) {\ngrid_.x = n;\nreturn *this;\n}\n${name}& threads(int n) {\nblock_ = dim3(n);\nreturn *this;\n}\n${name}& shared(size_t bytes) { return shared_ = bytes, *this; }\nvoid launch(float* data = nullptr) const { ${kernel}<<<grid_, block_, shared_>>>(data, (int)shared_); }\n\nprivate:\ndim3 grid_{1, 1, 1}, block_ = dim3(32);\nsize_t shared_ = 0;\n};`,
    );
    scope.chargeLaunches(1);
    const setters = [`.blocks(${text(scope, 1, 64)})`, `.threads(${text(scope, 1, 256)})`, `.shared(${text(scope, 0, 1024)})`];
    return [`${type}()${setters.filter(() => scope.random.chance(0.7)).join('')}.launch();`];
  }),
  rule('delegating constructors', 0.8, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'delegation',
      'Shape',
      (name) =>
        `struct ${name} {\n${name}() : ${name}(8) {}\nexplicit ${name}(int n) : ${name}(n, n * 2) {}\n${name}(int a, int b) : area(a * b), rows(a) {}\nint area;\nint rows;\nint doubled = area * 2;\n};`,
    );
    const name = scope.name('shape');
    scope.chargeLaunches(1);
    const made = scope.random.pick(['', `(${text(scope, 1, 8)})`, `{(int)${text(scope, 1, 8)}, 4}`, '{}']);
    return [`${type} ${name}${made};`, `${kernel}<<<${name}.area, 32>>>(nullptr, ${name}.doubled);`];
  }),
  rule('order of members', 0.8, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'members',
      'Composite',
      (name) =>
        `struct ${name}Part {\nint id;\nexplicit ${name}Part(int n) : id(n) { ${kernel}<<<1, 32>>>(nullptr, id); }\n};\nstruct ${name} : ${name}Part {\n${name}Part last;\n${name}(int n) : ${name}Part(n), last(n + 1) {}\n};`,
    );
    scope.chargeLaunches(2);
    return [`${type} ${scope.name('composite')}(${text(scope, 0, 99)});`];
  }),
  rule('inheriting constructors', 0.7, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'inherited',
      'Derived',
      (name) =>
        `struct ${name}Base {\n${name}Base(int n, float f = 0.5f) : size(n), ratio(f) {}\nint size;\nfloat ratio;\nint scaled() const { return (int)(size * ratio) + 1; }\n};\nstruct ${name} : ${name}Base {\nusing ${name}Base::${name}Base;\nusing ${name}Base::scaled;\nint scaled(int factor) const { return scaled() * factor; }\n};`,
    );
    const name = scope.name('derived');
    scope.chargeLaunches(1);
    return [
      `${type} ${name}(${text(scope, 1, 64)}${scope.random.pick(['', ', 1.5f', ', 0.25f'])});`,
      `${kernel}<<<${name}.scaled(), 64>>>(nullptr, ${name}.scaled(3));`,
    ];
  }),
  rule('pointer to member', 1, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'member pointers',
      'Modes',
      (name) =>
        `struct ${name} {\nint small = 2, large = 40;\nvoid quick(int n) { ${kernel}<<<small, n>>>(nullptr, 0); }\nvoid exact(int n) { ${kernel}<<<large, n>>>(nullptr, 1); }\n};`,
    );
    const [object, method, field] = [scope.name('modes'), scope.name('method'), scope.name('field')];
    scope.chargeLaunches(1);
    return [
      `${type} ${object};`,
      `int ${type}::*${field} = &${type}::${scope.random.pick(['small', 'large'])};`,
      `${object}.*${field} += ${text(scope, 1, 9)};`,
      `void (${type}::*${method})(int) = ${scope.random.pick([`&${type}::quick`, `${scope.grammar.condition(scope, 1)} ? &${type}::quick : &${type}::exact`])};`,
      `(${object}.*${method})(${text(scope, 1, 64)});`,
    ];
  }),
  rule('placement new', 0.8, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    scope.header('new');
    const type = scope.program.once(
      'placed',
      'Placed',
      (name) => `struct ${name} {\nint n;\nexplicit ${name}(int value) : n(value) {}\n~${name}() { ${kernel}<<<n, 32>>>(nullptr, 0); }\n};`,
    );
    const [storage, name] = [scope.name('storage'), scope.name('placed')];
    scope.chargeLaunches(1);
    return [
      `alignas(${type}) unsigned char ${storage}[sizeof(${type})];`,
      `${type}* ${name} = new (${storage}) ${type}(${text(scope, 1, 64)});`,
      `${name}->n += 1;`,
      `${name}->~${type}();`,
    ];
  }),
  rule('iterator', 1, (scope) => {
    if (!scope.canLaunch(3) || scope.isDeep) return null;
    const type = scope.program.once(
      'iterator',
      'Steps',
      (name) =>
        `class ${name} {\npublic:\nstruct iterator {\nint at;\nint operator*() const { return at; }\niterator& operator++() {\nat *= 2;\nreturn *this;\n}\nbool operator!=(const iterator& other) const { return at < other.at; }\n};\nexplicit ${name}(int limit) : limit_(limit) {}\niterator begin() const { return {1}; }\niterator end() const { return {limit_}; }\n\nprivate:\nint limit_;\n};`,
    );
    const name = scope.name('size');
    const inner = scope.loop(3);
    inner.declare(name, 'int', 1, 4);
    return [
      `for (${scope.random.pick(['int', 'auto', 'const int'])} ${name} : ${type}(${text(scope, 1, 8)})) ${block(launchingBody(inner))}`,
    ];
  }),
  rule('policy', 0.8, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'policy',
      'Policy',
      (name) =>
        `struct ${name}Fast {\nstatic int threads() { return 256; }\n};\nstruct ${name}Safe {\nstatic int threads() { return 32; }\n};\ntemplate <class P>\nclass ${name} : private P {\npublic:\nvoid go(int n) { ${kernel}<<<(n + P::threads() - 1) / P::threads(), P::threads()>>>(nullptr, n); }\n};`,
    );
    scope.chargeLaunches(1);
    return [`${type}<${type}${scope.random.pick(['Fast', 'Safe'])}>().go(${text(scope, 1, 1000)});`];
  }),
  rule('tagged union', 0.8, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'tagged',
      'Command',
      (name) =>
        `struct ${name} {\nenum Kind { Fill, Scale } kind;\nunion {\nint value;\nstruct {\nshort low, high;\n} range;\n};\nvoid run() const {\nswitch (kind) {\ncase Fill: ${kernel}<<<1, 32>>>(nullptr, value); break;\ncase Scale: ${kernel}<<<range.low, range.high>>>(nullptr, 0); break;\n}\n}\n};`,
    );
    const name = scope.name('command');
    scope.chargeLaunches(1);
    const lines = scope.random.pick([
      [`${name}.kind = ${type}::Fill;`, `${name}.value = ${text(scope, 0, 99)};`],
      [`${name}.kind = ${type}::Scale;`, `${name}.range.low = ${text(scope, 1, 64)};`, `${name}.range.high = ${text(scope, 1, 64)};`],
    ]);
    return [`${type} ${name};`, ...lines, `${name}.run();`];
  }),
  rule('array of objects', 1, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'layers',
      'Layer',
      (name) =>
        `struct ${name} {\nint blocks;\nint threads;\nbool enabled = true;\nvoid run(int n) const {\nif (enabled) ${kernel}<<<blocks, threads>>>(nullptr, n);\n}\n};`,
    );
    const [name, at] = [scope.name('layers'), scope.name('i')];
    scope.chargeLaunches(3);
    const entries = [1, 2, 3].map(
      () => `{(int)${text(scope, 1, 64)}, (int)${text(scope, 1, 128)}${scope.random.pick(['', ', true', ', false'])}}`,
    );
    return [
      `${type} ${name}[] = {${entries.join(', ')}};`,
      scope.random.pick([
        `for (int ${at} = 0; ${at} < 3; ++${at}) ${name}[${at}].run(${at});`,
        `for (const ${type}& ${at} : ${name}) ${at}.run(${at}.blocks);`,
        `for (${type}* ${at} = ${name}; ${at} < ${name} + 3; ${at}++) ${at}->run(2);`,
      ]),
    ];
  }),
  rule('nested class', 0.8, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'nested class',
      'Graph',
      (name) =>
        `class ${name} {\npublic:\nclass Node {\npublic:\nNode(int n, Node* next) : n_(n), next_(next) {}\nint n_;\nNode* next_;\n};\nvoid run() const {\nfor (const Node* node = &second_; node; node = node->next_) ${kernel}<<<node->n_, 32>>>(nullptr, node->n_);\n}\n${name}(int a, int b) : first_(a, nullptr), second_(b, &first_) {}\n\nprivate:\nNode first_, second_;\n};`,
    );
    const name = scope.name('graph');
    scope.chargeLaunches(2);
    return [`${type} ${name}(${text(scope, 1, 64)}, ${text(scope, 1, 64)});`, `${name}.run();`];
  }),
  rule('dynamic cast', 0.7, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const type = hierarchy(scope);
    const [object, name, wide] = [scope.name('task'), scope.name('base'), scope.name('wide')];
    scope.chargeLaunches(2);
    return [
      scope.random.pick([`${type}Wide ${object}(3);`, `${type}Tall ${object};`]),
      `${type}* ${name} = &${object};`,
      `if (auto* ${wide} = dynamic_cast<${type}Wide*>(${name})) ${wide}->twice(${text(scope, 1, 64)}); else ${name}->run(7);`,
    ];
  }),
  rule('assignment operator that launches', 0.7, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'vector',
      'Array',
      (name) =>
        `class ${name} {\npublic:\nexplicit ${name}(int n) : n_(n) { cudaMalloc(&data_, n * sizeof(float)); }\n~${name}() { cudaFree(data_); }\n${name}(const ${name}&) = delete;\n${name}& operator=(float value) {\n${kernel}<<<(n_ + 63) / 64, 64>>>(data_, (int)value);\nreturn *this;\n}\n\nprivate:\nint n_;\nfloat* data_;\n};`,
    );
    const name = scope.name('array');
    scope.chargeLaunches(1);
    return [`${type} ${name}(${text(scope, 1, 512)});`, `${name} = ${scope.random.pick(['2.5f', '1', `${text(scope, 0, 9)} * 1.5f`])};`];
  }),
];
