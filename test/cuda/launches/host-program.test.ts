import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHostProgram, type HostLaunch } from '../../../src/cuda/host/host-program.ts';
import { readHostText } from '../../../src/cuda/host/host-text.ts';
import { preprocessPlainly } from '../../../src/cuda/host/plain-preprocessor.ts';
import { sitesOf, type LaunchSite } from '../../../src/cuda/launches/launch-site.ts';
import { printAssumption } from '../../../src/cuda/assumptions/assumption-parser.ts';
import { cudaParser } from '../syntax/grammar.ts';

interface Found {
  readonly launch: HostLaunch;
  readonly sites: readonly LaunchSite[];
}

async function launchesIn(text: string, types: readonly string[] = []): Promise<Found[]> {
  const parser = await cudaParser();
  const own = preprocessPlainly({ file: 'run.cu', text: (file) => (file === 'run.cu' ? text : undefined), resolve: () => undefined, definitions: [] }); // oxfmt-ignore
  const host = readHostText(own);
  const program = readHostProgram('run.cu', host.text, parser.treeOf(host.text));
  const parameters = Array.from({ length: 6 }, (_, at) => ({ name: `p${at}`, type: types[at] ?? '' }));
  return program.launches.map((launch) => ({ launch, sites: sitesOf(launch, host.locate(launch.node.start), parameters) })); // oxfmt-ignore
}

/** The first extents of the grids of the launches of `k` in a function; null if one is not constant. */
async function grids(body: string, before = ''): Promise<(number | null)[]> {
  const found = await launchesIn(`${before}\nvoid run(int parameter) {\n${body}\n}\n`);
  const all = found.filter(({ launch }) => launch.kernel.name === 'k').flatMap(({ sites }) => sites.map(({ grid }) => grid?.[0] ?? null)); // oxfmt-ignore
  return [...new Set(all)].sort((a, b) => (a ?? -1) - (b ?? -1));
}

/** The launch constraints of the sites of a text. */
async function ties(text: string, types: readonly string[]): Promise<string[][]> {
  return (await launchesIn(text, types)).flatMap(({ sites }) => sites.map((site) => site.ties.map(printAssumption)));
}

