/** Every kernel runs as its first lines expect, in both builds, on every back end, under several schedules. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { ptxFile } from '../kernels/portable-ptx.ts';
import { expectedMemory, memoryOf } from './expected-memory.ts';
import { findingTexts } from './finding-text.ts';
import { execute, type KernelRun, parseRuns, type Ran } from './kernel-run.ts';
import { builds, definedKernels, kernelNamed, loadKernels, machineFiles, originLine, sourceOf } from './machine-kernels.ts';

const files = machineFiles();
const backends = ['javascript', 'webassembly', 'reference'] as const;
/** Thread-instructions of the longest runs that the reference repeats; of several schedules it runs the first. */
const short = 50_000;

for (const file of files) {
  const source = sourceOf(file);
  const runs = parseRuns(source);
  for (const build of builds) {
    test(`${file}, ${build} build`, () => {
      const kernels = loadKernels(file, build);
      for (const run of runs) {
        if (run.build === undefined || run.build === build) checkRun(source, run, kernelNamed(kernels, run.kernel));
      }
    });
  }
}

/** Runs a kernel on all back ends and schedules: all report the expected findings, and equal schedules agree. */
function checkRun(source: string, run: KernelRun, kernel: Kernel): void {
  for (let schedule = 0; schedule < run.schedules; schedule++) {
    const outcomes: string[] = [];
    let steps = 0;
    for (const backend of backends) {
      if (backend === 'reference' && (schedule > 0 || steps > short)) continue;
      const label = `${run.kernel} on ${backend}, schedule ${schedule}`;
      const ran = execute(source, run, kernel, { backend, ...(schedule > 0 && { seed: schedule }) });
      assert.deepEqual(findingTexts(kernel, ran.result), run.expected, label);
      if (run.expected.length === 0) {
        assert.equal(ran.result.outcome, 'finished', label);
        const check = expectedMemory[run.kernel];
        assert.ok(check, `nothing is expected of the memory of ${run.kernel}`);
        check(memoryOf(ran));
      }
      steps = ran.result.steps;
      outcomes.push(traceOf(ran));
    }
    const [first, ...others] = outcomes;
    for (const other of others) assert.equal(other, first, `the back ends differ on ${run.kernel}, schedule ${schedule}`);
  }
}

/** Steps and memory of a run; of one that was cut off, only how it ended. */
function traceOf({ binding, result }: Ran): string {
  if (result.outcome !== 'finished') return result.outcome;
  const arrays = binding.arrays.map(({ buffer, type, length }) =>
    Buffer.from(result.readBytes(buffer, 0, length! * type.bytes)).toString('hex'),
  );
  return [result.steps, ...arrays].join(' ');
}

test('every kernel has a run, and every run its kernel', () => {
  for (const file of files) {
    const source = sourceOf(file);
    assert.deepEqual(new Set(parseRuns(source).map(({ kernel }) => kernel)), new Set(definedKernels(source).keys()), file);
  }
});

test('there are many kernels, and many are incorrect', () => {
  const runs = files.flatMap((file) => parseRuns(sourceOf(file)));
  const clean = new Set(runs.flatMap(({ kernel, expected }) => (expected.length === 0 ? [kernel] : [])));
  assert.deepEqual(new Set(Object.keys(expectedMemory)), clean);
  assert.ok(runs.length >= 200 && clean.size >= 100 && runs.length - clean.size >= 100);
});

test('the checked-in PTX is compiled from these sources, and contains no path of a computer', () => {
  for (const file of files) {
    for (const build of builds) {
      const ptx = readFileSync(ptxFile(file, build), 'utf8');
      assert.ok(ptx.startsWith(originLine(sourceOf(file))), `${file}: run test/interpreter/regenerate.ts`);
      for (const [, name] of ptx.matchAll(/^\s*\.file\s+\d+\s+"([^"]*)"/gm))
        assert.match(name!, /^(test\/interpreter|cuda|system)\//, `${file} ${build}`);
    }
  }
});
