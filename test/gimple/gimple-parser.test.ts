/** The parser of GCC's dumps: forms of statements and operands, blocks, and that it never fails. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../src/base/random.ts';
import type { GimpleBlock, GimpleFunction, GimpleStatement, GimpleOperand } from '../../src/gimple/gimple.ts';
import { parseGimpleOperand } from '../../src/gimple/gimple-operands.ts';
import { parseFunction, splitDump } from '../../src/gimple/gimple-parser.ts';
import { sweep } from '../run/sweep.ts';

const dump = readFileSync(new URL('launches.gimple', import.meta.url), 'utf8');
const run = '_Z3runPfiRK4PlanPKi';

function functionOf(text: string, symbol: string): GimpleFunction {
  const own = splitDump(text).texts.get(symbol);
  const parsed = own === undefined ? null : parseFunction(symbol, own);
  assert.ok(parsed);
  return parsed;
}

function blockOf({ blocks }: GimpleFunction, id: number): GimpleBlock {
  const block = blocks.find((one) => one.id === id);
  assert.ok(block);
  return block;
}

/** Operands in the notation of C, with the numbers of declarations left out. */
function operandText(operand: GimpleOperand): string {
  switch (operand.kind) {
    case 'ssa':
      return `${operand.label}_${operand.version}${operand.isInitial ? '(D)' : ''}`;
    case 'declaration':
      return operand.name.replace(/(?<=\w)D\.\d+$/, '');
    case 'integer':
      return String(operand.value);
    case 'real':
    case 'opaque':
      return operand.text;
    case 'string':
      return JSON.stringify(operand.text);
    case 'zeros':
      return '{}';
    case 'address':
      return `&${operandText(operand.of)}`;
    case 'pointee':
      return `*(${operandText(operand.pointer)}+${operand.offset})`;
    case 'field':
      return `${operandText(operand.of)}.${operand.field.replace(/(?<=\w)D\.\d+$/, '')}`;
    case 'element':
      return `${operandText(operand.of)}[${operandText(operand.index)}]`;
    case 'virtual':
      return `virtual ${operandText(operand.object)} slot ${operand.slot}`;
  }
}

function callText(statement: GimpleStatement): string {
  assert.ok(statement.kind === 'call');
  const { callee, target, arguments: given } = statement;
  return `${target ? `${operandText(target)} = ` : ''}${operandText(callee)}(${given.map(operandText).join(', ')})`;
}

const calls = ({ statements }: GimpleBlock): string[] => statements.filter(({ kind }) => kind === 'call').map(callText);

test('a launch is a configuration, a condition and a call of the stub', () => {
  const parsed = functionOf(dump, run);
  assert.deepEqual(calls(blockOf(parsed, 3)), [
    '_ZN4dim3C1Ejjj(&grid, _8, 1, _5)',
    '_ZN4dim3C1Ejjj(&D.2473, 256, 1, 1)',
    '_39 = __cudaPushCallConfiguration(grid, D.2473, 0, 0)',
  ]);
  const branch = blockOf(parsed, 4).statements.at(-1)!;
  assert.ok(branch.kind === 'condition');
  assert.deepEqual([branch.operator, operandText(branch.left), branch.then, branch.otherwise], ['ne_expr', '_9', 6, 5]);
  assert.deepEqual(calls(blockOf(parsed, 5)), ['_Z5scalePfif(a_40(D), n_35(D), 2.5e+0)']);
  assert.deepEqual(branch.location, { file: 'launches.cpp', line: 19 });
});

test('parameters and variables have the names that statements use, and their types', () => {
  const { parameters, locals, name } = functionOf(dump, run);
  assert.equal(name, 'run');
  assert.deepEqual(
    parameters.map((one) => [one.name, one.type]),
    [
      ['aD.2438', 'floatD.41 *'],
      ['nD.2439', 'intD.9'],
      ['planD.2440', 'const struct PlanD.2401 &'],
      ['sizesD.2441', 'const intD.9 *'],
    ],
  );
  assert.ok(locals.some((one) => one.name === 'gridD.2444' && one.type === 'struct dim3D.2368'));
});

test('a virtual call names the object and the slot', () => {
  assert.deepEqual(calls(blockOf(functionOf(dump, run), 2)), ['_34 = virtual plan_32(D) slot 2(plan_32(D))']);
});

test('cases of a switch branch to the blocks of their labels, ranges included', () => {
  const chosen = blockOf(functionOf(dump, run), 6).statements.at(-1)!;
  assert.ok(chosen.kind === 'switch');
  assert.deepEqual(chosen.cases, [
    { values: null, to: 10 },
    { values: [0n, 0n], to: 7 },
    { values: [1n, 2n], to: 9 },
  ]);
});

test('a value from several paths names the block of each', () => {
  const [joined] = blockOf(functionOf(dump, run), 11).statements;
  assert.ok(joined?.kind === 'phi');
  assert.deepEqual(
    joined.sources.map(({ value, from }) => `${operandText(value)} from ${from}`),
    ['n_35(D) from 8', 'n_43 from 9', 'n_46 from 10'],
  );
});

