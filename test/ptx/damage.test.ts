import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Function, PtxStatement } from '../../src/ptx/ast.ts';
import { parsePtx } from '../../src/ptx/parser.ts';

const HEADER = '.version 8.0\n.target sm_80\n.address_size 64\n';
const REGISTERS = '.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;';

/** Line 5 of the text is the first of `statements`. */
function parseBody(statements: string, after = ''): { functions: Function[]; diagnostics: string[] } {
  return parseText(`${HEADER}.entry k(.param .u64 p) { ${REGISTERS}\n${statements}\n}\n${after}`);
}

function parseText(text: string): { functions: Function[]; diagnostics: string[] } {
  const { module, diagnostics } = parsePtx(text, 'k.ptx');
  for (const { location, message } of diagnostics) {
    assert.equal(location?.file, 'k.ptx');
    assert.match(message, /\. [A-Z].*/s, 'a message ends with its remedy');
  }
  return {
    functions: module.items.filter((item): item is Function => item.kind === 'entry' || item.kind === 'func'),
    diagnostics: diagnostics.map(({ code, location }) => `${code} ${location?.line}`),
  };
}

/** `mov 1` for an instruction by its first integer, the kind for other statements that are not declarations. */
function outline(body: readonly PtxStatement[] | undefined): unknown[] {
  return (body ?? [])
    .filter(({ kind }) => kind !== 'variable')
    .map((statement) => {
      if (statement.kind === 'scope') return outline(statement.body);
      if (statement.kind !== 'instruction') return statement.kind;
      const value = statement.operands.find((operand) => operand.kind === 'integer');
      return value ? `${statement.opcode} ${value.text}` : statement.opcode;
    });
}

test('a damaged statement costs one diagnostic and one statement', () => {
  const cases: [string, string][] = [
    ['mov.u32 %r1 %r2;', 'a missing comma'],
    ['mov.u32 %r1,;', 'a missing operand'],
    ['mov.u32 %r1, 12abc;', 'a malformed number'],
    ['mov.u32 %r1, 0f12;', 'a short float'],
    ['mov.u32 %r1, 099;', 'an octal 9'],
    ['mov.u32 %r1, 99999999999999999999999;', 'a number beyond 64 bits'],
    ['mov.u32 %r1, 1/0;', 'a division by zero'],
    ['mov.u32 %r1, %r2+4;', 'an offset of a register'],
    ['ld.global.u32 %r1, [%rd1;', 'an open bracket'],
    ['ld.global.u32 %r1, [%rd1-4];', 'a subtracted offset'],
    ['ld.global.v2.u32 {%r1, [%rd1];', 'an open vector'],
    ['ld.global.v2.u32 %r1}, [%rd1];', 'a vector without its opening brace'],
    ['@%p1 @%p2 bra L;', 'two guards'],
    ['@%p1.x ret;', 'a component as a guard'],
    [';', 'an empty statement'],
    ['\u0000', 'a NUL'],
    ['mov.u32 \u00e9, 1;', 'a letter outside ASCII'],
    ['.reg .b32;', 'a declaration without a name'],
    ['.reg .b31 x;', 'an unknown type'],
    ['.reg .b32 x<>;', 'an empty range'],
    ['.shared .align 3 .b8 s[4];', 'an odd alignment'],
    ['.local .u32 x = 3;', 'an initial value of a local variable'],
    ['.loc 1 2', 'a short .loc'],
    ['.loc 1 2 3, inlined_at 1 2 3', 'an inlined_at without a function'],
    ['.pragma nounroll;', 'a pragma without quotes'],
    ['.branchtargets L;', 'targets without a label'],
    ['.frobnicate 3;', 'an unknown directive'],
    ['.extern .shared .b8 s[];', 'an external variable in a body'],
    ['mov.u32 %r1, "text;', 'an open text'],
    ['{ mov.u32 %r1, (((;\n }', 'an open parenthesis'],
  ];
  for (const [statement, what] of cases) {
    const { functions, diagnostics } = parseBody(`mov.u32 %r1, 11;\n${statement}\nmov.u32 %r2, 22;\nret;`);
    assert.equal(diagnostics.length, 1, `${what}: ${diagnostics.join(', ')}`);
    assert.match(diagnostics[0]!, /^ptx\/(?:syntax|literal) [67]$/, what);
    const shape = outline(functions[0]?.body).flat();
    assert.deepEqual(shape.slice(0, 2), ['mov 11', 'damage'], what);
    assert.deepEqual(shape.slice(-2), ['mov 22', 'ret'], what);
    assert.equal(functions[0]?.faulty, true, what);
    assert.equal(functions[0]?.truncated, false, what);
  }
});

