import type { Diagnostic } from '../../source/diagnostic.ts';
import type { NotAnalysed, Report } from '../../report-model/report.ts';
import type { Location } from '../../source/location.ts';
import type { MeasuredCost } from '../pipeline/cost/cost-series.ts';
import type { TrustChange } from './trust-changes.ts';
import type { Unit } from '../project/input-files.ts';
import type { Project, Tools } from '../project/job.ts';
import type { Settings } from '../../settings/settings.ts';
import type { FileDiff } from '../../source/diff.ts';

/** Why a kernel of the head counts as changed. */
export type TouchReason = 'added' | 'code' | 'launches' | 'flags' | 'assumptions' | 'annotations' | 'base-unknown';

export interface TouchedKernel {
  readonly name: string;
  readonly unit: string;
  readonly location?: Location;
  readonly reason: TouchReason;
}

export interface ChangeAnalysis {
  /** Report of the kernels that the change touches, with the comparison. */
  readonly report: Report;
  readonly diff: readonly FileDiff[];
  readonly touched: readonly TouchedKernel[];
  /** Additions of the change that can hide findings. */
  readonly trust: readonly TrustChange[];
  /** Costs of the touched kernels that are comparable between commits. */
  readonly costs: readonly MeasuredCost[];
  /** Explanation in one line if the change concerns no CUDA code, so that nothing was analysed. */
  readonly nothing?: string;
  /** Text of a file of the head. */
  readonly source: (file: string) => string | undefined;
}

export interface ChangeRequest {
  readonly base: ChangeSide;
  readonly head: ChangeSide;
  readonly tools: Tools;
  /** Names of both sides in reports. `date` is that of the head, if the head is a commit. */
  readonly names: { readonly base: string; readonly head: string; readonly date?: string };
  readonly diff: readonly FileDiff[];
  /** Only units at or below these paths; all if empty. */
  readonly paths?: readonly string[];
  /** Selects the affected units that are compared; if missing, all are. */
  readonly select?: UnitSelection;
  /** Units to compare instead of the units that the difference affects. All of their kernels are analysed. */
  readonly units?: AffectedUnits;
  /**
   * Called with the analysis after all verdicts are known, if repairs are still to be searched for. The search runs
   * concurrently.
   */
  readonly decided?: (analysis: ChangeAnalysis) => Promise<void>;
}

/** Chooses units of a change, with diagnostics about the choice. */
export type UnitSelection = (units: AffectedUnits) => {
  readonly units: AffectedUnits;
  readonly diagnostics: readonly Diagnostic[];
};

/** One side of a change: a tree with its settings. The units to analyse are determined from the difference. */
export interface ChangeSide {
  readonly project: Omit<Project, 'units'>;
  readonly settings: Settings;
}

export interface AffectedUnits {
  readonly base: readonly Unit[];
  readonly head: readonly Unit[];
  /** Path in the base by path in the head, of moved files. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly notAnalysed: readonly NotAnalysed[];
  /** CUDA files that the change affects and `paths` of the configuration leaves out. */
  readonly excluded: readonly string[];
}