test('exceptions continue at their landing pad, and other statements in the next block', () => {
  const parsed = functionOf(dump, run);
  const configuration = blockOf(parsed, 3);
  const pad = configuration.statements.at(-1)!.landingPad;
  assert.ok(pad !== null && configuration.successors.includes(pad) && pad !== configuration.next);
  assert.equal(configuration.next, 4);
  assert.ok(blockOf(parsed, pad).statements.some(({ kind }) => kind === 'clobber'));
  const thrown = parsed.blocks.find((block) => calls(block).some((text) => text.startsWith('__cxa_throw(')))!;
  assert.equal(thrown.next, null);
});

test('all statements and operands of the dump are read', () => {
  const symbols = [...splitDump(dump).texts.keys()];
  assert.deepEqual(symbols, ['_ZN4dim3C2Ejjj', run]);
  for (const symbol of symbols)
    for (const { statements } of functionOf(dump, symbol).blocks)
      for (const statement of statements)
        assert.ok(!/"opaque"/.test(JSON.stringify(statement, withoutBigints)), JSON.stringify(statement, withoutBigints));
});

function withoutBigints(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

const operands: readonly (readonly [text: string, expected: string])[] = [
  ['_12', '_12'],
  ['args#0_4(D)', 'args#0_4(D)'],
  ['devID.7_4', 'devID.7_4'],
  ['a_1D.2378', 'a_1'],
  ['pD.2383.bD.2374', 'p.b'],
  ['[a.cu:1:2] this_3(D)->D.79071.xD.12', '*(this_3(D)+0).D.79071.x'],
  ['[a b.cu:1:2 discrim 3] &[a b.cu:1:2] vD.2419[n_14]', '&v[n_14]'],
  ['vD.7[1][2].xD.8', 'v[1][2].x'],
  ['*_5', '*(_5+0)'],
  ['[a.cu:1:1] (*_5)[i_2]', '*(_5+0)[i_2]'],
  ['MEM[(const struct dim3D.2 &)_4 + 8B]', '*(_4+8)'],
  ['MEM <unsigned int> [(charD.10 * {ref-all})[a.cu:1:1] &epsD.9]', '*(&eps+0)'],
  ['0B', '0'],
  ['-3', '-3'],
  ['1.0e+3', '1.0e+3'],
  ['-Inf', '-Inf'],
  ['&"a, \\"b\\""[0]', '&"a, \\\\\\"b\\\\\\""[0]'],
  ['{}', '{}'],
  ['<retval>', '<retval>'],
];

test('each form of operand is parsed', () => {
  for (const [text, expected] of operands) {
    const operand = parseGimpleOperand(text);
    assert.notEqual(operand.kind, 'opaque', text);
    assert.equal(operandText(operand), expected);
  }
});

test('operands of other forms are opaque, not partly parsed', () => {
  for (const text of [
    'BIT_FIELD_REF <x_1, 8, 0>',
    '{1, 2}',
    'a_1 + 4',
    'pD.1.',
    '*',
    '&',
    'MEM[(int *)p_1',
    '',
    '"open',
    '_1(D',
    'VIEW_CONVERT_EXPR<int>(x_1)',
  ])
    assert.equal(parseGimpleOperand(text).kind, 'opaque', text);
});

test('two variables of one name in two scopes are two variables', () => {
  // Without the numbers of declarations both would be printed as `s`.
  const [one, other] = ['&sD.2380', '&sD.2381'].map(parseGimpleOperand);
  assert.notDeepEqual(one, other);
});

test('unrecognized lines become opaque statements at their position', () => {
  const line = '  [launches.cpp:28:75] gimple_assign <nop_expr, _18, i_22, NULL, NULL>';
  assert.ok(dump.includes(line));
  for (const damaged of [
    '  gimple_asm <"nop">',
    '  gimple_assign <nop_expr, _18>',
    '  [launches.cpp:28:75] what is this',
    '  gimple_transaction <[0:0]>',
  ]) {
    const [first] = blockOf(functionOf(dump.replace(line, damaged), run), 18).statements.slice(1);
    assert.equal(first?.kind, 'opaque');
  }
});

test('a statement whose landing pad has no label is opaque', () => {
  const text = dump.replace('gimple_label <<L19>> [LP 3]', 'gimple_label <<L19>>');
  assert.notEqual(text, dump);
  const last = (of: string): string | undefined => blockOf(functionOf(of, run), 18).statements.at(-1)?.kind;
  assert.deepEqual([last(dump), last(text)], ['call', 'opaque']);
});

function damaged(text: string, random: Random): string {
  const at = Math.floor(random.next() * text.length);
  const length = Math.floor(random.next() * 40);
  const inserted = ['', '<', '>', '"', '(', ')', '{\n}', ', ', '\n', ';; Function x (y)', '[LP 9] ', 'case 1: <L2>', 'D.1'][
    Math.floor(random.next() * 13)
  ]!;
  return text.slice(0, at) + inserted + text.slice(at + length);
}

test('damaged dumps are parsed without an error', () => {
  for (let seed = 0; seed < sweep(300, 20_000); seed++) {
    const random = seededRandom(seed);
    let text = dump;
    for (let count = 1 + Math.floor(random.next() * 4); count > 0; count--) text = damaged(text, random);
    for (const [symbol, own] of splitDump(text).texts) parseFunction(symbol, own);
  }
});
