import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePtx } from '../../src/ptx/parser.ts';
import { printModule } from '../../src/ptx/printer.ts';
import { filesBelow, readText, withoutSpans } from './tree.ts';

const files = [...filesBelow('test/ptx/language', '.ptx'), ...filesBelow('test/kernels', '.ptx')];

test(`${files.length} texts print to texts that parse to the same tree`, () => {
  for (const file of files) {
    const first = parsePtx(readText(file), file);
    assert.deepEqual(first.diagnostics, [], file);
    const printed = printModule(first.module);
    const second = parsePtx(printed, file);
    assert.deepEqual(second.diagnostics, [], file);
    assert.deepEqual(withoutSpans(second.module), withoutSpans(first.module), file);
    assert.equal(printModule(second.module), printed, file);
  }
});

test('damaged statements are printed verbatim', () => {
  const text = '.version 8.0\n.target sm_80\n.entry k() {\nmov.u32 %r1 1;\nret;\n}\n';
  assert.ok(printModule(parsePtx(text).module).includes('\tmov.u32 %r1 1;\n\tret;\n}'));
});
