/** The history of costs: its points and limits, its line, and its entry in the cache. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { addCosts, costsBefore, parseHistory, printHistory, sparkline, type CostHistory } from '../../src/github/plan/cost-history.ts';
import { serviceOf } from '../../src/github/runner/result-cache.ts';
import { keepCosts } from '../../src/github/runner/kept-costs.ts';
import { startCacheServer, type CacheServer } from './cache-server.ts';

const [ONE, TWO] = ['1'.repeat(16), 'ab'.repeat(8)] as [string, string];
const sha = (run: number) => run.toString(16).padStart(7, 'c').padEnd(40, '0');
const none: CostHistory = new Map();

/** A history after the given runs, each with a value of series `ONE` and perhaps one before it. */
function after(...runs: readonly (readonly [run: number, head: number, base?: number])[]): CostHistory {
  return runs.reduce(
    (history, [run, head, base]) =>
      addCosts(history, [{ series: ONE, head, ...(base !== undefined && { base }) }], { run, head: sha(run), base: sha(0) }),
    none,
  );
}
const points = (history: CostHistory) => history.get(ONE)?.map(([run, , value]) => [run, value]);

test('a point is a run in which the value changed', () => {
  assert.deepEqual(points(after([1, 8], [2, 8], [3, 9], [4, 8])), [
    [1, 8],
    [3, 9],
    [4, 8],
  ]);
  // The value before is a point only if the history lacks it.
  assert.deepEqual(points(after([1, 9, 8], [2, 10, 9])), [
    [1, 8],
    [1, 9],
    [2, 10],
  ]);
  assert.deepEqual(after([5, 9, 8]).get(ONE), [
    [5, 'cccccc0', 8],
    [5, 'cccccc5', 9],
  ]);
  const apart = addCosts(after([1, 8]), [{ series: TWO, head: 3 }], { run: 2, head: sha(2) });
  assert.deepEqual([points(apart), apart.get(TWO)?.length], [[[1, 8]], 1]);
});

test('a run that is started again or ends late has its place in the order of runs', () => {
  const known = after([1, 8], [4, 9, 8]);
  assert.deepEqual(points(addCosts(known, [{ series: ONE, base: 8, head: 7 }], { run: 4, head: sha(4), base: sha(0) })), [
    [1, 8],
    [4, 7],
  ]);
  assert.deepEqual(points(addCosts(known, [{ series: ONE, head: 9 }], { run: 2, head: sha(2) })), [
    [1, 8],
    [2, 9],
  ]);
  assert.deepEqual(points(addCosts(known, [{ series: ONE, head: 3 }], { run: 2, head: sha(2) })), [
    [1, 8],
    [2, 3],
    [4, 9],
  ]);
  assert.deepEqual([...costsBefore(known, 4)], [[ONE, [8]]]);
  assert.deepEqual([...costsBefore(known, 5)], [[ONE, [8, 9]]]);
});

test('20 points of a series are kept, and of too many series those that changed last', () => {
  const long = after(...Array.from({ length: 30 }, (_, at) => [at + 1, at * 2] as const));
  assert.deepEqual([points(long)?.length, points(long)?.[0], points(long)?.at(-1)], [20, [11, 20], [30, 58]]);
  const name = (at: number) => at.toString(16).padStart(16, '0');
  const many = Array.from({ length: 100 }, (_, at) => at).reduce(
    (history, at) => addCosts(history, [{ series: name(at), head: at }], { run: at, head: sha(at) }),
    none,
  );
  const read = (maxBytes?: number) => parseHistory(Buffer.from(printHistory(many, maxBytes)));
  assert.deepEqual(new Set(read()), new Set(many));
  const cut = read(1000)!;
  assert.deepEqual(
    [...cut.keys()],
    Array.from({ length: cut.size }, (_, at) => name(99 - at)),
  );
  assert.ok(cut.size > 15 && printHistory(many, 1000).length <= 1000);
});

