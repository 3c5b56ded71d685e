/** The seeded tests at length, including the samples of `npm test`. */
import { longSeed } from '../run/long-seed.ts';
import { testBackEnds, testDamagedPtx, testGeneratedCosts, testGeneratedKernels, testSoundness } from './seeded-tests.ts';

// The former size of the runs of `npm test`, which now takes a sample.
testSoundness('mutants', 1, 200);
testSoundness('random', 1, 120);
testSoundness('strong', 1, 120);
testGeneratedCosts(3, 40);
testBackEnds(1, 300);
testDamagedPtx(1, 2000);

testSoundness('mutants', longSeed, 600);
testSoundness('random', longSeed, 1000);
testSoundness('strong', longSeed, 1000);
testGeneratedKernels(longSeed, 300);
testGeneratedCosts(longSeed, 300);
// Each seed is a kernel.
testBackEnds(1000 * longSeed, 1000);
testDamagedPtx(longSeed, 10_000);
