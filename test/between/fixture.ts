/** Launches of kernels from PTX bodies, as a host program makes them. */
import type { Fact, HostTerm } from '../../src/assumptions/expression.ts';
import { integer, symbolTerm } from '../../src/assumptions/expression.ts';
import type { LaunchedCode } from '../../src/between/unordered-bytes.ts';
import type { HostMemory, HostValue } from '../../src/cuda/launches/value.ts';
import type { HostOperation } from '../../src/host/operations/host-operation.ts';
import { kernelOf, pointersAndNumbers } from '../check/kernel-text.ts';

export function memory(id: string): HostMemory {
  return { id, label: id };
}

export function pointer(id: string, offset: HostTerm | null = integer(0)): HostValue {
  return { kind: 'pointer', memory: memory(id), offset };
}

export const size = symbolTerm({ id: 'size', label: 'size' });

export interface LaunchSetting {
  readonly a?: HostValue;
  readonly b?: HostValue;
  readonly n?: HostTerm;
  readonly grid?: HostTerm;
  readonly block?: HostTerm;
  readonly facts?: readonly Fact[];
}

/** A launch of `k(a, b, n, m)` of `kernel-text.ts`. */
export function launchOf({ a, b, n, grid, block, facts = [] }: LaunchSetting = {}): HostOperation {
  const number = (term: HostTerm | undefined, otherwise: number): HostValue => ({ kind: 'number', term: term ?? integer(otherwise) });
  const launch: HostOperation['launch'] = {
    kernel: 'k',
    grid: number(grid, 1),
    block: number(block, 32),
    cluster: undefined,
    shared: number(undefined, 0),
    cooperative: false,
    startsEarly: false,
    keepsAttributes: true,
    arguments: [a ?? pointer('x'), b ?? pointer('y'), number(n, 8), number(undefined, 0)],
    facts,
    symbolFacts: [],
    contents: new Map(),
    location: null,
    unit: 'k.cu',
    entry: { unit: 'k.cu', symbol: 'main' },
  };
  return { kind: 'launch', name: 'k', location: null, unit: 'k.cu', stream: 's', launch, touches: [], facts };
}

export function codeOf(body: string): LaunchedCode {
  return { kernel: kernelOf(body), parameters: pointersAndNumbers };
}
