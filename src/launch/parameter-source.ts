import type { Location } from '../source/location.ts';
import type { AssumptionExpression } from '../cuda/assumptions/assumption.ts';

/** What the source says about a kernel parameter. */
export interface ParameterSource {
  readonly name: string;
  /** Type as written, for example `const float *`. */
  readonly type: string;
  /** Members of a struct parameter with their byte offsets, if its definition is known. */
  readonly fields?: readonly { readonly name: string; readonly offset: number; readonly type: string }[];
}

/** An assumption of the user: its text and where it was stated. */
export interface StatedAssumption {
  readonly expression: AssumptionExpression;
  readonly text: string;
  readonly location?: Location;
  /** The launch says it, not the user: it narrows nothing that happens. */
  readonly isOfLaunch?: true;
}
