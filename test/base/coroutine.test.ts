import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complete, settled, type Steps } from '../../src/base/coroutine.ts';

function* sum(...parts: readonly Promise<number>[]): Steps<number> {
  let total = 0;
  for (const part of parts) total += yield* settled(() => part);
  return total;
}

test('steps wait for the promises that they yield', async () => {
  assert.equal(await complete(sum(Promise.resolve(2), Promise.resolve(3))), 5);
});

test('steps receive the error of a rejected promise, and may continue', async () => {
  function* careful(): Steps<string> {
    try {
      return `${yield* sum(Promise.reject(new Error('boom')))}`;
    } catch (error) {
      return `after ${(error as Error).message}`;
    }
  }
  assert.equal(await complete(careful()), 'after boom');
  await assert.rejects(complete(sum(Promise.resolve(1), Promise.reject(new Error('boom')))), /boom/);
});

test('each section between two waits is advanced separately, and an exception from advancing ends it', async () => {
  let stretches = 0;
  const three = await complete(sum(Promise.resolve(1), Promise.resolve(2)), (stretch) => {
    stretches += 1;
    return stretch();
  });
  assert.deepEqual([three, stretches], [3, 3]);
  const refusing = (): never => {
    throw new Error('no time');
  };
  await assert.rejects(complete(sum(Promise.resolve(1)), refusing), /no time/);
});
