/** The back ends agree: on memory, steps, races, divergences and faults. */
import type { RunRequest } from '../../../src/interpreter/core/run-request.ts';
import type { Argument, GlobalBuffer } from '../../../src/interpreter/core/arguments.ts';
import type { Dim3 } from '../../../src/base/dim3.ts';
import type { RunResult } from '../../../src/interpreter/core/run-result.ts';
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { runKernel } from '../../../src/interpreter/machine.ts';
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';
import { sweep } from '../../run/sweep.ts';
import { kernel, launch, type LaunchOptions, words } from './launch-text.ts';

const backEnds = ['javascript', 'webassembly', 'reference'] as const;

/** All results of a run except the contents of memory. */
function told(result: RunResult): unknown {
  const { outcome, steps, divergences, faults, havocs, brokenAssumptions } = result;
  const races = result.races.map(({ first, second, ...race }) => ({
    sides: [first, second].map(({ instruction, operation }) => `${instruction} ${operation}`).sort(),
    isOfOneBlock: first.block.join() === second.block.join(),
    ...race,
    // The offset and time of a race are arbitrary.
    offset: 0,
    passed: null,
  }));
  return {
    outcome,
    steps,
    divergences,
    faults: faults.map(({ kind, instruction, block, thread }) => ({ kind, instruction, block, thread })),
    havocs,
    brokenAssumptions,
    races: races.map((race) => JSON.stringify(race)).sort(),
  };
}

/** Runs on each back end and returns the result. @throws AssertionError if the results differ */
function launchAll(code: Kernel, options: LaunchOptions & { readonly words?: number } = {}): RunResult {
  const { words: count = 64, ...others } = options;
  const [first, ...rest] = backEnds.map((backend) => launch(code, { ...others, backend }));
  for (const [index, result] of rest.entries()) {
    assert.deepEqual(told(result), told(first!), backEnds[index + 1]);
    for (const buffer of [0, 1]) assert.deepEqual(words(result, buffer, count), words(first!, buffer, count));
  }
  return first!;
}

const bounded: Partial<GlobalBuffer> = { bytes: 4096 };
const both = { a: bounded, b: bounded };

function contents(bytes: number): Uint8Array {
  const numbers = Uint32Array.from({ length: bytes / 4 }, (_, index) => (index < 512 ? (7 * index + 3) % 64 : 0));
  return new Uint8Array(numbers.buffer);
}

/** A launch of a test kernel: every 64-bit parameter a buffer, every other scalar 64. */
function requestOf(file: string, code: Kernel): RunRequest {
  const isFlat = !/2d|3d|two-dim|tile|matmul|transpose|row|first-row/.test(file);
  const block: Dim3 = isFlat ? (code.requiredThreads ?? code.maximumThreads ?? [128, 1, 1]) : [16, 16, 1];
  const buffers: GlobalBuffer[] = [];
  const values = code.parameters.map((parameter): Argument => {
    if (parameter.bytes > 8) return { kind: 'struct', bytes: new Uint8Array(parameter.bytes), pointers: [] };
    if (parameter.bytes < 8) return { kind: 'scalar', value: parameter.type === 'f32' ? 0x40000000n : 64n };
    const initial = contents(1 << 16);
    buffers.push({ name: parameter.symbol, bytes: 1 << 16, elementBytes: 4, fill: 0n, values: new Map(), initial });
    return { kind: 'pointer', buffer: buffers.length - 1, offset: 0n };
  });
  return {
    kernel: code,
    block,
    grid: [3, 2, 1],
    sharedBytes: 4096,
    buffers,
    arguments: values,
    steps: 1_000_000,
    detectRaces: true,
    maxRaces: 1e9,
    havocSeed: 5,
  };
}

const root = fileURLToPath(new URL('../../kernels', import.meta.url));
// Here a 64-bit number is taken for a pointer, and those differ between back ends.
const takesNumbers = /index-64-bit/;
const files = globSync('{race,divergence}/*.ptx', { cwd: root })
  .filter((file) => !takesNumbers.test(file))
  .sort()
  .filter((_, index) => index % sweep(12, 1) === 0);

