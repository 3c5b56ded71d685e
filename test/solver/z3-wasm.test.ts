import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startZ3 } from '../../src/solver/z3-wasm.ts';
import { sweep } from '../run/sweep.ts';
import { decide, neighbours, testSolver } from './solver-contract.ts';

const file = new URL('../../src/solver/z3-wasm.ts', import.meta.url).href;
await testSolver(startZ3, `import { startZ3 } from ${JSON.stringify(file)};\nconst z3 = await startZ3();`);

const sessions = sweep(200, 2000);

test(`${sessions} sessions: correct answers and constant memory`, async () => {
  const z3 = await startZ3();
  after(() => z3.close());
  const round = async (from: number, to: number): Promise<number> => {
    for (let i = from; i < to; i += 1) {
      const distance = (i * 2000) / sessions;
      const answer = await decide(z3, `${neighbours} (assert (= (- t2 t1) ${distance}))`);
      assert.equal(answer.kind, distance > 0 && distance < 1024 ? 'sat' : 'unsat', `distance ${distance}`);
    }
    return process.memoryUsage().rss;
  };
  const before = await round(0, sessions / 4);
  const grown = (await round(sessions / 4, sessions)) - before;
  const most = sweep(30, 60);
  assert.ok(grown < most * 2 ** 20, `resident memory grew by ${Math.round(grown / 2 ** 20)} MiB`);
});
