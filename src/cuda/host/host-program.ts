/**
 * A host program, interpreted over symbols: which kernels it launches, with which launches and arguments, and under
 * which conditions.
 *
 * Each function that reaches a launch and that no other such function of the unit calls is gone through once, with symbols for
 * its parameters; calls are followed. So a launch in a wrapper is told for each call of the wrapper.
 */
import { childIn, nodesWhere, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { callLambda, evaluateCall, invokeFunction } from './calls.ts';
import { type Declarations, type FunctionDeclaration, type HostVariable, readDeclarations } from './declarations.ts'; // prettier-ignore
import { hostValueOf, bracedValue, placeNamed, typeText } from './expressions.ts';
import { type HostArgument, type CallEvent, type Exits, type Frame, type HostEvent, type Interpreter, type LaunchEvent, type State, cloneState, converted, dim3Of, partOf, withPart } from './interpreter.ts'; // prettier-ignore
import { executeStatement } from './statements.ts';
import { type Fact, type HostSymbol, one } from './term.ts';
import { type HostMemory, type HostValue, type HostScope, numberValue } from './value.ts';

/** Statements and expressions that are gone through for one function, calls included. */
const mostSteps = 60_000;
/** Functions that are begun with. */
const mostRoots = 200;

export interface HostProgram {
  readonly declarations: Declarations;
  /** Launches, and calls of functions that other files define, in the order in which they are met. */
  readonly launches: readonly HostLaunch[];
  readonly calls: readonly CallEvent[];
  /** Launches in the text that no way through the program led to. */
  readonly unreached: readonly SyntaxNode[];
  /** Functions of external linkage that reach a launch and that nothing in this unit calls. */
  readonly entries: readonly FunctionDeclaration[];
  /** Goes through one function with given arguments. */
  readonly launchesOf: (entry: FunctionDeclaration, given: readonly HostValue[], facts: readonly Fact[]) => readonly HostLaunch[]; // prettier-ignore
}

/** A launch, and the function that was begun with. */
export interface HostLaunch extends LaunchEvent {
  readonly entry: FunctionDeclaration;
}

const launchName = /\b(?:cudaLaunch\w*Kernel\w*|cuLaunch\w*Kernel\w*|cudaGraph\w*Kernel\w*|cudaGraphAddNode)\b/;

/**
 * Interprets a program.
 * @param name tells its symbols from those of other programs
 * @param text what is left of it once it is preprocessed
 * @param wanted names of functions in other files whose calls are of interest
 */
export function readHostProgram(
  name: string,
  text: string,
  root: SyntaxNode,
  wanted: ReadonlySet<string> = new Set(),
): HostProgram {
  const declarations = readDeclarations(text, root);
  const all = [...declarations.functions.values()].flat().filter(({ body }) => body);
  const names = new Map(all.map((one) => [one, namesIn(one, text)]));
  const reaching = reachingLaunches(all, names, text, wanted);
  const called = new Set<string>();
  for (const one of reaching) for (const name of names.get(one) ?? []) if (name !== one.name) called.add(name);
  const roots = [...reaching].filter(({ name, isDevice }) => !called.has(name) && !isDevice).slice(0, mostRoots);
  const seen = new Set<SyntaxNode>();
  const events: (HostLaunch | CallEvent)[] = [];
  const go = (
    entry: FunctionDeclaration,
    given?: readonly HostValue[],
    facts: readonly Fact[] = [],
  ): (HostLaunch | CallEvent)[] => {
    const found = interpret(name, declarations, entry, given, facts);
    for (const event of found) seen.add(event.node);
    return found.map((event) => (event.kind === 'launch' ? { ...event, entry } : event));
  };
  for (const entry of roots) events.push(...go(entry));
  // What a call did not lead to, for recursion, overloads or too much work, is begun with by itself.
  for (const entry of reaching) {
    const own = launchNodes(entry, text);
    const missed = new Set(own.filter((node) => !seen.has(node)));
    if (!roots.includes(entry) && missed.size > 0) events.push(...go(entry).filter(({ node }) => missed.has(node)));
  }
  const launches = events.filter((event): event is HostLaunch => event.kind === 'launch');
  return {
    declarations,
    launches,
    calls: events.filter((event): event is CallEvent => event.kind === 'call'),
    unreached: all.flatMap((one) => launchNodes(one, text)).filter((node) => !seen.has(node)),
    entries: roots.filter(({ name, isInternal }) => name !== 'main' && !isInternal),
    launchesOf: (entry, given, facts) =>
      go(entry, given, facts).filter((event): event is HostLaunch => event.kind === 'launch'),
  };
}

/** Launches in a function's text. */
function launchNodes({ body }: FunctionDeclaration, text: string): SyntaxNode[] {
  if (!body) return [];
  return nodesWhere(body, (node) => {
    if (node.type !== 'call_expression') return false;
    if (node.children.some(({ type }) => type === 'kernel_call_syntax')) return true;
    const callee = childIn(node, 'function');
    return callee?.type === 'identifier' && launchName.test(text.slice(callee.start, callee.end));
  });
}

function namesIn({ body }: FunctionDeclaration, text: string): ReadonlySet<string> {
  const nodes = body ? nodesWhere(body, ({ type }) => /^(?:field_)?identifier$/.test(type)) : [];
  return new Set(nodes.map(({ start, end }) => text.slice(start, end)));
}

function reachingLaunches(
  all: readonly FunctionDeclaration[],
  names: ReadonlyMap<FunctionDeclaration, ReadonlySet<string>>,
  text: string,
  wanted: ReadonlySet<string>,
): ReadonlySet<FunctionDeclaration> {
  const reaching = new Set<FunctionDeclaration>();
  for (const one of all) {
    const body = one.body!;
    const written = text.slice(body.start, body.end);
    const calls = names.get(one)!;
    if (written.includes('<<<') || launchName.test(written) || [...wanted].some((name) => calls.has(name)))
      reaching.add(one);
  }
  for (let size = -1; size !== reaching.size;) {
    size = reaching.size;
    const known = new Set([...reaching].map(({ name }) => name));
    for (const one of all)
      if (!reaching.has(one) && [...names.get(one)!].some((name) => known.has(name))) reaching.add(one);
  }
  return reaching;
}

/** Goes through a function. */
function interpret(
  program: string,
  declarations: Declarations,
  entry: FunctionDeclaration,
  given: readonly HostValue[] | undefined,
  facts: readonly Fact[],
): HostEvent[] {
  const types: string[] = [];
  const firm = new Set<number>();
  const isOneOfSeveral = [...declarations.functions.values()].some((list) => list.every(({ body }) => !body));
  const globals = new Map<HostVariable, number>();
  const memories = new Map<string, { readonly cell: number; readonly field: string; readonly symbol: HostValue }>();
  const known: Fact[] = [];
  const events: HostEvent[] = [];
  let steps = 0;
  let written: Map<number, Set<SyntaxNode | undefined>> | undefined;
  const exposed = new Set<number>();
  const escaped = new Set<number>();
  const note = (index: number, by: SyntaxNode | undefined): void => {
    if (written) written.set(index, (written.get(index) ?? new Set()).add(by));
  };
  let silence = 0;
  let counter = 0;
  const cell = (type: string): number => types.push(type) - 1;
  const lambdas = new Map<SyntaxNode, { lambda: Extract<HostValue, { kind: 'lambda' }>; state: State }>();
  const base: State = { store: new Map(), facts: [], epoch: 0 };

  const symbol = (label: string, type?: string): HostValue => {
    const own = { id: `${program}:${entry.node.start}.${counter++}`, label };
    return { kind: 'symbol', symbol: type === undefined ? own : { ...own, type } };
  };

  const host: Interpreter = {
    declarations,
    evaluate: (node, state, frame) => hostValueOf(node, state, frame, host),
    execute: (node, state, frame) => executeStatement(node, state, frame, host),
    call: (node, state, frame) => evaluateCall(node, state, frame, host),
    invoke: (declaration, arguments_, state, frame, options) =>
      invokeFunction(declaration, arguments_, state, frame, host, options),
    place: (node, state, frame) => placeNamed(node, state, frame, host),
    read: (place, state) => {
      if (place.kind === 'memory') {
        const found = memories.get(place.symbol.id) ?? memoryAt(place.symbol);
        return state.store.get(found.cell) ?? found.symbol;
      }
      if (exposed.has(place.cell)) return symbol('variable that pointers lead to');
      const value = state.store.get(place.cell);
      return value ? partOf(value, place.path) : symbol('uninitialised', types[place.cell]);
    },
    initial: (index) => base.store.get(index),
    expose: (index) => void exposed.add(index),
    escape: (index) => void escaped.add(index),
    disturb: (state) => {
      state.epoch++;
      const shared = [...globals].flatMap(([{ isConstant }, index]) => (isConstant ? [] : [index]));
      for (const index of new Set([...escaped, ...shared]))
        if ((state.store.has(index) || base.store.has(index)) && !firm.has(index)) host.write({ kind: 'cell', cell: index, path: [] }, unknownOf(index), state); // prettier-ignore
    },
    undecided: () => ({ kind: 'unknown', id: `${program}:${entry.node.start}.u${counter++}` }),
    write: (place, value, state, by) => {
      if (place.kind === 'memory') {
        const own = memories.get(place.symbol.id) ?? memoryAt(place.symbol);
        // Another pointer may lead to the same memory; the address of a field is no field of its own.
        const isAddress = place.symbol.id.includes('&');
        for (const [id, other] of memories) {
          if (id === place.symbol.id || (other.field !== own.field && !isAddress)) continue;
          state.store.set(other.cell, symbol(own.field));
          note(other.cell, undefined);
        }
        state.store.set(own.cell, value);
        note(own.cell, by);
        return;
      }
      const before = state.store.get(place.cell) ?? symbol('uninitialised', types[place.cell]);
      state.store.set(place.cell, withPart(before, place.path, value));
      note(place.cell, by);
    },
    lookUp: (name, frame, state) => {
      const parts = name.split('::').filter((part) => part !== '');
      const last = parts.at(-1) ?? '';
      if (parts.length === 1) {
        for (let scope: HostScope | null = frame.scope; scope; scope = scope.outer) {
          const found = scope.cells.get(last);
          if (found !== undefined) return found;
        }
        const record = frame.function?.record;
        if (record !== undefined && declarations.records.get(record)?.fields.some((field) => field.name === last)) return undefined; // prettier-ignore
      }
      return globalCell(parts, frame, state);
    },
    declare: (name, type, value, state, frame) => {
      const own = cell(type);
      frame.scope.cells.set(name, own);
      state.store.set(own, value);
      return own;
    },
    typeOfCell: (index) => types[index] ?? '',
    symbol,
    memory: (label, bytes): HostMemory => ({
      id: `${program}:${entry.node.start}.m${counter++}`,
      label,
      ...(bytes ? { bytes } : {}),
    }),
    emit: (event) => {
      if (silence === 0) events.push(event);
    },
    know: (fact) => {
      if (fact.kind !== 'truth' && fact.kind !== 'unknown') known.push(fact);
    },
    knownFacts: () => known,
    made: (lambda, state) => {
      if (silence === 0) lambdas.set(lambda.node, { lambda, state: cloneState(state) });
    },
    called: (node) => {
      if (silence === 0) lambdas.delete(node);
    },
    step: (count = 1) => (steps += count) <= mostSteps,
    silently(run) {
      const outer = written;
      const own = new Map<number, Set<SyntaxNode | undefined>>();
      written = own;
      silence++;
      try {
        run();
      } finally {
        silence--;
        written = outer;
        for (const [index, nodes] of own) for (const by of nodes) note(index, by);
      }
      return own;
    },
    attempt(run) {
      const count = events.length;
      const isDone = run();
      if (!isDone) events.length = count;
      return isDone;
    },
  };

  /** A cell for memory that a pointer leads to. */
  const memoryAt = (own: HostSymbol): { cell: number; field: string; symbol: HostValue } => {
    const field = /(?:->|\.)(\w+)(?:@\d+)?$/.exec(own.id)?.[1] ?? '*';
    const made = { cell: cell(''), field, symbol: { kind: 'symbol' as const, symbol: own } };
    memories.set(own.id, made);
    base.store.set(made.cell, made.symbol);
    return made;
  };
  const unknownOf = (index: number): HostValue => {
    const type = types[index] ?? '';
    return converted(symbol('changed elsewhere', type), type, declarations.aliases);
  };

  /** The cell of a variable outside of functions; undefined where there is none of that name, or several. */
  const globalCell = (parts: readonly string[], frame: Frame, state: State): number | undefined => {
    const candidates = declarations.variables.get(parts.at(-1) ?? '') ?? [];
    const qualifiers = parts.slice(0, -1);
    const fitting = candidates.filter(({ path }) => qualifiers.every((part, at) => path.at(at - qualifiers.length) === part)); // prettier-ignore
    const here = fitting.filter(({ path }) => path.every((part, at) => frame.function?.path[at] === part));
    const defined = (here.length > 0 ? here : fitting).toSorted((a, b) => b.path.length - a.path.length || Number(b.value !== undefined) - Number(a.value !== undefined)); // prettier-ignore
    const [variable] = defined;
    if (!variable) return undefined;
    let own = globals.get(variable);
    if (own === undefined) {
      own = cell(variable.type);
      globals.set(variable, own);
      if (isFirm(variable)) firm.add(own);
      // It is there from the start, whatever way led here.
      base.store.set(own, initialValue(variable));
    }
    if (!state.store.has(own)) state.store.set(own, base.store.get(own)!);
    return own;
  };

  const globalFrame = (path: readonly string[]): Frame => ({
    scope: { cells: new Map(), outer: null },
    function: { ...entry, path, record: undefined },
    template: new Map(),
    self: undefined,
    depth: 0,
    exits: { returns: [], breaks: undefined, continues: undefined },
  });

  /** Whether nothing changes a variable outside of functions. Nobody else can where the unit declares nothing of other files. */
  const isFirm = ({ name, isConstant, isInternal }: Pick<HostVariable, 'name' | 'isConstant' | 'isInternal'>): boolean =>
    isConstant || (!declarations.assigned.has(name) && (isInternal || (declarations.functions.has('main') && !isOneOfSeveral))); // prettier-ignore

  /** What a variable outside of functions holds before anything has run: its initialiser, if nothing else writes it. */
  const initialValue = ({ name, type, value, isConstant, isInternal, path }: HostVariable): HostValue => {
    const frame = globalFrame(path);
    const unknown = (): HostValue => converted({ kind: 'symbol', symbol: { id: `${program}:global ${[...path, name].join('::')}`, label: name } }, type, declarations.aliases); // prettier-ignore
    const isKnown = isFirm({ name, isConstant, isInternal });
    if (!isKnown || !value) return !value && type === 'dim3' && isKnown ? dim3Of(numberValue(one)) : unknown();
    const scratch = cloneState(base);
    if (value.type === 'initializer_list') return bracedValue(value, type, scratch, frame, host);
    if (value.type === 'argument_list') {
      const items = value.children.filter(({ type: kind }) => !/^[(),]$/.test(kind));
      const values = items.map((item) => host.evaluate(item, scratch, frame));
      const [only] = values;
      if (values.length === 1 && only) return converted(only, type, declarations.aliases);
      if (type !== 'dim3') return unknown();
      const fields = new Map(
        ['x', 'y', 'z'].map((axis, at): [string, HostValue] => [axis, values[at] ?? numberValue(one)]),
      );
      return { kind: 'record', fields, rest: { id: `dim3 ${name}`, label: name } };
    }
    return converted(host.evaluate(value, scratch, frame), type, declarations.aliases);
  };

  const exits: Exits = { returns: [], breaks: undefined, continues: undefined };
  const frame: Frame = { ...globalFrame(entry.path), function: entry, exits };
  const state: State = { store: new Map(), facts, epoch: 0 };
  const self = entry.record === undefined ? undefined : symbol('this', entry.record);
  const values: HostArgument[] = entry.parameters.map(({ name, type }, at) => {
    const value = given?.[at] ?? converted(symbol(name, typeText(type, frame)), type, declarations.aliases);
    return { value, place: null, type };
  });
  host.invoke(entry, values, state, { ...frame, scope: { cells: new Map(), outer: null } }, self ? { self } : {});
  // Lambdas that are handed to a library, or to nobody.
  for (const { lambda, state: then } of lambdas.values()) callLambda(lambda, [], then, frame, host);
  return events;
}
