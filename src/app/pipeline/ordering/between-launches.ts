/**
 * Operations of host programs that may overlap: launches that may start before the kernel before them has ended, and
 * operations that neither streams, events nor the host order.
 */
import { gridDependency, waitsFirst, type WaitOrder } from '../../../analysis/barriers/grid-dependency.ts';
import type { LaunchedCode, OperationAccess, earlyInstructions, unorderedBytes } from '../../../between/unordered-bytes.ts';
import type { SharedBytes } from '../../../between/overlap.ts';
import { termConstant } from '../../../assumptions/expression.ts';
import { type HostValue, memoriesIn, valueKey } from '../../../cuda/launches/value.ts';
import { hashText } from '../../../base/hash.ts';
import { grouped } from '../../../base/grouped.ts';
import { isKernelInHost } from '../../../cuda/names/kernel-name.ts';
import { canStartEarly } from '../../../device/architecture.ts';
import type { HostLaunch, HostOperation, OverlappingOperations } from '../../../host/operations/host-operation.ts';
import type { Instruction, InstructionId, Kernel } from '../../../ir/form/kernel.ts';
import { accessesOfEffect } from '../../../isa/model/effect.ts';
import {
  type OperationText,
  earlyAccessText,
  earlyAccessesText,
  alikeText,
  chainText,
  noWaitText,
  notComparedText,
  usedAgainText,
  unorderedText,
} from '../../../messages/ordering.ts';
import type { Code } from '../../../source/codes.ts';
import type { Diagnostic } from '../../../source/diagnostic.ts';
import { type Location, outsideToolkit } from '../../../source/location.ts';
import type { Severity } from '../../../source/severity.ts';
import { fingerprintOf } from '../../../verdict/fingerprint.ts';
import type { Checked, CheckedKernel, KernelUnit, LaunchedKernel } from '../../build/phase-data.ts';

/** Maximum number of pairs of operations of one unit that are run. */
const maxPairs = 64;

/** Adds findings about the order of launches. Programs without operations that may overlap pay nothing. */
export async function orderLaunches(checked: Checked, units: readonly KernelUnit[]): Promise<Checked> {
  const repeated = units.flatMap(({ unordered = [] }) => unordered.filter(isAgain).flatMap((pair) => usedAgain(checked.kernels, pair)));
  const again = [...new Map(repeated.map((one) => [`${one.code} ${placeKey(one)}`, diagnosticOf(one)])).values()];
  const left = units.map((unit) =>
    unit.unordered?.some(isAgain) ? { ...unit, unordered: unit.unordered.filter((pair) => !isAgain(pair)) } : unit,
  );
  const found = await betweenOperations(checked, left);
  return again.length === 0 ? found : { ...found, diagnostics: [...found.diagnostics, ...again] };
}

function isAgain({ kind }: OverlappingOperations): boolean {
  return kind === 'again';
}

/** Findings on operations that may overlap. */
async function betweenOperations(checked: Checked, units: readonly KernelUnit[]): Promise<Checked> {
  if (units.every(({ unordered = [] }) => unordered.length === 0)) return checked;
  const between = await import('../../../between/unordered-bytes.ts');
  const wanted = new Set(checked.kernels.map(({ entry }) => entry));
  const ordering = new Ordering(units, wanted, between);
  const compared = units.map((unit) => ({ unit, ...ordering.compared(unit) }));
  const found = compared.flatMap((one) => one.found);
  const distinct = new Map(found.toReversed().map((one) => [`${one.severity} ${one.fingerprint} ${placeKey(one)}`, one]));
  // A kernel of which one launch shows the overlap needs no warning for another one.
  const shown = new Set(found.filter(({ severity }) => severity === 'error').map(placeKey));
  const broken = new Set(found.filter((one) => one.severity === 'error' && !one.isOfChain).map(({ entry }) => entry));
  const left = [...distinct.values()]
    .toReversed()
    .filter((one) => (one.severity === 'error' ? !one.isOfChain || !broken.has(one.entry) : !shown.has(placeKey(one))));
  const reported = numbered(joined(left));
  const early = grouped(
    reported.filter(({ code }) => code === 'ordering/pdl-wait'),
    ({ entry }) => entry,
  );
  return {
    kernels: checked.kernels.map((one) => {
      const own = early.get(one.entry)?.map(({ fingerprint, severity }) => ({ fingerprint, severity }));
      return own ? { ...one, early: own } : one;
    }),
    diagnostics: [...checked.diagnostics, ...reported.map(diagnosticOf), ...compared.flatMap(({ unit, left }) => notCompared(unit, left))],
  };
}

