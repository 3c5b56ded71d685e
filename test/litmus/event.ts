/** The events of candidate executions: each path through the program, with the conditions on the values read for it. */
import type { LitmusProgram, MemoryStatement, Place, Scope, Statement } from './program.ts';
import { leftBy } from './program.ts';

export interface Event {
  readonly thread: number;
  readonly kind: 'read' | 'write' | 'fence' | 'arrive' | 'wait';
  /** Its location; -1 if it accesses none. */
  readonly at: number;
  readonly order: string;
  readonly scope: Scope;
  /** `segment.statement` in its thread. */
  readonly name: string;
  /** Value of a write; `read`: event of the atomic of which it is the write. */
  readonly value?: number | { readonly read: number; readonly statement: MemoryStatement & { kind: 'atomic' } };
  /** Number of the barrier of arrivals and waits. */
  readonly barrier?: number;
}

/** A read returned this value, or another one. */
interface Condition {
  readonly read: number;
  readonly value: number;
  readonly isEqual: boolean;
}

/** One path through a thread, events by their numbers in it. */
interface ThreadPath {
  readonly events: readonly Event[];
  readonly conditions: readonly Condition[];
  /** It waits for ever. */
  readonly isStuck: boolean;
  /** By event: the reads on whose values it depends whether it happens. */
  readonly controls: readonly (readonly number[])[];
}

/** One path through each thread, events by their numbers in the program. */
export interface ProgramPath {
  readonly events: readonly Event[];
  readonly conditions: readonly Condition[];
  readonly controls: readonly (readonly number[])[];
}

const emptyPath: ThreadPath = { events: [], conditions: [], isStuck: false, controls: [] };

/** Adds an access or a fence; `guards` are the reads that decide about it. */
function withStatement(way: ThreadPath, thread: number, name: string, statement: Statement, guards: readonly number[]): ThreadPath {
  const { order, scope } = statement;
  const at = statement.kind === 'fence' ? -1 : statement.at;
  const next = way.events.length;
  const events: Event[] = [];
  if (statement.kind === 'fence') events.push({ thread, kind: 'fence', at, order, scope, name });
  if (statement.kind === 'load' || statement.kind === 'atomic') events.push({ thread, kind: 'read', at, order, scope, name });
  if (statement.kind === 'store') events.push({ thread, kind: 'write', at, order, scope, name, value: statement.value });
  if (statement.kind === 'atomic') events.push({ thread, kind: 'write', at, order, scope, name, value: { read: next, statement } });
  return { ...way, events: [...way.events, ...events], controls: [...way.controls, ...events.map(() => guards)] };
}

function withCondition(way: ThreadPath, condition: Condition): ThreadPath {
  return { ...way, conditions: [...way.conditions, condition] };
}

/** All paths through a thread. A loop that waits is exited at once, after one more iteration, or never. */
function threadPaths({ threads, barriers }: LitmusProgram, thread: number): readonly ThreadPath[] {
  const done: ThreadPath[] = [];
  const { segments } = threads[thread]!;
  const walk = (way: ThreadPath, segment: number, index: number, guards: readonly number[]): void => {
    const statement = segments[segment]![index];
    const name = `${segment}.${index}`;
    if (!statement) {
      if (segment === segments.length - 1) {
        done.push(way);
        return;
      }
      const barrier = { thread, at: -1, order: barriers[segment]!, scope: 'cta', name, barrier: segment } as const;
      // The scope of a condition ends with the segment; a loop that ended controls all later events.
      const kept = guards.filter((read) => way.conditions.some((one) => one.read === read && isWait(segments, way, read)));
      walk(
        {
          ...way,
          events: [...way.events, { ...barrier, kind: 'arrive' }, { ...barrier, kind: 'wait' }],
          controls: [...way.controls, kept, kept],
        },
        segment + 1,
        0,
        kept,
      );
      return;
    }
    const read = way.events.length;
    const once = withStatement(way, thread, name, statement, guards);
    const test = statement.kind === 'load' || statement.kind === 'atomic' ? statement.test : undefined;
    if (!test) {
      walk(once, segment, index + 1, guards);
      return;
    }
    const { value } = test;
    const found = withCondition(once, { read, value, isEqual: true });
    const missed = withCondition(once, { read, value, isEqual: false });
    walk(found, segment, index + 1, [...guards, read]);
    if (test.kind === 'if') {
      walk(missed, segment, segments[segment]!.length, guards);
      return;
    }
    const again = missed.events.length;
    const twice = withStatement(missed, thread, name, statement, [...guards, read]);
    walk(withCondition(twice, { read: again, value, isEqual: true }), segment, index + 1, [...guards, read, again]);
    done.push({ ...missed, isStuck: true });
  };
  walk(emptyPath, 0, 0, []);
  return done;
}

