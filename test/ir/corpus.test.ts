import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { lowerModule } from '../../src/ir/lower.ts';
import { verifyKernel } from './form/verify.ts';
import { parsePtx } from '../../src/ptx/parser.ts';

const kernels = new URL('../kernels/', import.meta.url);

for (const name of readdirSync(kernels, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ptx'))) {
  test(`${name} lowers completely`, () => {
    const { module } = parsePtx(readFileSync(new URL(name, kernels), 'utf8'), name);
    const lowered = lowerModule(module);
    lowered.kernels.forEach(verifyKernel);
    assert.ok(lowered.kernels.length > 0);
  });
}
