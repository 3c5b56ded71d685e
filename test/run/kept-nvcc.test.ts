/** The nvcc of the tests compiles no text twice, and never returns the output for another one. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fakeAnswers, temporaryFolder, writeFiles, writeProgram } from '../toolchain/fixture.ts';
import { keptNvcc } from './kept-nvcc.ts';

interface Built {
  readonly status: number | null;
  readonly ptx: string;
  readonly preprocessed: string;
}

/** A real compiler that counts its builds, and the one that caches them. */
async function compilers(context: TestContext) {
  const folder = temporaryFolder(context);
  const log = join(folder, 'log');
  writeFileSync(log, '');
  writeProgram(
    join(folder, 'bin/nvcc'),
    `${fakeAnswers}
const { appendFileSync, readFileSync, writeFileSync } = require('node:fs');
const input = args.at(-1);
const text = readFileSync(input, 'utf8');
appendFileSync(${JSON.stringify(log)}, '.');
if (text.includes('warn')) console.error('a warning');
if (text.includes('fail')) process.exit(1);
const after = (option) => args[args.indexOf(option) + 1];
const included = () => { try { return readFileSync(require('node:path').join(input, '../near.cuh'), 'utf8'); } catch { return ''; } };
if (args.includes('-M')) {
  console.log('unit.o: ' + input + ' ' + input.replace('unit.cu', 'near.cuh') + ' /toolkit/cuda.h');
  process.exit();
}
writeFileSync(after('-o'), '// of ' + input + '\\n// ' + args.filter((word) => word.startsWith('-arch')) + '\\n' + text + included());
const folders = args.filter((word) => word.endsWith('/searched')).map((word) => '# 2 "' + word.slice(2) + '/far.cuh" 1\\nint far;\\n');
writeFileSync(after('--keep-dir') + '/unit.cpp1.ii', '# 1 "' + input + '"\\n# 7 "/toolkit/cuda.h" 1 3\\nint x;\\n' + folders.join(''));
`,
  );
  writeProgram(join(folder, 'bin/ptxas'), '');
  const own = await keptNvcc(join(folder, 'kept'), { PATH: `${join(folder, 'bin')}:${process.env['PATH']}` });
  assert.ok(own !== null);
  let number = 0;
  return {
    builds: () => readFileSync(log, 'utf8').length,
    steps: () => spawnSync(join(own, 'nvcc'), ['-ptx', '--dryrun', 'unit.cu']).status,
    list: (text: string): string => {
      const place = join(folder, `place-${number++}`);
      mkdirSync(place);
      writeFileSync(join(place, 'unit.cu'), text);
      const words = ['-arch=sm_80', `-I${place}/include`, '-M', join(place, 'unit.cu')];
      return spawnSync(join(own, 'nvcc'), words, { encoding: 'utf8' }).stdout.replaceAll(place, 'PLACE');
    },
    build: (
      text: string,
      {
        flags = [],
        near,
        searched = {},
      }: {
        readonly flags?: readonly string[];
        readonly near?: string;
        /** Files of a folder that `-I` names; none: the option is absent. */
        readonly searched?: Readonly<Record<string, string>>;
      } = {},
    ): Built => {
      const place = join(folder, `place-${number++}`);
      const kept = join(place, 'kept');
      mkdirSync(kept, { recursive: true });
      const input = join(place, 'unit.cu');
      writeFileSync(input, text);
      if (near !== undefined) writeFileSync(join(place, 'near.cuh'), near);
      const output = join(place, 'unit.ptx');
      const more = Object.keys(searched).length > 0 ? [`-I${place}/searched`] : [];
      writeFiles(join(place, 'searched'), searched);
      const words = ['-arch=sm_80', ...flags, ...more, `-I${place}/include`, '-ptx', '--keep', '--keep-dir', kept, '-o', output];
      const { status, stderr } = spawnSync(join(own, 'nvcc'), [...words, input], { encoding: 'utf8' });
      assert.equal(stderr, text.includes('warn') ? 'a warning\n' : '');
      if (status !== 0) return { status, ptx: '', preprocessed: '' };
      const names = ['unit.ii', 'unit.cpp1.ii'].flatMap((name) => {
        try {
          return [readFileSync(join(kept, name), 'utf8')];
        } catch {
          return [];
        }
      });
      assert.equal(names.length, 1);
      const here = (made: string): string => made.replaceAll(place, 'PLACE');
      return { status, ptx: here(readFileSync(output, 'utf8')), preprocessed: here(names[0]!) };
    },
  };
}