test(`${files.length} files of test kernels: WebAssembly as JavaScript`, () => {
  for (const file of files) {
    const { kernels } = lowerModule(parsePtx(readFileSync(`${root}/${file}`, 'utf8')).module);
    for (const code of kernels) {
      const request = requestOf(basename(file), code);
      const [expected, result] = (['javascript', 'webassembly'] as const).map((backend) => runKernel({ ...request, backend })) as [
        RunResult,
        RunResult,
      ];
      const label = `${file} ${code.symbol}`;
      if (expected.outcome === 'budget') {
        assert.equal(result.outcome, 'budget', label);
        continue;
      }
      assert.deepEqual(told(result), told(expected), label);
      for (const buffer of request.buffers.keys()) {
        const count = request.buffers[buffer]!.bytes!;
        assert.deepEqual(result.readBytes(buffer, 0, count), expected.readBytes(buffer, 0, count), label);
      }
    }
  }
});

const shared = '.shared .align 16 .b8 s[512];';

test('registers of every width keep their values across barriers', () => {
  const code = kernel(
    `cvt.u16.u32 %h1, %r0; setp.lt.u32 %p1, %r0, 7; mul.wide.u32 %d6, %r0, 0x7fffffff; cvt.rn.f32.u32 %f1, %r0;
    mov.u32 %r2, 0;
    LOOP: bar.sync 0; add.u32 %r2, %r2, 1; add.u16 %h1, %h1, 0x1111; add.f32 %f1, %f1, 0f3F000000;
    setp.lt.u32 %p2, %r2, 5; @%p2 bra LOOP;
    selp.u32 %r3, 1000, 0, %p1; cvt.u32.u16 %r4, %h1; add.u32 %r3, %r3, %r4; cvt.rzi.u32.f32 %r5, %f1;
    add.u32 %r3, %r3, %r5; st.global.u32 [%d3], %r3; shr.u64 %d6, %d6, 20; st.global.u32 [%d4], %d6;`,
  );
  const result = launchAll(code, { ...both, block: [70, 1, 1], words: 70 });
  const expected = (t: number): number => (t < 7 ? 1000 : 0) + ((t + 5 * 0x1111) & 0xffff) + Math.floor(t + 2.5);
  assert.deepEqual(
    words(result, 0, 70),
    Array.from({ length: 70 }, (_, t) => expected(t)),
  );
});

test('loops longer than a time slice are resumed', () => {
  // The condition is read from memory: time slices are short, as another thread might change it.
  const code = kernel(`mov.u32 %r1, 0; mov.u32 %r2, 1; and.b32 %r4, %r0, 7; mad.lo.u32 %r4, %r4, 700, 3000;
    ld.global.u32 %r3, [%d2]; add.u32 %r4, %r4, %r3;
    LOOP: mad.lo.u32 %r3, %r1, 3, %r2; mov.u32 %r1, %r2; mov.u32 %r2, %r3; sub.u32 %r4, %r4, 1;
    setp.ne.u32 %p1, %r4, 0; @%p1 bra LOOP; st.global.u32 [%d3], %r2;`);
  const result = launchAll(code, both);
  const value = (t: number): number => {
    let [a, b] = [0, 1];
    for (let left = (t & 7) * 700 + 3000; left > 0; left--) [a, b] = [b, (Math.imul(a, 3) + b) >>> 0];
    return b;
  };
  assert.deepEqual(
    words(result, 0, 32),
    Array.from({ length: 32 }, (_, t) => value(t)),
  );
});

const lockBody = `
  SPIN: atom.global.cas.b32 %r1, [%d2], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;
  fence.acq_rel.gpu; ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2; fence.acq_rel.gpu;
  atom.global.exch.b32 %r3, [%d2], 0;`;

test('a spin lock is acquired by threads of all blocks, one after the other', () => {
  for (const seed of [undefined, 1, 2]) {
    const options = {
      ...both,
      block: [64, 1, 1] as Dim3,
      grid: [3, 1, 1] as Dim3,
      ...(seed !== undefined && { seed }),
    };
    const result = launchAll(kernel(lockBody), options);
    assert.deepEqual([result.outcome, words(result, 0, 1), result.races], ['finished', [192], []]);
  }
  const unfenced = kernel(lockBody.replaceAll('fence.acq_rel.gpu;', ''));
  assert.notEqual(launchAll(unfenced, { ...both, grid: [2, 1, 1] }).races.length, 0);
});

