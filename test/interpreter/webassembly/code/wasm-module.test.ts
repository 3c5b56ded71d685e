/** The encoder writes modules that the engine accepts and that compute the results of the encoded code. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FunctionBody, WasmType } from '../../../../src/interpreter/webassembly/code/wasm-module.ts';
import { ModuleBuilder } from '../../../../src/interpreter/webassembly/code/wasm-module.ts';

function load(builder: ModuleBuilder, imports: WebAssembly.Imports = {}): Readonly<Record<string, unknown>> {
  return new WebAssembly.Instance(new WebAssembly.Module(builder.encode()), imports).exports;
}

/** A module with one function. */
function compile(
  parameters: readonly WasmType[],
  result: WasmType,
  write: (body: FunctionBody) => void,
): (...values: readonly (number | bigint)[]) => number | bigint {
  const builder = new ModuleBuilder();
  const body = builder.addFunction(parameters, [result]);
  write(body);
  builder.exportFunction('f', body);
  return load(builder)['f'] as never;
}

test('constants of every length are encoded', () => {
  const numbers = [0, 1, -1, 63, 64, -64, -65, 127, 128, 8191, 8192, -8193, 2 ** 31 - 1, -(2 ** 31)];
  for (const value of numbers) assert.equal(compile([], 'i32', (body) => body.i32(value))(), value);
  for (const value of [...numbers.map(BigInt), 2n ** 62n, 2n ** 63n - 1n, -(2n ** 63n), -(2n ** 62n) - 1n]) {
    assert.equal(compile([], 'i64', (body) => body.i64(value))(), value);
  }
  assert.equal(compile([], 'f64', (body) => body.f64(-0.1))(), -0.1);
  assert.equal(compile([], 'f32', (body) => body.f32(0.1))(), Math.fround(0.1));
});

test('loops, blocks and tables branch to their labels', () => {
  const sum = compile(['i32'], 'i32', (body) => {
    const total = body.local('i32');
    const done = body.block();
    const again = body.loop();
    body.get(0);
    body.op('i32.eqz');
    body.brIf(done);
    body.get(total);
    body.get(0);
    body.op('i32.add');
    body.set(total);
    body.get(0);
    body.i32(1);
    body.op('i32.sub');
    body.set(0);
    body.br(again);
    body.end();
    body.end();
    body.get(total);
  });
  assert.equal(sum(1000), 500500);

  const choose = compile(['i32'], 'i32', (body) => {
    const otherwise = body.block();
    const second = body.block();
    const first = body.block();
    body.get(0);
    body.brTable([first, second, first], otherwise);
    body.end();
    body.i32(10);
    body.op('return');
    body.end();
    body.i32(20);
    body.op('return');
    body.end();
    body.get(0);
    body.i32(5);
    body.op('i32.lt_u');
    body.if('i32');
    body.i32(30);
    body.else();
    body.i32(40);
    body.end();
  });
  assert.deepEqual(
    [0, 1, 2, 3, 5, -1].map((value) => choose(value)),
    [10, 20, 10, 30, 40, 40],
  );
});

test('functions call each other and imports, in any order of addition', () => {
  const builder = new ModuleBuilder();
  const outer = builder.addFunction(['i32'], ['i64']);
  const inner = builder.addFunction(['i32'], ['i32']);
  outer.get(0);
  outer.call(inner);
  outer.call(builder.importFunction('host', 'widen', ['i32'], ['i64']));
  inner.get(0);
  inner.call(builder.importFunction('host', 'twice', ['i32'], ['i32']));
  inner.call(builder.importFunction('host', 'twice', ['i32'], ['i32']));
  builder.exportFunction('outer', outer);
  const host = { twice: (value: number) => 2 * value, widen: (value: number) => BigInt(value) << 40n };
  const exports = load(builder, { host });
  assert.equal((exports['outer'] as (value: number) => bigint)(3), 12n << 40n);
});

test('memory is shared with the host', () => {
  const builder = new ModuleBuilder();
  builder.importMemory('host', 'memory', { minimum: 1 });
  const body = builder.addFunction([], []);
  body.i32(0);
  body.i64(-1n);
  body.memory('i64.store32', 104);
  builder.exportFunction('run', body);
  const memory = new WebAssembly.Memory({ initial: 1 });
  const exports = load(builder, { host: { memory } });
  (exports['run'] as () => void)();
  const view = new DataView(memory.buffer);
  assert.equal(view.getUint32(104, true), 0xffffffff);
  assert.equal(view.getUint32(108, true), 0);
});

test('freed locals are reused, live ones are not', () => {
  const body = new ModuleBuilder().addFunction(['i32'], []);
  const before = body.local('i32');
  const mark = body.mark();
  const [first, second, kept] = [body.local('i32'), body.local('i64'), body.local('i32')];
  body.freeSince(mark, new Set([kept]));
  assert.equal(body.local('i64'), second);
  assert.equal(body.local('i32'), first);
  const next = body.local('i32');
  assert.ok(![0, before, first, kept].includes(next));
  assert.equal(body.typeOf(second), 'i64');
});

test('code of more than 64 KiB is accepted', () => {
  const run = compile(['i32'], 'i32', (body) => {
    body.get(0);
    for (let index = 0; index < 30000; index++) {
      body.i32(index);
      body.op('i32.add');
    }
    assert.ok(body.size > 2 ** 16);
  });
  assert.equal(run(1), 449985001);
});
