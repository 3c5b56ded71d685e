import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standsInside } from '../../../src/cuda/enclosing-statement.ts';
import { cudaParser, lineOf } from './grammar.ts';

const text = `__global__ void k(int* a, int n) {
  if (threadIdx.x < n && // condition
      a[0] > 0) {        // its second line
    a[1] = 1;            // consequence
  } else
    a[2] = 2;            // alternative
  a[3] = 3;              // behind
  if (n > 3)             // return
    return;
  for (int i = 0; i < n; ++i) // loop
    a[i] = i;            // loop body
  do {
    a[4] = 4;            // do body
  } while (a[5] > n);    // do condition
}
`;

test('what stands in the body of the statement that a line heads', async () => {
  const source = (await cudaParser()).parse(text, 'a.cu');
  const inside = (condition: string, place: string): boolean =>
    standsInside(source, lineOf(text, `// ${condition}`), lineOf(text, `// ${place}`));
  assert.ok(inside('condition', 'consequence'));
  assert.ok(inside('condition', 'alternative'));
  assert.ok(inside('its second line', 'consequence'));
  assert.ok(inside('loop', 'loop body'));
  assert.ok(inside('do condition', 'do body'));
  assert.ok(!inside('condition', 'behind'));
  assert.ok(!inside('return', 'loop'));
  assert.ok(!inside('behind', 'consequence'));
});