test('tickets are served in order', () => {
  const code = kernel(`atom.global.add.u32 %r1, [%d2], 1;
    SPIN: ld.acquire.gpu.global.u32 %r2, [%d2+4]; setp.ne.u32 %p1, %r1, %r2; @%p1 bra SPIN;
    ld.global.u32 %r3, [%d1]; mad.lo.u32 %r3, %r3, 2, 1; st.global.u32 [%d1], %r3;
    add.u32 %r2, %r2, 1; st.release.gpu.global.u32 [%d2+4], %r2;`);
  const result = launchAll(code, { ...both, block: [4, 1, 1], grid: [4, 1, 1] });
  assert.deepEqual([result.outcome, words(result, 0, 1), result.races], ['finished', [0xffff], []]);
});

test('a block waits for a flag of one that starts later', () => {
  const code = kernel(`mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; sub.u32 %r2, %r2, 1;
    setp.eq.u32 %p1, %r1, %r2; @%p1 bra LAST;
    SPIN: ld.acquire.gpu.global.u32 %r3, [%d2]; setp.eq.u32 %p2, %r3, 0; @%p2 bra SPIN;
    ld.global.u32 %r4, [%d1+64]; mul.wide.u32 %d6, %r1, 4; add.s64 %d6, %d1, %d6; st.global.u32 [%d6], %r4; bra DONE;
    LAST: st.global.u32 [%d1+64], 77; st.release.gpu.global.u32 [%d2], 1; DONE:`);
  const result = launchAll(code, { ...both, block: [1, 1, 1], grid: [9, 1, 1] });
  assert.deepEqual([result.outcome, words(result, 0, 8), result.races], ['finished', new Array(8).fill(77), []]);
});

test('threads that spin forever exhaust the step budget', () => {
  const code = kernel('SPIN: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra SPIN;');
  for (const backend of backEnds) {
    assert.equal(launch(code, { ...both, block: [2, 1, 1], steps: 40_000, backend }).outcome, 'budget');
  }
});

test('warp exchanges: full, partial, and incomplete warps', () => {
  const code = kernel(`
    shfl.sync.down.b32 %r1, %r0, 3, 31, -1; shfl.sync.bfly.b32 %r2|%p1, %r0, 5, 0x181f, -1;
    vote.sync.ballot.b32 %r3, %p1, -1; redux.sync.max.u32 %r4, %r0, -1;
    add.u32 %r1, %r1, %r2; add.u32 %r3, %r3, %r4; st.global.u32 [%d4], %r3;
    and.b32 %r5, %r0, 31; setp.ge.u32 %p2, %r5, 8; @%p2 bra REST;
    shfl.sync.idx.b32 %r6, %r0, 2, 31, 0xff; add.u32 %r1, %r1, %r6; bra DONE;
    REST: match.any.sync.b32 %r6, %r5, 0xffffff00; add.u32 %r1, %r1, %r6;
    DONE: st.global.u32 [%d3], %r1;`);
  launchAll(code, { ...both, block: [72, 1, 1], words: 72 });
  launchAll(code, { ...both, block: [96, 1, 1], words: 96, seed: 3 });
});

test('barriers: reductions, early exits, numbered barriers with a count', () => {
  const code = kernel(`
    setp.ge.u32 %p1, %r0, 70; @%p1 bra DONE; and.b32 %r1, %r0, 1; setp.eq.u32 %p2, %r1, 0;
    bar.red.popc.u32 %r2, 0, %p2; bar.red.or.pred %p3, 0, %p1; selp.u32 %r3, 500, 0, %p3; add.u32 %r2, %r2, %r3;
    st.global.u32 [%d3], %r2; setp.ge.u32 %p4, %r0, 64; @%p4 bra DONE;
    setp.ge.u32 %p5, %r0, 32; @%p5 bra SECOND; bar.arrive 1, 64; bra DONE; SECOND: bar.sync 1, 64;
    st.global.u32 [%d4], %r2; DONE:`);
  launchAll(code, { ...both, block: [96, 1, 1], words: 96 });
});

