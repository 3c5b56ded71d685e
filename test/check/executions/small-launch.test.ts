/** Proofs by enumeration of all executions of a small launch, and kernels that must not be proved. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { atomic, fence, load, programOf, store, until, when, x, y, z } from '../../litmus/statements.ts';
import { kernelsOf, verdictOf } from '../../litmus/subject.ts';
import type { LitmusProgram } from '../../litmus/program.ts';
import { checkKernel } from '../../../src/check/check-kernel.ts';
import { check, closeSolver, kernelOf, requestFor } from '../kernel-text.ts';

after(closeSolver);

async function verdicts(...programs: readonly LitmusProgram[]): Promise<readonly string[]> {
  const kernels = kernelsOf(programs);
  const all: string[] = [];
  for (const [index, program] of programs.entries()) all.push((await verdictOf(kernels[index]!, program, 'strong')).verdict);
  return all;
}

const relay = (second: 'cta' | 'gpu'): LitmusProgram =>
  programOf(
    'grid',
    [store(x), store(y, 1, 'release')],
    [load(y, 'acquire', 'gpu', until()), store(z, 1, 'release', second)],
    [load(z, 'acquire', 'gpu', when()), load(x)],
  );

const exclusion = (order: 'sc' | 'acq_rel'): LitmusProgram =>
  programOf(
    'grid',
    [store(x, 1, 'relaxed'), fence(order), load(y, 'relaxed', 'gpu', when(0)), store(z, 1)],
    [store(y, 1, 'relaxed'), fence(order), load(x, 'relaxed', 'gpu', when(0)), store(z, 2)],
  );

test('a message forwarded by a third thread is proved if the scope includes the reader', async () => {
  assert.deepEqual(await verdicts(relay('gpu')), ['proved']);
  assert.notDeepEqual(await verdicts(relay('cta')), ['proved']);
});

test('in the store-buffering pattern only fence.sc gives mutual exclusion', async () => {
  // A run that delays stores reproduces the race of the second one.
  assert.deepEqual(await verdicts(exclusion('sc'), exclusion('acq_rel')), ['proved', 'race']);
});

test('the last thread of an atomic counter reads the others’ writes if all counts release and acquire', async () => {
  const counts = (order: 'acq_rel' | 'relaxed', last: number): LitmusProgram =>
    programOf(
      'block',
      [store(x), atomic(z, 'add', order, 'cta', { test: when(last) }), load(y)],
      [store(y), atomic(z, 'add', order, 'cta', { test: when(last) }), load(x)],
    );
  assert.deepEqual(await verdicts(counts('acq_rel', 1), counts('relaxed', 1), counts('acq_rel', 0)), ['proved', 'race', 'race']);
});

test('code after a wait for a value that no thread stores is unreachable', async () => {
  const waits = (value: number): LitmusProgram =>
    programOf('grid', [store(y, value, 'relaxed')], [load(y, 'relaxed', 'gpu', when(2)), store(x)], [store(x, 2)]);
  assert.deepEqual(await verdicts(waits(1), waits(2)), ['proved', 'race']);
});

/** Thread 0 stores `data`, then the flag; thread 32 runs `body` and stores `data` too. */
const handover = (body: string, setter = 'st.release.cta.u32 [%d2], 1;'): string => `
setp.ne.u32 %p1, %r0, 0; @%p1 bra OTHER;
st.u32 [%d1], 1;
${setter}
OTHER:
setp.ne.u32 %p2, %r0, 32; @%p2 bra END;
${body}
st.u32 [%d1], 2;
END:`;

