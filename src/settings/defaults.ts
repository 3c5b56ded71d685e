/** Values of everything that neither the command line nor a configuration sets. Defaults are defined only here. */
import { availableParallelism } from 'node:os';
import type { Configuration } from './configuration.ts';

/** An architecture that most toolkits in use support. */
const arch = 'sm_80';

/** The configuration of a repository without a configuration file. */
export const defaultConfiguration: Configuration = {
  arch: [arch],
  nvcc: { args: [], compileCommands: [], stubsMissingHeaders: false },
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
    memory: { overflow: 'notice', alignment: 'notice' },
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

/** Default values of command-line options. */
export const optionDefaults = {
  arch,
  format: 'pretty',
  failOn: 'error',
  solver: 'wasm',
  /** Time limit in seconds for each kernel. */
  timeout: 60,
  head: 'HEAD',
  /** The build that `run` executes if the input is CUDA. */
  build: 'verification',
  backEnd: 'auto',
  /** Maximum number of instructions of all threads of a run together. The slower back end executes them in a minute. */
  steps: 1_000_000_000,
} as const;

/** Default values of the settings of `selvage serve`. */
export const serverDefaults = {
  host: '127.0.0.1',
  port: 3000,
  folder: 'selvage-data',
  /** Number of concurrent analyses. */
  jobs: 2,
  /** Time limit in minutes, and memory limit in mebibytes, of one analysis. */
  minutes: 20,
  mebibytes: 3072,
  /** Maximum mebibytes of the results of earlier analyses. */
  cacheMebibytes: 10_240,
  serverUrl: 'https://github.com',
  apiUrl: 'https://api.github.com',
} as const;

/**
 * Default number of concurrent compilations and checks, limited because more would exceed the memory of small hosts.
 */
export function defaultJobs(): number {
  return Math.min(4, availableParallelism());
}
