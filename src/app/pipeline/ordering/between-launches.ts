/**
 * Operations of host programs that may overlap: launches that may start before the kernel before them has ended, and
 * operations that neither streams, events nor the host order.
 */
import { gridDependency, waitsFirst, type WaitOrder } from '../../../analysis/barriers/grid-dependency.ts';
import type { LaunchedCode, OperationAccess, unorderedBytes } from '../../../between/unordered-bytes.ts';
import type { SharedBytes } from '../../../between/overlap.ts';
import type { HostMemory, HostValue } from '../../../cuda/launches/value.ts';
import { canStartEarly } from '../../../device/architecture.ts';
import type { HostOperation, OverlappingOperations } from '../../../host/operations/host-operation.ts';
import type { Instruction, InstructionId, Kernel } from '../../../ir/form/kernel.ts';
import { accessesOfEffect } from '../../../isa/model/effect.ts';
import { type OperationText, earlyAccessText, earlyAccessesText, noWaitText, unorderedText } from '../../../messages/ordering.ts';
import type { Code } from '../../../source/codes.ts';
import type { Diagnostic } from '../../../source/diagnostic.ts';
import { type Location, outsideToolkit } from '../../../source/location.ts';
import type { Severity } from '../../../source/severity.ts';
import { fingerprintOf } from '../../../verdict/fingerprint.ts';
import type { Checked, KernelUnit, LaunchedKernel } from '../../build/phase-data.ts';

/** Maximum number of pairs of operations of one unit that are run. */
const maxPairs = 48;

/** Adds findings about the order of launches. Programs without operations that may overlap pay nothing. */
export async function orderLaunches(checked: Checked, units: readonly KernelUnit[]): Promise<Checked> {
  const pairs = units.flatMap((unit) => (unit.unordered ?? []).slice(0, maxPairs).map((pair) => ({ unit, pair })));
  if (pairs.length === 0) return checked;
  const between = await import('../../../between/unordered-bytes.ts');
  const wanted = new Set(checked.kernels.map(({ entry }) => entry));
  const ordering = new Ordering(units, wanted, between.unorderedBytes);
  const found = pairs.flatMap(({ unit, pair }) =>
    pair.kind === 'programmatic' ? ordering.programmatic(unit, pair) : ordering.unordered(unit, pair),
  );
  const distinct = new Map(found.toReversed().map((one) => [one.fingerprint, one]));
  // A kernel of which one launch shows the overlap needs no warning for another one.
  const shown = new Set(found.filter(({ severity }) => severity === 'error').map(placeKey));
  const left = [...distinct.values()].toReversed().filter((one) => one.severity === 'error' || !shown.has(placeKey(one)));
  return { kernels: checked.kernels, diagnostics: [...checked.diagnostics, ...left] };
}

function placeKey({ code, location }: Diagnostic): string {
  return `${code} ${location?.file}:${location?.line}`;
}

/** An operation that is a launch, and its kernel. */
interface Launched {
  readonly operation: HostOperation;
  readonly entry: LaunchedKernel;
}

class Ordering {
  readonly #entries = new Map<string, LaunchedKernel[]>();
  readonly #wanted: ReadonlySet<LaunchedKernel>;
  readonly #bytes: typeof unorderedBytes;

  constructor(units: readonly KernelUnit[], wanted: ReadonlySet<LaunchedKernel>, bytes: typeof unorderedBytes) {
    this.#wanted = wanted;
    this.#bytes = bytes;
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
    const entry = own ?? (all.length === 1 ? all[0] : undefined);
    return entry ? { operation, entry } : null;
  }

