import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isKernelInHost } from '../../../src/cuda/names/kernel-name.ts';

test('a kernel whose template arguments are of its unit has another symbol in host code', () => {
  const unit = 'N43_INTERNAL_ca6805e3_8_unary_cu_6d80ea61_4771';
  const kernel = `_Z3mapIXadL_Z${unit}6op_absEfEE6__halfEvPKT0_PS2_i`;
  assert.equal(isKernelInHost('_Z3mapIXadL_ZL6op_absfEE6__halfEvPKT0_PS1_i', kernel), true);
  assert.equal(isKernelInHost('_Z3mapIXadL_ZL6op_sgnfEE6__halfEvPKT0_PS1_i', kernel), false, 'another argument');
  assert.equal(isKernelInHost('_Z3mapIXadL_ZL6op_absfEEfEvPKT0_PS0_i', kernel), false, 'another type');
  assert.equal(isKernelInHost(kernel, kernel), true);
  assert.equal(isKernelInHost('', kernel), false);
  assert.equal(isKernelInHost('_Z3mapPf', '_Z3mapPf'), true);
  assert.equal(isKernelInHost('_Z3mapPf', '_Z3mapPd'), false);
});
