import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckTask } from '../../../src/app/workers/check-executor.ts';
import type { CheckOutcome, KernelChecks } from '../../../src/app/workers/check-pool.ts';
import { proofForm } from '../../../src/app/workers/proof-form.ts';
import { sharingChecks } from '../../../src/app/workers/shared-checks.ts';
import { nothingOpen, type CheckResult } from '../../../src/check/request/check-request.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';

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

const formOf = (...parameters: Parameters<typeof kernelOf>) => proofForm(kernelOf(...parameters));
const scaled = (factor: string) => `mul.f32 %f2, %f1, ${factor};\nst.global.f32 [%rd2], %f2;`;

test('a proof form omits stored values, their constants and their types', () => {
  const form = formOf(scaled('0f3F800000'));
  assert.ok(form);
  assert.equal(formOf(scaled('0f40000000')), form);
  assert.equal(formOf('add.f32 %f2, %f1, %f1;\nst.global.f32 [%rd2], %f2;'), form);
  const integers = { name: 'other', type: 's32' };
  assert.equal(formOf('add.s32 %i2, %i1, 7;\nst.global.s32 [%rd2], %i2;', integers), form);
});

test('a proof form contains addresses, conditions, barriers, widths and lanes', () => {
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
    '',
  ].map((body) => formOf(body));
  assert.ok(forms.every((form) => form !== null));
  assert.equal(new Set(forms).size, forms.length);
});

test('a kernel has no proof form if stored values may matter', () => {
  const bodies = [
    // An index, a guard and an address from memory.
    'ld.global.u32 %r2, [%rd2];\nmul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.f32 [%rd5], %f1;',
    'setp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 st.global.f32 [%rd2], %f1;',
    'ld.global.u64 %rd4, [%rd2];\nst.global.f32 [%rd4], %f1;',
    // A value of another lane that becomes an index.
    'ld.global.u32 %r2, [%rd2];\nshfl.sync.down.b32 %r3, %r2, 1, 31, -1;\nmul.wide.u32 %rd4, %r3, 4;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.f32 [%rd5], %f1;',
    'atom.global.add.u32 %r2, [%rd2], 1;',
    'red.global.add.u32 [%rd2], 1;',
    'st.volatile.global.f32 [%rd2], %f1;',
    'ld.relaxed.gpu.global.u32 %r2, [%rd2];\nst.global.f32 [%rd2], %f1;',
    'fence.acq_rel.gpu;\nst.global.f32 [%rd2], %f1;',
    'vote.sync.any.pred %p1, %p2, -1;\nst.global.f32 [%rd2], %f1;',
    'bar.red.or.pred %p1, 0, %p2;\nst.global.f32 [%rd2], %f1;',
  ];
  for (const body of bodies) assert.equal(formOf(body), null, body);
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

test('instances with one proof form share a proof', async () => {
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

test('a result without a proof, or one that depends on equal values, is not shared', async () => {
  const tasks = [taskOf('k<float>'), taskOf('k<int>')];
  const equal = { ...proved, assumptions: [{ kind: 'equal-value-writes', text: 'equal' }] } as const;
  const open = { ...proved, verdict: 'possible', reason: { kind: 'out-of-time' } } as const;
  for (const result of [
    { race: equal },
    { race: open },
    { divergence: { ...proved, verdict: 'unknown', reason: { kind: 'out-of-time' } } },
    { contradiction: true },
    { open: { ...nothingOpen, earlyExits: [0] } },
  ] as unknown as Partial<CheckResult>[]) {
    assert.deepEqual(await askedOf(result, tasks), ['k<float>', 'k<int>']);
  }
});
