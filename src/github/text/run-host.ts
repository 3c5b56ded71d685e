/** Texts that depend on what runs Selvage: a job has a log and a summary on GitHub, the server of an App has neither. */

/** What runs Selvage: a job of GitHub Actions, or the server of an App. */
export type RunHost = 'job' | 'app';

/** Note at the end of a text that was cut. */
export function cutNote(host: RunHost = 'job'): string {
  return host === 'app' ? '*Shortened: GitHub accepts no longer text.*' : '*Shortened: the job summary and the JSON report have the rest.*';
}

/** End of a list or sentence that is not complete, beginning with a separator; empty if the rest is not available. */
export function restIn(host: RunHost = 'job', words = 'see the job summary'): string {
  return host === 'app' ? '' : `; ${words}`;
}

/** Name of the log with the details of errors, without an article. */
export function logOf(host: RunHost = 'job'): string {
  return host === 'app' ? "log of the App's server" : 'log of the job';
}
