/** What the assembler made of a kernel, and whether that keeps the order of the PTX. */
import type { CodeLine, CodeReport } from '../../../document/cost-report.ts';
import type { LineRounds } from '../../../cost/line-rounds.ts';
import type { Kernel } from '../../../ir/form/kernel.ts';
import { lineKey } from '../../../sass/line-changes.ts';
import { readCubin } from '../../../sass/cubin/cubin.ts';
import { instructionText } from '../../../sass/listing.ts';
import { type MergedAccesses, mergedAccesses } from '../../../sass/merged-accesses.ts';
import { type CodeProfile, type LineProfile, profileOf } from '../../../sass/profile.ts';
import { type Translation, type TranslationFault, validateTranslation } from '../../../sass/translation/translation.ts';
import type { Diagnostic } from '../../../source/diagnostic.ts';
import { type Location, outsideToolkit } from '../../../source/location.ts';
import type { KernelResources } from '../../../toolchain/ptxas-report.ts';
import type { LaunchedKernel } from '../../build/kernel.ts';

/** So many lines of a kernel are told. */
const mostLines = 12;
/** So many instructions of a line are listed. */
const mostListed = 8;
/** So many faults of a kernel are told: one barrier that is lost parts many accesses. */
const mostFaults = 4;

/** The code of a kernel, as it is reported and as it is compared. */
export interface CodeOfKernel {
  readonly code?: CodeReport;
  /** With places as reports name them. */
  readonly profile?: CodeProfile;
  /** Accesses of the kernel's PTX that were merged. */
  readonly merged?: MergedAccesses;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the code of a kernel.
 * @param cubin of the unit's production build
 * @returns the report, and what is wrong with the code
 */
export function codeOf(entry: LaunchedKernel, bytes: Uint8Array, resources: KernelResources | undefined): CodeOfKernel {
  const kernel = entry.unit.kind === 'ptx' ? entry.kernel : entry.produced;
  if (!kernel) return { diagnostics: [] };
  const cubin = readCubin(bytes);
  if ('problem' in cubin) return { diagnostics: [] };
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
    diagnostics: translation.checked
      ? translation.faults.slice(0, mostFaults).map((fault) => faultMessage(entry, kernel, fault))
      : [],
  };
}

/** How often a warp goes round at lines, as the bounds of what runs have it. */
export type KernelRounds = readonly (LineRounds & { readonly location: Location })[];

/** The code of a kernel with the rounds of the loops that its lines are in. */
export function withRounds(made: CodeOfKernel, rounds: KernelRounds): CodeOfKernel {
  const byLine = new Map(rounds.map(({ location, inner, all }) => [lineKey(location), { inner, all }]));
  const withOwn = <T extends CodeLine | LineProfile>(line: T, isLooping: boolean): T => {
    const own = line.location && isLooping ? byLine.get(lineKey(line.location)) : undefined;
    return own ? { ...line, rounds: own } : line;
  };
  const looping = new Set(
    made.profile?.lines.filter(({ depth }) => depth > 0).map(({ location }) => lineKey(location)),
  );
  return {
    ...made,
    ...(made.profile && {
      profile: { ...made.profile, lines: made.profile.lines.map((line) => withOwn(line, line.depth > 0)) },
    }),
    ...(made.code && {
      code: { ...made.code, lines: made.code.lines.map((line) => withOwn(line, looping.has(lineKey(line.location)))) },
    }),
  };
}