function isWait(segments: readonly (readonly Statement[])[], way: ThreadPath, read: number): boolean {
  const [segment, index] = way.events[read]!.name.split('.').map(Number);
  const statement = segments[segment!]![index!]!;
  return statement.kind !== 'fence' && statement.kind !== 'store' && statement.test?.kind === 'wait';
}

/** Ends a path before a barrier at which another thread never arrives. */
function upToBarrier(way: ThreadPath, barrier: number): ThreadPath {
  const wait = way.events.findIndex((event) => event.kind === 'wait' && event.barrier === barrier);
  if (wait === -1) return way;
  return {
    events: way.events.slice(0, wait),
    conditions: way.conditions.filter(({ read }) => read < wait),
    controls: way.controls.slice(0, wait),
    isStuck: true,
  };
}

/** Whether two threads synchronize at a barrier of that kind. */
export function shareBarrier(a: Place, b: Place, barrier: string): boolean {
  return a.block === b.block && (barrier === 'block' || a.warp === b.warp);
}

/** Ends all paths at barriers where threads wait for each other forever. */
function settled({ threads, barriers }: LitmusProgram, ways: readonly ThreadPath[]): readonly ThreadPath[] {
  const current = [...ways];
  for (const [barrier, kind] of barriers.entries()) {
    for (const [thread, { place }] of threads.entries()) {
      const isComplete = current.every(
        ({ events }, other) =>
          !shareBarrier(place, threads[other]!.place, kind) || events.some((event) => event.kind === 'arrive' && event.barrier === barrier),
      );
      if (!isComplete) current[thread] = upToBarrier(current[thread]!, barrier);
    }
  }
  return current;
}

/** Every combination of paths through the threads. */
export function* programPaths(program: LitmusProgram): Iterable<ProgramPath> {
  const choices = program.threads.map((_, thread) => threadPaths(program, thread));
  const seen = new Set<string>();
  const taken = choices.map(() => 0);
  for (;;) {
    const ways = settled(
      program,
      taken.map((choice, thread) => choices[thread]![choice]!),
    );
    const key = JSON.stringify(ways.map(({ events, conditions }) => [events.length, conditions]));
    if (!seen.has(key)) {
      seen.add(key);
      yield joined(ways);
    }
    let thread = taken.length - 1;
    while (thread >= 0 && taken[thread]! + 1 === choices[thread]!.length) taken[thread--] = 0;
    if (thread < 0) return;
    taken[thread]!++;
  }
}

function joined(ways: readonly ThreadPath[]): ProgramPath {
  const events: Event[] = [];
  const conditions: Condition[] = [];
  const controls: (readonly number[])[] = [];
  for (const way of ways) {
    const first = events.length;
    for (const event of way.events) {
      const { value } = event;
      events.push(typeof value === 'object' ? { ...event, value: { ...value, read: first + value.read } } : event);
    }
    for (const condition of way.conditions) conditions.push({ ...condition, read: first + condition.read });
    for (const reads of way.controls) controls.push(reads.map((read) => first + read));
  }
  return { events, conditions, controls };
}

/**
 * The values of all events of an execution, or null if an atomic's value depends on itself.
 * @param sources by event that reads: the write it reads from, -1 for the initial value
 */
export function valuesOf(events: readonly Event[], sources: readonly number[]): readonly number[] | null {
  const values = new Array<number | undefined>(events.length).fill(undefined);
  const open = new Set<number>();
  const valueOf = (event: number): number | null => {
    const known = values[event];
    if (known !== undefined) return known;
    if (open.has(event)) return null;
    open.add(event);
    const { kind, value } = events[event]!;
    let result: number | null = 0;
    if (kind === 'read') result = sources[event] === -1 ? 0 : valueOf(sources[event]!);
    else if (typeof value === 'number') result = value;
    else if (value) {
      const old = valueOf(value.read);
      result = old === null ? null : leftBy(value.statement.operation, old, value.statement.value);
    }
    open.delete(event);
    if (result !== null) values[event] = result;
    return result;
  };
  for (const event of events.keys()) if (valueOf(event) === null) return null;
  return values as number[];
}
