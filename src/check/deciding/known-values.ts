/** Facts for the solver about values that it does not compute. */
import type { Reread } from '../../analysis/values/repeated-loads.ts';
import type { Ticket } from '../ordering/ticket.ts';
import type { ContentsFact } from '../premises/contents-fact.ts';
import type { ElementFact } from '../premises/element-fact.ts';

/** Facts about non-arithmetic values, by value id. */
export interface KnownValues {
  /** Values that are distinct among threads. */
  readonly tickets: ReadonlyMap<number, Ticket>;
  /** Statements about loaded values. */
  readonly elements: ReadonlyMap<number, ElementFact>;
  /** Values that a thread loads again. */
  readonly rereads: ReadonlyMap<number, Reread>;
  /** Assumptions about other loaded values, in a separate mode. */
  readonly contents: ReadonlyMap<number, ContentsFact>;
}
