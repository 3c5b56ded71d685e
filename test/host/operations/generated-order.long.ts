/** The order of operations in 5,000 generated host programs, compared with a model. */
import { test } from 'node:test';
import { withoutNvcc } from '../../toolchain/fixture.ts';
import { compareGenerated } from './compare-generated.ts';

test('5,000 generated programs: the pairs without an order are those of the model', { skip: withoutNvcc }, (context) =>
  compareGenerated(context, 10_001, 5000),
);
