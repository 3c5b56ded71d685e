/** Operations of a host program on memory of the device, and on memory that it shares with the device. */
import type { Fact, HostTerm } from '../../assumptions/expression.ts';
import type { LaunchEvent } from '../../cuda/launches/launch-event.ts';
import type { HostMemory } from '../../cuda/launches/value.ts';
import type { GimpleLocation } from '../../gimple/gimple.ts';

/** A function from which interpretation starts, with the path of its unit. */
export interface HostEntry {
  readonly unit: string;
  readonly symbol: string;
}

/** A launch of a host program, at its place in the source. */
export interface HostLaunch extends Omit<LaunchEvent, 'text' | 'symbolFacts'> {
  /** Symbol of the kernel, or its name in a module (driver API); empty if it is unknown. */
  readonly kernel: string;
  readonly location: GimpleLocation | null;
  /** Path of the unit that makes it. */
  readonly unit: string;
  /** The function from which interpretation started. */
  readonly entry: HostEntry;
}

/** A launch with the facts about its symbols. */
export type ReadLaunch = HostLaunch & { readonly symbolFacts: readonly Fact[] };

/** Bytes that an operation accesses. */
export interface HostTouch {
  readonly memory: HostMemory;
  /** In bytes; null if it is unknown. */
  readonly offset: HostTerm | null;
  /** Null if it is unknown. */
  readonly bytes: HostTerm | null;
  readonly isWrite: boolean;
  /** Of a fill: the value of each byte, of which the lowest 8 bits count. */
  readonly stored?: HostTerm;
}

/** The identity of a variable of a unit in global memory. */
export function variableMemory(unit: string, symbol: string): string {
  return `variable ${unit} ${symbol}`;
}

/** An operation, at its place in the source. `host`: an access of the host program itself. */
export interface HostOperation {
  readonly kind: 'launch' | 'copy' | 'fill' | 'host';
  /** The function of the runtime, or the symbol of the kernel. */
  readonly name: string;
  readonly location: GimpleLocation | null;
  readonly unit: string;
  /** Its stream, for messages; null for the host. */
  readonly stream: string | null;
  /** Present for a launch, whose accesses follow from its kernel and arguments. */
  readonly launch?: ReadLaunch;
  /** Accesses of other operations; of a launch those of variables of its unit. */
  readonly touches: readonly HostTouch[];
  /** Conditions of its path. */
  readonly facts: readonly Fact[];
}

/**
 * Two operations of one path that may overlap:
 *
 * - `streams`: nothing makes one wait for the other, neither streams, events nor the host;
 * - `host`: the host program accesses memory, and has not waited for the first operation;
 * - `programmatic`: a launch with programmatic stream serialization, and the launch before it in the stream; null if that is
 *   not known;
 * - `chain`: such a launch, and one before the launches before it, which all may start early, too: the latest wait for it only
 *   through them;
 * - `again`: two launches of one kernel, in this order, that are given one memory, which nothing else is given in between.
 */
export interface OverlappingOperations {
  readonly kind: 'streams' | 'host' | 'programmatic' | 'chain' | 'again';
  readonly first: HostOperation | null;
  readonly second: HostOperation;
  /** Of a chain the launches between them. */
  readonly between?: readonly HostOperation[];
  /** Of two launches of one kernel: the memory that only they use, by its identity. */
  readonly memories?: readonly string[];
  /** Facts about the symbols of both. */
  readonly symbolFacts: readonly Fact[];
}
