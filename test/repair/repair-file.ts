/** Repairs a text as `selvage repair` does, with the compiler of this machine. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findAssets } from '../../src/driver/assets.ts';
import { defaultOptions, type Options } from '../../src/driver/options.ts';
import { analyse } from '../../src/driver/pipeline.ts';
import { openProject } from '../../src/driver/project.ts';
import { repairedFiles } from '../../src/driver/repaired-file.ts';
import type { Report } from '../../src/driver/report.ts';
import type { BuiltUnit, UnitBuilder } from '../../src/driver/request.ts';
import { renderPatch } from '../../src/report/patch.ts';

export const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));
const assets = findAssets(new URL('../../src/cli.ts', import.meta.url).href);

export interface RepairedText {
  readonly report: Report;
  /** The text with all repairs. */
  readonly text: string;
}

/**
 * Analyses a text under a file name, with repair unless `checks` says otherwise.
 * @param around - what is to stand between the analysis and the compiler
 */
export function repairText(
  text: string,
  name: string,
  options: Partial<Options> = {},
  around: (builder: UnitBuilder) => UnitBuilder = (builder) => builder,
): Promise<RepairedText> {
  return inFolder(async (folder) => {
    writeFileSync(join(folder, name), text);
    return analyseFile(folder, name, options, around);
  });
}

export interface CheckedRepair extends RepairedText {
  /** PTX of the verification builds that were made, by text. */
  readonly verification: ReadonlyMap<string, string>;
}

/**
 * Repairs a text, applies the patch that is printed with `git apply`, and checks the file that this leaves: kernels with
 * a repair have to be proved. A text is compiled once only.
 * @throws AssertionError where an edit is not what it says
 */
export function repairAndApply(text: string, name: string, options: Partial<Options> = {}): Promise<CheckedRepair> {
  return inFolder(async (folder) => {
    const path = join(folder, name);
    const builds = new Map<string, Promise<BuiltUnit>>();
    const verification = new Map<string, string>();
    let current = text;
    const around = (builder: UnitBuilder): UnitBuilder => ({
      ...builder,
      async build(unit, kind, arch, other = current) {
        const key = [unit.path, kind, arch, other].join('\0');
        if (!builds.has(key)) builds.set(key, builder.build(unit, kind, arch, other));
        const built = await builds.get(key)!;
        if (kind === 'verification' && built.ptx !== undefined) verification.set(other, built.ptx);
        return built;
      },
    });
    writeFileSync(path, text);
    const repaired = await analyseFile(folder, name, options, around);
    if (repaired.text !== text) {
      applyPatch(
        folder,
        renderPatch(repaired.report, () => text),
      );
      current = readFileSync(path, 'utf8');
      assert.equal(current, repaired.text, 'the patch makes the text that was verified');
      const after = await analyseFile(folder, name, { ...options, checks: ['race', 'divergence'] }, around);
      assertProved(repaired.report, after.report);
    }
    return { ...repaired, verification };
  });
}

/** Applies a patch to the files of a folder. */
export function applyPatch(folder: string, patch: string): void {
  const { status, stderr } = spawnSync('git', ['apply', '-'], { cwd: folder, input: patch, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** Every kernel that was repaired is proved in the report on the file with the repairs. */
export function assertProved({ kernels }: Report, after: Report): void {
  assert.deepEqual(after.diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message), []); // prettier-ignore
  for (const [index, { name, repair }] of kernels.entries()) {
    if (repair.edits === undefined) continue;
    const kernel = after.kernels[index];
    assert.equal(kernel?.name, name);
    assert.equal(kernel.race.verdict, 'proved', `${name}: ${kernel.race.reason}`);
    assert.equal(kernel.divergence.verdict, 'proved', `${name}: ${kernel.divergence.reason}`);
  }
}

async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-repair-')));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function analyseFile(
  folder: string,
  name: string,
  options: Partial<Options>,
  around: (builder: UnitBuilder) => UnitBuilder,
): Promise<RepairedText> {
  const text = readFileSync(join(folder, name), 'utf8');
  const request = await openProject({
    paths: [name],
    nvccArguments: [],
    options: { ...defaultOptions(), checks: ['race', 'divergence', 'repair'], timeout: 120_000, ...options },
    progress: { log: () => undefined, defect: ({ error }) => { throw error; } }, // prettier-ignore
    services: { cwd: folder, environment: process.env, assets },
  });
  try {
    const report = await analyse({ ...request, builder: around(request.builder) });
    return { report, text: repairedFiles(report.kernels, () => text).get(name) ?? text };
  } finally {
    await request.builder.close();
  }
}
