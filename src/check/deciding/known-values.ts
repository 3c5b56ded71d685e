/** Facts for the solver about values that the encoding does not define by arithmetic. */
import type { Reread } from '../../analysis/values/repeated-loads.ts';
import type { Ticket } from '../ordering/ticket.ts';
import type { ContentsFact } from '../premises/contents-fact.ts';
import type { ElementFact } from '../premises/element-fact.ts';

/** Facts about non-arithmetic values, by value id. */
export interface KnownValues {
  /** Values that differ between any two threads. */
  readonly tickets: ReadonlyMap<number, Ticket>;
  /** Statements about loaded values. */
  readonly elements: ReadonlyMap<number, ElementFact>;
  /** Results of loads that repeat an earlier load of the same thread. */
  readonly rereads: ReadonlyMap<number, Reread>;
  /** Assumptions about other loaded values; they are premises of a separate mode. */
  readonly contents: ReadonlyMap<number, ContentsFact>;
}
