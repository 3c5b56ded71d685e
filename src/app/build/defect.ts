/** Internal errors in the analysis of one kernel: reported, with their input saved. Other kernels continue. */
import { messageOf } from '../../base/text.ts';
import type { Launch } from '../../launch/launch.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Progress } from '../project/progress.ts';
import type { LoweredKernel } from './phase-data.ts';

/**
 * Saves the input that reproduces an internal error.
 * @returns the diagnostic for the report
 */
export function defectOf(entry: LoweredKernel, launch: Launch, error: unknown, progress: Progress): Diagnostic {
  const { name, kernel } = entry;
  progress.defect({ kernel: name.full, error, files: filesOf(entry, launch) });
  const text = messageOf(error);
  const message = `Internal error of Selvage in ${name.full}: ${text}. Report it with the input that was saved.`;
  const { location } = kernel;
  return { severity: 'error', code: 'internal/defect', message, ...(location ? { location } : {}) };
}

function filesOf({ verification, kernel, name }: LoweredKernel, launch: Launch): Map<string, string> {
  const description = { kernel: kernel.symbol, name: name.full, launch };
  // Launch constraints contain numbers that JSON cannot represent.
  const plain = (_: string, value: unknown): unknown => {
    if (typeof value === 'bigint') return String(value);
    return value instanceof Map ? Object.fromEntries(value) : value;
  };
  return new Map([
    ['kernel.ptx', verification.source.ptx],
    ['request.json', JSON.stringify(description, plain, 2) + '\n'],
  ]);
}
