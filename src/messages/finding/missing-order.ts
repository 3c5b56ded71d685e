/** The missing order of the two accesses of a race, and how to add it. */
import type { Location } from '../../source/location.ts';
import type { AccessDescription, MissingBarrier, MissingFence, MissingOrder, MissingWait } from '../../verdict/finding.ts';
import { code } from '../text/code-text.ts';
import { homeOf, lineText } from '../text/place.ts';

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
      return `no ${syncThreads} separates ${separated(missing, first, second)}${alsoMissing(missing)}`;
    case 'warp-barrier':
      return `neither ${syncWarp} nor ${syncThreads} separates ${separated(missing, first, second)}${alsoMissing(missing)}`;
    case 'fence':
      return missingFenceText(missing, homeOf([first.location, second.location]));
    case 'copy-wait':
      return isOwnCopy
        ? 'the thread has not waited for its copy'
        : `the accesses are not separated by a wait for the copy with ${syncThreads} after it`;
    case 'grid-order':
      return `nothing orders threads of different blocks${missing.isUpdate ? `, and ${notAtomic}` : ''}`;
    case 'atomic':
      return missing.waits
        ? 'one thread waits in a loop for what the other one writes, and the accesses are not both atomic'
        : `${code('volatile')} does not make an access atomic, and no barrier separates the two`;
    case 'scope':
      return `the scope of ${isEachOne(first, second) ? 'the atomic operation' : 'one of the atomic operations'} is ${missing.narrow === 'block' ? 'the block' : 'the cluster'}, and the threads are in different ${missing.narrow}s`;
    case 'hand-over':
      return `the loop that waits for ${code(missing.flag)} does not order the two accesses`;
    case 'wait':
      return waitText(missing, homeOf([first.location, second.location]));
    case 'size':
      return `atomic operations of ${first.bytes} and ${second.bytes} bytes are not atomic with respect to each other`;
  }
}

/** The remedy, as a sentence without its full stop. */
export function remedyText(missing: MissingOrder, accesses: Accesses): string {
  const { first, second } = accesses;
  switch (missing.kind) {
    case 'block-barrier':
    case 'warp-barrier':
      return barrierText(missing, accesses);
    case 'fence':
      return fenceText(missing, homeOf([first.location, second.location]));
    case 'copy-wait':
      return accesses.isOwnCopy
        ? `wait for the copy before the other access, with ${code('__pipeline_wait_prior(0)')} for example`
        : `wait for the copy, then add ${syncThreads} before the other access`;
    case 'grid-order':
      if (missing.isUpdate) return makeAtomic;
      if (missing.indexFrom) return indexText(missing.indexFrom, accesses);
      if (isEachOne(first, second) && first.operation === 'write')
        return 'let threads write different elements, let one thread of the grid write this one, or use an atomic operation';
      return `${isReadOfWrite(first, second) ? 'write to another array' : 'use atomic operations'}, split the kernel into two launches, or launch it cooperatively and call ${code('grid.sync()')}`;
    case 'atomic':
      return `use ${code('cuda::atomic_ref')} or atomic functions for both accesses${missing.waits ? '' : ', or separate them by a barrier'}`;
    case 'scope':
      return 'use atomic operations of device scope';
    case 'hand-over':
      return `store ${code(missing.flag)} with release order and load it with acquire order, as ${code('cuda::atomic_ref')} does by default, or call ${fence} before it is stored and after the loop`;
    case 'wait':
      return waitRemedy(missing, homeOf([first.location, second.location]));
    case 'size':
      return 'use atomic operations of one size';
  }
}

/** The accesses that a barrier has to separate: in a loop, possibly those of two iterations. */
function separated({ nextIteration }: MissingBarrier, first: AccessDescription, second: AccessDescription): string {
  const [earlier = 0, later = 0] = [first, second].map(({ location }) => location?.line ?? 0).sort((a, b) => a - b);
  return nextIteration ? `the access on line ${later} from the one on line ${earlier} in the next iteration` : 'the two accesses';
}

function barrierText(missing: MissingBarrier, accesses: Accesses): string {
  const { first, second } = accesses;
  const { kind, between, lanes, nextIteration } = missing;
  if (missing.isUpdate) return makeAtomic;
  if (missing.indexFrom) return indexText(missing.indexFrom, accesses);
  if (missing.betweenBlocks) return remedyText({ kind: 'grid-order' }, accesses);
  const isOfWarp = kind === 'warp-barrier';
  const barrier = isOfWarp ? syncWarp : syncThreads;
  if (isEachOne(first, second) && first.operation !== 'read') {
    return isOfWarp || between === 'none'
      ? 'let threads write different elements, let one thread write this one, or use an atomic operation'
      : `let threads write different elements, let one thread write this one, use an atomic operation, or separate the writes by ${syncThreads}`;
  }
  if (nextIteration)
    return `add ${barrier} at the end of the loop body, where all ${isOfWarp ? 'lanes of the warp' : 'threads of the block'} execute it`;
  if (lanes !== undefined) return `add ${code(`__syncwarp(0x${lanes.toString(16)})`)} between the two accesses`;
  switch (between) {
    case 'part':
      return `end the branch between the two accesses, which only some ${isOfWarp ? 'lanes' : 'threads'} take, and add ${barrier} there`;
    case 'none':
      return `execute one of the two branches after the other, with ${barrier} between them`;
    default:
      return `add ${barrier} between the two accesses`;
  }
}

/** The remedy if the index of one statement comes from a counter or a shuffle: no order of the writes keeps both values. */
function indexText(from: Location, { first, second }: Accesses): string {
  return `give each thread a different index: it comes from the result${at(from, homeOf([first.location, second.location]))}`;
}

