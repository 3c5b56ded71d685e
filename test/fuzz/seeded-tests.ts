/** The seeded tests: `npm test` runs a sample of each, `npm run test:long` many more, from another seed. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tallyText } from '../cost/compared-run.ts';
import { nvcc, withoutNvcc } from '../toolchain/fixture.ts';
import { compareCosts } from './costs.ts';
import { compareBackends } from './machine-differential.ts';
import type { Summary } from './ptx-run.ts';
import { type SubjectKind, runSubjects } from './soundness-run.ts';
import { judgeKernels } from './soundness.ts';

const subjects: Readonly<Record<SubjectKind, string>> = {
  mutants: 'mutants of test kernels',
  random: 'random kernels',
  strong: 'random kernels with strong accesses',
};

/**
 * No proof of changed test kernels, or of random ones, is contradicted by the interpreter.
 * @param steps after which a run is given up
 */
export function testSoundness(kind: SubjectKind, seed: number, count: number, steps?: number): void {
  test(`${count} ${subjects[kind]}`, async (context) => {
    const { verdicts, runs, wrapped, failures } = await runSubjects(kind, seed, count, steps);
    context.diagnostic(`seed ${seed}: ${JSON.stringify(verdicts)}, ${runs} runs of what is proved`);
    assert.deepEqual(failures, []);
    // Some kernels have contradictable proofs, and some have other verdicts.
    assert.ok(verdicts['proved/proved']! > count / 10);
    assert.ok(verdicts['race/proved']! > count / 10);
    assert.ok(runs > 10 * verdicts['proved/proved']!);
    // Proofs that take arithmetic not to wrap around are the exception.
    assert.ok(wrapped < count / 50);
  });
}

/** The verdicts on generated CUDA kernels are those that they were made for, and runs agree. */
export function testGeneratedKernels(seed: number, count: number): void {
  test(`${count} generated CUDA kernels`, { skip: withoutNvcc }, () =>
    inFolder(async (folder) => {
      const { failures, verdicts } = await judgeKernels(seed, count, folder);
      assert.deepEqual(failures, []);
      assert.ok(Object.keys(verdicts).some((verdict) => verdict.startsWith('given: race')));
      assert.ok(Object.keys(verdicts).some((verdict) => verdict.startsWith('given: proved')));
    }),
  );
}

/** Bounds of generated CUDA kernels hold in both builds. */
export function testGeneratedCosts(seed: number, count: number): void {
  test(`no run of ${count} generated kernels costs more than its bound`, { skip: withoutNvcc }, (context) =>
    inFolder(async (folder) => {
      const figures = await compareCosts(nvcc!, seed, count, folder);
      context.diagnostic(`seed ${seed}: ${tallyText(figures)}`);
      assert.deepEqual(figures.failures, []);
      assert.ok(figures.runs > 4 * figures.kernels);
      assert.ok(figures.compared > figures.none && figures.equal > 0.3 * figures.compared);
    }),
  );
}

/** The back ends of the interpreter agree on random kernels. */
export function testBackEnds(seed: number, count: number): void {
  test(`${count} random kernels on every back end`, (context) => {
    const { kernels, outcomes, steps, differences } = compareBackends(seed, count);
    context.diagnostic(`seed ${seed}: ${kernels} kernels, ${steps} steps, ${JSON.stringify(outcomes)}`);
    assert.deepEqual(
      differences.map((difference) => `${difference.seed}: ${difference.text}`),
      [],
    );
    assert.ok(outcomes['finished']! > 0.9 * kernels);
    assert.ok(steps > 1000 * kernels);
  });
}

/** Mutated or truncated PTX: no exception, no hang, a diagnostic for invalid input, no statement lost. */
export function testDamagedPtx(seed: number, count: number): void {
  /** Every text whose number is a multiple of it is given to ptxas as well. */
  const every = 5;
  /** A hundred times the usual duration: a run that takes longer hangs. */
  const milliseconds = 300 * count;
  test(`${count} damaged PTX texts`, async (context) => {
    const script = fileURLToPath(new URL('ptx-run.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [script, `${seed}`, `${count}`, `${every}`], {
      timeout: milliseconds,
      maxBuffer: 2 ** 26,
    });
    const summary = JSON.parse(stdout) as Summary;
    assert.deepEqual(summary.failures, []);
    // The run is about damage: most texts are damaged, by every mutation, with many statements before the damage.
    assert.equal(Object.keys(summary.mutations).length >= 24, true);
    assert.ok(summary.invalid > count / 10, `${summary.invalid} texts known to be invalid`);
    assert.ok(summary.diagnosed > count / 2, `${summary.diagnosed} texts with a diagnostic`);
    assert.ok(summary.survivors > 10 * count, `${summary.survivors} statements before the damage`);
    if (summary.assembled === null) {
      context.diagnostic(`no ptxas: ${count / every} texts were not compared with it`);
      return;
    }
    assert.deepEqual(summary.missed, [], 'texts that ptxas cannot parse and that we do not complain of');
    context.diagnostic(
      `seed ${seed}: ${summary.assembled} texts compared with ptxas: ${summary.missed.length} missed, ${summary.refused.length} refused`,
    );
  });
}

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-seeded-'));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
