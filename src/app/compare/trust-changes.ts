import { withoutTemplateArguments } from '../../cuda/names/demangle.ts';
import type { FileDiff } from '../../source/diff.ts';
import type { Location } from '../../source/location.ts';
import { commentsOf, type LaunchedKernel } from '../build/phase-data.ts';
import { baselineName, type BaselineEntry } from '../../settings/baseline-file.ts';
import type { Configuration, KernelConfiguration } from '../../settings/configuration.ts';
import { matchKernel } from '../../cuda/names/kernel-pattern.ts';
import type { Prepared } from '../pipeline/prepare.ts';
import { statedSuppressions } from '../pipeline/stated-suppressions.ts';
import type { Suppression } from '../pipeline/suppressions.ts';

/** An addition of a change that can hide a finding, so that a reviewer has to approve it. */
export interface TrustChange {
  readonly kind: 'assumption' | 'suppression' | 'flag' | 'setting';
  readonly text: string;
  readonly location?: Location;
}

interface TrustRequest {
  readonly base: TrustSide;
  readonly head: TrustSide;
  readonly matched: ReadonlyMap<LaunchedKernel, LaunchedKernel | undefined>;
  readonly diff: readonly FileDiff[];
}

/** One side of a change, as it is built and configured. */
interface TrustSide extends Prepared {
  readonly configuration: Configuration;
  readonly baseline: readonly BaselineEntry[];
}

/** The assumptions, launches stated by hand, suppressions, flags and lowered severities that a change adds. */
export function trustChanges(request: TrustRequest): TrustChange[] {
  const { base, head, matched, diff } = request;
  const changes: TrustChange[] = [];
  const earlier = base.units.flatMap(({ kernels }) => kernels);
  for (const [after, before] of matched) {
    // A kernel whose parameters changed is another one, but earlier statements about it are not new.
    const same = earlier.find((kernel) => kernel.unit.path === after.unit.path && plainName(kernel) === plainName(after));
    changes.push(
      ...statements(after, before ?? same, {
        before: configuredFor(base.configuration, after),
        after: configuredFor(head.configuration, after),
      }),
    );
  }

  const known = new Set(statedSuppressions(base.configuration, base.sources, base.units).map(suppressionKey));
  for (const suppression of statedSuppressions(head.configuration, head.sources, head.units)) {
    if (known.has(suppressionKey(suppression))) continue;
    const { code, reason, location } = suppression;
    changes.push({ kind: 'suppression', text: `${code}: ${reason}`, location });
  }
  const listed = new Set(base.baseline.map(({ fingerprint }) => fingerprint));
  const more = head.baseline.filter(({ fingerprint }) => !listed.has(fingerprint));
  if (more.length > 0)
    changes.push({ kind: 'suppression', text: `${more.length} more in the baseline`, location: { file: baselineName, line: 1 } });
  changes.push(...assumedInCode(diff));
  const flags = new Set(base.configuration.nvcc.args);
  for (const flag of head.configuration.nvcc.args) {
    if (!flags.has(flag)) changes.push({ kind: 'flag', text: flag });
  }
  const settings = settingsOf(base);
  for (const [name, value] of settingsOf(head)) {
    const earlier = settings.get(name);
    if (earlier !== value) changes.push({ kind: 'setting', text: `${name}: ${earlier} is now ${value}` });
  }
  return [...new Map(changes.map((change) => [JSON.stringify(change), change])).values()];
}