test('a missing semicolon damages its own statement only', () => {
  const { functions, diagnostics } = parseBody('mov.u32 %r1, 1;\nmov.u32 %r1, 2\nmov.u32 %r1, 3;\nret\n$L: ret;');
  assert.deepEqual(diagnostics, ['ptx/syntax 6', 'ptx/syntax 8']);
  assert.deepEqual(outline(functions[0]?.body), ['mov 1', 'damage', 'mov 3', 'damage', 'label', 'ret']);
});

test('a truncated text keeps the statements before the truncation', () => {
  const whole = `${HEADER}.entry k() { ${REGISTERS}\nmov.u32 %r1, 1;\n{ mov.u32 %r1, 2;\nmov.u32 %r1, 3; }\n}\n`;
  for (let end = whole.indexOf('mov.u32 %r1, 3'); end < whole.lastIndexOf('}'); end++) {
    const { functions, diagnostics } = parseText(whole.slice(0, end));
    assert.equal(diagnostics.length, 1, `cut at ${end}: ${diagnostics.join(', ')}`);
    assert.match(diagnostics[0]!, /^ptx\/truncated [67]$/);
    assert.deepEqual(outline(functions[0]?.body).flat().slice(0, 2), ['mov 1', 'mov 2']);
    assert.deepEqual([functions[0]?.truncated, functions[0]?.faulty], [true, true]);
  }
  assert.deepEqual(parseText(whole).diagnostics, []);
  // In the header of a function.
  assert.deepEqual(parseText(`${HEADER}.entry k(.param .u64`).diagnostics, ['ptx/truncated 4']);
  assert.deepEqual(parseText(`${whole}.section .debug_str { .b8 1,`).diagnostics, ['ptx/truncated 9']);
  assert.deepEqual(parseText(`${whole}/* no end`).diagnostics, ['ptx/truncated 9']);
});

test('a missing brace ends the function where the next one begins', () => {
  const { functions, diagnostics } = parseText(
    `${HEADER}.entry a() { ${REGISTERS}\n{ mov.u32 %r1, 1;\nret;\n}\n.visible .entry b() { ret; }\n.entry c() { ret; }`,
  );
  assert.deepEqual(diagnostics, ['ptx/syntax 8']);
  assert.deepEqual(
    functions.map(({ name, truncated, faulty }) => [name, truncated, faulty]),
    [
      ['a', true, true],
      ['b', false, undefined],
      ['c', false, undefined],
    ],
  );
});

test('an extra brace is damage, and the statements after it stay in the function', () => {
  const { functions, diagnostics } = parseBody('mov.u32 %r1, 1; }\nmov.u32 %r1, 2; ret;', '.entry b() { ret; }');
  assert.deepEqual(diagnostics, ['ptx/syntax 5']);
  assert.deepEqual(outline(functions[0]?.body), ['mov 1', 'damage', 'mov 2', 'ret']);
  assert.equal(functions[1]?.faulty, undefined);
});

test('unexpected tokens after a body make that body incomplete', () => {
  const { functions, diagnostics } = parseText(`${HEADER}.entry a() { ret; }\n) ret;\n.entry b() { ret; }`);
  assert.deepEqual(diagnostics, ['ptx/syntax 5']);
  assert.deepEqual(
    functions.map(({ truncated }) => truncated),
    [true, false],
  );
});

test('a damaged header costs its function, not the next', () => {
  for (const header of [
    '.entry k(.param .u64 p',
    '.entry k(.param .u64, .param .u32 n)',
    '.entry k() .maxntid',
    '.entry k() .maxntid 1,2,3,4',
    '.entry k() .frob',
    '.entry k(.param .u64 p,)',
    '.func (.param .b32) k()',
    '.entry ()',
    '.entry 9k()',
    '.extern .visible .entry k()',
  ]) {
    const { functions, diagnostics } = parseText(`${HEADER}${header}\n{\nret;\n}\n.entry b() {\nret;\n}\n`);
    assert.equal(diagnostics.length, 1, `${header}: ${diagnostics.join(', ')}`);
    assert.match(diagnostics[0]!, /^ptx\/syntax [45]$/, header);
    assert.deepEqual(
      functions.filter(({ faulty }) => !faulty).map(({ name }) => name),
      ['b'],
      header,
    );
  }
  // Only the opening brace is missing.
  const { functions, diagnostics } = parseText(`${HEADER}.entry k()\n.reg .b32 %r<2>;\nmov.u32 %r1, 1;\nret;\n}\n`);
  assert.deepEqual(diagnostics, ['ptx/syntax 5']);
  assert.deepEqual(outline(functions[0]?.body), ['damage', 'mov 1', 'ret']);
});

