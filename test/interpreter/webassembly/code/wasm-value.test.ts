/** Variables of WebAssembly code: words, pairs of them, and numbers next to patterns. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WasmValue } from '../../../../src/interpreter/webassembly/code/wasm-value.ts';
import { wasmDomain, wordsOf } from '../../../../src/interpreter/webassembly/code/wasm-domain.ts';
import { ModuleBuilder } from '../../../../src/interpreter/webassembly/code/wasm-module.ts';
import { numberPhis } from '../../../../src/interpreter/webassembly/region/wasm-number.ts';
import { WasmSupport } from '../../../../src/interpreter/webassembly/code/wasm-support.ts';
import {
  append,
  localsOf,
  numberType,
  pushForVariable,
  setVariable,
  variable,
  wasmConstant,
  wasmLocal,
} from '../../../../src/interpreter/webassembly/code/wasm-value.ts';
import { kernel } from '../../core/launch-text.ts';

test('variables are set simultaneously, including pairs and numbers', () => {
  const builder = new ModuleBuilder();
  const body = builder.addFunction(['i32', 'i32', 'i64'], ['i64']);
  const domain = wasmDomain({ body, support: new WasmSupport(builder) });
  const assign = (targets: readonly WasmValue[], values: readonly WasmValue[]): void => {
    for (const [index, target] of targets.entries()) pushForVariable(body, target, values[index]!);
    for (const target of targets.toReversed()) setVariable(body, target);
  };
  const [a, b] = [variable(body, 32, 'f32'), variable(body, 32, 'f32')];
  const wide = variable(body, 128);
  assert.equal(localsOf(a).length, 2);
  assert.equal(localsOf(wide).length, 2);
  assign([a, b, wide], [wasmLocal('i32', 0), wasmLocal('i32', 1), wasmConstant(128, 5n << 64n)]);
  assign([a, b, wide], [b, a, domain.add(128, wide, domain.zeroExtend(64, 128, wasmLocal('i64', 2)))]);
  // a - b in f32, through the numbers, over the upper word plus the lower one.
  const float = { name: 'sub', from: 'f32', to: 'f32', rounding: 'rn', ftz: false, saturate: false };
  const difference = domain.float(float, [a, b]);
  const { low, high } = wordsOf(wide);
  const sum = domain.add(64, low, high);
  append(body, wordsOf(domain.zeroExtend(64, 128, domain.zeroExtend(32, 64, difference))).low);
  append(body, wordsOf(domain.zeroExtend(64, 128, sum)).low, 'i64.add');
  builder.exportFunction('f', body);
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(builder.encode()), { arithmetic: {} });
  const f = exports['f'] as (a: number, b: number, c: bigint) => bigint;
  // 1.0 and 3.0 swapped: 3 - 1 = 2.0.
  assert.equal(f(0x3f800000, 0x40400000, 100n), 0x40000000n + 105n);
});

test('floating-point sums in loops are stored as numbers, loop counters are not', () => {
  const code = kernel(`
    mov.f32 %f1, 0f00000000; mov.u32 %r1, 0; mov.f64 %e1, 0d0000000000000000; mov.u32 %r2, 0;
    OUTER: mov.u32 %r3, 0;
    INNER: ld.global.f32 %f2, [%d3]; fma.rn.f32 %f1, %f2, %f2, %f1; add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, %r9; @%p1 bra INNER;
    cvt.f64.f32 %e2, %f1; add.f64 %e1, %e1, %e2; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, %r9; @%p2 bra OUTER;
    st.global.f32 [%d4], %f1; st.global.f64 [%d1], %e1;`);
  const numbers = numberPhis(code);
  const types = code.blocks.flatMap(({ phis }) => phis.map(({ result }) => [code.values[result]!.register, numbers.get(result)]));
  assert.deepEqual(new Set(types.filter(([, type]) => type).map(String)), new Set(['%f1,f32', '%e1,f64']));
  assert.ok(types.some(([register, type]) => register === '%r3' && type === undefined));
});

test('only floating-point operations request their operands as numbers', () => {
  assert.equal(numberType('fma.rn.ftz.f32'), 'f32');
  assert.equal(numberType('add.f64'), 'f64');
  assert.equal(numberType('max.f32'), 'f32');
  for (const mnemonic of ['add.s32', 'add.f16', 'cvt.rn.f16.f32', 'ld.global.f32', 'fma.rn.f32x2', 'abs.f32']) {
    assert.equal(numberType(mnemonic), undefined, mnemonic);
  }
});
