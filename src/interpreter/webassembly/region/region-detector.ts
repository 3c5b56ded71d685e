/** The race detector in region code: the update of shadow words by an access. */
import type { MemoryAccess } from '../../core/program.ts';
import type { RegionBuilder } from './region-builder.ts';
import type { LinearAddress, Located } from './region-memory.ts';
import { shadowFields } from '../../detector/shadow-word.ts';
import { handingOver, raceState } from '../../detector/state-machine.ts';
import { type WasmLocal, append, bind, call, i32 } from '../code/wasm-value.ts';
import { accessKind, alerts, levelTable, levels, transitionTable } from './wasm-plan.ts';

/** Maximum number of words of a wide access that are updated inline; more are updated in a loop. */
const inlineCells = 4;

/** Reports an access that has happened to the detector. */
export function touch(code: RegionBuilder, access: MemoryAccess, { data, shadow }: Located): void {
  const { body, plan } = code;
  if (plan.detection === 'clocks') {
    const site = plan.sites[access.index]!;
    if (site.kind === 'local' || (site.kind === 'place' && !site.place.writable)) return;
    record(code, access, data);
    return;
  }
  if (!shadow) return;
  const { words, cellShift } = shadow;
  const cells = Math.max(1, access.bytes >> cellShift);
  if (cells === 1) {
    touchWord(code, access, words, data, null);
    return;
  }
  const most = bind(body, 'i32', i32(0));
  if (cells <= inlineCells) {
    for (let cell = 0; cell < cells; cell++) {
      touchWord(code, access, { base: words.base, offset: words.offset + 8 * cell }, data, most);
    }
  } else {
    touchWords(code, access, words, cells, data, most);
  }
  append(body, most);
  body.if();
  emitRecord(code, access, data, most);
  body.end();
}

function touchWords(
  code: RegionBuilder,
  access: MemoryAccess,
  words: LinearAddress,
  cells: number,
  data: LinearAddress,
  most: WasmLocal,
): void {
  const { body } = code;
  const wordAt = bind(body, 'i32', words.base);
  const end = bind(body, 'i32', words.base, i32(8 * cells), 'i32.add');
  const again = body.loop();
  touchWord(code, access, { base: wordAt, offset: words.offset }, data, most);
  append(body, wordAt, i32(8), 'i32.add');
  body.tee(wordAt.index);
  append(body, end, 'i32.ne');
  body.brIf(again);
  body.end();
}

/** Calls the detector with clocks to record an access. */
function record(code: RegionBuilder, access: MemoryAccess, data: LinearAddress): void {
  const { body } = code;
  append(body, code.frame, i32(access.index), data.base, i32(data.offset), 'i32.add', code.thread);
  if (access.strong !== null || access.bytes !== 4 || access.copy) {
    append(body, call(code.machineFunction('record')));
    return;
  }
  append(body, data.base);
  body.memory('i32.load', data.offset);
  append(body, call(code.machineFunction('recordWord')));
}

/**
 * Reports an access to the detector with clocks. @param alert `recorded`, `handsOver`, or another one, which is ignored
 */
function emitRecord(code: RegionBuilder, access: MemoryAccess, data: LinearAddress, alert: WasmLocal): void {
  const { body } = code;
  const operands = [code.frame, i32(access.index), data.base, i32(data.offset), 'i32.add', code.thread] as const;
  append(body, alert, i32(alerts.recorded), 'i32.eq');
  body.if();
  record(code, access, data);
  body.else();
  append(body, alert, i32(alerts.handsOver), 'i32.eq');
  body.if();
  append(body, ...operands, call(code.machineFunction('handOver')));
  body.end();
  body.end();
}

/**
 * The next state, by kind of access, by relation of the last access to this one, and by the last state.
 * @param most receives the greatest alert for the detector with clocks; null: alerts are reported at once
 */
function touchWord(code: RegionBuilder, access: MemoryAccess, words: LinearAddress, data: LinearAddress, most: WasmLocal | null): void {
  const { body, plan } = code;
  append(body, words.base);
  body.memory('i64.load', words.offset);
  const last = bind(body, 'i64');
  // The highest bit in which the words differ determines the synchronization between the accesses.
  const difference = bind(body, 'i64', last, code.stamp, 'i64.xor');
  append(body, difference, 'i64.clz', 'i32.wrap_i64');
  body.memory('i32.load8_u', levelTable);
  if (plan.hasWarpBarriers) {
    // The number of barriers of another warp is irrelevant.
    const level = bind(body, 'i32');
    append(body, i32(levels.block), level, level, i32(levels.warpBarrier), 'i32.eq');
    append(body, difference, 'i32.wrap_i64', i32(31 << (shadowFields.thread.shift + 5)), 'i32.and', i32(0), 'i32.ne');
    append(body, 'i32.and', 'select');
  }
  append(body, last, 'i32.wrap_i64', i32(31), 'i32.and', 'i32.add');
  body.memory('i32.load8_u', transitionTable + 256 * accessKind(access, plan.sifting));
  const next = bind(body, 'i32');
  append(body, words.base, code.stamp, next, 'i64.extend_i32_u', 'i64.or');
  body.memory('i64.store', words.offset);
  append(body, next, i32(raceState), 'i32.gt_u');
  body.if();
  append(body, next, i32(handingOver), 'i32.ge_u');
  body.if();
  append(body, words.base, last);
  body.memory('i64.store', words.offset);
  if (most === null) {
    emitRecord(code, access, data, next);
  } else {
    append(body, next, most, next, most, 'i32.gt_u', 'select');
    body.set(most.index);
  }
  body.else();
  append(body, code.frame, i32(access.index), data.base, i32(data.offset), 'i32.add');
  append(body, words.base, i32(words.offset), 'i32.add', code.thread, last, call(code.machineFunction('report')));
  body.end();
  body.end();
}
