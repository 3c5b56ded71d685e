/** The missing order of the two accesses of a race, and how to add it. */
import type { Location } from '../../source/location.ts';
import type {
  AccessDescription,
  MissingBarrier,
  MissingFence,
  MissingGridOrder,
  MissingOrder,
  MissingPhase,
  MissingWait,
  SplitUpdate,
} from '../../verdict/finding.ts';
import { code } from '../text/code-text.ts';
import { calledFrom, homeOf, lineText } from '../text/place.ts';
import { sharedIndexOf, sharedIndexRemedy, sharedIndexText } from './shared-index.ts';

interface Accesses {
  readonly first: AccessDescription;
  readonly second: AccessDescription;
  /** Whether a thread races with its own asynchronous copy. */
  readonly isOwnCopy: boolean;
  /** Whether both write the same value. */
  readonly sameValue?: boolean;
}

const syncThreads = code('__syncthreads()');
const syncWarp = code('__syncwarp()');
const fence = code('__threadfence()');
const notAtomic = 'the update is not atomic';
/**
 * The remedy if a barrier cannot help: it separates neither the two halves of an update, nor blocks that update the same
 * element.
 */
function atomicText({ first, second }: Accesses): string {
  const lines = [...new Set([first, second].map(({ location }) => location?.line ?? 0))].sort((a, b) => a - b);
  const instead = lines.length > 1 ? ` instead of the read and the write on lines ${lines.join(' and ')}` : '';
  return `use an atomic operation such as ${code('atomicAdd()')}${instead}`;
}

const makeBothAtomic = `use ${code('cuda::atomic_ref')} or atomic functions for both accesses`;

/** The missing order, as the end of a sentence on the race. */
export function missingText(missing: MissingOrder, accesses: Accesses): string {
  const { first, second, isOwnCopy } = accesses;
  const home = homeOf([first.location, second.location]);
  const index = missing.kind === 'grid-order' ? sharedIndexOf(missing, home) : null;
  switch (missing.kind) {
    case 'block-barrier':
    case 'warp-barrier':
      return missingBarrierText(missing, accesses);
    case 'fence':
      return missingFenceText(missing, homeOf([first.location, second.location]));
    case 'copy-wait':
      if (missing.wait) return `the access precedes the wait${at(missing.wait, home)} for the copy`;
      return isOwnCopy
        ? 'the thread has not waited for its copy'
        : `the accesses are not separated by a wait for the copy with ${syncThreads} after it`;
    case 'grid-order':
      if (index) return sharedIndexText(index);
      if (missing.gridBarrier) return `no barrier of the grid separates ${separated(missing, first, second)}`;
      if (missing.split)
        return `the read${at(missing.split.read, home)} and the write${at(missing.split.write, home)} are not one atomic operation, so that another thread may change the element in between`;
      return `nothing orders threads of different blocks${missing.isUpdate ? `, and ${notAtomic}` : ''}`;
    case 'atomic':
      return missing.waits
        ? 'one thread waits in a loop for what the other one writes, and the accesses are not both atomic'
        : `${code('volatile')} does not make an access atomic, and ${areOfTwoBlocks(first, second) ? 'the threads are in different blocks' : 'no barrier separates the two'}`;
    case 'scope':
      return `the scope of ${isEachOne(first, second) ? 'the atomic operation' : 'one of the atomic operations'} is ${missing.narrow === 'block' ? 'the block' : 'the cluster'}, and the threads are in different ${missing.narrow}s`;
    case 'wait':
      return waitText(missing, homeOf([first.location, second.location]));
    case 'size':
      return `atomic operations of ${first.bytes} and ${second.bytes} bytes are not atomic with respect to each other`;
    case 'width':
      return 'the index of one of them is too large for 32 bits and wraps around';
  }
}

