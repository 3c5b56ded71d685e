/** The imports of region code from the interpreter. */
import type { WasmType } from '../code/wasm-module.ts';

/** The module name under which region code imports memory and interpreter functions. */
export const machineModule = 'machine';

/** Functions that region code calls. `steps` are the steps of the current call so far. */
export const machineFunctions = {
  /**
   * An access outside of the place that it was assumed to stay in. Frame, site, address, thread, steps. Does not
   * return.
   */
  stray: [['i32', 'i32', 'i64', 'i32', 'i32'], []],
  /** Finds the linear address of an access, and the address of its shadow word. Frame, site, address, thread, steps. */
  locate: [['i32', 'i32', 'i64', 'i32', 'i32'], ['i32']],
  /**
   * A transition of a shadow word that the interpreter has to examine. Frame, site, linear address, address of the
   * word, thread, former word.
   */
  report: [['i32', 'i32', 'i32', 'i32', 'i32', 'i64'], []],
  /** An access for the detector with clocks. Frame, site, linear address, thread. */
  record: [['i32', 'i32', 'i32', 'i32'], []],
  /**
   * A weak access to one word, for the detector with clocks. Frame, site, linear address, thread, the word after the
   * access.
   */
  recordWord: [['i32', 'i32', 'i32', 'i32', 'i32'], []],
  /** An access that only synchronizes, for the detector with clocks. */
  handOver: [['i32', 'i32', 'i32', 'i32'], []],
  /** An event that orders accesses, for the detector with clocks. Frame, instruction, thread. */
  event: [['i32', 'i32', 'i32'], []],
  /**
   * A fence that releases, for the detector with clocks. Frame, instruction, thread, whether it is sequentially
   * consistent.
   */
  fence: [['i32', 'i32', 'i32', 'i32'], []],
  /** An instruction that the interpreter executes; sources and results are among the operands of the frame. */
  foreign: [['i32', 'i32', 'i32'], []],
  /** A word of an unknown value. Frame, thread, instruction, result, word. */
  unknown: [['i32', 'i32', 'i32', 'i32', 'i32'], ['i64']],
  /** An instruction whose results are unknown. Instruction. */
  havoc: [['i32'], []],
  /** A violated assumption. Instruction. */
  broken: [['i32'], []],
  /** An unsupported instruction. Frame, instruction, thread. */
  unsupported: [['i32', 'i32', 'i32'], []],
  /** An unsupported terminator, and a trap. Frame, segment, thread, steps. They do not return. */
  lost: [['i32', 'i32', 'i32', 'i32'], []],
  trap: [['i32', 'i32', 'i32', 'i32'], []],
} as const satisfies Record<string, readonly [readonly WasmType[], readonly WasmType[]]>;

export type MachineFunction = keyof typeof machineFunctions;
