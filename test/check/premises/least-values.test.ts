/** Least values that statements imply together: no launch that satisfies the statements has a scalar below them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAssumption } from '../../../src/assumptions/assumption-parser.ts';
import { evaluateCondition } from '../../../src/assumptions/evaluate.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { keyOfValue, leastValues } from '../../../src/check/premises/least-values.ts';
import { conditionsOf } from '../../../src/check/premises/premises.ts';
import type { ParameterSource } from '../../../src/launch/parameter-source.ts';
import { sweep } from '../../run/sweep.ts';

const names = ['n', 'a', 'b', 'c'] as const;
const parameters: readonly ParameterSource[] = names.map((name) => ({ name, type: 'int' }));

function conditionsIn(texts: readonly string[]) {
  return conditionsOf(
    texts.map((text) => {
      const parsed = parseAssumption(text);
      if ('error' in parsed) assert.fail(`${text}: ${parsed.error}`);
      return { expression: parsed.expression, text };
    }),
  );
}

function least(...texts: string[]): (bigint | undefined)[] {
  const found = leastValues(conditionsIn(texts), parameters);
  return names.map((_, index) => found.get(keyOfValue(index, 0)));
}

test('bounds pass from one statement to the next', () => {
  assert.deepEqual(least('n >= 1', 'a >= n', 'b >= n * a + n - a'), [1n, 1n, 1n, undefined]);
  assert.deepEqual(least('n > 2', 'a >= gridDim.x * n + 1'), [3n, 4n, undefined, undefined]);
  assert.deepEqual(least('2 * a >= 7', '5 <= b', 'c == 4'), [undefined, 4n, 5n, 4n]);
  assert.deepEqual(least('3 * a >= n', 'n >= -4'), [-4n, -1n, undefined, undefined]);
});

test('no bound follows from a scalar without one, a negative product, or another sign', () => {
  assert.deepEqual(least('a >= n'), [undefined, undefined, undefined, undefined]);
  assert.deepEqual(least('n >= 1', 'a >= 5 - n'), [1n, undefined, undefined, undefined]);
  assert.deepEqual(least('n >= 1', 'b >= 1', 'a >= 10 - n * b'), [1n, undefined, 1n, undefined]);
  assert.deepEqual(least('n <= 4', 'a != 3', 'a * n >= 1'), [undefined, undefined, undefined, undefined]);
  assert.deepEqual(least('n >= 1', 'a + a * n >= 1'), [1n, undefined, undefined, undefined]);
});

test('statements that contradict each other end', () => {
  assert.equal(least('a >= b + 1', 'b >= a + 1', 'a >= 0')[0], undefined);
});

test('random statements: every solution is at least the bounds', () => {
  let bounded = 0;
  for (let seed = 0; seed < sweep(600, 20_000); seed++) {
    const random = seededRandom(seed);
    const product = (): string =>
      Array.from({ length: random.between(1, 2) }, () => random.pick([...names, 'blockDim.x', '2', '3'])).join(' * ');
    const sum = (): string => Array.from({ length: random.between(1, 3) }, product).join(random.pick([' + ', ' - ']));
    const texts = Array.from(
      { length: random.between(1, 4) },
      () =>
        `${random.chance(0.7) ? random.pick(names) : sum()} ${random.pick(['>=', '>', '==', '<=', '<'])} ${random.chance(0.4) ? random.between(-3, 3) : sum()}`,
    );
    const conditions = conditionsIn(texts);
    const found = leastValues(conditions, parameters);
    if (found.size === 0) continue;
    for (let trial = 0; trial < 200; trial++) {
      const values = names.map(() => BigInt(random.between(-6, 9)));
      const block = BigInt(random.between(1, 4));
      const holds = conditions.every((condition) =>
        evaluateCondition(condition, (name) => (name.kind === 'dimension' ? block : values[names.indexOf(name.path[0] as 'n')])),
      );
      if (!holds) continue;
      for (const [index, value] of values.entries()) {
        const bound = found.get(keyOfValue(index, 0));
        if (bound === undefined) continue;
        bounded++;
        assert.ok(value >= bound, `seed ${seed}: ${texts.join('; ')}: ${names[index]} is ${value}, not at least ${bound}`);
      }
    }
  }
  assert.ok(bounded > 2000, `${bounded}`);
});
