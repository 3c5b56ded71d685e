/**
 * The budget of the solver: all its limits, for our own procedures and for Z3. They are counted in work, so that the
 * same input gives the same report; rounded values, chosen by hand.
 */

/** Z3's resource units (its `rlimit`) for one query over integers. */
export const unitsPerQuery = 1_000_000;
/** Multiple of the budget for a query over bit-vectors. */
export const bitVectorFactor = 4;

/**
 * Of Z3's procedures for linear arithmetic the older one: on most questions with which the newer one spends 3 to 20 s it
 * takes 10 to 150 ms. Its units are used up faster: integer queries get `integerFactor` times the units.
 */
export const arithmeticSolver = 2;
export const integerFactor = 4;

/** Maximum number of obligations of a kernel that the solver leaves open before it is queried no more. */
export const maxUnsettled = 48;
/** Number of bit-vector queries of a kernel that may exhaust the solver before it gets no more of them. */
export const maxExhausted = 4;

/** Z3 resource units per unit of work of our own procedures, at about equal time. */
export const unitsForWork = { linear: 1, bits: 500 } as const;

/**
 * Maximum effort of all queries of a check, including those for preconditions and facts: clauses visited by our own
 * procedures, and steps of the simplex. Some 4 million take a second.
 */
export const effortOfCheck = 30_000_000;
/** Maximum effort once an obligation stays open, so that no proof is possible: models may still show a race. */
export const effortOfOpen = 3_000_000;
/** Maximum effort before statements are tried. */
export const effortOfProof = 16_000_000;
/** Maximum effort of the search for preconditions and facts, until one suffices for a proof. */
export const effortOfTrials = 8_000_000;
/** Effort of one question after which our own procedures give up. */
export const effortOfQuery = 8_000_000;
/** Effort counted for a Z3 resource unit if the limit was exhausted, and for a unit of the limit otherwise. */
export const effortOfUnit = { spent: 10, granted: 2 } as const;

/** Maximum number of parts of a formula over integers that our own procedure accepts. */
export const maxParts = 20_000;
/** Its splits on non-integer values, in one problem. */
export const maxSplits = 400;
/** Maximum number of gates in one problem over bit-vectors. */
export const maxGates = 60_000;
