/** Findings about the order of launches, copies and accesses of the host program, in words. */
import { capitalised } from '../base/text.ts';
import type { Location } from '../source/location.ts';
import { code, listed } from './text/code-text.ts';
import { place } from './text/place.ts';

/** An operation of the host program. */
export interface OperationText {
  readonly kind: 'launch' | 'copy' | 'fill' | 'host';
  /** The kernel, or the function of the runtime. */
  readonly name: string;
  readonly location: Location | undefined;
  /** Null for the host. */
  readonly stream: string | null;
}

/** How an access uses memory. */
type Use = 'read' | 'write' | 'atomic';

const wait = code('cudaGridDependencySynchronize()');
const uses = { read: 'reads', write: 'writes', atomic: 'updates' } as const;

interface EarlyAccess {
  readonly kernel: string;
  readonly use: Use;
  /** Null: the name of the array is not known. */
  readonly array: string | null;
  readonly launch: Location | undefined;
  /** Whether the kernel waits anywhere. */
  readonly hasWait: boolean;
  /** Whether only the production build makes the access so early. */
  readonly isMoved: boolean;
}

/** An access before the wait, to bytes that the launch before accesses. @param first its use is null if it is open which bytes */
export function earlyAccessText(
  { kernel, use, array, launch, hasWait, isMoved }: EarlyAccess,
  first: { readonly kernel: string; readonly use: Use | null; readonly launch: Location | undefined },
): string {
  const what = `${code(kernel)} ${uses[use]} ${arrayText(array)} here before it has waited for the kernel before it`;
  const moved = isMoved ? ' (the optimiser moves the access above the wait)' : '';
  const shared = first.use === null ? 'use the same array' : `${first.use === 'read' ? 'read' : 'write'} the same bytes`;
  const other = `${code(first.kernel)}${at(first.launch)} may still ${shared}`;
  return `${what}${moved}: ${other}, since the launch${at(launch)} has programmatic stream serialization. ${remedy(hasWait, isMoved)}`;
}

/** Accesses before the wait, if the kernel before is not known. @param others further lines */
export function earlyAccessesText({ kernel, use, array, launch, isMoved }: EarlyAccess, others: readonly number[]): string {
  const more = others.length === 0 ? '' : ` (also on ${others.length === 1 ? 'line' : 'lines'} ${listed(others.map(String))})`;
  const moved = isMoved ? ' (the optimiser moves the access above the wait)' : '';
  return `${code(kernel)} ${uses[use]} ${arrayText(array)} here${more} before it has waited for the kernels before it${moved}, and its launch${at(launch)} has programmatic stream serialization: a kernel before it may still use that memory. ${remedy(true, isMoved)} If no kernel before it ${use === 'read' ? 'writes' : 'accesses'} this memory, suppress the finding.`;
}

/** A kernel that never waits. */
export function noWaitText(kernel: string, launch: Location | undefined): string {
  return `${code(kernel)} is launched${at(launch)} with programmatic stream serialization and never calls ${wait}: neither it nor kernels after it may rely on the end of the kernels before it. Call it before the first access that needs their results, or launch the kernel without the attribute.`;
}

/** A launch, and how it uses an array. */
interface ChainedLaunch {
  readonly kernel: string;
  readonly launch: Location | undefined;
  readonly use: Use;
  readonly array: string | null;
}

/** A kernel that never waits, and so ends before the kernel before it has, which the kernel after it relies on. */
export function chainText(kernel: string, launch: Location | undefined, before: ChainedLaunch, after: ChainedLaunch): string {
  const other = `${code(before.kernel)}${at(before.launch)} may still ${before.use === 'read' ? 'read' : 'write'} the same bytes`;
  return `${code(kernel)} is launched${at(launch)} with programmatic stream serialization and never calls ${wait}, so it may end before ${code(before.kernel)} has. ${code(after.kernel)}${at(after.launch)} waits only for the end of ${code(kernel)} and ${uses[after.use]} ${arrayText(after.array)}: ${other}. Call ${wait} in ${code(kernel)}.`;
}

