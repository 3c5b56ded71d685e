/** Findings about launches that may start early: errors and warnings, by build, architecture, and what is known of the kernel before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Checked, KernelUnit, LaunchedKernel } from '../../../../src/app/build/phase-data.ts';
import { orderLaunches } from '../../../../src/app/pipeline/ordering/between-launches.ts';
import type { HostOperation, OverlappingOperations } from '../../../../src/host/operations/host-operation.ts';
import { unorderedText } from '../../../../src/messages/ordering.ts';
import { codeOf, launchOf, pointer } from '../../../between/fixture.ts';

const wait = 'griddepcontrol.wait;';
const st = 'st.global.u32 [%d1], %r0;';
const ld = 'ld.global.u32 %r20, [%d1]; st.global.u32 [%d2], %r20;';

interface Setting {
  /** Body of the verification build, and that of the production build. */
  readonly second: string;
  readonly produced?: string;
  /** Null: it is not known. */
  readonly first?: string | null;
  readonly arch?: string;
  readonly kind?: OverlappingOperations['kind'];
  readonly a?: string;
  /** Number of equal pairs. */
  readonly pairs?: number;
}

/** The findings for a launch of `first` on `x`, then one of `second`. */
async function findingsOf({
  second,
  produced,
  first = st,
  arch = 'sm_90',
  kind = 'programmatic',
  a = 'x',
  pairs = 2,
}: Setting): Promise<string[]> {
  const unit = { path: 'k.cu' } as KernelUnit['unit'];
  const entryOf = (symbol: string, body: string, other: string): LaunchedKernel => {
    const { kernel, parameters } = codeOf(body);
    const build = { ...kernel, symbol };
    const optimised = other === body ? build : { ...codeOf(other).kernel, symbol };
    const name = { full: symbol, qualified: symbol, parameters: [], symbol };
    return { unit, arch, name, kernel: build, produced: optimised, parameters, identity: symbol } as unknown as LaunchedKernel;
  };
  const named = (name: string, one: HostOperation): HostOperation => ({ ...one, name, launch: { ...one.launch!, kernel: name } });
  const kernels = [entryOf('second', second, produced ?? second), ...(first === null ? [] : [entryOf('first', first, first)])];
  const pair: OverlappingOperations = {
    kind,
    first: first === null ? null : named('first', launchOf()),
    second: named('second', launchOf({ a: pointer(a) })),
    symbolFacts: [],
  };
  const units = [{ unit, arch, kernels, unordered: Array.from({ length: pairs }, () => pair) }] as unknown as KernelUnit[];
  const checked = { kernels: kernels.map((entry) => ({ entry })), diagnostics: [] } as unknown as Checked;
  const { diagnostics } = await orderLaunches(checked, units);
  return diagnostics.map(({ severity, code, message }) => `${severity} ${code}: ${message}`);
}

test('an access before the wait of bytes that the kernel before writes is an error, once', async () => {
  const [early, ...others] = await findingsOf({ second: `${ld} ${wait}` });
  assert.match(early ?? '', /^error ordering\/pdl-wait: `second` reads `a` here before it has waited.*`first`.*write the same bytes/);
  assert.deepEqual(others, []);
  assert.deepEqual(await findingsOf({ second: `${wait} ${ld}` }), []);
  assert.deepEqual(await findingsOf({ second: `${ld} ${wait}`, a: 'z' }), [], 'another array');
});

test('before compute capability 9.0 launches do not overlap', async () => {
  assert.deepEqual(await findingsOf({ second: ld, arch: 'sm_80' }), []);
  assert.equal((await findingsOf({ second: ld, arch: 'sm_100' })).length, 1);
});

test('a load that only the optimised build makes before the wait', async () => {
  const [moved, ...others] = await findingsOf({ second: `${wait} ${ld}`, produced: `${ld} ${wait}` });
  assert.match(moved ?? '', /^error .*the optimiser moves the access above the wait.*__restrict__/);
  assert.deepEqual(others, []);
});

test('a kernel that never waits, and shares no bytes with the kernel before', async () => {
  const [never, ...others] = await findingsOf({ second: ld, a: 'z' });
  assert.match(never ?? '', /^warning ordering\/pdl-wait: `second` .*never calls `cudaGridDependencySynchronize\(\)`/);
  assert.deepEqual(others, []);
  const [stop] = await findingsOf({ second: 'alloca.u64 %d30, 16; trap;', first: null });
  assert.equal(stop, undefined, 'a kernel without accesses');
});

