import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Function, PtxOperand, PtxStatement, VariableDeclaration } from '../../src/ptx/ast.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { readText, statementsOf, withoutSpans } from './tree.ts';

const HEADER = '.version 8.0\n.target sm_80\n.address_size 64\n';

/** The statements of a body that is parsed after some declarations, and the text of the diagnostics with their lines. */
function body(text: string, before = ''): { statements: readonly PtxStatement[]; diagnostics: string[]; item: Function } {
  const source =
    `${HEADER}${before}\n.entry k(.param .u64 p) {\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;` +
    ` .reg .f32 %f<9>;\n${text}\n}\n`;
  const { module, diagnostics } = parsePtx(source, 'k.ptx');
  const item = module.items.find((candidate): candidate is Function => candidate.kind === 'entry');
  assert.ok(item?.body);
  return {
    item,
    statements: item.body.slice(4),
    diagnostics: diagnostics.map(({ code, location }) => `${code} ${location?.line}`),
  };
}

/** The operands of one instruction. */
function operands(instruction: string, before = ''): readonly PtxOperand[] {
  const { statements, diagnostics } = body(instruction, before);
  assert.deepEqual(diagnostics, [], instruction);
  const last = statements.at(-1);
  assert.ok(last?.kind === 'instruction');
  return last.operands;
}

const integer = (value: bigint, text: string): PtxOperand => ({ kind: 'integer', value, text });
const register = (name: string): PtxOperand => ({ kind: 'register', name });

test('an instruction: guard, opcode, modifiers, operands, place', () => {
  const { statements } = body('\t@!%p1 ld.global.nc.v2.f32 {%f1, _}, [%rd1+-8];');
  assert.deepEqual(statements, [
    {
      kind: 'instruction',
      span: { line: 7, column: 2 },
      guard: { register: '%p1', negated: true },
      opcode: 'ld',
      modifiers: ['global', 'nc', 'v2', 'f32'],
      operands: [
        { kind: 'vector', elements: [register('%f1'), { kind: 'sink' }] },
        { kind: 'address', base: { kind: 'register', name: '%rd1' }, offset: -8n },
      ],
    },
  ]);
});

test('integers: every base, signs, constant expressions of 64 bits', () => {
  const cases: [string, bigint][] = [
    ['10', 10n],
    ['0x1FU', 31n],
    ['017', 15n],
    ['0b101', 5n],
    ['-1', -1n],
    ['- 5', -5n],
    ['~3', -4n],
    ['!7', 0n],
    ['3+4*2', 11n],
    ['(3+4)*2', 14n],
    ['5 - 3 - 1', 1n],
    ['-8 / 3', -2n],
    ['7 % 4', 3n],
    ['1 << 3 | 1', 9n],
    ['-16 >> 2', -4n],
    ['5 > 3 ? 6 : 7', 6n],
    ['0 && 1 || 1', 1n],
    ['(.u64) -1', 0xffff_ffff_ffff_ffffn],
    ['0xffffffffffffffff + 1', 0n],
    ['WARP_SZ * 2', 64n],
    ['18446744073709551615', 0xffff_ffff_ffff_ffffn],
  ];
  for (const [text, value] of cases) assert.deepEqual(operands(`mov.b64 %rd1, ${text};`)[1], integer(value, text));
});

test('floats keep their bits; decimal ones are doubles', () => {
  const float = (bits: 32 | 64, pattern: bigint, text: string): PtxOperand => ({ kind: 'float', bits, pattern, text });
  assert.deepEqual(operands('mov.f32 %f1, 0F3F800000;')[1], float(32, 0x3f80_0000n, '0F3F800000'));
  assert.deepEqual(operands('mov.f32 %f1, 0dBFF8000000000000;')[1], float(64, 0xbff8_0000_0000_0000n, '0dBFF8000000000000'));
  assert.deepEqual(operands('mov.f32 %f1, -1.5;')[1], float(64, 0xbff8_0000_0000_0000n, '-1.5'));
  assert.deepEqual(operands('mov.f32 %f1, .5;')[1], float(64, 0x3fe0_0000_0000_0000n, '.5'));
  assert.deepEqual(operands('mov.f32 %f1, 1.0/4;')[1], float(64, 0x3fd0_0000_0000_0000n, '1.0/4'));
});

test('names are registers if a scope declares them so, otherwise symbols', () => {
  assert.deepEqual(operands('.reg .b32 a, t<3>; add.u32 a, t2, %r1;'), [register('a'), register('t2'), register('%r1')]);
  const global = '.global .u32 g[4]; .global .u32 %percent;';
  const symbol = (name: string, offset: bigint): PtxOperand => ({ kind: 'symbol', name, offset, generic: false });
  assert.deepEqual(operands('mov.u64 %rd1, g+4*2;', global)[1], symbol('g', 8n));
  assert.deepEqual(operands('mov.u64 %rd1, g+-8;', global)[1], symbol('g', -8n));
  assert.deepEqual(operands('mov.u64 %rd1, %percent;', global)[1], symbol('%percent', 0n));
  assert.deepEqual(operands('ld.u32 %r1, [g];', global)[1], {
    kind: 'address',
    base: { kind: 'symbol', name: 'g' },
    offset: 0n,
  });
  assert.deepEqual(operands('ld.u32 %r1, g[%r2+4];', global)[1], {
    kind: 'element',
    array: 'g',
    index: register('%r2'),
    offset: 4n,
  });
  // A shadowing declaration ends with its scope.
  assert.deepEqual(operands('{ .reg .b64 g; } mov.u64 %rd1, g;', global)[1], symbol('g', 0n));
});

