/** Extents of launches as the values of a program: which are constants, and which only the run decides. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { extentsOf, readSnippets, readUnit, snippetOf } from './fixture.ts';

const longText = '"a text that an object has no room for"';
const anyText = 'extern const char *text;';

/** Programs whose first grid is known only at run time: no set of only constants may be reported. */
const undecided: readonly (readonly [body: string, before?: string])[] = [
  // Written by the runtime.
  ['int n = 3; cudaMemcpy(&n, d, 4, cudaMemcpyDeviceToHost); k<<<n, 1>>>();', 'int *d;'],
  ['int n = 3; cudaMemcpyFromSymbol(&n, s, 4); k<<<n, 1>>>();', '__device__ int s;'],
  ['int n[2] = {3, 4}; cudaMemcpy(n, d, 8, cudaMemcpyDeviceToHost); k<<<n[0], 1>>>();', 'int *d;'],
  ['size_t n = 3; cudaDeviceGetLimit(&n, cudaLimitStackSize); k<<<n, 1>>>();'],
  ['int n = 3; std::cin >> n; k<<<n, 1>>>();'],
  // Written through one of two pointers.
  ['int n = 3, m = 4, x = parameter; memcpy(parameter ? &n : &m, &x, 4); k<<<n, 1>>>();'],
  ['int n = 3, m = 4; cudaMemcpy(parameter ? &n : &m, d, 4, cudaMemcpyDeviceToHost); k<<<n, 1>>>();', 'int *d;'],
  ['S a{3}, b{4}; S* p = parameter ? &a : &b; *p = make(); k<<<a.n, 1>>>();', 'struct S { int n; int more[5]; }; S make();'],
  // Written by a kernel, in memory of the host.
  ['*flag = 3; k<<<1, 1>>>(flag); cudaDeviceSynchronize(); k<<<*flag, 1>>>();', 'int *flag;'],
  ['int n = 3, m = 4; file >> m >> n; k<<<n, 1>>>();', 'extern std::ifstream file;'],
  // Changed in one branch only.
  ['if (parameter) g = 5; k<<<g, 1>>>();', 'int g;'],
  ['if (parameter) s->n = 5; k<<<s->n, 1>>>();', 'struct S { int n; }; S* s;'],
  // Loops whose first iteration differs.
  ['int n = 1; bool first = true; for (int i = 0; i < parameter; i++) { if (first) first = false; else n *= 2; k<<<n, 1>>>(); }'],
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
  ['int n = 3; each([&](int x) { n = x; }); k<<<n, 1>>>();', 'void each(std::function<void(int)> f);'],
  // Arrays.
  ['int a[] = {3, 4}; k<<<a[parameter], 1>>>();'],
  ['int a[2] = {3, 4}; a[parameter] = 7; k<<<a[0], 1>>>();'],
  // Jumps.
  ['int n = 1; again: k<<<n, 1>>>(); n *= 2; if (n < parameter) goto again;'],
  // Addresses and names that are not followed.
  ['int a = 1; std::tie(a, std::ignore) = g; k<<<a, 1>>>();', 'std::tuple<int, int> g;'],
  ['int n = 4; S s = {&n}; change(s); k<<<n, 1>>>();', 'struct S { int* p; }; void change(S s);'],
  ['int n = 4; std::thread t(work, std::ref(n)); t.join(); k<<<n, 1>>>();', 'void work(int& n) { n = 8; }'],
  ['int n = 3; asm("mov $5, %0" : "=r"(n)); k<<<n, 1>>>();'],
  ['k<<<f(), 1>>>();', 'namespace a { int f() { return 4; } } int f();'],
  // Constants of a type, not of the objects that they refer to.
  ['int n = 3; const int& r = n; change(n); k<<<r, 1>>>();', 'void change(int& n);'],
  ['int n = 3; const int* p = &n; change(p, n); k<<<*p, 1>>>();', 'void change(const int* p, int& n);'],
  ['const S s = {3}; change(s); k<<<s.n, 1>>>();', 'struct S { mutable int n; }; void change(const S& s);'],
  ['static const int n = parameter; k<<<n, 1>>>();'],
  // Loops that something unknown ends.
  ['int i; for (i = 0; i < 8; i++) if (i == parameter) break; k<<<i, 1>>>();'],
  ['int i = 0; while (true) { if (i == parameter) break; if (++i == 5) break; } k<<<i, 1>>>();'],
  // Conversions.
  ['unsigned char c = parameter; k<<<c == 300 ? 1 : 2, 1>>>(); char d = 300; k<<<parameter + d, 1>>>();'],
  // A static variable does not end with the call that returned its address.
  [
    'int *p = slot(); *p = 5; other(); k<<<*p, 1>>>();',
    'void give(int *p); void other(); int *slot() { static int n = 3; give(&n); return &n; }',
  ],
  ['k<<<size, 1>>>();', 'static int size = 3; void set(int &x) { x = 6; } void init() { set(size); }'],
  ['int n = 3; k<<<(other)(n), 1>>>();', 'int other(int &n);'],
  // Texts that unknown code, the user or one of two pointers changes.
  ['std::string s = "abc"; modify(s); k<<<s.size(), 1>>>();', 'void modify(std::string &s);'],
  ['std::string s = text; k<<<s.size(), 1>>>();', anyText],
  ['std::string s = "abc"; std::cin >> s; k<<<s.size(), 1>>>();'],
  ['std::string s = "abc"; const char *p = s.c_str(); s[0] = parameter; k<<<*p, 1>>>();'],
  ['std::string s = "abc"; char *p = &s[0]; put(p); k<<<s[0], 1>>>();', 'void put(char *p);'],
  ['std::string s = "abc"; s.assign(text); k<<<s[0], 1>>>();', anyText],
  ['std::string s = "abc"; s.insert(0, text); k<<<s.size() + s[0], 1>>>();', anyText],
  ['std::string s = "abc", t = text; s.swap(t); k<<<s.size(), 1>>>();', anyText],
  ['std::string s = "abc"; s[parameter] = 0; k<<<s[1], 1>>>();'],
  ['std::string a = "abc", b = "de"; std::string &s = parameter ? a : b; s += "f"; k<<<a.size(), 1>>>();'],
  ['std::string s = "abc"; give(&s); *take() += text; k<<<s.size(), 1>>>();', `void give(std::string *s); std::string *take(); ${anyText}`],
  ['std::string s = "abc"; give(&s); *take() = "x"; k<<<s[0], 1>>>();', 'void give(std::string *s); std::string *take();'],
  ['std::string s = "abc"; char *p = &s[1]; std::string t(p, parameter); k<<<t.size(), 1>>>();'],
  // Pointers and references into texts.
  ['std::string s = "abc"; char *p = &s[0]; s.pop_back(); p[0] = 3; s[0] = 7; k<<<p[0], 1>>>();'],
  [`std::string s(${longText}); char *p = &s[0]; s.pop_back(); p[0] = 3; s[0] = 7; k<<<p[0], 1>>>();`],
  [`std::string s(${longText}), t; char *p = &s[0]; s.swap(t); p[0] = 3; t[0] = 7; k<<<p[0], 1>>>();`],
  [`std::string s(${longText}); char *p = &s[0]; std::string t = std::move(s); p[0] = 3; t[0] = 7; k<<<p[0], 1>>>();`],
  [`std::string s(${longText}); char *p = &s[0]; if (parameter) s.pop_back(); p[0] = 3; s.assign(1, 7); k<<<p[0], 1>>>();`],
  [`std::string s(${longText}); char *p = &s[0]; modify(s); p[0] = 3; s.assign(1, 7); k<<<p[0], 1>>>();`, 'void modify(std::string &s);'],
  ['std::string s = "q"; std::string &r = s.insert(0, "x"); s = "abc"; r += "de"; k<<<s.size(), 1>>>();'],
  ['std::string s = "abc"; char *p = &s[0]; auto it = s.erase(s.cbegin()); p[0] = 3; *it = 7; k<<<p[0], 1>>>();'],
  ['std::string s = "abc"; char to[4] = {1}; s.copy(to, 3); k<<<to[0], 1>>>();'],
  ['std::string s = "abc"; std::string &r = s; s = std::move(r); k<<<s.size() + 1, 1>>>();'],
  ['k<<<strlen(t[0]), 1>>>();', 'static const char *t[] = {"abcdef" + 2};'],
  ['errno = 3; strtol(text, nullptr, 10); k<<<errno, 1>>>();', anyText],
];

