/** Matrix products of warp groups (`wgmma`): shared memory that they read, until when, and through which proxy. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { check, closeSolver, verdicts, type CheckOptions } from './kernel-text.ts';

after(closeSolver);

/** Two buffers of 8 KiB, each of which contains a matrix of 64 rows of 128 bytes. */
const options: CheckOptions = { block: [128, 1, 1], declarations: '.shared .align 1024 .b8 t[16384];' };

const descriptor = (from: string, to: string, upper = '0x4000004000000000'): string =>
  `bfe.u32 %r40, ${from}, 4, 14; cvt.u64.u32 ${to}, %r40; or.b64 ${to}, ${to}, ${upper};`;
const setUp = `mov.u32 %r30, t; add.u32 %r31, %r30, 8192; shl.b32 %r32, %r0, 4; add.u32 %r33, %r30, %r32; add.u32 %r34, %r31, %r32;
  ${descriptor('%r30', '%d30')} ${descriptor('%r31', '%d31')} mov.pred %p9, 1;`;
/** Each thread writes 16 bytes of every 2048 of the buffer that starts at its register. */
const fill = (at: string): string =>
  [0, 2048, 4096, 6144].map((from) => `st.shared.v4.u32 [${at}+${from}], {%r0, %r0, %r0, %r0};`).join(' ');
const fence = 'fence.proxy.async.shared::cta;';
const barrier = 'bar.sync 0;';
const product = (a = '%d30', b = '%d30'): string =>
  `wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, ${a}, ${b}, %p9, 1, 1, 0, 0;`;
const commit = 'wgmma.commit_group.sync.aligned;';
const wait = (groups: number): string => `wgmma.wait_group.sync.aligned ${groups};`;
const whole = `${product()} ${commit} ${wait(0)}`;

const proved = 'proved/proved';
const classify = (body: string): Promise<string> => verdicts(`${setUp} ${body}`, options);

test('a product that reads fenced writes that a barrier publishes is proved', async () => {
  assert.equal(await classify(`${fill('%r33')} ${fence} ${barrier} ${whole} ${barrier} ${fill('%r33')}`), proved);
  assert.equal(await classify(`${fill('%r33')} ${barrier} ${fence} ${whole} ${barrier} ${fill('%r33')}`), proved);
  // Every thread executes a fence between two barriers.
  assert.equal(await classify(`${fill('%r33')} ${barrier} ${fence} ${barrier} ${whole}`), proved);
});

test('a product that reads writes of the generic proxy without a proxy fence races', async () => {
  const without = await check(`${setUp} ${fill('%r33')} ${barrier} ${whole}`, options);
  assert.equal(without.race.verdict, 'possible');
  assert.match(without.race.reason!, /no `fence\.proxy\.async` is between a write/);
  const others = {
    'of global memory': `${fill('%r33')} fence.proxy.async.global; ${barrier} ${whole}`,
    'of aliases': `${fill('%r33')} fence.proxy.alias; ${barrier} ${whole}`,
    'unidirectional, tensormap': `${fill('%r33')} fence.proxy.tensormap::generic.release.gpu; ${barrier} ${whole}`,
    'not a proxy fence': `${fill('%r33')} fence.acq_rel.cta; ${barrier} ${whole}`,
    'before the write': `${fence} ${fill('%r33')} ${barrier} ${whole}`,
    'in some threads': `${fill('%r33')} setp.lt.u32 %p2, %r0, 64; @%p2 bra F; ${fence} F: ${barrier} ${whole}`,
    'after a barrier in some threads': `${fill('%r33')} ${barrier} setp.lt.u32 %p2, %r0, 64; @%p2 bra F; ${fence} F: ${barrier} ${whole}`,
    'only in the first iteration': `${fill('%r33')} ${fence} mov.u32 %r20, 0; L: ${barrier} ${whole} ${barrier} ${fill('%r33')}
      add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 4; @%p3 bra L;`,
  };
  for (const [name, body] of Object.entries(others)) assert.equal(await classify(body), 'possible/proved', name);
  const each = `mov.u32 %r20, 0; L: ${fill('%r33')} ${fence} ${barrier} ${whole} ${barrier} add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 4; @%p3 bra L;`;
  assert.equal(await classify(each), proved);
  // Reads before a write need no fence: the end of a product implies one.
  assert.equal(await classify(`${whole} ${barrier} ${fill('%r33')}`), proved);
});

test('a product is complete after a wait for its group, and a barrier publishes that to other threads', async () => {
  const before = `${fill('%r33')} ${fence} ${barrier}`;
  const cases = {
    'no wait': `${product()} ${commit} ${barrier}`,
    'no barrier': `${product()} ${commit} ${wait(0)}`,
    'a group that may be pending': `${product()} ${commit} ${wait(1)} ${barrier}`,
    'not committed': `${product()} ${wait(0)} ${barrier}`,
    'the wait of copies': `${product()} ${commit} cp.async.wait_all; ${barrier}`,
  };
  for (const [name, body] of Object.entries(cases))
    assert.equal(await classify(`${before} ${body} ${fill('%r33')}`), 'possible/proved', name);
  const two = `${product()} ${commit} ${product('%d31', '%d31')} ${commit} ${wait(1)} ${barrier}`;
  assert.equal(await classify(`${before} ${two} ${fill('%r33')}`), proved);
  assert.equal(await classify(`${before} ${two} ${fill('%r34')}`), 'possible/proved');
});

