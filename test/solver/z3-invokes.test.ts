import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instantiateWithInvokes } from '../../src/solver/z3-invokes.ts';

const [i32, functionReference] = [0x7f, 0x70];
const magic = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const text = (name: string): number[] => [name.length, ...Buffer.from(name)];
const section = (id: number, ...entries: number[][]): number[] => [id, entries.flat().length + 1, entries.length, ...entries.flat()];
const body = (...code: number[]): number[] => [code.length + 2, 0, ...code, 0x0b];

/**
 * The part of a C++ program that the calls concern: `main` calls the function at 0 in a `try` block, which throws its
 * argument. The result of `main` is the value of `threw` afterwards, and `stack` is the restored stack pointer.
 */
const program = new WebAssembly.Module(
  Uint8Array.from([
    ...magic,
    ...section(1, [0x60, 1, i32, 0], [0x60, 0, 1, i32], [0x60, 2, i32, i32, 0], [0x60, 3, i32, i32, i32, 0]),
    ...section(2, [...text('env'), ...text('__cxa_throw'), 0, 3], [...text('env'), ...text('invoke_vi'), 0, 2]),
    ...section(3, [0], [1], [1], [0], [2]),
    ...section(4, [functionReference, 0, 1]),
    ...section(6, [i32, 1, 0x41, 0, 0x0b], [i32, 1, 0x41, 32, 0x0b]),
    ...section(
      7,
      [...text('main'), 0, 3],
      [...text('emscripten_stack_get_current'), 0, 4],
      [...text('_emscripten_stack_restore'), 0, 5],
      [...text('setThrew'), 0, 6],
      [...text('__indirect_function_table'), 1, 0],
    ),
    ...section(9, [0, 0x41, 0, 0x0b, 1, 2]),
    ...section(
      10,
      // the callee: it moves the stack, and throws
      body(0x41, 48, 0x24, 1, 0x20, 0, 0x41, 0, 0x41, 0, 0x10, 0),
      // main: invoke_vi(0, 7); threw * 100 + stack
      body(0x41, 0, 0x41, 7, 0x10, 1, 0x23, 0, 0x41, 0xe4, 0, 0x6c, 0x23, 1, 0x6a),
      body(0x23, 1),
      body(0x20, 0, 0x24, 1),
      body(0x20, 0, 0x24, 0),
    ),
  ]),
);

class CppException extends Error {
  readonly excPtr = 7;
}

/** Runs `main`; the JavaScript function for `invoke_vi` must not be called. */
function run(thrower: (value: number) => void): number {
  const called = (): never => assert.fail('invoke_vi of JavaScript was called');
  const env = { __cxa_throw: thrower as WebAssembly.ImportedFunction, invoke_vi: called };
  const instance = instantiateWithInvokes(program, { env });
  assert.ok(instance, 'this engine knows exceptions of WebAssembly');
  return (instance.exports as unknown as { main: () => number }).main();
}

test('an exception of a callee is recorded, and the stack pointer is restored', () => {
  const thrown: number[] = [];
  const result = run((value) => {
    thrown.push(value);
    throw new CppException();
  });
  assert.deepEqual(thrown, [7]);
  assert.equal(result, 132);
});

test('a callee that returns normally leaves the exception state unchanged', () => {
  assert.equal(
    run(() => {}),
    48,
  );
});

test('an error of JavaScript ends the program', () => {
  assert.throws(
    () =>
      run(() => {
        throw new RangeError('no exception of C++');
      }),
    /no exception of C\+\+/,
  );
});

test('a program without such calls is not instantiated', () => {
  assert.equal(instantiateWithInvokes(program, { env: { invoke_other: () => 0 } }), null);
});
