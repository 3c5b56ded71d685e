/**
 * The WebAssembly code of a region: the code that threads execute from one suspension to the next. The function runs
 * the threads `first` to `last` of a block one after the other; all of them are at the region's start. A thread that
 * stops leaves its status, and the values that it needs again, in the block's frame.
 */
import type { Plan } from './wasm-plan.ts';
import { mixedStatus } from '../../core/back-end.ts';
import { ModuleBuilder } from '../code/wasm-module.ts';
import { WasmSupport } from '../code/wasm-support.ts';
import { append, bind, i32, wasmLocal } from '../code/wasm-value.ts';
import { machineModule } from './machine-function.ts';
import { RegionBuilder } from './region-builder.ts';
import { regionContents } from './region-contents.ts';
import { RegionControl } from './region-control.ts';
import { RegionInstructions } from './region-instructions.ts';
import { RegionValues } from './region-values.ts';
import { header } from './wasm-plan.ts';

export interface RegionCode {
  readonly bytes: Uint8Array;
  /** Functions to import as `arithmeticModule`. */
  readonly arithmetic: WasmSupport['functions'];
}

/** The module that exports the code of the region that starts at a segment, as `run`. */
export function emitRegion(plan: Plan, start: number): RegionCode {
  const module = new ModuleBuilder();
  module.importMemory(machineModule, 'memory', { minimum: 1 });
  const support = new WasmSupport(module);
  const body = module.addFunction(['i32', 'i32', 'i32'], ['i32']);
  module.exportFunction('run', body);
  emitThreads(new RegionBuilder(plan, module, support, body), start);
  return { bytes: module.encode(), arithmetic: support.functions };
}

/**
 * The computations common to all threads, then the threads in sequence, then their common status and the total of
 * steps.
 */
function emitThreads(code: RegionBuilder, start: number): void {
  const { plan, body, thread, status } = code;
  const contents = regionContents(plan, start);
  const values = new RegionValues(code, contents);
  const instructions = new RegionInstructions(code, values);
  for (const instruction of contents.uniform) instructions.emitUniform(instruction);

  const common = wasmLocal('i32', body.local('i32'));
  const differ = wasmLocal('i32', body.local('i32'));
  const first = bind(body, 'i32', thread);
  const threads = body.loop();
  const threadEnd = body.block();
  code.startTurn();
  values.readSpecials();
  code.identifyThread();
  values.loadKept();
  new RegionControl(code, contents, values, instructions, threadEnd).emit();
  body.op('unreachable');
  body.end();

  append(body, code.lane4, status);
  body.memory('i32.store', plan.frame.status);
  append(body, code.total, i32(code.timeSlice), code.left, 'i32.sub', 'i32.add');
  body.set(code.total.index);
  append(body, status, common, thread, first, 'i32.eq', 'select');
  body.set(common.index);
  append(body, differ, status, common, 'i32.xor', 'i32.or');
  body.set(differ.index);
  append(body, thread, code.last, 'i32.lt_s');
  append(body, thread, i32(1), 'i32.add');
  body.set(thread.index);
  body.brIf(threads);
  body.end();

  append(body, code.frame, code.total, 'i64.extend_i32_u');
  body.memory('i64.store', header.steps);
  append(body, i32(mixedStatus), common, differ, 'select');
}
