/** Layouts and variables that the debugging information of real units has, against what the compiler itself asserts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { type DebugTypes, type HostRecord, type HostType, readDebugTypes } from '../../src/gimple/debug-types.ts';
import { sweep } from '../run/sweep.ts';
import { assemblyOf, compilers } from './assembly.ts';

const program = `#include <cstddef>
#include <utility>
#include <vector>
struct Elsewhere { virtual void key(); virtual ~Elsewhere(); int a; };
struct Derived : Elsewhere { char own; Derived(int e) : own(e) { int local = e; } Derived(const Derived&); ~Derived() { int last = 1; } int get(int by) const { return own + by; } };
struct Root { int r; virtual void f(); };
struct Virtual : virtual Root { int d; };
struct Empty {};
struct Two : Empty, std::pair<char, double> { long last; };
enum class Color : unsigned char { red };
enum Sign { minus = -1, plus };
struct Node {
  struct Inner;
  Node* next; Inner* inner; short table[2][3];
  static int shared; static const int constant = 4;
  union { int i; float f; };
  struct { char x; } named;
  unsigned low : 3; int high : 7; int whole;
  long double wide; int Node::* data; int (Node::* code)(int); decltype(nullptr) null; void* any; void (*call)(int);
  Color color; Sign sign; bool flag; char16_t utf; const volatile float& ref; int&& moved; _Complex float complex;
};
struct Node::Inner { double value; Node* back; int open[0]; };
struct Plain { int a; char b; short c; long d; };
static_assert(offsetof(Plain, b) == 4 && offsetof(Plain, c) == 6 && offsetof(Plain, d) == 8 && sizeof(Plain) == 16);
static_assert(sizeof(Elsewhere) == 16 && sizeof(Derived) == 16 && sizeof(Virtual) == 32 && sizeof(Two) == 24);
static_assert(offsetof(Node, table) == 16 && offsetof(Node, i) == 28 && offsetof(Node, named) == 32 && offsetof(Node, whole) == 36);
static_assert(offsetof(Node, wide) == 48 && offsetof(Node, data) == 64 && offsetof(Node, code) == 72 && offsetof(Node, null) == 88);
static_assert(offsetof(Node, any) == 96 && offsetof(Node, call) == 104 && offsetof(Node, color) == 112 && offsetof(Node, sign) == 116);
static_assert(offsetof(Node, flag) == 120 && offsetof(Node, utf) == 122 && sizeof(Node) == 160);
typedef struct { int q; } Unnamed;
template <class T> struct Box { T value; template <class U> Box(U u) : value(u) { T inside = value; } };
template <class T> using Boxed = Box<T>;
namespace one { typedef float real; struct Same { char c; }; }
namespace two { typedef double real; struct Same { long l; }; }
namespace three { typedef const one::real real; }
static Unnamed unnamed = {3};
int Node::shared = 3;
inline long inlined = 6;
thread_local short local = 4;
extern int external; extern "C" char plain; namespace one { extern float next; static int bend(Same alpha) { return alpha.c; } }
struct Open; Open* incomplete(two::Same s) { extern Open* hidden; return hidden; }
__attribute__((always_inline)) inline int always(int beta) { int gamma = beta; return gamma; }
extern "C" int unmangled(int n) {
  int a[n]; int fixed[300]; a[0] = n; fixed[0] = 1;
  { static unsigned counter = 7; float n = counter; fixed[1] = n; }
  { double n = fixed[1]; return a[0] + n + fixed[0] + external + plain + one::next; }
}
extern "C" int renamed(int) __attribute__((alias("unmangled")));
struct Later { int C4Ev; };
int C1E(int first) { return first; }
int C4E(int second) { return second; }
Derived make(Derived taken) { Derived made(3); made.get(1); return made; }
int run(Elsewhere& k, Virtual&& v, Node* n) {
  static const char name[] = "hello";
  Box<double> box(3); Boxed<long> other(2L); two::real r = 1; one::real s = 2; Two two; three::real t = 1; Plain p{};
  auto [key, value] = std::pair<int, char>{1, 'c'};
  std::vector<int> ints(3); std::vector<Plain> plains(2);
  auto lambda = [&, key = key](int x) { return x + n->whole + v.d + key; };
  return lambda(3) + always(one::bend({})) + (int)name[value] + (int)(r + s + two.last + inlined + local + unnamed.q + n->inner->value + box.value + other.value) + k.a + ints.size() + plains.size() + t + p.a;
}
`;

/** A type in short: `4` and `u4` are integers of 4 bytes, `f4` is floating; records by name, at `depth` 1 with members. */
function text(type: HostType, depth = 0): string {
  switch (type.kind) {
    case 'integer':
      return `${type.isSigned ? '' : 'u'}${type.bytes}`;
    case 'float':
      return `f${type.bytes}`;
    case 'pointer':
      return `*${text(type.to)}`;
    case 'array':
      return `[${type.count} ${text(type.element)}]`;
    case 'opaque':
      return `?${type.name}:${type.bytes}`;
    case 'record':
      return depth === 0 && type.name !== '' ? type.name : layoutOf(type);
  }
}

