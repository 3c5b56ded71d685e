import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayHaveReturned } from '../../../src/cuda/early-return.ts';
import { cudaParser, lineOf } from './grammar.ts';

const text = `#define LEAVE_BEHIND(i, n) if ((i) >= (n)) return
#define EACH(i, n) for (int i = threadIdx.x; i < (n); i += 32)
__global__ void k(int* a, int n) {
  if (threadIdx.x < n && // guard
      a[0] > 0) {        // its second line
    a[1] = 1;            // guarded
  }
  if (n > 3) {           // leaves
    a[2] = 2;            // before it leaves
    return;
  }
  a[3] = 3;              // behind
  for (int i = 0; i < n; ++i) { // loop
    if (threadIdx.x == i) return; // leaves the loop
    a[i] = i;            // loop body
  }
  LEAVE_BEHIND(n, 9);    // macro that returns
  EACH(i, n) a[i] = 1;   // macro that loops
  OTHER_MACRO(n);        // macro from elsewhere
  if (n > 5) { a[4] = 1; return; } a[5] = 5; // one line
  do {                   // endless
    if (n > 7) break;    // break
    a[6] = 6;
  } while (true);
}
`;

test('threads may have returned where a statement of the line holds a return', async () => {
  const source = (await cudaParser()).parse(text, 'a.cu');
  const at = (marker: string): number => lineOf(text, `// ${marker}`);
  const returned = (lines: readonly string[], place: string): boolean =>
    mayHaveReturned(source, new Set(lines.map(at)), { line: at(place) });
  assert.ok(returned(['leaves'], 'behind'));
  assert.ok(returned(['loop', 'leaves the loop'], 'loop body'));
  assert.ok(returned(['macro that returns'], 'macro that loops'));
  assert.ok(returned(['macro from elsewhere'], 'one line'));
  assert.ok(!returned(['leaves'], 'before it leaves'));
  assert.ok(!returned(['guard'], 'guarded'));
  assert.ok(!returned(['its second line'], 'guarded'));
  assert.ok(!returned(['guard'], 'behind'));
  assert.ok(!returned(['loop'], 'loop body'));
  assert.ok(!returned(['macro that loops'], 'macro that loops'));
  assert.ok(!returned(['break'], 'endless'));
});

test('columns tell places on one line apart', async () => {
  const source = (await cudaParser()).parse(text, 'a.cu');
  const line = lineOf(text, '// one line');
  const column = (part: string): number => text.split('\n')[line - 1]!.indexOf(part) + 1;
  assert.ok(mayHaveReturned(source, new Set([line]), { line, column: column('a[5]') }));
  assert.ok(!mayHaveReturned(source, new Set([line]), { line, column: column('a[4]') }));
});