/** The remedy, as a sentence without its full stop. */
export function remedyText(missing: MissingOrder, accesses: Accesses): string {
  const { first, second } = accesses;
  if (accesses.sameValue && /^(?:block-barrier|warp-barrier|grid-order)$/.test(missing.kind))
    return 'let only one thread write this element';
  const index = missing.kind === 'grid-order' ? sharedIndexOf(missing, homeOf([first.location, second.location])) : null;
  switch (missing.kind) {
    case 'block-barrier':
    case 'warp-barrier':
      return barrierText(missing, accesses);
    case 'fence':
      return fenceText(missing, homeOf([first.location, second.location]));
    case 'copy-wait':
      if (missing.wait)
        return `move the ${otherOfCopy(accesses)} after the wait${at(missing.wait, homeOf([first.location, second.location]))}`;
      return accesses.isOwnCopy
        ? `wait for the copy before the other access, with ${code('__pipeline_wait_prior(0)')} for example`
        : `wait for the copy, then add ${syncThreads} before the other access`;
    case 'grid-order':
      if (missing.isUpdate) return atomicText(accesses);
      if (index) return sharedIndexRemedy(index);
      if (missing.gridBarrier) return gridBarrierText(missing, missing.gridBarrier, accesses);
      if (missing.split) return splitText(missing.split, accesses);
      if (isEachOne(first, second) && first.operation === 'write') return ofDifferentElements(accesses, ' of the grid');
      return otherOrder(missing, accesses);
    case 'atomic':
      // No barrier separates threads of two blocks, two threads at one statement, or a lock that is taken and freed.
      if (missing.isMove && !areOfTwoBlocks(first, second))
        return `read into a variable, and add ${missing.inWarp ? syncWarp : syncThreads} before and after the write: ${code('volatile')} is not needed then`;
      return missing.waits || isEachOne(first, second) || areOfTwoBlocks(first, second) || isOneAtomic(first, second)
        ? makeBothAtomic
        : `separate the two accesses by ${missing.inWarp ? syncWarp : 'a barrier'}, or ${makeBothAtomic} if either may come first`;
    case 'scope':
      return 'use atomic operations of device scope';
    case 'wait':
      return waitRemedy(missing, accesses);
    case 'size':
      return 'use atomic operations of one size';
    case 'width':
      return 'compute the index in 64 bits, as for its overflow';
  }
}

/** The remedies if nothing orders blocks. */
function otherOrder({ isReadFirst }: Pick<MissingGridOrder, 'isReadFirst'>, { first, second }: Accesses): string {
  const other = isReadFirst ? 'write to another array, ' : isReadOfWrite(first, second) ? '' : 'use atomic operations, ';
  return `${other}split the kernel into two launches, or launch it cooperatively and call ${code('grid.sync()')}`;
}

/** The accesses that a barrier has to separate: in a loop, possibly those of two iterations. */
function separated({ nextIteration }: Pick<MissingBarrier, 'nextIteration'>, first: AccessDescription, second: AccessDescription): string {
  const [earlier = 0, later = 0] = [first, second].map(({ location }) => location?.line ?? 0).sort((a, b) => a - b);
  return nextIteration ? `the access on line ${later} from the one on line ${earlier} in the next iteration` : 'the two accesses';
}

function missingBarrierText(missing: MissingBarrier, accesses: Accesses): string {
  const { first, second } = accesses;
  const index = sharedIndexOf(missing, homeOf([first.location, second.location]));
  if (index) return sharedIndexText(index);
  if (missing.phase) return phaseText(missing.phase, separated(missing, first, second), homeOf([first.location, second.location]));
  // A barrier would not help two threads that write one element in one statement.
  const isOneWrite = missing.between === 'none' && isEachOne(first, second) && first.operation !== 'read';
  if (missing.others && missing.kind === 'block-barrier' && !isOneWrite)
    return `no barrier that both threads take part in separates ${separated(missing, first, second)}${alsoMissing(missing)}`;
  if (missing.isUpdate) return `${notAtomic}: the other thread may access the element between the read and the write`;
  const barriers = missing.kind === 'warp-barrier' ? `neither ${syncWarp} nor ${syncThreads}` : `no ${syncThreads}`;
  return `${isOneWrite ? 'nothing orders the two writes' : `${barriers} separates ${separated(missing, first, second)}`}${alsoMissing(missing)}`;
}

