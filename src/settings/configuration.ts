/** Configuration of a repository, as `configuration-parser.ts` reads it from `.selvage.yml`, with all defaults. */
import type { StatedAssumption } from '../launch/parameter-source.ts';
import type { Severity } from '../source/severity.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { Gpu } from '../device/gpus.ts';
import type { CheckPolicy } from '../check/request/check-request.ts';
import type { WeightPolicy } from '../repair/weight.ts';
import type { Code } from '../source/codes.ts';
import type { Location } from '../source/location.ts';
import type { CostThresholds, KernelLimits } from './cost-policy.ts';
import type { ScalarValue } from './scalar-argument.ts';

/** An entry of `kernels`: settings of the kernels that match. Missing settings are undefined. */
export interface KernelConfiguration {
  /** Glob over kernel names, see `matchKernel`. */
  readonly match: string;
  readonly block?: Dim3;
  readonly grid?: Dim3;
  readonly cluster?: Dim3;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes?: number;
  readonly cooperative?: boolean;
  readonly assumptions: readonly StatedAssumption[];
  /** Reference values of scalar parameters, by name. */
  readonly args: ReadonlyMap<string, ScalarValue>;
  readonly limits: KernelLimits;
  /** Whether the entry is from the file that `--facts` names. It is then an error if no kernel matches. */
  readonly isFact?: true;
  readonly location: Location;
}

export interface ConfiguredSuppression {
  readonly code: Code;
  readonly reason: string;
  /** Glob over paths; if undefined, all paths match. */
  readonly path?: string;
  /** `YYYY-MM-DD`, the last day on which the suppression applies. */
  readonly until?: string;
  /** Whether the suppression is from the defaults that many repositories share. */
  readonly isShared?: true;
  readonly location: Location;
}

/** The configuration of an organisation for all its repositories, or why it is not available. */
export type DefaultsText = { readonly file: string; readonly text: string } | { readonly file: string; readonly problem: string };

/** `.selvage.yml` with its defaults filled in. */
export interface Configuration {
  readonly arch: readonly string[];
  /** The GPU whose roofline launches are compared with. */
  readonly gpu?: Gpu;
  readonly nvcc: {
    readonly args: readonly string[];
    readonly compileCommands: readonly string[];
    /** Whether headers that only host code uses may be missing. */
    readonly stubsMissingHeaders: boolean;
  };
  readonly paths: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  readonly kernels: readonly KernelConfiguration[];
  readonly checks: {
    readonly race: {
      readonly severity: Severity;
      readonly sameValueWrites: CheckPolicy['sameValueWrites'];
      readonly volatile: CheckPolicy['volatile'];
      readonly undecided: CheckPolicy['undecided'];
      readonly warpLockstep: boolean;
    };
    readonly divergence: { readonly severity: Severity; readonly earlyExit: Severity };
    readonly memory: { readonly overflow: CheckPolicy['overflow']; readonly alignment: CheckPolicy['alignment'] };
    readonly repair: {
      readonly suggest: boolean;
      readonly gridLevel: boolean;
      readonly removeRedundant: Severity;
      readonly weights: WeightPolicy;
    };
    readonly cost: CostThresholds;
    readonly idempotency: Severity;
  };
  readonly suppressions: readonly ConfiguredSuppression[];
}

/** The severities that the configuration sets. */
export function policyOf({ checks: { race, divergence, memory } }: Configuration): CheckPolicy {
  return {
    race: race.severity,
    sameValueWrites: race.sameValueWrites,
    volatile: race.volatile,
    undecided: race.undecided,
    warpLockstep: race.warpLockstep,
    divergence: divergence.severity,
    earlyExit: divergence.earlyExit,
    overflow: memory.overflow,
    alignment: memory.alignment,
  };
}