test('kernels with irreducible control flow are executed', () => {
  const code = kernel(`mov.u32 %r1, 0; and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra SECOND;
    FIRST: add.u32 %r1, %r1, 3; setp.gt.u32 %p2, %r1, 40; @%p2 bra DONE;
    SECOND: add.u32 %r1, %r1, 5; bar.warp.sync -1; setp.lt.u32 %p3, %r1, 50; @%p3 bra FIRST;
    DONE: st.global.u32 [%d3], %r1;`);
  launchAll(code, { ...both, block: [1, 1, 1] });
  launchAll(code, { ...both, block: [2, 1, 1], detectRaces: false });
});

test('pointers that leave their array', () => {
  // From a to b, by their distance
  const stray = kernel('sub.s64 %d6, %d2, %d1; add.s64 %d7, %d3, %d6; st.global.u32 [%d7], 9; ld.global.u32 %r1, [%d7];');
  assert.deepEqual(words(launchAll(stray, both), 1, 32), new Array(32).fill(9));
  // Read from memory
  const loaded = kernel(`st.global.u64 [%d1+256], %d2; ld.global.u64 %d6, [%d1+256]; add.s64 %d6, %d6, %d5;
    st.global.u32 [%d6], 8;`);
  const result = launchAll(loaded, { ...both, block: [32, 1, 1] });
  assert.deepEqual(words(result, 1, 32), new Array(32).fill(8));
  // Shared memory, by a generic address, from one variable into another by their distance
  const next = kernel(
    `mov.u64 %d6, s; mov.u64 %d7, q; sub.s64 %d8, %d7, %d6; cvta.shared.u64 %d6, %d6; add.s64 %d6, %d6, %d5;
    add.s64 %d6, %d6, %d8; st.u32 [%d6], %r0; bar.sync 0;
    add.s64 %d7, %d7, %d5; ld.shared.u32 %r1, [%d7]; st.global.u32 [%d3], %r1;`,
    `${shared} .shared .align 16 .b8 q[512];`,
  );
  assert.deepEqual(
    words(launchAll(next, both), 0, 32),
    Array.from({ length: 32 }, (_, t) => t),
  );
});

test('unbounded arrays: pages on both sides of the start, accessed repeatedly, in no order', () => {
  // Each thread goes up and down both arrays, in steps that share no page, and comes back to where it began.
  const walk = (pages: number, access: string): string => `
    mov.u32 %r1, 0;
    GO: and.b32 %r2, %r1, 1; mad.lo.s32 %r3, %r1, ${pages * 1024}, 0; neg.s32 %r4, %r3;
    setp.eq.u32 %p1, %r2, 0; selp.b32 %r5, %r3, %r4, %p1; cvt.s64.s32 %d6, %r5; add.s64 %d7, %d3, %d6; add.s64 %d8, %d4, %d6;
    ${access}
    add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 40; @%p2 bra GO;
    st.global.u32 [%d3+4096], %r1; ld.global.u32 %r8, [%d4]; st.global.u32 [%d3+4224], %r8;`;
  const sums = 'ld.global.u32 %r6, [%d7]; add.u32 %r6, %r6, %r1; st.global.u32 [%d8], %r6;';
  for (const pages of [1, 3, 4096, 5000]) {
    const whole = launchAll(kernel(walk(pages, sums)), { a: { fill: 5n }, b: { fill: 1n }, words: 1100 });
    assert.equal(whole.outcome, 'finished');
    assert.deepEqual(words(whole, 0, 1057).slice(1023), [5, ...Array<number>(32).fill(40), 5]);
    for (const round of [0, 2, 38]) assert.equal(whole.read(1, 1024 * pages * round, 4), BigInt(5 + round));
    for (const round of [1, 39]) assert.equal(whole.read(1, -1024 * pages * round, 4), BigInt(5 + round));
    // Neighbours overlap in the word after their own.
    const racy = launchAll(kernel(walk(pages, 'ld.global.u32 %r6, [%d7+4]; st.global.u32 [%d7], %r1;')));
    assert.ok(racy.races.length > 0);
  }
  // A misaligned address of four bytes.
  const wrong = launchAll(kernel(walk(1, 'ld.global.u32 %r6, [%d7]; add.s64 %d9, %d8, 2; st.global.u32 [%d9], %r6;')));
  assert.deepEqual([wrong.outcome, wrong.faults[0]!.kind], ['fault', 'misaligned']);
});

