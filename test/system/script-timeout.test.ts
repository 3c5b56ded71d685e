import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutOfTime } from '../../src/base/out-of-time.ts';
import { deadlineIn } from '../../src/system/deadline.ts';
import { inTime, Stopped, within } from '../../src/system/script-timeout.ts';

test('code that does not return is stopped', () => {
  assert.throws(() => {
    within(20, () => {
      for (;;);
    });
  }, Stopped);
});

test("a time beyond the range of Node's timers sets no limit", () => {
  assert.equal(
    within(2 ** 40, () => 3),
    3,
  );
});

test('an analysis that ends in its time is not cut, and its exceptions are rethrown', () => {
  const deadline = deadlineIn(60_000);
  assert.equal(
    inTime(deadline, () => 3),
    3,
  );
  assert.throws(() => inTime(deadline, () => assert.fail('an error')), /an error/);
  assert.equal(deadline.wasCut(), false);
});

test('an analysis that tests its deadline ends at it, and one that does not is stopped', () => {
  const endings: readonly ((expired: () => boolean) => void)[] = [
    (expired) => {
      for (;;) if (expired()) throw new OutOfTime();
    },
    () => {
      for (;;);
    },
  ];
  for (const run of endings) {
    const deadline = deadlineIn(20);
    assert.equal(
      inTime(deadline, () => run(deadline.expired)),
      null,
    );
    assert.equal(deadline.wasCut(), true);
  }
});

test('no analysis starts after the time limit', () => {
  const deadline = deadlineIn(0);
  assert.equal(
    inTime(deadline, () => assert.fail('begun')),
    null,
  );
  assert.equal(deadline.wasCut(), true);
});