test('if the kernel before is not known, accesses before the wait on every path, or in each run, are a warning', async () => {
  const [early, ...others] = await findingsOf({ second: `${ld} ${wait}`, first: null });
  assert.match(early ?? '', /^warning .*`second` reads memory here.*If no kernel before it writes this memory/);
  assert.deepEqual(others, []);
  const when = (condition: string): string => `setp.${condition}; @%p1 ${wait} ${ld}`;
  assert.deepEqual(await findingsOf({ second: when('lt.u32 %p1, %r9, 9'), first: null }), [], 'n is 8');
  const [onePath] = await findingsOf({ second: when('lt.u32 %p1, %r9, 8'), first: null });
  assert.match(onePath ?? '', /^warning .*`second` reads memory here/);
  const byMemory = `ld.shared.u32 %r21, [%d3]; ${when('eq.u32 %p1, %r21, 1')}`;
  assert.deepEqual(await findingsOf({ second: byMemory, first: null }), [], 'memory decides who waits');
  assert.deepEqual(await findingsOf({ second: `${wait} ${ld}`, first: null }), []);
  const [never] = await findingsOf({ second: ld, first: null });
  assert.match(never ?? '', /^warning .*never calls/);
});

test('which bytes the first kernel writes depends on memory', async () => {
  const scatter = 'ld.global.u32 %r20, [%d2]; mul.wide.u32 %d5, %r20, 4; add.s64 %d6, %d1, %d5; st.global.u32 [%d6], %r9;';
  const [possible, ...others] = await findingsOf({ first: scatter, second: `${ld} ${wait}` });
  assert.match(possible ?? '', /^warning .*may still use the same array/);
  assert.deepEqual(others, []);
});

test('operations of two streams', async () => {
  const [shown] = await findingsOf({ second: `${wait} ${ld}`, kind: 'streams' });
  assert.match(
    shown ?? '',
    /^error ordering\/streams: The launch of `second`.*and the launch of `first`.*the same bytes of `x`.*cudaStreamWaitEvent/,
  );
  assert.deepEqual(await findingsOf({ second: ld, kind: 'streams', a: 'z' }), []);
  const [other] = await findingsOf({ second: ld, kind: 'host' });
  assert.match(other ?? '', /^error ordering\/host/);
});

test('advice names the first operation, and no stream in a call', () => {
  const launch = (name: string, stream: string) => ({ kind: 'launch', name, stream, location: undefined }) as const;
  const streams = unorderedText(launch('one', 's'), launch('two', 'memory'), 'x', true);
  assert.match(streams, /^The launch of `two` in a stream and the launch of `one` in stream `s` access/);
  assert.match(
    streams,
    /Record an event with `cudaEventRecord\(\)` after the launch of `one` in stream `s`, and let the other stream wait/,
  );
  const read = { kind: 'host', name: 'a read', stream: null, location: undefined } as const;
  const host = (stream: string): string => unorderedText(launch('one', stream), read, 'x', true);
  assert.match(host('s'), /in stream `s`: .*Wait for that stream before this line, for example with `cudaStreamSynchronize\(\)`/);
  assert.match(host('the default stream'), /in the default stream: .*Call `cudaDeviceSynchronize\(\)`/);
});

test('a notice states that not all pairs of a unit were compared', async () => {
  // The kernel before accesses another array, so that each pair is run.
  const noticesOf = async (pairs: number, second = `${ld} ${wait}`): Promise<string[]> =>
    (await findingsOf({ second, pairs, a: 'z' })).filter((one) => one.startsWith('notice'));
  assert.deepEqual(await noticesOf(64), []);
  assert.match((await noticesOf(65)).join(), /^notice launch\/not-compared: k\.cu has 65 pairs .* compared 64 of them/);
  assert.deepEqual(await noticesOf(99, `${wait} ${ld}`), [], 'kernels that wait first are not run');
  assert.deepEqual(
    (await findingsOf({ second: `${ld} ${wait}`, pairs: 99 })).filter((one) => one.startsWith('notice')),
    [],
    'one error for each two places suffices',
  );
});
