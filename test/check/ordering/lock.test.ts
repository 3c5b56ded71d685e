/** Locks: accesses that they order, and each incorrect lock. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type CheckOptions, check, closeSolver, load, store } from '../kernel-text.ts';

after(closeSolver);

const launch: CheckOptions = { grid: [4, 1, 1] };

async function race(body: string, options: CheckOptions = launch): Promise<string> {
  return (await check(body, options)).race.verdict;
}

const take = (operation = 'atom.global.cas.b32'): string => `L: ${operation} %r20, [%d2], 0, 1; setp.ne.s32 %p1, %r20, 0; @%p1 bra L;`;
const fence = 'fence.acq_rel.gpu;';
const release = 'atom.global.exch.b32 %r21, [%d2], 0;';
/** `a[n] += tid`, the same element for all threads. */
const work = `${load('%r1', '%d1', '%r9', 10)} add.s32 %r2, %r1, %r0; ${store('%d1', '%r9', '%r2', 11)}`;

test('accesses under a lock with its fences are ordered', async () => {
  assert.equal(await race(`${take()} ${fence} ${work} ${fence} ${release}`), 'proved');
  assert.equal(await race(`${take()} membar.gl; ${work} membar.sys; st.volatile.global.u32 [%d2], 0;`), 'proved');
  const strong = `${take('atom.acquire.gpu.global.cas.b32')} ${work} st.release.gpu.global.u32 [%d2], 0;`;
  assert.equal(await race(strong), 'proved');
  // A lock that is never released lets one thread in.
  assert.equal(await race(`${take()} ${fence} ${work}`), 'proved');
});

test('an incomplete lock does not order its critical sections', async () => {
  const broken: Readonly<Record<string, string>> = {
    'no fence at all': `${take()} ${work} ${release}`,
    'no fence after the acquisition': `${take()} ${work} ${fence} ${release}`,
    'no fence before the release': `${take()} ${fence} ${work} ${release}`,
    'fences of block scope': `${take()} fence.acq_rel.cta; ${work} fence.acq_rel.cta; ${release}`,
    'a compare-and-swap of block scope': `${take('atom.cta.global.cas.b32')} ${fence} ${work} ${fence} ${release}`,
    'work after the release': `${take()} ${fence} ${fence} ${release} ${work}`,
    'work before the acquisition': `${work} ${take()} ${fence} ${fence} ${release}`,
    'a release by a thread that does not hold the lock': `${release} ${take()} ${fence} ${work} ${fence} ${release}`,
    'a release on one path only, then work': `${take()} ${fence} setp.eq.s32 %p2, %r0, 3; @!%p2 bra M; ${fence} ${release} M: ${work} ${fence} ${release}`,
    'a weak release': `${take()} ${fence} ${work} ${fence} st.global.u32 [%d2], 0;`,
    'a release that stores another value': `${take()} ${fence} ${work} ${fence} atom.global.exch.b32 %r21, [%d2], %r8;`,
    'work if the lock was taken': `atom.global.cas.b32 %r20, [%d2], 0, 1; setp.eq.s32 %p1, %r20, 0; @%p1 bra X; ${fence} ${work} ${fence} ${release} X:`,
    'a lock for each thread': `mul.wide.s32 %d20, %r7, 4; add.s64 %d2, %d2, %d20; ${take()} ${fence} ${work} ${fence} ${release}`,
  };
  for (const [what, body] of Object.entries(broken)) assert.notEqual(await race(body), 'proved', what);
});

/** `%r30 = t[tid]` and the address of lock `b[index]` in `%d40`, which is taken; then work on `a[at]`; then its release. */
function underLockOf(index: string, at: string, between = '', given = 'mov.u32 %r30, %r0;'): string {
  const lockAt = `mul.wide.s32 %d41, ${index}, 4; add.s64 %d40, %d2, %d41;`;
  const work = `${load('%r1', '%d1', at, 10)} add.s32 %r2, %r1, %r0; ${store('%d1', at, '%r2', 11)}`;
  return `${given} ${lockAt} L: atom.global.cas.b32 %r20, [%d40], 0, 1; setp.ne.s32 %p1, %r20, 0; @%p1 bra L;
${fence} ${between} ${work} ${fence} atom.global.exch.b32 %r21, [%d40], 0;`;
}

