/**
 * What is known of a kernel under one launch before anything is decided, in parts: each function takes those that it
 * needs. None of it changes; what a check takes for granted on its way is collected apart (`assumed-facts.ts`).
 */
import type { Mbarriers } from '../../analysis/barriers/mbarrier.ts';
import type { NamedBarriers } from '../../analysis/barriers/named-barrier.ts';
import type { Access, LoadedMemory } from '../../analysis/values/access.ts';
import type { ControlDependence } from '../../analysis/values/control-dependence.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { Base } from '../../analysis/values/memory-base.ts';
import type { Reread } from '../../analysis/values/repeated-loads.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import type { BareLocks } from '../ordering/critical-section.ts';
import type { Handover } from '../ordering/release-acquire.ts';
import type { CriticalSections } from '../ordering/protection.ts';
import type { LockAccesses } from '../ordering/synchronisation-idioms.ts';
import type { Ticket } from '../ordering/ticket.ts';
import type { ElementFact } from '../premises/element-fact.ts';
import type { CheckRequest } from '../request/check-request.ts';

/** A kernel and the launch that is asked about. */
export interface KernelAndLaunch {
  readonly request: CheckRequest;
  readonly kernel: Kernel;
  readonly dimensions: Dimensions;
  /** The parameters, and fields of them, that the kernel reads. */
  readonly fields: readonly ParameterField[];
  /** Sizes of arrays in bytes, as stated, by `INDEX.OFFSET` of the parameter. */
  readonly extents: ReadonlyMap<string, number>;
}

/** Values and accesses, in symbols. */
export interface SymbolicFacts {
  readonly symbolic: SymbolicKernel;
  readonly dependences: ControlDependence;
  readonly accesses: readonly Access[];
  /** What a load reads. */
  readonly loaded: (load: Instruction) => LoadedMemory;
  /** Loads that give a thread one value of one place, by that value's id. */
  readonly rereads: ReadonlyMap<number, Reread>;
}

/** What is stated of loaded values. */
export interface ElementFacts {
  /** By value id. */
  readonly elements: ReadonlyMap<number, ElementFact>;
  /** Values read, whole or in part, from arrays of which something is stated. */
  readonly statedValues: ReadonlySet<number>;
}

/** The barriers that threads meet at. */
export interface BarrierFacts {
  /** Barriers in memory that all of the block meets at. */
  readonly inMemory: Mbarriers;
  /** Barriers of part of the block. */
  readonly named: NamedBarriers;
  /** Whether all threads of the block take part in a barrier. */
  readonly isBlockBarrier: (instruction: Instruction) => boolean;
}

/** What orders accesses apart from barriers. */
export interface OrderingFacts {
  readonly sections: CriticalSections;
  readonly bareLocks: BareLocks;
  /** What the locks are made of. */
  readonly locks: readonly Base[];
  /** What takes and releases them. */
  readonly lockAccesses: LockAccesses;
  /** What a thread does only while it holds a lock, apart from accesses. */
  readonly held: ReadonlySet<Instruction>;
  readonly handovers: readonly Handover[];
  /** Values that no two executions share, by value id. */
  readonly tickets: ReadonlyMap<number, Ticket>;
}

/** All of it. */
export interface KernelContext extends KernelAndLaunch, SymbolicFacts, ElementFacts, BarrierFacts, OrderingFacts {}
