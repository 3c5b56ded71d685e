/** Two threads of one statement whose index comes from an atomic operation or a shuffle: no order of the writes keeps both values. */
import type { Location } from '../../source/location.ts';
import type { IndexCause, MissingBarrier } from '../../verdict/finding.ts';
import { code } from '../text/code-text.ts';
import { cudaFunction } from '../text/cuda-function.ts';
import { calledFrom, lineText } from '../text/place.ts';

interface SharedIndex {
  readonly from: Location;
  readonly cause: IndexCause | undefined;
  /** The file whose lines are named without its name. */
  readonly home: string | undefined;
}

/** The atomic operation or the shuffle from which an index comes; null if it comes from neither. */
export function sharedIndexOf(
  { indexFrom, indexCause }: Pick<MissingBarrier, 'indexFrom' | 'indexCause'>,
  home: string | undefined,
): SharedIndex | null {
  return indexFrom ? { from: indexFrom, cause: indexCause, home } : null;
}

/** `` `__shfl_sync()` on line 12 `` */
function placed(text: string, location: Location, home: string | undefined): string {
  return `${text} on ${lineText(location, home)}${calledFrom([location], home)}`;
}

/** Why both threads compute the same index, as the end of a sentence on the race. */
export function sharedIndexText({ from, cause, home }: SharedIndex): string {
  const counted = cause && 'counted' in cause ? placed('the atomic operation', cause.counted, home) : '';
  switch (cause?.kind) {
    case 'undefined':
      return `both threads compute the index from the result of ${placed(cudaFunction(cause.mnemonic), from, home)}, which is undefined, because the lane that it reads does not execute it`;
    case 'lane':
      return `lane ${cause.lane} computes the index from the value that lane ${cause.source} has in ${placed(cudaFunction(cause.mnemonic), from, home)}, and lane ${cause.source} does not execute ${counted}`;
    case 'block':
      return `${code(cause.counter)} is in shared memory, so that each block counts separately with ${counted} and gets the same numbers`;
    case 'count':
      return `${counted} adds ${cause.added}, but the indices that are computed from one of its results extend over a range of ${cause.needed}`;
    case 'number':
      return `both threads compute the index from one result of ${counted}${cause.isRepeated ? ', which their warp uses in several iterations' : ''}`;
    default:
      return `both threads compute the same index from the result${placed('', from, home)}`;
  }
}

/** What to do about it. */
export function sharedIndexRemedy({ from, cause, home }: SharedIndex): string {
  const counted = cause && 'counted' in cause ? placed('the atomic operation', cause.counted, home) : '';
  switch (cause?.kind) {
    case 'undefined':
      return `first repair the undefined value: let ${placed(cudaFunction(cause.mnemonic), from, home)} read a lane that executes it`;
    case 'lane':
      return `let all lanes of the warp read ${cause.reads === undefined ? 'a lane that executes' : `lane ${cause.reads}, which executes`} ${counted}, in ${placed(cudaFunction(cause.mnemonic), from, home)}`;
    case 'block':
      return 'count in global memory, or add an offset to the index that differs between blocks';
    case 'count':
      return `let ${counted} add ${cause.needed}`;
    case 'number':
      return cause.isRepeated
        ? `take another number in each iteration, or separate the writes of two iterations by ${code('__syncwarp()')}`
        : 'let lanes that share the number write different elements';
    default:
      return 'give each thread a different index';
  }
}
