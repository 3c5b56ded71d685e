/** Whether device code depends on names of a stub, decided on the tokens of a preprocessed unit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stubUse, launchingFunctions } from '../../../src/toolchain/stubs/device-use.ts';
import { readOwnCode } from '../../../src/toolchain/stubs/own-code.ts';

const global = '__attribute__((global))';
const device = '__attribute__((device))';
const kernel = `${global} void k(float* x, int n) { int i = n; x[i] = 1; }\n`;

const namesIn = (text: string, ...stubs: string[]) => stubUse(readOwnCode(`# 1 "a.cu"\n${text}`), new Set(stubs), new Set());

/** Texts in which device code depends on `lib_t`, with the name that is reported. */
const dependent: readonly (readonly [text: string, name: string])[] = [
  [`${global} void k(lib_t* x) {}`, 'lib_t'],
  [`${global} void k(int* x) { *x = sizeof(lib_t); }`, 'lib_t'],
  [`template <class T = lib_t> ${global} void k(T* x) {}`, 'lib_t'],
  [`struct S { lib_t a; int n; };\n${global} void k(S* s) { s->n = 1; }`, 'S'],
  [`struct S { lib_t a; };\nstruct T { S s[2]; };\n${global} void k(T* s) {}`, 'T'],
  [`struct B { lib_t a; };\nstruct D : B { int n; };\n${global} void k(D* d) {}`, 'D'],
  [`typedef lib_t mine;\n${global} void k(mine* s) {}`, 'mine'],
  [`typedef struct { lib_t a; int n; } S;\n${global} void k(S* s) {}`, 'S'],
  [`using mine = lib_t;\n${device} mine* f();`, 'mine'],
  [`constexpr int size = sizeof(lib_t);\n${global} void k(int* x) { *x = size; }`, 'size'],
  [`enum { first = lib_t(1), second };\n${global} void k(int* x) { *x = second; }`, 'second'],
  [`namespace a { static const int size = sizeof(lib_t); }\n${global} void k(int* x) { *x = a::size; }`, 'size'],
  [`constexpr int f() { return sizeof(lib_t); }\n${global} void k(int* x) { *x = f(); }`, 'f'],
  [`${device} lib_t* pointer;`, 'lib_t'],
  [`struct S { lib_t a; int n; ${device} int get() { return n; } };`, 'S'],
  [`void f(lib_t* x) { auto y = x; g([=] ${device} (int i) { return y; }); }`, 'lib_t'],
];

for (const [text, name] of dependent) {
  test(`device code depends on the stub: ${text.replaceAll('\n', ' ')}`, () => {
    assert.equal(namesIn(text, 'lib_t').inDeviceCode?.name, name);
  });
}

/** Texts in which only host code uses `lib_t`. */
const independent: readonly string[] = [
  `void f(lib_t* x) { lib_t y; int n = sizeof(y); }\n${kernel}`,
  `static lib_t n;\n${kernel}`,
  `struct S { lib_t a; };\nvoid f(S* s) { k<<<1, 32>>>(s->a, 1); }\n${kernel}`,
  `template <typename lib_t> ${global} void k(lib_t* x) { lib_t y = x[0]; }`,
  `struct S { void f(lib_t x) { lib_t y; } int n; };\n${global} void k(S* s) { s->n = 1; }`,
  `struct S { lib_t f(); int n; };\n${global} void k(S* s) { s->n = 1; }`,
  `void f(lib_t x, int n);\n${kernel}`,
  `${global} void k(P p, P* q) { p.lib_t = 1; q->lib_t = 2; }`,
];

for (const text of independent) {
  test(`device code does not depend on the stub: ${text.replaceAll('\n', ' ')}`, () => {
    assert.equal(namesIn(text, 'lib_t').inDeviceCode, null);
  });
}

