/** Defects of ours in the analysis of one kernel: told, and their input handed on. The other kernels go on. */
import type { Launch } from '../../launch/launch.ts';
import { printModule } from '../../ptx/printer.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { PreparedKernel } from './prepare.ts';
import type { AnalysisRequest } from '../project/request.ts';

/**
 * Hands on the input that shows a defect.
 * @param ptx - of the unit; absent: that of the verification build, as it was read
 * @returns what the report says of it
 */
export function defectOf(
  { progress }: AnalysisRequest,
  entry: PreparedKernel,
  launch: Launch,
  error: unknown,
  ptx?: string,
): Diagnostic {
  const { name, kernel } = entry;
  progress.defect({ kernel: name.full, error, files: filesOf(entry, launch, ptx) });
  const text = error instanceof Error ? error.message : String(error);
  const message = `A defect of Selvage in ${name.full}: ${text}. Report it with the input that was saved.`;
  const { location } = kernel;
  return { severity: 'error', code: 'internal/defect', message, ...(location ? { location } : {}) };
}

function filesOf(
  { verification, kernel, name }: PreparedKernel,
  launch: Launch,
  ptx: string | undefined,
): Map<string, string> {
  const scalars = Object.fromEntries([...launch.scalars].map(([index, value]) => [index, String(value)]));
  const description = { kernel: kernel.symbol, name: name.full, launch: { ...launch, scalars } };
  return new Map([
    ['kernel.ptx', ptx ?? printModule(verification)],
    ['request.json', JSON.stringify(description, null, 2) + '\n'],
  ]);
}