/** Programs whose first grid is known only at run time: no set of only constants may be reported. */
const open: readonly (readonly [body: string, before?: string])[] = [
  // Written by the runtime.
  ['int n = 3; cudaMemcpy(&n, d, 4, cudaMemcpyDeviceToHost); k<<<n, 1>>>();'],
  ['int n = 3; cudaMemcpyFromSymbol(&n, s, 4); k<<<n, 1>>>();'],
  ['int n[2] = {3, 4}; cudaMemcpy(n, d, 8, cudaMemcpyDeviceToHost); k<<<n[0], 1>>>();'],
  ['int n = 3; cudaDeviceGetLimit(&n, cudaLimitStackSize); k<<<n, 1>>>();'],
  ['int n = 3; std::cin >> n; k<<<n, 1>>>();'],
  ['int n = 3, m = 4; file >> m >> n; k<<<n, 1>>>();'],
  // Changed in one branch only.
  ['if (parameter) g = 5; k<<<g, 1>>>();', 'int g;'],
  ['if (parameter) s->n = 5; k<<<s->n, 1>>>();', 'struct S { int n; }; S* s;'],
  // Loops whose first iteration differs.
  ['int n = 1; bool first = true; for (int i = 0; i < parameter; i++) { if (first) first = false; else n *= 2; k<<<n, 1>>>(); }'], // oxfmt-ignore
  ['int n = 1; for (int i = 0; i < parameter; i++) { for (int j = 0; j < i; j++) n *= 2; k<<<n, 1>>>(); }'],
  ['int n = 1; for (int i = 0; i < parameter; i++) { if (i == 1) n = 7; } k<<<n, 1>>>();'],
  // Values that an iteration leaves for the one after the next.
  ['int n = 1, m = 1; for (int i = 0; i < parameter; i++) { k<<<n, 1>>>(); n = m; m = more(); }'],
  ['int n = 1, m = 1; do { k<<<n, 1>>>(); n = m; m = more(); } while (m > 3);'],
  // Fields that a loop writes before it exits, or at an unknown index.
  ['dim3 b(4); while (more()) { if (late()) { b.x = more(); break; } } k<<<b.x, 1>>>();'],
  ['dim3 b(4); for (int i = 0; i < parameter; i++) { k<<<b.x, 1>>>(); if (late()) b = dim3(more()); }'],
  ['int a[2] = {3, 4}; for (int i = 0; i < parameter; i++) a[i] = 7; k<<<a[1], 1>>>();'],
  ['int a[2] = {3, 4}; for (int i = 0; i < parameter; i++) { k<<<a[1], 1>>>(); a[i] = 7; }'],
  // Calls of functions defined elsewhere change variables that these can access.
  ['g = 4; elsewhere(); k<<<g, 1>>>();', 'int g;'],
  ['fill(a); k<<<a[0], 1>>>();', 'void fill(int* a); static int a[2] = {3, 4};'],
  // Lambdas.
  ['int n = 3; auto f = [&] { k<<<n, 1>>>(); }; n = 4; later(f);'],
  ['int n = 3; each([&](int x) { n = x; }); k<<<n, 1>>>();'],
  // Arrays.
  ['int a[] = {3, 4}; k<<<a[parameter], 1>>>();'],
  ['int a[2] = {3, 4}; a[parameter] = 7; k<<<a[0], 1>>>();'],
  ['int a[2] = {3, 4}; int* p = &a[0]; p[1] = 7; k<<<a[1], 1>>>();'],
  ['int a[2] = {3, 4}; int* p = a; p++; *p = 7; k<<<a[1], 1>>>();'],
  ['int a[1] = {3}; fill(a); k<<<a[0], 1>>>();', 'void fill(int* c) { c[0] = 9; }'],
  ['int a[2] = {3, 4}; for (int& x : a) x = 7; k<<<a[1], 1>>>();'],
  // References to parts.
  ['S s; s.n = 3; int& r = s.n; r = 5; k<<<s.n, 1>>>();', 'struct S { int n; };'],
  ['P p = {4, 32}; auto [g, b] = p; k<<<b, g>>>();', 'struct P { int x; int y; }; const int b = 64;'],
  // Jumps.
  ['int n = 1; again: k<<<n, 1>>>(); n *= 2; if (n < parameter) goto again;'],
  ['int n = 1; if (parameter) { n = 2; goto end; } n = 3; end: k<<<n, 1>>>();'],
  ['int n = 1; try { n = 7; work(); n = 2; } catch (...) {} k<<<n, 1>>>();'],
  // Addresses and names that are not followed.
  ['int n = 4, m = 5; int* p = parameter ? &n : &m; *p = 7; k<<<n, 1>>>();'],
  ['int n = 3; int& r = parameter ? n : parameter; r = 7; k<<<n, 1>>>();'],
  ['int n = 3; (parameter ? n : parameter) = 9; k<<<n, 1>>>();'],
  ['int a = 1; std::tie(a, std::ignore) = g; k<<<a, 1>>>();'],
  ['int n = 4; S s = {&n}; change(s); k<<<n, 1>>>();', 'struct S { int* p; };'],
  ['S s; s.n = 4; s.get() = 9; k<<<s.n, 1>>>();', 'struct S { int n; int& get() { return n; } };'],
  ['U x; x.i = 3; x.u = 5; k<<<x.i, 1>>>();', 'union U { int i; unsigned u; };'],
  ['int n = 4; std::thread t(work, std::ref(n)); t.join(); k<<<n, 1>>>();', 'void work(int& n) { n = 8; }'],
  ['int n = 3; asm("mov" : "=r"(n)); k<<<n, 1>>>();'],
  // Names that another declaration hides.
  ['k<<<f(), 1>>>();', 'namespace a { int f() { return 4; } } int f();'],
  ['D d; d.go();', 'struct B { int n = 3; }; const int n = 8; struct D : B { void go() { k<<<n, 1>>>(); } };'],
  ['T<4> t; t.go();', 'const int N = 9; template <int N> struct T { void go() { k<<<N, 1>>>(); } };'],
  // Constants of a type, not of the objects that they refer to.
  ['int n = 3; const int& r = n; change(n); k<<<r, 1>>>();'],
  ['int n = 3; const int* p = &n; change(p, n); k<<<*p, 1>>>();'],
  ['const S s = {3}; change(s); k<<<s.n, 1>>>();', 'struct S { mutable int n; };'],
  ['static const int n = parameter; k<<<n, 1>>>();'],
  // Loops that something unknown ends.
  ['int i; for (i = 0; i < 8; i++) if (i == parameter) break; k<<<i, 1>>>();'],
  ['int i = 0; while (true) { if (i == parameter) break; if (++i == 5) break; } k<<<i, 1>>>();'],
  // Conversions.
  ['unsigned char c = parameter; k<<<c == 300 ? 1 : 2, 1>>>(); char d = 300; k<<<parameter, 1>>>();'],
  // Code that runs without a call in the text, and names that denote a variable of another scope.
  ['Q q; q << 2; k<<<q.v, 1>>>();', 'struct Q { int v = 1; Q &operator<<(int x) { v = x; return *this; } };'], // oxfmt-ignore
  ['As a; a = 16; k<<<a.v, 1>>>();', 'struct As { int v = 32; As &operator=(int x) { v = 2 * x; return *this; } };'], // oxfmt-ignore
  ['In a; ++a; k<<<a.v, 1>>>();', 'struct In { int v = 32; In &operator++() { v = 64; return *this; } };'], // oxfmt-ignore
  ['Tab t{{3, 3}}; t[1]; k<<<t.v[0], 1>>>();', 'struct Tab { int v[2]; int &operator[](int i) { v[0] = 6; return v[i]; } };'], // oxfmt-ignore
  ['int n = 3; Fn f{&n}; f(); k<<<n, 1>>>();', 'struct Fn { int *r; void operator()() const { *r = 6; } };'], // oxfmt-ignore
  // A static variable does not end with the call that returned its address.
  ['int *p = slot(); *p = 5; other(); k<<<*p, 1>>>();', 'int *slot() { static int n = 3; give(&n); return &n; }'],
  ['int n = 3; Less o; o < n; o.set(); k<<<n, 1>>>();', 'struct Less { int *p; bool operator<(int &x) { p = &x; return true; } void set() { *p = 6; } };'], // oxfmt-ignore
  ['Conv c{3}; k<<<c, 1>>>();', 'struct Conv { int n; operator int() const { return n * 2; } };'], // oxfmt-ignore
  ['C x(1); C y = x; k<<<y.v, 1>>>();', 'struct C { int v; C(int x) : v(x) {} C(const C &o) : v(o.v + 1) {} };'], // oxfmt-ignore
  ['D d; B b = d; k<<<b.v, 1>>>();', 'struct B { int v = 1; }; struct D : B { int v = 2; };'], // oxfmt-ignore
  ['int n = 3; { Set t{&n}; } k<<<n, 1>>>();', 'struct Set { int *r; ~Set() { *r = 6; } };'], // oxfmt-ignore
  ['int n = 3; { Holder h{{&n}}; } k<<<n, 1>>>();', 'struct Set { int *r; ~Set() { *r = 6; } }; struct Holder { Set s; };'], // oxfmt-ignore
  ['int n = 3; Set{&n}; k<<<n, 1>>>();', 'struct Set { int *r; ~Set() { *r = 6; } };'], // oxfmt-ignore
  ['int n = 6; { Guard t(n); k<<<n, 1>>>(); }', 'struct Guard { int &r; int old; Guard(int &x) : r(x), old(x) { r = 3; } ~Guard() { r = old; } };'], // oxfmt-ignore
  ['Cfg c; Tuner t(c); t.set(); k<<<c.s, 1>>>();', 'struct Cfg { int s = 3; }; struct Tuner { Cfg &c; Tuner(Cfg &x) : c(x) {} void set() { c.s = 6; } };'], // oxfmt-ignore
  ['struct L { int *x; void f() { *x = 6; } } l; int n = 3; l.x = &n; l.f(); k<<<n, 1>>>();'], // oxfmt-ignore
  ['int n = 3; auto *c = new Ct(n); delete c; k<<<n, 1>>>();', 'struct Ct { Ct(int &x) { x = 6; } };'], // oxfmt-ignore
  ['int n = 3; new (&n) int(6); k<<<n, 1>>>();'], // oxfmt-ignore
  ['P x{3, 3}; int P::*m = &P::b; x.*m = 6; k<<<x.b, 1>>>();', 'struct P { int a, b; };'], // oxfmt-ignore
  ['union { int i; unsigned char c[4]; } u; u.i = 3; u.c[0] = 6; k<<<u.i, 1>>>();'], // oxfmt-ignore
  ['int v[2][2] = {{3, 3}, {3, 3}}; int(*w)[2] = v; w[1][0] = 6; k<<<v[1][0], 1>>>();'], // oxfmt-ignore
  ['int v[2] = {3, 3}; View w{v}; w.d[1] = 6; k<<<v[1], 1>>>();', 'struct View { int *d; };'], // oxfmt-ignore
  ['Q a[2] = {{3}, {3}}; Q *q; q = a; q++; q->n = 6; k<<<a[1].n, 1>>>();', 'struct Q { int n; };'], // oxfmt-ignore
  ['int n = 32; ((unsigned char *)&n)[1] = 1; k<<<n, 1>>>();'], // oxfmt-ignore
  ['Der d; d.go();', 'struct Bas { virtual int threads() const { return 3; } void go(); }; struct Der : Bas { int threads() const override { return 6; } }; void Bas::go() { k<<<threads(), 1>>>(); }'], // oxfmt-ignore
  ['Der d; Bas *b = &d; k<<<b->threads(), 1>>>();', 'struct Bas { virtual int threads() { return 3; } }; struct Der : Bas { int threads() override { return 6; } };'], // oxfmt-ignore
  ['std::vector<int> v{3, 3}; fill(v.data(), 2); k<<<v[0], 1>>>();', 'void fill(int *x, int n) { for (int i = 0; i < n; i++) x[i] = 6; }'], // oxfmt-ignore
  ['int n = 3; auto r = std::ref(n); r.get() = 6; k<<<n, 1>>>();', 'struct Q { int v = 1; int &ref() { return v; } };'], // oxfmt-ignore
  ['k<<<(int)E1::N, 1>>>();', 'enum class E1 { N = 3 }; enum class E2 { N = 6 };'], // oxfmt-ignore
  ['k<<<pick((short)parameter), 1>>>();', 'int pick(float) { return 3; } int pick(int) { return 6; }'], // oxfmt-ignore
  ['k<<<width<5>(), 1>>>();', 'template <int N> int width() { return 3; } template <> int width<4>() { return 6; }'], // oxfmt-ignore
  ['auto f = [n = 2]() mutable { return ++n; }; auto g = f; f(); k<<<g(), 1>>>();'], // oxfmt-ignore
  ['k<<<size, 1>>>();', 'static int size = 3; void set(int &x) { x = 6; } void init() { set(size); }'], // oxfmt-ignore
  ['int n = 3; k<<<(other)(n), 1>>>();'], // oxfmt-ignore
];