const virtuals =
  'struct Task { virtual ~Task() {} virtual void run() { k<<<1, 1>>>(); } virtual int size() { return 3; } }; struct Wide : Task { int n = 5; void run() override { k<<<n, 1>>>(); } int size() override { return 4; } }; struct Tall : Task {};';

/** Programs that launch only grids of known first extents. */
const decided: readonly (readonly [body: string, expected: readonly number[], before?: string])[] = [
  ['int n = 3; if (parameter > 3 || (n = 5)) k<<<n, 1>>>();', [3, 5]],
  ['int n = 3; int i = 0; int a[4]; a[i++]++; k<<<n + i, 1>>>();', [4]],
  ['int a[4]; int i = 0; use(a[i++]); k<<<i + 1, 1>>>();', [2], 'void g(int x); void use(int x) { g(x); }'],
  ['unsigned char n = 300; k<<<n, 1>>>();', [44]],
  // After a handler the code goes on elsewhere.
  ['int n = 3; try { g(); throw 100; } catch (int) { n = 4; } k<<<n, 1>>>();', [4], 'void g();'],
  // A call of an argument is not that of the kernel.
  ['k<<<3, 1>>>((rand(), parameter));', [3]],
  ['int n = 3; auto f = [=] { k<<<n, 1>>>(); }; n = 4; f();', [3]],
  ['int n = 3; auto f = [m = n] { k<<<m, 1>>>(); }; n = 4; f();', [3]],
  ['int n = 3; auto f = [&] { k<<<n, 1>>>(); }; n = 4; f();', [4]],
  ['int n = 1; try { work(); n = 2; } catch (...) { n = 5; } k<<<n, 1>>>();', [2, 5]],
  ['int n = 1; try { n = 7; work(); n = 2; } catch (...) {} k<<<n, 1>>>();', [2, 7]],
  ['int n = 1; try { std::string("abc").substr(parameter); n = 2; } catch (...) {} k<<<n, 1>>>();', [1, 2]],
  ['int n = 1; try { std::string("abc").at(parameter); n = 2; } catch (...) {} k<<<n, 1>>>();', [1, 2]],
  ['int n = 1; switch (parameter) { default: n = 9; case 1: n += 2; } k<<<n, 1>>>();', [3, 11]],
  ['const int n = 3; change(n); k<<<n, 1>>>();', [3], 'void change(const int& n);'],
  ['const int n = 2, m = 3; change(n, &m); k<<<n + m, 1>>>();', [5], 'void change(const int& n, const int* m);'],
  ['int i; for (i = 31; i >= 0; i--) if (40 & (1 << i)) break; k<<<i, 1>>>();', [5]],
  ['int i = 0; while (true) { if (i == 4) break; i++; } k<<<i, 1>>>();', [4]],
  ['int i, n = 0; for (i = 0; i < 9; i++) { if (i == 2) continue; n += i; if (n > 7) { n++; break; } } k<<<n, 1>>>();', [9]],
  ['int n = -7; k<<<(n >> 1) + 10, 1>>>();', [6]],
  ['S s{4}; k<<<s.n, 1>>>();', [8], 'struct S { int n; S(int m) : n(m * 2) {} };'],
  ['S s; k<<<s.n, 1>>>();', [5], 'struct S { int n = 3; S() { n = 5; } };'],
  ['({ int n = 4; k<<<n, 1>>>(); });', [4]],
  ['dim3 b(4); for (int i = 0; i < parameter; i++) { b.y = i; k<<<b.x, 1>>>(); }', [4]],
  ['int n = 8; for (int i = 0; i < parameter; i++) { k<<<n, 1>>>(); n = i > 2 ? 1 : 2; }', [1, 2, 8]],
  ['int n = 8; while (more()) { if (n == 8) n = 3; k<<<n, 1>>>(); n = 2; if (late()) continue; n = 5; }', [2, 3, 5]],
  ['int n = parameter / 3 + 1; switch (n) { case 4: k<<<n, 1>>>(); }', [4]],
  ['int n = 1; if (parameter) { n = 2; goto end; } n = 3; end: k<<<n, 1>>>();', [2, 3]],
  // Arrays.
  ['int a[2] = {3, 4}; int* p = &a[0]; p[1] = 7; k<<<a[1], 1>>>();', [7]],
  ['int a[2] = {3, 4}; int* p = a; p++; *p = 7; k<<<a[1], 1>>>();', [7]],
  ['int a[1] = {3}; fill(a); k<<<a[0], 1>>>();', [9], 'void fill(int* c) { c[0] = 9; }'],
  ['int a[2] = {3, 4}; for (int& x : a) x = 7; k<<<a[1], 1>>>();', [7]],
  ['int v[2][2] = {{3, 3}, {3, 3}}; int(*w)[2] = v; w[1][0] = 6; k<<<v[1][0], 1>>>();', [6]],
  ['int v[2] = {3, 3}; View w{v}; w.d[1] = 6; k<<<v[1], 1>>>();', [6], 'struct View { int *d; };'],
  ['Q a[2] = {{3}, {3}}; Q *q; q = a; q++; q->n = 6; k<<<a[1].n, 1>>>();', [6], 'struct Q { int n; };'],
  [
    'std::vector<int> v{3, 3}; fill(v.data(), 2); k<<<v[0], 1>>>();',
    [6],
    'void fill(int *x, int n) { for (int i = 0; i < n; i++) x[i] = 6; }',
  ],
  // References to parts.
  ['S s; s.n = 3; int& r = s.n; r = 5; k<<<s.n, 1>>>();', [5], 'struct S { int n; };'],
  ['P p = {4, 32}; auto [g, b] = p; k<<<b, g>>>();', [32], 'struct P { int x; int y; }; const int b = 64;'],
  ['S s; s.n = 4; s.get() = 9; k<<<s.n, 1>>>();', [9], 'struct S { int n; int& get() { return n; } };'],
  ['U x; x.i = 3; x.u = 5; k<<<x.i, 1>>>();', [5], 'union U { int i; unsigned u; };'],
  ['union { int i; unsigned char c[4]; } u; u.i = 3; u.c[0] = 6; k<<<u.i, 1>>>();', [6]],
  ['int n = 32; ((unsigned char *)&n)[1] = 1; k<<<n, 1>>>();', [288]],
  ['P x{3, 3}; int P::*m = &P::b; x.*m = 6; k<<<x.b, 1>>>();', [6], 'struct P { int a, b; };'],
  ['int n = 3; auto r = std::ref(n); r.get() = 6; k<<<n, 1>>>();', [6], 'struct Q { int v = 1; int &ref() { return v; } };'],
  ['int n = 3; new (&n) int(6); k<<<n, 1>>>();', [6]],
  // One of two objects.
  ['int n = 4, m = 5; int* p = parameter ? &n : &m; *p = 7; k<<<n, 1>>>();', [4, 7]],
  ['int n = 3; int& r = parameter ? n : parameter; r = 7; k<<<n, 1>>>();', [3, 7]],
  ['int n = 3; (parameter ? n : parameter) = 9; k<<<n, 1>>>();', [3, 9]],
  // Names that another declaration hides.
  ['D d; d.go();', [3], 'struct B { int n = 3; }; const int n = 8; struct D : B { void go() { k<<<n, 1>>>(); } };'],
  ['T<4> t; t.go();', [4], 'const int N = 9; template <int N> struct T { void go() { k<<<N, 1>>>(); } };'],
  // Operators, conversions, constructors and destructors of classes.
  ['Q q; q << 2; k<<<q.v, 1>>>();', [2], 'struct Q { int v = 1; Q &operator<<(int x) { v = x; return *this; } };'],
  ['As a; a = 16; k<<<a.v, 1>>>();', [32], 'struct As { int v = 3; As &operator=(int x) { v = 2 * x; return *this; } };'],
  ['In a; ++a; k<<<a.v, 1>>>();', [64], 'struct In { int v = 32; In &operator++() { v = 64; return *this; } };'],
  ['Tab t{{3, 3}}; t[1]; k<<<t.v[0], 1>>>();', [6], 'struct Tab { int v[2]; int &operator[](int i) { v[0] = 6; return v[i]; } };'],
  ['int n = 3; Fn f{&n}; f(); k<<<n, 1>>>();', [6], 'struct Fn { int *r; void operator()() const { *r = 6; } };'],
  [
    'int n = 3; Less o; o < n; o.set(); k<<<n, 1>>>();',
    [6],
    'struct Less { int *p; bool operator<(int &x) { p = &x; return true; } void set() { *p = 6; } };',
  ],
  ['Conv c{3}; dim3 g(c); k<<<g, 1>>>();', [6], 'struct Conv { int n; operator int() const { return n * 2; } };'],
  ['C x(1); C y = x; k<<<y.v, 1>>>();', [2], 'struct C { int v; C(int x) : v(x) {} C(const C &o) : v(o.v + 1) {} };'],
  ['D d; B b = d; k<<<b.v, 1>>>();', [1], 'struct B { int v = 1; }; struct D : B { int v = 2; };'],
  ['int n = 3; { Set t{&n}; } k<<<n, 1>>>();', [6], 'struct Set { int *r; ~Set() { *r = 6; } };'],
  ['int n = 3; { Holder h{{&n}}; } k<<<n, 1>>>();', [6], 'struct Set { int *r; ~Set() { *r = 6; } }; struct Holder { Set s; };'],
  ['int n = 3; Set{&n}; k<<<n, 1>>>();', [6], 'struct Set { int *r; ~Set() { *r = 6; } };'],
  [
    'int n = 6; { Guard t(n); k<<<n, 1>>>(); }',
    [3],
    'struct Guard { int &r; int old; Guard(int &x) : r(x), old(x) { r = 3; } ~Guard() { r = old; } };',
  ],
  [
    'int n = 6; { Guard t(n); } k<<<n, 1>>>();',
    [6],
    'struct Guard { int &r; int old; Guard(int &x) : r(x), old(x) { r = 3; } ~Guard() { r = old; } };',
  ],
  [
    'Cfg c; Tuner t(c); t.set(); k<<<c.s, 1>>>();',
    [6],
    'struct Cfg { int s = 3; }; struct Tuner { Cfg &c; Tuner(Cfg &x) : c(x) {} void set() { c.s = 6; } };',
  ],
  ['struct L { int *x; void f() { *x = 6; } } l; int n = 3; l.x = &n; l.f(); k<<<n, 1>>>();', [6]],
  ['int n = 3; auto *c = new Ct(n); delete c; k<<<n, 1>>>();', [6], 'struct Ct { Ct(int &x) { x = 6; } };'],
  [
    'Der d; d.go();',
    [6],
    'struct Bas { virtual int threads() const { return 3; } void go(); }; struct Der : Bas { int threads() const override { return 6; } }; void Bas::go() { k<<<threads(), 1>>>(); }',
  ],
  [
    'Der d; Bas *b = &d; k<<<b->threads(), 1>>>();',
    [6],
    'struct Bas { virtual int threads() { return 3; } }; struct Der : Bas { int threads() override { return 6; } };',
  ],
  // The function that is called.
  ['k<<<(int)E1::N, 1>>>();', [3], 'enum class E1 { N = 3 }; enum class E2 { N = 6 };'],
  ['k<<<pick((short)parameter), 1>>>();', [6], 'int pick(float) { return 3; } int pick(int) { return 6; }'],
  ['k<<<width<5>(), 1>>>();', [3], 'template <int N> int width() { return 3; } template <> int width<4>() { return 6; }'],
  ['auto f = [n = 2]() mutable { return ++n; }; auto g = f; f(); k<<<g(), 1>>>();', [3]],
  // Conversions of integers, and expressions that look like a declaration or a cast.
  ['int n = 3; auto f = [q = &n] { *q = 6; }; f(); k<<<n, 1>>>();', [6]],
  ['int n = 3; auto f = [&q = n] { q = 6; }; f(); k<<<n, 1>>>();', [6]],
  ['int b = -1; k<<<b > sizeof(int) ? 6 : 3, 1>>>();', [6]],
  ['int i = -1; unsigned u = 1; k<<<i < u ? 3 : 6, 1>>>();', [6]],
  ['auto b = 32u; auto c = b - 33; k<<<c > 0 ? 6 : 3, 1>>>();', [6]],
  ['short b = 32767; b++; k<<<b < 0 ? 6 : 3, 1>>>();', [6]],
  ['unsigned u = 2; int d = -4; k<<<(d / u) > 5 ? 6 : 3, 1>>>();', [6]],
  ['unsigned u = 1; k<<<(true ? -1 : u) > 5 ? 6 : 3, 1>>>();', [6]],
  ['long long n = 1ll << 40; k<<<n + 5, 1>>>();', [5]],
  ['int t = 6; dim3 g(t * t); k<<<g, 1>>>();', [36]],
  ['int t = 6; int n(t * t); k<<<n, 1>>>();', [36]],
  ['int w = 7, t = 2; dim3 g(up(w, t)); k<<<g, 1>>>();', [4], 'int up(int a, int b) { return (a + b - 1) / b; }'],
  ['int n[2] = {3, 6}; dim3 g(n[1]); k<<<g, 1>>>();', [6]],
  ['k<<<(std::max)((std::min)(9, 4), 1), 1>>>();', [4]],
  [
    'int n = 3; bump(n); virtually(); k<<<n, 1>>>();',
    [5],
    'struct V { virtual void f() {} }; V *v; void bump(int &x) { x += 2; } void virtually() { v->f(); }',
  ],
  [
    'int n = 3; int *q = &n; bump(&n); virtually(); k<<<4, 1>>>();',
    [4],
    'struct V { virtual void f() {} }; V *v; void bump(int *x) { *x += 2; } void virtually() { v->f(); }',
  ],
  [
    'S s; s.n = 3; virtually(); k<<<s.n, 1>>>();',
    [3],
    'struct V { virtual void f() {} }; V *v; struct S { int n; float *p; }; void virtually() { v->f(); }',
  ],
  // The object for the result, named or not.
  [
    'S s = make(); k<<<s.a, 1>>>();',
    [7],
    'struct S { int a, b, c[6]; }; void init(S* s) { s->a = 7; } S make() { S s; init(&s); return s; }',
  ],
  ['auto t = std::make_unique<Wide>(); t->run();', [5], virtuals],
  ['std::unique_ptr<Task> t = std::make_unique<Wide>(); t->run();', [5], virtuals],
  // One of two objects with virtual functions, and conversions to their classes.
  ['Task* t = parameter ? (Task*)new Wide : new Task; t->run();', [1, 5], virtuals],
  ['Task* t = parameter ? (Task*)new Wide : new Task; k<<<t->size(), 1>>>();', [3, 4], virtuals],
  [
    'Wide w; Task* t = &w; if (auto* x = dynamic_cast<Wide*>(t)) k<<<x->n, 1>>>(); if (auto* x = dynamic_cast<Tall*>(t)) k<<<9, 1>>>();',
    [5],
    virtuals,
  ],
  [
    'Both both; B* b = &both; k<<<b->size(), 1>>>();',
    [7],
    'struct A { int n = 2; virtual int more() { return 1; } }; struct B { virtual int size() { return 3; } }; struct Both : A, B { int size() override { return n + 5; } };',
  ],
  [
    'std::vector<std::unique_ptr<Task>> all; all.push_back(std::make_unique<Wide>()); all.emplace_back(new Task); for (auto& t : all) t->run();',
    [1, 5],
    virtuals,
  ],
  ['std::vector<std::shared_ptr<int>> v; v.push_back(std::make_shared<int>(5)); v.push_back(v[0]); *v[1] = 6; k<<<*v[0], 1>>>();', [6]],
  // Trees of the library, in their order.
  [
    'std::map<int, int> m; m[3] = 4; m[5] = parameter; m[1] = 2; m[3] = 9; for (auto& e : m) k<<<e.first, 1>>>(); k<<<m[3], 1>>>();',
    [1, 3, 5, 9],
  ],
  ['std::set<int> s = {7, 2, 9}; k<<<*s.begin() + *s.rbegin(), 1>>>(); if (s.count(8)) k<<<8, 1>>>();', [11]],
  [
    'std::map<int, int> m; for (int i = 9; i > 0; i--) m[i * 7 % 10] = i; int n = 0; for (auto it = m.rbegin(); it != m.rend(); ++it) n = n * 10 % 999 + it->second; k<<<n, 1>>>();',
    [558],
  ],
  // An object that is made on one of two paths only.
  ['int* p = nullptr; if (parameter) { p = new int; *p = 6; } if (parameter) k<<<*p, 1>>>();', [6]],
  // The variable is a number, so that no code that is not followed changes it.
  [
    'int n = 3; Less o; o < o; if (n < 4) k<<<n, 1>>>();',
    [3],
    'struct Less { int v; bool operator<(const Less &x) const { return v < x.v; } };',
  ],
  // A negative difference is a large unsigned number.
  ['if (parameter > 0) k<<<(long)(0u - parameter) < 1 ? 7 : 9, 1>>>();', [7, 9]],
  ['if (parameter > 0) k<<<(0u - parameter) * 0.5 < 1 ? 7 : 9, 1>>>();', [7, 9]],
  // Texts, in their object and elsewhere.
  ['std::string s = "abc"; k<<<s.size(), 1>>>();', [3]],
  ['std::string s("a text that an object has no room for"); k<<<s.length(), 1>>>();', [37]],
  ['std::string s = "abc"; k<<<s[2] - 96, 1>>>();', [3]],
  ['std::string s = "abc"; s += "de"; s.push_back(s[0]); k<<<s.size(), 1>>>();', [6]],
  ['std::string s = "abc", t = s; t += "d"; k<<<10 * t.size() + s.size(), 1>>>();', [43]],
  ['std::string s = "abc", t = std::move(s); k<<<t.size() + s.size(), 1>>>();', [3]],
  ['std::string s; k<<<s.empty() ? 2 : 1, 1>>>();', [2]],
  ['std::string s = "abc"; s.clear(); k<<<s.size() + 1, 1>>>();', [1]],
  ['S s{"abc", 3}; s.name += text; k<<<s.n, 1>>>();', [3], `struct S { std::string name; int n; }; ${anyText}`],
  [
    'level = 4; std::string s(text); s.append(text); k<<<level, 1>>>();',
    [4],
    `static int level = 3; int *where() { return &level; } ${anyText}`,
  ],
  ['std::string s = "abc"; const char *q = s.c_str(); s.pop_back(); char a = q[0]; s[0] = 7; if (q[0] != a) k<<<5, 1>>>();', [5]],
  ['std::string s = "abc"; auto &r = s.replace(0, 1, "zz"); auto a = s.size(); r.append("x"); if (s.size() != a) k<<<5, 1>>>();', [5]],
  ['std::string s(text); std::string_view v = s; int a = v[0]; s = "zzzz"; int b = v[0]; if (a != b) k<<<5, 1>>>();', [5], anyText],
  ['std::string s = "abc"; try { s.resize(parameter); } catch (...) {} k<<<s.size() == 3 ? 50 : 60, 1>>>();', [50, 60]],
  ['k<<<t[0][3], 1>>>();', [99], 'static const char *t[] = {"ab\\0cd"};'],
  ['k<<<t[0][1], 1>>>();', [98], 'static const wchar_t *t[] = {L"abc"};'],
  ['const char *p = "four"; p++; k<<<strlen(p), 1>>>();', [3]],
  ['int n = 3; cudaGraphicsSubResourceGetMappedArray(&a, r, n, 0); k<<<n, 1>>>();', [3], 'cudaArray_t a; cudaGraphicsResource_t r;'],
];

