/** Repairs of kernels that were changed at random: `npm test` runs a sample, `npm run test:long` more. */
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { mutantsOf, repairMutant } from './mutants.ts';
import { placesOf, removeAdded } from './redundant.ts';
import { inWorkplace } from './repair-file.ts';

/**
 * Barriers that were deleted are put back.
 * @param single - how many mutants without one barrier
 * @param double - how many without two
 */
export function testMutants(seed: number, single: number, double: number): void {
  test(`deleted barriers are restored, no others added: ${single + double} mutants, seed ${seed}`, { skip: withoutNvcc }, async () => {
    const random = seededRandom(seed);
    const mutants = (await Promise.all(kernelFiles().map(mutantsOf))).flat();
    let repaired = 0;
    for (const [size, count] of [0, single, double].entries()) {
      const own = mutants.filter(({ deleted }) => deleted.length === size);
      for (let round = 0; round < count; round++) {
        const mutant = random.pick(own);
        const results = await inWorkplace(basename(mutant.file), (place) => repairMutant(mutant, place));
        for (const { outcome, added, cost, kernel, detail } of results) {
          const which = `${mutant.file} without lines ${mutant.deleted.join(', ')}, ${kernel}: ${detail}`;
          assert.notEqual(outcome, 'failed', which);
          if (outcome !== 'repaired') continue;
          repaired++;
          assert.ok(added <= size, which);
          assert.notEqual(cost, 'more', which);
        }
      }
    }
    assert.ok(repaired > 0);
  });
}

/** Adds a barrier to a test kernel, at a place that all threads come to: it is found. */
export function testAddedBarrier(name: string, seed: number): void {
  test(`a redundant barrier in ${name} is found`, { skip: withoutNvcc }, async () => {
    const places = await placesOf(`test/kernels/race/${name}.cu`);
    const random = seededRandom(seed);
    await inWorkplace(`${name}.cu`, async (workplace) => {
      for (;;) {
        const place = places.splice(random.below(places.length), 1)[0];
        assert.ok(place, 'there is a place that all threads come to');
        const outcome = await removeAdded(place, workplace);
        if (outcome === 'divergent') continue;
        assert.equal(outcome, 'removed', `a barrier at line ${place.candidate.line}`);
        break;
      }
    });
  });
}
