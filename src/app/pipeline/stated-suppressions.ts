import { codes } from '../../source/codes.ts';
import type { PreparedUnit } from '../build/prepare.ts';
import type { AnalysisRequest } from '../project/request.ts';
import type { SourceFacts } from '../project/source-facts.ts';
import type { Suppression } from './suppressions.ts';

/** The suppressions of the configuration and of the sources that the analysed kernels have code in. */
export function statedSuppressions(
  request: AnalysisRequest,
  facts: SourceFacts,
  units: readonly PreparedUnit[],
): Suppression[] {
  const files = new Set<string>();
  for (const { unit, files: own } of units) {
    if (unit.kind === 'cuda') for (const file of [unit.path, ...own]) files.add(file);
  }
  const suppressions: Suppression[] = [];
  for (const file of [...files].sort()) {
    for (const { code, reason, line, column, firstLine, lastLine } of facts.source(file)?.suppressions ?? []) {
      if (reason === '' || !Object.hasOwn(codes, code)) continue;
      const location = { file, line, column };
      suppressions.push({ code, reason, location, scope: { kind: 'lines', file, firstLine, lastLine } });
    }
  }
  for (const { code, reason, path, until, location } of request.configuration?.suppressions ?? []) {
    const scope = { kind: 'path', pattern: path } as const;
    suppressions.push({ code, reason, location, scope, ...(until === undefined ? {} : { until }) });
  }
  return suppressions;
}
