/** Functions that the parts of a page share. */
import type { FindingGroup } from '../../report-model/finding-group.ts';
import type { KernelReport } from '../../report-model/report.ts';

export interface PageParts {
  /** Text of a file; undefined if not available. */
  readonly source: (file: string) => string | undefined;
  /** The repair of a kernel as a patch; empty without a repair. */
  readonly patchOf: (kernel: KernelReport) => string;
  /** Index of a kernel on the page, from 0. */
  readonly numberOf: (kernel: KernelReport) => number;
  /** Whether a finding is missing in the base; undefined without a comparison. */
  readonly isNew: (group: FindingGroup) => boolean | undefined;
}
