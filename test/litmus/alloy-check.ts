/**
 * The oracle against the Alloy model of PTX (Lustig, Sahasrabuddhe, Giroux, ASPLOS 2019), whose definitions are read
 * from a checkout of NVlabs/ptxmemorymodel: `node alloy-check.ts CHECKOUT [EACH [SEED]]`. For programs whose stores
 * have distinct values, each outcome is allowed by both or by neither.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../src/base/random.ts';
import { AlloyModel, type Instance } from './alloy.ts';
import { describe } from './comparison.ts';
import { families } from './generator.ts';
import { decideProgram } from './oracle.ts';
import type { LitmusProgram, Scope, Statement } from './program.ts';

const [checkout, each = '10', seed = '1'] = process.argv.slice(2);
if (checkout === undefined) throw new Error('the checkout of NVlabs/ptxmemorymodel is missing');
const model = new AlloyModel(['ptx.als', 'util.als'].map((file) => readFileSync(join(checkout, file), 'utf8')));

interface Event {
  readonly name: string;
  readonly thread: number;
  readonly statement: Statement;
  readonly kind: 'read' | 'write' | 'fence';
}

/** Without tests, and with atomics that exchange: every write has a distinct value. */
function plainly({ threads, barriers }: LitmusProgram): LitmusProgram {
  let value = 1;
  const plain = (statement: Statement): Statement => {
    if (statement.kind === 'fence') return statement;
    const { test: _, ...rest } = { test: undefined, ...statement };
    if (rest.kind === 'load') return rest;
    return { ...rest, value: value++, ...(rest.kind === 'atomic' && { operation: 'exch' }) };
  };
  return { threads: threads.map((thread) => ({ ...thread, segments: thread.segments.map((own) => own.map(plain)) })), barriers };
}

/** The relations of an instance other than reads-from, the order of writes and that of fences. */
function frameOf({ threads }: LitmusProgram, events: readonly Event[]): Map<string, Set<string>> {
  const names = [
    'System',
    'Scope',
    'Thread',
    'Event',
    'Fence',
    'MemoryEvent',
    'Read',
    'Write',
    'FenceAcq',
    'FenceRel',
    'FenceAcqRel',
    'FenceSC',
    'Acquire',
    'Release',
    'Barrier',
    'BarrierArrive',
    'BarrierWait',
    'Address',
    'subscope',
    'start',
    'po',
    'scope',
    'address',
    'observation',
    'rmw',
    'dep',
    'rf',
    'co',
    'sc',
    'synchronizes',
  ];
  const sets = new Map(names.map((name) => [name, new Set<string>()]));
  const add = (name: string, tuple: string): void => void sets.get(name)!.add(tuple);
  sets.delete('System');
  const scopeName = (thread: number, scope: Scope): string => {
    const { cluster, block } = threads[thread]!.place;
    return scope === 'cta' ? `B${block}` : scope === 'cluster' ? `C${cluster}` : scope === 'gpu' ? 'G' : 'S';
  };
  add('subscope', 'S,G');
  for (const [thread, { place }] of threads.entries()) {
    add('subscope', `G,C${place.cluster}`);
    add('subscope', `C${place.cluster},B${place.block}`);
    add('subscope', `B${place.block},T${thread}`);
    add('Thread', `T${thread}`);
    for (const scope of ['S', 'G', `C${place.cluster}`, `B${place.block}`, `T${thread}`]) add('Scope', scope);
    const own = events.filter((event) => event.thread === thread);
    if (own[0]) add('start', `T${thread},${own[0].name}`);
    for (const [at, { name }] of own.entries()) if (own[at + 1]) add('po', `${name},${own[at + 1]!.name}`);
  }
  for (const [index, { name, thread, statement, kind }] of events.entries()) {
    add('Event', name);
    const { order } = statement;
    const isWeak = order === 'weak';
    add('scope', `${name},${isWeak ? `T${thread}` : scopeName(thread, order === 'volatile' ? 'sys' : statement.scope)}`);
    if (statement.kind === 'fence') {
      add('Fence', name);
      if (order === 'acquire') add('FenceAcq', name);
      else if (order === 'release') add('FenceRel', name);
      else add('FenceAcqRel', name);
      if (order === 'sc') add('FenceSC', name);
      continue;
    }
    add('MemoryEvent', name);
    add('Address', `A${statement.at}`);
    add('address', `${name},A${statement.at}`);
    add(kind === 'read' ? 'Read' : 'Write', name);
    if (kind === 'read' && /^acq/.test(order)) add('Acquire', name);
    if (kind === 'write' && /^(release|acq_rel)$/.test(order)) add('Release', name);
    if (kind === 'write' && statement.kind === 'atomic')
      for (const relation of ['rmw', 'dep']) add(relation, `${events[index - 1]!.name},${name}`);
  }
  const univ = new Set([...sets.get('Event')!, ...sets.get('Scope')!, ...sets.get('Address')!]);
  sets.set('univ', univ);
  sets.set('iden', new Set([...univ].map((atom) => `${atom},${atom}`)));
  return sets;
}

/** Every choice of a first element for each pair. */
function* orientations(pairs: readonly (readonly [string, string])[]): Iterable<Set<string>> {
  for (let choice = 0; choice < 2 ** pairs.length; choice++)
    yield new Set(pairs.map(([a, b], index) => (((choice >> index) & 1) === 1 ? `${b},${a}` : `${a},${b}`)));
}

/** The least relation of the observations of strong writes, through atomics. */
function observationOf(strongRf: ReadonlySet<string>, rmw: ReadonlySet<string>): Set<string> {
  const all = new Set(strongRf);
  for (let size = -1; size !== all.size;) {
    size = all.size;
    for (const one of all)
      for (const half of rmw)
        for (const next of all) {
          const [[w, r], [read, write], [from, to]] = [one.split(','), half.split(','), next.split(',')];
          if (r === read) all.add(`${w},${write}`);
          if (r === read && write === from) all.add(`${w},${to}`);
        }
  }
  return all;
}

