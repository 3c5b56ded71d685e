/**
 * What goes beyond the rules of PICKER (the paper). Each can be switched off, so that its effect can be measured. With all
 * off, the paper's rules remain: every access is a range, read and written ranges must not overlap, loops whose rounds
 * exceed 32 are not idempotent.
 */
export interface Extensions {
  /** Sets with strides, compared modulo the stride at the launch, instead of ranges (its reason RO). */
  readonly strides: boolean;
  /** A write that happens before the read of the same bytes, in a thread or across a barrier, is harmless (MO). */
  readonly order: boolean;
  /** Conditions on the way to an access narrow its threads and rounds beyond one comparison, and exclude each other (PE). */
  readonly paths: boolean;
  /** Loops are described by the number of their rounds at the launch, however many. */
  readonly longLoops: boolean;
  /** What the user states of contents bounds indices and conditions that are read from memory (NA, NC). */
  readonly contents: boolean;
  /** An unknown index stays inside the allocation of its base pointer, whose extent is known at the launch. */
  readonly allocations: boolean;
  /** Indirect calls go to the functions whose address the module takes (IF). */
  readonly indirectCalls: boolean;
  /** Writes of the value that memory already has, and maps in place that give the same when applied again. */
  readonly rewrites: boolean;
  /** Minimum, maximum, and, or on bytes that nothing else touches, with results that nobody uses. */
  readonly atomics: boolean;
}

export const allExtensions: Extensions = {
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

export const paperRules: Extensions = {
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
