import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileMentions } from '../../../src/app/project/file-mentions.ts';
import type { SourceTree } from '../../../src/app/project/source-tree.ts';

function mentionsIn(files: Readonly<Record<string, string>>): (file: string, other: string) => boolean {
  const tree = { text: (path: string) => files[path], sources: () => Object.keys(files) };
  return fileMentions(tree as unknown as SourceTree).mentionsFile;
}

test('a file mentions its direct and indirect includes', () => {
  const mentions = mentionsIn({
    'main.cpp': '#include "inc/api.h"\nload("scan.ptx");',
    'inc/api.h': '#include <sort-kernel.cuh>',
    'src/sort-kernel.cuh': '#include "far.cuh"',
    'src/far.cuh': '',
    'src/scan.ptx': '',
    'src/with blank.cuh': '',
  });
  assert.ok(mentions('main.cpp', 'inc/api.h'));
  assert.ok(mentions('main.cpp', 'src/scan.ptx'));
  assert.ok(mentions('main.cpp', 'src/sort-kernel.cuh'));
  assert.equal(mentions('main.cpp', 'src/far.cuh'), false);
  assert.equal(mentions('inc/api.h', 'src/kernel.cuh'), false);
  assert.equal(mentions('main.cpp', 'src/with blank.cuh'), false);
});

test('a name that is not an identifier is searched in the text of the files', () => {
  const mentions = mentionsIn({ 'a.cu': '#include "b.h"', 'b.h': '#include "c d.h"', 'c d.h': '', e: '' });
  assert.ok(mentions('a.cu', 'c d.h'));
  assert.equal(mentions('a.cu', 'e.h'), false);
});
