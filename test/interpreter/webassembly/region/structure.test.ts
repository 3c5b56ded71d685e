import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../../src/base/random.ts';
import type { Structured } from '../../../../src/interpreter/webassembly/region/structure.ts';
import { structure } from '../../../../src/interpreter/webassembly/region/structure.ts';

type Graph = readonly (readonly number[])[];

/** Walks a structure: `choose` picks the edge at each node; the nodes that are passed, at most `most`. */
function walk(tree: readonly Structured[], choose: (node: number) => number, most: number): number[] {
  const passed: number[] = [];
  const ended = -1;
  /** Returns the label that is jumped to, `ended`, or null if control falls through. */
  const run = (items: readonly Structured[]): number | null => {
    for (const item of items) {
      if (item.kind === 'jump') return item.label;
      if (item.kind === 'node') {
        passed.push(item.node);
        const arm = item.arms[choose(item.node)];
        if (!arm || passed.length >= most) return ended;
        return run(arm);
      }
      let target: number | null;
      do target = run(item.body);
      while (item.kind === 'loop' && target === item.label);
      if (item.kind === 'block' && target === item.label) continue;
      if (target !== null) return target;
    }
    return null;
  };
  assert.equal(run(tree), ended);
  return passed;
}

function walkGraph(graph: Graph, choose: (node: number) => number, most: number): number[] {
  const passed = [0];
  for (let node = 0; passed.length < most;) {
    const next = graph[node]![choose(node)];
    if (next === undefined) break;
    passed.push(next);
    node = next;
  }
  return passed;
}

function compare(graph: Graph, seed: number): boolean {
  const tree = structure(graph.length, 0, (node) => graph[node]!);
  if (!tree) return false;
  for (let round = 0; round < 8; round++) {
    const choices = (): ((node: number) => number) => {
      const random = seededRandom(seed + round);
      return (node) => random.below(Math.max(1, graph[node]!.length));
    };
    assert.deepEqual(walk(tree, choices(), 60), walkGraph(graph, choices(), 60), JSON.stringify(graph));
  }
  return true;
}

test('branches, loops and switches take the paths of the graph', () => {
  for (const graph of [
    [[1, 2], [3], [3], []],
    [[1], [2, 3], [1], []],
    [[1], [2], [1, 3], []],
    [[1, 2, 3], [4], [4], [2, 4], []],
    [[1], [2, 4], [2, 3], [1, 2], []],
    [[1, 1], []],
    [[0, 1], []],
  ]) {
    assert.ok(compare(graph, 1));
  }
});

test('a loop with a second entry has no structure', () => {
  assert.equal(
    structure(3, 0, (node) => [[1, 2], [2], [1]][node]!),
    null,
  );
});

test('random control-flow graphs are structured without a change of their paths', () => {
  const random = seededRandom(20);
  let structured = 0;
  for (let round = 0; round < 400; round++) {
    const count = random.between(2, 14);
    const graph = Array.from({ length: count }, (_, node) =>
      Array.from({ length: node === count - 1 ? 0 : random.pick([0, 1, 1, 2, 2, 2, 3]) }, () =>
        // Usually forward, so that many graphs are reducible
        random.chance(0.8) ? Math.min(count - 1, node + random.between(1, 4)) : random.below(count),
      ),
    );
    if (compare(graph, round)) structured++;
  }
  assert.ok(structured > 200);
});

test('thousands of branches in sequence are siblings, nested ones have no structure', () => {
  const count = 20_000;
  // Each fork goes to its arm or to the next fork, and the arm goes there too.
  const row: Graph = Array.from({ length: 2 * count + 1 }, (_, node) =>
    node === 2 * count ? [] : node % 2 === 0 ? [node + 1, node + 2] : [node + 1],
  );
  const tree = structure(row.length, 0, (node) => row[node]!);
  assert.ok(tree);
  assert.equal(tree.length, count + 1);
  assert.equal(walk(tree, () => 0, 3 * count).length, 2 * count + 1);
  const end = 2 * count;
  const nest: Graph = Array.from({ length: end + 1 }, (_, node) => (node === end ? [] : [node + 1, end]));
  assert.equal(
    structure(nest.length, 0, (node) => nest[node]!),
    null,
  );
});
