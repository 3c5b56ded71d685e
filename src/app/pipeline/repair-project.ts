import { resolve } from 'node:path';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Checked } from '../build/phase-data.ts';
import { redundantMessage } from '../../messages/repair.ts';
import type { Unit } from '../project/input-files.ts';
import type { Job } from '../project/job.ts';
import { prepare } from './prepare.ts';
import type { RepairRun } from './repair/repair-workbench.ts';

/** Inputs of a repair in a job. */
type PreparedRun = Omit<RepairRun, 'furtherUnits'> & Job;

/** Adds results of repair to the reports of checked kernels, if requested, and reports redundant barriers. */
export async function repairChecked({ kernels, diagnostics }: Checked, run: PreparedRun): Promise<Checked> {
  if (!run.settings.options.checks.includes('repair')) return { kernels, diagnostics };
  const { repairKernels } = await import('./repair/kernel-repairs.ts');
  const { project, settings, tools } = run;
  const furtherUnits: RepairRun['furtherUnits'] = async (paths) => {
    const units = paths.map((path): Unit => ({ kind: 'cuda', path, file: resolve(project.tree.root, path) }));
    return (await prepare({ project: { ...project, units }, settings, tools })).units;
  };
  // Suppressed findings are notices.
  const open = new Set(diagnostics.filter(({ severity }) => severity !== 'notice').map(({ fingerprint }) => fingerprint));
  const reported = kernels.map((one) =>
    one.early ? { ...one, early: one.early.filter(({ fingerprint }) => open.has(fingerprint)) } : one,
  );
  const repaired = await repairKernels(reported, { ...run, furtherUnits });
  return { kernels: repaired, diagnostics: [...diagnostics, ...redundant(run.settings, repaired)] };
}

/** Reports redundant barriers. This is advice: it fails no run, regardless of the configured severity. */
function redundant({ configuration }: Settings, kernels: Checked['kernels']): Diagnostic[] {
  const configured = configuration.checks.repair.removeRedundant;
  return kernels.flatMap(({ report: { name, repair: outcome } }): Diagnostic[] => {
    const { status, edits = [], reason = '', cost, barriersRemoved = 1 } = outcome;
    const [edit] = edits;
    if (status !== 'optimised' || !edit) return [];
    const message = redundantMessage(name, barriersRemoved, reason, cost?.text);
    const location = { file: edit.file, line: edit.startLine };
    return [{ severity: configured === 'error' ? 'warning' : configured, code: 'barrier/redundant', message, location }];
  });
}