const table = '.global .align 4 .b32 t[256];';
const fromTable = `mov.u64 %d50, t; cvta.global.u64 %d50, %d50; ${load('%r30', '%d50', '%r0', 51)}`;

test('a lock of an array orders work on the element whose index selects the lock', async () => {
  assert.equal(await race(underLockOf('%r0', '%r0')), 'proved');
  assert.equal(await race(underLockOf('%r30', '%r30', '', 'and.b32 %r30, %r0, 3;')), 'proved');
  // Several elements share a lock.
  assert.equal(await race(underLockOf('%r31', '%r30', '', 'mov.u32 %r30, %r0; and.b32 %r31, %r30, 3;')), 'proved');
  const ofTable = async (index: string, at: string, between = '', rest = ''): Promise<string> =>
    (
      await check(underLockOf(index, at, between, `${fromTable} ${rest}`), {
        ...launch,
        budget: { replaySteps: 1000 },
        declarations: table,
      })
    ).race.verdict;
  assert.equal(await ofTable('%r30', '%r30'), 'proved');
  assert.equal(await ofTable('%r31', '%r30', '', 'and.b32 %r31, %r30, 3;'), 'proved');
  const broken: Readonly<Record<string, readonly [string, string, string?, string?]>> = {
    'a lock for each element, and several of them work on one': ['%r30', '%r31', '', 'shr.s32 %r31, %r30, 3;'],
    'an index that is cut off': ['%r30', '%r31', '', 'cvt.s32.s8 %r31, %r30;'],
    'an index other than that of the lock': ['%r30', '%r31', '', load('%r31', '%d50', '%r8', 53)],
    'the lock of another element is released': [
      '%r30',
      '%r30',
      'xor.b32 %r32, %r30, 1; mul.wide.s32 %d41, %r32, 4; add.s64 %d40, %d2, %d41;',
    ],
    'another thread releases the lock': ['%r30', '%r30', '', 'setp.eq.s32 %p5, %r0, 5; @%p5 st.release.gpu.global.u32 [%d2], 0;'],
  };
  for (const [what, [index, at, between, rest]] of Object.entries(broken))
    assert.notEqual(await ofTable(index, at, between, rest), 'proved', what);
  assert.notEqual(await race(underLockOf('%r7', '%r0')), 'proved', 'a lock for each thread of the launch');
});

test('a lock of an array is not held any more once the index that selects it has changed', async () => {
  // In each iteration: work under its lock, or on the element of the next iteration's index under the previous lock.
  const rounds = (order: string): string =>
    `mov.u64 %d50, t; cvta.global.u64 %d50, %d50; mov.u32 %r33, 0;
R: add.s32 %r34, %r33, %r0; ${load('%r30', '%d50', '%r34', 51)} ${order} add.s32 %r33, %r33, 1;
setp.lt.s32 %p6, %r33, %r9; @%p6 bra R;`;
  const whole = underLockOf('%r30', '%r30', '', '');
  assert.equal((await check(rounds(whole), { ...launch, declarations: table })).race.verdict, 'proved');
  const split = whole.indexOf(`${fence} atom.global.exch`);
  const late = `setp.eq.s32 %p7, %r33, 0; @%p7 bra F; ${whole.slice(split)} F: ${whole.slice(0, split)}`;
  const moved = `${rounds(late)} ${whole.slice(split)}`;
  const brief = { ...launch, budget: { replaySteps: 1000 }, declarations: table };
  assert.notEqual((await check(moved, brief)).race.verdict, 'proved');
});

test('fences and exchanges of block scope order threads of one block', async () => {
  const body = `${take('atom.cta.global.cas.b32')} fence.acq_rel.cta; ${work} fence.acq_rel.cta; ${release}`;
  assert.equal(await race(body, { grid: [1, 1, 1] }), 'proved');
  assert.notEqual(await race(body), 'proved');
});