/** A counter that has to be 0 when a kernel starts, and that an earlier launch of that kernel has changed. */
function usedAgain(kernels: readonly CheckedKernel[], { first, second, memories = [] }: OverlappingOperations): Found[] {
  const [before, given] = [first?.launch?.arguments ?? [], second.launch?.arguments ?? []];
  const isOf = ({ entry }: CheckedKernel): boolean =>
    entry.unit.path === second.unit && (entry.kernel.symbol === second.name || isKernelInHost(second.name, entry.kernel.symbol));
  const [kernel] = kernels.filter(isOf);
  const { race, launches = [] } = kernel?.report ?? {};
  // Another grid or other numbers may let a launch count that the other one does not reach.
  if (!isAlike(first!.launch!, second.launch!)) return [];
  const assumed = [race, ...launches.map((launch) => launch.race)].flatMap((result) => result?.assumptions ?? []);
  return [...new Set(assumed.flatMap(({ changes }) => changes ?? []))].flatMap((at) => {
    const [own, other] = [givenPlace(given[at]), givenPlace(before[at])];
    if (!kernel || !own || own.memory !== other?.memory || own.offset !== other.offset || !memories.includes(own.memory)) return [];
    const { entry } = kernel;
    const array = entry.parameters[at]?.name ?? 'the counter';
    const [place, earlier] = [locationOf(second), locationOf(first!)];
    const message = usedAgainText(entry.name.qualified, array, earlier, placeText(place) === placeText(earlier));
    return [finding('warning', 'ordering/counter', message, place, entry, [array])];
  });
}

/** Whether two launches have the same dimensions and numbers as arguments. */
function isAlike(one: HostLaunch, other: HostLaunch): boolean {
  const keyOf = ({ grid, block, arguments: given = [] }: HostLaunch): string =>
    [grid, block, ...given].map((value) => (value && value.kind !== 'pointer' ? valueKey(value) : '')).join('; ');
  return keyOf(one) === keyOf(other);
}

/** The memory that the program allocates, and the offset in it, that a launch is given; null if that is not known. */
function givenPlace(value: HostValue | undefined): { readonly memory: string; readonly offset: bigint } | null {
  if (value?.kind !== 'pointer' || value.offset === null || value.memory.isAllocation !== true) return null;
  const offset = termConstant(value.offset);
  return offset === undefined ? null : { memory: value.memory.id, offset };
}

function placeText({ file, line }: Location): string {
  return `${file}:${line}`;
}

/** A finding, and the kernel in which it is. */
interface Found extends Diagnostic {
  readonly fingerprint: string;
  readonly entry: LaunchedKernel;
  /** Whether it is only about kernels before and after it. */
  readonly isOfChain?: true;
}

/** The places of a pair in the program. */
function placesOf({ kind, first, second }: OverlappingOperations): string {
  return JSON.stringify([kind, first?.name, first?.location, second.name, second.location]);
}

/** Pairs in an order in which one pair of each two places precedes the others. */
function eachPlaceFirst(pairs: readonly OverlappingOperations[]): OverlappingOperations[] {
  const ranks = [...grouped(pairs, placesOf).values()].flatMap((alike) => alike.map((pair, rank) => ({ pair, rank })));
  return ranks.toSorted((a, b) => a.rank - b.rank).map(({ pair }) => pair);
}

/** A notice on pairs of a unit beyond the limit. */
function notCompared({ unit }: KernelUnit, left: number): Diagnostic[] {
  if (left === 0) return [];
  const message = notComparedText(unit.path, maxPairs, left);
  return [{ severity: 'notice', code: 'launch/not-compared', message, location: { file: unit.path, line: 1 } }];
}