const later = 'void later(std::function<void()> f);';

/** Programs whose first grids the text decides, although the reader does not find all of them. */
const open: readonly (readonly [body: string, possible: readonly number[], before?: string])[] = [
  // Products of `double` are not rounded: this one is less than 1.
  ['int x = 49; k<<<(int)(x * (1.0 / 49)) + 1, 1>>>();', [1]],
  // A function that unknown code calls is read without the object that it was called on.
  ['int n = 3; auto f = [&] { k<<<n, 1>>>(); }; n = 4; later(f);', [4], later],
  ['int n = 3; auto f = [=] { k<<<n, 1>>>(); }; n = 4; later(f);', [3], later],
  // Values that a loop sets in some iterations are joined without the values that they had.
  ['int n = 1; for (int i = 0; i < parameter; i++) { if (i == 1) n = 7; } k<<<n, 1>>>();', [1, 7]],
  ['int a[2] = {3, 4}; for (int i = 0; i < parameter; i++) a[i] = 7; k<<<a[1], 1>>>();', [4, 7]],
  ['int i = 0; while (true) { if (i == parameter) break; if (++i == 5) break; } k<<<i, 1>>>();', [0, 1, 2, 3, 4, 5]],
  ['int i; for (i = 0; i < 8; i++) if (i == parameter) break; k<<<i, 1>>>();', [0, 1, 2, 3, 4, 5, 6, 7, 8]],
];

