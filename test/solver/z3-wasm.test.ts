import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startZ3 } from '../../src/solver/z3-wasm.ts';
import { decide, neighbours, testSolver } from './solver-contract.ts';

const file = new URL('../../src/solver/z3-wasm.ts', import.meta.url).href;
await testSolver(startZ3, `import { startZ3 } from ${JSON.stringify(file)};\nconst z3 = await startZ3();`);

test('2,000 sessions: right answers and flat memory', async () => {
  const z3 = await startZ3();
  after(() => z3.close());
  const round = async (from: number, to: number): Promise<number> => {
    for (let i = from; i < to; i += 1) {
      const answer = await decide(z3, `${neighbours} (assert (= (- t2 t1) ${i % 2000}))`);
      assert.equal(answer.kind, i % 2000 > 0 && i % 2000 < 1024 ? 'sat' : 'unsat', `distance ${i}`);
    }
    return process.memoryUsage().rss;
  };
  const before = await round(0, 500);
  const grown = (await round(500, 2000)) - before;
  assert.ok(grown < 60 * 2 ** 20, `resident memory grew by ${Math.round(grown / 2 ** 20)} MiB`);
});