function layoutOf({ bytes, isUnion, isPolymorphic, hasUnknownMembers, members }: HostRecord): string {
  const flags = `${isUnion ? ' union' : ''}${isPolymorphic ? ' virtual' : ''}${hasUnknownMembers ? ' partly' : ''}`;
  return `{${bytes}${flags}: ${members.map((one) => `${one.isBase ? 'base' : one.name}@${one.offset} ${text(one.type)}`).join(', ')}}`;
}

function layoutsOf(types: DebugTypes, name: string): string[] {
  return types.recordsNamed(name).map((type) => layoutOf(type));
}

function variablesOf(types: DebugTypes, symbol: string): string[] {
  return types.variablesOf(symbol).map(({ name, type, isIndirect }) => `${name}${isIndirect ? '&' : ''} ${text(type)}`);
}

for (const compiler of compilers)
  for (const version of ['-gdwarf-5', '-gdwarf-4']) {
    test(`layouts of records by ${compiler} ${version}`, (context) => {
      const types = readDebugTypes(assemblyOf(context, compiler, program, version));
      const layouts = (name: string): string[] => layoutsOf(types, name);
      assert.deepEqual(layouts('Plain'), ['{16: a@0 4, b@4 1, c@6 2, d@8 8}']);
      assert.deepEqual(layouts('Elsewhere'), ['{16 virtual: _vptr.Elsewhere@0 **?function:null, a@8 4}']);
      assert.deepEqual(layouts('Derived'), ['{16 virtual: base@0 Elsewhere, own@12 1}']);
      assert.deepEqual(layouts('Virtual'), ['{32 virtual partly: _vptr.Virtual@0 **?function:null, d@8 4}']);
      assert.deepEqual(layouts('Two'), ['{24: base@0 Empty, base@0 pair<char, double>, last@16 8}']);
      assert.deepEqual(layouts('Inner'), ['{16: value@0 f8, back@8 *Node, open@16 [0 4]}']);
      assert.deepEqual(layouts('Unnamed'), ['{4: q@0 4}']);
      assert.deepEqual(layouts('Box').sort(), ['{8: value@0 8}', '{8: value@0 f8}']);
      assert.deepEqual(layouts('Same').sort(), ['{1: c@0 1}', '{8: l@0 8}']);
      assert.deepEqual(layouts('Open'), []);
      assert.deepEqual(layouts('Box<double>'), []);
      assert.deepEqual(
        types.recordsNamed('vector').map(({ name }) => name),
        ['vector<int, std::allocator<int> >', 'vector<Plain, std::allocator<Plain> >'],
      );
      const bits =
        version === '-gdwarf-5' ? ['low@33 ?bit-field:1', 'high@33 ?bit-field:2'] : ['low@32 ?bit-field:4', 'high@32 ?bit-field:4'];
      const members = [
        'next@0 *Node',
        'inner@8 *Inner',
        'table@16 [2 [3 2]]',
        '@28 {4 union: i@0 4, f@0 f4}',
        'named@32 {1: x@0 1}',
        ...bits,
        'whole@36 4',
        'wide@48 f16',
        'data@64 ?pointer to member:8',
        'code@72 ?pointer to member:16',
        'null@88 ?decltype(nullptr):8',
        'any@96 *?void:null',
        'call@104 *?function:null',
        'color@112 u1',
        'sign@116 4',
        'flag@120 u1',
        'utf@122 u2',
        'ref@128 *f4',
        'moved@136 *4',
        'complex@144 ?complex float:8',
      ];
      assert.deepEqual(layouts('Node'), [`{160: ${members.join(', ')}}`]);
    });

    test(`types of variables by ${compiler} ${version}`, (context) => {
      const types = readDebugTypes(assemblyOf(context, compiler, program, version));
      const typeOf = (symbol: string): string | null => {
        const type = types.typeOfVariable(symbol);
        return type && text(type);
      };
      const expected: Readonly<Record<string, string | null>> = {
        _ZL7unnamed: 'Unnamed',
        _ZN4Node6sharedE: '4',
        inlined: '8',
        local: '2',
        external: '4',
        plain: '1',
        _ZN3one4nextE: 'f4',
        unmangledE7counter: null,
        _ZZ9unmangledE7counter: 'u4',
        _ZZ3runR9ElsewhereO7VirtualP4NodeE4name: '[6 1]',
        hidden: '*?Open:null',
        fixed: null,
        _ZL5fixed: null,
        n: null,
      };
      for (const [symbol, type] of Object.entries(expected)) assert.equal(typeOf(symbol), type, symbol);
      assert.deepEqual(
        types
          .typedefsNamed('real')
          .map((type) => text(type))
          .sort(),
        ['f4', 'f8'],
      );
      assert.deepEqual(
        types.typedefsNamed('Unnamed').map((type) => text(type, 1)),
        ['{4: q@0 4}'],
      );
      assert.deepEqual(types.typedefsNamed('Plain'), []);
    });

    test(`variables of functions by ${compiler} ${version}`, (context) => {
      const types = readDebugTypes(assemblyOf(context, compiler, program, version));
      const expected: Readonly<Record<string, readonly string[]>> = {
        unmangled: ['n 4', 'a& [null 4]', 'fixed [300 4]', 'n f4', 'n f8'],
        renamed: ['n 4', 'a& [null 4]', 'fixed [300 4]', 'n f4', 'n f8'],
        _Z10incompleteN3two4SameE: ['s Same'],
        _ZN3oneL4bendENS_4SameE: ['alpha Same'],
        _Z6alwaysi: ['beta 4', 'gamma 4'],
        _ZNK7Derived3getEi: ['this *Derived', 'by 4'],
        _Z4make7Derived: ['taken& Derived', 'made& Derived'],
        _Z3C1Ei: ['first 4'],
        _Z3C4Ei: ['second 4'],
        _Z3C2Ei: [],
        _Z3C5Ei: [],
        missing: [],
      };
      for (const [symbol, variables] of Object.entries(expected)) assert.deepEqual(variablesOf(types, symbol), variables, symbol);
      for (const one of ['C1', 'C2', 'C4'])
        assert.deepEqual(variablesOf(types, `_ZN7Derived${one}Ei`), ['this *Derived', 'e 4', 'local 4'], one);
      for (const one of ['D0', 'D1', 'D2', 'D4']) assert.ok(variablesOf(types, `_ZN7Derived${one}Ev`).includes('this *Derived'), one);
      assert.ok(variablesOf(types, '_ZN7DerivedD2Ev').includes('last 4'));
      for (const one of ['C1', 'C2', 'C4'])
        assert.deepEqual(variablesOf(types, `_ZN3BoxIdE${one}IiEET_`), ['this *Box<double>', 'u 4', 'inside f8'], one);
      const run = '_Z3runR9ElsewhereO7VirtualP4Node';
      const found = variablesOf(types, run);
      assert.deepEqual(found.slice(0, 5), ['k *Elsewhere', 'v *Virtual', 'n *Node', 'box Box<double>', 'other Box<long int>']);
      assert.ok(!found.some((one) => /^(?:name|hidden|counter|beta|gamma) /.test(one)), found.join());
      const lambda = types.variablesOf(run).find(({ name }) => name === 'lambda')!.type;
      assert.match(text(lambda), /^\{24: \w*key@0 4, \w*n@8 \*\*Node, \w*v@16 \*Virtual\}$/);
      const inside = variablesOf(types, '_ZZ3runR9ElsewhereO7VirtualP4NodeENKUliE_clEi');
      assert.match(inside.join(', '), /^__closure \*\{24: .*\}, x 4\b/);
    });
  }