for (const [body, before] of open)
  test(`argument unspecified: ${before ?? ''} ${body}`, async () => {
    const found = await grids(body, before);
    assert.ok(found.includes(null), JSON.stringify(found));
  });

const told: readonly (readonly [body: string, expected: readonly number[], before?: string])[] = [
  ['int n = 3; if (parameter > 3 || (n = 5)) k<<<n, 1>>>();', [3, 5]],
  ['int n = 3; int i = 0; int a[4]; a[i++]++; k<<<n + i, 1>>>();', [4]],
  ['int i = 0; use(a[i++]); k<<<i + 1, 1>>>();', [2], 'void use(int x) { g(x); }'],
  ['unsigned char n = 300; k<<<n, 1>>>();', [44]],
  ['int n = 3; auto f = [=] { k<<<n, 1>>>(); }; n = 4; f();', [3]],
  ['int n = 3; auto f = [m = n] { k<<<m, 1>>>(); }; n = 4; f();', [3]],
  ['int n = 3; auto f = [&] { k<<<n, 1>>>(); }; n = 4; f();', [4]],
  ['int n = 1; try { work(); n = 2; } catch (...) { n = 5; } k<<<n, 1>>>();', [2, 5]],
  ['int n = 1; switch (parameter) { default: n = 9; case 1: n += 2; } k<<<n, 1>>>();', [3, 11]],
  ['const int n = 3; change(n); k<<<n, 1>>>();', [3]],
  ['const int n = 2, m = 3; change(n, &m); k<<<n + m, 1>>>();', [5]],
  ['int i; for (i = 31; i >= 0; i--) if (40 & (1 << i)) break; k<<<i, 1>>>();', [5]],
  ['int i = 0; while (true) { if (i == 4) break; i++; } k<<<i, 1>>>();', [4]],
  ['int i, n = 0; for (i = 0; i < 9; i++) { if (i == 2) continue; n += i; if (n > 7) { n++; break; } } k<<<n, 1>>>();', [9]], // oxfmt-ignore
  ['int n = -7; k<<<(n >> 1) + 10, 1>>>();', [6]],
  ['S s{4}; k<<<s.n, 1>>>();', [8], 'struct S { int n; S(int m) : n(m * 2) {} };'],
  ['S s; k<<<s.n, 1>>>();', [5], 'struct S { int n = 3; S() { n = 5; } };'],
  ['({ int n = 4; k<<<n, 1>>>(); });', [4]],
  ['dim3 b(4); for (int i = 0; i < parameter; i++) { b.y = i; k<<<b.x, 1>>>(); }', [4]],
  ['int n = 8; for (int i = 0; i < parameter; i++) { k<<<n, 1>>>(); n = i > 2 ? 1 : 2; }', [1, 2, 8]],
  ['int n = 8; while (more()) { if (n == 8) n = 3; k<<<n, 1>>>(); n = 2; if (late()) continue; n = 5; }', [2, 3, 5]],
  ['int n = parameter / 3 + 1; switch (n) { case 4: k<<<n, 1>>>(); }', [4]],
  ['int x = 49; k<<<(int)(x * (1.0 / 49)) + 1, 1>>>();', []],
  // Conversions of integers, and expressions that look like a declaration or a cast.
  ['int n = 3; auto f = [q = &n] { *q = 6; }; f(); k<<<n, 1>>>();', [6]], // oxfmt-ignore
  ['int n = 3; auto f = [&q = n] { q = 6; }; f(); k<<<n, 1>>>();', [6]], // oxfmt-ignore
  ['int b = -1; k<<<b > sizeof(int) ? 6 : 3, 1>>>();', [6]], // oxfmt-ignore
  ['int i = -1; unsigned u = 1; k<<<i < u ? 3 : 6, 1>>>();', [6]], // oxfmt-ignore
  ['auto b = 32u; auto c = b - 33; k<<<c > 0 ? 6 : 3, 1>>>();', [6]], // oxfmt-ignore
  ['short b = 32767; b++; k<<<b < 0 ? 6 : 3, 1>>>();', [6]], // oxfmt-ignore
  ['unsigned u = 2; int d = -4; k<<<(d / u) > 5 ? 6 : 3, 1>>>();', [6]], // oxfmt-ignore
  ['unsigned u = 1; k<<<(true ? -1 : u) > 5 ? 6 : 3, 1>>>();', [6]], // oxfmt-ignore
  ['int t = 6; dim3 g(t * t); k<<<g, 1>>>();', [36]], // oxfmt-ignore
  ['int t = 6; int n(t * t); k<<<n, 1>>>();', [36]], // oxfmt-ignore
  ['int w = 7, t = 2; dim3 g(up(w, t)); k<<<g, 1>>>();', [4], 'int up(int a, int b) { return (a + b - 1) / b; }'], // oxfmt-ignore
  ['int n[2] = {3, 6}; dim3 g(n[1]); k<<<g, 1>>>();', [6]], // oxfmt-ignore
  ['k<<<(std::max)((std::min)(9, 4), 1), 1>>>();', [4]], // oxfmt-ignore
  ['int n = 3; bump(n); virtually(); k<<<n, 1>>>();', [5], 'struct V { virtual void f() {} }; V *v; void bump(int &x) { x += 2; } void virtually() { v->f(); }'], // oxfmt-ignore
  ['int n = 3; int *q = &n; bump(&n); virtually(); k<<<4, 1>>>();', [4], 'struct V { virtual void f() {} }; V *v; void bump(int *x) { *x += 2; } void virtually() { v->f(); }'], // oxfmt-ignore
  ['S s; s.n = 3; virtually(); k<<<s.n, 1>>>();', [3], 'struct V { virtual void f() {} }; V *v; struct S { int n; float *p; }; void virtually() { v->f(); }'], // oxfmt-ignore
  // Code that is not followed has run; the variable is a number, so that no such code compares it.
  ['int n = 3; Less o; o < o; if (n < 4) k<<<n, 1>>>();', [3], 'struct Less { int v; bool operator<(const Less &x) const { return v < x.v; } };'], // oxfmt-ignore
  ['int n = 3; Less o; o < o; cudaGraphicsSubResourceGetMappedArray(&a, r, n, 0); k<<<n, 1>>>();', [3], 'struct Less { int v; bool operator<(const Less &x) const { return v < x.v; } };'], // oxfmt-ignore
];

