/** The launches of host code: of each function that leads to one, with the arguments of its callers or unknown ones. */
import { grouped } from '../base/grouped.ts';
import { LayeredMap } from '../base/layered-map.ts';
import { type Fact, type HostTerm, integer } from '../assumptions/expression.ts';
import { symbolsOf } from '../assumptions/parts.ts';
import { arithmetic } from '../assumptions/simplify.ts';
import { extentsOf, termOf, valueKey } from '../cuda/launches/value.ts';
import { readDebugTypes } from '../gimple/debug-types.ts';
import type { GimpleLocation, GimpleStatement } from '../gimple/gimple.ts';
import { readInitialisedData } from '../gimple/initialised-data.ts';
import { launchesWithConfiguration } from './chevrons.ts';
import { HostProgram } from './host-program.ts';
import { HostUnit, kernelSymbol, launching } from './host-unit.ts';
import type { Activation, CallRequest, Outcome } from './activation.ts';
import { Interpreter, usesVolatile } from './interpreter.ts';
import { type KernelParameters, LaunchReader, type MadeLaunch } from './launches.ts';
import { Library } from './library.ts';
import type { HostPlace } from './objects.ts';
import type { HostEntry, HostLaunch, HostOperation, HostTouch, ReadLaunch, OverlappingOperations } from './operations/host-operation.ts';
import { addsNode, nodesBefore } from './operations/graph-nodes.ts';
import { type LoggedOperation, type LoggedPair, OperationLog } from './operations/operation-log.ts';
import { type HostOrder, type HostStream, hostMayWait, noOrder } from './operations/order.ts';
import { type State, cloneState } from './state.ts';

/** Maximum number of statements that are executed for one function, calls included. */
const maxSteps = 150_000;
/** Maximum number of statements that are executed for all functions that no other one calls. */
const maxAllSteps = 500_000;
/** For functions that others call, if not all of their calls were followed: for one, and for all. */
const maxStepsOfCalled = 10_000;
const maxAllStepsOfCalled = 250_000;

/** Launches of a program. */
export interface HostReading {
  /** In order of execution. */
  readonly launches: readonly ReadLaunch[];
  /** Operations that may overlap and share memory. */
  readonly unordered: readonly OverlappingOperations[];
  /** Functions whose interpretation reached the work limit. */
  readonly cutShort: readonly HostEntry[];
}

/** Maximum number of pairs of operations of one function, and of those at the same two places. */
const maxPairs = 128;
const maxAlike = 3;

/** What GCC made of a unit, for {@link readHostProgram}. @param parameters of the kernels that it defines */
export function openHostUnit(
  path: string,
  dump: { readonly gimple: string; readonly assembly: string },
  parameters: KernelParameters,
): HostUnit {
  return new HostUnit(path, dump, new Set(parameters.keys()), readDebugTypes(dump.assembly), readInitialisedData(dump.assembly));
}

/** Constructors, destructors, functions of the runtime, and those that free memory: they are not kernels of another unit. */
const isOtherCall = /^_ZN.*[CD][0-2]E|^cu(?:da)?[A-Z]|^_Zd|^__cxa|^free$/;

/** What a run records. */
type Logged = { readonly launch: Omit<HostLaunch, 'entry'> } | { readonly pair: LoggedPair };

class Run extends Interpreter {
  #logged: Logged[] = [];
  readonly #log = new OperationLog();
  /** The order after the last access of the host at each place, which the same access leaves as it is. */
  readonly #accessed = new Map<string, HostOrder>();
  readonly #library = new Library(this);
  /** Streams that are certainly different. */
  readonly #streamsUsed = new Set<string>();
  #isExact = true;
  readonly #reader: LaunchReader;
  readonly #reaching: ReadonlySet<string>;
  readonly #isOwn: (file: string) => boolean;
  readonly #constants: ReadonlySet<string>;
  readonly #variables: NonNullable<ReadRequest['variables']>;
  #silence = 0;

  constructor(program: HostProgram, request: ReadRequest, reaching: ReadonlySet<string>, isAtStart: boolean, steps: number) {
    super(program, steps, isAtStart);
    this.#reader = new LaunchReader(this, request.parameters);
    this.#reaching = reaching;
    this.#isOwn = request.isOwn;
    this.#constants = request.constants;
    this.#variables = request.variables ?? new Map();
    this.objects.observer = (place, bytes, isWrite, state) => {
      if (this.accessing) this.#hostAccess(this.accessing, { ...place, bytes, isWrite }, state);
    };
  }

