/** The imports of region code from the interpreter. */
import type { WasmType } from '../code/wasm-module.ts';

/** The module name under which region code imports memory and interpreter functions. */
export const machineModule = 'machine';

/** Functions that region code calls. Steps are those of the call so far. */
export const machineFunctions = {
  /** An access that leaves the place it was taken to stay in. Frame, site, address, thread, steps. Does not return. */
  stray: [['i32', 'i32', 'i64', 'i32', 'i32'], []],
  /** Finds the linear address, and that of the shadow word. Frame, site, address, thread, steps. */
  locate: [['i32', 'i32', 'i64', 'i32', 'i32'], ['i32']],
  /**
   * A transition of a shadow word that is to be looked at. Frame, site, linear address, address of the word, thread,
   * former word.
   */
  report: [['i32', 'i32', 'i32', 'i32', 'i32', 'i64'], []],
  /** An access, for the detector with clocks. Frame, site, linear address, thread. */
  record: [['i32', 'i32', 'i32', 'i32'], []],
  /** The same of a weak access to one word. Frame, site, linear address, thread, the word after the access. */
  recordWord: [['i32', 'i32', 'i32', 'i32', 'i32'], []],
  /** The same of an access that only synchronizes. */
  handOver: [['i32', 'i32', 'i32', 'i32'], []],
  /** Events that order accesses, for the same. Frame, instruction, thread. */
  event: [['i32', 'i32', 'i32'], []],
  /** The same of a fence that releases. Frame, instruction, thread, whether it is sequentially consistent. */
  fence: [['i32', 'i32', 'i32', 'i32'], []],
  /** An instruction that the interpreter executes; sources and results are among the operands of the frame. */
  foreign: [['i32', 'i32', 'i32'], []],
  /** A word of an unknown value. Frame, thread, instruction, result, word. */
  unknown: [['i32', 'i32', 'i32', 'i32', 'i32'], ['i64']],
  /** An instruction whose results are unknown. Instruction. */
  havoc: [['i32'], []],
  /** An assumption that does not hold. Instruction. */
  broken: [['i32'], []],
  /** An instruction that is not known. Frame, instruction, thread. */
  unsupported: [['i32', 'i32', 'i32'], []],
  /** Control that is not understood, and a trap. Frame, segment, thread, steps. They do not return. */
  lost: [['i32', 'i32', 'i32', 'i32'], []],
  trap: [['i32', 'i32', 'i32', 'i32'], []],
} as const satisfies Record<string, readonly [readonly WasmType[], readonly WasmType[]]>;

export type MachineFunction = keyof typeof machineFunctions;
