/** A limit that is exceeded or not comparable, or a launch that fails, in the form of reports. */
import type { Regression } from '../../../report-model/regression.ts';
import { fingerprintOf } from '../../../verdict/fingerprint.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';

/**
 * Completes a violation.
 * @param detail distinguishes it from others of the same code and metric
 */
export function violationOf(
  entry: LaunchedKernel,
  found: Omit<Regression, 'kernel' | 'fingerprint' | 'base'>,
  detail = found.limit ?? '',
): Regression {
  const kernel = entry.name.full;
  const fingerprint = fingerprintOf(entry.identity, [found.code, found.metric, detail]);
  return { kernel, fingerprint, base: null, ...found };
}
