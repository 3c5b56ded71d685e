import type { Diagnostic } from '../../source/diagnostic.ts';
import type { NotAnalysed } from '../../document/report.ts';
import type { Unit } from '../project/inputs.ts';
import type { Project, Tools } from '../project/job.ts';
import type { Settings } from '../../settings/settings.ts';
import type { FileDiff } from '../../source/diff.ts';

export interface ChangeRequest {
  readonly base: ChangeSide;
  readonly head: ChangeSide;
  readonly tools: Tools;
  /** `date` is that of the head, if it is a commit. */
  readonly names: { readonly base: string; readonly head: string; readonly date?: string };
  readonly diff: readonly FileDiff[];
  /** Only units at or below these paths; all where there are none. */
  readonly paths?: readonly string[];
  /** Which of the affected units are compared; all where it is missing. */
  readonly select?: UnitSelection;
  /** What is compared, instead of the units that the difference affects: all of their kernels are looked at. */
  readonly units?: AffectedUnits;
}

/** Chooses units of a change, with what goes wrong by that. */
export type UnitSelection = (units: AffectedUnits) => {
  readonly units: AffectedUnits;
  readonly diagnostics: readonly Diagnostic[];
};

/** One side of a change; its units are found from the difference. */
export interface ChangeSide {
  readonly project: Omit<Project, 'units'>;
  readonly settings: Settings;
}

export interface AffectedUnits {
  readonly base: readonly Unit[];
  readonly head: readonly Unit[];
  /** Path in the base by path in the head, of what moved. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly notAnalysed: readonly NotAnalysed[];
}
