import type { Location } from '../source/location.ts';
import type { AssumptionExpression } from '../cuda/assumptions/assumption.ts';

/** What the source tells of a kernel parameter, by position. */
export interface ParameterSource {
  readonly name: string;
  /** Type as written, for example `const float *`. */
  readonly type: string;
  /** Members of a struct parameter, where its definition is at hand: byte offsets from its start. */
  readonly fields?: readonly { readonly name: string; readonly offset: number; readonly type: string }[];
}

/** An assumption of the user with where it was stated and how it reads. */
export interface StatedAssumption {
  readonly expression: AssumptionExpression;
  readonly text: string;
  readonly location?: Location;
}
