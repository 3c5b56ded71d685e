import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { analyseChange } from '../../../src/app/compare/change.ts';
import type { ChangeAnalysis } from '../../../src/app/compare/change-request.ts';
import { checkProject } from '../../../src/app/pipeline/project-check.ts';
import { defaultOptions, type Options } from '../../../src/settings/options.ts';
import { openSourceTree } from '../../../src/app/project/source-tree.ts';
import { withoutNvcc } from '../../toolchain/fixture.ts';
import { exitCodeOf } from '../../../src/report-model/exit-code.ts';
import { parseConfiguration } from '../../../src/settings/configuration-parser.ts';
import type { FileDiff } from '../../../src/source/diff.ts';
import { ExampleTree, exampleTools, loweringBeside, recordingProgress, type SideChanges } from './change-fixture.ts';
import { type CheckFunction, checksBy } from '../workers/checks-by.ts';

let base: ExampleTree;
let head: ExampleTree;
beforeEach(() => {
  base = new ExampleTree('base');
  head = new ExampleTree('base');
});
afterEach(() => {
  base.remove();
  head.remove();
});

const changed = (...paths: string[]): FileDiff[] => paths.map((path) => ({ path, status: 'modified', hunks: [] }));

function review(diff: readonly FileDiff[], sides: { base?: SideChanges; head?: SideChanges } = {}): Promise<ChangeAnalysis> {
  return analyseChange({
    base: base.side(sides.base),
    head: head.side(sides.head),
    tools: exampleTools(),
    names: { base: 'b', head: 'h' },
    diff,
  });
}

const costly: Options = { ...defaultOptions(), checks: ['cost'] };
const touched = ({ touched: kernels }: ChangeAnalysis) => kernels.map(({ unit, reason }) => [unit, reason]);

test('a change of a comment touches no kernel', async () => {
  head.replace('matmul.cu', '// c = a * b', '// the product c = a * b');
  const analysis = await review(changed('matmul.cu'));
  assert.deepEqual(touched(analysis), []);
  assert.deepEqual(analysis.report.kernels, []);
  assert.equal(analysis.nothing, undefined);
});

test('a change without CUDA is reported in one line', async () => {
  const analysis = await review([{ path: 'README.md', status: 'modified', hunks: [] }]);
  assert.match(analysis.nothing ?? '', /^Nothing to review: no CUDA code changes\.$/);
  assert.equal(exitCodeOf(analysis.report, 'error'), 0);
});

test('changed code in either build touches a kernel', async () => {
  head.replace('matmul.production.ptx', 'fma.rn.f32', 'mul.f32');
  head.replace('reduce.verification.ptx', 'add.f32', 'sub.f32');
  assert.deepEqual(touched(await review(changed('matmul.cu', 'reduce.cu', 'reverse.cu'))), [
    ['matmul.cu', 'code'],
    ['reduce.cu', 'code'],
  ]);
});

test('a changed launch or annotation touches the kernel and requires review', async () => {
  head.replace('matmul.cu', 'grid=16,16', 'grid=8,16');
  const analysis = await review(changed('matmul.cu'));
  assert.deepEqual(touched(analysis), [['matmul.cu', 'launches']]);
  assert.deepEqual(
    analysis.trust.map(({ kind, text, location }) => [kind, text, location?.line]),
    [['assumption', 'matmul: // selvage: block=16,16 grid=8,16 arg(n=256)', 4]],
  );
});

test('costs are measured with those of the base if they are of the same launch', async () => {
  for (const tree of [base, head]) tree.replace('matmul.cu', 'grid=16,16 arg(n=256)', 'grid=2,2 arg(n=32)');
  const measure = async () => (await review(changed('matmul.cu'), { base: { options: costly }, head: { options: costly } })).costs;
  assert.deepEqual(await measure(), []);
  head.replace('matmul.production.ptx', 'fma.rn.f32', 'bar.sync 0;\nfma.rn.f32');
  const ofCode = await measure();
  // Six bounds of a warp in each build, and five counts of the launch.
  assert.deepEqual([ofCode.length, ofCode.every(({ base: before }) => before !== undefined)], [17, true]);
  const differences = ofCode.map(({ base: before, head: after }) => after - before!);
  // Two iterations, in eight warps of each of four blocks: instructions, and work and span with them.
  assert.deepEqual(
    differences.filter((one) => one !== 0),
    [2, 2, 2, 64, 64],
  );
  head.replace('matmul.cu', 'grid=2,2', 'grid=1,2');
  const ofLaunch = await measure();
  assert.deepEqual([ofLaunch.length, ofLaunch.some(({ base: before }) => before !== undefined)], [17, false]);
  assert.equal(new Set([...ofCode, ...ofLaunch].map(({ series }) => series)).size, 34);
});

test('changed compiler flags touch a kernel', async () => {
  const side = head.side();
  const flags = () => '-DFAST';
  const analysis = await review(changed('matmul.cu'), { head: { builder: { ...side.project.builder, flags } } });
  assert.deepEqual(touched(analysis), [['matmul.cu', 'flags']]);
});