test('a source text is compiled once for all folders', async (context) => {
  const { builds, build } = await compilers(context);
  const first = build('__global__ void k() {}\n');
  const again = build('__global__ void k() {}\n');
  assert.equal(builds(), 1);
  assert.equal(first.ptx, '// of PLACE/unit.cu\n// -arch=sm_80\n__global__ void k() {}\n');
  assert.equal(again.ptx, first.ptx);
  // The preprocessed output names the files that were read.
  assert.match(again.preprocessed, /^# 1 "PLACE\/unit\.cu"$/m);
  assert.match(again.preprocessed, /^# 1 "\/toolkit\/cuda\.h"$/m);
});

test('a changed text or flag is compiled again', async (context) => {
  const { builds, build } = await compilers(context);
  build('int x;\n');
  assert.match(build('int y;\n').ptx, /int y;/);
  assert.match(build('int x;\n', { flags: ['-arch=sm_90'] }).ptx, /sm_80,-arch=sm_90/);
  build('int x;\n', { flags: ['-lineinfo'] });
  assert.equal(builds(), 4);
  build('int x;\n');
  assert.equal(builds(), 4);
});

test('an included file next to a text is part of its key', async (context) => {
  const { builds, build } = await compilers(context);
  const text = '#include "near.cuh"\n';
  for (const near of ['int x;\n', 'int y;\n', 'int x;\n']) assert.match(build(text, { near }).ptx, new RegExp(near));
  assert.equal(builds(), 2);
  // One that is not there may come.
  build(text);
  assert.equal(builds(), 3);
  build(text, { flags: ['-Xcompiler', '-iquote,/elsewhere'] });
  assert.equal(builds(), 3);
  for (const _ of [1, 2]) build(text, { near: 'auto f = __FILE__;\n' });
  assert.equal(builds(), 5);
});

test('all files in a search folder are part of the key of a text', async (context) => {
  const { builds, build } = await compilers(context);
  const text = '#include <far.cuh>\n';
  const far = { 'far.cuh': '#include "inner/deep.cuh"\n', 'inner/deep.cuh': 'int x;\n' };
  const first = build(text, { searched: far });
  const again = build(text, { searched: far });
  assert.equal(again.ptx, first.ptx);
  assert.match(again.preprocessed, /^# 1 "PLACE\/searched\/far\.cuh"$/m);
  assert.match(again.preprocessed, /^int far;$/m);
  assert.equal(builds(), 1);
  build(text, { searched: { ...far, 'inner/deep.cuh': 'int y;\n' } });
  build(text, { searched: { ...far, 'math.h': '' } });
  build(text, { searched: { 'far.cuh': far['far.cuh'], 'deep.cuh': far['inner/deep.cuh'] } });
  build(text);
  assert.equal(builds(), 5);
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`${index}.cuh`, '']));
  for (const searched of [many, { 'far.cuh': 'auto f = __FILE__;\n' }, { 'a b.cuh': '' }])
    for (const _ of [1, 2]) build(text, { searched });
  assert.equal(builds(), 5 + 2 * 3);
});

test('nested search folders are part of the key of a text', async (context) => {
  const { builds, build } = await compilers(context);
  const text = '#include <searched/far.cuh>\n';
  const folder = temporaryFolder(context);
  writeFiles(folder, { 'a/searched/far.cuh': 'int x;\n' });
  const searches = [['a'], ['a', 'a/searched'], ['a/searched', 'a']];
  for (const names of [...searches, ...searches]) build(text, { flags: names.map((name) => `-I${folder}/${name}`) });
  assert.equal(builds(), 3);
});

test('a text is compiled again if it differs after a backslash', async (context) => {
  const { builds, build } = await compilers(context);
  for (const name of ['x', 'y']) assert.match(build(`// \\c\nint ${name};\n`).ptx, new RegExp(`int ${name};`));
  assert.equal(builds(), 2);
});

test('the included files of a text are listed once', async (context) => {
  const { builds, list } = await compilers(context);
  for (const _ of [1, 2]) assert.equal(list('int x;\n'), 'unit.o: PLACE/unit.cu PLACE/near.cuh /toolkit/cuda.h\n');
  assert.equal(builds(), 1);
});

test('texts that depend on other files, on their path, or on the time, are not cached', async (context) => {
  const { builds, build } = await compilers(context);
  const texts = [
    '#include "../a.cuh"\n',
    ' # include A\n',
    '#/**/include "a.cuh"\n',
    '#\\\ninclude "a.cuh"\n',
    'auto f = __FILE__;\n',
    '{ assert(x); }\n',
    'auto d = __DATE__;\n',
    '#embed <x>\n',
    'asm(".inc" "bin");\n',
    '#if __has_include(<x>)\n#endif\n',
  ];
  for (const text of texts) for (const _ of [1, 2]) build(text);
  for (const _ of [1, 2]) build('int x;\n', { flags: ['-isystem=/elsewhere'] });
  assert.equal(builds(), 2 * (texts.length + 1));
});

test('texts with warnings or errors are not cached', async (context) => {
  const { builds, build } = await compilers(context);
  for (const _ of [1, 2]) {
    assert.equal(build('int warn;\n').status, 0);
    assert.equal(build('int fail;\n').status, 1);
  }
  assert.equal(builds(), 4);
});

test('other invocations are passed to the compiler', async (context) => {
  const folder = temporaryFolder(context);
  writeProgram(join(folder, 'bin/nvcc'), `${fakeAnswers}console.log(args.join('|')); process.exit(3);`);
  writeProgram(join(folder, 'bin/ptxas'), '');
  const own = await keptNvcc(join(folder, 'kept'), { PATH: `${join(folder, 'bin')}:${process.env['PATH']}` });
  const { status, stdout } = spawnSync(join(own!, 'nvcc'), ['-M', 'a b.cu'], { encoding: 'utf8' });
  assert.deepEqual([status, stdout], [3, '-M|a b.cu\n']);
});

test('the steps of nvcc are not printed, so that none of them bypasses the cache', async (context) => {
  const { builds, steps } = await compilers(context);
  assert.deepEqual([steps(), builds()], [1, 0]);
});