test('types of recursive structures are identical, however they are reached', (context) => {
  const types = readDebugTypes(assemblyOf(context, compilers[0]!, program));
  const [node] = types.recordsNamed('Node');
  const [inner] = types.recordsNamed('Inner');
  const member = (record: HostRecord, name: string): HostType => record.members.find((one) => one.name === name)!.type;
  const target = (type: HostType): HostType | null => (type.kind === 'pointer' ? type.to : null);
  assert.equal(target(member(node!, 'next')), node);
  assert.equal(target(member(node!, 'inner')), inner);
  assert.equal(target(member(inner!, 'back')), node);
  const ids = [...types.recordsNamed('Box'), ...types.recordsNamed('Same'), node!, inner!].map(({ id }) => id);
  assert.equal(new Set(ids).size, 6);
});

test('a declaration has the type of its definition elsewhere', () => {
  const info = [
    '\t.section\t.debug_info,"",@progbits',
    '\t.uleb128 0x1\t# (DIE (0xc) DW_TAG_compile_unit)',
    '\t.uleb128 0x2\t# (DIE (0x10) DW_TAG_structure_type)',
    '\t.long\t.LASF1\t# DW_AT_name: "Inner"',
    '\t\t\t# DW_AT_declaration',
    '\t.uleb128 0x3\t# (DIE (0x20) DW_TAG_structure_type)',
    '\t.long\t0x10\t# DW_AT_specification',
    '\t.byte\t0x8\t# DW_AT_byte_size',
    '\t.uleb128 0x4\t# (DIE (0x30) DW_TAG_typedef)',
    '\t.ascii "Own\\0"\t# DW_AT_name',
    '\t.long\t0x10\t# DW_AT_type',
    '\t.byte\t0\t# end of children of DIE 0xc\n',
  ].join('\n');
  const types = readDebugTypes(info);
  const [inner] = types.recordsNamed('Inner');
  assert.equal(inner?.name, 'Inner');
  assert.deepEqual(types.typedefsNamed('Own'), [inner]);
});

