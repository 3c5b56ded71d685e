import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { settled, type Steps } from '../../../src/base/coroutine.ts';
import { checkSteps } from '../../../src/check/check-kernel.ts';
import type { Launch } from '../../../src/launch/launch.ts';
import { type CheckRequest, type CheckResult, nothingOpen } from '../../../src/check/request/check-request.ts';
import type { CheckTask } from '../../../src/app/workers/check-executor.ts';
import { checkLimits, openChecks, type CheckOutcome, type CheckSettings, type KernelChecks } from '../../../src/app/workers/check-pool.ts';
import { Stopped, within } from '../../../src/system/script-timeout.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { type MarkerState, switchMarkers } from '../../../src/ir/form/switch-markers.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';
import { requestFor } from '../../check/kernel-text.ts';

/** Each thread writes its own element; in `racy` all write one. */
const ptx = ['fine', 'racy', 'hangs', 'waits', 'throws', 'exits', 'fills', 'asks', 'sleeps']
  .map(
    (name) => `.visible .entry ${name}(.param .u64 a) {
.reg .b32 %r<4>; .reg .b64 %d<4>;
ld.param.u64 %d1, [a];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, ${name === 'racy' ? 0 : 4};
add.s64 %d3, %d1, %d2;
st.global.u32 [%d3], %r1;
ret;
}`,
  )
  .join('\n');
const text = `.version 8.6\n.target sm_80\n.address_size 64\n${ptx}`;
const { module } = parsePtx(text, 'k.ptx');
const { kernels } = lowerModule(module);
const source = { ptx: text, path: 'k.ptx', files: module.files };
const entry = new URL('faulty-worker.ts', import.meta.url);

function task(name: string, launches = 1): CheckTask {
  const kernel = kernels.find(({ symbol }) => symbol === name)!;
  const { launch, solver, budget, ...request } = requestFor(kernel);
  void solver;
  void budget;
  const departure = async () => 'returned' as const;
  return { request: { ...request, name, departure }, launches: Array<Launch>(launches).fill(launch), source };
}

async function withChecks<Result>(changes: Partial<CheckSettings>, run: (checks: KernelChecks) => Promise<Result>): Promise<Result> {
  const settings = { solver: 'wasm', jobs: 1, timeout: 600_000, searchPath: undefined, entry, ...changes } as const;
  const checks = await openChecks(settings);
  try {
    return await run(checks);
  } finally {
    await checks.close();
  }
}

function verdictOf(outcome: CheckOutcome | undefined): string {
  assert.ok(outcome);
  if ('defect' in outcome) return String(outcome.defect);
  const { verdict, reason, nondeterministic } = outcome.result.race;
  const why = reason?.kind === 'not-understood' ? reason.what : reason?.kind;
  return [verdict, why, nondeterministic && 'nondeterministic'].filter(Boolean).join(', ');
}

/** Everything goes to workers. */
const atOnce = { alone: 0, stretch: 1 };
/** Kernels that hang in this thread, so that they are passed to a worker. */
function* hanging(request: CheckRequest): Steps<CheckResult> {
  if (request.name !== 'fine' && request.name !== 'racy') for (;;);
  return yield* checkSteps(request);
}

test('a call with a time limit is stopped, otherwise it returns or throws as its code does', () => {
  assert.equal(
    within(1000, () => 5),
    5,
  );
  assert.throws(
    () =>
      within(1000, () => {
        throw new TypeError('boom');
      }),
    TypeError,
  );
  assert.throws(
    () =>
      within(20, () => {
        for (;;);
      }),
    Stopped,
  );
  assert.equal(
    within(1000, () => within(1000, () => 6)),
    6,
  );
});

