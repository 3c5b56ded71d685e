import type { Location } from '../source/location.ts';
import type { AssumptionExpression } from '../assumptions/expression.ts';

/** A kernel parameter as the source declares it. */
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
  /** Whether the launch states the assumption, and not the user; then it excludes no execution. */
  readonly isOfLaunch?: true;
}