test('a bound that names a variable is not a number', () => {
  const info = (bound: string): string =>
    [
      '\t.section\t.debug_info,"",@progbits',
      '\t.uleb128 0x1\t# (DIE (0xc) DW_TAG_compile_unit)',
      '\t.uleb128 0x2\t# (DIE (0x10) DW_TAG_variable)',
      '\t.long\t.LASF1\t# DW_AT_name: "x"',
      '\t\t\t# DW_AT_external',
      '\t.long\t0x20\t# DW_AT_type',
      '\t.uleb128 0x3\t# (DIE (0x20) DW_TAG_array_type)',
      '\t.long\t0x30\t# DW_AT_type',
      '\t.uleb128 0x4\t# (DIE (0x28) DW_TAG_subrange_type)',
      `${bound}\t# DW_AT_upper_bound`,
      '\t.byte\t0\t# end of children of DIE 0x20',
      '\t.uleb128 0x5\t# (DIE (0x30) DW_TAG_base_type)',
      '\t\t\t# DW_AT_byte_size (0x4)',
      '\t.byte\t0x5\t# DW_AT_encoding',
      '\t.byte\t0\t# end of children of DIE 0xc\n',
    ].join('\n');
  const typeOf = (bound: string): string => text(readDebugTypes(info(bound)).typeOfVariable('x')!);
  assert.equal(typeOf('\t.byte\t0xf'), '[16 4]');
  assert.equal(typeOf('\t.long\t0x11'), '[18 4]');
  assert.equal(typeOf('\t.long\t0x10'), '[null 4]');
  assert.equal(typeOf('\t.quad\t0xffffffffffffffff'), '[0 4]');
  assert.equal(typeOf('\t.sleb128 -1'), '[0 4]');
  assert.equal(typeOf('\t.long\t.LASF3'), '[null 4]');
});

test('no text makes the reader fail', (context) => {
  const lines = assemblyOf(context, compilers[0]!, program).split('\n');
  const start = lines.findIndex((line) => line.includes('.debug_info,'));
  const end = lines.findIndex((line) => line.includes('.debug_abbrev,'));
  const random = seededRandom(7);
  for (let round = 0; round < sweep(20, 500); round++) {
    const changed = lines.slice(0, end);
    for (let count = 0; count < 200; count++) {
      const at = start + 1 + random.below(changed.length - start - 1);
      const other = start + 1 + random.below(changed.length - start - 1);
      if (count % 3 === 0) changed.splice(at, 1);
      else if (count % 3 === 1) changed[at] = changed[other]!;
      else changed[at] = changed[at]!.slice(0, random.below(changed[at]!.length + 1));
    }
    const types = readDebugTypes(changed.join('\n'));
    for (const name of ['Node', 'Derived', 'vector', 'Box', 'pair']) for (const record of types.recordsNamed(name)) layoutOf(record);
    types.typedefsNamed('real');
    types.typeOfVariable('external');
    variablesOf(types, 'unmangled');
    variablesOf(types, '_ZN7DerivedC1Ei');
  }
  assert.deepEqual(layoutsOf(readDebugTypes(''), 'Node'), []);
});
