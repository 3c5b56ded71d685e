/**
 * Facts about a kernel under one launch before any decision, in parts: each function takes the parts that it needs.
 * They are immutable; assumptions made during a check are collected separately (`assumed-facts.ts`).
 */
import type { Mbarriers } from '../../analysis/barriers/block-mbarrier.ts';
import type { NamedBarriers } from '../../analysis/barriers/named-barrier.ts';
import type { Access, LoadedMemory } from '../../analysis/values/access.ts';
import type { ControlDependence } from '../../analysis/values/control-dependence.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { Reread } from '../../analysis/values/repeated-loads.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import type { GridGate } from '../ordering/grid-gate.ts';
import type { Synchronisation } from '../ordering/pattern.ts';
import type { Ticket } from '../ordering/ticket.ts';
import type { ElementFact } from '../premises/element-fact.ts';
import type { CheckRequest } from '../request/check-request.ts';
import type { OrderWith } from '../ordering/supposed.ts';

/** A kernel and the launch under analysis. */
export interface KernelAndLaunch {
  readonly request: CheckRequest;
  readonly kernel: Kernel;
  readonly dimensions: Dimensions;
  /** The parameters, and the fields of struct parameters, that the kernel reads. */
  readonly fields: readonly ParameterField[];
  /** Sizes of arrays in bytes, as stated, by `INDEX.OFFSET` of the parameter. */
  readonly extents: ReadonlyMap<string, number>;
}

/** Values and accesses in symbolic form. */
export interface SymbolicFacts {
  readonly symbolic: SymbolicKernel;
  readonly dependences: ControlDependence;
  readonly accesses: readonly Access[];
  /** Kind of memory that a load reads. */
  readonly loaded: (load: Instruction) => LoadedMemory;
  /** Loads that repeat an earlier one of the same location with the same result, by value id. */
  readonly rereads: ReadonlyMap<number, Reread>;
  /** Locks, flags and counters, if more fences or barriers were there; for advice only. */
  readonly orderWith: OrderWith;
  /** Present once lanes are known to exit, possibly, before an exchange of their warp, which then yields unknown values. */
  readonly lanesMayHaveExited?: true;
}

/** Statements about loaded values. */
export interface ElementFacts {
  /** By value id. */
  readonly elements: ReadonlyMap<number, ElementFact>;
  /** Values read, whole or in part, from arrays with statements. */
  readonly statedValues: ReadonlySet<number>;
}

/** The barriers that threads synchronise at. */
export interface BarrierFacts {
  /** Barriers in memory that synchronise the whole block. */
  readonly inMemory: Mbarriers;
  /** Barriers of part of the block. */
  readonly named: NamedBarriers;
  /** Whether all threads of the block take part in a barrier. */
  readonly isBlockBarrier: (instruction: Instruction) => boolean;
}

/** Facts that order accesses by other means than barriers. */
export interface OrderingFacts {
  /** Locks, flags and counters; locks first. */
  readonly synchronisation: readonly Synchronisation[];
  /** Barriers of the grid that the kernel makes of counters. */
  readonly gates: readonly GridGate[];
  /** Values that differ between any two executions of their instruction, by value id. */
  readonly tickets: ReadonlyMap<number, Ticket>;
}

/** All facts about a kernel under one launch. */
export interface KernelContext extends KernelAndLaunch, SymbolicFacts, ElementFacts, BarrierFacts, OrderingFacts {}