test('a product reads the bytes of its descriptors', async () => {
  const pending = (work: string): string => `${fill('%r33')} ${fence} ${barrier} ${work} ${commit} ${fill('%r34')} ${wait(0)}`;
  // A concurrent copy fills the other buffer.
  assert.equal(await classify(pending(product())), proved);
  for (const step of [2, 4, 6]) assert.equal(await classify(pending(`add.s64 %d32, %d30, ${step}; ${product('%d32')}`)), proved);
  const others = {
    'the other buffer': product('%d31'),
    'the other buffer as B': product('%d30', '%d31'),
    'one row further': `add.s64 %d32, %d30, 8; ${product('%d32')}`,
    'the next chunk of a row and more': `add.s64 %d32, %d30, 7; ${product('%d32')}`,
    'rows with a larger stride': `${descriptor('%r30', '%d32', '0x4000008000000000')} ${product('%d32')}`,
    'another field': `cvt.u64.u32 %d33, %r9; shl.b64 %d33, %d33, 32; add.s64 %d32, %d30, %d33; ${product('%d32')}`,
    'unknown stride': `and.b32 %r41, %r9, 1023; cvt.u64.u32 %d33, %r41; add.s64 %d32, %d30, %d33; ${product('%d32')}`,
    'bits of two addresses': `or.b64 %d32, %d30, %d31; ${product('%d32')}`,
    'a descriptor from memory': `ld.u64 %d32, [%d1]; ${product('%d32')}`,
  };
  for (const [name, work] of Object.entries(others)) {
    const verdict = await classify(pending(work));
    assert.match(verdict, /^(possible|unknown)\/proved$/, `${name}: ${verdict}`);
  }
  // Without swizzling, matrices of 8 rows of 16 bytes are at the two distances.
  const plain = (upper: string): string => pending(`${descriptor('%r30', '%d32', upper)} ${product('%d32')}`);
  assert.equal(await classify(plain('0x0000000800400000')), proved);
  assert.equal(await classify(plain('0x0000000802000000')), 'possible/proved');
});

test('memory of small alignment: swizzled chunks may begin before the matrix', async () => {
  const on = (alignment: number): CheckOptions => ({
    ...options,
    declarations: `.shared .align ${alignment} .b8 t[16384];`,
  });
  const body = `${setUp} ${fill('%r34')} ${fence} ${barrier} ${product('%d31', '%d31')} ${commit} ${fill('%r33')} ${wait(0)}`;
  assert.equal(await verdicts(body, on(128)), proved);
  assert.equal(await verdicts(body, on(16)), 'possible/proved');
});

test('asynchronous copies of a thread are writes through the generic proxy', async () => {
  const copy = [0, 2048, 4096, 6144].map((from) => `add.u32 %r42, %r33, ${from}; cp.async.cg.shared.global [%r42], [%d1], 16;`).join(' ');
  assert.equal(await classify(`${copy} cp.async.wait_all; ${fence} ${barrier} ${whole}`), proved);
  const others = {
    'no fence': `${copy} cp.async.wait_all; ${barrier} ${whole}`,
    'a fence before they are done': `${copy} ${fence} cp.async.wait_all; ${barrier} ${whole}`,
    'not waited for': `${copy} ${fence} ${barrier} ${whole} cp.async.wait_all;`,
    'the wait of products': `${copy} cp.async.commit_group; ${wait(0)} ${fence} ${barrier} ${whole}`,
  };
  for (const [name, body] of Object.entries(others)) assert.equal(await classify(body), 'possible/proved', name);
  const grouped = `${copy} cp.async.commit_group; cp.async.commit_group;`;
  assert.equal(await classify(`${grouped} cp.async.wait_group 1; ${fence} ${barrier} ${whole}`), proved);
  assert.equal(await classify(`${grouped} cp.async.wait_group 2; ${fence} ${barrier} ${whole}`), 'possible/proved');
});

test('copies that a barrier publishes need a fence after their wait', async () => {
  const flag = (between: string): string =>
    `${fill('%r33')} ${between} ${barrier} st.volatile.global.u32 [%d1], 1; ${barrier} ${fence} ${whole}`;
  assert.equal(await classify(flag('')), proved);
  const late = `${fill('%r33')} ${barrier} ${fence} ${barrier} bar.sync 1, 128; ${whole}`;
  assert.equal(await classify(late), 'possible/proved');
});

test('a flag orders threads, but not accesses through two proxies', async () => {
  const told = (fenced: string): string =>
    `setp.ne.s32 %p1, %r0, 0; @%p1 bra L; st.shared.u32 [%r30], 1; st.release.gpu.u32 [%d2], 1;
    L: ld.acquire.gpu.u32 %r1, [%d2]; setp.eq.s32 %p2, %r1, 0; @%p2 bra L; ${fenced} ${whole}`;
  assert.equal(await classify(told(fence)), proved);
  assert.equal(await classify(told('')), 'possible/proved');
});

test('a product is executed by all lanes of a warp together', async () => {
  const some = (condition: string): string => `${condition} @!%p2 bra E; ${whole} E: ${barrier}`;
  assert.equal(await classify(some('setp.lt.u32 %p2, %r0, 7;')), 'possible/possible');
  assert.equal(await classify(some('setp.lt.s32 %p2, %r9, 7;')), proved);
});
