/** An internal error: a message, and the input that reproduces it. */
export interface Defect {
  readonly kernel: string;
  readonly error: unknown;
  /** Name and text of the files that reproduce the internal error. */
  readonly files: ReadonlyMap<string, string>;
}

/** Progress messages of the driver; none of them is part of the report. */
export interface Progress {
  readonly log: (line: string) => void;
  readonly defect: (defect: Defect) => void;
  /** Receives what the analysis does next, for the log of a job that takes minutes. */
  readonly step?: (line: string) => void;
}
