/** Repairs a text as `selvage repair` does, with the compiler of this machine. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findAssets } from '../../src/driver/assets.ts';
import { defaultOptions, type Options } from '../../src/driver/options.ts';
import { analyse } from '../../src/driver/pipeline.ts';
import { openProject } from '../../src/driver/project.ts';
import { repairedFiles } from '../../src/driver/repaired-file.ts';
import type { Report } from '../../src/driver/report.ts';
import type { UnitBuilder } from '../../src/driver/request.ts';

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
export async function repairText(
  text: string,
  name: string,
  options: Partial<Options> = {},
  around: (builder: UnitBuilder) => UnitBuilder = (builder) => builder,
): Promise<RepairedText> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-repair-')));
  try {
    writeFileSync(join(folder, name), text);
    const request = await openProject({
      paths: [name],
      nvccArguments: [],
      options: { ...defaultOptions(), checks: ['race', 'divergence', 'repair'], timeout: 120_000, ...options },
      progress: { log: () => undefined, defect: ({ error }) => { throw error; } }, // prettier-ignore
      services: { cwd: folder, environment: process.env, assets },
    });
    try {
      const report = await analyse({ ...request, builder: around(request.builder) });
      const repaired = repairedFiles(report.kernels, () => text).get(name);
      return { report, text: repaired ?? text };
    } finally {
      await request.builder.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
