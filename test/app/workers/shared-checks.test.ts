import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckTask } from '../../../src/app/workers/check-executor.ts';
import type { CheckOutcome, KernelChecks } from '../../../src/app/workers/check-pool.ts';
import { verdictForm } from '../../../src/app/workers/verdict-form.ts';
import { sharingChecks } from '../../../src/app/workers/shared-checks.ts';
import { nothingOpen, type CheckResult } from '../../../src/check/request/check-request.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';
import { fingerprintOf } from '../../../src/verdict/fingerprint.ts';

/** A kernel with a shared array: thread index in %r1, an address derived from it in %rd2, its element in %f1. */
function kernelOf(body: string, { name = 'k', type = 'f32' } = {}) {
  const register = type === 'f32' ? '%f' : '%i';
  const ptx = `.version 8.0
.target sm_80
.address_size 64
.visible .entry ${name}(.param .u64 a, .param .u32 n)
{
.reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b32 %i<9>; .reg .pred %p<4>;
.shared .align 4 .b8 s[1024];
ld.param.u64 %rd1, [a];
ld.param.u32 %r0, [n];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd2, %rd1, %rd3;
ld.global.${type} ${register}1, [%rd2];
${body}
ret;
}
`;
  const [kernel] = lowerModule(parsePtx(ptx, 'k.ptx').module).kernels;
  assert.ok(kernel);
  return kernel;
}

const formOf = (...parameters: Parameters<typeof kernelOf>) => verdictForm(kernelOf(...parameters), null);
const scaled = (factor: string) => `mul.f32 %f2, %f1, ${factor};\nst.global.f32 [%rd2], %f2;`;

test('a verdict form omits stored values, the constants in them and their types', () => {
  const form = formOf(scaled('0f3F800000'));
  assert.ok(form);
  assert.equal(formOf(scaled('0f40000000')), form);
  assert.equal(formOf('add.f32 %f2, %f1, %f1;\nst.global.f32 [%rd2], %f2;'), form);
  const integers = { name: 'other', type: 's32' };
  assert.equal(formOf('add.s32 %i2, %i1, 7;\nst.global.s32 [%rd2], %i2;', integers), form);
});

test('a verdict form contains addresses, conditions, barriers, widths, lanes and stored literals', () => {
  const forms = [
    scaled('0f3F800000'),
    'st.global.f32 [%rd2+4], %f1;',
    'st.global.f32 [%rd1], %f1;',
    'st.global.v2.f32 [%rd2], {%f1, %f1};',
    'bar.sync 0;\nst.global.f32 [%rd2], %f1;',
    'bar.sync 1;\nst.global.f32 [%rd2], %f1;',
    'setp.lt.u32 %p1, %r1, %r0;\n@%p1 st.global.f32 [%rd2], %f1;',
    'setp.lt.u32 %p1, %r1, 32;\n@%p1 st.global.f32 [%rd2], %f1;',
    'setp.lt.u32 %p1, %r1, 64;\n@%p1 st.global.f32 [%rd2], %f1;',
    'shfl.sync.down.b32 %i2, %r1, 16, 31, -1;\nst.global.f32 [%rd2], %f1;',
    'shfl.sync.down.b32 %i2, %r1, 8, 31, -1;\nst.global.f32 [%rd2], %f1;',
    'shfl.sync.down.b32 %i2, %r1, 8, 31, 255;\nst.global.f32 [%rd2], %f1;',
    'st.shared.f32 [s], %f1;',
    'st.shared.f32 [s], 0f00000000;',
    'st.shared.f32 [s], 0f3F800000;',
    '',
  ].map((body) => formOf(body));
  assert.ok(forms.every((form) => form !== null));
  assert.equal(new Set(forms).size, forms.length);
});

