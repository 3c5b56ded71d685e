/** A sample of `seeded.long.ts`. */
import { testGeneratedCosts } from './seeded-tests.ts';

testGeneratedCosts(3, 20);
