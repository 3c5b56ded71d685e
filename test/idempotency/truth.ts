/** The truth about launches of the corpus, by re-execution with several contents of memory. */
import { type Reexecution, reexecute } from '../../src/idempotency/reexecution/reexecute.ts';
import { runStaged } from '../../src/interpreter/javascript/staged-run.ts';
import { type CorpusLaunch, reexecutionOf } from './launches.ts';

export interface LaunchTruth {
  readonly launch: CorpusLaunch;
  /** `left-out`: the contents decide. */
  readonly idempotent: boolean | 'undetermined' | 'left-out';
  /** With some contents, the re-executed launch differs. */
  readonly isRefuted: boolean;
  /** By contents of memory. */
  readonly runs: readonly Reexecution[];
}

/** @param contents the number of contents of memory, at least 3 for a verdict */
export function truthOf(launch: CorpusLaunch, contents: number, stops: number): LaunchTruth {
  const runs = Array.from({ length: contents }, (_, seed) => reexecute(reexecutionOf(launch, seed + 1, stops)));
  const answers = new Set(runs.map(({ idempotent }) => idempotent));
  const [answer] = answers;
  const isRefuted = answers.has(false);
  return { launch, idempotent: answers.size === 1 ? answer! : 'left-out', isRefuted, runs };
}

/**
 * Whether threads race in a launch, with some contents of memory. Such a launch is not idempotent by definition, even
 * if no run reproduces it: the order of its accesses is unspecified.
 */
export function hasRace(launch: CorpusLaunch, contents: number): boolean {
  return Array.from({ length: contents }, (_, seed) => reexecutionOf(launch, seed + 1, 0)).some(
    ({ kernel, block, grid, sharedBytes, buffers, arguments: values, steps, seed }) => {
      const run = { kernel, block, grid, sharedBytes, buffers, arguments: values, steps };
      const { races } = runStaged({ ...run, detectRaces: true, contentsSeed: seed });
      return races.some(({ sameValue, unmodelled }) => !sameValue && unmodelled.length === 0);
    },
  );
}
