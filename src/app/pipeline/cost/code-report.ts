/** Machine code of a kernel, and whether it preserves the order of the PTX. */
import type { Expression } from '../../../cost/expressions/expression.ts';
import type { AmountReport, CodeLine, CodeReport } from '../../../report-model/cost-report.ts';
import type { LineIterations } from '../../../cost/line-iterations.ts';
import { lineKey } from '../../../sass/line-changes.ts';
import { type Cubin, readCubin } from '../../../sass/cubin/cubin.ts';
import { executedSteps, type ExecutedSteps } from '../../../sass/executed-steps.ts';
import { instructionText } from '../../../sass/listing.ts';
import { type MergedAccesses, mergedAccesses } from '../../../sass/merged-accesses.ts';
import { type Repetition, type CodeProfile, type LineProfile, profileOf } from '../../../sass/profile.ts';
import { type Translation, validateTranslation } from '../../../sass/translation/translation.ts';
import type { Diagnostic } from '../../../source/diagnostic.ts';
import type { Location } from '../../../source/location.ts';
import type { KernelResources } from '../../../toolchain/ptxas-report.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';
import { translationFinding } from './translation-finding.ts';

/** Maximum number of reported lines of a kernel. */
const maxLines = 12;
/** Maximum number of listed instructions of a line. */
const maxListed = 8;
/** Maximum number of reported translation errors of a kernel: one lost barrier affects many accesses. */
const maxFaults = 4;

/** SASS of a kernel, for the report and for comparisons. */
export interface CodeOfKernel {
  readonly code?: CodeReport;
  /** Profile of the SASS, with locations as reports name them. */
  readonly profile?: CodeProfile;
  /** Accesses of the PTX that ptxas merged into one. */
  readonly merged?: MergedAccesses;
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Instructions that a warp executes, computed from the number of visits of each PTX line. Locations are named as in
   * the profile.
   */
  readonly executed?: (visits: ReadonlyMap<number, Expression>) => ExecutedSteps | null;
}

/** Cache of parsed cubins by their bytes, which are never modified: all kernels of a unit share one cubin. */
const cubins = new WeakMap<Uint8Array, Cubin>();

/**
 * Reads the SASS of a kernel.
 * @param cubin of the unit's production build
 * @returns the report, and the translation errors
 */
export function codeOf(entry: LaunchedKernel, bytes: Uint8Array, resources: KernelResources | undefined): CodeOfKernel {
  const kernel = entry.unit.kind === 'ptx' ? entry.kernel : entry.produced;
  if (!kernel) return { diagnostics: [] };
  const cubin = cubins.get(bytes) ?? readCubin(bytes);
  if ('problem' in cubin) return { diagnostics: [] };
  cubins.set(bytes, cubin);
  const read = profileOf(cubin, kernel.symbol);
  if (!read) return { diagnostics: [] };
  const translation = validateTranslation(kernel, cubin);
  const merged = mergedAccesses(kernel, cubin);
  const located = placesOf(entry);
  const profile: CodeProfile = {
    ...read,
    ...(resources && { spillBytes: resources.spillStoreBytes + resources.spillLoadBytes }),
    lines: read.lines.map((line) => ({ ...line, location: line.location && located(line.location) })),
    ...(read.live?.location && { live: { ...read.live, location: located(read.live.location) } }),
  };
  return {
    code: codeReportOf(profile, translation, merged),
    profile,
    merged,
    executed: (visits) => executedSteps(kernel, cubin, visits, located),
    diagnostics: translation.checked
      ? translation.faults
          .map((fault) => translationFinding({ kernel: entry.name.qualified, file: entry.unit.path, arch: entry.arch }, kernel, fault))
          .sort((a, b) => Number(a.severity === 'notice') - Number(b.severity === 'notice'))
          .slice(0, maxFaults)
      : [],
  };
}

/** How often a warp executes the code of a kernel, according to the bounds of the production build. */
export interface RepeatedCode {
  readonly rounds: readonly (LineIterations & { readonly location: Location })[];
  /** Visits of PTX lines in loops. */
  readonly visits: ReadonlyMap<number, Expression>;
  readonly amountOf: (bound: Expression) => Repetition;
}

/** SASS of a kernel, with the trip counts of the loops around its lines and the number of instructions of a warp. */
export function withRounds(made: CodeOfKernel, { rounds, visits, amountOf }: RepeatedCode): CodeOfKernel {
  const byLine = new Map(rounds.map(({ location, inner, all }) => [lineKey(location), { inner: amountOf(inner), all: amountOf(all) }]));
  const reported = ({ bound, value }: Repetition): AmountReport => ({ bound, value });
  const looping = new Set(made.profile?.lines.filter(({ depth }) => depth > 0).map(({ location }) => lineKey(location)));
  const executed = made.executed?.(visits);
  const stepsOf = (steps: Expression | null | undefined): { readonly steps?: AmountReport } =>
    steps ? { steps: reported(amountOf(steps)) } : {};
  return {
    ...made,
    ...(made.profile && {
      profile: {
        ...made.profile,
        lines: made.profile.lines.map((line) => {
          const own = line.location && line.depth > 0 ? byLine.get(lineKey(line.location)) : undefined;
          return own ? { ...line, rounds: own } : line;
        }),
      },
    }),
    ...(made.code && {
      code: {
        ...made.code,
        ...stepsOf(executed?.whole),
        lines: made.code.lines.map((line) => {
          const key = lineKey(line.location);
          const own = looping.has(key) ? byLine.get(key) : undefined;
          return {
            ...line,
            ...(own && { roundBounds: { inner: reported(own.inner), all: reported(own.all) } }),
            ...(own && isNumber(own.inner) && isNumber(own.all) && { rounds: { inner: own.inner.value!, all: own.all.value! } }),
            ...stepsOf(executed?.byLine.get(key)),
          };
        }),
      },
    }),
  };
}

/** Whether a trip count is a number, without parameters. */
function isNumber({ bound, value }: Repetition): boolean {
  return bound === String(value);
}

/** Report of the SASS of a kernel. */
export function codeReportOf(profile: CodeProfile, translation: Translation, merged: MergedAccesses = new Map()): CodeReport {
  const { live, version } = profile;
  const wide = [...merged.values()].filter((bytes) => bytes > 0).length;
  const lines = profile.lines
    .flatMap((line): CodeLine[] => (line.location ? [lineReport(line, line.location, version)] : []))
    .sort((a, b) => b.instructions - a.instructions)
    .slice(0, maxLines);
  return {
    instructions: profile.instructions,
    unknown: profile.work.get('other') ?? 0,
    ...(live && { live: { registers: live.registers, ...(live.location && { location: live.location }) } }),
    ...(wide > 0 && { merged: { accesses: merged.size, into: wide } }),
    translation: translation.checked ? { checked: true } : { checked: false, reason: translation.reason },
    lines,
  };
}

function lineReport({ instructions, work, code }: LineProfile, location: Location, version: number): CodeLine {
  const listing = code.slice(0, maxListed).map((one) => instructionText(one, version));
  return { location, instructions, listing, work: Object.fromEntries([...work].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Names locations as reports do: a path in a line table is replaced by the path in the PTX with which it ends. */
function placesOf({ production, verification }: LaunchedKernel): (location: Location) => Location {
  const { module } = production ?? verification;
  const known = new Map<string, string>();
  return ({ file, line }) => {
    const named = known.get(file) ?? [...module.files.values()].find((one) => file === one || file.endsWith(`/${one}`)) ?? file;
    known.set(file, named);
    return { file: named, line };
  };
}
