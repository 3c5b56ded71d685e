import { distinctDiagnostics, type Diagnostic } from '../../source/diagnostic.ts';
import { dedupeByTemplate } from '../../report-model/instance-group.ts';
import type { KernelReport, Report } from '../../report-model/report.ts';
import { architecturesOf, type Settings } from '../../settings/settings.ts';
import { toolVersion } from '../../system/version.ts';
import type { Project } from '../project/job.ts';

/**
 * Assembles a report.
 * @param solver - that was used; null if none was
 */
export function assemble(
  { units, builder, diagnostics: opening }: Pick<Project, 'units' | 'builder' | 'diagnostics'>,
  settings: Settings,
  kernels: readonly KernelReport[],
  diagnostics: readonly Diagnostic[],
  solver: string | null,
): Report {
  const compiles = units.some(({ kind }) => kind === 'cuda');
  return {
    schema: 1,
    tool: { name: 'selvage', version: toolVersion },
    toolchain: {
      compiler: compiles ? builder.compiler : null,
      ...(compiles ? { arch: architecturesOf(settings) } : {}),
      solver,
    },
    kernels,
    diagnostics: dedupeByTemplate(distinctDiagnostics([...opening, ...diagnostics]), kernels),
  };
}