test('the header of the module: version, then target, then the size of addresses', () => {
  const rest = '.entry k() { ret; }';
  assert.deepEqual(parseText(`.version 8.0 .target sm_90a, texmode_independent ${rest}`).diagnostics, []);
  assert.deepEqual(parseText(rest).diagnostics, ['ptx/header 1']);
  assert.deepEqual(parseText('').diagnostics, ['ptx/header 1']);
  assert.deepEqual(parseText(`.version 8.0\n${rest}`).diagnostics, ['ptx/header 2']);
  assert.deepEqual(parseText(`.target sm_80\n${rest}`).diagnostics, ['ptx/header 2']);
  assert.deepEqual(parseText(`.version 8\n.target sm_80\n${rest}`).diagnostics, ['ptx/header 1']);
  assert.deepEqual(parseText(`.version 8.0\n.target sm_80, fast\n${rest}`).diagnostics, ['ptx/header 2']);
  assert.deepEqual(parseText(`.version 8.0\n.target sm_80\n.address_size 48\n${rest}`).diagnostics, ['ptx/header 3']);
  assert.deepEqual(parseText(`.target sm_80\n.version 8.0\n${rest}`).diagnostics, ['ptx/header 2']);
  assert.deepEqual(parseText(`${HEADER}${rest}\n.version 8.0`).diagnostics.length, 1);
});

test('texts with correct syntax that are not a valid module', () => {
  const cases: [string, string][] = [
    ['bra L9;', 'ptx/undefined-label 5'],
    ['{ L: ret; }\nbra L;', 'ptx/undefined-label 6'],
    ['T: .branchtargets L8; brx.idx %r1, T;', 'ptx/undefined-label 5'],
    ['mov.u32 %r9, 1;', 'ptx/undeclared 5'],
    ['@q ret;', 'ptx/undeclared 5'],
    ['mov.u32 %r1, %tid.q;', 'ptx/undeclared 5'],
    ['mov.u32 %r1, %r2.q;', 'ptx/undeclared 5'],
    ['mov.u64 %rd1, nowhere;', 'ptx/undeclared 5'],
    ['{ .reg .b32 a; }\nmov.u32 a, 1;', 'ptx/undeclared 6'],
    ['mov.u32 a, 1;\n.reg .b32 a;', 'ptx/undeclared 5'],
    ['// selvage.assume %q1;', 'ptx/undeclared 5'],
    ['.reg .b32 a;\n.reg .b64 a;', 'ptx/duplicate 6'],
    ['.reg .b32 %r5;', 'ptx/duplicate 5'],
    ['.reg .b32 %r<5>;', 'ptx/duplicate 5'],
    ['L: ret;\nL: ret;', 'ptx/duplicate 6'],
    ['.reg .b32 %laneid;', 'ptx/duplicate 5'],
    ['.reg .b32 %clock<65>;', 'ptx/duplicate 5'],
  ];
  for (const [text, expected] of cases) {
    const { functions, diagnostics } = parseBody(text);
    assert.deepEqual(diagnostics, [expected], text);
    assert.equal(functions[0]?.faulty, true, text);
  }
  assert.deepEqual(parseBody('.reg .b32 %clock<9>;').diagnostics, []);
  // The same name in two scopes, a label that a scope hides, a name that is reported once.
  assert.deepEqual(parseBody('{ .reg .b32 %r<3>; L: bra L; }\nL: { bra L; }').diagnostics, []);
  assert.deepEqual(parseBody('mov.u32 %r9, %r9;\nmov.u32 %r9, 1;').diagnostics, ['ptx/undeclared 5']);
  assert.deepEqual(parseBody('call later;', '.func later() { ret; }').diagnostics, []);
  assert.deepEqual(parseText(`${HEADER}.entry k();`).diagnostics, ['ptx/no-body 4']);
  assert.deepEqual(parseText(`${HEADER}.entry k();\n.entry k() { ret; }`).diagnostics, []);
  assert.deepEqual(parseText(`${HEADER}.func k() { ret; }\n.func k() { ret; }`).diagnostics, ['ptx/duplicate 5']);
  assert.deepEqual(parseText(`${HEADER}.global .u32 a;\n.global .u32 a;`).diagnostics, ['ptx/duplicate 5']);
  // An external declaration may precede or follow the one definition.
  const [declared, defined] = ['.extern .global .u32 a;\n', '.global .u32 a;\n'];
  for (const text of [declared + defined, defined + declared, declared + declared, declared + defined + declared])
    assert.deepEqual(parseText(HEADER + text).diagnostics, [], text);
  assert.deepEqual(parseText(HEADER + declared + defined + defined).diagnostics, ['ptx/duplicate 6']);
  assert.deepEqual(parseText(`${HEADER}.global .u64 a = b;\n.global .u32 b;`).diagnostics, ['ptx/undeclared 4']);
});