function barrierText(missing: MissingBarrier, accesses: Accesses): string {
  const { first, second } = accesses;
  const { kind, between, lanes, nextIteration } = missing;
  if (missing.isUpdate) return atomicText(accesses);
  const index = sharedIndexOf(missing, homeOf([first.location, second.location]));
  if (index) return sharedIndexRemedy(index);
  if (missing.betweenBlocks) return remedyText({ kind: 'grid-order', ...(missing.isReadFirst && { isReadFirst: true }) }, accesses);
  const isOfWarp = kind === 'warp-barrier';
  const barrier = isOfWarp ? syncWarp : syncThreads;
  if (isEachOne(first, second) && first.operation !== 'read') {
    const write = ofDifferentElements(accesses, '');
    return isOfWarp || between === 'none' ? write : `${write}, or separate the writes by ${syncThreads}`;
  }
  if (missing.phase) return phaseRemedy(missing.phase, nextIteration === true, homeOf([first.location, second.location]));
  if (missing.others && !isOfWarp) {
    return missing.others === 'named'
      ? 'let both threads take part in one barrier between the two accesses, with the same number and a count that includes both'
      : 'let the thread of the first access arrive at a barrier after it, let the barrier count that arrival, and let the other thread wait for that phase before its access';
  }
  if (nextIteration)
    return `add ${barrier} at the end of the loop body, where all ${isOfWarp ? 'lanes of the warp' : 'threads of the block'} execute it`;
  if (lanes !== undefined) return `add ${code(`__syncwarp(0x${lanes.toString(16)})`)} between the two accesses`;
  const add = missing.isMove ? `read into a variable, and add ${barrier}` : `add ${barrier}`;
  const accessesText = missing.isMove ? 'the read and the write' : 'the two accesses';
  switch (between) {
    case 'part':
      return `${add} between ${accessesText}, outside of the branch that only some ${isOfWarp ? 'lanes' : 'threads'} take; a branch that contains both accesses has to be split there`;
    case 'loop':
      return `add ${barrier} where all ${isOfWarp ? 'lanes of the warp' : 'threads of the block'} execute it: between the two accesses, or at the end of the loop body if they are of different iterations`;
    case 'none':
      return `execute one of the two branches after the other, with ${barrier} between them`;
    default:
      return `${add} between ${accessesText}`;
  }
}

/** What a barrier in memory lacks, as the end of a sentence on the race. */
function phaseText(phase: MissingPhase, accesses: string, home: string | undefined): string {
  switch (phase.lacks) {
    case 'wait':
      return `the access${at(phase.access, home)} precedes the wait${at(phase.at, home)}, so that the other thread may not have arrived yet`;
    case 'arrival':
      return `the access${at(phase.access, home)} follows the arrival${at(phase.at, home)}, so that a thread which waits for the arrival does not wait for the access`;
    case 'count':
      return `the barrier that is initialised${at(phase.at, home)} waits for ${phase.count} arrivals, but ${phase.threads} threads arrive at it`;
    case 'phase':
      return `no arrival and wait at a barrier separates ${accesses}`;
    case 'any-wait':
      return `nothing waits before the access${at(phase.access, home)} for the phase of the barrier at which threads arrive${at(phase.at, home)}`;
    case 'repetition':
      return `the wait${at(phase.at, home)} tests once whether the phase of the barrier is complete, and goes on if it is not`;
    case 'token':
      return `the wait${at(phase.at, home)} is for an earlier phase of the barrier than the arrival${at(phase.arrival, home)}`;
    case 'threads':
      return `only some of the threads that execute the access${at(phase.access, home)} arrive at the barrier${at(phase.at, home)}`;
  }
}

function phaseRemedy(phase: MissingPhase, nextIteration: boolean, home: string | undefined): string {
  switch (phase.lacks) {
    case 'wait':
      return `move the access${at(phase.access, home)} after the wait${at(phase.at, home)}`;
    case 'arrival':
      return `move the access${at(phase.access, home)} before the arrival${at(phase.at, home)}`;
    case 'count':
      return `initialise the barrier${at(phase.at, home)} with ${phase.threads}`;
    case 'phase':
      return `arrive and wait at the barrier once more ${nextIteration ? 'at the end of the loop body' : 'between the two accesses'}, as${at(phase.at, home)}, or add ${syncThreads} there`;
    case 'any-wait':
      return `wait before the access${at(phase.access, home)} until the phase of the arrival${at(phase.at, home)} is complete`;
    case 'repetition':
      return `repeat the wait${at(phase.at, home)} in a loop until the phase is complete`;
    case 'token':
      return `wait${at(phase.at, home)} with the token of the arrival${at(phase.arrival, home)}`;
    case 'threads':
      return `let all these threads arrive${at(phase.at, home)}, and initialise the barrier with their number`;
  }
}