test('a launch in a file that changes touches the kernel it launches', { skip: withoutNvcc }, async () => {
  head.replace('matmul.cu', /\/\/ selvage.*\n/, '');
  base.replace('matmul.cu', /\/\/ selvage.*\n/, '');
  const host = (grid: number): string =>
    `__global__ void matmul(const float*, const float*, float*, int);\nvoid run(float* p) { matmul<<<dim3(${grid}, 16), dim3(16, 16)>>>(p, p + 65536, p + 131072, 256); }\n`;
  base.write('host.cu', host(16));
  head.write('host.cu', host(8));
  const empty = '.version 8.0\n.target sm_80\n.address_size 64\n';
  for (const tree of [base, head]) {
    tree.write('host.verification.ptx', empty);
    tree.write('host.production.ptx', empty);
  }
  const [before, after] = await Promise.all([base, head].map((tree) => loweringBeside(openSourceTree(tree.root))));
  const analysis = await review(changed('host.cu'), { base: { builder: before! }, head: { builder: after! } });
  assert.deepEqual(touched(analysis), [['matmul.cu', 'launches']]);
  assert.deepEqual(analysis.report.kernels[0]?.launches[0]?.grid, [8, 16, 1]);
});

test('findings are new, unchanged or fixed', async () => {
  const fixed = new ExampleTree('head');
  const racy = await analyseChange({
    base: base.side(),
    head: fixed.side(),
    tools: exampleTools(),
    names: { base: 'b', head: 'h' },
    diff: changed('reduce.cu'),
  });
  assert.equal(racy.report.comparison?.new.length, 1);
  assert.equal(exitCodeOf(racy.report, 'error', new Set(racy.report.comparison?.new)), 1);
  const repaired = await analyseChange({
    base: fixed.side(),
    head: base.side(),
    tools: exampleTools(),
    names: { base: 'b', head: 'h' },
    diff: changed('reduce.cu'),
  });
  assert.deepEqual([repaired.report.comparison?.new, repaired.report.comparison?.fixed.length], [[], 1]);
  assert.deepEqual(repaired.report.comparison?.fixed, racy.report.comparison?.new);
  fixed.remove();
});

test('a unit that only the head can compile has only new findings, and this is reported', async () => {
  base.remove('reduce.verification.ptx');
  const analysis = await review(changed('reduce.cu'));
  assert.deepEqual(touched(analysis), [['reduce.cu', 'base-unknown']]);
  assert.deepEqual(
    analysis.report.diagnostics.map(({ code, severity }) => [code, severity]),
    [['review/base-not-compared', 'notice']],
  );
  assert.deepEqual(analysis.report.comparison?.addedKernels, [], 'it may have been there');
});

test('a unit that does not compile is not analysed, and the others are', async () => {
  head.remove('reduce.verification.ptx');
  head.replace('matmul.verification.ptx', 'add.f32', 'sub.f32');
  head.replace('matmul.production.ptx', 'fma.rn.f32', 'mul.f32');
  const { report } = await review(changed('reduce.cu', 'matmul.cu'));
  assert.deepEqual(
    report.notAnalysed?.map(({ what }) => what),
    ['reduce.cu'],
  );
  assert.equal(exitCodeOf(report, 'error'), 3);
  assert.equal(report.kernels.length, 1);
  // Findings of unreadable files are neither gone nor fixed.
  assert.deepEqual([report.comparison?.removedKernels, report.comparison?.fixed], [[], []]);
});

test('templates and headers that nothing compiles are listed', async () => {
  head.write('orphan.cuh', '__device__ int f();\n');
  head.write('used.cuh', 'template <int N> __global__ void dead(float* p) { p[N] = 0; }\n#if __CUDA_ARCH__ >= 900\n#endif\n');
  head.replace('matmul.cu', 'constexpr', '#include "used.cuh"\nconstexpr');
  const { report } = await review([
    ...changed('matmul.cu'),
    { path: 'orphan.cuh', status: 'added', hunks: [] },
    { path: 'used.cuh', status: 'added', hunks: [] },
  ]);
  assert.deepEqual(
    report.notAnalysed?.map(({ what, reason }) => [what, reason]),
    [['orphan.cuh', 'no .cu file includes this header']],
    'used.cuh has no code in the compiled units',
  );
});

test('suppressions and lowered severities that the change adds require review', async () => {
  head.replace('reduce.cu', '  for (int step', '  // selvage-ignore race/shared: harmless\n  for (int step');
  const text = 'version: 1\nchecks: { race: { severity: notice } }\nkernels: [{ match: reduce, assume: ["n > 0"] }]\n';
  const { configuration } = parseConfiguration(text, '.selvage.yml');
  const analysis = await review(changed('reduce.cu', '.selvage.yml'), { head: { configuration } });
  assert.deepEqual(
    analysis.trust.map(({ kind, text: words }) => [kind, words]),
    [
      ['assumption', 'reduce: n > 0'],
      ['suppression', 'race/shared: harmless'],
      ['setting', 'checks.race.severity: error is now notice'],
    ],
  );
  assert.ok(touched(analysis).some(([unit, reason]) => unit === 'reduce.cu' && reason === 'assumptions'));
});