test('faults name thread and instruction', () => {
  for (const [body, kind] of [
    ['st.global.u32 [%d3+4064], 1;', 'out-of-bounds'],
    ['st.global.u32 [%d3+-8], 1;', 'out-of-bounds'],
    ['add.s64 %d6, %d3, 2; ld.global.u32 %r1, [%d6]; st.global.u32 [%d3], %r1;', 'misaligned'],
    ['mov.u64 %d6, 0; ld.global.u32 %r1, [%d6]; st.global.u32 [%d3], %r1;', 'out-of-bounds'],
    ['mov.u32 %r1, 600; st.shared.u32 [%r1], 1;', 'out-of-bounds'],
    ['shl.b32 %r1, %r0, 5; st.shared.u32 [%r1], 1;', 'out-of-bounds'],
    ['ld.const.u32 %r1, [c]; mov.u64 %d6, c; cvta.const.u64 %d6, %d6; st.u32 [%d6], 1;', 'read-only'],
  ] as const) {
    const code = kernel(body, `${shared} .const .align 4 .u32 c = 3;`);
    const result = launchAll(code, both);
    assert.deepEqual([result.outcome, result.faults[0]?.kind], ['fault', kind], body);
  }
  assert.equal(launchAll(kernel('setp.eq.u32 %p1, %r0, 5; @%p1 trap; st.global.u32 [%d3], 1;'), both).outcome, 'trap');
});

test('reads of uninitialised memory are reported', () => {
  const code = kernel(
    `mov.u64 %d6, s; add.s64 %d7, %d6, %d5; st.shared.u32 [%d7], %r0; bar.sync 0;
    ld.shared.u32 %r1, [%d7+64]; st.global.u32 [%d3], %r1;`,
    shared,
  );
  const result = launchAll(code, both);
  assert.deepEqual(
    result.faults.map(({ kind, thread }) => [kind, thread]),
    [['uninitialised', [16, 0, 0]]],
  );
  assert.equal(result.outcome, 'finished');
  const buffer = kernel('ld.global.u32 %r1, [%d4]; st.global.u32 [%d3], %r1;');
  const read = launchAll(buffer, { a: bounded, b: { ...bounded, uninitialised: true } });
  assert.equal(read.faults[0]?.kind, 'uninitialised');
});

test('atomics on uninitialised memory', () => {
  const uninitialised = { a: bounded, b: { ...bounded, uninitialised: true } };
  const faultsOf = (body: string): readonly string[] => launchAll(kernel(body), uninitialised).faults.map(({ kind }) => kind);
  assert.deepEqual(faultsOf('red.global.add.u32 [%d2], 1;'), ['uninitialised']);
  assert.deepEqual(faultsOf('atom.global.cas.b32 %r1, [%d2], 0, 1;'), ['uninitialised']);
  assert.deepEqual(faultsOf('atom.global.exch.b32 %r1, [%d2], 1; st.global.u32 [%d3], %r1;'), ['uninitialised']);
  assert.deepEqual(faultsOf('ld.volatile.global.u32 %r1, [%d4]; st.global.u32 [%d3], %r1;'), ['uninitialised']);
  assert.deepEqual(faultsOf('atom.global.exch.b32 %r1, [%d2], 1; red.global.add.u32 [%d2], 1;'), []);
  assert.deepEqual(faultsOf('st.volatile.global.u32 [%d4], 1; red.global.add.u32 [%d4], 1;'), []);
});

