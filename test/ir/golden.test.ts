import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { lowerModule } from '../../src/ir/lower.ts';
import { printKernel } from '../../src/ir/form/print.ts';
import { verifyKernel } from './form/verify.ts';
import { parsePtx } from '../../src/ptx/parser.ts';

// SELVAGE_UPDATE_GOLDEN=1 rewrites the .ir files; read the difference before keeping it.
const folder = new URL('golden/', import.meta.url);

for (const name of readdirSync(folder).filter((file) => file.endsWith('.ptx'))) {
  test(`${name} lowers to its golden IR`, () => {
    const { module } = parsePtx(readFileSync(new URL(name, folder), 'utf8'), name);
    const { kernels } = lowerModule(module);
    kernels.forEach(verifyKernel);
    const golden = new URL(name.replace(/\.ptx$/, '.ir'), folder);
    const text = kernels.map(printKernel).join('\n');
    if (process.env['SELVAGE_UPDATE_GOLDEN']) writeFileSync(golden, text);
    assert.equal(text, readFileSync(golden, 'utf8'));
  });
}
