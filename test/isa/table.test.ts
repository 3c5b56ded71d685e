import type { OperandShape } from '../../src/isa/model/row.ts';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { decode, tableRows } from '../../src/isa/table.ts';
import { decodeExamples, exampleModule } from './example-module.ts';
import { examples, targets, withoutExample } from './examples.ts';

const decoded = decodeExamples(examples);

test('every example decodes, with the operands of its text', () => {
  for (const { example, instruction, operation } of decoded) {
    assert.ok(operation, example.text);
    assert.equal(example.text.split(' ')[0], operation.mnemonic);
    const { results, sources, carry, effect } = operation;
    if (effect.kind === 'call' || effect.kind === 'return') continue;
    const named = results.length + sources.length - (carry?.in ? 1 : 0) - (carry?.out ? 1 : 0);
    const written = instruction.operands.flatMap((operand) => {
      if (operand.kind === 'vector') return operand.elements;
      if (operand.kind === 'pair')
        return operand.first.kind === 'vector' ? [...operand.first.elements, operand.second] : [operand.first, operand.second];
      return ['bracketed', 'list', 'symbol', 'component'].includes(operand.kind) ? [] : [operand];
    });
    assert.equal(written.length, named, example.text);
  }
});

test('every row has an example, and treats it as specified', () => {
  const shown = new Set(decoded.map(({ row }) => row));
  const missing = tableRows
    .filter((row) => !shown.has(row))
    .map(({ opcode, section }) => `${opcode} ${section}`)
    .filter((name) => !withoutExample.has(name));
  assert.deepEqual(missing, []);
  for (const { example, operation, row } of decoded) {
    assert.ok(operation && row);
    const { kind } = operation.effect;
    const isHavoc = kind === 'havoc' || kind === 'surface-store' || kind === 'warpgroup-multiply';
    const expected = kind === 'opaque' ? ['opaque'] : isHavoc ? ['havoc'] : ['exact', 'approximate'];
    assert.ok(expected.includes(row.treatment), `${example.text} is ${kind}, ${row.treatment}`);
    assert.equal(/\.(approx|full)\b/.test(operation.mnemonic), row.treatment === 'approximate', example.text);
  }
});

test('every row cites a section of PTX ISA 9.7 and lists its forms', () => {
  for (const { opcode, section, forms } of tableRows) {
    assert.match(section, /^9\.7\.\d+(\.\d+){0,4}$/, opcode);
    assert.ok(section.split('.').length > 3 || opcode === 'tcgen05', `${opcode} ${section}`);
    assert.ok(forms.includes(opcode), `${opcode}: ${forms}`);
  }
});

test('decoding the same instruction again returns the same operation', () => {
  const register = { kind: 'scalar', widths: [32] } as const;
  const shape = (table: bigint): OperandShape => [
    register,
    register,
    register,
    register,
    { kind: 'scalar', widths: [null], literal: table },
  ];
  assert.equal(decode('lop3', ['b32'], shape(1n)), decode('lop3', ['b32'], shape(1n)));
  assert.notEqual(decode('lop3', ['b32'], shape(1n)), decode('lop3', ['b32'], shape(2n)));
  assert.equal(
    decode('add', ['s32'], [register, register, { kind: 'scalar', widths: [null], literal: 1n }]),
    decode('add', ['s32'], [register, register, { kind: 'scalar', widths: [null], literal: 2n }]),
  );
});

test('operations that affect no memory of their kernel have a rule and no others have', () => {
  for (const { example, operation } of decoded) {
    const isComputed = operation?.effect.kind === 'pure' || operation?.effect.kind === 'grid-dependency';
    assert.equal(operation?.evaluate !== undefined, isComputed, example.text);
  }
});

test('unsupported opcodes, modifiers, operand counts and widths are unknown', () => {
  assert.equal(decode('frobnicate', ['s32']), null);
  assert.equal(decode('add', ['s32', 'bogus']), null);
  assert.equal(decode('add', ['s24']), null);
  assert.equal(decode('add', []), null);
  assert.equal(decode('ld', ['shared::cluster', 'u32'])?.effect.kind, 'opaque');
  assert.equal(decode('ld', ['global', 'acquire', 'u32', 'xyz']), null);
  assert.equal(decode('atom', ['global', 'frob', 'u32']), null);
  const register = (width: 16 | 32 | 64) => ({ kind: 'scalar', widths: [width] }) as const;
  assert.ok(decode('add', ['s32'], [register(32), register(32), register(32)]));
  assert.equal(decode('add', ['s32'], [register(32), register(64), register(32)]), null);
  assert.equal(decode('add', ['s32'], [register(32), register(32)]), null);
});

test('registers wider than ld, st and cvt need determine the widths', () => {
  const address = { kind: 'address', widths: [64] } as const;
  const load = decode('ld', ['global', 'u8'], [{ kind: 'scalar', widths: [32] }, address]);
  assert.deepEqual(load?.results, [32]);
  assert.deepEqual(load?.effect, {
    kind: 'load',
    space: 'global',
    bytes: 1,
    lanes: 1,
    extend: 'zero',
    semantics: 'weak',
    scope: 'cta',
    nonCoherent: false,
  });
  const store = decode('st', ['global', 'u8'], [address, { kind: 'scalar', widths: [16] }]);
  assert.deepEqual(store?.sources, [64, 16]);
  assert.equal(decode('ld', ['global', 'u64'], [{ kind: 'scalar', widths: [32] }, address]), null);
});

test('semantics and scopes', () => {
  const effect = (mnemonic: string): unknown => {
    const [opcode, ...modifiers] = mnemonic.split('.');
    const { semantics, scope, space } = decode(opcode!, modifiers)!.effect as Record<string, unknown>;
    return [semantics, scope, space];
  };
  assert.deepEqual(effect('ld.volatile.shared.u32'), ['volatile', 'sys', 'shared']);
  assert.deepEqual(effect('ld.acquire.gpu.u32'), ['acquire', 'gpu', 'generic']);
  assert.deepEqual(effect('st.release.cta.global.u32'), ['release', 'cta', 'global']);
  assert.deepEqual(effect('ld.mmio.relaxed.sys.global.u32'), ['mmio', 'sys', 'global']);
  assert.deepEqual(effect('atom.add.u32'), ['relaxed', 'gpu', 'generic']);
  assert.deepEqual(effect('atom.acq_rel.cta.shared.add.u32'), ['acq_rel', 'cta', 'shared']);
  assert.deepEqual(effect('membar.gl'), ['sc', 'gpu', undefined]);
  assert.deepEqual(effect('fence.acq_rel.sys'), ['acq_rel', 'sys', undefined]);
});

function ptxas(): string | null {
  try {
    execFileSync('ptxas', ['--version'], { stdio: 'ignore' });
    return 'ptxas';
  } catch {
    return null;
  }
}

for (const { name, accepts } of targets) {
  test(`ptxas accepts every example for sm_${name}`, { skip: ptxas() === null && 'no ptxas' }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'selvage-isa-'));
    try {
      const file = join(folder, 'examples.ptx');
      const accepted = examples.filter(({ target }) => accepts.includes(target));
      writeFileSync(file, exampleModule(accepted, name));
      execFileSync('ptxas', ['-O0', `-arch=sm_${name}`, file, '-o', join(folder, 'examples.cubin')], {
        stdio: 'pipe',
        encoding: 'utf8',
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
