import type { LaunchCondition } from './quantity.ts';

/** What a validator tests. It is declared beside quantities, of which some choose by one. */
export type Condition = LaunchCondition;

export const always: Condition = { kind: 'always' };
export const never: Condition = { kind: 'never' };
