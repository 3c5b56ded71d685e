/** Calls that are being executed, what they pass and what they give back. */
import { termConstant } from '../assumptions/expression.ts';
import type { ChosenFunction, HostValue } from '../cuda/launches/value.ts';
import type { HostType } from '../gimple/debug-types.ts';
import type { GimpleFunction, GimpleLocation, GimpleOperand } from '../gimple/gimple.ts';
import type { HostUnit } from './host-unit.ts';
import type { Cell } from './object-contents.ts';
import { type HostObject, type HostPlace, labelOf } from './objects.ts';
import type { State } from './state.ts';

/** An argument or result: a scalar, or the bytes of an object. */
export type Passed =
  | { readonly kind: 'scalar'; readonly value: HostValue; readonly type: HostType | null }
  | { readonly kind: 'bytes'; readonly cells: readonly Cell[]; readonly type: HostType; readonly place: HostPlace | null };

/** A call of a function that is executed. */
export interface FollowedCall {
  readonly unit: HostUnit;
  readonly fn: GimpleFunction;
  /** Null for a function that begins, as `main`. */
  readonly caller: Activation | null;
  /** Where it is called. */
  readonly site: GimpleLocation | null;
  /** Where the caller wants a result that is an object. */
  readonly slot: HostPlace | null;
  /** Whether exceptions that leave the function may reach a handler, or launches before it. */
  readonly catches: boolean;
}

/** A function that is being executed. */
export interface Activation extends FollowedCall {
  readonly depth: number;
  readonly objects: Map<string, HostObject>;
  readonly parameters: ReadonlyMap<string, Passed>;
  readonly returns: { readonly state: State; readonly value: Outcome['value'] }[];
  readonly throws: State[];
}

/** A place with the type of what is there. */
export interface TypedPlace extends HostPlace {
  readonly type: HostType;
}

/** A state on an edge between blocks. */
export interface EdgeState {
  readonly from: number;
  readonly to: number;
  readonly state: State;
}

/** What a call may do, and what it gives back. Null if it never returns. */
export interface Outcome {
  readonly state: State | null;
  /** Null: unknown. `in place`: the callee wrote it where the caller wants it. */
  readonly value: Passed | 'in place' | null;
  readonly thrown: State | null;
}

export interface CallRequest {
  readonly symbol: string | null;
  readonly callee: GimpleOperand;
  /** Empty if unknown. */
  readonly callees: readonly ChosenFunction[];
  readonly given: readonly Passed[];
  readonly operands: readonly GimpleOperand[];
  readonly target: GimpleOperand | null;
  readonly resultType: HostType | null;
  readonly location: GimpleLocation | null;
  readonly activation: Activation;
  /** Whether an exception of the call may reach a handler, or code that launches. */
  readonly matters: boolean;
}

/** What a stream or an event is called in messages: `streams[1]` for an element of an array. */
export function handleLabel(place: HostValue | undefined, { fn, unit }: Activation): string {
  const label = labelOf(place);
  const offset = place?.kind === 'pointer' && place.offset ? termConstant(place.offset) : undefined;
  const local = fn.locals.find(({ name }) => name.replace(/D\.\d+$/, '') === label);
  const isArray = local ? local.type.includes('[') : unit.typeOfVariable(label)?.kind === 'array';
  return isArray && offset !== undefined ? `${label}[${offset / 8n}]` : label;
}