/** Launches on paths that begin elsewhere: in functions that unknown code calls, and in handlers. */
const programs: readonly (readonly [text: string, expected: readonly (number | null)[]])[] = [
  ['void start(void (*f)(int)); static void wrap(int n) { k<<<n, 1>>>(); } int begin() { wrap(4); start(wrap); return 0; }', [null, 4]],
  [
    'static void wrap(int n) { k<<<n, 1>>>(); } struct T { void (*f)(int); }; int begin() { T t = {wrap}; wrap(4); t.f(8); return 0; }',
    [4, 8],
  ],
  ['struct D { void go(int n) { k<<<n, 1>>>(); } }; D *make(); int begin() { D d; d.go(4); auto e = make(); e->go(8); return 0; }', [4, 8]],
  [
    'static void wrap(int n) { k<<<n, 1>>>(); if (n < 50000000) wrap(n * 2 + 1); } int begin() { wrap(4); return 0; }',
    [null, 4, 9, 19, 39, 79, 159],
  ],
  ['void after(std::function<void(int)> f); int begin() { auto f = [](int n) { k<<<n, 1>>>(); }; f(7); after(f); return 0; }', [null, 7]],
  ['int begin(int c, char** v) { try { work(); } catch (...) { int n = c; k<<<n, 1>>>(); } k<<<4, 1>>>(); return 0; }', [null, 4]],
  ['int begin() { struct L { static void go(int n) { k<<<n, 1>>>(); } }; L::go(4); k<<<9, 1>>>(); return 0; }', [4, 9]],
  // `b->go(7)` may be of any derived class.
  [
    'struct B { virtual void go(int n) {} }; struct D : B { void go(int n) { k<<<n, 1>>>(); } }; B* get(); int begin() { B* b = get(); b->go(7); D d; d.go(8); return 0; }',
    [null, 8],
  ],
  // A handler that does not come back launches through a table only.
  [
    'struct B { virtual void go() {} }; struct D : B { int n = 9; void go() override { k<<<n, 1>>>(); } }; static void all(B* b) { b->go(); } int begin() { D d; try { work(); } catch (...) { all(&d); exit(1); } k<<<4, 1>>>(); return 0; }',
    [null, 4, 9],
  ],
  // What runs before `main` runs.
  ['static int n = more(); int begin() { k<<<n, 1>>>(); return 0; }', [null]],
  ['static int n = 3; static int m = (n = 6, 8); int begin() { k<<<n + m, 1>>>(); return 0; }', [14]],
  // Unknown code may call a function that changes `n`; no pointer leads to it.
  [
    'int* get(); static int n = 3; void set(int m) { n = m; } int begin() { int* p = get(); k<<<n, 1>>>(); n = 4; *p = 8; k<<<n, 1>>>(); return 0; }',
    [null, 4],
  ],
  // What the closures hold is not followed: 1 and 2.
  [`${later} static void wrap(int n) { later([=] { k<<<n, 1>>>(); }); } int begin() { wrap(1); wrap(2); return 0; }`, [null]],
];

