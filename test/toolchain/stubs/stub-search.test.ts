/** The search for stubs, with a compiler that answers as stated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import { findStubs, type PreprocessedStubs, type Stubs } from '../../../src/toolchain/stubs/stub-search.ts';

interface Answers {
  /** Headers that are missing, in the order in which they are included. */
  readonly missing: readonly string[];
  readonly own: string;
  readonly others?: string;
  readonly isTrusted?: boolean;
  /** Messages for a stub; null: the unit compiles. */
  readonly compile?: (text: string) => string | null;
}

async function searched({ missing, own, others = '', isTrusted = true, compile = () => null }: Answers) {
  const tried: Stubs[] = [];
  const unit: PreprocessedStubs = {
    own: `# 1 "a.cu"\n${own}`,
    others,
    definitions: new Map(),
    files: [{ path: 'a.cu', text: own, from: 1 }],
  };
  const found = await findStubs({
    preprocess: async ({ headers }) => {
      const next = missing.find((name) => !headers.includes(name));
      return next === undefined ? unit : { errors: `a.cu:1:10: fatal error: ${next}: No such file or directory`, calledMacros: [] };
    },
    compile: async (stubs) => {
      tried.push(stubs);
      return compile(stubs.text);
    },
    isOfProject: (header) => header === 'own.h',
    unset: new Set(),
    isTrusted,
    remembered: (_, __, find) => find(),
  });
  return { found, tried };
}

async function reasonOf(answers: Answers): Promise<string> {
  const { found } = await searched(answers);
  assert.ok(found && 'reason' in found, JSON.stringify(found));
  return found.reason;
}

test('without a missing header nothing is stubbed', async () => {
  assert.deepEqual(await searched({ missing: [], own: 'int a;' }), { found: null, tried: [] });
});

test('names are declared as the messages of the compiler name them, until the unit compiles', async () => {
  const { found, tried } = await searched({
    missing: ['lib.h', 'b/more.h'],
    own: 'void f() { lib_t h; lib_open(&h, LIB_A); h.run(1); ns::go<int>(h); }',
    compile: (text) => {
      const wanted = ['lib_t', 'lib_open', 'LIB_A'].find((name) => !new RegExp(`\\b${name}\\b`).test(text));
      return wanted === undefined ? null : `a.cu(1): error: identifier "${wanted}" is undefined\n`;
    },
  });
  assert.ok(found && 'text' in found);
  assert.deepEqual(found.headers, ['lib.h', 'b/more.h']);
  assert.equal(tried.length, 4);
  for (const line of [
    'struct lib_t : ::selvage_stub::opaque_value {',
    'extern ::selvage_stub::opaque_value LIB_A;',
    'extern ::selvage_stub::opaque_value lib_open;',
    'static opaque_value& run;',
    'namespace ns {',
    'template <class... T, class... A> ::selvage_stub::opaque_value go(A&&...);',
  ])
    assert.ok(found.text.includes(`${line}\n`), line);
  assert.equal(found.unreadLaunches, null);
  assert.ok(found.classes.includes('lib_t'));
});

test('while a type of the toolkit is missing, other undefined names are not taken from the messages', async () => {
  const { found } = await searched({
    missing: ['lib.h'],
    own: '__attribute__((global)) void k(float *a, int n) { a[n] = 0; }\nvoid f(half *b, int n) { lib_run(b, n); }',
    compile: (text) => {
      if (!text.includes('#include <cuda_fp16.h>')) {
        return ['half', 'n', 'lib_run'].map((name) => `a.cu(2): error: identifier "${name}" is undefined\n`).join('');
      }
      return text.includes('opaque_value lib_run;') ? null : 'a.cu(2): error: identifier "lib_run" is undefined\n';
    },
  });
  assert.ok(found && 'text' in found, JSON.stringify(found));
  assert.ok(!/opaque_value n;/.test(found.text));
});

test('a search ends: with headers, attempts and names that are limited', async () => {
  const many = Array.from({ length: 65 }, (_, index) => `h${index}.h`);
  assert.match(await reasonOf({ missing: many, own: '' }), /more than 64 headers/);
  const { found } = await searched({ missing: many.slice(1), own: '' });
  assert.ok(found && 'text' in found);
  let count = 0;
  const endless = await searched({
    missing: ['lib.h'],
    own: '',
    compile: () => `a.cu(1): error: identifier "n${(count += 1)}" is undefined\n`,
  });
  assert.ok(endless.found && 'reason' in endless.found && /after 24 attempts/.test(endless.found.reason));
  assert.equal(endless.tried.length, 24);
  const names = Array.from({ length: 2001 }, (_, index) => `a.cu(1): error: identifier "n${index}" is undefined\n`);
  assert.match(await reasonOf({ missing: ['lib.h'], own: '', compile: () => names.join('') }), /too large/);
});

