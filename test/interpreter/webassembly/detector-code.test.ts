/** Code that records accesses and executes fences has the same effect as a detector that does all of it itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import type { BlockOrder } from '../../../src/interpreter/detector/block-order.ts';
import { DetectorMemory } from '../../../src/interpreter/detector/detector-memory.ts';
import { type AccessSite, RaceDetector } from '../../../src/interpreter/detector/race-detector.ts';
import { DetectorCode } from '../../../src/interpreter/webassembly/detector-code.ts';
import { WasmPage } from '../../../src/interpreter/webassembly/wasm-page.ts';

const threads = 64;
/** Start of the pages of the lock and of the data in linear memory, and its end. */
const [lockAt, dataAt, end] = [256, 512, 768];

const weak = { bytes: 4, strong: null, semantics: 'weak', instruction: 0 as AccessSite['instruction'] } as const;
const sites: readonly AccessSite[] = [
  { ...weak, index: 0, operation: 'read' },
  { ...weak, index: 1, operation: 'write' },
  { ...weak, index: 2, operation: 'read' },
  { ...weak, index: 3, operation: 'write', bytes: 1 },
  { ...weak, index: 4, operation: 'atomic', strong: 'gpu', semantics: 'relaxed' },
  { ...weak, index: 5, operation: 'read', strong: 'gpu', semantics: 'relaxed' },
];
const loads = [0, 2] as const;
const [store, byteStore, atomic, strongLoad] = [1, 3, 4, 5] as const;

/** The detector, its pages and its reports, with or without code. */
class Watched {
  readonly told: unknown[] = [];
  readonly detector: RaceDetector<WasmPage>;
  readonly blocks: readonly BlockOrder[];
  readonly #memory: DetectorMemory | null;
  readonly #code: DetectorCode | null;
  readonly #lock: WasmPage;
  readonly #data: WasmPage;
  #running!: BlockOrder;
  /** Accesses and fences that came to the detector itself. */
  calls = 0;