test('a macro of a stub replaces members and template parameters of device code, too', () => {
  const named = (text: string): string | undefined => {
    const macros = new Set(['LIB_X']);
    return stubUse(readOwnCode(text), macros, new Set(), macros).inDeviceCode?.name;
  };
  assert.equal(named(`${global} void k(P p) { p.LIB_X = 1; }`), 'LIB_X');
  assert.equal(named(`template <class LIB_X> ${global} void k(LIB_X* p) {}`), 'LIB_X');
  assert.equal(named(`void f(P p) { p.LIB_X = 1; }\n${kernel}`), undefined);
});

test('the place of a use is that of its marker', () => {
  const code = readOwnCode(`# 7 "x.cuh"\nint a;\n# 40 "a.cu"\n\n${global} void k(lib_t* x) {}`);
  assert.deepEqual(stubUse(code, new Set(['lib_t']), new Set()).inDeviceCode, {
    name: 'lib_t',
    file: 'a.cu',
    line: 41,
  });
});

/** Host code of which launches would follow from an invented constant. */
const measuring: readonly string[] = [
  'void f(int n) { k<<<n / sizeof(lib_t), 32>>>(); }',
  'void f(lib_t x) { auto y = x; k<<<sizeof(y), 32>>>(); }',
  'void f(lib_t x) { k<<<alignof(decltype(x)), 32>>>(); }',
  'template <class T> void g(const T& t) { k<<<sizeof(T), 32>>>(); }\nvoid f(lib_t x) { g(x); }',
  'void f() { if (std::is_same<lib_t, float>::value) k<<<1, 32>>>(); }',
  'void g(int n) { k<<<n, 32>>>(); }\nvoid g(float x) { k<<<1, 32>>>(); }\nvoid f(lib_t x) { g(x); }',
  'void g(int n) { h(n); }\nvoid g(float x) { h(1); }\nvoid h(int n) { k<<<n, 32>>>(); }\nvoid f(lib_t x) { g(x); }',
];

for (const text of measuring) {
  test(`launches must not be read: ${text.replaceAll('\n', ' ')}`, () => {
    assert.notEqual(namesIn(text, 'lib_t').unreadLaunches, null);
  });
}

test('launches are not read if a library may launch a kernel', () => {
  const text = (call: string): string => `${global} __attribute__((launch_bounds(64))) void k(float* x) {}\nvoid f(float* x) { ${call} }`;
  for (const call of ['lib_t(k, x);', 'lib_t(&k, x);', 'lib_t(k<float>);', 'auto y = lib_t::launch(x, k);']) {
    assert.equal(namesIn(text(call), 'lib_t').unreadLaunches?.name, 'k', call);
  }
  for (const call of ['k<<<1, 64>>>(lib_t(x));', 'lib_t([&] { k<float><<<1, 64>>>(x); });', 'lib_t(x); g(k);', 'lib_t(x.k);']) {
    assert.equal(namesIn(text(call), 'lib_t').unreadLaunches, null, call);
  }
});

test('launches are read if no constant depends on a stub', () => {
  const texts = [
    'void f(lib_t x, int n) { k<<<n / sizeof(float), 32>>>(x); }',
    'void g(int n) { k<<<n, 32>>>(); }\nvoid f(lib_t x) { g(x); }',
    'void g(int n) {}\nvoid g(float x) {}\nvoid f(lib_t x) { g(x); k<<<1, 32>>>(); }',
    'template <class T> void g(int n) { k<<<sizeof(T), 32>>>(); }\nvoid f(lib_t x) { g<float>(1); h(x); }',
  ];
  for (const text of texts) assert.equal(namesIn(text, 'lib_t').unreadLaunches, null, text);
});

test('launches are not read if the stub gives an enumerator a value', () => {
  const code = readOwnCode('void f(int n) { switch (n) { case LIB_A: k<<<1, 32>>>(); } }');
  assert.equal(stubUse(code, new Set(['LIB_A']), new Set(['LIB_A'])).unreadLaunches?.name, 'LIB_A');
});

test('functions that lead to a launch are found through calls', () => {
  const found = launchingFunctions(
    readOwnCode('void a() { b(); }\nvoid b() { k<<<1, 1>>>(); }\nvoid c() {}\nstruct S { void d() { a(); } };'),
  );
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].filter((name) => found.has(name)),
    ['a', 'b', 'd'],
  );
});
