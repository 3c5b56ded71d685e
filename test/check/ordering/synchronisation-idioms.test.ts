/** Findings about accesses after a wait for a flag. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { check, closeSolver } from '../kernel-text.ts';

after(closeSolver);

/** Thread 0 writes `a[0]` and sets `b[0]`; thread 1 waits for it, or not, and reads `a[0]`. */
const handOver = (load: string): string => `
setp.ne.s32 %p1, %r0, 0; @%p1 bra OTHER;
st.global.u32 [%d1], 42; st.volatile.global.u32 [%d2], 1;
OTHER: setp.ne.s32 %p2, %r0, 1; @%p2 bra END;
WAIT: ${load}
ld.global.u32 %r21, [%d1]; st.shared.u32 [s], %r21;
END:`;

test('a wait for a flag that orders nothing is reported, and no barrier advised, which would deadlock', async () => {
  const waiting = 'ld.volatile.global.u32 %r20, [%d2]; setp.eq.s32 %p3, %r20, 0; @%p3 bra WAIT;';
  const { race } = await check(handOver(waiting));
  const [first] = race.findings;
  assert.match(
    first!.message,
    /no `__threadfence\(\)` precedes the write of `b` .*Add `__threadfence\(\)` before `b` is written .* and after the loop .* that waits for `b`\.$/,
  );
  const alone = await check(handOver(''));
  assert.match(alone.race.findings[0]!.message, /Add `__sync(threads|warp)\(\)` between the two accesses/);
});
