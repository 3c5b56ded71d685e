/** A sample of `seeded.long.ts`. */
import { testGeneratedKernels, testSoundness } from './seeded-tests.ts';

testSoundness('mutants', 1, 10, 40_000);
testSoundness('random', 1, 20, 40_000);
testSoundness('strong', 1, 20, 40_000);
testGeneratedKernels(1, 8);
