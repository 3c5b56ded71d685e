import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Departure, departure } from '../../../src/cuda/reading/early-return.ts';
import { cudaParser, lineOf } from '../syntax/grammar.ts';

const text = `#define LEAVE_BEHIND(i, n) if ((i) >= (n)) return
#define leave(i, n) LEAVE_BEHIND(i, n)
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
  a[3] = 3;              // below
  for (int i = 0; i < n; ++i) { // loop
    if (threadIdx.x == i) return; // leaves the loop
    a[i] = i;            // loop body
  }
  LEAVE_BEHIND(n, 9);    // macro that returns
  EACH(i, n) a[i] = 1;   // macro that loops
  OTHER_MACRO(n);        // macro from elsewhere
  leave(n, 2);           // macro of a macro
  if (CEIL(n) < 4) { a[7] = 1; } // call in capitals
  if (n > 8) { auto f = [](int k) { return k; }; a[8] = f(n); } // lambda
  if (n > 11) asm volatile("exit;"); // instruction
  if (n > 5) { a[4] = 1; return; } a[5] = 5; // one line
  do {                   // endless
    if (n > 7) break;    // break
    a[6] = 6;
  } while (true);
}
`;

test('threads have returned if the statement that decides them contains a return', async () => {
  const source = (await cudaParser()).parse(text, 'a.cu');
  const at = (marker: string): { line: number } => ({ line: lineOf(text, `// ${marker}`) });
  const told = (markers: readonly string[], place: string): Departure => departure(source, markers.map(at), at(place));
  assert.equal(told(['leaves'], 'below'), 'returned');
  assert.equal(told(['leaves the loop'], 'loop body'), 'returned');
  assert.equal(told(['macro that returns'], 'macro that loops'), 'returned');
  assert.equal(told(['macro of a macro'], 'one line'), 'returned');
  assert.equal(told(['instruction'], 'one line'), 'returned');
  assert.equal(told(['macro from elsewhere'], 'one line'), 'unclear');
  assert.equal(told(['leaves', 'guard'], 'below'), 'unclear');
  for (const [marker, place] of [
    ['leaves', 'before it leaves'],
    ['guard', 'guarded'],
    ['its second line', 'guarded'],
    ['guard', 'below'],
    ['loop', 'loop body'],
    ['macro that loops', 'macro that loops'],
    ['call in capitals', 'one line'],
    ['lambda', 'one line'],
    ['break', 'endless'],
  ] as const)
    assert.equal(told([marker], place), 'passed', marker);
});

test('a condition that is computed earlier is located at the branch', async () => {
  const source = (await cudaParser()).parse(text, 'a.cu');
  const at = (marker: string): { line: number } => ({ line: lineOf(text, `// ${marker}`) });
  assert.equal(departure(source, [at('below')], at('one line'), at('leaves')), 'returned');
  assert.equal(departure(source, [at('below')], at('guarded'), at('guard')), 'passed');
});

test('code on the line of an early return may be before or after the return', async () => {
  const { parse } = await cudaParser();
  const told = (line: string): string =>
    departure(parse(`__global__ void k(int* a, int i, int n) {\n${line}\n}\n`, 'a.cu'), [{ line: 2 }], { line: 2 });
  assert.equal(told('if (i >= n) return; __syncthreads();'), 'unclear');
  assert.equal(told('if (i < n) { __syncthreads(); return; }'), 'passed');
  assert.equal(told('if (i < n) { __syncthreads(); return; } // all of them'), 'passed');
  assert.equal(told('if (i < n) { __syncthreads(); a[i] = 1; } a[0] = 2;'), 'passed');
});