test('first extents of launches', { skip: withoutNvcc }, async (context) => {
  const bodies = [
    ...undecided,
    ...decided.map(([body, , before]) => [body, before]),
    ...open.map(([body, , before]) => [body, before]),
  ] as const;
  const snippets = [...bodies.map(([body, before]) => snippetOf(body!, before)), ...programs.map(([text]) => ({ text }))];
  const all = (
    await readSnippets(context, snippets, [
      'algorithm',
      'fstream',
      'functional',
      'iostream',
      'map',
      'memory',
      'new',
      'set',
      'string',
      'string_view',
      'cstring',
      'cerrno',
      'thread',
      'tuple',
      'vector',
    ])
  ).map(extentsOf);
  const shown = (at: number): string => `${snippets[at]!.text}: ${all[at]!.map(String).join()}`;
  const take = <One>(list: readonly One[], from: number, isRight: (one: One, found: readonly (number | null)[]) => boolean): string[] =>
    list.flatMap((one, at) => (isRight(one, all[from + at]!) ? [] : [shown(from + at)]));
  const starts = [0, undecided.length, undecided.length + decided.length, bodies.length] as const;
  await context.test('extents that only the run decides are not constant', () => {
    assert.deepEqual(
      take(undecided, starts[0], (_, found) => found.includes(null)),
      [],
    );
  });
  await context.test('extents that the text decides are found', () => {
    assert.deepEqual(
      take(decided, starts[1], ([, expected], found) => isDeepStrictEqual(found, expected)),
      [],
    );
  });
  await context.test('extents that are not found are left open', () => {
    assert.deepEqual(
      take(open, starts[2], (_, found) => found.includes(null)),
      [],
    );
  });
  await context.test('launches on all other paths are found', () => {
    assert.deepEqual(
      take(programs, starts[3], ([, expected], found) => isDeepStrictEqual(found, expected)),
      [],
    );
  });
});

