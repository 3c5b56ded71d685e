/**
 * Effects of the operations on an mbarrier on its 64-bit word (PTX ISA 9.7.13.15.2 to 9.7.13.15.7). The ISA leaves the
 * layout unspecified; ours, from bit 0: pending arrivals 20, expected arrivals of the next phase 20, transactions 21
 * (two's complement), the parity of the phase 1, and 1 in bit 62 for a barrier that is valid.
 */

/** The parts of a valid mbarrier. */
interface MbarrierState {
  /** 0 or 1. */
  readonly parity: number;
  /** Arrivals that the phase still waits for. */
  readonly pending: number;
  /** Arrivals that the next phase will wait for. */
  readonly expected: number;
  /** Bytes that the phase still waits for. */
  readonly transactions: number;
}

const countMask = 0xfffffn;
const expectedAt = 20n;
const transactionsAt = 40n;
const parityAt = 61n;
const valid = 1n << 62n;

function encode({ parity, pending, expected, transactions }: MbarrierState): bigint {
  return (
    valid |
    (BigInt(parity) << parityAt) |
    (BigInt.asUintN(21, BigInt(transactions)) << transactionsAt) |
    ((BigInt(expected) & countMask) << expectedAt) |
    (BigInt(pending) & countMask)
  );
}

/** The state in a word, or null if no barrier was initialised or it was invalidated. */
export function mbarrierState(word: bigint): MbarrierState | null {
  if (word >> 62n !== 1n) return null;
  return {
    parity: Number((word >> parityAt) & 1n),
    pending: Number(word & countMask),
    expected: Number((word >> expectedAt) & countMask),
    transactions: Number(BigInt.asIntN(21, word >> transactionsAt)),
  };
}

/** The word after `mbarrier.init` with `count` expected arrivals. */
export function initialMbarrier(count: number): bigint {
  return encode({ parity: 0, pending: count, expected: count, transactions: 0 });
}

/** Ends the phase if nothing is pending: the next phase starts with the expected arrivals as pending ones. */
function settle(state: MbarrierState): bigint {
  if (state.pending !== 0 || state.transactions !== 0) return encode(state);
  return encode({ ...state, parity: 1 - state.parity, pending: state.expected });
}

/** Result of an operation that needs a valid barrier: the new word, and the error. */
export interface MbarrierStep {
  readonly word: bigint;
  /** Absent if the operation is correct; otherwise its behaviour is undefined. */
  readonly fault?: 'invalid' | 'too many arrivals' | 'count out of range';
}

const countLimit = 2 ** 20 - 1;

/**
 * The word after `count` arrivals; `drop` also lowers the expected count of later phases. The instruction returns the
 * word before the arrivals as the state.
 */
export function arriveAt(word: bigint, count: number, drop: boolean): MbarrierStep {
  const state = mbarrierState(word);
  if (!state) return { word, fault: 'invalid' };
  const expected = drop ? state.expected - count : state.expected;
  if (count < 1 || count > countLimit) return { word, fault: 'count out of range' };
  if (count > state.pending || expected < 0) return { word, fault: 'too many arrivals' };
  return { word: settle({ ...state, pending: state.pending - count, expected }) };
}

/** Changes the number of bytes that the phase waits for: positive for expect-tx, negative for complete-tx. */
export function addTransactions(word: bigint, bytes: number): MbarrierStep {
  const state = mbarrierState(word);
  if (!state) return { word, fault: 'invalid' };
  const transactions = state.transactions + bytes;
  if (Math.abs(transactions) > countLimit) return { word, fault: 'count out of range' };
  const next = { ...state, transactions };
  return { word: bytes > 0 ? encode(next) : settle(next) };
}

/**
 * The word with one more pending arrival, for `cp.async.mbarrier.arrive` without `.noinc`; the completion of the copies
 * arrives once.
 */
export function raisePending(word: bigint): MbarrierStep {
  const state = mbarrierState(word);
  if (!state) return { word, fault: 'invalid' };
  if (state.pending === countLimit) return { word, fault: 'count out of range' };
  return { word: encode({ ...state, pending: state.pending + 1 }) };
}

/** Whether the phase in which `state` was returned is complete. */
export function phaseDone(word: bigint, state: bigint): boolean {
  return ((word ^ state) >> parityAt) % 2n === 1n;
}

/** Whether the phase with this parity, the current or the previous one, is complete. */
export function parityDone(word: bigint, parity: number): boolean {
  return Number((word >> parityAt) & 1n) !== (parity & 1);
}

/** `mbarrier.pending_count`: the arrivals that were pending before the one that returned `state`. */
export function pendingCount(state: bigint): number {
  return Number(state & countMask);
}