test('a kernel that hangs is stopped in either thread; other kernels keep their results', async () => {
  const limits = { stretch: 50, grace: 100, patience: 2 };
  // Long enough for other kernels, on a busy computer too.
  await withChecks({ timeout: 2000, limits, check: hanging }, async (checks) => {
    const outcomes = await Promise.all(['fine', 'hangs', 'racy', 'waits', 'fine'].map((name) => checks.check(task(name))));
    assert.deepEqual(
      outcomes.map(([outcome]) => verdictOf(outcome)),
      ['proved', 'unknown, out-of-time, nondeterministic', 'race', 'unknown, out-of-time, nondeterministic', 'proved'],
    );
  });
});

test('launches that were checked before one that hangs keep their results, later ones get no more time', async () => {
  let checked = 0;
  const check = (request: CheckRequest): Steps<CheckResult> => {
    checked += 1;
    return checked === 1 ? checkSteps(request) : hanging(request);
  };
  await withChecks({ timeout: 100, limits: { stretch: 500, grace: 0 }, check }, async (checks) => {
    const outcomes = await checks.check(task('hangs', 3));
    assert.deepEqual(outcomes.map(verdictOf), [
      'proved',
      'unknown, out-of-time, nondeterministic',
      'unknown, out-of-time, nondeterministic',
    ]);
  });
});

test('a worker that crashes is an internal error of one kernel; one that fills its memory runs out of it', async () => {
  const names = ['throws', 'fine', 'exits', 'fine', 'fills', 'racy'];
  await withChecks({ limits: { stretch: 50, memory: 64 }, check: hanging }, async (checks) => {
    // The first and all following ones are passed to a worker.
    const outcomes = await Promise.all(names.map((name) => checks.check(task(name))));
    assert.deepEqual(
      outcomes.map(([outcome]) => verdictOf(outcome)),
      [
        'TypeError: boom',
        'proved',
        'Error: the worker broke down: its thread ended with code 3',
        'proved',
        'unknown, out-of-memory, nondeterministic',
        'race',
      ],
    );
  });
});

test('a worker requests the solver and the sources', async () => {
  await withChecks({ limits: { stretch: 50 }, check: hanging }, async (checks) => {
    assert.equal(await checks.solverName(), null);
    const [outcome] = await checks.check(task('asks'));
    assert.match(verdictOf(outcome), /^unknown, z3-solver \S+ \(wasm\) sat unsat returned$/);
    assert.match((await checks.solverName()) ?? '', /^z3-solver/);
  });
});

test('after a while the remaining kernels are distributed to workers, with the same results', async () => {
  const names = ['racy', 'fine', 'racy', 'fine', 'racy'];
  const run = (jobs: number, limits: CheckSettings['limits'] = {}): Promise<readonly CheckOutcome[]> =>
    withChecks({ jobs, limits }, async (checks) => (await Promise.all(names.map((name) => checks.check(task(name, 2))))).flat());
  const here = await run(1);
  assert.deepEqual(here.map(verdictOf).slice(0, 4), ['race', 'race', 'proved', 'proved']);
  assert.deepEqual(await run(2, atOnce), here);
  assert.deepEqual(await run(3, { alone: 0 }), here);
});

test('a worker enables markers, and returns open pairs as data', async () => {
  const text = `.version 8.6\n.target sm_80\n.address_size 64
.visible .entry marked(.param .u64 a) {
.reg .b32 %r<4>; .reg .b64 %d<6>;
.shared .align 4 .b8 s[4096];
ld.param.u64 %d1, [a];
mov.u64 %d4, s;
mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, 4;
add.s64 %d3, %d4, %d2;
st.shared.u32 [%d3], %r1;
// SELVAGE_CANDIDATE 3
ld.shared.u32 %r2, [s];
add.s64 %d5, %d1, %d2;
st.global.u32 [%d5], %r2;
ret;
}`;
  const parsed = parsePtx(text, 'k.ptx').module;
  const [kernel] = lowerModule(parsed).kernels;
  const marked = (state: MarkerState): CheckTask => {
    const { request, launches } = task('fine');
    const switches = { states: new Map([[3, state]]), places: new Map() };
    return {
      request: { ...request, name: 'marked', kernel: switchMarkers(kernel!, switches), proofOnly: true },
      launches,
      source: { ptx: text, path: 'k.ptx', files: parsed.files },
      switches,
    };
  };
  const run = (settings: Partial<CheckSettings>): Promise<readonly CheckOutcome[]> =>
    withChecks(settings, async (checks) => [...(await checks.check(marked('off'))), ...(await checks.check(marked('block')))]);
  const here = await run({});
  assert.deepEqual(
    here.map((outcome) => 'result' in outcome && [outcome.result.race.verdict, outcome.result.open.races.length]),
    [
      ['possible', 1],
      ['proved', 0],
    ],
  );
  assert.deepEqual(await run({ limits: { stretch: 50 }, check: hanging }), here);
});