test('a verdict form contains stored values if an index, a condition or an address may be loaded from there', () => {
  const bodies = [
    'ld.global.u32 %r2, [%rd2];\nmul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.f32 [%rd5], %f2;',
    'setp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 st.global.f32 [%rd2], %f2;',
    'ld.global.u64 %rd4, [%rd2];\nst.global.f32 [%rd4], %f2;',
    // A value of another lane that becomes an index.
    'ld.global.u32 %r2, [%rd2];\nshfl.sync.down.b32 %r3, %r2, 1, 31, -1;\nmul.wide.u32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.f32 [%rd5], %f2;',
    'atom.global.exch.b32 %r2, [%rd2], 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 st.global.f32 [%rd2], %f2;',
    'ld.relaxed.gpu.global.u32 %r2, [%rd2];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 st.global.f32 [%rd2], %f2;',
  ];
  for (const body of bodies) {
    const [one, other] = ['0f3F800000', '0f40000000'].map((factor) => formOf(`mul.f32 %f2, %f1, ${factor};\n${body}`));
    assert.ok(one);
    assert.notEqual(one, other, body);
  }
});

test('a verdict form contains atomics with their operands, fences, votes and barriers that reduce', () => {
  const bodies = ['atom.global.add.u32 %r2, [%rd2], 1;', 'atom.global.add.u32 %r2, [%rd2], 2;', 'red.global.add.u32 [%rd2], 1;'];
  const others = ['st.volatile.global.f32 [%rd2], %f1;', 'st.global.f32 [%rd2], %f1;', 'fence.acq_rel.gpu;\nst.global.f32 [%rd2], %f1;'];
  const forms = [...bodies, ...others, 'bar.red.or.pred %p1, 0, %p2;', 'vote.sync.any.pred %p1, %p2, -1;'].map((body) => formOf(body));
  assert.ok(forms.every((form) => form !== null));
  assert.equal(new Set(forms).size, forms.length);
});