  get launches(): Omit<HostLaunch, 'entry'>[] {
    return this.#logged.flatMap((one) => ('launch' in one ? [one.launch] : []));
  }

  get pairs(): LoggedPair[] {
    return this.#logged.flatMap((one) => ('pair' in one ? [one.pair] : []));
  }

  /** Whether other operations may overlap with a launch. The order of one stream is known. */
  mayOverlap(launch: Omit<HostLaunch, 'entry'>): boolean {
    const isOfPair = ({ first, second }: LoggedPair): boolean => first?.launch === launch || second.launch === launch;
    return this.#streamsUsed.size > 1 && (!this.#isExact || this.pairs.some((pair) => pair.kind !== 'again' && isOfPair(pair)));
  }

  reaches(unit: HostUnit, symbol: string): boolean {
    const found = this.program.resolve(symbol, unit);
    return found !== null && this.#reaching.has(found.unit.key(found.symbol));
  }

  isKnown(name: string): boolean {
    return Library.isKnown(name);
  }

  mark(): number {
    return this.#logged.length;
  }

  /** Drops launches. Pairs are of a path that exists, also if its iterations are summarised then. */
  rewind(mark: number): void {
    const pairs = this.#logged.slice(mark).filter((one) => 'pair' in one);
    this.#logged = [...this.#logged.slice(0, mark), ...pairs];
  }

  silently<Value>(run: () => Value): Value {
    this.#silence++;
    const value = run();
    this.#silence--;
    return value;
  }

  /** Where a call is in the project: a launch in a template of the runtime is where the project calls that. */
  #siteOf({ location, activation }: Pick<CallRequest, 'location' | 'activation'>): GimpleLocation | null {
    const places: GimpleLocation[] = location ? [location] : [];
    for (let one: Activation | null = activation; one; one = one.caller) if (one.site) places.push(one.site);
    return places.find(({ file }) => this.#isOwn(file)) ?? location;
  }

  /** Records launches. @returns them with their place */
  #logLaunches({ launches }: MadeLaunch, request: CallRequest): Omit<HostLaunch, 'entry'>[] {
    for (const passed of request.given) this.losePassed(passed);
    const [location, unit] = [this.#siteOf(request), request.activation.unit.path];
    const all = launches.map((launch) => ({ ...launch, keepsAttributes: this.program.keepsAttributes, location, unit }));
    if (this.#silence === 0) for (const launch of all) this.#logged.push({ launch });
    return all;
  }

  #record(made: MadeLaunch, request: CallRequest, state: State): void {
    const all = this.#logLaunches(made, request);
    const [launch] = all;
    if (!launch) return;
    const { location, unit } = launch;
    // One of several kernels is not known.
    const known = all.length === 1 ? launch : { ...launch, kernel: '', arguments: undefined };
    const stream = this.streams.of(made.stream);
    const operation = {
      kind: 'launch',
      name: known.kernel,
      location,
      unit,
      stream: stream.label,
      launch: known,
      touches: this.#variables.get(known.kernel) ?? [],
      facts: launch.facts,
    } as const;
    this.#issued(state, operation, stream, known.isProgrammatic === true);
  }