/** The remedy for threads, or warps that store matrices, which write one element in one statement. */
function ofDifferentElements({ first, second }: Accesses, where: string): string {
  if (first.ofWarp)
    return `choose starts and strides with which neither the matrices nor their rows overlap${areOfOneWarp(first, second) ? '' : `, or let only one warp${where} access this one`}`;
  return `let threads write different elements, let one thread${where} write this one, or combine the values by an atomic operation`;
}

/** The remedy for an update by two statements. */
function splitText({ read, write, by }: SplitUpdate, { first, second }: Accesses): string {
  const home = homeOf([first.location, second.location]);
  const operation = {
    exchange: code('atomicExch()'),
    add: `such as ${code('atomicAdd()')}`,
    compare: `such as ${code('atomicMin()')}, ${code('atomicMax()')} or ${code('atomicCAS()')}`,
  }[by];
  const isOf = ({ location }: AccessDescription): boolean =>
    [read, write].some((at) => at.line === location?.line && at.file === location.file);
  const other = [first, second].find((access) => access.operation === 'read' && !isOf(access));
  const rest = other?.location ? `, and ${code('cuda::atomic_ref')} for the read${at(other.location, home)}` : '';
  return `use ${by === 'exchange' ? operation : `an atomic operation ${operation}`} instead of the read${at(read, home)} and the write${at(write, home)}${rest}`;
}

/** Another barrier of the grid, in a kernel that has one. */
function gridBarrierText({ nextIteration, countedUp }: MissingGridOrder, like: Location, { first, second }: Accesses): string {
  const place = nextIteration ? 'at the end of the loop body' : 'between the two accesses';
  const goals =
    countedUp === undefined
      ? ''
      : `, and let each barrier wait until ${code(countedUp)} is the number of blocks times the number of barriers up to that one`;
  return `add another barrier of the grid, such as that${at(like, homeOf([first.location, second.location]))}, ${place}, where all blocks execute it${goals}`;
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
      ...(lacks.includes('join') ? ['makes the others wait until it has the lock'] : []),
      ...(lacks.includes('arrival') ? ['makes it wait for the accesses of the others before it frees the lock'] : []),
    ];
    return `one thread of each block takes the lock ${name} for all of them, but no ${syncThreads} ${sides.join(' or ')}`;
  }
  if (lacks.includes('arrival'))
    return `a thread updates ${name}${at(missing.releasedAt, home)} without waiting for the other threads of its block`;
  if (lacks.includes('scope'))
    return `${held}the scope of ${code('__threadfence_block()')} is the block, and the threads are in different blocks`;
  const places = sidesOf(missing, (side) =>
    lock === undefined
      ? side === 'release'
        ? `between the access of one thread and ${updatesText(missing, name, home)}`
        : `between ${acquireText(missing, name, home)} and the access of the other thread`
      : side === 'release'
        ? 'between the access and the release of the lock'
        : 'between the acquisition of the lock and the access',
  );
  return `${held}no ${fenceName(missing)} is ${places.join(' or ')}`;
}

