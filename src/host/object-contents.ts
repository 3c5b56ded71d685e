/** Contents of an object of the host program, by bytes. States of objects never change; a write makes a new one. */
import { type HostSymbol, integer, zeroTerm } from '../assumptions/expression.ts';
import { type HostValue, integerValue, valueKey } from '../cuda/launches/value.ts';

/** What bytes hold that were not written one by one: zeros, or the bytes of an unknown object. */
type ByteSource = { readonly kind: 'zero' } | { readonly kind: 'unknown'; readonly symbol: HostSymbol };

export type Content =
  | { readonly kind: 'value'; readonly value: HostValue }
  /** A part of a base, from an offset on. */
  | { readonly kind: 'region'; readonly base: ByteSource; readonly from: number };

/** Bytes that were written at once. */
export interface Cell {
  readonly offset: number;
  readonly bytes: number;
  readonly content: Content;
}

/** Cells do not overlap; they are in ascending order. All other bytes are those of the base. */
export interface ObjectState {
  readonly base: ByteSource;
  readonly cells: readonly Cell[];
}

const zeros: ByteSource = { kind: 'zero' };

/** An object all of whose bytes are 0. */
export const zeroObject: ObjectState = { base: zeros, cells: [] };

/** An object about whose contents nothing is known. */
export function unknownObject(symbol: HostSymbol): ObjectState {
  return { base: { kind: 'unknown', symbol }, cells: [] };
}

/** Cells that overlap a range of bytes. */
function cellsIn(state: ObjectState, offset: number, bytes: number): readonly Cell[] {
  return state.cells.filter((cell) => cell.offset < offset + bytes && offset < cell.offset + cell.bytes);
}

/** Values of which a range has some bytes, but not all. */
export function partlyIn(state: ObjectState, offset: number, bytes: number): HostValue[] {
  const isWhole = (cell: Cell): boolean => offset <= cell.offset && cell.offset + cell.bytes <= offset + bytes;
  return cellsIn(state, offset, bytes).flatMap((cell) => (cell.content.kind === 'value' && !isWhole(cell) ? [cell.content.value] : []));
}

/** Values that a scalar in an object is composed of, or is a part of; none if it is one of them. */
export function composing(state: ObjectState, offset: number, bytes: number): HostValue[] {
  const cells = cellsIn(state, offset, bytes);
  const isOne = cells.length === 1 && cells[0]!.offset === offset && cells[0]!.bytes === bytes;
  return isOne ? [] : cells.flatMap(({ content }) => (content.kind === 'value' ? [content.value] : []));
}

/** The object after a write of bytes. */
export function written(state: ObjectState, cell: Cell): ObjectState {
  const [start, end] = [cell.offset, cell.offset + cell.bytes];
  const kept: Cell[] = [];
  for (const one of state.cells) {
    if (one.offset >= end || one.offset + one.bytes <= start) kept.push(one);
    else {
      if (one.offset < start) kept.push(partOf(one, one.offset, start - one.offset));
      if (one.offset + one.bytes > end) kept.push(partOf(one, end, one.offset + one.bytes - end));
    }
  }
  const at = kept.findIndex(({ offset }) => offset > start);
  kept.splice(at < 0 ? kept.length : at, 0, cell);
  return { base: state.base, cells: kept };
}

/** A part of the bytes of a cell. */
function partOf({ offset, bytes, content }: Cell, start: number, length: number): Cell {
  if (start === offset && length === bytes) return { offset, bytes, content };
  if (content.kind === 'region') return { offset: start, bytes: length, content: { ...content, from: content.from + start - offset } };
  const { value } = content;
  if (value.kind === 'number' && value.term.kind === 'integer') {
    const shifted = BigInt.asUintN(8 * bytes, value.term.value) >> BigInt(8 * (start - offset));
    return { offset: start, bytes: length, content: { kind: 'value', value: integerValue(integer(BigInt.asUintN(8 * length, shifted))) } };
  }
  const symbol = { id: `bytes ${valueKey(value)}`, label: 'a part of a number' };
  return { offset: start, bytes: length, content: { kind: 'region', base: { kind: 'unknown', symbol }, from: start - offset } };
}

/** A copy of a range of bytes, as cells that start at `to`. */
export function copiedCells(state: ObjectState, from: number, bytes: number, to: number): Cell[] {
  const cells: Cell[] = [];
  let at = from;
  const fill = (end: number): void => {
    if (end > at) cells.push({ offset: at - from + to, bytes: end - at, content: { kind: 'region', base: state.base, from: at } });
  };
  for (const cell of cellsIn(state, from, bytes)) {
    const start = Math.max(cell.offset, from);
    const end = Math.min(cell.offset + cell.bytes, from + bytes);
    fill(start);
    cells.push({ ...partOf(cell, start, end - start), offset: start - from + to });
    at = end;
  }
  fill(from + bytes);
  return cells;
}

