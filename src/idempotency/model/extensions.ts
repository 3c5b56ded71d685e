/**
 * Extensions of the rules of PICKER (the paper). Each can be disabled to measure its effect. With all of them disabled,
 * the rules of the paper's sections 3 to 5 remain: every access is a range, and no byte may be both read and written;
 * an atomic instruction, an indirect call, and a loop of more than 32 iterations without an induction variable are not
 * idempotent.
 */
export interface Extensions {
  /**
   * The paper's assumptions are required: no race and no divergence, shared memory that is written before it is read,
   * only effects on memory, disjoint stores. Without it there are false positives.
   */
  readonly requirements: boolean;
  /** Loops are described by an induction variable (the paper's section 5.2), and not unrolled. */
  readonly compaction: boolean;
  /** Sets with strides, compared modulo the stride at the launch, instead of ranges (its reason RO). */
  readonly strides: boolean;
  /** A write that happens before the read of the same bytes, in a thread or across a barrier, is harmless (MO). */
  readonly order: boolean;
  /**
   * Conditions on the path to an access narrow its threads and iterations beyond one comparison, and exclude each other
   * (PE).
   */
  readonly paths: boolean;
  /** Loops with a trip count that the launch does not determine may have more than 32 iterations. */
  readonly longLoops: boolean;
  /** Statements of the user on contents bound indices and conditions that are read from memory (NA, NC). */
  readonly contents: boolean;
  /** An unknown index stays inside the allocation of its base pointer, whose extent is known at the launch. */
  readonly allocations: boolean;
  /** Indirect calls go to the functions whose address the module takes (IF). */
  readonly indirectCalls: boolean;
  /** Writes of the value that memory already has, and repeatable maps in place. */
  readonly rewrites: boolean;
  /** Minimum, maximum, and, or on bytes that nothing else accesses, with unused results. */
  readonly atomics: boolean;
}

export const allExtensions: Extensions = {
  requirements: true,
  compaction: true,
  strides: true,
  order: true,
  paths: true,
  longLoops: true,
  contents: true,
  allocations: true,
  indirectCalls: true,
  rewrites: true,
  atomics: true,
};

/** The paper's rules, including the optimisations of section 5. */
export const paperRules: Extensions = {
  requirements: false,
  compaction: true,
  strides: false,
  order: false,
  paths: false,
  longLoops: false,
  contents: false,
  allocations: false,
  indirectCalls: false,
  rewrites: false,
  atomics: false,
};