/** A kernel that stores to `out`, and loads through `in` as `load` does. */
function readingKernel(load: string, store = 'st.global.f32 [%rd5], %f1;') {
  const ptx = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u64 more, .param .u32 n)
{
.reg .b32 %r<9>; .reg .b64 %rd<12>; .reg .f32 %f<9>; .reg .b16 %h<4>; .reg .pred %p<4>;
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [in];
ld.param.u64 %rd3, [more];
ld.param.u32 %r0, [n];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd4, %r1, 4;
add.s64 %rd5, %rd1, %rd4;
mul.wide.u32 %rd6, %r1, 2;
add.s64 %rd7, %rd2, %rd4;
add.s64 %rd8, %rd2, %rd6;
add.s64 %rd9, %rd3, %rd4;
mov.f32 %f1, 0f3F800000;
${load}
add.f32 %f1, %f1, %f2;
${store}
ret;
}
`;
  const [kernel] = lowerModule(parsePtx(ptx, 'k.ptx').module).kernels;
  assert.ok(kernel);
  return kernel;
}

const floats = { name: 'out', type: 'float *' };
const declared = [floats, { name: 'in', type: 'const T *' }, { name: 'more', type: 'const float *' }, { name: 'n', type: 'int' }];
const wide = 'ld.global.f32 %f2, [%rd7];';
const narrow = 'ld.global.b16 %h1, [%rd8];\ncvt.f32.f16 %f2, %h1;';

test('a verdict form omits addresses and widths of loads through pointers through which the kernel does not write', () => {
  const form = (load: string, store?: string, parameters: typeof declared | null = declared) =>
    verdictForm(readingKernel(load, store), parameters);
  assert.ok(form(wide));
  assert.equal(form(narrow), form(wide));
  // Another pointer, and a load on the other side of a barrier.
  assert.notEqual(form('ld.global.f32 %f2, [%rd9];'), form(wide));
  assert.notEqual(form(`bar.sync 0;\n${wide}`), form(`${wide}\nbar.sync 0;`));
  // The kernel also writes there, pointers may alias, and types are not known.
  const writes = 'st.global.f32 [%rd5], %f1;\nst.global.f32 [%rd7], %f1;';
  assert.notEqual(form(narrow, writes), form(wide, writes));
  assert.notEqual(form(narrow, undefined, null), form(wide, undefined, null));
  assert.notEqual(form(narrow, undefined, []), form(wide, undefined, []));
  // A loop that steps through either of two arrays, one of which is written.
  const steps = (load: string) =>
    `mov.b64 %rd10, %rd1;\nL:\n${load}\nst.global.f32 [%rd10], %f1;\nadd.s64 %rd11, %rd10, 4;\nsetp.lt.u64 %p1, %rd11, %rd9;\nselp.b64 %rd10, %rd11, %rd2, %p1;\nadd.u32 %r0, %r0, -1;\nsetp.gt.s32 %p2, %r0, 0;\n@%p2 bra L;`;
  assert.notEqual(form(steps(narrow), ''), form(steps(wide), ''));
  // The loaded value is an index.
  const index = (bytes: number) =>
    `ld.global.u${8 * bytes} %r2, [%rd${bytes === 4 ? 7 : 8}];\nmul.wide.u32 %rd10, %r2, 4;\nadd.s64 %rd5, %rd1, %rd10;\nmov.f32 %f2, %f1;`;
  assert.notEqual(form(index(4)), form(index(2)));
});

const proved = { verdict: 'proved', findings: [], assumptions: [] } as const;

/** Checks that return the same answer, and the number of their calls. */
function counting(result: CheckResult): { checks: KernelChecks; asked: string[] } {
  const asked: string[] = [];
  const check = async ({ request, launches }: CheckTask): Promise<readonly CheckOutcome[]> => {
    asked.push(request.name);
    return launches.map(() => ({ result }));
  };
  const none = { startSolver: () => undefined, newSolver: () => assert.fail(), solverName: async () => null };
  return { checks: { ...none, check, close: async () => undefined }, asked };
}

function taskOf(name: string, body = scaled('0f3F800000'), block = 128): CheckTask {
  const severity = 'error' as const;
  const policy = {
    race: severity,
    sameValueWrites: severity,
    volatile: severity,
    undecided: 'notice',
    warpLockstep: false,
    divergence: severity,
    earlyExit: severity,
    overflow: 'notice',
    alignment: 'notice',
  } as const;
  const launch = {
    source: 'option',
    block: [block, 1, 1],
    grid: null,
    cluster: null,
    sharedBytes: null,
    cooperative: false,
    scalars: new Map(),
    aliases: [],
  } as const;
  return {
    request: {
      kernel: kernelOf(body, { name: 'k' }),
      name,
      identity: name,
      parameters: [],
      objectName: (symbol) => symbol,
      assumptions: [],
      checks: { race: true, divergence: true },
      policy,
    },
    launches: [launch],
    source: { ptx: '', path: 'k.ptx', files: new Map() },
  };
}

async function askedOf(result: Partial<CheckResult>, tasks: readonly CheckTask[]): Promise<string[]> {
  const { checks, asked } = counting({ race: proved, divergence: proved, open: nothingOpen, ...result });
  const sharing = sharingChecks(checks);
  const outcomes = await Promise.all(tasks.map((task) => sharing.check(task)));
  assert.ok(outcomes.every((list) => list.length === 1));
  return asked;
}

test('instances with one verdict form share a proof', async () => {
  const tasks = [taskOf('k<float>'), taskOf('k<int>', scaled('0f40000000')), taskOf('k<char>')];
  assert.deepEqual(await askedOf({}, tasks), ['k<float>']);
});

test('instances are checked separately if anything relevant differs', async () => {
  const others = [
    taskOf('k<float, 64>'),
    taskOf('other<float>'),
    taskOf('k<int>', 'st.global.f32 [%rd2+4], %f1;'),
    taskOf('k<int>', undefined, 256),
    taskOf('plain'),
    taskOf('plain'),
  ];
  assert.equal((await askedOf({}, [taskOf('k<float>'), ...others])).length, 1 + others.length);
});

test('a result with a witness, one that depends on equal values, and one that ended early are not shared', async () => {
  const tasks = [taskOf('k<float>'), taskOf('k<int>')];
  const equal = { ...proved, assumptions: [{ kind: 'equal-value-writes', text: 'equal' }] } as const;
  const late = { ...proved, verdict: 'possible', reason: { kind: 'out-of-time' } } as const;
  const finding = { confirmed: true, fingerprint: 'f' };
  for (const result of [
    { race: equal },
    { race: late },
    { race: { ...proved, verdict: 'race', findings: [finding] } },
    { race: { ...proved, verdict: 'possible', findings: [{ confirmed: false, subject: ['race'], sameValue: true }] } },
    { divergence: { ...proved, verdict: 'unknown', reason: { kind: 'out-of-time' } } },
    { divergence: { ...proved, nondeterministic: true } },
    { contradiction: true },
    { brokenPreconditions: ['n > 0'] },
  ] as unknown as Partial<CheckResult>[]) {
    assert.deepEqual(await askedOf(result, tasks), ['k<float>', 'k<int>']);
  }
});

test('an undecided result is shared, with the fingerprints and the launch of the other instance', async () => {
  const subject = ['race', 's', 'block'] as const;
  const finding = { confirmed: false, fingerprint: fingerprintOf('k<float>', subject), subject };
  const tie = { text: 'n > 0', expression: { kind: 'condition' }, isOfLaunch: true };
  const assumptions = [{ kind: 'launch', text: tie.text, location: { file: 'k.cu', line: 1 } }];
  const race = { verdict: 'possible', reason: { kind: 'not-reproduced' }, findings: [finding], assumptions };
  const { checks, asked } = counting({ race, divergence: proved, open: nothingOpen } as unknown as CheckResult);
  const sharing = sharingChecks(checks);
  const tiedAt = (line: number, task: CheckTask): CheckTask =>
    ({
      ...task,
      launches: task.launches.map((one) => ({ ...one, ties: [{ ...tie, location: { file: 'k.cu', line } }] })),
    }) as unknown as CheckTask;
  const [first, other] = await Promise.all([tiedAt(1, taskOf('k<float>')), tiedAt(2, taskOf('k<int>'))].map((task) => sharing.check(task)));
  assert.deepEqual(asked, ['k<float>']);
  const [one, two] = [first, other].map((outcomes) => ('result' in outcomes![0]! ? outcomes![0].result.race : assert.fail()));
  assert.deepEqual(
    [one!.findings[0]!.fingerprint, two!.findings[0]!.fingerprint],
    ['k<float>', 'k<int>'].map((of) => fingerprintOf(of, subject)),
  );
  assert.deepEqual(
    [one, two].map((of) => of!.assumptions![0]!.location!.line),
    [1, 2],
  );
});

test('of several launches, those that another instance has are shared', async () => {
  const [small, large] = [taskOf('k<float>'), taskOf('k<int>', undefined, 256)];
  const both = { ...small, request: { ...small.request, name: 'k<int>' }, launches: [...large.launches, ...small.launches] };
  const { checks } = counting({ race: proved, divergence: proved, open: nothingOpen });
  const blocks: number[] = [];
  const counted: KernelChecks = {
    ...checks,
    check: (task) => (blocks.push(...task.launches.map(({ block }) => block![0])), checks.check(task)),
  };
  const sharing = sharingChecks(counted);
  const outcomes = await Promise.all([small, both].map((task) => sharing.check(task)));
  assert.deepEqual(
    outcomes.map(({ length }) => length),
    [1, 2],
  );
  assert.deepEqual(blocks, [128, 256]);
});
