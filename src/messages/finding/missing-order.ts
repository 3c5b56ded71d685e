/** The missing order of the two accesses of a race, and how to add it. */
import type { AccessDescription, MissingOrder } from '../../verdict/finding.ts';
import { code } from '../text/code-text.ts';

interface Accesses {
  readonly first: AccessDescription;
  readonly second: AccessDescription;
  /** Whether a thread races with its own asynchronous copy. */
  readonly isOwnCopy: boolean;
}

const syncThreads = code('__syncthreads()');
const syncWarp = code('__syncwarp()');
const fence = code('__threadfence()');
const notAtomic = 'the update is not atomic';
/**
 * The remedy if a barrier cannot help: it separates neither the two halves of one statement, nor blocks that update the
 * same element.
 */
const makeAtomic = `use an atomic operation such as ${code('atomicAdd()')}`;

/** The missing order, as the end of a sentence on the race. */
export function missingText(missing: MissingOrder, { first, second, isOwnCopy }: Accesses): string {
  switch (missing.kind) {
    case 'block-barrier':
      return `no ${syncThreads} separates the two accesses${besides(missing, first, second)}`;
    case 'warp-barrier':
      return `neither ${syncWarp} nor ${syncThreads} separates the two accesses${besides(missing, first, second)}`;
    case 'fence':
      return `both threads hold the lock ${code(missing.lock)}, but no ${fence} makes what one of them writes visible to the other`;
    case 'copy-wait':
      return isOwnCopy
        ? 'the thread has not waited for its copy'
        : `the accesses are not separated by a wait for the copy with ${syncThreads} after it`;
    case 'grid-order':
      return 'nothing orders threads of different blocks';
    case 'atomic':
      return `${code('volatile')} does not make an access atomic, and no barrier separates the two`;
    case 'scope':
      return `the scope of ${isEachOne(first, second) ? 'the atomic operation' : 'one of the atomic operations'} is ${missing.narrow === 'block' ? 'the block' : 'the cluster'}, and the threads are in different ${missing.narrow}s`;
    case 'hand-over':
      return `the loop that waits for ${code(missing.flag)} does not order the two accesses`;
    case 'size':
      return `atomic operations of ${first.bytes} and ${second.bytes} bytes are not atomic with respect to each other`;
  }
}

/** The remedy, as a sentence without its full stop. */
export function remedyText(missing: MissingOrder, accesses: Accesses): string {
  const { first, second } = accesses;
  switch (missing.kind) {
    case 'block-barrier':
      if (isUpdate(first, second)) return makeAtomic;
      if (missing.betweenBlocks) return remedyText({ kind: 'grid-order' }, accesses);
      return isEachOne(first, second) && first.operation !== 'read'
        ? `let one thread write the element, use an atomic operation, or separate the writes by ${syncThreads}`
        : `add ${syncThreads} between the two accesses`;
    case 'warp-barrier':
      if (isUpdate(first, second)) return makeAtomic;
      if (missing.betweenBlocks) return remedyText({ kind: 'grid-order' }, accesses);
      return isEachOne(first, second) && first.operation !== 'read'
        ? 'let one thread write the element, or use an atomic operation'
        : `add ${syncWarp} between the two accesses`;
    case 'fence':
      return `add ${fence} after acquiring the lock and before releasing it`;
    case 'copy-wait':
      return accesses.isOwnCopy
        ? `wait for the copy before the other access, with ${code('__pipeline_wait_prior(0)')} for example`
        : `wait for the copy, then add ${syncThreads} before the other access`;
    case 'grid-order':
      if (isEachOne(first, second) && first.operation === 'write')
        return 'let one thread of the grid write the element, or use an atomic operation';
      return `${isReadOfWrite(first, second) ? 'write to another array' : 'use atomic operations'}, split the kernel into two launches, or launch it cooperatively and call ${code('grid.sync()')}`;
    case 'atomic':
      return `use ${code('cuda::atomic_ref')} or atomic functions for both accesses, or separate them by a barrier`;
    case 'scope':
      return 'use atomic operations of device scope';
    case 'hand-over':
      return `store ${code(missing.flag)} with release order and load it with acquire order, as ${code('cuda::atomic_ref')} does by default, or call ${fence} before it is stored and after the loop`;
    case 'size':
      return 'use atomic operations of one size';
  }
}

/** Further remedies for a race between threads of a block, after the missing barrier. */
function besides(missing: Extract<MissingOrder, { betweenBlocks?: true }>, first: AccessDescription, second: AccessDescription): string {
  if (isUpdate(first, second)) return `, and ${notAtomic}`;
  return missing.betweenBlocks ? ', and nothing orders threads of different blocks, which race on these lines too' : '';
}

/**
 * Whether one statement reads an element and writes it back, as `s[i]++` does, so that one thread reads the element
 * that another one writes.
 */
function isUpdate(first: AccessDescription, second: AccessDescription): boolean {
  const [a, b] = [first.location, second.location];
  const isOneText = first.expression !== undefined && first.expression === second.expression;
  return isOneText && a !== undefined && a.file === b?.file && a.line === b.line && isReadOfWrite(first, second);
}

/**
 * Whether one access is a plain read and the other one a plain write, as in `a[i] = a[i - 1]`, which updates an array
 * in place.
 */
function isReadOfWrite({ operation: first }: AccessDescription, { operation: second }: AccessDescription): boolean {
  return (first === 'read' && second === 'write') || (first === 'write' && second === 'read');
}

/** Whether both threads execute one statement. */
function isEachOne(first: AccessDescription, second: AccessDescription): boolean {
  const [a, b] = [first.location, second.location];
  return a !== undefined && a.file === b?.file && a.line === b.line && first.operation === second.operation;
}