/** Text that needs more steps than a function is given. */
const long = `static int calls;
template <int N> int twice(int c) { return twice<N - 1>(c) + twice<N - 1>(c + 1); }
template <> int twice<0>(int c) { calls++; return c; }
`;
/** The same in functions that may launch. */
const longLaunching = long.replace('calls++;', 'if (c == 50000000) k<<<2, 1>>>();');

test('launches after the work limit are found where they begin, or the function is reported', { skip: withoutNvcc }, async (context) => {
  const { launches, cutShort } = await readUnit(context, [
    {
      text: `${longLaunching}static void wrap(int n) { k<<<n, 1>>>(); } int begin(int c) { wrap(4); c = twice<24>(1); wrap(8); return c; }`,
    },
    { text: `${longLaunching}int begin(int c) { k<<<4, 1>>>(); c = twice<24>(1); k<<<8, 1>>>(); return c; }` },
    { text: `${long}int begin(int c) { k<<<4, 1>>>(); c = twice<24>(c); k<<<8, 1>>>(); return c; }` },
  ]);
  assert.deepEqual(launches.map(extentsOf), [
    [null, 2, 4],
    [null, 2, 4],
    [4, 8],
  ]);
  assert.deepEqual(new Set(cutShort.map((one) => /5s(\d{4})/.exec(one)?.[1])), new Set(['1000', '1001']));
});