test('an index with a leading zero is the same register as for ptxas', () => {
  assert.deepEqual(operands('mov.u32 %r01, %r002;'), [register('%r1'), register('%r2')]);
  assert.deepEqual(operands('.reg .b32 x01; mov.u32 x01, 1;')[0], register('x01'));
});

test('components, pairs, negations, special registers', () => {
  assert.deepEqual(operands('mov.u32 %r1, %tid.x;')[1], register('%tid.x'));
  assert.deepEqual(operands('mov.u32 %r1, %ctaid .x;')[1], register('%ctaid.x'));
  assert.deepEqual(operands('vadd.u32.u32.u32 %r1, %r2.b0, -%r3.h1;').slice(1), [
    { kind: 'component', base: '%r2', selector: 'b0' },
    { kind: 'negative', operand: { kind: 'component', base: '%r3', selector: 'h1' } },
  ]);
  assert.deepEqual(operands('setp.eq.and.s32 %p1|%p2, 1, 2, !%p3;'), [
    { kind: 'pair', first: register('%p1'), second: register('%p2') },
    integer(1n, '1'),
    integer(2n, '2'),
    { kind: 'not', operand: register('%p3') },
  ]);
  assert.deepEqual(operands('elect.sync _|%p1, -1;')[0], {
    kind: 'pair',
    first: { kind: 'sink' },
    second: register('%p1'),
  });
});

test('addresses: absolute, unified, lists of textures and tensors', () => {
  assert.deepEqual(operands('ld.local.u32 %r1, [16];')[1], { kind: 'address', base: null, offset: 16n });
  assert.deepEqual(operands('ld.u32 %r1, [%rd1].unified;')[1], {
    kind: 'address',
    base: { kind: 'register', name: '%rd1' },
    offset: 0n,
    unified: true,
  });
  assert.deepEqual(operands('tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, s, {%r1}];', '.global .u64 t, s;')[1], {
    kind: 'bracketed',
    elements: [
      { kind: 'symbol', name: 't', offset: 0n, generic: false },
      { kind: 'symbol', name: 's', offset: 0n, generic: false },
      { kind: 'vector', elements: [register('%r1')] },
    ],
  });
});

test('calls: results, name, arguments, prototype', () => {
  const name = (text: string): PtxOperand => ({ kind: 'symbol', name: text, offset: 0n, generic: false });
  const before = '.func f;';
  assert.deepEqual(operands('.param .b32 a, r; call.uni (r),\n f,\n (\n a, 3\n );', before), [
    { kind: 'list', elements: [name('r')] },
    name('f'),
    { kind: 'list', elements: [name('a'), integer(3n, '3')] },
  ]);
  assert.deepEqual(operands('call f;', before), [name('f')]);
  assert.deepEqual(operands('call f, ();', before), [name('f'), { kind: 'list', elements: [] }]);
  const { statements } = body(
    'P : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b32 _) .noreturn;\ncall (%r1), %rd1, (%r2), P;',
  );
  assert.deepEqual(withoutSpans(statements[0]), {
    kind: 'directive',
    label: 'P',
    name: 'callprototype',
    text: '( .param .b32 _ ) _ ( .param .b64 _ , .param .b32 _ ) .noreturn',
    names: [],
  });
  const { statements: targets } = body('T: .branchtargets L<2>, M; brx.idx %r1, T; L0: L1: M: ret;');
  assert.ok(targets[0]?.kind === 'directive');
  assert.deepEqual(targets[0].names, ['L0', 'L1', 'M']);
});

test('declarations: alignment, vectors, extents, ranges, several in one statement', () => {
  const { statements } = body('.shared .align 4 .b8 s[4][2], d[]; .reg .v4 .f32 v; .reg .b32 %a<3>, b;');
  const shared: Omit<VariableDeclaration, 'name' | 'dimensions'> = {
    kind: 'variable',
    span: { line: 7, column: 1 },
    linkage: [],
    space: 'shared',
    attributes: [],
    type: 'b8',
    alignment: 4,
  };
  assert.deepEqual(statements.slice(0, 2), [
    { ...shared, name: 's', dimensions: [4n, 2n] },
    { ...shared, name: 'd', dimensions: [null] },
  ]);
  assert.partialDeepStrictEqual(statements[2], { vector: 4, type: 'f32', name: 'v' });
  assert.partialDeepStrictEqual(statements[3], { name: '%a', count: 3 });
  assert.equal('count' in statements[4]!, false);
});

