/** What the solver is told of values that it does not compute. */
import type { Reread } from '../../analysis/values/repeated-loads.ts';
import type { Ticket } from '../ordering/ticket.ts';
import type { ContentsFact } from '../premises/contents-fact.ts';
import type { ElementFact } from '../premises/element-fact.ts';

/** What is known of values that are no arithmetic, by value id. */
export interface KnownValues {
  /** Values that are distinct among threads. */
  readonly tickets: ReadonlyMap<number, Ticket>;
  /** What is stated of loaded values. */
  readonly elements: ReadonlyMap<number, ElementFact>;
  /** Values that a thread loads again. */
  readonly rereads: ReadonlyMap<number, Reread>;
  /** What is taken for granted of other loaded values, in a mode of its own. */
  readonly contents: ReadonlyMap<number, ContentsFact>;
}
