/** A sample of what `seeded.long.ts` runs. */
import { testGeneratedKernels, testSoundness } from './seeded-tests.ts';

testSoundness('mutants', 1, 20);
testSoundness('random', 1, 30);
testGeneratedKernels(1, 12);
