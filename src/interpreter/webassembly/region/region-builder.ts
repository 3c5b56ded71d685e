/** The function of a region during code generation, and the locals shared by all of its code. */
import type { Domain } from '../../../isa/model/domain.ts';
import type { Kernel } from '../../../ir/form/kernel.ts';
import type { FunctionBody, FunctionHandle, ModuleBuilder, WasmType } from '../code/wasm-module.ts';
import type { WasmSupport } from '../code/wasm-support.ts';
import type { Item, WasmLocal, WasmValue, WasmWord } from '../code/wasm-value.ts';
import type { MachineFunction } from './machine-function.ts';
import type { Plan } from './wasm-plan.ts';
import { timeSlice } from '../../core/back-end.ts';
import { shadowFields } from '../../detector/shadow-word.ts';
import { wasmDomain } from '../code/wasm-domain.ts';
import { append, bind, i32, i64, wasmLocal } from '../code/wasm-value.ts';
import { machineFunctions, machineModule } from './machine-function.ts';
import { header } from './wasm-plan.ts';

export class RegionBuilder {
  readonly plan: Plan;
  readonly body: FunctionBody;
  readonly domain: Domain<WasmValue, WasmWord>;
  readonly #module: ModuleBuilder;
  /** Parameters: the block's frame, the running thread, the last thread to run. */
  readonly frame: WasmLocal = wasmLocal('i32', 0);
  readonly thread: WasmLocal = wasmLocal('i32', 1);
  readonly last: WasmLocal = wasmLocal('i32', 2);
  /** Status of the thread when it stops. */
  readonly status: WasmLocal;
  /** Remaining steps of the time slice of the thread. */
  readonly left: WasmLocal;
  /** Steps of the threads that ran before it in this call. */
  readonly total: WasmLocal;
  /** Frame plus 4 and 8 times the thread, for arrays by thread. */
  readonly lane4: WasmLocal;
  readonly lane8: WasmLocal;
  readonly timeSlice: number;
  #stamp: WasmLocal | null = null;
  #localBase: WasmLocal | null = null;

  constructor(plan: Plan, module: ModuleBuilder, support: WasmSupport, body: FunctionBody) {
    this.plan = plan;
    this.body = body;
    this.#module = module;
    this.domain = wasmDomain({ body, support });
    const local = (type: WasmType): WasmLocal => wasmLocal(type, body.local(type));
    this.status = local('i32');
    this.left = local('i32');
    this.total = local('i32');
    this.lane4 = local('i32');
    this.lane8 = local('i32');
    this.timeSlice = timeSlice(plan.program, plan.threads);
  }

  get kernel(): Kernel {
    return this.plan.program.kernel;
  }

  /** The thread's id in shadow words. Only if shadow words detect races. */
  get stamp(): WasmLocal {
    return this.#stamp!;
  }

  /** Frame plus the offset of the thread's local memory. Only if there is local memory. */
  get localBase(): WasmLocal {
    return this.#localBase!;
  }

  /** A function of the interpreter, to call. */
  machineFunction(name: MachineFunction): FunctionHandle {
    const [parameters, results] = machineFunctions[name];
    return this.#module.importFunction(machineModule, name, parameters, results);
  }

  /** Pushes the steps of this call so far. */
  steps(): Item[] {
    return [this.total, i32(this.timeSlice), 'i32.add', this.left, 'i32.sub'];
  }

  /** Begins the time slice of the thread, and computes its index in arrays by thread. */
  startTurn(): void {
    const { body } = this;
    append(body, i32(this.timeSlice));
    body.set(this.left.index);
    append(body, this.frame, this.thread, i32(2), 'i32.shl', 'i32.add');
    body.set(this.lane4.index);
    append(body, this.frame, this.thread, i32(3), 'i32.shl', 'i32.add');
    body.set(this.lane8.index);
  }

  /** Computes the thread's id for the race detector, and the address of its local memory. */
  identifyThread(): void {
    const { body } = this;
    const { frame, detection, hasWarpBarriers, localBytes } = this.plan;
    if (detection === 'words') {
      append(body, this.frame);
      body.memory('i64.load', header.stamp);
      append(body, this.thread, i32(shadowFields.thread.shift), 'i32.shl', 'i64.extend_i32_u', 'i64.or');
      if (hasWarpBarriers) {
        append(body, this.frame, this.thread, i32(5), 'i32.shr_u', i32(2), 'i32.shl', 'i32.add');
        body.memory('i64.load32_u', frame.warpBarriers);
        append(body, i64(BigInt(shadowFields.warpBarriers.shift)), 'i64.shl', 'i64.or');
      }
      this.#stamp = bind(body, 'i64');
    }
    if (localBytes > 0) {
      this.#localBase = bind(body, 'i32', this.frame, this.thread, i32(localBytes), 'i32.mul', 'i32.add');
    }
  }
}