for (const [body, expected, before] of told)
  test(`constraint found: ${body}`, async () => {
    const found = await grids(body, before);
    if (expected.length > 0) assert.deepEqual(found, expected);
    else assert.ok(found.includes(null), JSON.stringify(found));
  });

test('launches on all other paths are found', async () => {
  const all = async (text: string): Promise<(number | null)[]> =>
    (await launchesIn(text)).flatMap(({ sites }) => sites.map(({ grid }) => grid?.[0] ?? null));
  for (const text of [
    'static void wrap(int n) { k<<<n, 1>>>(); } int main() { wrap(4); start(wrap); }',
    'static void wrap(int n) { k<<<n, 1>>>(); } struct T { void (*f)(int); }; int main() { T t = {wrap}; wrap(4); t.f(8); }',
    'struct D { void go(int n) { k<<<n, 1>>>(); } }; int main() { D d; d.go(4); auto e = make(); e->go(8); }',
    'static void wrap(int n) { k<<<n, 1>>>(); if (n < 50000000) wrap(n * 2 + 1); } int main() { wrap(4); }',
    'int main() { auto f = [](int n) { k<<<n, 1>>>(); }; f(7); later(f); }',
    'int main(int c, char** v) { try { work(); } catch (...) { int n = c; k<<<n, 1>>>(); } k<<<4, 1>>>(); }',
    'int main() { struct L { static void go(int n) { k<<<n, 1>>>(); } }; L::go(4); k<<<9, 1>>>(); }',
    'struct B { virtual void go(int n) {} }; struct D : B { void go(int n) { k<<<n, 1>>>(); } }; int main() { B* b = get(); b->go(7); D d; d.go(8); }',
    `static void wrap(int n) { k<<<n, 1>>>(); } int main(int c, char**) { wrap(4); ${'c = c * 3 + c / 2 - c % 5;'.repeat(9000)} wrap(8); }`,
    `int main(int c, char**) { k<<<4, 1>>>(); ${'c = c * 3 + c / 2 - c % 5;'.repeat(9000)} k<<<8, 1>>>(); }`,
  ])
    assert.ok((await all(text)).includes(null), text.slice(0, 200));
  const two = await all('static void wrap(int n) { later([=] { k<<<n, 1>>>(); }); } int main() { wrap(1); wrap(2); }');
  assert.deepEqual(new Set(two), new Set([1, 2]));
});