function diagnosticOf({ entry, isOfChain, ...diagnostic }: Found): Diagnostic {
  void [entry, isOfChain];
  return diagnostic;
}

/** Findings without those of other instances of a template, and after other launches, at the same line of a kernel. */
function joined(findings: readonly Found[]): Found[] {
  const alike = grouped(findings, (one) => (one.code === 'ordering/pdl-wait' ? `${one.severity} ${placeKey(one)}` : one.fingerprint));
  return [...alike.values()].flatMap(([first, ...others]) => {
    const more = new Set(others.map(({ message }) => message)).size;
    if (first.code !== 'ordering/pdl-wait') return [first, ...others];
    return [more === 0 ? first : { ...first, message: `${first.message} ${alikeText(more)}` }];
  });
}

/** Findings with separate fingerprints: several of one kind, at different lines, are numbered. */
function numbered(findings: readonly Found[]): Found[] {
  const alike = grouped(findings, ({ fingerprint }) => fingerprint);
  return findings.map((one) => {
    const { fingerprint } = one;
    const at = alike
      .get(fingerprint)!
      .toSorted((a, b) => (a.location?.line ?? 0) - (b.location?.line ?? 0))
      .indexOf(one);
    return at === 0 ? one : { ...one, fingerprint: hashText(`${fingerprint} ${at}`) };
  });
}

function placeKey({ code, location }: Diagnostic): string {
  return `${code} ${location?.file}:${location?.line}`;
}

/** An operation that is a launch, and its kernel. */
interface Launched {
  readonly operation: HostOperation;
  readonly entry: LaunchedKernel;
}

/** Runs of kernels; the interpreter is loaded on demand. */
interface Runs {
  readonly unorderedBytes: typeof unorderedBytes;
  readonly earlyInstructions: typeof earlyInstructions;
}

class Ordering {
  readonly #entries = new Map<string, LaunchedKernel[]>();
  readonly #wanted: ReadonlySet<LaunchedKernel>;
  readonly #runs: Runs;

  constructor(units: readonly KernelUnit[], wanted: ReadonlySet<LaunchedKernel>, runs: Runs) {
    this.#wanted = wanted;
    this.#runs = runs;
    for (const entry of units.flatMap(({ kernels }) => kernels)) {
      const known = this.#entries.get(entry.kernel.symbol) ?? [];
      this.#entries.set(entry.kernel.symbol, [...known, entry]);
    }
  }

