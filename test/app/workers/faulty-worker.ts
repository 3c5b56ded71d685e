/** A worker that fails as the name of the kernel specifies. */
import { setTimeout } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { settled, type Steps } from '../../../src/base/coroutine.ts';
import { checkSteps } from '../../../src/check/check-kernel.ts';
import { type CheckRequest, type CheckResult, nothingOpen } from '../../../src/check/request/check-request.ts';
import { serveChecks } from '../../../src/app/workers/check-service.ts';

function* asks(request: CheckRequest): Steps<CheckResult> {
  const solver = yield* settled(request.solver);
  const session = solver.open();
  session.add('(declare-const x Int) (assert (> x 3))');
  const answer = yield* settled(() => session.check([], 1000));
  session.add('(assert (< x 4))');
  const second = yield* settled(() => session.check([], 1000));
  const departure = yield* settled(() => request.departure!([], { file: 'k.cu', line: 1, column: 1 }));
  const what = [solver.name, answer.kind, second.kind, departure].join(' ');
  const reason = { kind: 'not-understood', what } as const;
  return {
    race: { verdict: 'unknown', reason, findings: [] },
    divergence: { verdict: 'proved', findings: [] },
    open: nothingOpen,
  };
}

/** Does nothing for longer than the time of the kernel. */
function* sleeps(request: CheckRequest): Steps<CheckResult> {
  yield* settled(() => setTimeout(1500));
  return yield* checkSteps(request);
}

function fill(): never {
  const hoard: unknown[] = [];
  for (;;) hoard.push(Array.from({ length: 1000 }, (_, index) => ({ index })));
}

function check(request: CheckRequest): Steps<CheckResult> {
  switch (request.name) {
    case 'hangs':
      for (;;);
    case 'waits':
      return settled(() => new Promise<never>(() => {}));
    case 'throws':
      throw new TypeError('boom');
    case 'exits':
      return process.exit(3);
    case 'fills':
      return fill();
    case 'sleeps':
      return sleeps(request);
    case 'asks':
      return asks(request);
    default:
      return checkSteps(request);
  }
}

if (parentPort) serveChecks(parentPort, check);