test('the value of a quotient in a condition bounds the dividend', async () => {
  const [list] = await ties('void f(int n) { if (n / 2 == 4) k<<<n / 2, 256>>>(n); }', ['int']);
  assert.ok(list?.includes('p0 / 2 == 4'), list?.join('; '));
});

test('a grid is constrained by a field of an argument', async () => {
  const [list] = await ties('void f(int n) { int half = n / 2; k<<<half / 512, 512>>>(half); }', ['int']);
  assert.ok(list?.includes('gridDim.x == p0 / 512'), list?.join('; '));
});

test('relations that are violated are not constraints', async () => {
  for (const [text, types, wrong] of [
    ['void f(int n) { k<<<(n + 255) / 256, 256>>>(n); }', ['unsigned char'], /gridDim.x == \(p0/],
    ['void f(int n) { unsigned char c = n; k<<<c, 256>>>(n); }', ['int'], /gridDim.x == p0/],
    ['void adjust(int& s) { s = -7; } void f(int n) { for (int s = 1; s < n; s += 2) { adjust(s); k<<<1, 1>>>(s); } }', ['int'], /p0 >= 1|% 2/], // oxfmt-ignore
    ['void f(int n) { int s; for (s = n; s > 3; s /= 2) g(); k<<<1, 1>>>(s, n); }', ['int', 'int'], /p0 >= 0|p0 <= p1/],
    ['struct S { int n; }; void f(S* s, S* t) { int m = s->n; t->n = 5; k<<<s->n, 1>>>(m); }', ['int'], /gridDim.x == p0/], // oxfmt-ignore
    ['void f() { int m = n_; n_ = 8; k<<<n_, 1>>>(m); }', ['int'], /gridDim.x == p0/],
  ] as const)
    for (const list of await ties(text, types)) assert.doesNotMatch(list.join('; '), wrong, text);
});

/** The contents of the first argument that the last launch of a program is known to have. */
async function contents(body: string, before = ''): Promise<string> {
  const text = `static const int table[4] = {2, 0, 3, 1};\nvoid unknown();\n${before}\nvoid run(int parameter, cudaStream_t s) {\nint* a; cudaMalloc(&a, 16);\n${body}\nk<<<1, 4>>>(a);\n}\n`;
  const last = (await launchesIn(text, ['int*'])).filter(({ launch }) => launch.kernel.name === 'k').at(-1);
  const site = last?.sites[0];
  const told = site?.ties.filter(({ kind }) => kind === 'elements' || kind === 'distinct').map(printAssumption) ?? [];
  return [...told, ...[...(site?.contents.arrays.values() ?? [])].map((values) => values.join())].join('; ');
}

const copied = 'cudaMemcpy(a, table, sizeof(table), cudaMemcpyHostToDevice);';

test('memory that the program fills whole before a launch has contents', async () => {
  const all = 'p0[*] in 0..3; distinct(p0); 2,0,3,1';
  assert.equal(await contents(copied), all);
  assert.equal(await contents('cudaMemcpy(a, table, 16, cudaMemcpyHostToDevice); cudaDeviceSynchronize();'), all);
  assert.equal(await contents('cudaMemset(a, 0, 16);'), 'p0[*] in 0..0');
  assert.equal(await contents('cudaMemset(a, 0xff, 16);'), 'p0[*] in -1..-1');
  assert.equal(await contents('int same[4] = {7, 7, 7, 8}; cudaMemcpy(a, same, sizeof(same), cudaMemcpyHostToDevice);'), 'p0[*] in 7..8; 7,7,7,8'); // oxfmt-ignore
  assert.equal(await contents('if (parameter) cudaMemset(a, 1, 16); cudaMemset(a, 0, 16);'), 'p0[*] in 0..0');
  assert.equal(await contents('float* b; cudaMalloc(&b, 64); cudaMemset(a, 0, 16); cudaMemset(b, 1, 64);'), 'p0[*] in 0..0'); // oxfmt-ignore
  assert.equal(await contents('for (int i = 0; i < parameter; i++) { cudaMemset(a, 0, 16); k<<<1, 4>>>(a); } cudaMemset(a, 1, 16);'), 'p0[*] in 16843009..16843009'); // oxfmt-ignore
});

/** Code that may write memory between its filling and the launch, or fills only a part of it. */
const unfilled: readonly (readonly [body: string, before?: string])[] = [
  [`${copied} k<<<1, 4>>>(a);`],
  [`${copied} other<<<1, 4>>>(nullptr);`],
  [`${copied} unknown();`],
  [`${copied} cudaMemcpyAsync(a, table, 4, cudaMemcpyHostToDevice, s);`],
  [`${copied} cudaMemset(a, 0, 4);`],
  [`${copied} cudaMemset(a + 1, 0, 4);`],
  [`int* b = a; ${copied} cudaMemset(b, 1, 8);`],
  [`${copied} cudaGraphLaunch(g, s);`],
  [`if (parameter) ${copied}`],
  [`parameter && cudaMemset(a, 0, 16);`],
  [`while (parameter--) ${copied}`],
  [`cudaMemset(a, 0, 16); for (int i = 0; i < 3; i++) { k<<<1, 4>>>(a); }`],
  [`cudaMemset(a, 0, 16); for (int i = 0; i < parameter; i++) { k<<<1, 4>>>(a); } k<<<1, 4>>>(nullptr); if (parameter) cudaMemset(a, 0, 16);`], // oxfmt-ignore
  ['cudaMemset(a, 0, 12);'],
  ['cudaMemset(a + 1, 0, 16);'],
  ['cudaMemset(a, parameter, 16);'],
  ['cudaMemsetAsync(a, 0, 16, s);'],
  ['cudaMemcpy(a, table, 8, cudaMemcpyHostToDevice);'],
  ['cudaMemcpy(a, table, 16, cudaMemcpyDefault);'],
  ['int own[4] = {1, 2, 3, 4}; own[parameter] = 2; cudaMemcpy(a, own, 16, cudaMemcpyHostToDevice);'],
  ['int own[4] = {1, 2, 3, 4}; fillIn(own); cudaMemcpy(a, own, 16, cudaMemcpyHostToDevice);'],
  ['int own[4] = {1, 2}; int* p = own; p[3] = 3; cudaMemcpy(a, own, 16, cudaMemcpyHostToDevice);'],
  ['char own[16] = {1}; cudaMemcpy(a, own, 16, cudaMemcpyHostToDevice);'],
  ['cudaMallocManaged(&a, 16); cudaMemset(a, 0, 16); a[0] = 1;'],
  [`step(a); ${copied} again(a);`, 'void step(int* p) {} void again(int* p) { cudaMemcpy(p, p + 2, 8, cudaMemcpyDeviceToDevice); }'], // oxfmt-ignore
  [copied, 'struct Guard { Guard() { zero(); } }; Guard guard;'],
  [copied, '#include <thread>\nvoid go() { std::thread t(f); }'],
  [copied, 'void go(cudaStream_t t) { cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking); }'],
  [`${copied} goto out; out: ;`],
  [`auto zero = [&] { cudaMemset(a, 0, 16); }; ${copied} zero(); unknown();`],
];

test('possible writes to memory invalidate its known contents', async () => {
  for (const [body, before] of unfilled) assert.equal(await contents(body, before), '', body);
});
