/**
 * `npm run bench -- where FILE [-- NVCC ARGS…]`: where the CPU time of a check goes. One check of the sources of Selvage
 * is sampled every 2 ms, with all kernels in its main thread. Printed are the CPU time of the compilers and of the process
 * itself, the self time of each room of `src/`, and the functions in which most time is spent: their own, and with what
 * they call. The thread of Z3 is part of the process, but not sampled.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { line, timed } from './measure.ts';

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** In microseconds. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** Functions that are printed. */
const most = 25;
/** Samples outside of functions. */
const waiting = '(idle)';

const words = process.argv.slice(3);
const end = words.includes('--') ? words.indexOf('--') : words.length;
const [file] = words.slice(0, end);
if (file === undefined) throw new Error('usage: npm run bench -- where FILE [-- NVCC ARGS…]');

const scratch = mkdtempSync(join(tmpdir(), 'selvage-where-'));
try {
  const program = fileURLToPath(new URL('check-in-one-thread.ts', import.meta.url));
  const sampled = ['--cpu-prof', '--cpu-prof-interval', '2000', '--cpu-prof-dir', scratch, program];
  const options = ['check', file, '--fail-on', 'never', '--no-cache', '--jobs', '1', '--timeout', '3600'];
  const output = join(scratch, 'output');
  const { wall, cpu } = timed(output, process.execPath, [...sampled, ...options, '--', ...words.slice(end + 1)]);
  const own = Number(/^CPU of the process: (\d+)$/m.exec(readFileSync(output, 'utf8'))?.[1]);
  const profile = readdirSync(scratch).find((name) => name.endsWith('.cpuprofile'));
  if (profile === undefined) throw new Error('the check was not sampled');
  print(JSON.parse(readFileSync(join(scratch, profile), 'utf8')) as Profile, wall, cpu, own);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function print({ nodes, samples, timeDeltas }: Profile, wall: number, cpu: number, own: number): void {
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  const self = new Map<number, number>();
  for (const [at, id] of samples.entries()) self.set(id, (self.get(id) ?? 0) + timeDeltas[at]! / 1000);
  const rooms = new Map<string, number>();
  const functions = new Map<string, { self: number; whole: number }>();
  const add = (name: string): { self: number; whole: number } => {
    const known = functions.get(name) ?? { self: 0, whole: 0 };
    functions.set(name, known);
    return known;
  };
  /** The time of a node with its callees; recursive calls are counted once. */
  const visit = (node: ProfileNode, room: string, callers: ReadonlySet<string>): number => {
    const name = nameOf(node);
    const here = roomOf(node) ?? room;
    const spent = self.get(node.id) ?? 0;
    const inside = new Set([...callers, name]);
    const below = (node.children ?? []).reduce((sum, id) => sum + visit(nodeOf.get(id)!, here, inside), 0);
    rooms.set(here, (rooms.get(here) ?? 0) + spent);
    const figures = add(name);
    figures.self += spent;
    if (!callers.has(name)) figures.whole += spent + below;
    return spent + below;
  };
  visit(nodes[0]!, '(start and modules of Node)', new Set());
  const busy = [...rooms].reduce((sum, [room, time]) => (room === waiting ? sum : sum + time), 0);
  const cells = (time: number): string[] => [time.toFixed(0), `${((100 * time) / busy).toFixed(1)} %`];
  line('', 'ms');
  line('wall', wall.toFixed(0));
  line('CPU of compilers', (cpu - own).toFixed(0));
  line('CPU of the process', own.toFixed(0));
  line('\nroom', 'ms', 'of busy');
  for (const [room, time] of [...rooms].sort((a, b) => b[1] - a[1])) line(room, ...cells(time));
  line('\nfunction, with its callees', 'ms', 'of busy');
  const isOurs = ([name]: readonly [string, unknown]): boolean => name.includes(' src/');
  const byWhole = [...functions].filter(isOurs).sort((a, b) => b[1].whole - a[1].whole);
  for (const [name, { whole }] of byWhole.slice(0, most)) line(name, ...cells(whole));
  line('\nfunction, without callees', 'ms', 'of busy');
  const bySelf = [...functions].filter(([name]) => name !== waiting).sort((a, b) => b[1].self - a[1].self);
  for (const [name, time] of bySelf.slice(0, most)) line(name, ...cells(time.self));
}

/** The file of a frame below the repository; null for frames of Node and V8. */
function pathOf({ callFrame: { url } }: ProfileNode): string | null {
  return /\/(src\/.*)$/.exec(url)?.[1] ?? null;
}

function nameOf(node: ProfileNode): string {
  const path = pathOf(node);
  const { functionName } = node.callFrame;
  return path === null ? functionName : `${functionName === '' ? '(anonymous)' : functionName} ${path}`;
}

/** The room of a frame; of waiting and garbage collection, that name; null: that of the caller. */
function roomOf(node: ProfileNode): string | null {
  const path = pathOf(node);
  if (path !== null)
    return path
      .split('/')
      .slice(0, path.startsWith('src/check/') ? 3 : 2)
      .join('/');
  return /^\((?:idle|garbage collector)\)$/.test(node.callFrame.functionName) ? node.callFrame.functionName : null;
}
