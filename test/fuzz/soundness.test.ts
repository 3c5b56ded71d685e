/** A sample of what `seeded.long.ts` runs. */
import { testGeneratedKernels, testSoundness } from './seeded-tests.ts';

testSoundness('mutants', 1, 50);
testSoundness('random', 1, 60);
testGeneratedKernels(1, 12);