/** The code of a kernel as it is reported. */
export function codeReportOf(
  profile: CodeProfile,
  translation: Translation,
  merged: MergedAccesses = new Map(),
): CodeReport {
  const { live, version } = profile;
  const wide = [...merged.values()].filter((bytes) => bytes > 0).length;
  const lines = profile.lines
    .flatMap((line): CodeLine[] => (line.location ? [lineReport(line, line.location, version)] : []))
    .sort((a, b) => b.instructions - a.instructions)
    .slice(0, mostLines);
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
  const listing = code.slice(0, mostListed).map((one) => instructionText(one, version));
  return { location, instructions, listing, work: Object.fromEntries([...work].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Tables of lines have paths as the compiler wrote them; those of the same module's PTX are named as reports name them. */
function placesOf({ production, verification }: LaunchedKernel): (location: Location) => Location {
  const { module } = production ?? verification;
  const known = new Map<string, string>();
  return ({ file, line }) => {
    const named =
      known.get(file) ?? [...module.files.values()].find((one) => file === one || file.endsWith(`/${one}`)) ?? file;
    known.set(file, named);
    return { file: named, line };
  };
}

/** Where the names of what is missing say too little. */
const namesOfLost: Readonly<Record<string, string>> = {
  copy: 'asynchronous copy',
  group: 'end of a group of asynchronous copies',
  wait: 'wait for asynchronous copies',
};

function faultMessage({ name, unit, arch }: LaunchedKernel, kernel: Kernel, fault: TranslationFault): Diagnostic {
  const locationOf = (ptxLine: number): Location | undefined => {
    for (const { instructions } of kernel.blocks) {
      const found = instructions.find((one) => one.ptxLine === ptxLine);
      if (found) return outsideToolkit(found.location);
    }
    return undefined;
  };
  const at = (ptxLine: number): string => {
    const place = locationOf(ptxLine);
    return place ? `line ${place.line}` : `line ${ptxLine} of its PTX`;
  };
  if (fault.kind === 'missing') {
    const location = locationOf(fault.ptxLine) ?? kernel.location;
    const what = namesOfLost[fault.what] ?? fault.what;
    const message = `The ${what} at ${at(fault.ptxLine)} is missing in the code that ptxas makes of ${name.qualified} (${unit.path}) for ${arch}.`;
    return { severity: 'error', code: 'assembly/missing', message, ...(location && { location }) };
  }
  if (fault.kind === 'unstored') {
    const location = locationOf(fault.ptxLine) ?? kernel.location;
    const message = `The code that ptxas makes of ${name.qualified} (${unit.path}) for ${arch} loads a spilled register at ${at(fault.ptxLine)}, and the store of it is missing.`;
    return { severity: 'error', code: 'assembly/missing', message, ...(location && { location }) };
  }
  if (fault.kind === 'skipped') {
    const location = locationOf(fault.ptxLine) ?? kernel.location;
    const message = `Some path through the code that ptxas makes of ${name.qualified} (${unit.path}) for ${arch} leaves out the store or the atomic at ${at(fault.ptxLine)}; no path of its PTX does.`;
    return { severity: 'error', code: 'assembly/missing', message, ...(location && { location }) };
  }
  if (fault.kind === 'unused') {
    const location = locationOf(fault.ptxLine) ?? kernel.location;
    const message = `The code that ptxas makes of ${name.qualified} (${unit.path}) for ${arch} computes a value at ${at(fault.ptxLine)} that no instruction uses. The instruction of the PTX that uses it is missing.`;
    return { severity: 'error', code: 'assembly/missing', message, ...(location && { location }) };
  }
  if (fault.kind === 'stray') {
    const location = locationOf(fault.ptxLine) ?? kernel.location;
    const [is, wanted] = fault.what === 'access' ? ['an access of memory', 'a barrier'] : ['a barrier', 'an access of memory']; // prettier-ignore
    const message = `In the code that ptxas makes of ${name.qualified} (${unit.path}) for ${arch} ${is} stands at ${at(fault.ptxLine)}, where its PTX has ${wanted}.`;
    return { severity: 'error', code: 'assembly/order', message, ...(location && { location }) };
  }
  if (fault.kind === 'foreign') {
    const location = locationOf(fault.ptxLine) ?? kernel.location;
    const message = `In the code that ptxas makes of ${name.qualified} (${unit.path}) for ${arch} the access at ${at(fault.ptxLine)} has ${fault.what === 'address' ? 'an address' : 'data'} of which its PTX uses nothing: another access stands in its place.`;
    return { severity: 'error', code: 'assembly/order', message, ...(location && { location }) };
  }
  const location = locationOf(fault.later) ?? kernel.location;
  if (fault.kind === 'reversed') {
    const message = `In the code that ptxas makes of ${name.qualified} (${unit.path}) for ${arch} the access at ${at(fault.later)} may come before the one at ${at(fault.earlier)}; its PTX has a ${fault.what} between them.`;
    return { severity: 'error', code: 'assembly/order', message, ...(location && { location }) };
  }
  const message = `In the code that ptxas makes of ${name.qualified} (${unit.path}) for ${arch} no ${fault.what === 'wait' ? namesOfLost.wait : fault.what} is between the access at ${at(fault.earlier)} and the one at ${at(fault.later)}; its PTX has one.`;
  return { severity: 'error', code: 'assembly/order', message, ...(location && { location }) };
}
