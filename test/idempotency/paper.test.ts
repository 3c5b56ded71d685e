/** The examples of the paper PICKER, with its numbers: answers of validators. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseAssumption } from '../../src/assumptions/assumption-parser.ts';
import { type Classification, classify } from '../../src/idempotency/classify.ts';
import { isKnownToHold } from '../../src/idempotency/validator/instance-condition.ts';
import { parameterPlaces } from '../../src/idempotency/validator/parameter-layout.ts';
import { closeSolver } from '../check/kernel-text.ts';
import { type CorpusKernel, readCorpus } from './corpus.ts';
import { checkCorpusKernel } from './validate.ts';

after(closeSolver);

const corpus = readCorpus();

/** A kernel of the corpus with only these statements of a user. */
function kernelOf(name: string, ...facts: readonly string[]): CorpusKernel {
  const kernel = corpus.find((one) => one.name === name)!;
  const stated = facts.map((text) => {
    const parsed = parseAssumption(text);
    assert.ok('expression' in parsed, text);
    return { expression: parsed.expression, text };
  });
  return { ...kernel, stated };
}

async function classified(kernel: CorpusKernel): Promise<Classification> {
  const { module, parameters, stated } = kernel;
  const checked = await checkCorpusKernel(kernel);
  return classify({ kernel: kernel.kernel, module, parameters, objectName: (symbol) => symbol, checked, stated });
}

interface Instance {
  readonly arguments: readonly (number | bigint)[];
  readonly grid?: number;
  readonly block?: number;
}

/** The answer of the validator for a launch; tables of the module have a separate address. */
function answer({ kernel }: CorpusKernel, { condition }: Classification, instance: Instance): boolean {
  const { grid = 2, block = 64 } = instance;
  const places = parameterPlaces(kernel.parameters);
  const view = new DataView(new ArrayBuffer(256));
  places.forEach(({ offset, bytes }, index) => {
    if (bytes === 8) view.setBigUint64(offset, BigInt(instance.arguments[index]!), true);
    else view.setInt32(offset, Number(instance.arguments[index]!), true);
  });
  const offsets = places.map(({ offset }) => offset);
  const symbol = (): bigint => 1n << 40n;
  return isKnownToHold(condition, {
    arguments: new Uint8Array(view.buffer),
    offsets,
    grid: [grid, 1, 1],
    block: [block, 1, 1],
    dynamicShared: 0,
    symbol,
  });
}

test('Figure 1: vectorSet, vectorInc, and both instances of vectorAdd', async () => {
  const [set, inc, add] = ['vectorSet', 'vectorInc', 'vectorAdd'].map((name) => kernelOf(name));
  assert.equal((await classified(set!)).class, 'idempotent');
  const increment = await classified(inc!);
  assert.ok(!answer(inc!, increment, { arguments: [0x10000], grid: 32 }));
  const sum = await classified(add!);
  assert.equal(sum.class, 'conditional');
  const clauses = sum.overlaps.map(({ written, read }) => ({ written, read }));
  assert.deepEqual(clauses, [{ written: 'A', read: ['B', 'C'] }]);
  const [x, y, z] = [0x10000, 0x20000, 0x30000];
  // vectorAdd<<<32, 64>>>(x, y, z) and (x, y, x)
  assert.ok(answer(add!, sum, { arguments: [x, y, z], grid: 32, block: 64 }));
  assert.ok(!answer(add!, sum, { arguments: [x, y, x], grid: 32, block: 64 }));
});

test('Figure 4: ReLU with 16 elements a thread is idempotent', async () => {
  const relu = kernelOf('elemwiseRelu');
  const found = await classified(relu);
  const at = (N: number, B = 0x20000): boolean => answer(relu, found, { arguments: [0x10000, B, N], grid: 0x20, block: 0x20 });
  assert.ok(at(4 * 33, 0x200000));
  // A is 0x10000 to 0x1ffff.
  assert.ok(at(16));
  assert.ok(!at(16, 0x1fffc));
  assert.ok(!at(17));
});

test('Figure 5: RO, MO and PE are idempotent without statements', async () => {
  const odd = kernelOf('evenFromOdd');
  const after = kernelOf('writeThenRead');
  const relu = kernelOf('elemwiseRelu');
  assert.ok(answer(odd, await classified(odd), { arguments: [0x10000] }), 'RO');
  assert.ok(answer(after, await classified(after), { arguments: [0x10000, 0x20000] }), 'MO');
  assert.ok(answer(relu, await classified(relu), { arguments: [0x100000, 0x200000, 1000] }), 'PE');
});

test('Figure 5: NA with a statement on pointers', async () => {
  const silent = kernelOf('storeThroughPointer');
  const told = kernelOf('storeThroughPointer', 'apart(pp[*])');
  const launch = { arguments: [0x10000, 0x20000], grid: 1, block: 32 };
  assert.ok(!answer(silent, await classified(silent), launch));
  const found = await classified(told);
  assert.ok(answer(told, found, launch));
  assert.ok(found.assumptions.includes('apart(pp[*])'));
});

test('Figure 5: NC with a statement on the operand of a condition', async () => {
  const silent = kernelOf('readOnCondition');
  const told = kernelOf('readOnCondition', 'cp[*] in 0..0');
  // x begins within dp, which is read only if the condition is true.
  const launch = { arguments: [0x10000, 0x20000, 0x20004, 128] };
  assert.ok(!answer(silent, await classified(silent), launch));
  assert.ok(answer(told, await classified(told), launch));
  // The condition itself is still read.
  const overwritten = { arguments: [0x20010, 0x30000, 0x20000, 128] };
  assert.ok(!answer(told, await classified(told), overwritten));
});

test('Figure 5: IF with the functions whose address the module takes', async () => {
  const called = kernelOf('activateIndirectly');
  const launch = { arguments: [1, 0x10000, 0x20000, 128] };
  assert.ok(answer(called, await classified(called), launch));
  assert.ok(!answer(called, await classified(called), { arguments: [1, 0x10000, 0x10004, 128] }));
});
