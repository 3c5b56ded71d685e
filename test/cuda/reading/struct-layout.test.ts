import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { declaredTypes, structLayout, type StructLayout } from '../../../src/cuda/reading/struct-layout.ts';
import { readSource } from '../../../src/cuda/syntax/syntax.ts';
import { findCompiler } from '../../../src/toolchain/compiler.ts';

function layout(name: string, ...texts: string[]): StructLayout | undefined {
  return structLayout(
    name,
    texts.map((text, index) => declaredTypes(readSource(text, `${index}.h`))),
  );
}

/** `name@offset:type`, in order. */
function fields(name: string, ...texts: string[]): string | undefined {
  return layout(name, ...texts)
    ?.fields.map((field) => `${field.name}@${field.offset}:${field.type}`)
    .join(' ');
}

/** Structs that are understood; each is compared with the compiler. */
const understood = `
struct View { float* data; int width; int height; };
struct alignas(16) Wide { char tag; double value; short tail; };
struct __align__(32) Wider { unsigned char c, d; long long n; };
struct Pieces { bool on; char c; float3 origin; int4 box; double2 pair; uint64_t big; std::uint16_t small; size_t n; dim3 grid; };
struct Arrays { char name[3]; int sizes[2][3]; const float *__restrict__ rows[4]; int after; };
struct Outer { char first; View view; Arrays arrays; Wide wide; char last; };
class Methods {
public:
    __host__ __device__ Methods(float* d, int w) : data(d), width{w} {}
    __device__ float& operator()(int i) const { return data[i]; }
    __device__ float at(int i = 0) const;
    static constexpr int lanes = 32;
    constexpr static int more[2] = {1, 2};
    enum Mode { fast, slow };
    using value_type = float;
    template <int N> __device__ int get() const { struct Local { int x; }; return N; }
    struct Inner { short a; int b; };
private:
    float* data = nullptr; // with a comment; and a semicolon
    int width = 3, *height{nullptr}, depth;
    Inner inner;
    struct Methods* next;
};
typedef struct { double x; float y; } Pair;
typedef struct Tag { char c; Pair pair; } Tagged;
using index_t = unsigned int;
typedef long long wide_t;
struct Aliased { index_t n; char c; wide_t m; };
namespace a { namespace b { struct Deep { char c; long n; }; } struct Deep2 { b::Deep deep; int n; }; }
namespace { struct Hidden { char c; int n; }; }
struct Empty {};
struct Aligned { char c; alignas(16) int n; char d; };
`;

const names = 'View Wide Wider Pieces Arrays Outer Methods Pair Tagged Aliased a::b::Deep a::Deep2 Hidden Empty Aligned'.split(' ');
const spelled = (name: string): string => (name === 'Hidden' ? '(anonymous namespace)::Hidden' : name);

test('members are at their default alignment', () => {
  assert.equal(fields('View', understood), 'data@0:float * width@8:int height@12:int');
  assert.deepEqual([layout('View', understood)?.bytes, layout('View', understood)?.alignment], [16, 8]);
  assert.equal(fields('Wide', understood), 'tag@0:char value@8:double tail@16:short');
  assert.deepEqual([layout('Wide', understood)?.bytes, layout('Wide', understood)?.alignment], [32, 16]);
  assert.equal(fields('Aligned', understood), 'c@0:char n@16:int d@20:char');
  assert.match(fields('Arrays', understood) ?? '', /^name\[0\]@0:char .* sizes\[1\]\[2\]@24:int rows\[0\]@32:.* after@64:int$/);
  assert.equal(fields('S', 'struct S { int many[257]; int n; };'), 'n@1028:int', 'elements of large arrays have no names');
  assert.match(fields('Outer', understood) ?? '', /^first@0:char view\.data@8:float \* view\.width@16:int .* last@128/);
  assert.equal(
    fields('Methods', understood),
    'data@0:float * width@8:int height@16:int * depth@24:int inner.a@28:short inner.b@32:int next@40:Methods *',
  );
  assert.equal(fields('Aliased', understood), 'n@0:unsigned c@4:char m@8:long long');
  assert.equal(fields('Tagged', understood), 'c@0:char pair.x@8:double pair.y@16:float');
  assert.equal(fields('Tag', understood), fields('Tagged', understood));
  assert.equal(fields('a::Deep2', understood), 'deep.c@0:char deep.n@8:long n@16:int');
  assert.equal(layout('Deep2', understood), undefined, 'another name');
});

test('a struct in another file is found, one that has two definitions is not', () => {
  const use = 'struct Use { Base base; int n; };';
  assert.equal(fields('Use', use, 'struct Base { char c; };'), 'base.c@0:char n@4:int');
  assert.equal(layout('Use', use), undefined);
  assert.equal(layout('Use', use, 'struct Base { char c; };', 'struct Base { long c; };'), undefined);
  assert.equal(layout('Use', use, 'namespace a { struct Base { char c; }; }'), undefined);
  assert.equal(layout('S', 'using T = int; struct S { T n; };', 'typedef long T;'), undefined);
  assert.equal(fields('S', 'using T = int; struct S { T n; };', 'typedef int T;'), 'n@0:int');
});

