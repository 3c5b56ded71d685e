/** Copies and fills of the CUDA runtime: what they access, in which stream, and whether the host waits for them. */
import { integer, termConstant } from '../../assumptions/expression.ts';
import { type HostMemory, type HostValue, memoriesIn, nullPointer, termOf } from '../../cuda/launches/value.ts';
import type { HostOperation, HostTouch } from './host-operation.ts';
import { type HostOrder, afterUse } from './order.ts';

interface MadeCopy {
  readonly operation: Pick<HostOperation, 'kind' | 'name' | 'touches'>;
  /** The handle of its stream; undefined if it is unknown. */
  readonly stream: HostValue | undefined;
  /** Whether the call returns before it ends; else the host may wait for it (CUDA runtime API, "API synchronization behavior"). */
  readonly returnsEarly: boolean;
  /** Whether the host certainly waits for it. */
  readonly isSynchronous: boolean;
}

/** Positions of the arguments; without `bytes` a copy is of rows. */
const forms: Readonly<Record<string, { readonly source?: number; readonly bytes?: number; readonly stream: number }>> = {
  cudaMemcpy: { source: 1, bytes: 2, stream: 4 },
  cudaMemcpy2D: { source: 2, stream: 7 },
  cudaMemset: { bytes: 2, stream: 3 },
};

/** Frees memory once the operations before it in the stream have ended: no other operation may access it then. */
const freeAsync = 'cudaFreeAsync';

/**
 * The copy or fill of a call; `unknown` for those of symbols, arrays and volumes; null for any other function.
 * @param isManaged whether the host program accesses memory, too
 */
export function copyOf(
  name: string,
  given: readonly (HostValue | undefined)[],
  isManaged: (memory: HostMemory) => boolean,
): MadeCopy | 'unknown' | null {
  const memoryAt = (position: number): HostMemory | null => {
    const value = given[position];
    return value?.kind === 'pointer' && value.memory.id !== 'null' ? value.memory : null;
  };
  if (name === freeAsync) {
    const memory = memoryAt(0);
    const touches = memory ? [{ memory, offset: integer(0), bytes: memory.bytes ?? null, isWrite: true }] : [];
    return { operation: { kind: 'fill', name, touches }, stream: given[1], returnsEarly: true, isSynchronous: false };
  }
  if (!/^cudaMem(?:cpy|set)/.test(name)) return null;
  const isAsync = name.endsWith('Async');
  const form = forms[name.replace(/Async$/, '')];
  if (!form) return 'unknown';
  const touch = (position: number, isWrite: boolean): HostTouch[] => {
    const [value, count] = [given[position], form.bytes === undefined ? undefined : given[form.bytes]];
    const memory = memoryAt(position);
    if (!memory || value?.kind !== 'pointer') return [];
    return [{ memory, offset: value.offset, bytes: count && count.kind !== 'quotient' ? termOf(count) : null, isWrite }];
  };
  const { source, stream } = form;
  const value = source === undefined ? given[1] : undefined;
  const stored = value && value.kind !== 'quotient' ? termOf(value) : null;
  /** Whether it is memory of the device, or pinned. */
  const isPinned = (position: number): boolean => {
    const memory = memoryAt(position);
    return memory !== null && (memory.isOfDevice === true || isManaged(memory));
  };
  const isOnDevice = (position: number): boolean => isPinned(position) && !isManaged(memoryAt(position)!);
  const filled = touch(0, true).map((one) => (stored ? { ...one, stored } : one));
  const touches = [...filled, ...(source === undefined ? [] : touch(source, false))];
  return {
    operation: { kind: source === undefined ? 'fill' : 'copy', name, touches },
    stream: isAsync ? given[stream] : nullPointer,
    // Copies from and to memory of the host that is not pinned may wait; fills of memory of the host do.
    isSynchronous: !isAsync && source !== undefined && !isOnDevice(0),
    // Copies between two memories of the host are synchronous.
    returnsEarly:
      source === undefined ? isOnDevice(0) : isAsync && isPinned(0) && isPinned(source) && (isOnDevice(0) || isOnDevice(source)),
  };
}

/** Copies and fills whose first argument points to what they write. */
const byPointer = /^cu(?:da)?Mem(?:cpy|set)(?:2D)?(?:Peer|DtoD|HtoD|D8|D16|D32)?(?:Async)?(?:_v2)?$/;

/** `cudaMemcpyDeviceToHost` */
const toHost = 2n;

/** The order after a copy or a fill, which may be the last to use what it writes: any memory, if that is unknown. */
export function afterWrite(order: HostOrder, name: string, given: readonly (HostValue | undefined)[]): HostOrder {
  const written = given[0] && byPointer.test(name) ? memoriesIn(given[0]).map(({ id }) => id) : [];
  if (written.length > 0) return afterUse(order, written, null);
  const direction = given[3] && termOf(given[3]);
  const isToHost = /^cudaMemcpy(?:Async)?$/.test(name) && direction && termConstant(direction) === toHost;
  return isToHost ? order : { ...order, lastUses: new Map() };
}
