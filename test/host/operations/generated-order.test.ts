/** The order of operations in generated host programs, compared with a model. */
import { test } from 'node:test';
import { withoutNvcc } from '../../toolchain/fixture.ts';
import { compareGenerated } from './compare-generated.ts';

test('generated programs: the pairs that a model leaves without an order are found, and no others', { skip: withoutNvcc }, (context) =>
  compareGenerated(context, 1, 150),
);