test('unsupported types have no layout', () => {
  for (const body of [
    'int a : 3; int b;',
    'virtual ~S(); int n;',
    'virtual int f() { return 1; } int n;',
    'int& r;',
    'union { int a; float b; }; int n;',
    'union U { int a; float b; }; U u;',
    'struct { int a; } s;',
    'enum E { a, b } e;',
    'enum E e;',
    'Unknown u;',
    'Template<int> t;',
    'int n[N];',
    'int n[0];',
    'int n[];',
    'void (*f)(int);',
    'float (*p)[4];',
    'FIELD(int, n);',
    'MACRO n;',
    'int MACRO;',
    '__attribute__((aligned(8))) int n;',
    'int n __attribute__((aligned(8)));',
    '[[no_unique_address]] int n;',
    'alignas(double) int n;',
    'alignas(3) int n;',
    'decltype(1) n;',
    'long double n;',
    'S s;',
    '\n#ifdef X\nint a;\n#endif\nint n;',
    'int n\n#ifdef X\n[2]\n#endif\n;',
    '\n#pragma pack(1)\nint n;',
    'int n',
  ]) {
    assert.equal(layout('S', `#define MACRO int\nstruct S { ${body} };`), undefined, body);
  }
  for (const text of [
    'struct S : B { int n; };',
    'struct B {}; struct S : public B { int n; };',
    'template <typename T> struct S { int n; };',
    'template <> struct S<int> { int n; };',
    'union S { int n; };',
    'struct S { int n; } __attribute__((packed));',
    'struct __attribute__((packed)) S { char c; int n; };',
    'struct PACKED S { char c; int n; };',
    'typedef struct { char c; int n; } PACKED S;',
    'struct S { char c; int n; } PACKED;',
    '#pragma pack(push, 1)\nstruct S { char c; int n; };\n#pragma pack(pop)',
    '_Pragma("pack(1)") struct S { char c; int n; };',
    '#if X\nstruct S { int n; };\n#else\nstruct S { long n; };\n#endif',
    '#if X\nstruct S {\n#else\nstruct T {\n#endif\nint n; };',
    'struct S;',
    'void f() { struct S { int n; }; }',
    'typedef char int8_t[2]; struct S { int8_t n; };',
    'struct half { int n[3]; }; namespace other { struct half { int n; }; } struct S { half h; };',
    'struct S { int n; }; {',
    'struct S { int n;',
  ]) {
    assert.equal(layout('S', text), undefined, text);
  }
});

test('any text is parsed without an exception', () => {
  for (let cut = 0; cut < understood.length; cut += 7) {
    layout('Outer', understood.slice(0, cut));
    layout('Outer', understood.slice(cut));
  }
  for (const piece of ['struct a{', 'namespace a{', 'typedef a ', 'using ', 'template<', 'struct a:', 'struct S{a<'])
    assert.equal(layout('S', piece.repeat(20_000)), undefined, piece);
});

const found = await findCompiler({ env: process.env });
const nvcc = 'compiler' in found ? found.compiler.path : undefined;

test('the compiler has the same layouts', { skip: nvcc ? false : 'no nvcc' }, () => {
  const asserted = names.flatMap((name) => {
    const own = layout(spelled(name), understood);
    assert.ok(own, name);
    return [
      `static_assert(sizeof(${name}) == ${own.bytes}, "size of ${name}");`,
      `static_assert(alignof(${name}) == ${own.alignment}, "alignment of ${name}");`,
      ...own.fields.map((field) => `static_assert(offsetof(${name}, ${field.name}) == ${field.offset}, "${name}.${field.name}");`),
    ];
  });
  const builtins =
    'bool char short int long float double half __half2 char2 char4 uchar4 short2 ushort4 int2 uint4 long2 longlong2 float2 float3 float4 double2 int3 dim3 uint8_t int64_t size_t'.split(
      ' ',
    );
  for (const type of builtins) {
    const own = layout('S', `struct S { char c; ${type} member; };`);
    assert.ok(own, type);
    asserted.push(`struct S_${type} { char c; ${type} member; };`);
    asserted.push(`static_assert(offsetof(S_${type}, member) == ${own.fields[1]?.offset ?? 0}, "${type}");`);
    asserted.push(`static_assert(sizeof(S_${type}) == ${own.bytes}, "${type}");`);
  }
  const folder = mkdtempSync(join(tmpdir(), 'selvage-layout-'));
  try {
    const file = join(folder, 'layout.cu');
    const open = understood.replaceAll('private:', 'public:');
    const includes = '#include <cstddef>\n#include <cstdint>\n#include <cuda_fp16.h>\n';
    writeFileSync(file, `${includes}${open}\n${asserted.join('\n')}\n`);
    execFileSync(nvcc ?? '', ['-ptx', '-arch=sm_80', '-w', '-o', join(folder, 'layout.ptx'), file], {
      encoding: 'utf8',
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
