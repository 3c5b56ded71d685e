/**
 * The budget of the solver: all its limits, for our own procedures and for Z3. They are counted in work, so that the
 * same input gives the same report; rounded values, chosen by hand.
 */

/** Z3's resource units (its `rlimit`) for one query over integers. */
export const unitsPerQuery = 1_000_000;
/** Multiple of the budget for a query over bit-vectors. */
export const bitVectorFactor = 4;

/**
 * The older of Z3's procedures for linear arithmetic: it decides in 10 to 150 ms most questions that take the newer one
 * 3 to 20 s. It uses up resource units faster, so integer queries get `integerFactor` times the units.
 */
export const arithmeticSolver = 2;
export const integerFactor = 4;

/** Number of obligations of a kernel that the solver may leave open; after that, it is not queried again. */
export const maxUnsettled = 48;
/** Number of bit-vector queries of a kernel that may exhaust the budget; after that, no more are asked. */
export const maxExhausted = 4;

/** Z3 resource units per unit of work of our own procedures, at about equal time. */
export const unitsForWork = { linear: 1, bits: 500 } as const;

/**
 * Maximum effort of all queries of a check, including those for preconditions and facts: clauses visited by our own
 * procedures, and steps of the simplex. Some 9 million take a second.
 */
export const effortOfCheck = 20_000_000;
/** Maximum effort after an obligation stayed open: no proof is possible any more, but models may still show a race. */
export const effortOfOpen = 1_000_000;
/** Maximum effort before statements are tried. */
export const effortOfProof = 10_000_000;
/** Maximum effort of the search for preconditions and facts, until one suffices for a proof. */
export const effortOfTrials = 2_500_000;
/** Maximum effort of one trial under an order of strides. */
export const effortOfOrders = 300_000;
/** Maximum effort of one trial without some precondition, beyond that of the proof with it. */
export const effortOfWeaker = 200_000;
/** Maximum effort to show which preconditions the guards of a kernel imply, counted separately. */
export const effortOfExclusions = 200_000;
/**
 * Effort of one question after which our own procedures give up. Z3 decides in 0.2 to 0.6 s what takes these longer over
 * bit-vectors.
 */
export const effortOfQuery = { linear: 8_000_000, bits: 500_000 } as const;
/** Effort counted for a Z3 resource unit, at about equal time. */
export const effortOfUnit = { linear: 4, bits: 2 } as const;

/** Maximum number of parts of a formula over integers that our own procedure accepts. */
export const maxParts = 20_000;
/** Maximum number of branches on non-integer values in one problem. */
export const maxSplits = 600;
/** Maximum number of gates in one problem over bit-vectors. */
export const maxGates = 60_000;