test('a new kernel that the configuration of the base matches requires no review', async () => {
  const entry = '{ match: "re*", block: [256], assume: ["n > 0"] }';
  const configured = (text: string) => parseConfiguration(`version: 1\nkernels: [${text}]\n`, '.selvage.yml');
  for (const kind of ['cu', 'verification.ptx', 'production.ptx']) base.remove(`reduce.${kind}`);
  head.replace('reduce.cu', /\/\/ selvage:.*\n/, '\n');
  const added: FileDiff[] = [{ path: 'reduce.cu', status: 'added', hunks: [] }];
  const { configuration: old } = configured(entry);
  const same = await review(added, { base: { configuration: old }, head: { configuration: old } });
  assert.deepEqual(touched(same), [['reduce.cu', 'added']]);
  assert.deepEqual(same.trust, []);
  const { configuration: more } = configured(`${entry}, { match: reduce, grid: [8], assume: ["n < 9"] }`);
  const { trust } = await review(added, { base: { configuration: old }, head: { configuration: more } });
  assert.deepEqual(
    trust.map(({ text }) => text),
    ['reduce: n < 9', 'reduce: launched with block 256, 1, 1, grid 8, 1, 1'],
  );
});

test('an assumption in the code requires review', async () => {
  const hunks = [{ oldStart: 5, oldLines: 1, newStart: 5, newLines: 2, lines: [' a', '+  SELVAGE_ASSUME(n > 0);'] }];
  const { trust } = await review([{ path: 'reduce.cu', status: 'modified', hunks }]);
  assert.deepEqual(trust, [{ kind: 'assumption', text: 'SELVAGE_ASSUME(n > 0);', location: { file: 'reduce.cu', line: 6 } }]);
});

test('a file that moves is compared with its earlier version', async () => {
  for (const kind of ['cu', 'verification.ptx', 'production.ptx']) {
    head.write(`moved.${kind}`, head.read(`matmul.${kind}`).replaceAll('"matmul.cu"', '"moved.cu"'));
    head.remove(`matmul.${kind}`);
  }
  const analysis = await review([{ path: 'moved.cu', previousPath: 'matmul.cu', status: 'renamed', hunks: [] }]);
  assert.deepEqual(touched(analysis), []);
});

test('a removed kernel is reported', async () => {
  for (const kind of ['cu', 'verification.ptx', 'production.ptx']) head.remove(`reverse.${kind}`);
  const { report } = await review([{ path: 'reverse.cu', status: 'removed', hunks: [] }]);
  assert.deepEqual(report.comparison?.removedKernels, ['reverse(float const*, float*, int*, int)']);
});

test('an internal error in one kernel does not affect the others', async () => {
  const progress = recordingProgress();
  const { project, settings } = base.side();
  const units = ['matmul.cu', 'reduce.cu'].map((path) => ({
    kind: 'cuda' as const,
    path,
    file: `${base.root}/${path}`,
  }));
  const { checkKernel } = await import('../../../src/check/check-kernel.ts');
  const check: CheckFunction = (request) => (request.name === 'matmul' ? Promise.reject(new Error('boom')) : checkKernel(request));
  const report = await checkProject({
    project: { ...project, units },
    settings,
    tools: exampleTools(checksBy(check), progress),
  });
  assert.deepEqual(
    report.kernels.map(({ race }) => race.verdict),
    ['unknown', 'proved'],
  );
  assert.deepEqual(progress.kernels, ['matmul(float const*, float const*, float*, int)']);
  assert.equal(exitCodeOf(report, 'never'), 4);
});

test('a production build with additional effects invalidates the proof', async () => {
  base.replace('matmul.production.ptx', /bar\.sync\s+0;/, '');
  const unit = { kind: 'cuda' as const, path: 'matmul.cu', file: `${base.root}/matmul.cu` };
  const { project, settings } = base.side();
  const report = await checkProject({ project: { ...project, units: [unit] }, settings, tools: exampleTools() });
  assert.equal(report.kernels[0]?.race.verdict, 'possible');
  assert.match(
    report.kernels[0]?.race.reason ?? '',
    /^the optimised build differs from the build that was checked: the production build lacks the barrier at matmul\.cu:/,
  );
});

test('arguments and assumptions that match no kernel are rejected, and so are patterns without a kernel', async () => {
  const unit = { kind: 'cuda' as const, path: 'matmul.cu', file: `${base.root}/matmul.cu` };
  const run = (changes: object) => {
    const { project, settings } = base.side({ options: { ...defaultOptions(), ...changes } });
    return checkProject({ project: { ...project, units: [unit] }, settings, tools: exampleTools() });
  };
  await assert.rejects(run({ args: new Map([['m', '1']]) }), /--arg m: no kernel has this parameter.*a, b, c, n/);
  await assert.rejects(run({ assume: ['m > 1'] }), /no kernel has the parameter m\./);
  await assert.rejects(run({ assume: ['n >'] }), /column/);
  await assert.rejects(run({ kernel: 'nothing*' }), /matches no kernel.*matmul/);
});
