import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessSite } from '../../../src/interpreter/detector/race-detector.ts';
import type { InstructionId } from '../../../src/ir/form/kernel.ts';
import { createPage } from '../../../src/interpreter/core/global-memory.ts';
import { RaceDetector } from '../../../src/interpreter/detector/race-detector.ts';
import { seededRandom } from '../../../src/base/random.ts';
import {
  forgetAccesses,
  maxBlockBarriers,
  maxTickets,
  maxWarpBarriers,
  recordedFill,
  renumberBlockBarriers,
  renumberTickets,
  renumberWarpBarriers,
  uninitialisedFill,
  update,
} from '../../../src/interpreter/detector/shadow-word.ts';
import {
  accessNames,
  nextState,
  relationNames,
  stateNames,
  syncNames,
  type StateName,
} from '../../../src/interpreter/detector/state-machine.ts';

const read = accessNames.indexOf('read');
const write = accessNames.indexOf('write');

test('a shadow word returns the stored fields, up to their largest values', () => {
  const words = new Uint32Array(4);
  const last = {
    ticket: maxTickets,
    thread: 1023,
    blockBarriers: maxBlockBarriers,
    warpBarriers: maxWarpBarriers,
  };
  assert.equal(update(words, 1, write, last), 'none');
  assert.deepEqual([...words.subarray(0, 2)], [0, 0]);
  assert.equal((words[2]! & ~31) >>> 0, 0xffffffe0);
  assert.equal(words[3], 0xffffffff);
  assert.equal(update(words, 1, write, last), 'none');
  assert.equal(update(words, 1, read, { ...last, thread: 1022 }), 'raced');
  assert.equal(update(words, 1, read, last), 'known-race');
});

test('shadow words record uninitialised memory', () => {
  const words = new Uint32Array(2);
  const reader = { ticket: 1, thread: 3, blockBarriers: 0, warpBarriers: 0 };
  assert.equal(update(words, 0, read, reader), 'none');
  new Uint8Array(words.buffer).fill(uninitialisedFill);
  assert.equal(update(words, 0, read, reader), 'uninitialised');
  new Uint8Array(words.buffer).fill(recordedFill);
  assert.equal(update(words, 0, read, reader), 'known-race');
});

test('a grid barrier resets accesses, not uninitialised contents or races', () => {
  const words = new Uint32Array(6);
  new Uint8Array(words.buffer, 0, 8).fill(uninitialisedFill);
  const first = { ticket: 1, thread: 0, blockBarriers: 0, warpBarriers: 0 };
  update(words, 1, write, first);
  update(words, 2, write, first);
  update(words, 2, write, { ...first, ticket: 2 });
  forgetAccesses(words);
  assert.equal(update(words, 0, read, first), 'uninitialised');
  assert.equal(update(words, 1, write, { ...first, ticket: 2 }), 'none');
  assert.equal(update(words, 2, write, first), 'known-race');
});

interface Warp {
  readonly block: Block;
  barriers: number;
  /** As the word counts them. */
  counted: number;
}

interface Block {
  readonly warps: Warp[];
  barriers: number;
  counted: number;
  ticket: number;
}

