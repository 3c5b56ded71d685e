/** Codes about the order of launches, copies and accesses of the host program. */
import type { CodeEntry } from './code-entry.ts';

export const orderingCodes = {
  'ordering/pdl-wait': {
    severity: 'error',
    title: 'A kernel accesses memory before it has waited for the kernel before it.',
    explanation:
      'A launch with programmatic stream serialization may start before the kernel before it in the stream has ended. Only `cudaGridDependencySynchronize()` waits for that end and makes its results visible; without it nothing does, even if the kernel before never calls `cudaTriggerProgrammaticLaunchCompletion()` (CUDA programming guide, "Programmatic Dependent Launch and Synchronization"). The finding is an error if the host program makes both launches and runs of both kernels access the same bytes, and a warning if the kernel before is not known. A kernel that never waits is reported, too: it may end before the kernel before it, so a kernel that starts early after it and waits cannot rely on that one; if runs show this, it is an error. Reported for sm_90 and later.',
    example: 'float v = x[i];   // the kernel before may still write x\ncudaGridDependencySynchronize();\ny[i] = v;',
    remedy:
      'Call cudaGridDependencySynchronize() before the first access to memory that a kernel before it uses, as late as possible. `selvage repair` inserts the call, or moves it.',
  },
  'ordering/streams': {
    severity: 'error',
    title: 'Two operations in different streams access the same bytes, one of them writes, and nothing orders them.',
    explanation:
      'Kernels, copies and fills of one stream run one after the other. Those of two streams may run at the same time, unless an event, the host or the default stream makes one wait for the other. The finding is an error if runs of the kernels access the same bytes, and a warning if both are given the same memory and their launches are not known well enough to run them.',
    example: 'produce<<<grid, block, 0, s>>>(x);\nconsume<<<grid, block, 0, t>>>(y, x);   // may run before produce',
    remedy:
      'Record an event after the first operation with cudaEventRecord() and let the other stream wait for it with cudaStreamWaitEvent(), or use one stream.',
  },
  'ordering/host': {
    severity: 'error',
    title: 'The host program accesses memory that an operation of the device may still use.',
    explanation:
      'Launches and asynchronous copies return before they have ended. The host may access pinned or managed memory that they write, or write what they read, only after it has waited for them.',
    example: 'kernel<<<grid, block>>>(managed);\nprintf("%f", managed[0]);   // the kernel may still run',
    remedy: 'Call cudaStreamSynchronize(), cudaEventSynchronize() or cudaDeviceSynchronize() before the access.',
  },
  'ordering/counter': {
    severity: 'warning',
    title: 'A kernel is launched again with a counter that its launch before has changed.',
    explanation:
      'Blocks count at a counter that has to be 0 when the kernel starts. The kernel does not set it back, and nothing between the two launches does. In the second launch no block is the last one, or a block goes on without having waited. The proof of the kernel is for launches that find 0 there.',
    example:
      'sumWithLastBlock<<<grid, block>>>(in, part, out, count);\nsumWithLastBlock<<<grid, block>>>(in, part, out, count);   // count is gridDim.x',
    remedy: 'Clear the memory with cudaMemsetAsync() in the stream before each launch, or let the last block store 0 in the counter.',
  },
} as const satisfies Record<string, CodeEntry>;