test('a waiting or hanging check ends when the program is aborted', async () => {
  const controller = new AbortController();
  await withChecks({ signal: controller.signal, limits: { stretch: 50 }, check: hanging }, async (checks) => {
    const all = ['hangs', 'fine'].map((name) => checks.check(task(name)));
    void setTimeout(500).then(() => controller.abort(new Error('aborted by the test')));
    for (const one of all) await assert.rejects(one, /aborted by the test/);
  });
});

test('a query of the solver ends soon after the time of its kernel', async () => {
  const factoring = `(declare-const a (_ BitVec 64)) (declare-const b (_ BitVec 64))
    (assert (= (bvmul a b) #x123456789abcdef1))
    (assert (and (bvugt a #x0000000000000001) (bvult a #x00000000ffffffff)))
    (assert (and (bvugt b #x0000000000000001) (bvult b #x00000000ffffffff)))`;
  const check = function* (request: CheckRequest): Steps<CheckResult> {
    const session = (yield* settled(request.solver)).open();
    session.add(factoring);
    const answer = yield* settled(() => session.check([], 4_000_000_000));
    const reason = { kind: 'not-understood', what: answer.kind === 'unknown' ? answer.reason : answer.kind } as const;
    return {
      race: { verdict: 'possible', reason, findings: [] },
      divergence: { verdict: 'proved', findings: [] },
      open: nothingOpen,
    };
  };
  await withChecks({ timeout: 100, limits: { queryGrace: 200 }, check }, async (checks) => {
    const [outcome] = await checks.check(task('fine'));
    assert.equal(verdictOf(outcome), 'possible, out of time, nondeterministic');
    assert.ok(outcome && 'result' in outcome);
    assert.deepEqual(outcome.result.divergence, { verdict: 'proved', findings: [] });
  });
});

/** Does nothing for longer than the time of the kernel. */
function* sleeping(request: CheckRequest): Steps<CheckResult> {
  yield* settled(() => setTimeout(300));
  return yield* checkSteps(request);
}

test('only CPU time counts: a kernel whose thread waits for a core or a solver is not cut', async () => {
  const limits = { grace: 0, patience: 1000 };
  await withChecks({ timeout: 100, limits, check: sleeping }, async (checks) => {
    const [outcome] = await checks.check(task('racy'));
    assert.equal(verdictOf(outcome), 'race');
  });
  // The same in a worker.
  await withChecks({ timeout: 500, limits: { ...limits, stretch: 50 }, check: hanging }, async (checks) => {
    const [outcome] = await checks.check(task('sleeps'));
    assert.equal(verdictOf(outcome), 'proved');
  });
});

test('expired time marks the result', async () => {
  const check = ({ budget }: CheckRequest): Steps<CheckResult> =>
    settled(async () => {
      const reason = { kind: budget.expired() ? 'out-of-time' : 'not-proved' } as const;
      return {
        race: { verdict: 'unknown', reason, findings: [] },
        divergence: { verdict: 'skipped', findings: [] },
        open: nothingOpen,
      };
    });
  const run = (timeout: number): Promise<string> =>
    withChecks({ timeout, check }, async (checks) => verdictOf((await checks.check(task('fine')))[0]));
  assert.equal(await run(0), 'unknown, out-of-time, nondeterministic');
  assert.equal(await run(checkLimits.grace * 100), 'unknown, not-proved');
});
