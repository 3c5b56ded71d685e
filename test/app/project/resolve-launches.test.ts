import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveLaunches, type LaunchFacts, type SiteSettings } from '../../../src/app/project/resolve-launches.ts';
import type { ObjectId } from '../../../src/ir/form/kernel.ts';
import { kernelOf } from '../../ir/form/kernel-fixture.ts';

const nothing: LaunchFacts = { option: {}, configured: [], sites: [] };
const kernel = kernelOf({ parameters: ['u64', 'u32', 'f32'] });
const parameters = [
  { name: 'out', type: 'float *' },
  { name: 'n', type: 'int' },
  { name: 'scale', type: 'float' },
];

function site(line: number, settings: Partial<SiteSettings>): SiteSettings {
  return { location: { file: 'a.cu', line }, text: `<<<…>>>`, scalars: new Map(), aliases: [], ...settings };
}

test('each property comes from the first source that sets it', () => {
  const { launches } = resolveLaunches(kernel, 'k', parameters, {
    option: { block: [64, 1, 1] },
    configured: [{ block: [1, 1, 1], grid: [2, 1, 1] }, { grid: [3, 1, 1] }],
    annotation: { grid: [9, 1, 1], sharedBytes: 128, args: new Map([['n', 7]]), location: { file: 'a.cu', line: 2 } },
    sites: [],
  });
  assert.equal(launches.length, 1);
  const [launch] = launches;
  assert.deepEqual(launch?.block, [64, 1, 1]);
  assert.deepEqual(launch?.grid, [3, 1, 1], 'of several configuration entries the last that sets it');
  assert.equal(launch?.sharedBytes, 128);
  assert.deepEqual([...(launch?.scalars ?? [])], [[1, 7n]]);
  assert.equal(launch?.source, 'option');
});

test('distinct launch sites are separate launches, equal sites are one launch', () => {
  const { launches } = resolveLaunches(kernel, 'k', parameters, {
    ...nothing,
    sites: [
      site(1, { block: [32, 1, 1], grid: [1, 1, 1] }),
      site(2, { block: [32, 1, 1], grid: [1, 1, 1] }),
      site(3, { block: [64, 1, 1], grid: [1, 1, 1], scalars: new Map([[1, 5]]), aliases: [[0, 0]] }),
    ],
  });
  assert.deepEqual(
    launches.map(({ block, location }) => [block?.[0], location?.line]),
    [
      [32, 1],
      [64, 3],
    ],
  );
  assert.equal(launches[1]?.scalars.get(1), 5n);
});

test('a site that cannot be evaluated is analysed with any launch, and listed if others are known', () => {
  const known = site(1, { block: [32, 1, 1], grid: [1, 1, 1] });
  const mixed = resolveLaunches(kernel, 'k', parameters, { ...nothing, sites: [known, site(2, {})] });
  assert.deepEqual(
    mixed.launches.map(({ block }) => block?.[0]),
    [32, undefined],
  );
  assert.equal(mixed.notEvaluated.length, 1);
  assert.equal(mixed.diagnostics[0]?.code, 'launch/not-evaluated');
  const none = resolveLaunches(kernel, 'k', parameters, { ...nothing, sites: [site(2, {})] });
  assert.equal(none.notEvaluated.length, 0);
  assert.deepEqual([none.launches[0]?.block, none.launches[0]?.grid], [null, null]);
});

test('a site that may be cooperative or have clusters is not considered resolved', () => {
  const open = site(3, { unknown: ['block', 'grid', 'cluster', 'cooperative'] });
  const alone = resolveLaunches(kernel, 'k', parameters, { ...nothing, sites: [open] });
  assert.deepEqual(alone.notEvaluated, [open], 'the symbolic launch does not represent it');
  const option = { block: [32, 1, 1], grid: [2, 1, 1] } as const;
  const sized = resolveLaunches(kernel, 'k', parameters, { ...nothing, option, sites: [open] });
  assert.deepEqual(
    sized.launches.map(({ block }) => block),
    [[32, 1, 1]],
  );
  assert.deepEqual(sized.notEvaluated, [open]);
  assert.match(sized.diagnostics[0]?.message ?? '', /^Selvage cannot evaluate `cluster` and `cooperative` for the launch/);
  const whole = { ...option, cluster: [1, 1, 1], cooperative: true } as const;
  const settled = resolveLaunches(kernel, 'k', parameters, { ...nothing, option: whole, sites: [open] });
  assert.deepEqual([settled.notEvaluated, settled.diagnostics], [[], []]);
  assert.equal(settled.launches[0]?.cooperative, true);
});