test('names of headers are checked before anything is written', async () => {
  for (const name of ['../lib.h', 'a/../b.h', '/lib.h', './lib.h', 'a$b.h', `${'a'.repeat(200)}.h`]) {
    assert.match(await reasonOf({ missing: [name], own: '' }), /characters/, name);
  }
  assert.match(await reasonOf({ missing: ['own.h'], own: '' }), /repository has the header own\.h/);
});

test('messages of the compiler are quoted only for a trusted source', async () => {
  const compile = (): string => 'a.cu(1): error: no "secret" here\n';
  assert.match(await reasonOf({ missing: ['lib.h'], own: '', compile }), /secret/);
  assert.doesNotMatch(await reasonOf({ missing: ['lib.h'], own: '', compile, isTrusted: false }), /secret/);
});

test('a name that needs a value becomes an enumerator, and launches are not read', async () => {
  const { found } = await searched({
    missing: ['lib.h'],
    own: '\nint list[LIB_N];\n',
    compile: (text) => {
      if (!/\bLIB_N\b/.test(text)) return 'a.cu(2): error: identifier "LIB_N" is undefined\n';
      return text.includes('enum : int { LIB_N') ? null : 'a.cu(2): error: expression must have a constant value\n';
    },
  });
  assert.ok(found && 'text' in found);
  assert.match(found.unreadLaunches ?? '', /LIB_N \(a\.cu:2\)/);
});

test('operators of literals are declared, and not for device code', async () => {
  const compile = (text: string): string | null =>
    text.includes('operator""_s(') ? null : 'a.cu(1): error: user-defined literal operator not found\n';
  assert.ok('text' in (await searched({ missing: ['lib.h'], own: 'auto f() { return "a"_s; }\n', compile })).found!);
  const device = '__attribute__((global)) void k() { auto x = "a"_s; }\n';
  assert.match(await reasonOf({ missing: ['lib.h'], own: device, compile }), /depends on _s/);
});

test('a unit whose brackets the header completes is refused', async () => {
  assert.match(await reasonOf({ missing: ['lib.h'], own: 'LIB_BEGIN int a; }\n' }), /not balanced/);
  assert.match(await reasonOf({ missing: ['lib.h'], own: 'void f() { LIB_CALL int a;\n' }), /not balanced/);
});

test('damaged texts are searched without an error', async () => {
  const words = [
    '{',
    '}',
    '(',
    ')',
    '<',
    '>',
    '<<<',
    '>>>',
    ';',
    ',',
    '::',
    '.',
    '->',
    '=',
    '*',
    '&',
    ':',
    '[',
    ']',
    'template',
    'typename',
    'class',
    'struct',
    'enum',
    'typedef',
    'using',
    'namespace',
    'const',
    'constexpr',
    'sizeof',
    'auto',
    'lib_t',
    'LIB_A',
    'k',
    'f',
    'x',
    '1',
    '"s"',
    '__attribute__((global))',
    '__attribute__((device))',
    'switch',
    'case',
    '\n#if LIB\n',
    '\n#else\n',
    '\n#endif\n',
    '\n#define F lib_t\n',
    '\n',
  ];
  const random = seededRandom(7);
  for (let index = 0; index < 400; index++) {
    const text = (length: number): string => Array.from({ length }, () => random.pick(words)).join(' ');
    const inner = (): string => text(20).replaceAll(/(?<!__attribute__\(*)[(){}]+(?!\))/g, ' ');
    const own = index % 2 === 0 ? text(40) : `void f(${inner()}) { ${inner()} } struct S { ${inner()} { ${inner()} } ${inner()} };`;
    let count = 0;
    const compile = (): string | null =>
      (count += 1) > 2
        ? null
        : ['lib_t', 'LIB_A', 'f']
            .map(
              (name) =>
                `a.cu(1): error: identifier "${name}" is undefined\na.cu(1): error: this declaration has no storage class or type specifier\na.cu(1): error: expression must have a constant value\n`,
            )
            .join('');
    assert.ok((await searched({ missing: ['lib.h'], own, compile })).found);
  }
});

test('a macro of a stub that a condition asks for is refused', async () => {
  const compile = (text: string): string | null =>
    text.includes('#define LIB_RUN') ? null : 'a.cu(1): error: identifier "LIB_RUN" is undefined\n';
  const own = 'void f() {\n LIB_RUN(1) f();\n';
  const asking = '#ifdef LIB_RUN\n#endif\n';
  assert.ok('text' in (await searched({ missing: ['lib.h'], own: `${own}}\n`, compile })).found!);
  assert.match(await reasonOf({ missing: ['lib.h'], own: `${own}${asking}}\n`, compile }), /asks for LIB_RUN/);
});
