/** Report of the assembler on kernels: `ptxas -v`. */

export interface KernelResources {
  /** Number of registers of one thread. */
  readonly registers: number;
  /** Sizes in bytes: the stack frame of a thread, and its spills. */
  readonly stackBytes: number;
  readonly spillStoreBytes: number;
  readonly spillLoadBytes: number;
  /** Bytes of static shared memory of a block. */
  readonly sharedBytes: number;
  /** Bytes of constant memory, parameters included. */
  readonly constantBytes: number;
  /** Number of named barriers. */
  readonly barriers: number;
}

/**
 * Parses the report of `ptxas -v`.
 * @returns the resources of each kernel, by its symbol
 */
export function parsePtxasReport(text: string): Map<string, KernelResources> {
  const kernels = new Map<string, KernelResources>();
  const frames = new Map<string, readonly number[]>();
  let kernel: string | undefined;
  let properties: string | undefined;
  for (const line of text.split('\n')) {
    const entry = /Compiling entry function '([^']+)'/.exec(line);
    if (entry) kernel = entry[1];
    const named = /Function properties for ['"]?([^'"\s]+)/.exec(line);
    if (named) properties = named[1];
    const frame = /(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads/.exec(line);
    if (frame && properties !== undefined) frames.set(properties, frame.slice(1).map(Number));
    const used = /Used (\d+) registers(.*)/.exec(line);
    if (!used || kernel === undefined) continue;
    const rest = used[2]!;
    const amount = (pattern: RegExp): number => [...rest.matchAll(pattern)].reduce((sum, match) => sum + Number(match[1]), 0);
    const [stackBytes = 0, spillStoreBytes = 0, spillLoadBytes = 0] = frames.get(kernel) ?? [];
    kernels.set(kernel, {
      registers: Number(used[1]),
      stackBytes: Math.max(stackBytes, amount(/(\d+) bytes cumulative stack size/g)),
      spillStoreBytes,
      spillLoadBytes,
      sharedBytes: amount(/(\d+)(?:\+\d+)? bytes smem/g),
      constantBytes: amount(/(\d+) bytes cmem\[\d+\]/g),
      barriers: amount(/used (\d+) barriers/g),
    });
    kernel = undefined;
  }
  return kernels;
}
