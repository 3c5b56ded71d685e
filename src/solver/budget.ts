/**
 * The budget of the solver: all numbers that bound it, whether our own procedures answer or Z3. They are counted in work,
 * so that the same input gives the same report; chosen by hand, round numbers.
 */

/** Z3's resource units (its `rlimit`) for one query over integers. */
export const unitsPerQuery = 1_000_000;
/** How many times as many a query over bit-vectors gets. */
export const bitVectorFactor = 4;

/**
 * Of Z3's procedures for linear arithmetic the older one: on most questions with which the newer one spends 3 to 20 s it
 * takes 10 to 150 ms. Its units are used up faster: integer queries get `integerFactor` times the units.
 */
export const arithmeticSolver = 2;
export const integerFactor = 4;

/** Obligations of a kernel that the solver leaves open before it is asked no more. */
export const maxUnsettled = 48;
/** Queries of a kernel over bit-vectors that the solver gives up on before it is asked no more. */
export const maxExhausted = 4;

/** Of Z3's resource units, those that come to about as much time as a unit of work of our own procedures. */
export const unitsForWork = { linear: 1, bits: 500 } as const;

/**
 * What all queries of a check may take together, with those that look for preconditions and facts: clauses looked at by
 * our own procedures, and steps of the simplex. Some 4 million are a second.
 */
export const effortOfCheck = 30_000_000;
/**
 * What they may take once something stays open, so that the kernel is not proved any more: models may still show where
 * it races.
 */
export const effortOfOpen = 3_000_000;
/** What they may take before statements are tried. */
export const effortOfProof = 16_000_000;
/** What those may take that look for preconditions and facts, until one has made a proof. */
export const effortOfTrials = 8_000_000;
/** What one question may take of it before our own procedures give up on it. */
export const effortOfQuery = 8_000_000;
/** What one of Z3's resource units counts as, where it used all that it was granted, and where it answered before. */
export const effortOfUnit = { spent: 10, granted: 2 } as const;

/** Parts of one formula over integers that our own procedure takes in. */
export const maxParts = 20_000;
/** Its splits on values that are no integers, in one problem. */
export const maxSplits = 400;
/** Gates that it makes of one problem over bit-vectors. */
export const maxGates = 60_000;
