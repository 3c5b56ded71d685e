import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { check, closeSolver } from './kernel-text.ts';

after(closeSolver);

/** `row = *a; row[b + tid] = …; a[tid + 64] = …`, in bytes. */
const body = `ld.u64 %d10, [%d1]; cvt.u64.u32 %d12, %r0; add.s64 %d11, %d10, %d2; add.s64 %d11, %d11, %d12;
  st.u8 [%d11], %r0; add.s64 %d13, %d1, %d12; st.u8 [%d13+64], %r0;`;

test('a parameter that may be an index is not the base of the object of a loaded pointer', async () => {
  const { race } = await check(body, { parameters: [] });
  assert.equal(race.verdict, 'possible');
  assert.match(race.reason!, /dereferences a pointer whose target/);
  const index = await check(body, {
    parameters: [
      { name: 'a', type: 'char **' },
      { name: 'b', type: 'index_t' },
    ],
  });
  assert.equal(index.race.verdict, 'possible');
});

test('a declared pointer is a base with any offset', async () => {
  const offset = `ld.u64 %d10, [%d1]; cvt.u64.u32 %d12, %r0; add.s64 %d11, %d10, %d2; st.u8 [%d11], %r0;`;
  const parameters = [
    { name: 'a', type: 'const long long *' },
    { name: 'b', type: 'char *' },
  ];
  const { race } = await check(offset, { parameters });
  assert.equal(race.findings[0]!.array, 'b');
});

test('a parameter that is converted to a global address is a base with any offset', async () => {
  // An unknown offset of 64 bits, in bytes.
  const offset = (base: string): string => `ld.global.u64 %d12, [%d1]; add.s64 %d11, ${base}, %d12; st.global.u8 [%d11], %r0;`;
  const raced = await check(`cvta.to.global.u64 %d10, %d2; ${offset('%d10')}`, { parameters: [] });
  assert.equal(raced.race.findings[0]!.array, 'param1');
  const { race } = await check(offset('%d2'), { parameters: [] });
  assert.match(race.reason!, /dereferences a pointer whose target/);
  // In a sum that is converted after the addition, either operand may be the base.
  const sum = await check(`add.s64 %d13, %d1, %d2; cvta.to.global.u64 %d11, %d13; st.global.u8 [%d11], %r0;`, { parameters: [] });
  assert.match(sum.race.reason!, /dereferences a pointer whose target/);
});
