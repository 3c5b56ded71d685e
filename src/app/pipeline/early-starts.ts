/** Kernels that may run while the preceding kernel in the stream is still running. */
import { earlierEnded } from '../../check/stable-memory.ts';
import type { KernelReport } from '../../report-model/report.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { code as codeText, count, listed } from '../../messages/text/code-text.ts';
import type { CheckedKernel } from '../build/phase-data.ts';

/** Maximum number of kernels that the notice names. */
const maxNamed = 3;

/** One notice on all proofs that assume that the preceding kernel in the stream has finished, unless a finding is about that. */
export function earlyStarts(kernels: readonly CheckedKernel[]): Diagnostic[] {
  const names = kernels.flatMap(({ entry, report, early = [] }) =>
    early.length === 0 && restsOnEnd(report) ? [entry.name.qualified] : [],
  );
  if (names.length === 0) return [];
  const shown = names.slice(0, maxNamed).map(codeText);
  const more = names.length > maxNamed ? [`${names.length - maxNamed} more`] : [];
  const message = `${count(names.length, 'kernel', 'kernels')} may start early, by programmatic dependent launch, and ${names.length === 1 ? 'its proof takes' : 'their proofs take'} it that ${earlierEnded}: ${listed([...shown, ...more])}.`;
  return [{ severity: 'notice', code: 'launch/starts-early', message }];
}

function restsOnEnd({ launches }: KernelReport): boolean {
  return launches.some(({ race, divergence }) =>
    [race, divergence].some(
      ({ verdict, assumptions = [] }) => verdict === 'proved' && assumptions.some(({ text }) => text === earlierEnded),
    ),
  );
}
