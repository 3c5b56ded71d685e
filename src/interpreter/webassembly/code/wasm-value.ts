/**
 * Values of staged WebAssembly code: constants, locals, and pairs of 64-bit words for 128 bits. A value of 8 or 16 bits
 * is an i32 with zeros above, one of 32 bits an i32, one of 64 bits an i64, a truth an i32 of 0 or 1. A floating-point
 * value is its bit pattern; in addition there may be a local with the number, whose NaNs may have any payload.
 */
import type { Width } from '../../../isa/model/domain.ts';
import type { FunctionBody, FunctionHandle, WasmOperator, WasmType } from './wasm-module.ts';
import { invariant } from '../../../base/assert.ts';

export interface WasmConstant {
  readonly kind: 'constant';
  /** Width in bits; 1 for a predicate. */
  readonly width: Width | 1;
  /** The bit pattern as an unsigned number. */
  readonly value: bigint;
}

export interface WasmLocal {
  readonly kind: 'local';
  readonly type: WasmType;
  readonly index: number;
  /** The number encoded by the bit pattern, as f32 or f64. */
  readonly number?: WasmLocal;
  /** Upper bound of the value as an unsigned number, if known. */
  readonly limit?: number;
}

/** A value of up to 64 bits. */
export type WasmWord = WasmConstant | WasmLocal;

export type WasmValue = WasmWord | { readonly kind: 'pair'; readonly low: WasmWord; readonly high: WasmWord };

/** The type of the local for a value of up to 64 bits. */
export function wasmType(width: Width | 'predicate'): 'i32' | 'i64' {
  return width === 64 ? 'i64' : 'i32';
}

/** A constant of `width` bits; higher bits of the value are discarded. */
export function wasmConstant(width: Width | 1, value: bigint): WasmConstant {
  return { kind: 'constant', width, value: BigInt.asUintN(width, value) };
}

/** The value that a local holds. */
export function wasmLocal(type: WasmType, index: number): WasmLocal {
  return { kind: 'local', type, index };
}

/** Something to append: an operator, a value or immediate to push, a call. */
export type Item =
  | WasmOperator
  | WasmWord
  | { readonly kind: 'i32' | 'f32' | 'f64'; readonly value: number }
  | { readonly kind: 'i64'; readonly value: bigint }
  | { readonly kind: 'call'; readonly target: FunctionHandle };

/** Pushes a number of 32 bits. */
export function i32(value: number): Item {
  return { kind: 'i32', value };
}

/** Pushes a number of 64 bits. */
export function i64(value: bigint): Item {
  return { kind: 'i64', value };
}

/** Pushes a single-precision number. */
export function f32(value: number): Item {
  return { kind: 'f32', value };
}

/** Pushes a double-precision number. */
export function f64(value: number): Item {
  return { kind: 'f64', value };
}

/** Calls a function with the pushed operands. */
export function call(target: FunctionHandle): Item {
  return { kind: 'call', target };
}

/** Appends items in postfix order. */
export function append(body: FunctionBody, ...items: readonly Item[]): void {
  for (const item of items) {
    if (typeof item === 'string') {
      body.op(item);
      continue;
    }
    switch (item.kind) {
      case 'local':
        body.get(item.index);
        break;
      case 'constant':
        if (item.width === 64) body.i64(item.value);
        else body.i32(Number(BigInt.asIntN(32, item.value)));
        break;
      case 'i32':
        body.i32(item.value);
        break;
      case 'i64':
        body.i64(item.value);
        break;
      case 'f32':
        body.f32(item.value);
        break;
      case 'f64':
        body.f64(item.value);
        break;
      case 'call':
        body.call(item.target);
    }
  }
}

/** Appends items and stores their result on the stack in a new local. */
export function bind(body: FunctionBody, type: WasmType, ...items: readonly Item[]): WasmLocal {
  append(body, ...items);
  const index = body.local(type);
  body.set(index);
  return wasmLocal(type, index);
}

/** The locals that contain a value. */
export function localsOf(value: WasmValue): readonly number[] {
  return partsOf(value).map((part) => part.index);
}

function partsOf(value: WasmValue): readonly WasmLocal[] {
  if (value.kind === 'constant') return [];
  if (value.kind === 'pair') return [...partsOf(value.low), ...partsOf(value.high)];
  return value.number ? [value, value.number] : [value];
}

/**
 * New locals for a value that is assigned on several paths (a phi).
 * @param number also stores the number of a floating-point value: in a summation loop, this keeps the conversion
 *   between pattern and number off the critical path (2 to 4 times as fast); it costs nothing where it is not used
 */
export function variable(body: FunctionBody, width: Width | 'predicate', number?: 'f32' | 'f64'): WasmValue {
  const local = (type: WasmType): WasmLocal => wasmLocal(type, body.local(type));
  if (width === 128) return { kind: 'pair', low: local('i64'), high: local('i64') };
  return number ? { ...local(wasmType(width)), number: local(number) } : local(wasmType(width));
}

/**
 * Pushes the value that {@link setVariable} assigns to `target`. Several values may be pushed and then set in reverse
 * order.
 */
export function pushForVariable(body: FunctionBody, target: WasmValue, value: WasmValue): void {
  if (target.kind === 'pair') {
    const low = value.kind === 'pair' ? value.low : wasmConstant(64, wordOf(value).value);
    const high = value.kind === 'pair' ? value.high : wasmConstant(64, wordOf(value).value >> 64n);
    append(body, low, high);
    return;
  }
  invariant(target.kind === 'local' && value.kind !== 'pair', 'value and variable differ in width');
  append(body, value);
  const { number } = target;
  if (!number) return;
  if (value.kind === 'local' && value.number?.type === number.type) append(body, value.number);
  else append(body, value, number.type === 'f32' ? 'f32.reinterpret_i32' : 'f64.reinterpret_i64');
}

function wordOf(value: WasmValue): WasmConstant {
  invariant(value.kind === 'constant', 'value and variable differ in width');
  return value;
}

/** Sets a variable from the stack. */
export function setVariable(body: FunctionBody, target: WasmValue): void {
  for (const part of partsOf(target).toReversed()) body.set(part.index);
}

/**
 * The type of number that should be stored, in addition to bit patterns, for the result of a floating-point instruction
 * and its sources.
 * @param mnemonic for example `fma.rn.f32`
 */
export function numberType(mnemonic: string): 'f32' | 'f64' | undefined {
  const match = /^(?:add|sub|mul|fma|mad|div|rcp|sqrt|rsqrt|min|max|ex2|lg2|sin|cos|tanh)\.(?:.*\.)?(f32|f64)$/.exec(mnemonic);
  return match?.[1] as 'f32' | 'f64' | undefined;
}
