import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { embeddingFile, embedsByAssembler, fileOutside, filesOfPreprocessed } from '../../src/toolchain/confinement.ts';
import { temporaryFolder, writeFiles } from './fixture.ts';

test('a file must be inside of the roots, by any path', async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'workspace');
  writeFiles(folder, {
    'secret.h': '',
    'workspace/src/a.h': '',
    'workspace/.git/config': '',
    'workspace2/b.h': '',
  });
  symlinkSync(join(folder, 'secret.h'), join(root, 'src/innocent.h'));
  symlinkSync(folder, join(root, 'up'));
  symlinkSync(join(root, '.git'), join(root, 'plain'));
  symlinkSync('/proc/self/fd', join(root, 'fd'));
  symlinkSync(join(root, 'nowhere'), join(root, 'dangling.h'));
  const outside = async (path: string): Promise<boolean> => (await fileOutside([path], [root])) !== null;
  assert.equal(await outside(join(root, 'src/a.h')), false);
  assert.equal(await outside(join(root, 'src/../src/a.h')), false);
  assert.equal(await outside(join(root, 'missing.h')), false);
  assert.equal(await outside(join(folder, 'secret.h')), true);
  assert.equal(await outside(`${root}/../secret.h`), true);
  assert.equal(await outside(join(root, 'src/innocent.h')), true);
  assert.equal(await outside(join(root, 'up/secret.h')), true);
  assert.equal(await outside(join(folder, 'workspace2/b.h')), true);
  assert.equal(await outside(join(root, '.git/config')), true);
  assert.equal(await outside(join(root, 'plain/config')), true);
  assert.equal(await outside('/proc/self/environ'), true);
  assert.equal(await outside('/dev/stdin'), true);
  assert.equal(await outside(`${root}/\ufffd.h`), true);
  assert.equal(await outside(join(root, 'fd/1')), true);
  assert.equal(await outside(join(root, 'fd/999')), true);
  assert.equal(await outside(join(root, 'dangling.h')), true);
});

test('an #embed directive is found after comments, splices, digraphs and trigraphs', async (t) => {
  const folder = temporaryFolder(t);
  const hidden = [
    '#embed "x"',
    ' # embed <x>',
    '/* a */ # /* b\n c */ embed "x"',
    '#em\\\nbed "x"',
    '#em\\ \t\r\nbed "x"',
    '%:embed "x"',
    '??=embed "x"',
    '#em??/\nbed "x"',
    'int a[] = {\n#embed "x"\n};',
    '/* open\n*/#embed "x"',
  ];
  const free = ['int embed = 1;', '#define EMBED', '#embedded', '#include "embed.h"', 'x # y embed', ''];
  mkdirSync(join(folder, 'src'));
  for (const [index, text] of [...hidden, ...free].entries()) writeFiles(folder, { [`src/${index}.h`]: text });
  for (const [index, text] of [...hidden, ...free].entries()) {
    const refused = await embeddingFile([`src/${index}.h`], folder);
    assert.equal(refused !== null, index < hidden.length, text);
  }
});

test('.incbin is found in any spelling of its string', () => {
  const hidden = [
    'asm(".incbin \\"x\\"");',
    '__asm__ volatile (".inc" "bin \\"x\\"");',
    'asm(".inc"\n# 12 "a.cu"\n   "bin");',
    'asm(R"(.incbin "x")");',
    'asm(R"d(a)" .incbin)d");',
    'asm(u8R"(.INCBIN)");',
    'asm("\\x2eincbin");',
    'asm("\\056\\151ncbin");',
    'asm("\\u0069ncbin");',
    'const char* s = "\\""; asm(".incbin");',
    'char c = \'"\'; asm(".incbin");',
    'int n = 1\'000; asm(".incbin"); int m = 2\'000;',
    '__attribute__((section(".x\\n.incbin \\"y\\""))) int a;',
    'int a asm("b\\n.incbin");',
    'asm(".macro x a b\\n.\\\\a\\\\b\\n.endm");',
    'asm(".include \\"x\\"");',
    'asm(".irp d,bin\\n.inc\\\\d");',
  ];
  for (const text of hidden) assert.equal(embedsByAssembler(text), true, text);
  const free = [
    'asm volatile("mov.u32 %0, %laneid;" : "=r"(x));',
    'asm(".inc"); asm("bin");',
    'printf("see foo.include"); f(".macro");',
    'f(".inc", "bin");',
    '# 1 ".incbin"\nint a;',
    'asm(".reg .u32 t;");',
  ];
  for (const text of free) assert.equal(embedsByAssembler(text), false, text);
});

test('the files of preprocessed text are parsed from its line markers', () => {
  const text = [
    '# 0 "/w/a.cu"',
    '# 0 "<built-in>"',
    '# 1 "/usr/include/x.h" 1 3 4',
    'int a; // # 1 "no"',
    '# 7 "/w/a.cu" 2',
    '#line 3 "/w/b \\"c\\".h"',
    '# 1 "/w/\\303\\251.h" 1',
    Buffer.from('# 1 "/w/ü.h" 1').toString('latin1'),
  ].join('\n');
  assert.deepEqual(filesOfPreprocessed(text), ['/w/a.cu', '/usr/include/x.h', '/w/b "c".h', '/w/é.h', '/w/ü.h']);
});
