import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeSolver, store, verdicts } from './kernel-text.ts';

after(closeSolver);

const repeat = (count: number, text: (i: number) => string): string => Array.from({ length: count }, (_, i) => text(i)).join('\n');

test('a value that takes thousands of instructions is an unknown, and only a run determines it', async () => {
  const steps = repeat(3000, (i) => `mad.lo.s32 %r10, %r10, ${(i % 7) + 2}, %r9; xor.b32 %r10, %r10, ${i};`);
  const body = `mov.u32 %r10, %r0; ${steps}`;
  assert.equal(await verdicts(`${body} ${store('%d1', '%r0', '%r10', 20)}`), 'proved/proved');
  assert.equal(await verdicts(`${body} ${store('%d1', '%r10', '%r0', 20)}`), 'race/proved');
});

test('a value whose every step is used several times does not grow without bound', async () => {
  const steps = repeat(40, () => 'shl.b32 %r11, %r10, 13; xor.b32 %r10, %r10, %r11; shr.u32 %r11, %r10, 17; xor.b32 %r10, %r10, %r11;');
  const body = `add.s32 %r10, %r0, %r9; ${steps} and.b32 %r12, %r10, 1023;`;
  assert.equal(await verdicts(`${body} ${store('%d1', '%r12', '%r0', 20)}`), 'possible/proved');
  const branch = `setp.eq.s32 %p1, %r12, 5; @%p1 bra L; ${store('%d1', '%r0', '%r12', 20)} L:`;
  assert.equal(await verdicts(`${body} ${branch}`), 'proved/proved');
});
