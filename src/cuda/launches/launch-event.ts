import type { Fact } from '../../assumptions/expression.ts';
import type { HostValue, MemoryContents } from './value.ts';

/** A launch, as it happens in the program. */
export interface LaunchEvent {
  /** `reduce<256>` as written, for messages. */
  readonly text: string;
  readonly grid: HostValue | undefined;
  readonly block: HostValue | undefined;
  readonly cluster: HostValue | undefined;
  readonly shared: HostValue | undefined;
  /** Undefined if unknown. */
  readonly cooperative: boolean | undefined;
  /** Whether it may start before the kernel before it in the stream has ended (programmatic dependent launch). */
  readonly startsEarly: boolean;
  /** Present if it certainly has the attribute of programmatic stream serialization. */
  readonly isProgrammatic?: boolean;
  /** Present if other operations of the program may overlap with it: it uses several streams, and their order is not known. */
  readonly mayOverlap?: true;
  /** Whether the program changes no attributes of kernels, so that they have the default limit of dynamic shared memory. */
  readonly keepsAttributes: boolean;
  /** Values of the arguments; undefined if unknown. */
  readonly arguments: readonly HostValue[] | undefined;
  readonly facts: readonly Fact[];
  /** Facts about symbols on every path. */
  readonly symbolFacts: readonly Fact[];
  /** Contents of memory when the kernel starts: by the identity of an allocation, or `symbol NAME`. */
  readonly contents: ReadonlyMap<string, MemoryContents>;
}