test('depth and number of errors are bounded', () => {
  const deep = 100_000;
  const scopes = parseBody(`${'{'.repeat(deep)} mov.u32 %r1, 1; ${'}'.repeat(deep)}\nret;`);
  assert.deepEqual(scopes.diagnostics, ['ptx/limit 5']);
  assert.equal(scopes.functions[0]?.body?.at(-1)?.kind, 'instruction');
  for (const text of ['('.repeat(deep), '-'.repeat(deep), '['.repeat(deep), '{'.repeat(deep), '1?'.repeat(deep)]) {
    assert.ok(parseBody(`mov.u32 %r1, ${text};\nret;`).diagnostics.length > 0);
  }
  assert.deepEqual(parseBody(`mov.u32 %r1, ${'9'.repeat(deep)};`).diagnostics, ['ptx/literal 5']);
  const many = parseBody(';\n'.repeat(1000));
  assert.equal(many.diagnostics.length, 101);
  assert.match(many.diagnostics.at(-1)!, /^ptx\/limit/);
});

test('the header: order, places of its errors, and the values that are read', () => {
  const cases: [string, string[], string, string[], number][] = [
    ['.version 8.0\n.target sm_80\n', [], '8.0', ['sm_80'], 64],
    ['.version 8.0\n.target sm_80\n.address_size 32\n', [], '8.0', ['sm_80'], 32],
    ['.version 12.34\n.target sm_90a, debug\n', [], '12.34', ['sm_90a', 'debug'], 64],
    ['.version 8.0\n.target compute_80\n', [], '8.0', ['compute_80'], 64],
    // Two lists of targets, as ptxas reads them.
    ['.version 8.0\n.target sm_80\n.target debug\n', [], '8.0', ['sm_80', 'debug'], 64],
    ['.version 8.0\n.target debug\n', ['3:1'], '8.0', ['debug'], 64],
    ['.version 8.0\n.version 8.0\n.target sm_80\n', ['2:1'], '8.0', ['sm_80'], 64],
    ['.version 8.0\n.address_size 64\n.target sm_80\n', ['3:1'], '8.0', ['sm_80'], 64],
    ['.version 8.0\n.target sm_80\n.address_size 64\n.target debug\n', ['4:1'], '8.0', ['sm_80', 'debug'], 64],
    ['.version 8\n.target sm_80\n', ['1:1'], '', ['sm_80'], 64],
    ['.version\n8.0\n.target sm_80\n', ['1:1'], '', [], 64],
    ['.version 8.0 .target sm_80 .address_size 48\n', ['1:28'], '8.0', ['sm_80'], 64],
    ['.version 8.0\n.target sm_x\n', ['2:9'], '8.0', [], 64],
    ['.version 8.0\n.target\nsm_80\n', [], '8.0', ['sm_80'], 64],
    ['.version 8.0\n.target sm_80,\n', ['3:1'], '8.0', ['sm_80'], 64],
  ];
  for (const [text, expected, version, target, addressSize] of cases) {
    const { module, diagnostics } = parsePtx(`${text}.entry k() { ret; }`);
    const places = diagnostics.filter(({ code }) => code === 'ptx/header').map(({ location }) => `${location!.line}:${location!.column}`);
    assert.deepEqual([places, module.version, module.target, module.addressSize], [expected, version, target, addressSize], text);
  }
});
