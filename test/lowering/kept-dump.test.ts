/** Host code that was lowered is not lowered again, in another checkout and after other changes. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { storeIn } from '../../src/app/cache/result-store.ts';
import type { HostDump } from '../../src/lowering/host-dump.ts';
import { lowerHost } from '../../src/lowering/lower-host.ts';
import { compilerLimits } from '../../src/toolchain/confinement.ts';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import type { KeptCode } from '../../src/toolchain/kept-code.ts';
import { assets } from '../app/compare/change-fixture.ts';
import { nvcc, temporaryFolder, withoutNvcc, wrappedCompiler, writeFiles } from '../toolchain/fixture.ts';

/** `size.h`, which is included twice where a preprocessed text is compiled with the flags of its file, defines a type. */
const programs = {
  'main.cu': `namespace { __global__ void fill(int* out) { out[threadIdx.x] = SIZE; } }
int main() { int* d; cudaMalloc(&d, 4 * SIZE); fill<<<1, SIZE>>>(d); }
`,
  'main.cpp': 'int* run(int n); int main() { return *run(SIZE); }',
};

/** A store that counts the dumps, and the inputs of dumps, that are written to it. */
function countingStore(context: TestContext): KeptCode & { readonly written: { dumps: number; inputs: number } } {
  const store = storeIn(temporaryFolder(context));
  const counting = {
    written: { dumps: 0, inputs: 0 },
    read: (parts: readonly unknown[]) => store.read(store.keyOf('build', parts)),
    write(parts: readonly unknown[], value: unknown) {
      if (typeof value === 'object') counting.written['inputs' in value! ? 'inputs' : 'dumps']++;
      store.write(store.keyOf('build', parts), value);
    },
  };
  return counting;
}

// The result is known to a process once it is tested, so that this test is the first one.
test('a compiler that once failed its test is tested again', { skip: withoutNvcc }, async (context) => {
  const found = await findCompiler({ path: wrappedCompiler(nvcc!).path, env: process.env });
  assert.ok('compiler' in found);
  const root = temporaryFolder(context);
  writeFiles(root, { 'main.cpp': 'int main() { return 0; }' });
  const written: unknown[] = [];
  const kept: KeptCode = {
    read: ([first]) => (first === 'self-test' ? false : undefined),
    write: ([first], value) => void (first === 'self-test' && written.push(value)),
  };
  const result = await lowerHost({
    compiler: found.compiler,
    root,
    file: join(root, 'main.cpp'),
    trust: 'user',
    limits: compilerLimits,
    include: assets.include,
    flags: [],
    arch: 'sm_80',
    kept,
    onLog: () => undefined,
  });
  assert.ok(!('problem' in result), JSON.stringify(result));
  assert.deepEqual(written, [true]);
});

for (const [name, program] of Object.entries(programs))
  test(`a dump of ${name} is kept by its files and by its preprocessed text`, { skip: withoutNvcc }, async (context) => {
    const found = await findCompiler({ path: wrappedCompiler(nvcc!).path, env: process.env });
    assert.ok('compiler' in found);
    const { compiler } = found;
    const kept = countingStore(context);
    const lowered = async (header: string) => {
      const root = temporaryFolder(context);
      writeFiles(root, { [name]: program, 'size.h': `${header}struct Once {};\n` });
      // Inputs that changed in the millisecond of the start are not kept.
      await sleep(20);
      const result = await lowerHost({
        compiler,
        root,
        file: join(root, name),
        trust: 'user',
        limits: compilerLimits,
        include: assets.include,
        flags: [{ args: ['-include', 'size.h'], origin: 'a test', directory: root }],
        arch: 'sm_80',
        kept,
        onLog: () => undefined,
      });
      assert.ok(!('problem' in result), JSON.stringify(result));
      return result;
    };
    const first = await lowered('#define SIZE 64\n');
    const again = await lowered('#define SIZE 64\n');
    // Nothing changed, so that no program runs.
    assert.deepEqual(kept.written, { dumps: 1, inputs: 1 });
    assert.ok(first.key !== null && first.key === again.key);
    // Folders are those of the checkout and of the compilation.
    const placeless = ({ gimple, assembly }: HostDump): string[] =>
      [gimple, assembly].map((text) => text.replaceAll(/\/[^\s":()]*\/(?=[^\s"/:()]*[":)])/g, ''));
    assert.deepEqual(placeless(again.dump()), placeless(first.dump()));
    assert.deepEqual([...again.files.values()], [...first.files.values()]);
    const commented = await lowered('#define SIZE 64 // elements\n');
    assert.deepEqual(kept.written, { dumps: 1, inputs: 2 });
    assert.deepEqual(placeless(commented.dump()), placeless(first.dump()));
    const other = await lowered('#define SIZE 32\n');
    assert.deepEqual(kept.written, { dumps: 2, inputs: 3 });
    assert.notEqual(other.key, first.key);
    assert.match(other.dump().gimple, /32/);
  });