test('a value that is read under a lock differs between threads, although the address does not', async () => {
  const section = `${take()} ${fence} ${work} ${fence} ${release}`;
  // Stores at the index that each thread read: any two may be equal or not.
  assert.notEqual(await race(`${section} mul.lo.s32 %r3, %r1, %r8; ${store('%d1', '%r3', '%r0', 12)}`), 'proved');
  const { divergence } = await check(`${section} setp.gt.s32 %p3, %r1, 5; @%p3 bra Y; bar.sync 0; Y: ${work}`, launch);
  assert.notEqual(divergence.verdict, 'proved');
});

test('a race under a lock without fences reports the missing fences', async () => {
  const { race: bare } = await check(`${take()} ${work} ${release}`, launch);
  assert.match(bare.findings[0]!.message, /each of the two threads holds the lock `b` during its access, but no `__threadfence\(\)`/);
  const { race: after } = await check(`${take()} ${fence} ${fence} ${release} ${work}`, launch);
  assert.ok(after.findings.every(({ message }) => !/holds the lock `b`/.test(message)));
});

test('patterns that only resemble a lock do not order accesses', async () => {
  const one: CheckOptions = { grid: [1, 1, 1] };
  const broken: Readonly<Record<string, string>> = {
    'a result that is tested again after the release': `atom.global.cas.b32 %r20, [%d2], 0, 1; mov.u32 %r22, 0;
      L: setp.ne.s32 %p1, %r20, 0; @%p1 bra N; ${fence} ${work} ${fence} ${release}
      N: add.s32 %r22, %r22, 1; setp.lt.s32 %p2, %r22, 2; @%p2 bra L;`,
    'a lock that is reset between two acquisitions': `atom.global.cas.b32 %r20, [%d2], 0, 1; bar.sync 0;
      setp.ne.s32 %p2, %r0, 0; @%p2 bra M; st.global.u32 [%d2], 0; M: bar.sync 0;
      setp.eq.s32 %p1, %r20, 0; @!%p1 bra O; ${fence} ${work} ${fence} ${release} bra X;
      O: atom.global.cas.b32 %r23, [%d2], 0, 1; setp.eq.s32 %p3, %r23, 0; @!%p3 bra X; ${fence} ${work} ${fence} ${release} X:`,
    'a store that may alter the lock': `add.s64 %d20, %d2, 4; setp.gt.s32 %p4, %r8, 3; selp.b64 %d21, %d20, %d2, %p4;
      setp.ne.s32 %p2, %r0, 5; @%p2 bra M; atom.global.exch.b32 %r24, [%d21], 0; M: ${take()} ${fence} ${work} ${fence} ${release}`,
  };
  for (const [what, body] of Object.entries(broken)) assert.notEqual(await race(body, one), 'proved', what);
  // A store publishes only accesses that its own thread has fenced, not those it has observed.
  const early = `${take()} setp.eq.s32 %p2, %r0, 7; @!%p2 bra M; st.volatile.global.u32 [%d2], 0; bra X;
    M: ${fence} ${work} ${fence} st.volatile.global.u32 [%d2], 0; X:`;
  assert.notEqual(await race(early), 'proved');
});

test('a counter or lock that is initialised under another lock may be initialised again', async () => {
  const other = 'add.s64 %d30, %d2, 64;';
  const under = (body: string): string =>
    `K: atom.global.cas.b32 %r30, [%d30], 0, 1; setp.ne.s32 %p5, %r30, 0; @%p5 bra K; ${fence} ${body} ${fence} atom.global.exch.b32 %r31, [%d30], 0;`;
  const body = `${other} ${under('st.global.u32 [%d2], 0; atom.global.add.u32 %r1, [%d2], 1;')} ${store('%d1', '%r1', '%r0', 12)}`;
  assert.notEqual(await race(body, { grid: [1, 1, 1] }), 'proved');
});
