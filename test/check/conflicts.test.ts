/** Accesses that conflict under a launch: scopes, clusters, volatile accesses, and values of strong loads. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { check, closeSolver, verdicts } from './kernel-text.ts';

after(closeSolver);

const add = 'red.relaxed.cluster.global.add.u32 [%d1], 1;';
const own = 'mul.wide.s32 %d10, %r7, 4; add.s64 %d10, %d1, %d10;';

test('without clusters, cluster scope is block scope', async () => {
  assert.equal(await verdicts(add), 'proved/proved');
  const { race } = await check(add, { grid: [4, 1, 1] });
  assert.equal(race.verdict, 'race');
  const [finding] = race.findings;
  assert.deepEqual([finding?.kind, finding?.severity, finding?.scope], ['scope', 'error', 'grid']);
  const alone = { grid: [4, 1, 1], launch: { cluster: [1, 1, 1] } } as const;
  assert.equal(await verdicts(add, alone), 'race/proved');
});

test('with clusters, cluster scope reaches the blocks of one cluster', async () => {
  const launched = (cluster: readonly [number, number, number]) => ({ grid: [4, 1, 1], launch: { cluster } }) as const;
  assert.equal(await verdicts(add, launched([4, 1, 1])), 'proved/proved');
  assert.equal(await verdicts(add, launched([2, 1, 1])), 'race/proved');
  const ofCluster = (shift: number): string =>
    `shr.u32 %r1, %r6, ${shift}; mul.wide.u32 %d10, %r1, 4; add.s64 %d10, %d1, %d10; red.relaxed.cluster.global.add.u32 [%d10], 1;`;
  assert.equal(await verdicts(ofCluster(1), launched([2, 1, 1])), 'proved/proved');
  assert.equal(await verdicts(ofCluster(2), launched([2, 1, 1])), 'race/proved');
  assert.equal(await verdicts(ofCluster(0), launched([2, 1, 1])), 'proved/proved');
  // Two blocks of one cluster race as well if one of the accesses is plain.
  const plain = `${ofCluster(1)} ld.global.u32 %r2, [%d10]; st.global.u32 [%d2+64], %r2;`;
  assert.equal(await verdicts(plain, launched([2, 1, 1])), 'race/proved');
  const { race } = await check(add, launched([2, 1, 1]));
  const [finding] = race.findings;
  const clusters = [finding?.first, finding?.second].map((access) => access!.block![0] >> 1);
  assert.notEqual(clusters[0], clusters[1]);
});

test('a kernel without a known launch may be launched in clusters', async () => {
  const body = `${add} st.global.u32 [%d2], %r6;`;
  const { race } = await check(body, { block: null, grid: null });
  const shown = race.findings.filter(({ confirmed }) => confirmed).map(({ array }) => array);
  assert.deepEqual(shown, ['b']);
});

test('the policy sets the severity of races of volatile accesses', async () => {
  const body = 'st.volatile.shared.u32 [s], %r0; ld.volatile.shared.u32 %r1, [s+4]; st.volatile.shared.u32 [s+4], %r1;';
  const told = async (volatile: 'error' | 'warning' | 'allow'): Promise<string> => {
    const { race } = await check(body, { policy: { volatile } });
    // The last thread reads an element that no thread has written.
    const races = race.findings.filter(({ confirmed, code }) => confirmed && code.startsWith('race/'));
    return [race.verdict, ...new Set(races.map(({ code, severity }) => `${code} ${severity}`))].join(' ');
  };
  assert.equal(await told('warning'), 'race race/volatile warning');
  assert.equal(await told('error'), 'race race/volatile error');
  assert.equal(await told('allow'), 'proved');
});

test('the policy sets the severity of possible races', async () => {
  // A scatter: race-free if no two elements of the second array are equal.
  const index = 'mul.wide.s32 %d10, %r7, 4; add.s64 %d10, %d2, %d10; ld.global.u32 %r1, [%d10];';
  const body = `${index} mul.wide.s32 %d10, %r1, 4; add.s64 %d10, %d1, %d10; st.global.u32 [%d10], %r7;`;
  for (const undecided of ['notice', 'warning'] as const) {
    const { race } = await check(body, { policy: { undecided } });
    assert.equal(race.verdict, 'possible');
    assert.deepEqual(new Set(race.findings.map(({ severity }) => severity)), new Set([undecided]));
  }
});

test('a volatile and a plain access are an ordinary race under every policy', async () => {
  const body = 'st.shared.u32 [s], %r0; ld.volatile.shared.u32 %r1, [s];';
  for (const volatile of ['warning', 'allow'] as const) {
    const { race } = await check(body, { policy: { volatile } });
    assert.deepEqual([race.verdict, race.findings[0]?.code], ['race', 'race/shared']);
  }
});

test('the value of a strong load is not an index that threads share', async () => {
  const body = (load: string): string =>
    `${load} st.relaxed.gpu.global.u32 [%d2], %r0; add.s32 %r2, %r1, %r7; mul.wide.s32 %d10, %r2, 4;
     add.s64 %d10, %d1, %d10; st.global.u32 [%d10], %r0;`;
  for (const load of ['ld.relaxed.gpu.global.u32 %r1, [%d2];', 'ld.volatile.global.u32 %r1, [%d2];'])
    for (const volatile of ['warning', 'allow'] as const)
      assert.notEqual((await check(body(load), { policy: { volatile } })).race.verdict, 'proved', load);
  assert.equal(await verdicts(`ld.global.u32 %r1, [%d2]; add.s32 %r2, %r1, %r7; ${own} st.global.u32 [%d10], %r2;`), 'proved/proved');
});

test('a branch on the value of a strong load is not uniform', async () => {
  const body =
    'ld.relaxed.gpu.global.u32 %r1, [%d1]; setp.eq.s32 %p1, %r1, 0; @%p1 bra X; bar.sync 0; X: st.relaxed.gpu.global.u32 [%d1], 1;';
  assert.equal(await verdicts(body), 'possible/divergent');
});

test('an exchange that returns another value than the stored one takes the lock, if all store the same', async () => {
  const take = (label: string, mark: number): string =>
    `${label}: mov.u32 %r2, ${mark}; atom.global.exch.b32 %r1, [%d1], %r2; setp.eq.u32 %p1, %r1, ${mark}; @%p1 bra ${label};`;
  const locked = (mark: number): string =>
    `setp.ne.u32 %p2, %r0, 0; @%p2 bra X; setp.eq.u32 %p3, %r6, 0; @%p3 bra B; ${take('A', 1)} bra C; ${take('B', mark)}
     C: membar.gl; ld.global.u32 %r3, [%d2]; add.u32 %r3, %r3, 1; st.global.u32 [%d2], %r3; membar.gl; mov.u32 %r4, 0;
     st.volatile.global.u32 [%d1], %r4; X:`;
  assert.equal(await verdicts(locked(1), { grid: [2, 1, 1] }), 'proved/proved');
  assert.notEqual((await check(locked(2), { grid: [2, 1, 1] })).race.verdict, 'proved');
});