test('atomic sums flush subnormal numbers only in global memory', () => {
  // By row: the number there, the one that is added, the sum as it is, and with subnormal numbers as zeros.
  const sums = [
    [0x00400000, 0x00400000, 0x00800000, 0],
    [0x80000001, 0x80000001, 0x80000002, 0x80000000],
    [0x80000001, 0x00800000, 0x007fffff, 0x00800000],
    [0x00800001, 0x80c00000, 0x803fffff, 0x80000000],
  ] as const;
  const hexadecimal = (bits: number): string => `0f${bits.toString(16).padStart(8, '0')}`;
  const each = (text: (at: number, there: number, added: number) => string): string =>
    sums.map(([there, added], index) => text(4 * index, there, added)).join('\n');
  const run = (mnemonic: string, space: 'shared' | 'global', address: string): readonly number[] => {
    const result = launchAll(
      kernel(
        `setp.ne.u32 %p1, %r0, 0; @%p1 bra END;
        mov.u32 %r1, s; cvt.u64.u32 %d6, %r1; cvta.shared.u64 %d6, %d6;
        ${each((at, there) => `st.${space}.u32 [${space === 'shared' ? '%r1' : '%d2'}+${at}], ${there};`)}
        ${each((at, _, added) => `${mnemonic} [${address}+${at}], ${hexadecimal(added)};`)}
        ${space === 'shared' ? each((at) => `ld.shared.u32 %r3, [%r1+${at}]; st.global.u32 [%d2+${at}], %r3;`) : ''}
        END:`,
        shared,
      ),
      both,
    );
    return words(result, 1, 4).map((word) => word >>> 0);
  };
  const [kept, flushed] = [sums.map((row) => row[2]), sums.map((row) => row[3])];
  for (const [name, result] of [
    ['red', ''],
    ['atom', ' %f1,'],
  ] as const) {
    assert.deepEqual(run(`${name}.global.add.f32${result}`, 'global', '%d2'), flushed, name);
    assert.deepEqual(run(`${name}.add.f32${result}`, 'global', '%d2'), flushed, name);
    assert.deepEqual(run(`${name}.shared.add.f32${result}`, 'shared', '%r1'), kept, name);
    assert.deepEqual(run(`${name}.add.f32${result}`, 'shared', '%d6'), kept, name);
  }
});

test('strong loads without strong writes race as reads do', () => {
  const load = 'ld.volatile.global.u32 %r1, [%d2]; st.global.u32 [%d3], %r1;';
  const plain = 'ld.global.u32 %r2, [%d2]; st.global.u32 [%d3], %r2;';
  assert.deepEqual(launchAll(kernel(load + plain), both).races, []);
  const { races } = launchAll(kernel(`setp.eq.u32 %p1, %r0, 5; @%p1 st.global.u32 [%d2], 1; ${load}`), both);
  assert.deepEqual(
    races.map(({ first, second }) => [first.operation, second.operation].sort()),
    [['read', 'write']],
  );
});

test('shadow words: byte stores side by side, words over bytes, vectors', () => {
  const bytes = kernel('cvt.u64.u32 %d6, %r0; add.s64 %d7, %d1, %d6; st.global.u8 [%d7], %r0;');
  assert.deepEqual(launchAll(bytes, both).races, []);
  const mixed = kernel(`cvt.u64.u32 %d6, %r0; add.s64 %d7, %d1, %d6; st.global.u8 [%d7], %r0;
    and.b64 %d8, %d7, -4; setp.eq.u32 %p1, %r0, 31; @%p1 ld.global.u32 %r1, [%d8]; @%p1 st.global.u32 [%d2], %r1;`);
  assert.equal(launchAll(mixed, both).races.length, 1);
  const vectors = kernel(`mul.wide.u32 %d6, %r0, 16; add.s64 %d7, %d1, %d6; mov.u32 %r1, 1;
    st.global.v4.u32 [%d7], {%r1, %r1, %r1, %r1}; ld.global.u32 %r2, [%d7+12]; st.global.u32 [%d4], %r2;`);
  assert.deepEqual(launchAll(vectors, both).races, []);
});

test('more barriers than the counters of a shadow word can represent', () => {
  const code = (barrier: string, count: number): Kernel =>
    kernel(
      `mov.u64 %d6, s; add.s64 %d7, %d6, %d5; xor.b64 %d8, %d7, 4; mov.u32 %r1, 0;
      LOOP: st.shared.u32 [%d7], %r1; ${barrier} ld.shared.u32 %r2, [%d8]; ${barrier}
      add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, ${count}; @%p1 bra LOOP; st.global.u32 [%d3], %r2;`,
      shared,
    );
  const wide = { ...both, block: [4, 1, 1] as Dim3, steps: 10_000_000, backend: 'webassembly' as const };
  for (const [barrier, count] of [
    ['bar.sync 0;', 9000],
    ['bar.warp.sync -1;', 33000],
  ] as const) {
    const result = launch(code(barrier, count), wide);
    assert.deepEqual([result.outcome, result.races], ['finished', []]);
  }
  const racy = code('bar.sync 0;', 9000).blocks.length > 0 ? launch(code('', 20), wide) : null;
  assert.notEqual(racy?.races.length, 0);
});

