/** A sample of `seeded.long.ts`. */
import { testBackEnds } from './seeded-tests.ts';

testBackEnds(1, 60);