test('shadow words follow the state machine, under any renumbering', () => {
  const random = seededRandom(11);
  const stateOf = (words: Uint32Array): StateName => stateNames[words[0]! & 31]!;
  for (let round = 0; round < 3000; round++) {
    const words = new Uint32Array(2);
    const blocks = Array.from({ length: 2 }, (_, index): Block => {
      const block: Block = { warps: [], barriers: 0, counted: 0, ticket: index + 1 };
      for (let warp = 0; warp < 2; warp++) block.warps.push({ block, barriers: 0, counted: 0 });
      return block;
    });
    let last: { warp: Warp; thread: number; block: number; warps: number } | null = null;
    let expected: StateName = 'untouched';
    for (let step = 0; step < 12 && expected !== 'race'; step++) {
      const block = blocks[random.below(2)]!;
      const index = random.below(2);
      const warp = block.warps[index]!;
      const action = random.below(10);
      if (action === 0) {
        block.barriers++;
        block.counted++;
        for (const each of block.warps) each.counted = 0;
      } else if (action === 1) {
        warp.barriers++;
        warp.counted++;
      } else if (action === 2) {
        renumberBlockBarriers(words, block.ticket, block.counted);
        block.counted = 1;
      } else if (action === 3) {
        renumberWarpBarriers(words, block.ticket, index, block.counted, warp.counted);
        warp.counted = 1;
      } else if (action === 4) {
        const [a, b] = [blocks[0]!.ticket, blocks[1]!.ticket];
        renumberTickets(
          words,
          new Map([
            [a, 2],
            [b, 1],
          ]),
        );
        [blocks[0]!.ticket, blocks[1]!.ticket] = [2, 1];
      } else {
        const thread = 32 * index + random.below(2);
        const access = random.below(4);
        let relation = 0;
        let sync = 0;
        if (last) {
          if (last.warp.block !== block) relation = 3;
          else relation = last.thread === thread ? 0 : last.warp === warp ? 1 : 2;
          if (block.barriers > last.block) sync = 2;
          else if (last.warp === warp && warp.barriers > last.warps) sync = 1;
        }
        expected = nextState(expected, accessNames[access]!, syncNames[sync]!, relationNames[relation]!);
        const { ticket, counted } = block;
        update(words, 0, access, { ticket, thread, blockBarriers: counted, warpBarriers: warp.counted });
        last = { warp, thread, block: block.barriers, warps: warp.barriers };
        assert.equal(stateOf(words), expected);
      }
    }
  }
});

test('completed thread blocks share a ticket that no running block has', () => {
  const words = new Uint32Array(4);
  const first = { ticket: 7, thread: 0, blockBarriers: 0, warpBarriers: 0 };
  update(words, 0, write, first);
  update(words, 1, write, { ...first, ticket: 8 });
  renumberTickets(words, new Map([[8, 1]]));
  assert.equal(update(words, 1, read, { ...first, ticket: 1 }), 'none');
  assert.equal(update(words, 0, read, { ...first, ticket: 1 }), 'raced');
});

test('a shadow word reports all races that vector clocks find, and without atomics no others', () => {
  const random = seededRandom(12);
  const accesses = ['read', 'write', 'atomic', 'atomic'] as const;
  const sites = accesses.map((operation, index): AccessSite => ({
    index,
    instruction: index as InstructionId,
    operation,
    bytes: 4,
    strong: operation === 'atomic' ? (index === 2 ? 'cta' : 'gpu') : null,
    semantics: operation === 'atomic' ? 'relaxed' : 'weak',
  }));
  let races = 0;
  for (let round = 0; round < 3000; round++) {
    let found = 0;
    const detector = new RaceDetector(sites, { threads: 64, onlyBarriers: true, volatileRaces: false }, () => found++);
    const page = createPage(8);
    const words = new Uint32Array(2);
    const blocks = [0, 1].map((ordinal) => detector.order.startBlock(ordinal));
    const kinds = random.chance(0.5) ? 2 : 4;
    // Many reads by one block, so that more of them happen than are remembered.
    const isCalm = random.chance(0.5);
    for (let step = 0; step < 10; step++) {
      const block = isCalm ? blocks[0]! : random.pick(blocks);
      const warp = random.below(2);
      const action = random.below(8);
      if (action === 0) {
        detector.order.fullBarrier(block);
      } else if (action === 1) {
        detector.order.warpBarrier(block, warp, null);
      } else {
        const thread = 32 * warp + random.below(3);
        const access = isCalm && random.chance(0.7) ? 0 : random.below(kinds);
        const event = update(words, 0, access, {
          ticket: block.ordinal,
          thread,
          blockBarriers: block.barriers,
          warpBarriers: block.warpBarriers[warp]!,
        });
        detector.record(page, 0, sites[access]!, block, thread, false);
        assert.ok(found === 0 || event === 'raced' || event === 'known-race');
        if (kinds === 2) assert.equal(event === 'raced', found > 0);
        if (event === 'raced') races++;
        if (event === 'raced' || found > 0) break;
      }
    }
  }
  assert.ok(races > 1000);
});
