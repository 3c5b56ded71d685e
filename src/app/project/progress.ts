/** A defect of ours: what happened, and the input that shows it. */
export interface Defect {
  readonly kernel: string;
  readonly error: unknown;
  /** Name and text of the files that reproduce it. */
  readonly files: ReadonlyMap<string, string>;
}

/** How the driver tells of what goes on; nothing of it enters the report. */
export interface Progress {
  readonly log: (line: string) => void;
  readonly defect: (defect: Defect) => void;
}
