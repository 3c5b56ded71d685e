import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CheckOptions, kernelOf, load, requestFor, store } from '../check/kernel-text.ts';
import { sightsOf } from './wanted-severity.ts';

/** The results of runs for indices that leave their object, as text. */
function left(body: string, declarations: string, options: CheckOptions): string[] {
  const { shown } = sightsOf(requestFor(kernelOf(body, declarations), options));
  return shown.map(({ what, right, text }) => `${what}: ${text}, ${right.join(' or ')}`);
}

test('an index beyond the dynamic shared memory is an error only if the launch specifies the size', () => {
  const dynamic = '.extern .shared .align 16 .b8 dynamic[];';
  const at = (byte: number): string => `mov.u64 %d30, dynamic; st.shared.u32 [%d30+${byte}], %r9;`;
  const one = (byte: number, sharedBytes: number | null): string[] =>
    left(`setp.eq.s32 %p1, %r0, 0; @!%p1 bra G; ${at(byte)} G:`, dynamic, { launch: { sharedBytes } });
  assert.deepEqual(one(60_000, 49_152), ['out of bounds: byte 60000 of 49152 in dynamic, error']);
  assert.deepEqual(one(60_000, 73_728), []);
  assert.deepEqual(one(60_000, null), []);
  // No launch has that amount.
  assert.equal(one(300_000, null).length, 1);
});

test('an index derived from the block dimensions is an error only if the launch specifies them', () => {
  const table = '.const .align 4 .b8 table[396];';
  const start = 'mov.u64 %d30, table; cvta.const.u64 %d30, %d30;';
  const ofThread = `${start} ${load('%r1', '%d30', '%r0', 10)} ${store('%d1', '%r7', '%r1', 11)}`;
  assert.match(left(ofThread, table, { block: [128, 1, 1] })[0] ?? '', /^out of bounds: byte 396 of 396 in table, error$/);
  assert.deepEqual(left(ofThread, table, { block: [99, 1, 1] }), []);
  assert.deepEqual(left(ofThread, table, { block: null }), []);
  // A result independent of contents appears in every launch, for any stored values.
  const fixed = `${start} mov.u32 %r2, 99; ${load('%r1', '%d30', '%r2', 10)} ${store('%d1', '%r7', '%r1', 11)}`;
  assert.match(left(fixed, table, { block: null })[0] ?? '', /^out of bounds: byte 396 of 396 in table, /);
});
