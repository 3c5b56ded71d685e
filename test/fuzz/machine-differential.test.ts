/** A sample of what `seeded.long.ts` runs. */
import { testBackEnds } from './seeded-tests.ts';

testBackEnds(1, 60);
