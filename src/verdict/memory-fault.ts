/** What is wrong with a single access to memory, regardless of other threads. */
const memoryFaults = ['out-of-bounds', 'index-overflow', 'misaligned', 'uninitialised'] as const;

export type MemoryFault = (typeof memoryFaults)[number];

/** Whether the kind of a finding is that of a single access, not of a race of two. */
export function isMemoryFault(kind: string): kind is MemoryFault {
  return (memoryFaults as readonly string[]).includes(kind);
}

/** The fault of a code such as `memory/misaligned`; null if the code is not that of a fault. */
export function memoryFaultOf(code: string): MemoryFault | null {
  const kind = code.startsWith('memory/') ? code.slice('memory/'.length) : '';
  return isMemoryFault(kind) ? kind : null;
}