  issue(request: CallRequest, operation: Pick<HostOperation, 'kind' | 'name' | 'touches'>, stream: HostStream, state: State): void {
    const place = { location: this.#siteOf(request), unit: request.activation.unit.path };
    this.#issued(state, { ...operation, ...place, stream: stream.label, facts: state.facts }, stream, false);
  }

  /** The host program accesses memory that it shares with the device. */
  #hostAccess(
    by: Pick<CallRequest, 'activation' | 'location'>,
    { object, offset, bytes, isWrite }: HostPlace & { readonly bytes: number | null; readonly isWrite: boolean },
    state: State,
  ): void {
    const { memory } = object;
    if (usesVolatile(by.activation)) {
      // It may wait until a kernel has written a flag.
      state.order = { ...hostMayWait(state.order), isExact: false };
      return;
    }
    const [location, unit] = [this.#siteOf(by), by.activation.unit.path];
    const key = `${memory.id} ${location?.file}:${location?.line} ${isWrite}`;
    if (this.#accessed.get(key) === state.order) return;
    const touches = [{ memory, offset, bytes: bytes === null ? null : integer(bytes), isWrite }];
    const operation = {
      kind: 'host',
      name: isWrite ? 'a write' : 'a read',
      location,
      unit,
      stream: null,
      touches,
      facts: state.facts,
    } as const;
    this.#issued(state, operation, null, false);
    this.#accessed.set(key, state.order);
  }

  /** A function that adds a node to a graph. */
  #graphNode(name: string, request: CallRequest, state: State): Outcome {
    const given = request.given.map((passed) => (passed.kind === 'scalar' ? passed.value : undefined));
    const [, graph] = given;
    const list = this.placeOf(request.given[2]);
    const handleAt = (at: number): string => {
      const offset = arithmetic('+', list!.offset!, integer(8 * at));
      return offset ? valueKey(this.objects.read({ ...list!, offset }, 8, state).value) : '';
    };
    const after = nodesBefore(name, given, list?.offset ? handleAt : null);
    const made = this.#reader.call(name, request, state);
    const outcome = made ? null : (this.#library.call(name, request, state) ?? this.callUnknown(request, state));
    const [launch, ...others] = made ? this.#logLaunches(made, request) : [];
    const handle = this.objects.fresh('node');
    const node = this.placeOf(request.given[0]);
    if (node) this.objects.write(node, 8, handle, state);
    const operation = {
      kind: launch ? 'launch' : 'copy',
      name: launch?.kernel ?? name,
      location: this.#siteOf(request),
      unit: request.activation.unit.path,
      stream: 'a graph',
      // One of several kernels is not known.
      ...(launch && others.length === 0 ? { launch } : {}),
      touches: [],
      facts: state.facts,
    } as const;
    const { order, pairs } = this.#log.addNode(state.order, operation, valueKey(handle), graph ? valueKey(graph) : '', after);
    state.order = order;
    if (this.#silence === 0 && !this.program.changesNodes) for (const pair of pairs) this.#logged.push({ pair });
    if (made) this.#afterKernel(made.launches, state);
    return outcome ?? { state, value: null, thrown: null };
  }

  #issued(state: State, operation: LoggedOperation, stream: HostStream | null, early: boolean): void {
    const { order, pairs } = this.#log.issue(state.order, operation, stream, early);
    state.order = order;
    this.#isExact &&= order.isExact;
    if (stream && stream.kind !== 'unknown') this.#streamsUsed.add(stream.key);
    if (this.#silence > 0 || this.program.hasThreads) return;
    for (const pair of pairs) this.#logged.push({ pair });
  }

  /** A kernel may write all device memory but constants, and memory of the host that it is given. */
  #afterKernel(launches: readonly Pick<HostLaunch, 'arguments'>[], state: State): void {
    for (const { arguments: given } of launches) {
      if (!given) this.objects.disturb(state);
      for (const value of given ?? [])
        for (const one of value.kind === 'record' ? value.fields.values() : [value]) this.objects.forgetPointee(one, state);
    }
    state.contents = new Map([...state.contents].filter(([memory]) => this.#constants.has(memory.replace(/^symbol /, ''))));
  }

  launch(request: CallRequest, state: State): boolean {
    const { unit, fn } = request.activation;
    const calls = launchesWithConfiguration(fn, ({ callee }) => {
      if (callee.kind !== 'declaration') return true;
      const name = callee.name.replace(/D\.\d+$/, '');
      return unit.isKernel(name) || (!this.program.resolve(name, unit) && !isOtherCall.test(name));
    });
    if (!calls.has(request.operands)) return false;
    // On any path the call launches: without a configuration that is known its extents are unknown.
    if (state.configuration?.within !== request.activation) this.#reader.configure({ ...request, given: [] }, state);
    const made = this.#reader.chevron(request, state);
    this.#record(made, request, state);
    this.#afterKernel(made.launches, state);
    state.configuration = null;
    return true;
  }

  callLibrary(request: CallRequest, state: State): Outcome {
    const name = request.symbol ?? '';
    if (name === '__cudaPushCallConfiguration') {
      this.#reader.configure(request, state);
      return {
        state,
        value: { kind: 'scalar', value: { kind: 'number', term: { kind: 'integer', value: 0n } }, type: null },
        thrown: null,
      };
    }
    if (addsNode(name)) return this.#graphNode(name, request, state);
    const made = this.#reader.call(name, request, state);
    if (made) {
      this.#record(made, request, state);
      this.#afterKernel(made.launches, state);
      return { state, value: null, thrown: null };
    }
    return this.#library.call(name, request, state) ?? this.callUnknown(request, state);
  }

  isLeftOpenSince(mark: number, changed: ReadonlySet<string>): boolean {
    return this.#logged.slice(mark).some((one) => {
      if (!('launch' in one)) return false;
      const { launch } = one;
      const symbols = (terms: readonly (HostTerm | null)[]): string[] => terms.flatMap((term) => (term ? [...symbolsOf(term).keys()] : []));
      const determined = new Set(
        symbols((launch.arguments ?? []).map((value) => (value.kind === 'pointer' ? value.offset : termOf(value)))),
      );
      const extents = [launch.grid, launch.block].flatMap((value) => (value && extentsOf(value)) ?? []);
      return symbols(extents).some((id) => changed.has(id) && !determined.has(id));
    });
  }
}

interface ReadRequest {
  readonly units: readonly HostUnit[];
  /** Sizes of the parameters of all kernels. */
  readonly parameters: KernelParameters;
  /** Names of variables of the device that kernels cannot write. */
  readonly constants: ReadonlySet<string>;
  /** Accesses of kernels to variables of their units in global memory, by the symbol of the kernel. */
  readonly variables?: ReadonlyMap<string, readonly HostTouch[]>;
  /** Whether variables with static storage have their initial values when a function begins; by default for `main`. */
  readonly startsAt?: (symbol: string) => boolean;
  /** Whether other callers of a function of external linkage may exist that are not in these units. */
  readonly isOpen?: (symbol: string) => boolean;
  /** Whether a file, as the compiler names it, is one of the project. */
  readonly isOwn: (file: string) => boolean;
}

/** Reads a program. Functions of external linkage that none of its units calls have unknown arguments. */
export function readHostProgram(request: ReadRequest): HostReading {
  const program = new HostProgram(request.units);
  const entries = new Map<string, { readonly unit: HostUnit; readonly symbol: string }>();
  const users = new Map<string, Set<string>>();
  /** Functions that mention a name, also through tables of functions, such as those of virtual functions. */
  const use = (name: string, unit: HostUnit, user: string, tables: ReadonlySet<string>): void => {
    const found = program.resolve(name, unit);
    const used = found?.unit.key(found.symbol);
    if (used !== undefined && used !== user) users.set(used, (users.get(used) ?? new Set()).add(user));
    if (found || tables.has(name)) return;
    const owner = program.unitOfData(name, unit);
    for (const one of owner.functionsOfData(name)) use(one, owner, user, new Set([...tables, name]));
  };
  for (const unit of request.units)
    for (const [symbol, named] of unit.names()) {
      const key = unit.key(symbol);
      entries.set(key, { unit, symbol });
      for (const name of named) use(name, unit, key, new Set());
    }
  const reaching = new Set(request.units.flatMap((unit) => [...unit.launching()].map((symbol) => unit.key(symbol))));
  for (const one of reaching) for (const user of users.get(one) ?? []) reaching.add(user);
  const begins = (symbol: string): boolean => request.startsAt?.(symbol) ?? symbol === 'main';
  const hasMain = [...reaching].some((key) => begins(entries.get(key)!.symbol));
  const inData = new Set(request.units.flatMap((unit) => [...unit.candidates({ kind: 'anything' })].map((symbol) => unit.key(symbol))));
  const isOpen = (key: string): boolean => {
    const { unit, symbol } = entries.get(key)!;
    return unit.linkageOf(symbol) === 'external' && request.isOpen?.(symbol) === true;
  };
  const isRoot = (key: string): boolean =>
    isOpen(key) || ![...(users.get(key) ?? [])].some((user) => reaching.has(user)) || (!hasMain && inData.has(key));
  const launches: ReadLaunch[] = [];
  const unordered: { readonly pair: OverlappingOperations; readonly entry: HostEntry }[] = [];
  const cutShort: HostEntry[] = [];
  let left = maxAllSteps;
  const begun = new Set<string>();
  const open = new Set<string>();
  const go = (key: string, limit: number): void => {
    begun.add(key);
    const { unit, symbol } = entries.get(key)!;
    const fn = unit.functionOf(symbol);
    const most = Math.min(limit, left);
    if (most <= 0) {
      cutShort.push({ unit: unit.path, symbol });
      return;
    }
    const started = begins(symbol) ? atStart(new Run(program, request, reaching, true, most)) : null;
    const run = started?.run ?? new Run(program, request, reaching, false, most);
    const state = started?.state ?? emptyState();
    if (fn) {
      const given = fn.parameters.map((one) => run.freeParameter(unit, one, symbol));
      const slot = run.newSlot(unit, fn);
      const { value, state: after } = run.execute({ unit, fn, caller: null, site: null, slot, catches: false }, given, state);
      // Whoever called it has its result.
      if (value !== null && value !== 'in place') run.losePassed(value);
      else if (slot && after) run.objects.loseContents(slot.object, after);
      if (after) run.objects.settle(after);
    }
    left -= most - run.steps;
    const entry: HostEntry = { unit: unit.path, symbol };
    if (run.isCutShort) cutShort.push(entry);
    for (const one of run.unfollowed) open.add(one);
    for (const one of request.units)
      for (const callee of run.unknownCallees.values()) for (const name of one.candidates(callee)) open.add(one.key(name));
    for (const one of run.objects.openFunctions) {
      const found = program.resolve(one, unit);
      if (found) open.add(found.unit.key(found.symbol));
    }
    for (const launch of run.launches) {
      const overlap = run.mayOverlap(launch) ? ({ mayOverlap: true } as const) : {};
      launches.push({ ...launch, ...overlap, entry, symbolFacts: run.knownFacts });
    }
    // What was read before the work limit is on paths that exist.
    unordered.push(...readPairs(run.pairs, entry, run.knownFacts).map((pair) => ({ pair, entry })));
  };
  for (const key of reaching) if (isRoot(key)) go(key, maxSteps);
  // Functions that unknown code may call, or whose call was not followed. Those that launch come first, small ones
  // before large ones: then the launches of a program are known with any arguments, even if it is too large to follow.
  left = maxAllStepsOfCalled;
  const sizeOf = (key: string): number => {
    const { unit, symbol } = entries.get(key)!;
    const size = unit.functionOf(symbol)?.blocks.reduce((sum, { statements }) => sum + statements.length, 0) ?? 0;
    return launchCalls(unit, symbol).length > 0 ? size : Infinity;
  };
  for (let count = -1; count !== begun.size;) {
    count = begun.size;
    const called = [...reaching].filter((key) => !begun.has(key) && (open.has(key) || cutShort.length > 0));
    const sizes = new Map(called.map((key) => [key, sizeOf(key)]));
    for (const key of called.toSorted((a, b) => (sizes.get(a)! < sizes.get(b)! ? -1 : Number(sizes.get(a)! > sizes.get(b)!))))
      go(key, maxStepsOfCalled);
  }
  // The launches of a function are those that its callers make with it, if all of these were followed to their end.
  const keyOf = ({ unit, symbol }: HostEntry): string => request.units.find(({ path }) => path === unit)!.key(symbol);
  const cut = new Set(cutShort.map(keyOf));
  const isFollowed = (key: string): boolean => begun.has(key) && !cut.has(key);
  const isCovered = (entry: HostEntry): boolean => {
    const key = keyOf(entry);
    return !isRoot(key) && !open.has(key) && [...(users.get(key) ?? [])].every(isFollowed);
  };
  const own = launches.filter(({ entry }) => !isCovered(entry));
  // A function that was cut short may make its launches with other arguments too. The functions that it calls are executed separately.
  for (const entry of cutShort.filter((one) => !isCovered(one))) {
    const unit = request.units.find(({ path }) => path === entry.unit)!;
    for (const { location, callee } of launchCalls(unit, entry.symbol)) {
      const name = callee.kind === 'declaration' ? callee.name.replace(/D\.\d+$/, '') : '';
      const kernel = launching.test(name) ? '' : kernelSymbol(name);
      own.push({ ...unknownLaunch, kernel, location, unit: unit.path, entry });
    }
  }
  return { launches: own, unordered: unordered.flatMap(({ pair, entry }) => (isCovered(entry) ? [] : [pair])), cutShort };
}

/** Pairs of a run, of each two places of the program the first ones. */
function readPairs(pairs: readonly LoggedPair[], entry: HostEntry, symbolFacts: readonly Fact[]): OverlappingOperations[] {
  const known = new Map<LoggedOperation, HostOperation>();
  const read = (one: LoggedOperation): HostOperation => {
    const { launch, ...rest } = one;
    const made = known.get(one) ?? { ...rest, ...(launch ? { launch: { ...launch, entry, symbolFacts } } : {}) };
    known.set(one, made);
    return made;
  };
  const placeOf = (one: LoggedOperation | null): unknown => one && [one.name, one.location, one.touches.map(({ memory }) => memory.id)];
  const distinct = grouped(pairs, ({ kind, first, second, memories }) => JSON.stringify([kind, placeOf(first), placeOf(second), memories]));
  return [...distinct.values()]
    .flatMap((alike) => alike.slice(0, maxAlike))
    .toSorted((one, other) => Number(one.kind === 'again') - Number(other.kind === 'again'))
    .slice(0, maxPairs)
    .map(({ kind, first, second, between, memories }) => {
      const operations = { first: first && read(first), second: read(second), ...(between && { between: between.map(read) }) };
      return { kind, ...operations, ...(memories && { memories }), symbolFacts };
    });
}

function emptyState(): State {
  return {
    values: new LayeredMap(),
    objects: new LayeredMap(),
    facts: [],
    changed: 0,
    called: 0,
    outerChanged: 0,
    contents: new Map(),
    configuration: null,
    order: noOrder,
  };
}

/**
 * The state in which `main` begins: variables with static storage have their initial values, and what runs before `main`
 * has run. Null if that is not known: the order of several units is not.
 */
function atStart(run: Run): { readonly run: Run; readonly state: State } | null {
  let state = emptyState();
  const writing = new Set<string>();
  for (const unit of run.program.units)
    for (const symbol of unit.initialisers) {
      const fn = unit.functionOf(symbol);
      if (!fn) return null;
      const call = { unit, fn, caller: null, site: null, slot: null, catches: false };
      const before = cloneState(state);
      const after = run.silently(() => run.execute(call, [], state).state);
      if (!after || run.isCutShort) return null;
      const written = [...LayeredMap.writtenApart(before.objects, after.objects)].map((key) => run.objects.at(key));
      if (written.some(({ kind, memory }) => /^(?:static|private|owned)$/.test(kind) && memory.label !== '__ioinit'))
        writing.add(unit.path);
      state = after;
    }
  return writing.size > 1 ? null : { run, state };
}

const unknownLaunch: Omit<ReadLaunch, 'kernel' | 'location' | 'unit' | 'entry'> = {
  grid: undefined,
  block: undefined,
  cluster: undefined,
  shared: undefined,
  cooperative: undefined,
  startsEarly: true,
  keepsAttributes: false,
  arguments: undefined,
  facts: [],
  symbolFacts: [],
  contents: new Map(),
};

/** Calls in a function that make launches, as far as its text shows: in doubt, a call is one. */
function launchCalls(unit: HostUnit, symbol: string): (GimpleStatement & { kind: 'call' })[] {
  const calls = (unit.functionOf(symbol)?.blocks ?? []).flatMap(({ statements }) =>
    statements.flatMap((one) => (one.kind === 'call' ? [one] : [])),
  );
  const nameOf = ({ callee }: (typeof calls)[number]): string | null =>
    callee.kind === 'declaration' ? callee.name.replace(/D\.\d+$/, '') : null;
  const isConfigured = calls.some((one) => nameOf(one) === '__cudaPushCallConfiguration');
  return calls.filter((one) => {
    const name = nameOf(one);
    if (name === '__cudaPushCallConfiguration') return false;
    if (name === null) return isConfigured && one.target === null;
    return launching.test(name) || unit.isKernel(name) || (isConfigured && one.target === null && !unit.isDefined(name));
  });
}
