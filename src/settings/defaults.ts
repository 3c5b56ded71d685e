/** Values of everything that neither the command line nor a configuration sets: the only place of defaults. */
import { availableParallelism } from 'node:os';
import type { Configuration } from './configuration.ts';

/** The architecture that most toolkits in use can compile for. */
const arch = 'sm_80';

/** The configuration of a repository that has none. */
export const defaultConfiguration: Configuration = {
  arch: [arch],
  nvcc: { args: [] },
  paths: { include: [], exclude: [] },
  kernels: [],
  checks: {
    race: {
      severity: 'error',
      sameValueWrites: 'warning',
      volatile: 'warning',
      undecided: 'notice',
      warpLockstep: false,
    },
    divergence: { severity: 'error', earlyExit: 'warning' },
    repair: {
      suggest: true,
      gridLevel: true,
      removeRedundant: 'notice',
      // As in paper 003, section 4.1.
      weights: { grid: 12, loop: 10 },
    },
    cost: {},
    idempotency: 'notice',
  },
  suppressions: [],
};

/** Options of the command line. */
export const optionDefaults = {
  arch,
  format: 'pretty',
  failOn: 'error',
  solver: 'wasm',
  /** Seconds for each kernel. */
  timeout: 60,
  head: 'HEAD',
  /** The build of CUDA code for `run`. */
  build: 'verification',
  backEnd: 'auto',
  /** Instructions of all threads of a run together, enough for a minute in the slower back end. */
  steps: 1_000_000_000,
} as const;

/** Concurrent compilations and checks: more would need more memory than small hosts have. */
export function defaultJobs(): number {
  return Math.min(4, availableParallelism());
}
