/** Repairs a text as `selvage repair` does, with the compiler of this machine. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findAssets } from '../../src/app/project/assets.ts';
import { defaultOptions, type Options } from '../../src/settings/options.ts';
import { checkProject } from '../../src/app/pipeline/project-check.ts';
import { openProject } from '../../src/app/build/open-project.ts';
import { repairedFiles } from '../../src/report-model/repaired-file.ts';
import type { Report } from '../../src/report-model/report.ts';
import { optionDefaults } from '../../src/settings/defaults.ts';
import type { BuildKind, BuiltText, UnitBuilder } from '../../src/app/project/unit-builder.ts';
import { renderPatch } from '../../src/report/patch.ts';

export const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));
const assets = findAssets(new URL('../../src/cli.ts', import.meta.url).href);

export interface RepairedText {
  readonly report: Report;
  /** The text with all repairs. */
  readonly text: string;
}

/**
 * Analyses a text under a file name, with repair unless `checks` excludes it.
 * @param around - wraps the compiler that the analysis uses
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
  /** PTX of the verification build of the repaired text. */
  readonly verification: string | undefined;
}

/** Repairs texts of one file sequentially. Results of each text are cached. */
export interface Workplace {
  readonly repair: (text: string, options?: Partial<Options>) => Promise<RepairedText>;
  /**
   * Repairs a text, applies the printed patch with `git apply`, and checks the resulting file: kernels with a repair
   * have to be proved.
   * @throws AssertionError if an edit does not match its description
   */
  readonly repairAndApply: (text: string, options?: Partial<Options>) => Promise<CheckedRepair>;
}

/** @param name - of the file */
export function inWorkplace<Result>(name: string, work: (place: Workplace) => Promise<Result>): Promise<Result> {
  return inFolder((folder) => {
    const path = join(folder, name);
    const builds = new Map<string, Promise<BuiltText>>();
    const keyOf = (kind: BuildKind, arch: string, text: string): string => [kind, arch, text].join('\0');
    const around = (builder: UnitBuilder): UnitBuilder => ({
      ...builder,
      build(unit, kind, arch, edited) {
        const key = keyOf(kind, arch, edited ?? readFileSync(path, 'utf8'));
        const built = builds.get(key) ?? builder.build(unit, kind, arch, edited);
        builds.set(key, built);
        // A build that was stopped has no result.
        built.catch(() => builds.delete(key));
        return built;
      },
    });
    const known = new Map<string, Promise<RepairedText>>();
    const repair = (text: string, options: Partial<Options> = {}): Promise<RepairedText> => {
      writeFileSync(path, text);
      const key = `${JSON.stringify(options)}${text}`;
      const repaired = known.get(key) ?? analyseFile(folder, name, options, around);
      known.set(key, repaired);
      return repaired;
    };
    return work({
      repair,
      async repairAndApply(text, options = {}) {
        const repaired = await repair(text, options);
        if (repaired.text !== text) {
          applyPatch(
            folder,
            renderPatch(repaired.report, () => text),
          );
          const current = readFileSync(path, 'utf8');
          assert.equal(current, repaired.text, 'the patch makes the text that was verified');
          const after = await repair(current, { ...options, checks: ['race', 'divergence'] });
          assertProved(repaired.report, after.report);
        }
        const built = await builds.get(keyOf('verification', optionDefaults.arch, repaired.text));
        return { ...repaired, verification: built?.ptx };
      },
    });
  });
}

/** Applies a patch to the files of a folder. */
export function applyPatch(folder: string, patch: string): void {
  const { status, stderr } = spawnSync('git', ['apply', '-'], { cwd: folder, input: patch, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** Every kernel that was repaired, and not in part only, is proved in the report on the file with the repairs. */
export function assertProved({ kernels }: Report, after: Report): void {
  assert.deepEqual(
    after.diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  );
  for (const [index, { name, repair }] of kernels.entries()) {
    if (repair.edits === undefined || repair.leaves !== undefined) continue;
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
  const job = await openProject({
    paths: [name],
    nvccArguments: [],
    options: { ...defaultOptions(), checks: ['race', 'divergence', 'repair'], timeout: 120_000, ...options },
    progress: {
      log: () => undefined,
      defect: ({ error }) => {
        throw error;
      },
    },
    services: { cwd: folder, environment: process.env, assets },
  });
  try {
    const report = await checkProject({ ...job, project: { ...job.project, builder: around(job.project.builder) } });
    return { report, text: repairedFiles(report.kernels, () => text).get(name) ?? text };
  } finally {
    await job.project.builder.close();
  }
}