  /** A launch that may start before the launch before it has ended. */
  programmatic(unit: KernelUnit, pair: OverlappingOperations): Diagnostic[] {
    const second = this.#launched(unit, pair.second);
    const first = this.#launched(unit, pair.first);
    if (!second || !canStartEarly(second.entry.arch) || ![first, second].some((one) => one && this.#wanted.has(one.entry))) return [];
    const { kernel, produced } = second.entry;
    const builds = [kernel, ...(produced && produced !== kernel ? [produced] : [])];
    if (builds.every((build) => waitsFirst(gridDependency(build)))) return [];
    if (first) {
      const shown = this.#shownEarly({ ...pair, first: first.operation }, first, second);
      if (shown) return shown.length > 0 ? shown : noWait(second);
    }
    return mayBeEarly(second);
  }

  /** Accesses before the wait to bytes that the first launch accesses; null if the launches are not known well enough to run them. */
  #shownEarly(pair: OverlappingOperations & { readonly first: HostOperation }, first: Launched, second: Launched): Diagnostic[] | null {
    const { kernel, produced } = second.entry;
    const run = (build: Kernel): readonly SharedBytes<OperationAccess, OperationAccess>[] | null => {
      const bytes = this.#bytes(pair, [codeOf(first), codeOf(second, build)]);
      return bytes.kind === 'shown' ? bytes.overlaps : null;
    };
    const overlaps = run(kernel);
    if (!overlaps) return null;
    const written = overlaps.map((overlap) => earlyFinding(kernel, overlap, first, second, false));
    const hasMoved = produced !== undefined && beforeWait(produced).some((line) => !beforeWait(kernel).includes(line));
    const moved = hasMoved ? (run(produced) ?? []).map((overlap) => earlyFinding(produced, overlap, first, second, true)) : [];
    const lines = new Map([...moved, ...written].map((one) => [placeKey(one), one]));
    return [...lines.values()];
  }

  /** Two operations of different streams, or of a stream and the host. */
  unordered(unit: KernelUnit, pair: OverlappingOperations): Diagnostic[] {
    const { first, second } = pair;
    if (!first) return [];
    const launches = [this.#launched(unit, first), this.#launched(unit, second)] as const;
    const [entry] = launches.flatMap((one) => (one && this.#wanted.has(one.entry) ? [one.entry] : []));
    if (!entry) return [];
    const bytes = this.#bytes({ ...pair, first }, [launches[0] && codeOf(launches[0]), launches[1] && codeOf(launches[1])]);
    const [overlap] = bytes.kind === 'shown' ? bytes.overlaps : [];
    const memory = bytes.kind === 'shown' ? overlap && memoryOf(overlap.memory, first, second) : sameMemory(first, second, launches);
    if (!memory) return [];
    const names = launches.map((one, at) => operationText(at === 0 ? first : second, one)) as [OperationText, OperationText];
    const severity = overlap ? 'error' : 'warning';
    const message = unorderedText(...names, memory, overlap !== undefined);
    const code: Code = pair.kind === 'host' ? 'ordering/host' : 'ordering/streams';
    return [finding(severity, code, message, locationOf(second), entry, [names[0].name, names[1].name, memory])];
  }
}

function codeOf({ entry }: Launched, kernel = entry.kernel): LaunchedCode {
  return { kernel, parameters: entry.parameters };
}

function locationOf({ location, unit }: HostOperation): Location {
  return location ? { file: location.file, line: location.line } : { file: unit, line: 1 };
}

function operationText(operation: HostOperation, launched: Launched | null): OperationText {
  const { kind, name, stream } = operation;
  return { kind, name: launched?.entry.name.qualified ?? name, location: locationOf(operation), stream };
}

function finding(
  severity: Severity,
  code: Code,
  message: string,
  location: Location | undefined,
  { identity }: LaunchedKernel,
  subject: readonly string[],
): Diagnostic {
  return { severity, code, message, ...(location && { location }), fingerprint: fingerprintOf(identity, [code, ...subject]) };
}

function earlyFinding(
  kernel: Kernel,
  { first: other, second: own, memory }: SharedBytes<OperationAccess, OperationAccess>,
  first: Launched,
  second: Launched,
  isMoved: boolean,
): Diagnostic {
  const location = placeOf(kernel, own.instruction);
  const array = parameterOf(second, memory);
  const message = earlyAccessText(
    {
      kernel: second.entry.name.qualified,
      use: own.operation,
      array,
      launch: locationOf(second.operation),
      hasWait: gridDependency(kernel).hasWait,
      isMoved,
    },
    { kernel: first.entry.name.qualified, use: other.operation, launch: locationOf(first.operation) },
  );
  const subject = [first.entry.name.qualified, array ?? '', own.operation, textAt(location)];
  return finding('error', 'ordering/pdl-wait', message, location, second.entry, subject);
}

function noWait({ entry, operation }: Launched): Diagnostic[] {
  if (gridDependency(entry.kernel).hasWait) return [];
  const message = noWaitText(entry.name.qualified, locationOf(operation));
  return [finding('warning', 'ordering/pdl-wait', message, entry.kernel.location, entry, ['no wait'])];
}

/** Accesses that are before the wait on every path, if the kernel before is not known: one finding for a kernel. */
function mayBeEarly(second: Launched): Diagnostic[] {
  const { entry, operation } = second;
  const never = noWait(second);
  if (never.length > 0) return never;
  for (const kernel of [entry.kernel, entry.produced ?? entry.kernel]) {
    const early = accessesOf(kernel, (order) => order === 'early');
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

function accessesOf(kernel: Kernel, isWanted: (order: WaitOrder) => boolean): Instruction[] {
  return [...gridDependency(kernel).accesses].flatMap(([instruction, order]) => (isWanted(order) ? [instruction] : []));
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
  const at = (operation.launch?.arguments ?? []).findIndex((value) => memoriesOf(value).some(({ id }) => id === memory));
  return entry.parameters[at]?.name || null;
}

function memoriesOf(value: HostValue): readonly HostMemory[] {
  if (value.kind === 'pointer') return [value.memory];
  if (value.kind === 'symbol') return [value.symbol];
  return value.kind === 'record' ? [...value.fields.values()].flatMap(memoriesOf) : [];
}

/** The name of a memory in the host program. */
function memoryOf(id: string, ...operations: readonly HostOperation[]): string | undefined {
  const all = operations.flatMap(({ launch, touches }) => [
    ...touches.map(({ memory }) => memory),
    ...(launch?.arguments ?? []).flatMap(memoriesOf),
  ]);
  return all.find((memory) => memory.id === id)?.label;
}

/** The memory that both operations are given at its start, if one of them may write it through the pointer; undefined if none is. */
function sameMemory(first: HostOperation, second: HostOperation, launches: readonly (Launched | null)[]): string | undefined {
  const [a, b] = [first, second].map((operation, at) => startsOf(operation, launches[at] ?? null)) as [Starts, Starts];
  for (const [id, one] of a) {
    const other = b.get(id);
    if (other && (one.isWrite || other.isWrite)) return one.label;
  }
  return undefined;
}

type Starts = ReadonlyMap<string, { readonly label: string; readonly isWrite: boolean }>;

function startsOf({ launch, touches }: HostOperation, launched: Launched | null): Starts {
  const starts = new Map<string, { label: string; isWrite: boolean }>();
  const add = ({ id, label }: HostMemory, isWrite: boolean): void =>
    void starts.set(id, { label, isWrite: isWrite || !!starts.get(id)?.isWrite });
  const isStart = (offset: HostValue | { readonly kind: string; readonly value?: unknown } | null): boolean =>
    offset?.kind === 'integer' && 'value' in offset && offset.value === 0n;
  for (const { memory, offset, isWrite } of touches) if (isStart(offset)) add(memory, isWrite);
  for (const [at, value] of (launch?.arguments ?? []).entries())
    if (value.kind === 'pointer' && isStart(value.offset))
      add(value.memory, !/\bconst\b/.test(launched?.entry.parameters[at]?.type ?? 'const'));
  return starts;
}
