/** What a barrier in memory lacks to order the accesses before and after its phase. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { missingOrder } from '../../../src/check/advice/missing-order.ts';
import { kernelOf, requestFor } from '../kernel-text.ts';

const setUp = (count: string): string => `
  setp.ne.u32 %p1, %r0, 0; @%p1 bra U; mbarrier.init.shared.b64 [s], ${count}; U: bar.sync 0;`;
const arrive = (token = '%d20'): string => `mbarrier.arrive.shared.b64 ${token}, [s];`;
const wait = (label: string, token = '%d20'): string => `${label}: mbarrier.test_wait.shared.b64 %p2, [s], ${token}; @!%p2 bra ${label};`;
/** Each thread stores at its place, and loads at that of its neighbour. */
const put = 'mul.wide.u32 %d10, %r0, 4; add.s64 %d11, %d1, %d10; st.global.u32 [%d11], %r0;';
const get = 'mul.wide.u32 %d12, %r0, 4; add.s64 %d13, %d1, %d12; ld.global.u32 %r2, [%d13+4];';

function lackOf(body: string): string {
  const context = kernelContext(requestFor(kernelOf(body), { block: [64, 1, 1], grid: [1, 1, 1] }));
  const own = context.accesses.filter(({ operation, bytes }) => operation !== 'atomic' && bytes === 4);
  const missing = missingOrder(context, [own[0]!, own[1]!], 'block', 'any');
  if (missing.kind !== 'block-barrier') return missing.kind;
  const { phase, others } = missing;
  if (!phase) return others ?? 'nothing in memory';
  return phase.lacks === 'count' ? `count ${phase.count} of ${phase.threads}` : phase.lacks;
}

test('the part of a phase that does not order two accesses is named', () => {
  const both = `${put} ${arrive()} ${wait('W')} ${get}`;
  const half = `setp.gt.u32 %p5, %r0, 31; @%p5 bra H;`;
  const cases: Readonly<Record<string, readonly [body: string, expected: string]>> = {
    'too few arrivals': [`${setUp('63')} ${both}`, 'count 63 of 64'],
    'too many arrivals': [`${setUp('65')} ${both}`, 'in-memory'],
    'too few arrivals, and a wait by parity': [
      `${setUp('63')} ${put} ${arrive()} W: mbarrier.try_wait.parity.shared.b64 %p2, [s], 0; @!%p2 bra W; ${get}`,
      'count 63 of 64',
    ],
    'a wait before the arrival': [`${setUp('64')} ${arrive()} ${put} ${wait('W')} ${arrive('%d21')} ${get}`, 'in-memory'],
    'an unknown count': [`${setUp('%r9')} ${both}`, 'in-memory'],
    'enough arrivals, from two places': [`${setUp('32')} ${put} ${arrive()} ${arrive()} ${wait('W')} ${get}`, 'in-memory'],
    'a load before the wait': [`${setUp('64')} ${put} ${arrive()} ${get} ${wait('W')}`, 'wait'],
    'no wait': [`${setUp('64')} ${put} ${arrive()} ${get}`, 'any-wait'],
    'a store after the arrival': [`${setUp('64')} ${arrive()} ${put} ${wait('W')} ${get}`, 'arrival'],
    'a wait without an arrival': [`${setUp('64')} mov.u64 %d20, 0; ${put} ${wait('W')} ${get}`, 'in-memory'],
    'one test': [`${setUp('64')} ${put} ${arrive()} mbarrier.test_wait.shared.b64 %p2, [s], %d20; ${get}`, 'repetition'],
    'the token of another arrival': [`${setUp('64')} ${arrive()} ${wait('W')} ${put} ${arrive('%d21')} ${wait('V')} ${get}`, 'token'],
    'the token of this arrival': [`${setUp('32')} ${put} ${arrive('%d21')} mov.u64 %d20, %d21; ${wait('V')} ${get}`, 'count 32 of 64'],
    'half of the threads arrive': [`${setUp('32')} ${put} ${half} ${arrive()} ${wait('W')} ${get} H:`, 'threads'],
    'half of the threads do all': [`${setUp('31')} ${half} ${both} H:`, 'in-memory'],
    'no phase between': [`${setUp('64')} ${arrive()} ${wait('W')} ${put} ${get}`, 'phase'],
    'two barriers': [
      `${setUp('64')} ${setUp('64').replace('[s]', '[s+8]').replaceAll('U', 'X')} ${put} ${arrive()} ${get} ${wait('W')}`,
      'in-memory',
    ],
    'no barrier in memory': [`${put} ${get}`, 'nothing in memory'],
  };
  const wrong = Object.entries(cases).filter(([, [body, expected]]) => lackOf(body) !== expected);
  assert.deepEqual(
    wrong.map(([name, [body]]) => `${name}: ${lackOf(body)}`),
    [],
  );
});