function fenceText(missing: MissingFence, home: string | undefined): string {
  const { lock, flag, lacks } = missing;
  const name = code(lock ?? flag ?? 'memory');
  const places = sidesOf(missing, (side) =>
    lock === undefined
      ? side === 'release'
        ? `before ${updatesText(missing, name, home)}`
        : `after ${acquireText(missing, name, home)}`
      : side === 'release'
        ? `before releasing the lock${at(missing.releasedAt, home)}`
        : `after acquiring the lock${at(missing.acquiredAt, home)}`,
  );
  const [release = '', acquire = ''] = places;
  if (lock !== undefined) places.reverse();
  else if (release !== '' && release.replace('before', 'after') === acquire)
    places.splice(0, 2, release.replace('before', 'before and after'));
  const joined = lacks.includes('join')
    ? `${lock === undefined ? `after ${name} is read` : 'after acquiring the lock'}${at(missing.acquiredAt, home)}`
    : null;
  const arrived = lacks.includes('arrival')
    ? `${lock === undefined ? `before the update of ${name}` : 'before releasing the lock'}${at(missing.releasedAt, home)}`
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
      return `the condition on ${flag}${where} does not imply that all ${missing.goal?.units ?? 'threads'} have counted`;
    case 'element':
      return `the wait${where} is not for the element of ${flag} that the other thread updates after its access`;
    case 'join':
      return `threads of the block wait${where} for different elements of ${flag}, and do not wait for each other`;
    case 'lock':
      return `the two threads wait for different elements of ${flag}${where}, so that neither waits for the other`;
    case 'free':
      return missing.taken
        ? `a thread that takes the lock ${flag}${where} stores ${code(missing.taken.value)}, which may be ${missing.taken.free}, the value of a free lock: another thread can then take the lock, too`
        : `a thread that takes the lock ${flag}${where} may store the value of a free lock, so that another thread can take the lock, too`;
    case 'goal':
      return `the loop${where} that waits for ${flag} may end before all blocks have counted`;
    case 'order':
      return `the value of ${flag}${where} does not order the two accesses`;
    case 'weak':
      return `the wait for ${flag}${where} orders nothing, as not all accesses to ${flag} are atomic`;
    case 'none':
      return `${flag} is updated${where} after the access, but no thread waits for that before ${lineText(missing.to ?? missing.at, home)}`;
    case 'turn':
      return `the loop${where} that waits for ${flag} may end before the other thread is done`;
    case 'release':
      return `${flag} is updated${where} before the access that the update announces to another thread`;
    case 'number':
      return `${code(missing.counter?.name ?? 'the counter')} is in shared memory, so that threads of several blocks wait${where} for the same value of ${flag}`;
    case 'freed':
      return `the lock ${flag} is set free${where} by a thread that has not taken it, while another thread may hold it`;
  }
}

function waitRemedy(missing: MissingWait, { first, second }: Accesses): string {
  const home = homeOf([first.location, second.location]);
  const flag = code(missing.flag);
  const where = at(missing.at, home);
  switch (missing.until) {
    case 'count':
      if (!missing.goal) return `compare with the number of threads that count at this element of ${flag}`;
      return missing.goal.isOfResult
        ? `compare the result of the atomic operation${where}, which is the value before it, with ${code(missing.goal.text)}`
        : `wait${where} until ${flag} is ${code(missing.goal.text)}`;
    case 'element':
      return `wait for that element of ${flag}, too, or access the element that belongs to the one that is waited for`;
    case 'join':
      return `add ${syncThreads} after the loop${where}, where all threads of the block execute it`;
    case 'lock':
      if (missing.turns)
        return `wait at the element of ${flag} with the index ${code(missing.turns.element)} for ${code(missing.turns.number)}, so that blocks which access one element take turns at the same element of ${flag}`;
      return `choose the element of ${flag} by the element that is accessed, so that threads which access one element wait for the same element of ${flag}`;
    case 'free':
      return missing.taken?.instead
        ? `store ${code(missing.taken.instead)} to take the lock, which is never ${missing.taken.free}`
        : `store a value to take the lock that is never ${missing.taken?.free ?? 'that of a free lock'}`;
    case 'goal':
      return `wait${where} until ${flag} is the number of blocks times the number of barriers of the grid up to this one, as nothing sets it back to 0`;
    case 'weak':
      return `use ${code('cuda::atomic_ref')} or atomic functions for all accesses to ${flag}, with ${fence} before the update and after the wait`;
    case 'none':
      return `wait for ${code(missing.element ?? missing.flag)} in a loop before the access${at(missing.to ?? missing.at, home)}, with ${fence} after the loop`;
    case 'order':
      return isEachOne(first, second)
        ? `let only one block get to ${lineText(missing.to ?? missing.at, home)}: the one whose value of ${flag} shows that the others are done`
        : `let threads get to ${lineText(missing.to ?? missing.at, home)} only if the value of ${flag} shows that the other thread has done its access`;
    case 'turn':
      if (missing.isOneValue)
        return `let each thread that sets ${flag} set another element of it, and wait${where} for each of them whose data is read`;
      return missing.stored === undefined
        ? `wait${where} for the value that the other thread stores in ${flag} after its access, not for an earlier one`
        : `wait${where} until ${flag} is ${missing.stored}, which the other thread stores after its access`;
    case 'release':
      return `update ${flag} after the access, with ${fence} between them`;
    case 'number':
      return `take the numbers${at(missing.counter?.at, home)} from a counter in global memory, as ${flag} is for all blocks`;
    case 'freed':
      return `remove the store${where}, or execute it before any thread can take the lock, with ${syncThreads} after it`;
  }
}

