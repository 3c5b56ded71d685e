/** The document of `selvage run`. */
import type { Severity } from '../source/severity.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { RunOutcome, Unmodelled } from '../interpreter/core/run-result.ts';
import type { AccessDescription, RaceFinding, WitnessArgument } from '../verdict/finding.ts';
import type { Counts } from '../interpreter/counters.ts';
import type { BackEndName } from '../interpreter/core/run-request.ts';
import type { Code } from '../source/codes.ts';
import type { Location } from '../source/location.ts';

export interface RunReport {
  readonly schema: 1;
  readonly tool: { readonly name: 'selvage'; readonly version: string };
  readonly kernel: {
    readonly name: string;
    readonly symbol: string;
    readonly location?: Location;
    /** Executed build; `ptx` if the input was a PTX file. */
    readonly build: 'verification' | 'production' | 'ptx';
  };
  readonly launch: {
    readonly block: Dim3;
    readonly grid: Dim3;
    readonly sharedBytes: number;
    readonly cooperative: boolean;
    /** Indices of the executed blocks, if not all were executed. */
    readonly blocks?: readonly number[];
    /** Seed of the schedule of blocks and warps. */
    readonly schedule?: number;
    /** Number of executed schedules. The reported one is the first with a finding, or the requested one. */
    readonly schedules?: number;
    readonly backend: BackEndName;
    /** Whether the race detector was on. */
    readonly races: boolean;
    readonly args: Readonly<Record<string, WitnessArgument>>;
  };
  readonly outcome: RunOutcome;
  /** Number of executed thread-instructions. */
  readonly steps: number;
  readonly findings: readonly RunFinding[];
  /** Counters of the run; null if not requested. */
  readonly counters: CountersReport | null;
  /** Contents of arrays after the run, by name. */
  readonly outputs: Readonly<Record<string, OutputReport>>;
  /** Durations in milliseconds, with `--timings`. */
  readonly timings?: Readonly<Record<string, number>>;
}

export type RunFinding = RunRace | RunEvent;

/** Two unordered accesses. */
export interface RunRace {
  readonly code: 'race/shared' | 'race/global' | 'race/volatile';
  readonly severity: Severity;
  readonly kind: RaceFinding['kind'];
  readonly memory: 'global' | 'shared';
  readonly scope: 'warp' | 'block' | 'grid';
  readonly array: string;
  /** Offset in bytes, within the array, of the bytes that both accesses touch, and their number. */
  readonly offset: number;
  readonly bytes: number;
  readonly sameValue?: true;
  /** Constructs between the accesses that Selvage does not model and that may order them. */
  readonly unmodelled?: readonly Unmodelled[];
  readonly first: AccessDescription;
  readonly second: AccessDescription;
  readonly message: string;
}

/** Any other finding: a wrong access, a barrier that threads miss, or a run that stopped early. */
export interface RunEvent {
  readonly code: Exclude<Code, RunRace['code']>;
  readonly severity: Severity;
  readonly location?: Location;
  readonly block?: Dim3;
  readonly thread?: Dim3;
  /** Source text of a faulting access, if the line identifies it. */
  readonly expression?: string;
  /** Positions of the threads, for a barrier that some threads do not reach. */
  readonly positions?: readonly ThreadPosition[];
  readonly message: string;
}

/** Threads of a block that are at one location. */
export interface ThreadPosition {
  readonly state: 'waiting' | 'exited' | 'running';
  readonly location?: Location;
  /** Indices of some of these threads, the lowest first. */
  readonly threads: readonly Dim3[];
  /** Total number of these threads. */
  readonly count: number;
}

export interface CountersReport {
  /** Number of executed warps. */
  readonly warpCount: number;
  readonly totals: Counts;
  readonly lines: readonly (Counts & Location)[];
  /** Counts of the first warps, by block and warp. */
  readonly warps: readonly (Counts & { readonly block: Dim3; readonly warp: number })[];
}

export interface OutputReport {
  readonly type: string;
  /** Number of elements; null if the array has no bounds. */
  readonly length: number | null;
  /** First half of the SHA-256 digest of all bytes; null if the array has no bounds. */
  readonly sha256: string | null;
  /** Whether the contents differ from those at the start of the run; null if the array has no bounds. */
  readonly changed: boolean | null;
  /** Values of the first elements. */
  readonly first: readonly (number | string)[];
  /** Names of other parameters that point into the array. */
  readonly aliases?: readonly string[];
  /** File to which the bytes of the array were written. */
  readonly file?: string;
}

/** Whether a finding is a race. */
export function isRunRace(finding: RunFinding): finding is RunRace {
  return 'first' in finding;
}
