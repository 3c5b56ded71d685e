import { isCostCode } from '../../report-model/regression.ts';
import { codes } from '../../source/codes.ts';
import { pathPattern } from '../../base/path-pattern.ts';
import type { Configuration } from '../../settings/configuration.ts';
import type { Options } from '../../settings/options.ts';
import type { KernelUnit } from '../build/phase-data.ts';
import type { SourceFacts } from '../project/source-facts.ts';
import type { Suppression } from './suppressions.ts';

/** The suppressions of the configuration and of the sources that contain code of the analysed kernels. */
export function statedSuppressions(configuration: Configuration, facts: SourceFacts, units: readonly KernelUnit[]): Suppression[] {
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
  for (const { code, reason, path, until, isShared, location } of configuration.suppressions) {
    const scope = { kind: 'path', pattern: path } as const;
    suppressions.push({ code, reason, location, scope, ...(until !== undefined && { until }), ...(isShared && { isShared }) });
  }
  return suppressions;
}

/** Returns a test whether a suppression without effect is stale: its whole scope was analysed. */
export function staleTest(options: Options, units: readonly KernelUnit[]): (suppression: Suppression) => boolean {
  const whole = options.kernel === undefined && (['race', 'divergence'] as const).every((check) => options.checks.includes(check));
  const everything = whole && units.every(({ unit: { throughHeaders } }) => !throughHeaders);
  const files = units.flatMap((unit) => [unit.unit.path, ...unit.files]);
  return ({ code, scope, isShared }: Suppression): boolean => {
    if (isShared) return false;
    // Regressions require a base, and limits require more than the selected kernels.
    if (isCostCode(code) || code === 'idempotency/class-changed') return false;
    if (!everything || units.some(({ compiled }) => !compiled)) return false;
    if (scope.kind === 'lines' || scope.pattern === undefined) return true;
    const pattern = pathPattern(scope.pattern);
    return files.some((file) => pattern.test(file));
  };
}
