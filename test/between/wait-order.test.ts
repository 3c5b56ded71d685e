/** The order of accesses and waits by analysis, compared with runs of generated kernels. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gridDependency } from '../../src/analysis/barriers/grid-dependency.ts';
import { integer } from '../../src/assumptions/expression.ts';
import { type Random, seededRandom } from '../../src/base/random.ts';
import { concreteLaunch } from '../../src/between/concrete-launch.ts';
import { samplesOf } from '../../src/between/host-values.ts';
import { effectsOf } from '../../src/between/launch-effects.ts';
import { codeOf, launchOf } from './fixture.ts';

/** Statements with stores at offsets 0, 4, …, each once; barriers only where all threads of the block come. */
class Body {
  readonly #random: Random;
  #names = 0;
  #stores = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  statements(depth: number, isUniform: boolean): string {
    return Array.from({ length: 1 + this.#random.below(3) }, () => this.#statement(depth, isUniform)).join(' ');
  }

  #statement(depth: number, isUniform: boolean): string {
    const label = `L${this.#names++}`;
    switch (this.#random.below(depth > 0 ? 7 : 3)) {
      case 0:
        return 'griddepcontrol.wait;';
      case 1:
        return isUniform ? 'bar.sync 0;' : 'membar.gl;';
      case 2:
        return `st.global.u32 [%d1+${4 * this.#stores++}], %r0;`;
      case 3:
        return `setp.ge.u32 %p1, %r9, ${this.#random.below(3)}; @%p1 bra ${label}; ${this.statements(depth - 1, isUniform)} ${label}:`;
      case 4:
        return `setp.ne.u32 %p1, %r0, ${this.#random.below(2)}; @%p1 bra ${label}; ${this.statements(depth - 1, false)} ${label}:`;
      case 5:
        return `setp.lt.u32 %p1, %r9, ${this.#random.below(3)}; @%p1 bra ${label}; ${this.statements(depth - 1, isUniform)} ret; ${label}:`;
      default:
        return `mov.u32 %r40, 0; ${label}: ${this.statements(0, isUniform)} add.u32 %r40, %r40, 1; setp.lt.u32 %p2, %r40, 2; @%p2 bra ${label};`;
    }
  }
}

test('an access that is after the wait by analysis is so in each run, and one that is early is before in a run without barriers', () => {
  const random = seededRandom(24);
  const seen = { early: 0, open: 0, after: 0 };
  for (let round = 0; round < 400; round++) {
    const body = new Body(random).statements(2, true);
    const { kernel, parameters } = codeOf(body);
    const orders = new Map([...gridDependency(kernel).accesses].map(([{ id }, order]) => [id, order]));
    for (const n of [0, 1, 2]) {
      const [sample] = samplesOf([], [], 1);
      const { launch } = launchOf({ n: integer(n), block: integer(33), grid: integer(2) });
      const run = concreteLaunch(kernel, parameters, launch!, sample!, { steps: 50_000, maxThreads: 64 });
      for (const { instruction, isEarly } of effectsOf(run!)) {
        const order = orders.get(instruction)!;
        seen[order]++;
        if (order === 'after') assert.equal(isEarly, false, `${n}: ${body}`);
        if (order === 'early' && !body.includes('bar.sync')) assert.equal(isEarly, true, `${n}: ${body}`);
      }
    }
  }
  assert.ok(Math.min(...Object.values(seen)) > 500, JSON.stringify(seen));
});