test('a location of one thread contains its last write until another thread accesses it', async () => {
  const drawn = (last: number, ...other: Parameters<typeof programOf>[1]): LitmusProgram =>
    programOf('grid', [atomic(z, 'add', 'relaxed', 'gpu', { test: when(last) }), store(x)], [...other, store(x, 2)]);
  const add = atomic(z, 'add', 'relaxed', 'gpu');
  assert.deepEqual(await verdicts(drawn(1), drawn(0), drawn(1, add)), ['proved', 'race', 'race']);
  // Its loop iterates once before the store.
  const waits = (end: number): LitmusProgram =>
    programOf(
      'grid',
      [atomic(z, 'add', 'relaxed', 'gpu', { test: until(1) }), load(z, 'relaxed', 'gpu', when(end)), store(x)],
      [store(x, 2)],
    );
  assert.deepEqual(await verdicts(waits(1), waits(2)), ['proved', 'race']);
  // Another thread accesses it only after it has read a write of the first thread.
  const found = (read: number): LitmusProgram =>
    programOf(
      'grid',
      [store(z, 1, 'relaxed'), store(y, 1, 'relaxed'), load(z, 'relaxed', 'gpu', when(2)), store(x)],
      [load(y, 'relaxed', 'gpu', when(read)), store(z, 2, 'relaxed'), store(x, 2)],
    );
  const [racy, free] = await verdicts(found(1), found(2));
  assert.notEqual(racy, 'proved');
  assert.equal(free, 'proved');
});

test('nested loops are followed iteration by iteration', async () => {
  // The inner loop waits; the outer one has two iterations, of which only the second waits for the flag.
  const nested = (bound: number): string =>
    handover(`
mov.u32 %r20, 0;
OUTER:
setp.lt.u32 %p3, %r20, ${bound}; @%p3 bra NEXT;
INNER:
ld.acquire.cta.u32 %r21, [%d2]; setp.eq.u32 %p4, %r21, 0; @%p4 bra INNER;
NEXT:
add.u32 %r20, %r20, 1; setp.lt.u32 %p5, %r20, 2; @%p5 bra OUTER;`);
  const wait = await check(nested(1), { block: [64, 1, 1] });
  assert.equal(wait.race.verdict, 'proved');
  const none = await check(nested(2), { block: [64, 1, 1] });
  assert.notEqual(none.race.verdict, 'proved');
});

test('loops that are too long to enumerate end the search, not the check', async () => {
  for (const condition of ['setp.lt.u32 %p5, %r20, 10000000;', 'ld.u32 %r22, [%d2+128]; setp.lt.u32 %p5, %r20, %r22;']) {
    const long = handover(`
mov.u32 %r20, 0;
LOOP:
add.u32 %r20, %r20, 1; ${condition} @%p5 bra LOOP;
ld.relaxed.cta.u32 %r21, [%d2]; setp.ne.u32 %p4, %r21, 1; @%p4 bra END;`);
    assert.notEqual((await check(long, { block: [64, 1, 1], budget: { replaySteps: 10_000 } })).race.verdict, 'proved');
  }
});

test('a flag that may be set initially does not order accesses', async () => {
  const flags = `
ld.acquire.cta.u32 %r20, [%d2]; setp.ne.u32 %p3, %r20, 1; @%p3 bra END;`;
  assert.equal((await check(handover(flags))).race.verdict, 'proved');
  const stated = await check(handover(flags), { assume: ['b[*] in 0..1'] });
  assert.notEqual(stated.race.verdict, 'proved');
  // The initial value that weak accesses read is unknown.
  const weak = `
ld.u32 %r20, [%d2+64]; setp.eq.u32 %p3, %r20, 1; @%p3 bra END;`;
  assert.notEqual((await check(handover(weak))).race.verdict, 'proved');
});

test('a flag that its initialiser sets does not order accesses', async () => {
  const waits = handover('L: ld.acquire.cta.u32 %r20, [flag]; setp.ne.u32 %p3, %r20, 1; @%p3 bra L;', 'st.release.cta.u32 [flag], 1;');
  const verdictWith = async (initialiser: string): Promise<string> => {
    const kernel = kernelOf(waits, `.visible .global .align 4 .u32 flag${initialiser};`);
    return (await checkKernel(requestFor(kernel))).race.verdict;
  };
  assert.equal(await verdictWith(''), 'proved');
  assert.equal(await verdictWith(' = 0'), 'proved');
  assert.equal(await verdictWith(' = 1'), 'race');
});
