import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseExpectations } from '../kernels/expectation.ts';
import { commandOf, hashesOf, headerHash, readRecord } from '../kernels/build-record.ts';
import { kernelFiles, ptxFile, root } from '../kernels/portable-ptx.ts';
import { testDrift } from './drift.ts';

const files = kernelFiles();
const kernels = files.flatMap((file) => {
  const text = readFileSync(join(root, file), 'utf8');
  return parseExpectations(text).map((expectation) => ({ file, text, ...expectation }));
});
const builds = ['verification', 'production'] as const;

test('there are many test kernels, half of them incorrect', () => {
  assert.ok(files.length >= 120 && kernels.length >= 240);
  const wrong = kernels.filter(({ race, divergence }) => race === 'race' || divergence === 'divergent');
  assert.ok(wrong.length * 2 >= kernels.length, `${wrong.length} of ${kernels.length}`);
  // An index that leaves its array does not decide races, and is a finding.
  const undecided = kernels.filter(
    ({ race, divergence, findings }) => race === 'possible' && divergence === 'proved' && findings.length === 0,
  );
  assert.ok(undecided.length * 50 <= kernels.length);
});

test('every kernel has an expectation, and every expectation its kernel', () => {
  for (const file of files) {
    const text = readFileSync(join(root, file), 'utf8');
    const defined = [...text.matchAll(/__global__ void (?:__launch_bounds__\(\w+\) )?(\w+)\([^)]*\) \{/g)].map(([, name]) => name);
    const expected = parseExpectations(text).map(({ kernel }) => kernel.replace(/<.*/, '').replace(/^.*::/, ''));
    assert.deepEqual(new Set(expected), new Set(defined), file);
  }
});

test('an expected finding is at a line that can have it', () => {
  for (const { file, text, kernel, race, divergence, findings } of kernels) {
    const lines = text.split('\n');
    for (const { code, lines: at } of findings) {
      const isAccess = code.startsWith('race/') || code.startsWith('memory/');
      const pattern = code.startsWith('barrier/')
        ? /__syncthreads|\bsync\(\)/
        : code.startsWith('warp/')
          ? /_sync\(|\.sync/
          : /=|atomic|return|asm|if \(|while \(|memcpy_async|mbarrier_|COPY|\.store\(/;
      for (const line of at) assert.match(lines[line - 1] ?? '', pattern, `${file}:${line}`);
      assert.equal(at.length, isAccess ? 2 : 1);
      assert.deepEqual(
        at,
        [...at].sort((a, b) => a - b),
      );
    }
    const has = (prefix: string): boolean => findings.some(({ code }) => code.startsWith(prefix));
    // Writes of equal values that are proved to do no harm are a notice.
    if (race !== 'proved') assert.equal(has('race/'), race === 'race', `${file} ${kernel}`);
    // A barrier that is only suspected is named too.
    if (divergence !== 'possible') assert.equal(has('barrier/divergent'), divergence === 'divergent', `${file} ${kernel}`);
  }
});

test('the checked-in PTX contains no path of a computer', () => {
  for (const file of files) {
    for (const build of builds) {
      const ptx = readFileSync(ptxFile(file, build), 'utf8');
      for (const [, name] of ptx.matchAll(/^\s*\.file\s+\d+\s+"([^"]*)"/gm)) {
        assert.match(name!, /^(test\/kernels|cuda|system)\//, `${file} ${build}`);
      }
    }
  }
});

test('the checked-in PTX is compiled from these sources, by these command lines, and was not edited', async () => {
  const record = readRecord();
  const stale = 'run test/kernels/regenerate.ts';
  for (const build of builds) {
    assert.deepEqual(await commandOf(build), record.commands[build], `${build}: ${stale}`);
    for (const file of files) {
      const made = /release \S+ V(\S+)/.exec(readFileSync(ptxFile(file, build), 'utf8'))?.[1];
      assert.equal(made, record.compiler, `${file} ${build}: ${stale}`);
    }
  }
  assert.equal(headerHash(), record.header, `selvage.h: ${stale}`);
  assert.deepEqual(Object.fromEntries(files.map((file) => [file, hashesOf(file)])), record.files, stale);
  for (const { file, text } of kernels) assert.doesNotMatch(text, /#\s*include\s*"/, `${file}: the record knows no headers`);
});

// `test-kernels.long.ts` compiles them all.
testDrift(files.filter((_, index) => index % 20 === 0));