/** A text for each side that lacks a fence, the release first. */
function sidesOf({ lacks }: MissingFence, textOf: (side: 'release' | 'acquire') => string): string[] {
  return (['release', 'acquire'] as const).filter((side) => lacks.includes(side)).map(textOf);
}

/** The updates by which the thread releases: of the counter, and of what the last one changes. */
function updatesText({ releasedAt, change }: MissingFence, name: string, home: string | undefined): string {
  const last = change ? ` and that of ${code(change.flag)}${at(change.at, home)}` : '';
  return `the update of ${name}${at(releasedAt, home)}${last}`;
}

/** How the thread acquires: the loop in which it waits, or one read. */
function acquireText({ waits, acquiredAt, releasedAt, change }: MissingFence, name: string, home: string | undefined): string {
  // The fence is after the branch, as the last one to arrive needs it without having waited.
  if (change) return `the branch with the loop${at(acquiredAt, home)} that waits for ${code(change.flag)}`;
  if (waits) return `the loop${at(acquiredAt, home)} that waits for ${name}`;
  const isUpdate = acquiredAt !== undefined && acquiredAt.line === releasedAt?.line && acquiredAt.file === releasedAt.file;
  return `the ${isUpdate ? 'update' : 'read'} of ${name}${at(acquiredAt, home)}`;
}

function at(location: Location | undefined, home: string | undefined): string {
  return location ? ` on ${lineText(location, home)}${calledFrom([location], home)}` : '';
}

/** What a race between threads of a block lacks in addition to the barrier. */
function alsoMissing(missing: MissingBarrier): string {
  return missing.betweenBlocks ? ', and nothing orders threads of different blocks, which race on these lines too' : '';
}

/**
 * Whether one access is a plain read and the other one a plain write, as in `a[i] = a[i - 1]`, which updates an array
 * in place.
 */
function isReadOfWrite({ operation: first }: AccessDescription, { operation: second }: AccessDescription): boolean {
  return (first === 'read' && second === 'write') || (first === 'write' && second === 'read');
}

function isOneAtomic({ operation: a }: AccessDescription, { operation: b }: AccessDescription): boolean {
  return a === 'atomic' || b === 'atomic';
}

function areOfTwoBlocks({ block: a }: AccessDescription, { block: b }: AccessDescription): boolean {
  return a !== undefined && b !== undefined && a.join() !== b.join();
}

/** Whether both threads are of the first row of one block, and there of one warp. */
function areOfOneWarp(first: AccessDescription, second: AccessDescription): boolean {
  const [[x = 0, y = 0, z = 0], [i = 0, j = 0, k = 0]] = [first.thread ?? [], second.thread ?? []];
  return !areOfTwoBlocks(first, second) && y + z + j + k === 0 && Math.floor(x / 32) === Math.floor(i / 32);
}

/** The access that is not the copy, in words. */
function otherOfCopy({ first, second }: Accesses): string {
  const other = first.isCopy ? second : first;
  return `${other.operation === 'read' ? 'read' : 'access'}${at(other.location, homeOf([first.location, second.location]))}`;
}

/** Whether both threads execute one statement. */
function isEachOne(first: AccessDescription, second: AccessDescription): boolean {
  const [a, b] = [first.location, second.location];
  return a !== undefined && a.file === b?.file && a.line === b.line && first.operation === second.operation;
}
