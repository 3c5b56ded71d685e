/** Texts of the findings of the command `run`. Races have the same texts as in a check. */
import type { Dim3 } from '../base/dim3.ts';
import type { DivergenceEvent, Unmodelled } from '../interpreter/core/run-result.ts';
import type { Location } from '../source/location.ts';
import { verbs } from './text/access-text.ts';
import { code, codeList, count, listed, sentences } from './text/code-text.ts';
import { notAwaited } from './finding/interleaving-phrases.ts';
import { triple } from './text/launch-text.ts';
import { sameCluster } from './text/verdict-reason.ts';

/** Unmodelled constructs that may order two accesses, as a clause. */
export function doubtText(by: readonly Unmodelled[]): string | undefined {
  return by.length === 0 ? undefined : by.map((kind) => doubts[kind]).join('; ');
}

const doubts: Readonly<Record<Unmodelled, string>> = {
  'fence-order': `both threads execute a ${code('__threadfence()')} between the accesses, and the order of the two fences is not known`,
  'warp-exchange': 'a warp shuffle or vote separates the accesses, but it does not order memory accesses',
  cluster: sameCluster,
};

/** A thread and its block: `thread (3, 0, 0) of block (1, 0, 0)`. */
function threadText(thread: Dim3, block: Dim3): string {
  return `thread ${triple(thread)} of block ${triple(block)}`;
}

/** Position of a thread that a barrier waits for. */
export type AbsentThread =
  | { readonly kind: 'returned' }
  | { readonly kind: 'running'; readonly line: number }
  /** At the same barrier, in another iteration of an enclosing loop. */
  | { readonly kind: 'other-iteration' }
  /** At an instruction other than a barrier; `mnemonic` names the instruction. */
  | { readonly kind: 'waiting'; readonly mnemonic?: string; readonly line: number };

/** Threads of a block that wait at a barrier for other threads. */
interface Waiting {
  readonly kind: Exclude<DivergenceEvent['kind'], 'missing-lanes' | 'outside-mask'>;
  readonly block: Dim3;
  readonly arrived: readonly Dim3[];
  readonly arrivedCount: number;
  readonly barrier?: Location;
  readonly absent?: { readonly thread: Dim3; readonly where: AbsentThread };
}

const consequences: Readonly<Record<Waiting['kind'], string>> = {
  divergent: 'not all threads of the block reach it, and the waiting threads may wait forever',
  'early-exit': notAwaited,
  'partial-arrival': 'fewer threads arrive than the barrier waits for',
  deadlock: 'no thread can continue',
};

/** The sentences on a barrier that not all threads reach. */
export function waitingMessage({ kind, block, arrived, arrivedCount, barrier, absent }: Waiting): string {
  const [only] = arrived;
  const who =
    arrivedCount === 1 && only ? `${threadText(only, block)} waits` : `${count(arrivedCount, 'thread')} of block ${triple(block)} wait`;
  const line = barrier ? ` on line ${barrier.line}` : '';
  const other = absent ? `thread ${triple(absent.thread)} ${whereText(absent.where)}` : 'the others never arrive';
  return sentences(`${who} at the barrier${line} while ${other}`, consequences[kind]);
}

function whereText(where: AbsentThread): string {
  switch (where.kind) {
    case 'returned':
      return 'has returned';
    case 'running':
      return `is at line ${where.line}`;
    case 'other-iteration':
      return 'waits there in another iteration';
    case 'waiting':
      return `waits at ${where.mnemonic === undefined ? 'the barrier' : code(where.mnemonic)} on line ${where.line}`;
  }
}

type WrongAccess = 'out-of-bounds' | 'misaligned' | 'read-only' | 'uninitialised';

const wrongAccesses: Readonly<Record<WrongAccess, string>> = {
  'out-of-bounds': 'out of bounds',
  misaligned: 'at an address that is not aligned',
  'read-only': 'in read-only memory',
  uninitialised: 'in uninitialised memory',
};

/** An access that faults. */
interface FaultyAccess {
  readonly kind: WrongAccess;
  readonly thread: Dim3;
  readonly block: Dim3;
  readonly operation: 'read' | 'write' | 'atomic' | 'copy';
  /** Size of the access; 0 if unknown. */
  readonly bytes: number;
  readonly line: number;
  /** Description of the address by the interpreter. */
  readonly detail: string;
}

/** The sentence on an access that faults. */
export function faultMessage({ kind, thread, block, operation, bytes, line, detail }: FaultyAccess): string {
  const verb = operation === 'copy' ? 'copies' : verbs[operation];
  const size = bytes === 0 ? '' : bytes === 1 ? ' a byte' : ` ${bytes} bytes`;
  return sentences(`${threadText(thread, block)} ${verb}${size} ${wrongAccesses[kind]} on line ${line}: ${detail}`);
}

/** The sentences on an instruction, or on control flow, that the interpreter cannot execute. */
export function unsupportedMessage(thread: Dim3, block: Dim3, what: string, line: number): string {
  return sentences(
    `${threadText(thread, block)} reaches ${what} on line ${line}, which Selvage cannot execute`,
    'do not rely on anything after it',
  );
}

/** The sentence on a run that reached its limit of races. */
export function raceLimitMessage(races: number): string {
  return sentences(`the run ended after ${count(races, 'pair')} of accesses that race`);
}

/** Position of a thread when the run was stopped early. */
export interface StoppedThread {
  readonly thread: Dim3;
  readonly block: Dim3;
  readonly line: number;
}

/** The sentences on a run that reached its limit of steps. */
export function budgetMessage(steps: number, stopped: StoppedThread | undefined): string {
  const end = `the run ended after ${steps} thread instructions, before all threads had returned`;
  if (!stopped) return sentences(end);
  const { thread, block, line } = stopped;
  return sentences(
    `${end}; ${threadText(thread, block)} was at line ${line}`,
    `check whether a loop never ends; if the run is only long, allow more instructions with ${code('--steps')}`,
  );
}

/** The sentence on a trap. */
export function trapMessage(stopped: StoppedThread | undefined): string {
  if (!stopped) return sentences('the kernel ended with a trap');
  const { thread, block, line } = stopped;
  return sentences(`${threadText(thread, block)} executes a trap on line ${line}: a failed assertion, or ${code('__trap()')}`);
}

/** The sentence on arguments that violate assumptions of the source. */
export function brokenAssumptionMessage(lines: readonly number[]): string {
  return sentences(
    `${code('SELVAGE_ASSUME')} does not hold on ${linesText(lines)}: with these arguments the run shows nothing about the kernel`,
  );
}

/** The sentence on values that the interpreter does not compute. */
export function unknownValueMessage(mnemonics: readonly string[], lines: readonly number[]): string {
  return sentences(`Selvage cannot compute the values of ${codeList(mnemonics)} on ${linesText(lines)}; it uses 0 instead`);
}

function linesText(lines: readonly number[]): string {
  return `${lines.length === 1 ? 'line' : 'lines'} ${listed(lines.map(String))}`;
}