test('functions of a program that is too large to follow are read with any arguments', { skip: withoutNvcc }, async (context) => {
  const text = `${longLaunching}static void sized(int n, int b) { k<<<n, b>>>(); } static void wrap(int n) { sized(n, 64); } int begin(int c) { c = twice<24>(c); wrap(c); return c; }`;
  const { launches, cutShort } = await readUnit(
    context,
    Array.from({ length: 6 }, () => ({ text })),
  );
  assert.ok(cutShort.length >= 6);
  for (const found of launches) {
    const blocks = found.flatMap(({ sites }) => sites.map(({ block }) => block?.[0] ?? null));
    assert.deepEqual(new Set(blocks), new Set([1, 64]));
  }
});

const owned = 'static int size = 2; extern int *anywhere, *where; static void larger(int &n) { n++; }';

/** Programs of one unit, in which nothing runs before them. */
const ownedPrograms: readonly (readonly [text: string, expected: readonly (number | null)[]])[] = [
  [`${owned} void begin() { larger(size); *anywhere = 9; k<<<size, 1>>>(); }`, [3]],
  [`${owned} void work(); void begin() { larger(size); work(); *anywhere = 9; k<<<size, 1>>>(); }`, [null]],
  [`${owned} void begin() { larger(size); where = &size; *anywhere = 9; k<<<size, 1>>>(); }`, [null]],
  [
    `${owned} static char b[4] = {1, 2, 3, 0}; static char *use(char *p) { return p; } void begin() { char *p = strchr(use(b), 2); *p = 9; k<<<b[1], 1>>>(); }`,
    [null],
  ],
  [
    `${owned} static char b[4] = {51, 32, 2, 0}; static char *use(char *p) { return p; } void begin() { char *e; strtol(use(b), &e, 10); *e = 5; k<<<b[1], 1>>>(); }`,
    [null],
  ],
  [
    `${owned} struct Box { int *p; }; void begin() { Box b{&size}, c; cudaMemcpy(&c, &b, 8, cudaMemcpyHostToHost); *c.p = 9; k<<<size, 1>>>(); }`,
    [null],
  ],
  [
    `${owned} void begin() { int *p = &size, *q; for (int i = 0; i < 8; i++) ((char *)&q)[i] = ((char *)&p)[i]; *q = 9; k<<<size, 1>>>(); }`,
    [null],
  ],
  [
    `${owned} static void set(int &m) { m = 7; } static void call(void *) { set(size); } void begin() { cudaLaunchHostFunc(0, call, 0); cudaDeviceSynchronize(); k<<<size, 1>>>(); }`,
    [null],
  ],
  [`${owned} int *table[] = {&size}; void begin() { larger(size); *anywhere = 9; k<<<size, 1>>>(); }`, [null]],
];

test(
  'unknown pointers lead to a variable of a unit after its address left, or unknown code ran',
  { skip: withoutNvcc },
  async (context) => {
    const found = await readSnippets(
      context,
      ownedPrograms.map(([text]) => ({ text })),
      ['cstdlib', 'cstring'],
    );
    assert.deepEqual(
      found.map(extentsOf),
      ownedPrograms.map(([, expected]) => expected),
    );
  },
);