/** Statements of comments and configuration about a kernel that are new. */
function statements(
  after: LaunchedKernel,
  before: LaunchedKernel | undefined,
  entries: Readonly<Record<'before' | 'after', readonly KernelConfiguration[]>>,
): TrustChange[] {
  const comments = new Set(before && commentsOf(before));
  const place = after.launchFacts.annotation?.location;
  const changes = commentsOf(after)
    .filter((text) => !comments.has(text))
    .map((text): TrustChange => ({ kind: 'assumption', text: `${plainName(after)}: ${text}`, ...at(place) }));
  // For a new kernel, statements of the configuration about all kernels of its name are not new.
  const stated = [...(before?.assumptions ?? []), ...entries.before.flatMap(({ assumptions }) => assumptions)];
  const texts = new Set(stated.map(({ text }) => text));
  for (const { text, location } of after.assumptions) {
    // Assumptions of the command line have no location. Assumptions in comments are reported above.
    if (!location || texts.has(text) || location.file === place?.file) continue;
    changes.push({ kind: 'assumption', text: `${plainName(after)}: ${text}`, location });
  }
  const isStatedBefore = before === undefined && launchOf(entries.before) === launchOf(entries.after);
  const configured = (kernel: LaunchedKernel | undefined): string[] =>
    (kernel?.launches ?? [])
      .filter(({ source }) => source === 'config')
      .map(({ block, grid }) => `block ${block?.join(', ') ?? 'any'}, grid ${grid?.join(', ') ?? 'any'}`);
  const earlier = new Set(configured(before));
  for (const launch of configured(after)) {
    if (!earlier.has(launch) && !isStatedBefore) changes.push({ kind: 'assumption', text: `${plainName(after)}: launched with ${launch}` });
  }
  return changes;
}

/** Entries of a configuration for a kernel. */
function configuredFor(configuration: Configuration, { name }: LaunchedKernel): KernelConfiguration[] {
  return configuration.kernels.filter(({ match }) => matchKernel(match, name.qualified, name.symbol));
}

/** Combined launch of several entries of a configuration: for each dimension, the last entry takes precedence. */
function launchOf(entries: readonly KernelConfiguration[]): string {
  const last = (key: 'block' | 'grid') => entries.findLast((one) => one[key] !== undefined)?.[key];
  return JSON.stringify([last('block'), last('grid')]);
}

/** Without template arguments: statements about a template are reported once. */
function plainName({ name }: LaunchedKernel): string {
  return withoutTemplateArguments(name.qualified);
}

function suppressionKey({ code, reason, scope }: Suppression): string {
  return JSON.stringify([code, reason, scope.kind === 'lines' ? scope.file : scope.pattern]);
}

/** `SELVAGE_ASSUME` in added lines. */
function assumedInCode(diff: readonly FileDiff[]): TrustChange[] {
  return diff.flatMap(({ path, hunks }) =>
    (hunks ?? []).flatMap(({ newStart, lines }) => {
      const found: TrustChange[] = [];
      let line = newStart;
      for (const text of lines) {
        if (text.startsWith('+') && /\bSELVAGE_ASSUME\s*\(/.test(text) && !path.endsWith('selvage.h')) {
          found.push({ kind: 'assumption', text: text.slice(1).trim(), location: { file: path, line } });
        }
        if (!text.startsWith('-') && !text.startsWith('\\')) line += 1;
      }
      return found;
    }),
  );
}

function settingsOf({ configuration: { checks, paths } }: TrustSide): Map<string, string> {
  const { race, divergence, memory } = checks;
  return new Map([
    ['checks.race.severity', race.severity],
    ['checks.race.same-value-writes', race.sameValueWrites],
    ['checks.race.volatile', race.volatile],
    ['checks.race.undecided', race.undecided],
    ['checks.race.warp-lockstep', String(race.warpLockstep)],
    ['checks.divergence.severity', divergence.severity],
    ['checks.divergence.early-exit', divergence.earlyExit],
    ['checks.memory.overflow', memory.overflow],
    ['checks.memory.alignment', memory.alignment],
    ['paths.include', paths.include.join(' ') || 'everything'],
    ['paths.exclude', paths.exclude.join(' ') || 'nothing'],
  ]);
}

function at(location: Location | undefined): { readonly location?: Location } {
  return location ? { location } : {};
}