test('initial values: aggregates, addresses, generic addresses, masks', () => {
  const { module, diagnostics } = parsePtx(
    `${HEADER}.global .u32 a[2][2] = {{1, 2}, {3, -4}};\n` +
      '.global .u64 b[3] = {a, a+8, generic(a)+4};\n.global .u8 c[2] = {0xff(a), 0xff00(generic(a)+1)};\n' +
      '.global .samplerref s = { filter_mode = nearest };',
  );
  assert.deepEqual(diagnostics, []);
  const initializers = module.items.map((item) => (item.kind === 'variable' ? item.initializer : undefined));
  const scalar = (operand: PtxOperand): object => ({ kind: 'scalar', operand });
  const symbol = (offset: bigint, generic: boolean): PtxOperand => ({ kind: 'symbol', name: 'a', offset, generic });
  assert.deepEqual(initializers[0], {
    kind: 'aggregate',
    elements: [
      { kind: 'aggregate', elements: [scalar(integer(1n, '1')), scalar(integer(2n, '2'))] },
      { kind: 'aggregate', elements: [scalar(integer(3n, '3')), scalar(integer(-4n, '-4'))] },
    ],
  });
  assert.deepEqual(initializers[1], {
    kind: 'aggregate',
    elements: [scalar(symbol(0n, false)), scalar(symbol(8n, false)), scalar(symbol(4n, true))],
  });
  assert.deepEqual(initializers[2], {
    kind: 'aggregate',
    elements: [
      { kind: 'scalar', operand: symbol(0n, false), mask: '0xff' },
      { kind: 'scalar', operand: symbol(1n, true), mask: '0xff00' },
    ],
  });
  assert.deepEqual(initializers[3], {
    kind: 'aggregate',
    elements: [{ kind: 'field', name: 'filter_mode', value: 'nearest' }],
  });
});

test('functions: linkage, results, parameters, directives, declarations', () => {
  const { module, diagnostics } = parsePtx(
    `${HEADER}.extern .func (.param .b32 r) f (.param .b64 a, .param .align 8 .b8 b[24]);\n` +
      '.visible .entry k(.param .u64 .ptr .global .align 16 p)\n.maxntid 16, 4\n.minnctapersm 2\n.pragma "nounroll";\n' +
      '.explicitcluster { ret; }\n.func .attribute(.unified(1, 2)) g;',
  );
  assert.deepEqual(diagnostics, []);
  const [f, k, g] = module.items as readonly Function[];
  assert.deepEqual([f?.kind, f?.name, f?.linkage, 'body' in f!], ['func', 'f', ['extern'], false]);
  assert.deepEqual(
    f?.parameters.map(({ name, dimensions }) => [name, dimensions]),
    [
      ['a', []],
      ['b', [24n]],
    ],
  );
  assert.deepEqual(k?.parameters[0]?.pointer, { space: 'global', alignment: 16 });
  assert.deepEqual(k?.directives, [
    { name: 'maxntid', values: [16, 4], text: '16, 4' },
    { name: 'minnctapersm', values: [2], text: '2' },
    { name: 'pragma', values: [], text: '"nounroll"' },
    { name: 'explicitcluster', values: [], text: '' },
  ]);
  assert.deepEqual(g?.attributes, ['attribute(.unified(1,2))']);
});

test('the comments with a meaning become statements at their place', () => {
  const { statements, diagnostics } = body(
    'mov.u32 %r1, 1;\n// selvage.assume %r1;\nmov.u32 %r2,\n// SELVAGE_CANDIDATE 7\n2;\n// selvage.unknown %r02\n',
  );
  assert.deepEqual(diagnostics, []);
  const kinds = statements.map((statement) => (statement.kind === 'marker' ? [statement.name, statement.operand] : statement.kind));
  assert.deepEqual(kinds, [
    'instruction',
    ['assume', register('%r1')],
    'instruction',
    ['candidate', integer(7n, '7')],
    ['unknown', register('%r2')],
  ]);
});

test('a malformed marker is damage: it cannot be ignored', () => {
  const { statements, diagnostics, item } = body('// selvage.unknown\nret;\n// selvage.assume %r1, %r2;');
  assert.deepEqual(diagnostics, ['ptx/marker 7', 'ptx/marker 9']);
  assert.deepEqual(
    statements.map(({ kind }) => kind),
    ['damage', 'instruction', 'damage'],
  );
  assert.equal(item.faulty, true);
});

test('the language samples contain no damage', () => {
  for (const name of ['memory', 'control', 'hopper', 'blackwell', 'texture', 'lines']) {
    const { module, diagnostics } = parsePtx(readText(`test/ptx/language/${name}.ptx`), name);
    assert.deepEqual(diagnostics, [], name);
    assert.ok(statementsOf(module, name === 'control' ? 'cluster' : name).length > 0);
  }
});