function remedy(hasWait: boolean, isMoved: boolean): string {
  if (isMoved) return `Load it after ${wait} without ${code('__restrict__')} or ${code('__ldg()')}.`;
  return hasWait ? `Call ${wait} before this line.` : `It never calls ${wait}: call it before this line.`;
}

/** Two operations that nothing orders. @param isShown whether runs access the same bytes */
export function unorderedText(first: OperationText, second: OperationText, memory: string, isShown: boolean): string {
  const share = isShown ? `access the same bytes of ${memoryText(memory)}` : `are both given ${memoryText(memory)}`;
  const isAlike = first.stream !== null && first.stream === second.stream && !isGraph(first);
  const [one, other] = isAlike ? ['another ', 'one '] : ['', ''];
  if (second.kind === 'host') {
    const access = second.name === 'a write' ? 'writes' : 'reads';
    const before = `${operationText(first, '')}${at(first.location)}`;
    return `The host ${access} ${memoryText(memory)} here, and nothing has waited for ${before}: both ${isShown ? 'access the same bytes' : 'may access the same bytes'}, and one of them writes. ${waitForHost(first)}`;
  }
  const both = `${capitalised(operationText(second, one))} and ${operationText(first, other)}${at(first.location)} ${share}, at least one of them writes, and nothing orders them.`;
  if (isGraph(first)) return `${both} Make one of the two nodes depend on the other.`;
  const call = code('cudaEventRecord()');
  return `${both} Record an event with ${call} after ${operationText(first, other)}, and let the other stream wait for it with ${code('cudaStreamWaitEvent()')}, or use one stream.`;
}

/** How the host waits for an operation. Its name may be that of an array of streams. */
function waitForHost({ stream }: OperationText): string {
  if (stream === null || isPhrase(stream)) return `Call ${code('cudaDeviceSynchronize()')} before this line.`;
  return `Wait for that stream before this line, for example with ${code('cudaStreamSynchronize()')}.`;
}

/** Whether an operation is a node of a graph that the program builds. */
function isGraph({ stream }: OperationText): boolean {
  return stream === 'a graph';
}

/** Whether a stream has no name in the source: `the default stream`. */
function isPhrase(stream: string): boolean {
  return stream.includes(' ');
}

/** @param which stream of several with one name */
function streamText(stream: string, which: string): string {
  if (isPhrase(stream)) return stream;
  // The label of memory without a name.
  if (stream === 'memory') return which === '' ? 'a stream' : `${which}stream`;
  return which === '' ? `stream ${code(stream)}` : `${which}stream of ${code(stream)}`;
}

function operationText({ kind, name, stream }: OperationText, which: string): string {
  if (kind === 'host') return name;
  const what = kind === 'launch' ? `the launch of ${code(name)}` : `the call of ${code(name)}`;
  return stream === null ? what : `${what} in ${streamText(stream, which)}`;
}

/** Memory that is allocated without a name is called so. */
function memoryText(memory: string): string {
  return memory === 'memory' ? memory : code(memory);
}

function arrayText(array: string | null): string {
  return array === null ? 'memory' : code(array);
}

function at(location: Location | undefined): string {
  return location ? ` at ${place({ file: location.file, line: location.line })}` : '';
}

/** Pairs of operations that are not compared. */
export function notComparedText(unit: string, compared: number, left: number): string {
  return `${unit} has ${compared + left} pairs of operations that may overlap and share memory. Selvage compared ${compared} of them: overlaps of the others are not reported.`;
}

/** A launch that finds a counter as the launch before has left it. @param isSame whether both are one launch in a loop */
export function usedAgainText(kernel: string, array: string, first: Location | undefined, isSame: boolean): string {
  const before = isSame ? 'the launch of the iteration before' : `the launch${at(first)}`;
  return `${code(kernel)} is launched again with ${code(array)}, which has to be 0 when it starts: ${before} has changed it, and nothing sets it back in between. Clear it with ${code('cudaMemsetAsync()')} before this launch, or let the last block store 0 there.`;
}

/** Further findings at one line, of other instances or launches. */
export function alikeText(more: number): string {
  return more === 1 ? 'One more finding of this kind is at this line.' : `${more} more findings of this kind are at this line.`;
}
