/**
 * A symbolic interpreter of host programs: which kernels are launched, with which configuration and arguments, under
 * which conditions. Each function that reaches a launch and that no other such function of the unit calls is
 * interpreted once, with symbols for its parameters; calls are followed. So a launch in a wrapper is reported for each
 * call of the wrapper.
 */
import { childIn, listItems, nodesWhere, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { callLambda, evaluateCall, expandPacks, invokeFunction } from './calls.ts';
import { type Declarations, type FunctionDeclaration, type HostVariable, readDeclarations } from '../declarations/declarations.ts'; // oxfmt-ignore
import { bracedValue, withLength } from './braced-value.ts';
import { hostValueOf, placeNamed } from './expressions.ts';
import { EscapingFunctions } from '../declarations/escaping-functions.ts';
import { HostStore } from './host-store.ts';
import { type HostArgument, type CallEvent, type Exits, type Frame, type HostEvent, type Interpreter, type LaunchEvent, type State, cloneState, converted, dim3Of, partOf, withPart, typeText } from './interpreter.ts'; // oxfmt-ignore
import { executeStatement } from './statements.ts';
import { type Fact, type HostSymbol, one } from './term.ts';
import { lentNames, reachableNames } from '../declarations/reachable-names.ts';
import { isInOrder } from './device-contents.ts';
import { type HostMemory, type HostValue, type HostScope, type MemoryContents, integerValue, termOf } from './value.ts'; // oxfmt-ignore

/** Maximum number of statements and expressions that are executed for one function, calls included. */
const maxSteps = 60_000;
/** Maximum number of functions from which interpretation starts. */
const maxRoots = 200;

export interface HostProgram {
  readonly declarations: Declarations;
  /** Launches, and calls of functions that other files define, in order of execution. */
  readonly launches: readonly HostLaunch[];
  readonly calls: readonly CallEvent[];
  /** Launches in the source that no path through the program reached. */
  readonly unreached: readonly SyntaxNode[];
  /** Functions of external linkage that reach a launch and that nothing in this unit calls. */
  readonly entries: readonly FunctionDeclaration[];
  /** Functions of external linkage that reach a launch and that something in this unit calls too. */
  readonly shared: readonly FunctionDeclaration[];
  /** Interprets one function with given arguments. */
  readonly launchesOf: (entry: FunctionDeclaration, given: readonly HostValue[], facts: readonly Fact[]) => readonly HostLaunch[]; // oxfmt-ignore
}

/** A launch, with the function from which interpretation started. */
export interface HostLaunch extends LaunchEvent {
  readonly entry: FunctionDeclaration;
}

const launchName = /\b(?:cudaLaunch\w*Kernel\w*|cuLaunch\w*Kernel\w*|cudaGraph\w*Kernel\w*|cudaGraphAddNode)\b/;

/**
 * Interprets a program.
 * @param name distinguishes its symbols from those of other programs
 * @param text after preprocessing
 * @param wanted names of functions in other files; if there are any, only calls of these are recorded
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
  const handed = new EscapingFunctions(declarations);
  // A parameter that is called may be a function that reaches a launch.
  const telling = new Set([...[...reaching].map((one) => one.name), ...wanted, ...handed.calledParameters]);
  const reachingNodes = new Map<SyntaxNode, boolean>();
  const reaches = (node: SyntaxNode): boolean => {
    const known = reachingNodes.get(node);
    if (known !== undefined) return known;
    const written = text.slice(node.start, node.end);
    const found = (wanted.size === 0 && mayLaunchHere(written)) || (written.match(/[A-Za-z_]\w*/g) ?? []).some((word) => telling.has(word)); // oxfmt-ignore
    reachingNodes.set(node, found);
    return found;
  };
  const nodesOfInterest = (one: FunctionDeclaration): readonly SyntaxNode[] =>
    wanted.size === 0 ? launchNodes(one, text) : callNodes(one, text, wanted);
  const called = new Set<string>();
  for (const one of reaching) for (const name of names.get(one) ?? []) if (name !== one.name) called.add(name);
  const roots = [...reaching].filter(({ name, isDevice }) => !called.has(name) && !isDevice).slice(0, maxRoots);
  const seen = new Set<SyntaxNode>();
  const open = new Set<string>();
  const cutShort = new Set<FunctionDeclaration>();
  const events: (HostLaunch | CallEvent)[] = [];
  const go = (
    entry: FunctionDeclaration,
    given?: readonly HostValue[],
    facts: readonly Fact[] = [],
  ): (HostLaunch | CallEvent)[] => {
    const found = interpret(name, declarations, entry, given, facts, reaches);
    for (const event of found.events) seen.add(event.node);
    for (const one of found.unfollowed) open.add(one);
    if (found.isCutShort) cutShort.add(entry);
    return found.events.map((event) => (event.kind === 'launch' ? { ...event, entry } : event));
  };
  const { named, takers } = namesWithoutCall(root, text, handed);
  for (const one of named) open.add(one);
  for (const entry of roots) events.push(...go(entry));
  // Functions that no call reached, due to recursion, overloads or the work limit, are interpreted separately; so are
  // functions that a call with unknown callee may call, or whose caller was not completed.
  const begun = new Set(roots);
  for (let count = -1; count !== begun.size;) {
    count = begun.size;
    for (const entry of reaching) {
      if (begun.has(entry)) continue;
      const isTaken = [...(takers.get(entry.name) ?? [])].some((name) => open.has(name));
      const isOpen = isTaken || open.has(entry.name) || cutShort.size > 0;
      const missed = new Set(nodesOfInterest(entry).filter((node) => !seen.has(node)));
      if (!isOpen && missed.size === 0) continue;
      begun.add(entry);
      const found = go(entry);
      events.push(...(isOpen ? found : found.filter(({ node }) => missed.has(node))));
    }
  }
  // Methods of local types are not executed.
  const local = all.filter(({ body }) => nodesWhere(body!, ({ type }) => type === 'function_definition').length > 0);
  for (const entry of new Set([...cutShort, ...local]))
    for (const node of launchNodes(entry, text)) if (!seen.has(node)) events.push(unknownLaunch(node, entry, text));
  const kernels = [...declarations.functions].flatMap(([one, list]) => ((named.has(one) || takers.has(one)) && list.some(({ isKernel }) => isKernel) ? [one] : [])); // oxfmt-ignore
  const launches = events
    .filter((event): event is HostLaunch => event.kind === 'launch')
    // An unknown kernel may be any kernel whose name is used as a value.
    .flatMap((launch) => launch.kernel.name !== '' ? [launch] : [launch, ...kernels.map((one): HostLaunch => ({ ...launch, kernel: { name: one, templateArguments: [] } }))]); // oxfmt-ignore
  return {
    declarations,
    launches,
    calls: events.filter((event): event is CallEvent => event.kind === 'call'),
    unreached: all.flatMap((one) => launchNodes(one, text)).filter((node) => !seen.has(node)),
    entries: roots.filter(({ name, isInternal }) => name !== 'main' && !isInternal),
    shared: [...reaching].filter((one) => !roots.includes(one) && one.name !== 'main' && !one.isInternal && !one.isKernel && !one.isDevice), // oxfmt-ignore
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

/** Calls of the functions in other files that are searched for. */
function callNodes({ body }: FunctionDeclaration, text: string, wanted: ReadonlySet<string>): SyntaxNode[] {
  if (!body) return [];
  return nodesWhere(body, (node) => {
    const callee = node.type === 'call_expression' ? childIn(node, 'function') : undefined;
    return callee !== undefined && wanted.has(text.slice(callee.start, callee.end).replace(/<[^]*$/, '').replace(/^.*::/s, '').trim()); // oxfmt-ignore
  });
}

/** Names that denote a function without calling it. */
interface NamesWithoutCall {
  /** Names with any other use. */
  readonly named: ReadonlySet<string>;
  /** Names that are passed to functions which only call them, with all of these functions. */
  readonly takers: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Names in bodies and initialisers that denote a function without calling it. */
function namesWithoutCall(root: SyntaxNode, text: string, handed: EscapingFunctions): NamesWithoutCall {
  const named = new Set<string>();
  const takers = new Map<string, Set<string>>();
  const visitItems = (call: SyntaxNode, list: SyntaxNode): void => {
    const items = listItems(list);
    for (const [at, item] of items.entries()) {
      const by = item.type === 'identifier' ? handed.takersOf(call, items, at) : null;
      if (!by) {
        visit(item);
        continue;
      }
      const name = text.slice(item.start, item.end);
      const known = takers.get(name) ?? new Set();
      for (const one of by) known.add(one);
      takers.set(name, known);
    }
  };
  const visit = (node: SyntaxNode): void => {
    if (/identifier$/.test(node.type) && node.children.length === 0) named.add(text.slice(node.start, node.end));
    if (/(?:^|_)declarator$/.test(node.type) && node.type !== 'init_declarator') return;
    const isCall = node.type === 'call_expression';
    for (const child of node.children) {
      const isName = child.field === 'function' && /^(?:identifier|qualified_identifier|template_function|field_expression)$/.test(child.type); // oxfmt-ignore
      if (isCall && child.field === 'arguments') visitItems(node, child);
      else if (!isCall || !isName) visit(child);
      // The object of a method, and the arguments of a template.
      else
        for (const inner of child.children) if (inner.field === 'argument' || inner.field === 'arguments') visit(inner);
    }
  };
  visit(root);
  return { named, takers };
}

/** A launch that was not reached within the work limit: kernel, configuration and arguments are unknown. */
function unknownLaunch(node: SyntaxNode, entry: FunctionDeclaration, text: string): HostLaunch {
  const callee = childIn(node, 'function');
  const isChevron = node.children.some(({ type }) => type === 'kernel_call_syntax');
  const written = callee && isChevron ? text.slice(callee.start, callee.end).replace(/\s|<[^]*$/g, '') : '';
  return {
    kind: 'launch',
    node,
    text: written,
    kernel: { name: written, templateArguments: [] },
    isByName: false,
    path: entry.path,
    grid: undefined,
    block: undefined,
    cluster: undefined,
    shared: undefined,
    cooperative: isChevron ? false : undefined,
    startsEarly: !isChevron,
    arguments: undefined,
    argumentTypes: [],
    facts: [],
    symbolFacts: [],
    contents: new Map(),
    entry,
  };
}

function mayLaunchHere(text: string): boolean {
  return text.includes('<<<') || launchName.test(text);
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
    if (wanted.size === 0 ? mayLaunchHere(written) : [...wanted].some((name) => calls.has(name))) reaching.add(one);
  }
  for (let size = -1; size !== reaching.size;) {
    size = reaching.size;
    const known = new Set([...reaching].map(({ name }) => name));
    for (const one of all)
      if (!reaching.has(one) && [...names.get(one)!].some((name) => known.has(name))) reaching.add(one);
  }
  return reaching;
}

/** Interprets a function. */
function interpret(
  program: string,
  declarations: Declarations,
  entry: FunctionDeclaration,
  given: readonly HostValue[] | undefined,
  facts: readonly Fact[],
  reaches: (node: SyntaxNode) => boolean,
): { events: HostEvent[]; unfollowed: ReadonlySet<string>; isCutShort: boolean } {
  const types: string[] = [];
  const firm = new Set<number>();
  let lent: ReadonlySet<string> | undefined;
  const isOneOfSeveral = [...declarations.functions.values()].some((list) => list.every(({ body }) => !body));
  const globals = new Map<HostVariable, number>();
  const memories = new Map<string, { readonly cell: number; readonly field: string; readonly symbol: HostValue }>();
  const known: Fact[] = [];
  const events: HostEvent[] = [];
  let steps = 0;
  let written: Map<number, { by: Set<SyntaxNode | undefined>; fields: Set<string> }> | undefined;
  const exposed = new Set<number>();
  /** Variables that are accessed only by the text of their function. */
  const unreachable = new Set<number>();
  let isClouded = false;
  /** Number of events so far that may have changed a variable. */
  let changes = 0;
  const clouded = new Map<number, { readonly at: number; readonly value: HostValue }>();
  const escaped = new Set<number>();
  /** Static variables of functions, which outlive their calls. */
  const permanent = new Set<number>();
  let lambdaCount = 0;
  const note = (index: number, by: SyntaxNode | undefined, field: string): void => {
    rewritten.add(index);
    const own = written?.get(index) ?? { by: new Set(), fields: new Set() };
    own.by.add(by);
    own.fields.add(field);
    written?.set(index, own);
  };
  let silence = 0;
  let counter = 0;
  const cell = (type: string): number => types.push(type) - 1;
  /** A local number that is declared constant. */
  const isFixed = (index: number): boolean => /^const [^*&[(]*$/.test(types[index] ?? '');
  const unfollowed = new Set<string>();
  let lambdas: { lambda: Extract<HostValue, { kind: 'lambda' }>; state: State; isHanded: boolean }[] = [];
  const rewritten = new Set<number>();
  const { text } = declarations;
  const base: State = { store: HostStore.empty(), facts: [], epoch: 0 };
  let tellsContents: boolean | undefined;
  const contents = new Map<string, number>();

  const symbol = (label: string, type?: string): HostValue => {
    const own = { id: `${program}:${entry.node.start}.${counter++}`, label };
    return { kind: 'symbol', symbol: type === undefined ? own : { ...own, type } };
  };

  const host: Interpreter = {
    declarations,
    evaluate: (node, state, frame) => hostValueOf(node, state, frame, host),
    execute: (node, state, frame) => executeStatement(node, state, frame, host),
    call: (node, state, frame) => evaluateCall(node, state, frame, host),
    invoke: (declaration, arguments_, state, frame, options) => {
      const [first, lambdasBefore] = [types.length, lambdaCount];
      const result = invokeFunction(declaration, arguments_, state, frame, host, options);
      // Its variables end with the call, unless a lambda has captured one of them.
      if (lambdaCount === lambdasBefore)
        for (const index of escaped) if (index >= first && !permanent.has(index)) escaped.delete(index);
      return result;
    },
    expand: (items, frame) => expandPacks(items, frame, host),
    place: (node, state, frame) => placeNamed(node, state, frame, host),
    read: (place, state) => {
      if (place.kind === 'memory') {
        const found = memories.get(place.symbol.id) ?? memoryAt(place.symbol);
        return state.store.get(found.cell) ?? found.symbol;
      }
      if (exposed.has(place.cell) || (isClouded && !unreachable.has(place.cell) && !isFixed(place.cell) && !firm.has(place.cell))) return partOf(cloudedValue(place.cell), place.path); // oxfmt-ignore
      const value = state.store.get(place.cell);
      return value ? partOf(value, place.path) : symbol('uninitialised', types[place.cell]);
    },
    initial: (index) => base.store.get(index),
    expose: (index) => {
      if (!isFixed(index)) exposed.add(index);
    },
    lose: (value) => {
      if (value.kind === 'place') host.expose(value.cell);
      if (value.kind === 'record') for (const field of value.fields.values()) host.lose(field);
    },
    escape: (index) => {
      if (!isFixed(index)) escaped.add(index);
    },
    fill: (memory, held, state) => {
      if (!(tellsContents ??= isInOrder(declarations))) return;
      let own = contents.get(memory);
      if (own === undefined) {
        own = cell('contents of memory');
        contents.set(memory, own);
        base.store.set(own, symbol('contents of memory'));
      }
      state.store.set(own, held ?? symbol('contents of memory'));
      note(own, undefined, '');
    },
    endContents: (state, isKernel = false) => {
      for (const [memory, own] of contents)
        if (state.store.get(own)?.kind === 'contents' && !(isKernel && isConstantMemory(memory))) host.fill(memory, null, state); // oxfmt-ignore
    },
    contentsIn: (state) =>
      new Map([...contents].flatMap(([memory, own]): [string, MemoryContents][] => {
        const held = state.store.get(own);
        return held?.kind === 'contents' ? [[memory, held]] : [];
      })), // oxfmt-ignore
    opaque: (state) => {
      isClouded = true;
      host.disturb(state);
    },
    disturb: (state) => {
      state.epoch++;
      changes++;
      host.endContents(state);
      const shared = [...globals].flatMap(([{ isConstant }, index]) => (isConstant ? [] : [index]));
      for (const index of new Set([...escaped, ...shared]))
        if ((state.store.has(index) || base.store.has(index)) && !firm.has(index)) host.write({ kind: 'cell', cell: index, path: [] }, unknownOf(index), state); // oxfmt-ignore
    },
    undecided: () => ({ kind: 'unknown', id: `${program}:${entry.node.start}.u${counter++}` }),
    write: (place, value, state, by) => {
      changes++;
      if (place.kind === 'memory') {
        const own = memories.get(place.symbol.id) ?? memoryAt(place.symbol);
        // Another pointer may point to the same memory; the address of a field may point to any field.
        const isAddress = place.symbol.id.includes('&');
        for (const [id, other] of memories) {
          if (id === place.symbol.id || (other.field !== own.field && !isAddress)) continue;
          state.store.set(other.cell, symbol(own.field));
          note(other.cell, undefined, '');
        }
        state.store.set(own.cell, value);
        note(own.cell, by, '');
        return;
      }
      if (isFixed(place.cell)) return;
      const before = state.store.get(place.cell) ?? symbol('uninitialised', types[place.cell]);
      state.store.set(place.cell, withPart(before, place.path, value));
      // An unknown element may be any element.
      note(place.cell, by, place.path[0]?.replace(/^\[[^]*/, '') ?? '');
    },
    lookUp: (name, frame, state) => {
      const parts = name.split('::').filter((part) => part !== '');
      const last = parts.at(-1) ?? '';
      if (parts.length === 1) {
        for (let scope: HostScope | null = frame.scope; scope; scope = scope.outer) {
          const found = scope.cells.get(last);
          if (found !== undefined) return found;
        }
        const record = declarations.records.get(frame.function?.record ?? '');
        if (record?.fields.some((field) => field.name === last)) return undefined;
        // A parameter of a template hides outer names, and so may a member of a base.
        if (frame.function?.template.some((one) => one.name === last) || record?.template.includes(last)) return undefined; // oxfmt-ignore
        if (record?.hasBase && [...declarations.records.values()].some((one) => one.fields.some((field) => field.name === last))) return undefined; // oxfmt-ignore
      }
      return globalCell(parts, frame, state);
    },
    declare: (name, type, value, state, frame) => {
      const own = cell(type);
      frame.scope.cells.set(name, own);
      const text = frame.function?.node;
      if (/^\w+$/.test(name) && text && !reachableNames(text, declarations).has(name)) unreachable.add(own);
      state.store.set(own, value);
      return own;
    },
    outlives: (index) => void permanent.add(index),
    typeOfCell: (index) => types[index] ?? '',
    symbol,
    memory: (label, bytes): HostMemory => ({
      id: `${program}:${entry.node.start}.m${counter++}`,
      label,
      isAllocation: true,
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
      lambdaCount++;
      if (silence === 0) lambdas.push({ lambda, state: cloneState(state), isHanded: false });
    },
    handed: (lambda, state) => {
      lambdaCount++;
      if (silence === 0) lambdas.push({ lambda, state: cloneState(state), isHanded: true });
    },
    called: ({ node, scope }) => {
      const isIt = (one: (typeof lambdas)[number]): boolean => one.lambda.node === node && one.lambda.scope === scope;
      if (silence === 0) lambdas = lambdas.filter((one) => one.isHanded || !isIt(one));
    },
    unfollowed: (called) => void unfollowed.add(called),
    reaches,
    spent: () => steps,
    step: (count = 1) => (steps += count) <= maxSteps,
    silently(run) {
      const outer = written;
      const own: NonNullable<typeof written> = new Map();
      written = own;
      silence++;
      try {
        run();
      } finally {
        silence--;
        written = outer;
        for (const [index, { by, fields }] of own)
          for (const one of by) for (const field of fields) note(index, one, field);
      }
      return own;
    },
    attempt(run) {
      const count = events.length;
      const isDone = run(() => events.slice(count));
      if (!isDone) events.length = count;
      return isDone;
    },
  };

  /** Whether no kernel can write it: `symbol NAME` of constant memory. */
  const isConstantMemory = (memory: string): boolean => {
    const name = /^symbol (\w+)$/.exec(memory)?.[1];
    return name !== undefined && new RegExp(`(?:__attribute__\\s*\\(\\(constant\\)\\)|__constant__)[^;={}]*\\b${name}\\b`).test(text); // oxfmt-ignore
  };

  /** A cell for memory that a pointer points to. */
  const memoryAt = (own: HostSymbol): { cell: number; field: string; symbol: HostValue } => {
    const field = /(?:->|\.)(\w+)(?:@\d+)?$/.exec(own.id)?.[1] ?? '*';
    const made = { cell: cell(''), field, symbol: { kind: 'symbol' as const, symbol: own } };
    memories.set(own.id, made);
    base.store.set(made.cell, made.symbol);
    return made;
  };
  /** The value of a variable that other code may change: a symbol that is the same until the next possible change. */
  const cloudedValue = (index: number): HostValue => {
    let known = clouded.get(index);
    if (known?.at !== changes) clouded.set(index, (known = { at: changes, value: unknownOf(index) }));
    return known.value;
  };
  const unknownOf = (index: number): HostValue => {
    const type = types[index] ?? '';
    return converted(symbol('changed elsewhere', type), type, declarations.aliases);
  };

  /** The cell of a variable outside of functions; undefined if the name is unknown or ambiguous. */
  const globalCell = (parts: readonly string[], frame: Frame, state: State): number | undefined => {
    const candidates = declarations.variables.get(parts.at(-1) ?? '') ?? [];
    const qualifiers = parts.slice(0, -1);
    const fitting = candidates.filter(({ path }) => qualifiers.every((part, at) => path.at(at - qualifiers.length) === part)); // oxfmt-ignore
    const here = fitting.filter(({ path }) => path.every((part, at) => frame.function?.path[at] === part));
    // A variable of a namespace that does not enclose the code has to be qualified, or made visible by `using`.
    const isBrought = qualifiers.length > 0 || declarations.hasUsing;
    const defined = (here.length > 0 ? here : isBrought ? fitting : []).toSorted((a, b) => b.path.length - a.path.length || Number(b.value !== undefined) - Number(a.value !== undefined)); // oxfmt-ignore
    const [variable] = defined;
    if (!variable) return undefined;
    let own = globals.get(variable);
    if (own === undefined) {
      own = cell(variable.type);
      globals.set(variable, own);
      if (isFirm(variable)) firm.add(own);
      // A global variable exists from the start, on every path.
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

  /**
   * Whether no code changes a variable outside of functions. Other units cannot change it if it has internal linkage,
   * or if the program consists of this unit.
   */
  const isFirm = ({ name, isConstant, isInternal }: Pick<HostVariable, 'name' | 'isConstant' | 'isInternal'>): boolean =>
    isConstant || (!declarations.assigned.has(name) && !(lent ??= lentNames(declarations.root, declarations)).has(name) && (isInternal || (declarations.functions.has('main') && !isOneOfSeveral))); // oxfmt-ignore

  /** Initial value of a variable outside of functions: its initialiser, if nothing else writes it. */
  const initialValue = ({ name, type, value, size, isConstant, isInternal, path }: HostVariable): HostValue => {
    const frame = globalFrame(path);
    const unknown = (): HostValue => converted({ kind: 'symbol', symbol: { id: `${program}:global ${[...path, name].join('::')}`, label: name } }, type, declarations.aliases); // oxfmt-ignore
    const isKnown = isFirm({ name, isConstant, isInternal });
    if (!isKnown || !value) return !value && type === 'dim3' && isKnown ? dim3Of(integerValue(one)) : unknown();
    const scratch = cloneState(base);
    if (value.type === 'initializer_list') return withLength(bracedValue(value, type, scratch, frame, host), type, value, size && termOf(host.evaluate(size, scratch, frame))); // oxfmt-ignore
    if (value.type === 'argument_list') {
      const items = value.children.filter(({ type: kind }) => !/^[(),]$/.test(kind));
      const values = items.map((item) => host.evaluate(item, scratch, frame));
      const [only] = values;
      if (values.length === 1 && only) return converted(only, type, declarations.aliases);
      if (type !== 'dim3') return unknown();
      const fields = new Map(
        ['x', 'y', 'z'].map((axis, at): [string, HostValue] => [axis, values[at] ?? integerValue(one)]),
      );
      return { kind: 'record', fields, rest: { id: `dim3 ${name}`, label: name } };
    }
    return converted(host.evaluate(value, scratch, frame), type, declarations.aliases);
  };

  const exits: Exits = { returns: [], breaks: undefined, continues: undefined };
  const frame: Frame = { ...globalFrame(entry.path), function: entry, exits };
  const state: State = { store: HostStore.empty(), facts, epoch: 0 };
  const self = entry.record === undefined ? undefined : symbol('this', entry.record);
  const values: HostArgument[] = entry.parameters.map(({ name, type }, at) => {
    const value = given?.[at] ?? converted(symbol(name, typeText(type, frame)), type, declarations.aliases);
    return { value, place: null, type };
  });
  host.invoke(entry, values, state, { ...frame, scope: { cells: new Map(), outer: null } }, self ? { self } : {});
  // Lambdas that are passed to a library, or not called.
  for (const { lambda, state: then } of lambdas) {
    // The lambda runs at an unknown time: any other write may have happened before.
    for (const index of rewritten) if (then.store.has(index)) then.store.set(index, unknownOf(index));
    then.facts = [];
    callLambda(lambda, [], then, frame, host);
  }
  return { events, unfollowed, isCutShort: steps > maxSteps };
}