test('a damaged or foreign entry counts as missing', () => {
  const text = printHistory(after([1, 8], [2, 9.5]));
  assert.deepEqual(parseHistory(Buffer.from(text)), after([1, 8], [2, 9.5]));
  for (let length = 0; length < text.length; length++) assert.equal(parseHistory(Buffer.from(text.slice(0, length))), undefined);
  const point = [1, 'ccccccc', 8];
  for (const series of [
    { [ONE]: [] },
    { [ONE]: Array.from({ length: 21 }, () => point) },
    { [ONE.slice(1)]: [point] },
    { ['@' + ONE.slice(1)]: [point] },
    ...[
      [-1, 'ccccccc', 8],
      [1.5, 'ccccccc', 8],
      [1, '@user', 8],
      [1, 'ccccccc', '8'],
      [1, 'ccccccc', null],
      [1, 'ccccccc', -8],
      [1, 'ccccccc'],
    ].map((one) => ({ [ONE]: [one] })),
  ])
    assert.equal(parseHistory(Buffer.from(JSON.stringify({ version: 1, series }))), undefined, JSON.stringify(series));
  for (const other of ['[]', 'null', '{"version":2,"series":{}}', '{"version":1}', '\xff'])
    assert.equal(parseHistory(Buffer.from(other, 'latin1')), undefined, other);
});

test('a line rises from the lowest value to the highest', () => {
  assert.equal(sparkline([5, 5, 5]), '▅▅▅');
  assert.equal(sparkline([0, 0]), '▅▅');
  assert.equal(sparkline([1, 1, 100, 1]), '▁▁█▁');
  assert.equal(sparkline([100, 100, 1, 100]), '██▁█');
  assert.equal(sparkline([0, 1, 2, 3, 4, 5, 6, 7]), '▁▂▃▄▅▆▇█');
  assert.equal(sparkline([0.375, 0.75, 0.5625]), '▁█▅');
  assert.equal(sparkline([1, 1000, 1e6, 6e5]), '▁▁█▅');
  assert.equal(sparkline([0, Number.MAX_VALUE]), '▁█');
});

let server: CacheServer;
beforeEach(async () => void (server = await startCacheServer()));
afterEach(() => server.close());

function keep(run: number, { name = '', lines = [] as string[] } = {}) {
  const environment = { GITHUB_RUN_ID: String(run), ...server.environment };
  return keepCosts({ environment, service: serviceOf(environment), name, log: (line) => void lines.push(line) });
}
const cost = (head: number) => [{ series: ONE, head }];

test('the costs of one run are read by the next, of each job its own', async () => {
  await (await keep(1)).add(cost(8), { head: sha(1) });
  await (await keep(2)).add(cost(9), { head: sha(2) });
  await (await keep(3, { name: 'other' })).add(cost(4), { head: sha(3) });
  assert.deepEqual([...(await keep(4)).earlier], [[ONE, [8, 9]]]);
  assert.deepEqual([...(await keep(4, { name: 'other' })).earlier], [[ONE, [4]]]);
  // The run itself does not count.
  assert.deepEqual([...(await keep(2)).earlier], [[ONE, [8]]]);
  const keys = [...server.entries.keys()];
  assert.equal(keys.length, 3);
  for (const key of keys) assert.match(key, /^selvage-costs-1-[0-9a-f]{16}-\d-1-$/);
  // A commit that changed nothing saves nothing, and one key is written once.
  await (await keep(5)).add(cost(9), { head: sha(5) });
  await (await keep(2)).add(cost(7), { head: sha(2) });
  assert.deepEqual([...server.entries.keys()], keys);
});

test('a damaged entry is replaced; after a failed request nothing is saved', async () => {
  const lines: string[] = [];
  await (await keep(1)).add(cost(8), { head: sha(1) });
  const [key] = server.entries.keys();
  const intact = server.entries.get(key!)!;
  server.isDown = true;
  const unread = await keep(2, { lines });
  assert.deepEqual([...unread.earlier], []);
  server.isDown = false;
  await unread.add(cost(9), { head: sha(2) });
  assert.deepEqual([...server.entries], [[key, intact]]);
  const open = await keep(2);
  server.isDown = true;
  await open.add(cost(9), { head: sha(2) });
  server.isDown = false;
  server.entries.set(key!, Buffer.from('{'));
  await (await keep(3, { lines })).add(cost(7), { head: sha(3) });
  assert.deepEqual([...(await keep(4)).earlier], [[ONE, [7]]]);
  assert.match(lines[0] ?? '', /^The history of costs cannot be restored: .*503/);
  assert.deepEqual(lines.slice(1, 2), ['The history of costs is damaged, and begins again.']);
  assert.match(lines[2] ?? '', /^The costs of this commit were added to their history \(\d+ bytes\)\.$/);
});

test('without a service the history is empty', async () => {
  const kept = await keepCosts({ environment: {}, service: undefined, name: '', log: assert.fail });
  await kept.add(cost(8), { head: sha(1) });
  assert.deepEqual([[...kept.earlier], server.requests], [[], []]);
});
