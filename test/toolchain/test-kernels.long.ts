/** Every test kernel is compiled again. */
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { testDrift } from './drift.ts';

testDrift(kernelFiles());
