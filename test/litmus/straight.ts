/** Litmus programs without conditions on values that are read, and the values that their reads may return. */
import { decideProgram } from './oracle.ts';
import { mostLocations } from './print.ts';
import { leftBy, type LitmusProgram, type Statement } from './program.ts';

/** A program without its tests; null if it has barriers, or uses the location for the values of reads. */
export function straightened({ threads, barriers }: LitmusProgram): LitmusProgram | null {
  const plain = (statement: Statement): Statement => {
    if (!('test' in statement)) return statement;
    const { test: _, ...rest } = statement;
    return rest;
  };
  const steps = threads.flatMap(({ segments }) => segments.flat());
  if (barriers.length > 0 || steps.some((step) => 'at' in step && step.at === mostLocations - 1)) return null;
  return { threads: threads.map((thread) => ({ ...thread, segments: thread.segments.map((own) => own.map(plain)) })), barriers };
}

/** Number of reads of a program, including atomics. */
export function readsOf({ threads }: LitmusProgram): number {
  return threads.flatMap(({ segments }) => segments.flat()).filter(({ kind }) => kind === 'load' || kind === 'atomic').length;
}

/** Possible values of the reads under the memory model of PTX, in the order of threads: `0 1`. */
export function allowedReads(program: LitmusProgram): ReadonlySet<string> {
  return new Set([...decideProgram(program, 'all').outcomes].map((outcome) => outcome.replaceAll(/\S+=/g, '')));
}

/** Values of the reads under sequential consistency. */
export function sequentialReads({ threads }: LitmusProgram): ReadonlySet<string> {
  const own = threads.map(({ segments }) => segments.flat());
  const firstRead = own.map((_, thread) => readsOf({ threads: threads.slice(0, thread), barriers: [] }));
  const outcomes = new Set<string>();
  const go = (done: readonly number[], memory: ReadonlyMap<number, number>, reads: readonly number[]): void => {
    let isEnd = true;
    for (const [thread, at] of done.entries()) {
      const step = own[thread]![at];
      if (!step) continue;
      isEnd = false;
      const next = done.map((count, index) => (index === thread ? count + 1 : count));
      if (step.kind === 'fence') {
        go(next, memory, reads);
        break;
      }
      const old = memory.get(step.at) ?? 0;
      const found = reads.slice();
      const before = own[thread]!.slice(0, at).filter(({ kind }) => kind === 'load' || kind === 'atomic').length;
      if (step.kind !== 'store') found[firstRead[thread]! + before] = old;
      const stored = step.kind === 'store' ? step.value : step.kind === 'atomic' ? leftBy(step.operation, old, step.value) : old;
      go(next, new Map(memory).set(step.at, stored), found);
    }
    if (isEnd) outcomes.add(reads.join(' '));
  };
  go(
    own.map(() => 0),
    new Map(),
    [],
  );
  return outcomes;
}
