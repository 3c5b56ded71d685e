/** What the parts of a page share. */
import type { FindingGroup } from '../../report-model/finding-group.ts';
import type { KernelReport } from '../../report-model/report.ts';

export interface PageParts {
  /** Text of a file; undefined where it is not at hand. */
  readonly source: (file: string) => string | undefined;
  /** The repair of a kernel as a patch; empty where there is none. */
  readonly patchOf: (kernel: KernelReport) => string;
  /** Of a kernel on the page, from 0. */
  readonly numberOf: (kernel: KernelReport) => number;
  /** Whether the base lacks a finding; undefined where nothing is compared. */
  readonly isNew: (group: FindingGroup) => boolean | undefined;
}