test('a site beyond the limits is omitted with an error', () => {
  const { launches, diagnostics } = resolveLaunches(kernel, 'k', parameters, {
    ...nothing,
    sites: [site(4, { block: [2048, 1, 1], grid: [1, 1, 1] })],
  });
  assert.deepEqual(
    diagnostics.map(({ code, severity }) => [code, severity]),
    [['launch/out-of-range', 'error']],
  );
  // Comparisons and baselines recognise it.
  assert.ok(diagnostics[0]?.fingerprint);
  assert.equal(launches[0]?.source, 'symbolic');
});

test('a site beyond a limit along one axis is omitted, also if other extents are open', () => {
  const axes = { block: ['computed', 1, 1], grid: ['computed', 65_536, 1] } as const;
  const { diagnostics } = resolveLaunches(kernel, 'k', parameters, { ...nothing, sites: [site(4, { axes })] });
  assert.match(diagnostics[0]?.message ?? '', /has y = 65536; the limit of a grid in y is 65535\. It always fails/);
  const most = { ...axes, grid: ['computed', 65_535, 1] } as const;
  assert.deepEqual(resolveLaunches(kernel, 'k', parameters, { ...nothing, sites: [site(4, { axes: most })] }).diagnostics, []);
});

test('more than 48 KiB of shared memory need an attribute of the kernel', () => {
  const one = {
    ...kernelOf({}),
    objects: [{ id: 0 as ObjectId, symbol: 's', space: 'shared', alignment: 4, elementBytes: 1, bytes: 1024, external: false }],
  } as const;
  const dims = { block: [32, 1, 1], grid: [1, 1, 1] } as const;
  const codes = (of: Partial<SiteSettings>, facts: Partial<LaunchFacts> = {}): readonly string[] =>
    resolveLaunches(one, 'k', [], { ...nothing, ...facts, sites: [site(4, { ...dims, ...of })] }).diagnostics.map(({ code }) => code);
  assert.deepEqual(codes({ sharedBytes: 48 * 1024 - 1023, keepsAttributes: true }), ['launch/refused']);
  assert.deepEqual(codes({ sharedBytes: 48 * 1024 - 1024, keepsAttributes: true }), []);
  assert.deepEqual(codes({ sharedBytes: 48 * 1024 }), [], 'the program may call cudaFuncSetAttribute()');
  assert.deepEqual(codes({ sharedBytes: 48 * 1024, keepsAttributes: true }, { option: { sharedBytes: 512 } }), [], 'another size is given');
});

test('.reqntid fixes the block, launch bounds only limit it', () => {
  const required = resolveLaunches(kernelOf({ requiredThreads: [128, 1, 1] }), 'k', [], {
    ...nothing,
    annotation: { block: [64, 1, 1], location: { file: 'a.cu', line: 1 } },
  });
  assert.deepEqual(required.launches[0]?.block, [128, 1, 1]);
  assert.deepEqual([required.diagnostics[0]?.code, required.diagnostics[0]?.severity], ['launch/block-mismatch', 'error']);
  const bounded = resolveLaunches(kernelOf({ maximumThreads: [128, 1, 1] }), 'k', [], nothing);
  assert.equal(bounded.launches[0]?.block, null);
  assert.equal(bounded.launches[0]?.source, 'launch-bounds');
});

test('scalar arguments become the bits of the parameter', () => {
  const scalars = (args: [string, number | string][]) => {
    const { launches, diagnostics } = resolveLaunches(kernel, 'k', parameters, {
      ...nothing,
      option: { args: new Map(args) },
    });
    return { values: [...(launches[0]?.scalars ?? [])], problems: diagnostics.map(({ message }) => message) };
  };
  assert.deepEqual(scalars([['n', '-1']]).values, [[1, 0xffffffffn]]);
  assert.deepEqual(scalars([['param1', '0x10']]).values, [[1, 16n]]);
  assert.deepEqual(scalars([['scale', '1.5']]).values, [[2, 0x3fc00000n]]);
  assert.match(scalars([['n', '5000000000']]).problems[0] ?? '', /32 bits/);
  assert.match(scalars([['out', '5']]).problems[0] ?? '', /pointer/);
  assert.match(scalars([['n', 'many']]).problems[0] ?? '', /whole number/);
});