/** A scalar of a base. */
function ofBase(base: ByteSource, offset: number, bytes: number, label: string): HostValue {
  if (base.kind === 'zero') return integerValue(zeroTerm);
  const { id } = base.symbol;
  // The warp size is the same on every current GPU.
  if (/\bwarpSize$/.test(label) && /prop/i.test(label)) return integerValue(integer(32));
  return { kind: 'symbol', symbol: { id: `${id}+${offset}:${bytes}`, label } };
}

/**
 * A scalar in an object; `exact` is false if it is composed of parts of several values, or is a part of one.
 * @param label of the place, for messages
 */
export function readScalar(
  state: ObjectState,
  offset: number,
  bytes: number,
  label: string,
): { readonly value: HostValue; readonly exact: boolean } {
  const cells = cellsIn(state, offset, bytes);
  const [cell] = cells;
  if (!cell) return { value: ofBase(state.base, offset, bytes, label), exact: true };
  const isWithin = cell.offset <= offset && offset + bytes <= cell.offset + cell.bytes;
  if (isWithin) {
    const { content } = partOf(cell, offset, bytes);
    if (content.kind === 'value') return { value: content.value, exact: cell.bytes === bytes };
    return {
      value: ofBase(content.base, content.from, bytes, label),
      exact: content.base.kind === 'zero' || cell.content.kind === 'region',
    };
  }
  const parts = copiedCells(state, offset, bytes, 0);
  if (parts.every(({ content }) => content.kind === 'region' && content.base.kind === 'zero'))
    return { value: integerValue(zeroTerm), exact: true };
  const joined = parts.reduce<bigint | null>((sum, part) => {
    const own = constantOf(part);
    return sum === null || own === null ? null : sum | (own << BigInt(8 * part.offset));
  }, 0n);
  if (joined !== null) return { value: integerValue(integer(joined)), exact: false };
  return { value: { kind: 'symbol', symbol: { id: `bytes ${contentKey(parts)}`, label } }, exact: false };
}

function constantOf({ bytes, content }: Cell): bigint | null {
  if (content.kind === 'region') return content.base.kind === 'zero' ? 0n : null;
  const { value } = content;
  return value.kind === 'number' && value.term.kind === 'integer' ? BigInt.asUintN(8 * bytes, value.term.value) : null;
}

/** The bytes of a range, if all of them are numbers; else null. */
export function constantBytes(state: ObjectState, offset: number, bytes: number): number[] | null {
  const held: number[] = [];
  for (const cell of copiedCells(state, offset, bytes, 0)) {
    const value = constantOf(cell);
    if (value === null) return null;
    for (let at = 0; at < cell.bytes; at++) held.push(Number((value >> BigInt(8 * at)) & 255n));
  }
  return held;
}

function contentKey(cells: readonly Cell[]): string {
  return cells
    .map(
      ({ offset, bytes, content }) =>
        `${offset}:${bytes}=${content.kind === 'value' ? valueKey(content.value) : `${content.base.kind === 'zero' ? '0' : content.base.symbol.id}@${content.from}`}`,
    )
    .join();
}

const stateKeys = new WeakMap<ObjectState, string>();

/** A key that is equal for equal contents. */
export function objectKey(state: ObjectState): string {
  let key = stateKeys.get(state);
  if (key === undefined) {
    key = `${state.base.kind === 'zero' ? '0' : state.base.symbol.id}{${contentKey(state.cells)}}`;
    stateKeys.set(state, key);
  }
  return key;
}

/** All values that cells of an object hold. */
export function valuesOf({ cells }: ObjectState): HostValue[] {
  return cells.flatMap(({ content }) => (content.kind === 'value' ? [content.value] : []));
}

/** The boundaries at which two states have the same cells: a common refinement of both. */
export function refined(a: ObjectState, b: ObjectState): readonly (readonly [offset: number, bytes: number])[] {
  const bounds = new Set<number>();
  for (const { offset, bytes } of [...a.cells, ...b.cells]) bounds.add(offset).add(offset + bytes);
  const sorted = [...bounds].toSorted((x, y) => x - y);
  return sorted.slice(1).flatMap((end, at) => {
    const start = sorted[at]!;
    return cellsIn(a, start, end - start).length > 0 || cellsIn(b, start, end - start).length > 0 ? [[start, end - start] as const] : [];
  });
}

/** Whether two bases are the same bytes. */
export function isSameBase(a: ByteSource, b: ByteSource): boolean {
  return a.kind === 'zero' ? b.kind === 'zero' : b.kind === 'unknown' && a.symbol.id === b.symbol.id;
}