test('a barrier of the grid resets both shared and global memory', () => {
  const text = readFileSync(`${root}/race/grid-barrier.ptx`, 'utf8');
  const code = lowerModule(parsePtx(text).module).kernels[0]!;
  const request = requestOf('grid-barrier', code);
  const results = backEnds.map((backend) => runKernel({ ...request, backend }));
  for (const result of results) assert.deepEqual(told(result), told(results[0]!));
});

test('mbarriers, matrices, asynchronous copies', () => {
  const phases = kernel(
    `mov.u64 %d6, bar; mov.u64 %d7, s; add.s64 %d7, %d7, %d5; setp.eq.u32 %p1, %r0, 0;
    @%p1 mbarrier.init.shared.b64 [%d6], 32; bar.sync 0; st.shared.u32 [%d7], %r0;
    mbarrier.arrive.shared.b64 %d8, [%d6];
    WAIT: mbarrier.test_wait.shared.b64 %p2, [%d6], %d8; @!%p2 bra WAIT;
    xor.b64 %d9, %d7, 4; ld.shared.u32 %r1, [%d9]; st.global.u32 [%d3], %r1;`,
    `${shared} .shared .align 8 .b64 bar;`,
  );
  const result = launchAll(phases, both);
  assert.deepEqual([result.outcome, result.races, result.faults], ['finished', [], []]);
  assert.deepEqual(
    words(result, 0, 32),
    Array.from({ length: 32 }, (_, t) => t ^ 1),
  );
  const copies = (wait: string): Kernel =>
    kernel(
      `mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; cp.async.ca.shared.global [%r1], [%d4], 4;
      cp.async.commit_group; ${wait} xor.b32 %r3, %r1, 4; ld.shared.u32 %r4, [%r3]; st.global.u32 [%d3], %r4;`,
      shared,
    );
  assert.deepEqual(launchAll(copies('cp.async.wait_group 0; bar.sync 0;'), both).races, []);
  assert.equal(launchAll(copies('bar.sync 0; cp.async.wait_group 0;'), both).races.length, 1);
  const matrices = kernel(
    `mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2; mul.lo.u32 %r3, %r0, 0x01010101;
    st.shared.v4.u32 [%r1], {%r3, %r0, %r3, %r0}; bar.sync 0;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%r1];
    mov.f32 %f1, 0f00000000;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r4, %r5, %r6, %r7}, {%r5, %r6},
      {%f1, %f1, %f1, %f1};
    st.global.f32 [%d3], %f2; st.global.f32 [%d4], %f5;`,
    shared,
  );
  assert.equal(launchAll(matrices, both).outcome, 'finished');
});

test('pointers that alternate between arrays, writable and not', () => {
  const code = kernel(
    `mov.u32 %r1, 0; mov.u32 %r3, 0; mov.u64 %d6, c; cvta.const.u64 %d6, %d6; add.s64 %d6, %d6, %d5;
    LOOP: ld.u32 %r2, [%d6]; mad.lo.u32 %r3, %r3, 5, %r2; mov.u64 %d7, %d3; mov.u64 %d3, %d4; mov.u64 %d4, %d6;
    mov.u64 %d6, %d7; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 6; @%p1 bra LOOP;
    selp.b64 %d8, %d1, %d2, %p1; add.s64 %d8, %d8, %d5; st.global.u32 [%d8+128], %r3;`,
    '.const .align 4 .u32 c[32] = {3, 1, 4, 1, 5, 9, 2, 6};',
  );
  const values = new Map([
    [0, 7n],
    [5, 8n],
  ]);
  const result = launchAll(code, { a: { ...bounded, values }, b: { ...bounded, fill: 2n } });
  assert.equal(result.outcome, 'finished');
});
