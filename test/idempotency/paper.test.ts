/** The examples of the paper PICKER, with its numbers: answers of validators under its rules, and with extensions. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseAssumption } from '../../src/assumptions/assumption-parser.ts';
import { type Classification, classify } from '../../src/idempotency/classify.ts';
import { type Extensions, allExtensions, paperRules } from '../../src/idempotency/model/extensions.ts';
import { isKnownToHold } from '../../src/idempotency/validator/evaluate.ts';
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

async function classified(kernel: CorpusKernel, extensions: Extensions): Promise<Classification> {
  const { module, parameters, stated } = kernel;
  const checked = await checkCorpusKernel(kernel);
  return classify({ kernel: kernel.kernel, module, parameters, objectName: (symbol) => symbol, extensions, checked, stated });
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
  for (const rules of [paperRules, allExtensions]) {
    const [set, inc, add] = ['vectorSet', 'vectorInc', 'vectorAdd'].map((name) => kernelOf(name));
    assert.equal((await classified(set!, rules)).class, 'idempotent');
    const increment = await classified(inc!, rules);
    assert.ok(!answer(inc!, increment, { arguments: [0x10000], grid: 32 }));
    const sum = await classified(add!, rules);
    assert.equal(sum.class, 'conditional');
    const clauses = sum.overlaps.map(({ written, read }) => ({ written, read }));
    assert.deepEqual(clauses, [{ written: 'A', read: ['B', 'C'] }]);
    const [x, y, z] = [0x10000, 0x20000, 0x30000];
    // vectorAdd<<<32, 64>>>(x, y, z) and (x, y, x)
    assert.ok(answer(add!, sum, { arguments: [x, y, z], grid: 32, block: 64 }));
    assert.ok(!answer(add!, sum, { arguments: [x, y, x], grid: 32, block: 64 }));
  }
});

test('Figure 4: ReLU with 16 elements a thread is idempotent, and unrolled loops end at 32 iterations', async () => {
  const relu = kernelOf('elemwiseRelu');
  const at = async (rules: Extensions, N: number, B = 0x20000): Promise<boolean> =>
    answer(relu, await classified(relu, rules), { arguments: [0x10000, B, N], grid: 0x20, block: 0x20 });
  const unrolled = { ...paperRules, compaction: false };
  assert.ok(await at(unrolled, 16));
  // Its global condition: N <= 32. The compiler has unrolled by four, after up to three single iterations.
  assert.ok(await at(unrolled, 4 * 32 + 3, 0x200000));
  assert.ok(!(await at(unrolled, 4 * 33, 0x200000)));
  for (const rules of [paperRules, allExtensions]) {
    assert.ok(await at(rules, 4 * 33, 0x200000));
    // A is 0x10000 to 0x1ffff.
    assert.ok(await at(rules, 16));
    assert.ok(!(await at(rules, 16, 0x1fffc)));
    assert.ok(!(await at(rules, 17)));
  }
});

test('Figure 5: RO, MO and PE are idempotent without statements', async () => {
  const odd = kernelOf('evenFromOdd');
  const after = kernelOf('writeThenRead');
  const relu = kernelOf('elemwiseRelu');
  for (const [rules, expected] of [
    [{ ...paperRules, compaction: false }, false],
    [allExtensions, true],
  ] as const) {
    assert.equal(answer(odd, await classified(odd, rules), { arguments: [0x10000] }), expected, 'RO');
    const instance = { arguments: [0x10000, 0x20000] };
    assert.equal(answer(after, await classified(after, rules), instance), expected, 'MO');
    const rounds = { arguments: [0x100000, 0x200000, 1000] };
    assert.equal(answer(relu, await classified(relu, rules), rounds), expected, 'PE');
  }
});

test('Figure 5: NA with a statement on pointers', async () => {
  const silent = kernelOf('storeThroughPointer');
  const told = kernelOf('storeThroughPointer', 'apart(pp[*])');
  const launch = { arguments: [0x10000, 0x20000], grid: 1, block: 32 };
  assert.ok(!answer(silent, await classified(silent, allExtensions), launch));
  assert.ok(!answer(told, await classified(told, paperRules), launch));
  const found = await classified(told, allExtensions);
  assert.ok(answer(told, found, launch));
  assert.ok(found.assumptions.includes('apart(pp[*])'));
});

test('Figure 5: NC with a statement on the operand of a condition', async () => {
  const silent = kernelOf('readOnCondition');
  const told = kernelOf('readOnCondition', 'cp[*] in 0..0');
  // x begins within dp, which is read only if the condition is true.
  const launch = { arguments: [0x10000, 0x20000, 0x20004, 128] };
  assert.ok(!answer(silent, await classified(silent, allExtensions), launch));
  assert.ok(!answer(told, await classified(told, paperRules), launch));
  assert.ok(answer(told, await classified(told, allExtensions), launch));
  // The condition itself is still read.
  const overwritten = { arguments: [0x20010, 0x30000, 0x20000, 128] };
  assert.ok(!answer(told, await classified(told, allExtensions), overwritten));
});

test('Figure 5: IF with the functions whose address the module takes', async () => {
  const called = kernelOf('activateIndirectly');
  const launch = { arguments: [1, 0x10000, 0x20000, 128] };
  assert.ok(!answer(called, await classified(called, paperRules), launch));
  assert.ok(answer(called, await classified(called, allExtensions), launch));
  assert.ok(!answer(called, await classified(called, allExtensions), { arguments: [1, 0x10000, 0x10004, 128] }));
});
