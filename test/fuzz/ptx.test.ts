/** A sample of what `seeded.long.ts` runs. */
import { testDamagedPtx } from './seeded-tests.ts';

testDamagedPtx(1, 120);
