/** A sample of `seeded.long.ts`. */
import { testDamagedPtx } from './seeded-tests.ts';

testDamagedPtx(1, 120);
