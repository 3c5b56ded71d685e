import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { cpuOf, ownThread, slowdown, threadCpu } from '../../src/system/cpu-time.ts';
import { afterCpu, deadlineIn } from '../../src/system/deadline.ts';

const isTold = { skip: process.platform !== 'linux' };

/** Computes until this thread has used some milliseconds of CPU. */
function work(milliseconds: number): void {
  const end = threadCpu()! + milliseconds;
  while (threadCpu()! < end);
}

test('a deadline counts the CPU time of its thread, and not wall-clock time', isTold, async () => {
  const deadline = deadlineIn(60);
  await setTimeout(150);
  assert.equal(deadline.expired(), false);
  assert.equal(deadline.wasCut(), false);
  work(70);
  assert.equal(deadline.expired(), true);
  assert.equal(deadline.wasCut(), true);
  assert.equal(deadline.left(), 0);
});

test('CPU time spent by others for the work counts too', isTold, async () => {
  const deadline = deadlineIn(60);
  await setTimeout(100);
  deadline.spend(50);
  assert.equal(deadline.expired(), false);
  deadline.spend(20);
  assert.equal(deadline.expired(), true);
  assert.equal(deadline.spent(), 70);
});

test('endless waiting ends by wall-clock time, as does all work if CPU time is unknown', async () => {
  const [patient, impatient] = [1e6, 2].map((patience) => deadlineIn(40, () => 5, patience));
  const unknown = deadlineIn(40, () => undefined);
  await setTimeout(100);
  assert.equal(patient!.expired(), false);
  assert.equal(impatient!.expired(), true);
  assert.equal(unknown.expired(), true);
});

test('a thread is stopped after its CPU time, another one that waits is not', isTold, async () => {
  const code = `const { parentPort, workerData } = require('node:worker_threads');
    parentPort.postMessage(require('node:fs').readlinkSync('/proc/thread-self'));
    if (workerData) for (;;); else parentPort.on('message', () => {});`;
  const started = async (works: boolean) => {
    const worker = new Worker(code, { eval: true, workerData: works });
    const name = await new Promise<string>((resolve) => worker.once('message', resolve));
    return { worker, name };
  };
  const busy = await started(true);
  const idle = await started(false);
  assert.notEqual(busy.name, idle.name);
  assert.notEqual(busy.name, ownThread());
  const before = cpuOf(idle.name)!;
  let isOver = false;
  const stop = afterCpu(
    100,
    () => cpuOf(idle.name),
    () => (isOver = true),
  );
  await new Promise<void>((resolve) => void afterCpu(200, () => cpuOf(busy.name), resolve));
  assert.ok(cpuOf(busy.name)! >= 200);
  assert.ok(cpuOf(idle.name)! - before < 100);
  assert.equal(isOver, false);
  stop();
  await Promise.all([busy.worker.terminate(), idle.worker.terminate()]);
  assert.equal(cpuOf(busy.name), undefined);
});

test('the CPU time of a thread in Node agrees with the system', isTold, () => {
  work(30);
  assert.ok(Math.abs(threadCpu()! - cpuOf('thread-self')!) < 50);
  assert.ok(slowdown() >= 1 && slowdown() <= 20);
});