  /** The kernel of a launch: that of the unit, or of the one unit that defines it. */
  #launched({ arch, unit }: KernelUnit, operation: HostOperation | null): Launched | null {
    if (!operation?.launch) return null;
    const all = (this.#entries.get(operation.launch.kernel) ?? []).filter((entry) => entry.arch === arch);
    const own = all.find((entry) => entry.unit.path === operation.unit || entry.unit.path === unit.path);
    const entry = own ?? (all.length === 1 ? all[0] : this.#ofUnit(operation, arch));
    return entry ? { operation, entry } : null;
  }

  /** The kernel of a launch that only its unit can name. */
  #ofUnit({ unit, launch }: HostOperation, arch: string): LaunchedKernel | undefined {
    return [...this.#entries.values()]
      .flat()
      .find((entry) => entry.arch === arch && entry.unit.path === unit && isKernelInHost(launch!.kernel, entry.kernel.symbol));
  }

  /** Whether a pair has to be compared: kernels that may start early and access memory only after their wait order themselves. */
  #isOpen(unit: KernelUnit, { kind, second: { launch }, second, between = [] }: OverlappingOperations): boolean {
    if (!launch || (kind !== 'programmatic' && kind !== 'chain')) return true;
    const last = this.#launched(unit, second);
    if (!last || !canStartEarly(last.entry.arch)) return false;
    const waits = (one: Launched): boolean => buildsOf(one).every((build) => waitsFirst(gridDependency(build)));
    if (kind === 'programmatic') return !waits(last);
    const others = between.map((one) => this.#launched(unit, one));
    const mayEnd = (one: Launched): boolean => buildsOf(one).every((build) => !gridDependency(build).hasWait);
    return others.every((one) => one !== null && (mayEnd(one) || (!waits(last) && gridDependency(builtOf(one)).triggersFirst)));
  }

  /**
   * The findings about the pairs of a unit, and the number of pairs that are left. Of several pairs at the same places, as in iterations of
   * a loop, the first error suffices.
   */
  compared(unit: KernelUnit): { readonly found: readonly Found[]; readonly left: number } {
    const shown = new Set<string>();
    const found: Found[] = [];
    let [runs, left] = [0, 0];
    for (const pair of eachPlaceFirst((unit.unordered ?? []).filter((one) => this.#isOpen(unit, one)))) {
      const key = placesOf(pair);
      if (shown.has(key)) continue;
      if (++runs > maxPairs) left++;
      else {
        const own = this.#compared(unit, pair);
        if (own.some(({ severity }) => severity === 'error')) shown.add(key);
        found.push(...own);
      }
    }
    return { found, left };
  }

  #compared(unit: KernelUnit, pair: OverlappingOperations): Found[] {
    if (pair.kind === 'programmatic') return this.#programmatic(unit, pair);
    return pair.kind === 'chain' ? this.#chain(unit, pair) : this.#unordered(unit, pair);
  }

  /** A launch that may start before the launch before it has ended. */
  #programmatic(unit: KernelUnit, pair: OverlappingOperations): Found[] {
    const second = this.#launched(unit, pair.second);
    const first = this.#launched(unit, pair.first);
    if (!second || ![first, second].some((one) => one && this.#wanted.has(one.entry))) return [];
    const { kernel, produced } = second.entry;
    const written = first && this.#early({ ...pair, first: first.operation }, first, second, kernel);
    if (!first || !written) return this.#mayBeEarly(second);
    const hasMoved = produced !== undefined && beforeWait(produced).some((line) => !beforeWait(kernel).includes(line));
    const moved = hasMoved ? (this.#early({ ...pair, first: first.operation }, first, second, produced) ?? []) : [];
    const lines = new Map([...moved, ...written].map((one) => [placeKey(one), one]));
    return lines.size > 0 ? [...lines.values()] : noWait(second);
  }

  /**
   * A launch and one before the kernel before it: that kernel may end before the first one has, if it never waits, and may let the last
   * one start before it waits.
   */
  #chain(unit: KernelUnit, pair: OverlappingOperations): Found[] {
    const [first, second] = [this.#launched(unit, pair.first), this.#launched(unit, pair.second)];
    const between = (pair.between ?? []).map((one) => this.#launched(unit, one));
    const all = [first, second, ...between];
    if (!first || !second || !all.every((one) => one && canStartEarly(one.entry.arch))) return [];
    if (!all.some((one) => this.#wanted.has(one!.entry)) || !gridDependency(builtOf(first)).hasTrigger) return [];
    const missing = between.flatMap((one) => (one && !buildsOf(one).some((build) => gridDependency(build).hasWait) ? [one] : []));
    const whole = { ...pair, first: first.operation };
    if (missing.length === between.length) {
      const bytes = this.#runs.unorderedBytes(whole, [codeOf(first), codeOf(second)], false);
      const [overlap] = bytes?.overlaps ?? [];
      return overlap ? missing.flatMap((one) => noWaitFinding(one, { first, second, overlap })) : [];
    }
    if (!between.every((one) => one && gridDependency(builtOf(one)).triggersFirst)) return [];
    const early = this.#early(whole, first, second, second.entry.kernel) ?? [];
    return early.filter(({ severity }) => severity === 'error');
  }

  /** Accesses of a build before the wait to bytes that the first launch accesses; null if it is not known which are before. */
  #early(
    pair: OverlappingOperations & { readonly first: HostOperation },
    first: Launched,
    second: Launched,
    build: Kernel,
  ): Found[] | null {
    const bytes = this.#runs.unorderedBytes(pair, [codeOf(first), codeOf(second, build)], true);
    if (!bytes) return null;
    const shown = bytes.overlaps.map((overlap) => earlyFinding(build, overlap.second, overlap.first, first, second));
    const [possible] = bytes.possible;
    return shown.length > 0 || !possible ? shown : [earlyFinding(build, possible, null, first, second)];
  }

  /** Accesses that are before the wait on every path, or in each run, if the kernel before is not known: one finding for a kernel. */
  #mayBeEarly(second: Launched): Found[] {
    const { entry, operation } = second;
    const never = noWait(second);
    if (never.length > 0) return never;
    for (const kernel of [entry.kernel, entry.produced ?? entry.kernel]) {
      const run = this.#runs.earlyInstructions(operation, codeOf(second, kernel));
      const early = accessesOf(kernel, (order, { id }) => order === 'early' || run.has(id));
      const places = early.flatMap(({ location }) => outsideToolkit(location) ?? []);
      const [location, ...others] = [...new Map(places.map((place) => [textAt(place), place])).values()];
      const [access] = early;
      const [use] = access ? accessesOfEffect(access.operation.effect) : [];
      if (!use) continue;
      const facts = { kernel: entry.name.qualified, use: use.operation, array: null, launch: locationOf(operation), hasWait: true };
      const lines = others.flatMap(({ file, line }) => (file === location?.file ? [line] : []));
      const message = earlyAccessesText({ ...facts, isMoved: kernel !== entry.kernel }, lines);
      return [finding('warning', 'ordering/pdl-wait', message, location, entry, ['early', use.operation])];
    }
    return [];
  }

  /** Two operations of different streams, or of a stream and the host. */
  #unordered(unit: KernelUnit, pair: OverlappingOperations): Found[] {
    const { first, second } = pair;
    if (!first) return [];
    const launches = [this.#launched(unit, first), this.#launched(unit, second)] as const;
    const [ofLaunch] = launches.flatMap((one) => (one && this.#wanted.has(one.entry) ? [one.entry] : []));
    // Copies and accesses of the host are in the program of all kernels of the unit.
    const entry = ofLaunch ?? (first.launch || second.launch ? undefined : unit.kernels.find((one) => this.#wanted.has(one)));
    const bytes =
      entry && this.#runs.unorderedBytes({ ...pair, first }, [launches[0] && codeOf(launches[0]), launches[1] && codeOf(launches[1])]);
    const [overlap] = bytes?.overlaps ?? [];
    const shared = overlap?.memory ?? bytes?.possible[0]?.memory;
    if (!entry || shared === undefined) return [];
    const memory = memoryOf(shared, first, second);
    const names = [inWords(first, launches[0]), inWords(second, launches[1])] as const;
    const message = unorderedText(...names, memory, overlap !== undefined);
    const code: Code = pair.kind === 'host' ? 'ordering/host' : 'ordering/streams';
    const subject = [names[0].name, names[1].name, memory];
    return [finding(overlap ? 'error' : 'warning', code, message, locationOf(second), entry, subject)];
  }
}

function codeOf({ entry }: Launched, kernel = entry.kernel): LaunchedCode {
  return { kernel, parameters: entry.parameters, unit: entry.unit.path };
}

function locationOf({ location, unit }: HostOperation): Location {
  return location ? { file: location.file, line: location.line } : { file: unit, line: 1 };
}

function inWords(operation: HostOperation, launched: Launched | null): OperationText {
  const { kind, name, stream } = operation;
  return { kind, name: launched?.entry.name.qualified ?? name, location: locationOf(operation), stream };
}

function finding(
  severity: Severity,
  code: Code,
  message: string,
  location: Location | undefined,
  entry: LaunchedKernel,
  subject: readonly string[],
): Found {
  const fingerprint = fingerprintOf(entry.identity, [code, ...subject]);
  return { severity, code, message, ...(location && { location }), fingerprint, entry };
}

/** @param other the access of the first launch; null if it is open whether both access the same bytes */
function earlyFinding(kernel: Kernel, own: OperationAccess, other: OperationAccess | null, first: Launched, second: Launched): Found {
  const location = placeOf(kernel, own.instruction);
  const array = parameterOf(second, own.memory);
  const message = earlyAccessText(
    {
      kernel: second.entry.name.qualified,
      use: own.operation,
      array,
      launch: locationOf(second.operation),
      hasWait: gridDependency(kernel).hasWait,
      isMoved: kernel !== second.entry.kernel,
    },
    { kernel: first.entry.name.qualified, use: other?.operation ?? null, launch: locationOf(first.operation) },
  );
  const subject = [first.entry.name.qualified, array ?? '', own.operation];
  return finding(other ? 'error' : 'warning', 'ordering/pdl-wait', message, location, second.entry, subject);
}

/** A kernel without a wait that ends before a kernel before it, which a kernel after it relies on. */
function noWaitFinding(
  { entry, operation }: Launched,
  {
    first,
    second,
    overlap,
  }: { readonly first: Launched; readonly second: Launched; readonly overlap: SharedBytes<OperationAccess, OperationAccess> },
): Found[] {
  const [before, after] = [first, second].map((one, at) => ({
    kernel: one.entry.name.qualified,
    launch: locationOf(one.operation),
    use: [overlap.first, overlap.second][at]!.operation,
    array: parameterOf(one, overlap.memory),
  }));
  const message = chainText(entry.name.qualified, locationOf(operation), before!, after!);
  return [{ ...finding('error', 'ordering/pdl-wait', message, entry.kernel.location, entry, ['no wait']), isOfChain: true }];
}

function buildsOf({ entry: { kernel, produced } }: Launched): Kernel[] {
  return [kernel, ...(produced && produced !== kernel ? [produced] : [])];
}

/** The build that is executed. */
function builtOf({ entry: { kernel, produced } }: Launched): Kernel {
  return produced ?? kernel;
}

function noWait({ entry, operation }: Launched): Found[] {
  const { hasWait, accesses } = gridDependency(entry.kernel);
  // A kernel without code for the architecture prints and traps.
  const isEmpty = [...accesses.keys()].every(({ operation }) => accessesOfEffect(operation.effect).length === 0);
  if (hasWait || isEmpty) return [];
  const message = noWaitText(entry.name.qualified, locationOf(operation));
  return [finding('warning', 'ordering/pdl-wait', message, entry.kernel.location, entry, ['no wait'])];
}

function accessesOf(kernel: Kernel, isWanted: (order: WaitOrder, instruction: Instruction) => boolean): Instruction[] {
  return [...gridDependency(kernel).accesses].flatMap(([instruction, order]) => (isWanted(order, instruction) ? [instruction] : []));
}

/** Lines with an access that some path makes before the wait. */
function beforeWait(kernel: Kernel): string[] {
  return accessesOf(kernel, (order) => order !== 'after').map(({ location }) => textAt(outsideToolkit(location)));
}

function textAt(location: Location | undefined): string {
  return location ? `${location.file}:${location.line}` : '';
}

function placeOf({ blocks }: Kernel, id: InstructionId | undefined): Location | undefined {
  const instruction = blocks.flatMap(({ instructions }) => instructions).find((one) => one.id === id);
  return outsideToolkit(instruction?.location) ?? instruction?.location;
}

/** The parameter of a launch that points into a memory, or the name of the memory in the host program. */
function parameterOf({ entry, operation }: Launched, memory: string): string | null {
  const at = (operation.launch?.arguments ?? []).findIndex((value) => memoriesIn(value).some(({ id }) => id === memory));
  return entry.parameters[at]?.name || null;
}

/** The name of a memory in the host program. */
function memoryOf(id: string, ...operations: readonly HostOperation[]): string {
  const all = operations.flatMap(({ launch, touches }) => [
    ...touches.map(({ memory }) => memory),
    ...(launch?.arguments ?? []).flatMap(memoriesIn),
  ]);
  return all.find((memory) => memory.id === id)?.label ?? 'memory';
}
