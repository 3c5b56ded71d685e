import type { Settings } from '../../settings/settings.ts';
import type { Checked, CheckedKernel, LaunchedKernel } from '../build/phase-data.ts';
import type { Progress } from '../project/progress.ts';
import type { Project } from '../project/job.ts';

/** Adds costs of kernels to their reports. */
type Price = (checked: Checked) => Promise<Checked>;

/**
 * Starts the assembler, which runs while kernels are checked, if costs are requested or limited.
 * @param effort `figures`: all figures, for a report without verdicts; `brief`: only inexpensive ones, for a report
 * with verdicts
 * @returns the function that adds costs to the checked kernels
 */
export async function startPricing(
  kernels: readonly LaunchedKernel[],
  settings: Settings,
  { builder, tree }: Pick<Project, 'builder' | 'tree'>,
  progress: Progress,
  effort: 'figures' | 'usual' | 'brief' = 'usual',
): Promise<Price> {
  const { options, configuration } = settings;
  const isAsked = options.checks.includes('cost');
  const isLimited = configuration.kernels.some(({ limits }) => Object.keys(limits).length > 0);
  if (!isAsked && !isLimited) return async (checked) => checked;
  const { assembled } = await import('./cost/assembled-unit.ts');
  const { withCosts } = await import('./cost/bounds-report.ts');
  const { limitsOf } = await import('./cost/cost-limits.ts');
  const chosen = new Set(kernels.filter((kernel) => isAsked || Object.keys(limitsOf(configuration, kernel)).length > 0));
  const resourcesOf = assembled([...chosen], builder);
  const figures =
    effort === 'figures' ? (await import('./cost/figures.ts')).kernelFigures(settings, builder, (file) => tree.text(file)) : undefined;
  return async ({ kernels: checked, diagnostics }) => {
    const costly = await withCosts(
      checked.filter(({ entry }) => chosen.has(entry)),
      { resourcesOf, figures, isBrief: effort === 'brief' },
      settings,
      progress,
    );
    const priced = new Map(costly.kernels.map((one) => [one.entry, one]));
    return {
      kernels: checked.map((one): CheckedKernel => priced.get(one.entry) ?? one),
      diagnostics: [...diagnostics, ...costly.diagnostics],
    };
  };
}