function fenceName({ among }: MissingFence): string {
  return code(among === 'block' ? '__threadfence_block()' : '__threadfence()');
}

function missingFenceText(missing: MissingFence, home: string | undefined): string {
  const { lock, flag, lacks } = missing;
  const name = code(lock ?? flag ?? 'memory');
  const held = lock === undefined ? '' : `each of the two threads holds the lock ${name} during its access, but `;
  if (lock !== undefined && (lacks.includes('arrival') || lacks.includes('join'))) {
    const sides = [
      ...(lacks.includes('join') ? ['follows its acquisition'] : []),
      ...(lacks.includes('arrival') ? ['precedes its release'] : []),
    ];
    return `only one thread of each block holds the lock ${name}, and no ${syncThreads} ${sides.join(' or ')}`;
  }
  if (lacks.includes('arrival'))
    return `a thread writes ${name}${at(missing.releasedAt, home)} without waiting for the other threads of its block`;
  if (lacks.includes('scope'))
    return `${held}the scope of ${code('__threadfence_block()')} is the block, and the threads are in different blocks`;
  const places = sidesOf(missing, (side) =>
    lock === undefined
      ? side === 'release'
        ? `precedes the write of ${name}${at(missing.releasedAt, home)}`
        : `follows ${acquireText(missing, name, home)}`
      : side === 'release'
        ? 'precedes its release'
        : 'follows its acquisition',
  );
  return `${held}no ${fenceName(missing)} ${places.join(' or ')}`;
}

function fenceText(missing: MissingFence, home: string | undefined): string {
  const { lock, flag, lacks } = missing;
  const name = code(lock ?? flag ?? 'memory');
  const places = sidesOf(missing, (side) =>
    lock === undefined
      ? side === 'release'
        ? `before ${name} is written${at(missing.releasedAt, home)}`
        : `after ${acquireText(missing, name, home)}`
      : side === 'release'
        ? `before releasing the lock${at(missing.releasedAt, home)}`
        : `after acquiring the lock${at(missing.acquiredAt, home)}`,
  );
  if (lock !== undefined) places.reverse();
  const joined = lacks.includes('join')
    ? `${lock === undefined ? `after ${name} is read` : 'after acquiring the lock'}${at(missing.acquiredAt, home)}`
    : null;
  const arrived = lacks.includes('arrival')
    ? `${lock === undefined ? `before ${name} is written` : 'before releasing the lock'}${at(missing.releasedAt, home)}`
    : null;
  const barriers = [joined, arrived].filter((place) => place !== null);
  const parts = [
    ...(barriers.length > 0 ? [`add ${syncThreads}, which all threads of the block execute, ${barriers.join(' and ')}`] : []),
    ...(lacks.includes('scope') ? [`replace each ${code('__threadfence_block()')} with ${fence}`] : []),
    ...(places.length > 0 ? [`add ${fenceName(missing)} ${places.join(' and ')}`] : []),
  ];
  return parts.join(', and ');
}

function waitText(missing: MissingWait, home: string | undefined): string {
  const flag = code(missing.flag);
  const where = at(missing.at, home);
  switch (missing.until) {
    case 'count':
      return `the condition on ${flag}${where} does not imply that all have counted`;
    case 'element':
      return `the block waits${where} for other elements of ${flag} than the one that orders the two accesses`;
    case 'join':
      return `threads of the block wait${where} for different elements of ${flag}, and do not wait for each other`;
    case 'lock':
      return `the threads hold different elements of the lock ${flag}`;
    case 'free':
      return `the value that ${flag} gets${where} may be the one of a free lock`;
    case 'turn':
      return `the loop${where} that waits for ${flag} may end before the other thread is done`;
    case 'release':
      return `${flag} is set${where} before the access for which another thread waits`;
  }
}

function waitRemedy(missing: MissingWait, home: string | undefined): string {
  const flag = code(missing.flag);
  const where = at(missing.at, home);
  switch (missing.until) {
    case 'count':
      return `compare ${flag} with its value when all have counted, less one if an atomic operation returned the value before its own addition`;
    case 'element':
      return `wait for the element of ${flag} that the thread of the first access sets, before the second access`;
    case 'join':
      return `add ${syncThreads} after the loop${where}, where all threads of the block execute it`;
    case 'lock':
      return `take the same element of ${flag} for all accesses of one element`;
    case 'free':
      return `take the lock with a value that is never the free one, such as the number plus one`;
    case 'turn':
      return `wait${where} for a value of ${flag} that only the other thread stores, after its access`;
    case 'release':
      return `set ${flag} after the access, with ${fence} between them`;
  }
}

/** A text for each side that lacks a fence, the release first. */
function sidesOf({ lacks }: MissingFence, textOf: (side: 'release' | 'acquire') => string): string[] {
  return (['release', 'acquire'] as const).filter((side) => lacks.includes(side)).map(textOf);
}

/** How the thread acquires: the loop in which it waits, or one read. */
function acquireText({ waits, acquiredAt }: MissingFence, name: string, home: string | undefined): string {
  return waits ? `the loop${at(acquiredAt, home)} that waits for ${name}` : `the read of ${name}${at(acquiredAt, home)}`;
}

function at(location: Location | undefined, home: string | undefined): string {
  return location ? ` on ${lineText(location, home)}` : '';
}

/** What a race between threads of a block lacks in addition to the barrier. */
function alsoMissing(missing: MissingBarrier): string {
  if (missing.isUpdate) return `, and ${notAtomic}`;
  return missing.betweenBlocks ? ', and nothing orders threads of different blocks, which race on these lines too' : '';
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
