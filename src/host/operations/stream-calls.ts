/** Functions of the CUDA runtime that order operations. */
import { type HostValue, constantIn, valueKey } from '../../cuda/launches/value.ts';
import {
  type HostStream,
  type HostOrder,
  type StreamKind,
  captureBegun,
  captureEnded,
  hostMayWait,
  hostWaitsFor,
  hostWaitsForEvent,
  recorded,
  streamWaitsFor,
  unknownCode,
} from './order.ts';

/** Functions of the runtime that neither wait nor order anything (CUDA runtime API). Any other one may wait for everything. */
const neutral =
  /^cuda(?:Stream(?:Create\w*|Destroy|GetFlags|GetPriority)|Event(?:Create\w*|Destroy)|GetLastError|PeekAtLastError|GetErrorString|GetErrorName|GetDevice\w*|DeviceGet\w*|FuncSetAttribute|FuncGetAttributes|Occupancy\w*|MemGetInfo|PointerGetAttributes|HostGetDevicePointer|HostGetFlags|DriverGetVersion|RuntimeGetVersion|MallocAsync|FreeAsync|LaunchKernel\w*|LaunchCooperativeKernel\w*|Memcpy\w*|Memset\w*|MemPrefetchAsync|MemAdvise)$|^__cuda/;

/** `cudaStreamNonBlocking` */
const nonBlocking = 1n;

export class Streams {
  /** Streams and events that the program makes, by the handles it was given. */
  readonly #kinds = new Map<string, StreamKind>();
  readonly #events = new Set<string>();
  readonly #hasThreadStreams: boolean;

  /** @param hasThreadStreams whether the default stream is that of a thread (`--default-stream per-thread`) */
  constructor(hasThreadStreams: boolean) {
    this.#hasThreadStreams = hasThreadStreams;
  }

  /** The stream of a handle. */
  of(handle: HostValue | undefined): HostStream {
    if (handle === undefined) return { key: 'unknown', label: 'a stream', kind: 'unknown' };
    const number = isNull(handle) ? 0n : constantIn(handle);
    // `cudaStreamLegacy` and `cudaStreamPerThread` are 1 and 2.
    if (number === 2n || (number === 0n && this.#hasThreadStreams))
      return { key: 'thread', label: 'the default stream of the thread', kind: 'waiting' };
    if (number === 0n || number === 1n) return { key: 'legacy', label: 'the default stream', kind: 'legacy' };
    const key = valueKey(handle);
    const label = handle.kind === 'symbol' ? handle.symbol.label : 'a stream';
    return { key, label, kind: this.#kinds.get(key) ?? 'unknown' };
  }

  /** A new stream or event. @param flags the second argument of the function that makes it */
  create(name: string, handle: HostValue, flags: HostValue | undefined): void {
    const key = valueKey(handle);
    if (name.includes('Event')) {
      this.#events.add(key);
      return;
    }
    const number = name === 'cudaStreamCreate' ? 0n : flags && constantIn(flags);
    // With flags that are not known it may wait, or not.
    this.#kinds.set(key, number === undefined ? 'unknown' : (number & nonBlocking) === 0n ? 'waiting' : 'separate');
  }

  #event(handle: HostValue | undefined): string | null {
    const key = handle && valueKey(handle);
    return key !== undefined && this.#events.has(key) ? key : null;
  }

  /** The order after a call of a function of the runtime, except for the operation that it issues. */
  call(name: string, given: readonly (HostValue | undefined)[], order: HostOrder): HostOrder {
    const [first, second, third] = given;
    switch (name) {
      case 'cudaDeviceSynchronize':
      case 'cudaThreadSynchronize':
      case 'cuCtxSynchronize':
        return hostMayWait(order);
      case 'cudaStreamSynchronize':
      case 'cuStreamSynchronize':
        return hostWaitsFor(order, this.of(first));
      case 'cudaStreamQuery':
      case 'cuStreamQuery':
        return { ...hostWaitsFor(order, this.of(first)), isExact: false };
      case 'cudaEventRecord':
      case 'cudaEventRecordWithFlags':
      case 'cuEventRecord':
        return recorded(order, this.#event(first), this.of(second));
      case 'cudaStreamWaitEvent':
      case 'cuStreamWaitEvent':
        return streamWaitsFor(order, this.of(first), this.#event(second));
      case 'cudaEventSynchronize':
      case 'cuEventSynchronize':
        return hostWaitsForEvent(order, this.#event(first));
      case 'cudaEventQuery':
      case 'cuEventQuery':
        return { ...hostWaitsForEvent(order, this.#event(first)), isExact: false };
      case 'cudaEventElapsedTime':
        return { ...[second, third].reduce((all, event) => hostWaitsForEvent(all, this.#event(event)), order), isExact: false };
      case 'cudaSetDevice': {
        const key = first ? valueKey(first) : '';
        const isFirst = order.device === undefined && order.lanes.size === 0;
        const isSame = isFirst || order.device === key;
        return { ...order, device: isSame ? key : null, isExact: order.isExact && isSame };
      }
      case 'cudaStreamBeginCapture':
      case 'cudaStreamBeginCaptureToGraph':
        return captureBegun(order, this.of(first));
      case 'cudaStreamEndCapture':
        return captureEnded(order, this.of(first));
      default:
        return neutral.test(name) ? order : unknownCode(order);
    }
  }
}

function isNull(value: HostValue): boolean {
  return value.kind === 'pointer' && value.memory.id === 'null';
}