  constructor(hasCode: boolean) {
    this.#memory = hasCode ? new DetectorMemory() : null;
    this.detector = new RaceDetector<WasmPage>(
      sites,
      {
        threads,
        onlyBarriers: false,
        volatileRaces: false,
        narrowest: 2,
        presumes: false,
        ...(this.#memory && { memory: this.#memory }),
      },
      ({ first, second, page: _page, ...rest }) => {
        this.told.push({ ...rest, first: first.index, second: second.index });
      },
    );
    this.blocks = [0, 1].map((ordinal) => this.detector.order.startBlock(ordinal));
    const called = { record: this.#record.bind(this), event: this.#fence.bind(this) };
    this.#code = this.#memory && new DetectorCode(this.#memory, end, called);
    const contents = new ArrayBuffer(end);
    const pageAt = (start: number): WasmPage => {
      const page = new WasmPage({ name: 'array' }, 0, start, 256, false, this.#code);
      page.u8 = new Uint8Array(contents, start, 256);
      page.i32 = new Int32Array(contents, start, 64);
      return page;
    };
    this.#lock = pageAt(lockAt);
    this.#data = pageAt(dataAt);
  }

  run(block: number): void {
    this.#running = this.blocks[block]!;
    this.detector.enter(this.#running);
  }

  #record(_frame: number, site: number, address: number, thread: number): void {
    this.calls++;
    const access = sites[site]!;
    // As shadow words do: no access to the lock races.
    if (address < dataAt) this.detector.synchronise(this.#lock, address - lockAt, access, this.#running, thread);
    else this.detector.record(this.#data, address - dataAt, access, this.#running, thread, false);
  }

  #fence(_frame: number, _instruction: number, thread: number): void {
    this.calls++;
    this.detector.order.fence(this.#running, thread, 'sc', 'gpu');
  }

  access(site: number, address: number, thread: number, value: number): void {
    const page = address < dataAt ? this.#lock : this.#data;
    const { bytes, operation, strong } = sites[site]!;
    if (operation === 'write' && bytes === 4) page.i32[(address - page.data) >> 2] = value;
    else if (operation === 'write') page.u8[address - page.data] = value;
    const record = this.#code && bytes === 4 && strong === null ? this.#code.recordWord : this.#record.bind(this);
    (record as (...numbers: readonly number[]) => void)(0, site, address, thread, page.i32[(address - page.data) >> 2]!);
  }

  fence(thread: number): void {
    const fence = this.#code ? this.#code.fence : this.#fence.bind(this);
    (fence as (...numbers: readonly number[]) => void)(0, 0, thread, 1);
  }
}

/** Events recorded by several detectors: a sequence of critical sections, some of them with a bug. */
function draw(random: Random, watched: readonly Watched[], flaws: number): void {
  for (let section = 0; section < 60; section++) {
    const block = random.below(2);
    const thread = random.pick([0, 1, 31, 32, 63]);
    const all = (record: (each: Watched) => void): void => watched.forEach(record);
    if (random.chance(flaws / 4)) all(({ detector, blocks }) => detector.order.fullBarrier(blocks[block]!));
    if (random.chance(flaws / 4)) all(({ detector, blocks }) => detector.order.warpBarrier(blocks[block]!, 0, null));
    all((each) => each.run(block));
    all((each) => each.access(atomic, lockAt, thread, 0));
    if (!random.chance(flaws)) all((each) => each.fence(thread));
    for (let count = random.between(1, 5); count > 0; count--) {
      const address = dataAt + 4 * random.below(3);
      const value = random.below(2);
      if (random.chance(flaws / 10)) all((each) => each.access(byteStore, address + 1, thread, value));
      else if (random.chance(flaws)) all((each) => each.access(atomic, address, thread, value));
      else {
        const site = random.chance(0.4) ? store : random.pick(loads);
        all((each) => each.access(site, address, thread, value));
      }
    }
    if (!random.chance(flaws)) all((each) => each.fence(thread));
    // Accesses acquired after a release are not part of it.
    if (random.chance(flaws)) {
      all((each) => each.access(atomic, dataAt, thread, 0));
      all(({ detector, blocks }) => detector.order.fence(blocks[block]!, thread, 'acquire', 'gpu'));
    }
    all((each) => each.access(atomic, lockAt, thread, 0));
  }
}

test('for threads that count under a lock, code records the accesses and executes the second fence', () => {
  const watched = [new Watched(false), new Watched(true)] as const;
  const sections = 2 * threads;
  for (let section = 0; section < sections; section++) {
    const thread = section % threads;
    for (const each of watched) {
      each.run(section < threads ? 0 : 1);
      each.access(atomic, lockAt, thread, 0);
      each.fence(thread);
      each.access(loads[0], dataAt, thread, section);
      each.access(store, dataAt, thread, section + 1);
      each.fence(thread);
      each.access(atomic, lockAt, thread, 0);
    }
  }
  const [alone, withCode] = watched;
  assert.deepEqual([alone.told, withCode.told], [[], []]);
  assert.equal(alone.calls, 6 * sections);
  // The first section creates two lists, and acquires no clock.
  assert.equal(withCode.calls, 3 * sections + 1);
});

test('a weak write ends the release pattern of the earlier strong write, even if code could record it', () => {
  const [first, second] = [dataAt, dataAt + 4];
  const told = [new Watched(false), new Watched(true)].map((each) => {
    each.run(0);
    each.access(store, first, 0, 1);
    each.access(store, second, 0, 1);
    each.fence(0);
    each.access(atomic, second, 0, 1);
    each.access(store, second, 0, 2);
    each.run(1);
    each.access(atomic, second, 0, 2);
    each.fence(0);
    each.access(loads[0], first, 0, 1);
    return each.told.map((conflict) => (conflict as { readonly offset: number }).offset);
  });
  assert.deepEqual(told, [
    [4, 0],
    [4, 0],
  ]);
});

test('values that a thread acquires after its last release are not published', () => {
  const [data, flag] = [dataAt, lockAt + 4];
  for (const hasCode of [false, true]) {
    const each = new Watched(hasCode);
    const acquire = (thread: number): void => each.detector.order.fence(each.blocks[0]!, thread, 'acquire', 'gpu');
    each.run(0);
    each.access(store, data, 0, 1);
    each.fence(0);
    each.access(atomic, lockAt, 0, 1);
    each.fence(1);
    each.access(strongLoad, lockAt, 1, 1);
    acquire(1);
    each.access(loads[0], data, 1, 1);
    each.access(atomic, flag, 1, 1);
    each.access(atomic, flag, 2, 1);
    acquire(2);
    assert.deepEqual(each.told, []);
    each.access(loads[0], data, 2, 1);
    assert.equal(each.told.length, 1);
  }
});

test('for incorrect programs the detector with code reports the same accesses, in the same order', () => {
  let told = 0;
  let isLess = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const [alone, withCode] = [new Watched(false), new Watched(true)] as const;
    draw(seededRandom(seed), [alone, withCode], 0.08);
    assert.deepEqual(withCode.told, alone.told, `seed ${seed}`);
    assert.equal(withCode.detector.order.hasPresumed, alone.detector.order.hasPresumed);
    told += alone.told.length;
    if (withCode.calls < alone.calls) isLess++;
  }
  assert.ok(told > 500, `${told} conflicts`);
  assert.equal(isLess, 60);
});

test('code stores the moment of the last write of another value', () => {
  // Thread 0 writes 4 and 5; a barrier of its warp or a release may be between these writes, or before them.
  type Order = (each: Watched) => void;
  const none: Order = () => {};
  const isSame = (hasCode: boolean, between: Order, before: Order = none): readonly boolean[] => {
    const each = new Watched(hasCode);
    each.run(0);
    before(each);
    each.access(store, dataAt, 0, 4);
    each.access(store, dataAt, 0, 4);
    between(each);
    each.access(store, dataAt, 0, 5);
    each.access(store, dataAt, 0, 5);
    each.access(store, dataAt, 1, 5);
    return each.told.map((conflict) => (conflict as { readonly sameValue: boolean }).sameValue);
  };
  const warpBarrier = ({ detector, blocks }: Watched): void => detector.order.warpBarrier(blocks[0]!, 0, null);
  const release = (each: Watched): void => {
    each.fence(0);
    each.access(atomic, lockAt, 0, 0);
    each.access(atomic, lockAt, 1, 0);
    each.fence(1);
  };
  for (const hasCode of [false, true]) {
    assert.deepEqual(isSame(hasCode, warpBarrier), [true]);
    assert.deepEqual(isSame(hasCode, release), [true]);
    for (const before of [warpBarrier, release]) assert.deepEqual(isSame(hasCode, none, before), [false]);
  }
});
