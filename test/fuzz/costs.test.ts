/** A sample of what `seeded.long.ts` runs. */
import { testGeneratedCosts } from './seeded-tests.ts';

testGeneratedCosts(3, 20);
