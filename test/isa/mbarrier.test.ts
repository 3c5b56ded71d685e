/** Barriers in shared memory, as PTX ISA 9.7.13.15 has them. */
import type { OperandShape } from '../../src/isa/model/row.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MbarrierEffect } from '../../src/isa/model/operation.ts';
import {
  addTransactions,
  arriveAt,
  initialMbarrier,
  mbarrierState,
  parityDone,
  pendingCount,
  phaseDone,
  raisePending,
} from '../../src/isa/arithmetic/mbarrier-word.ts';
import { decode } from '../../src/isa/table.ts';

test('an mbarrier phase ends with the last arrival; the next phase expects the same count', () => {
  let word = initialMbarrier(3);
  assert.deepEqual(mbarrierState(word), { parity: 0, pending: 3, expected: 3, transactions: 0 });
  const states: bigint[] = [];
  for (let arrival = 0; arrival < 3; arrival++) {
    states.push(word);
    assert.equal(phaseDone(word, states[0]!), false);
    assert.equal(parityDone(word, 0), false);
    word = arriveAt(word, 1, false).word;
  }
  assert.deepEqual(states.map(pendingCount), [3, 2, 1]);
  assert.deepEqual(mbarrierState(word), { parity: 1, pending: 3, expected: 3, transactions: 0 });
  for (const state of states) assert.equal(phaseDone(word, state), true);
  assert.equal(parityDone(word, 0), true);
  assert.equal(parityDone(word, 1), false);
  word = arriveAt(word, 3, false).word;
  assert.equal(mbarrierState(word)?.parity, 0);
});

test('pending transactions keep an mbarrier phase incomplete', () => {
  let word = initialMbarrier(1);
  word = addTransactions(word, 512).word;
  word = arriveAt(word, 1, false).word;
  assert.deepEqual(mbarrierState(word), { parity: 0, pending: 0, expected: 1, transactions: 512 });
  word = addTransactions(word, -256).word;
  assert.equal(parityDone(word, 0), false);
  word = addTransactions(word, -256).word;
  assert.deepEqual(mbarrierState(word), { parity: 1, pending: 1, expected: 1, transactions: 0 });
  // Bytes may arrive before they are expected.
  word = addTransactions(word, -64).word;
  assert.equal(mbarrierState(word)?.transactions, -64);
  word = arriveAt(addTransactions(word, 64).word, 1, false).word;
  assert.equal(mbarrierState(word)?.parity, 0);
});

test('`arrive_drop` lowers the expected arrival count of later phases', () => {
  let word = initialMbarrier(2);
  word = arriveAt(word, 1, true).word;
  word = arriveAt(word, 1, false).word;
  assert.deepEqual(mbarrierState(word), { parity: 1, pending: 1, expected: 1, transactions: 0 });
});

test('`cp.async.mbarrier.arrive` without `.noinc` has no net effect on the pending count', () => {
  const word = arriveAt(raisePending(initialMbarrier(1)).word, 1, false).word;
  assert.deepEqual(mbarrierState(word), { parity: 0, pending: 1, expected: 1, transactions: 0 });
});

test('undefined behaviour is a fault', () => {
  assert.equal(arriveAt(0n, 1, false).fault, 'invalid');
  assert.equal(addTransactions(0x1234n, 16).fault, 'invalid');
  assert.equal(raisePending(0n).fault, 'invalid');
  assert.equal(arriveAt(initialMbarrier(1), 2, false).fault, 'too many arrivals');
  assert.equal(arriveAt(initialMbarrier(1), 0, false).fault, 'count out of range');
  assert.equal(addTransactions(initialMbarrier(1), 2 ** 20).fault, 'count out of range');
  assert.equal(mbarrierState(0n), null);
});

function effectOf(mnemonic: string, shape?: OperandShape): MbarrierEffect {
  const [opcode, ...modifiers] = mnemonic.split('.');
  const effect = decode(opcode!, modifiers, shape)?.effect;
  assert.ok(effect?.kind === 'mbarrier', mnemonic);
  return effect;
}

test('effects have form, order, scope and operands', () => {
  const register = (width: 32 | 64) => ({ kind: 'scalar', widths: [width] }) as const;
  const address = { kind: 'address', widths: [32] } as const;
  const plain = effectOf('mbarrier.arrive.shared.b64', [register(64), address]);
  assert.deepEqual(plain, {
    kind: 'mbarrier',
    form: 'arrive',
    space: 'shared',
    semantics: 'release',
    scope: 'cta',
    noComplete: false,
    counted: false,
    expectTx: false,
    parity: false,
    noIncrement: false,
  });
  const counted = effectOf('mbarrier.arrive.noComplete.b64', [register(64), address, register(32)]);
  assert.deepEqual([counted.counted, counted.noComplete, counted.space], [true, true, 'generic']);
  const remote = effectOf('mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64', [
    { kind: 'scalar', widths: [null] },
    address,
    register(32),
  ]);
  assert.deepEqual(
    [remote.expectTx, remote.counted, remote.semantics, remote.scope, remote.space],
    [true, false, 'relaxed', 'cluster', 'cluster'],
  );
  const wait = effectOf('mbarrier.try_wait.parity.shared::cta.b64');
  assert.deepEqual([wait.form, wait.parity, wait.semantics], ['try_wait', true, 'acquire']);
  assert.equal(effectOf('cp.async.mbarrier.arrive.noinc.shared.b64').noIncrement, true);
  assert.equal(decode('mbarrier', ['arrive', 'acquire', 'b64']), null);
  assert.equal(decode('mbarrier', ['arrive']), null);
});