/** Whether the model allows that reads find these writes (null: the initial value), in the order of events. */
function isAllowed(program: LitmusProgram, events: readonly Event[], rf: ReadonlySet<string>): boolean {
  const sets = frameOf(program, events);
  sets.set('rf', new Set(rf));
  const strong = model.tuples('strong_r', sets);
  sets.set('observation', observationOf(new Set([...rf].filter((pair) => strong.has(pair))), sets.get('rmw')!));
  const isBefore = (a: Event, b: Event): boolean => a.thread === b.thread && events.indexOf(a) < events.indexOf(b);
  const pairsOf = (list: readonly Event[]): (readonly [Event, Event])[] =>
    list.flatMap((a, index) => list.slice(index + 1).map((b) => [a, b] as const)).filter(([a, b]) => strong.has(`${a.name},${b.name}`));
  const fences = pairsOf(events.filter(({ statement }) => statement.kind === 'fence' && statement.order === 'sc'));
  const writes = pairsOf(events.filter(({ kind }) => kind === 'write')).filter(
    ([a, b]) => a.statement.kind !== 'fence' && b.statement.kind !== 'fence' && a.statement.at === b.statement.at,
  );
  const named = (pairs: readonly (readonly [Event, Event])[]): (readonly [string, string])[] =>
    pairs.filter(([a, b]) => !isBefore(a, b)).map(([a, b]) => [a.name, b.name] as const);
  const fixed = (pairs: readonly (readonly [Event, Event])[]): string[] =>
    pairs.filter(([a, b]) => isBefore(a, b)).map(([a, b]) => `${a.name},${b.name}`);
  for (const sc of orientations(named(fences))) {
    sets.set('sc', new Set([...sc, ...fixed(fences)]));
    // A larger order only forbids more, so it has the required pairs only.
    sets.set('co', new Set());
    const caused = [...model.tuples('cause', sets)].filter((pair) => {
      const [a, b] = pair.split(',').map((name) => events.find((event) => event.name === name)!);
      return (
        a!.kind === 'write' && b!.kind === 'write' && 'at' in a!.statement && 'at' in b!.statement && a!.statement.at === b!.statement.at
      );
    });
    for (const co of orientations(named(writes))) {
      sets.set('co', new Set([...co, ...fixed(writes), ...caused]));
      const instance: Instance = sets;
      if (model.holds('ptx_mm', instance) && model.brokenFact(instance) === null) return true;
    }
  }
  return false;
}

const random = seededRandom(Number(seed));
let [compared, programs, allowedByBoth] = [0, 0, 0];
const differences: string[] = [];
for (const { name, count, programAt } of families.filter((family) => !/barrier|four/.test(family.name))) {
  for (let tried = 0, kept = 0; kept < Number(each) && tried < 3000; tried++) {
    const drawn = programAt(Math.floor(random.next() * count));
    const program = drawn && plainly(drawn);
    if (!program) continue;
    const events: Event[] = program.threads.flatMap(({ segments }, thread) =>
      segments.flat().flatMap((statement, index): Event[] => {
        const at = { thread, statement, name: `e${thread}_${index}` };
        if (statement.kind === 'atomic')
          return [
            { ...at, name: `${at.name}r`, kind: 'read' },
            { ...at, name: `${at.name}w`, kind: 'write' },
          ];
        return [{ ...at, kind: statement.kind === 'load' ? 'read' : statement.kind === 'store' ? 'write' : 'fence' }];
      }),
    );
    const reads = events.filter(({ kind }) => kind === 'read');
    const locations = [...new Set(events.flatMap(({ statement }) => ('at' in statement ? [statement.at] : [])))];
    const isModelled = locations.every((at) => {
      const own = events.filter(({ statement }) => 'at' in statement && statement.at === at);
      return own.length > 1 && own.some(({ kind }) => kind === 'write');
    });
    if (
      !isModelled ||
      reads.length === 0 ||
      reads.length > 3 ||
      events.length > 8 ||
      program.threads.some(({ segments }) => segments.flat().length === 0)
    )
      continue;
    kept++;
    programs++;
    const outcomes = new Set([...decideProgram(program, 'all').outcomes].map((outcome) => outcome.replaceAll(/\S+=/g, '')));
    const sources = reads.map((read) => [
      null,
      ...events.filter(
        ({ kind, statement }) => kind === 'write' && 'at' in statement && 'at' in read.statement && statement.at === read.statement.at,
      ),
    ]);
    const choose = (index: number, found: readonly (Event | null)[]): void => {
      if (index < reads.length) {
        for (const source of sources[index]!) choose(index + 1, [...found, source]);
        return;
      }
      const values = found.map((source) => (source && 'value' in source.statement ? source.statement.value : 0));
      const rf = new Set(found.flatMap((source, at) => (source ? [`${source.name},${reads[at]!.name}`] : [])));
      const [ours, theirs] = [outcomes.has(values.join(' ')), isAllowed(program, events, rf)];
      compared++;
      if (ours && theirs) allowedByBoth++;
      if (ours !== theirs)
        differences.push(`${name}: ${values.join(' ')} is allowed only by the ${ours ? 'oracle' : 'model'}\n${describe(program)}`);
    };
    choose(0, []);
  }
}
console.log(`${programs} programs, ${compared} outcomes: ${allowedByBoth} allowed by both, ${differences.length} differ`);
for (const difference of differences.slice(0, 10)) console.log(difference);
process.exitCode = differences.length > 0 ? 1 : 0;
