/** The leaves of terms. */

/** Meaning of an atom. Launch and parameter atoms are the same for all threads of a launch. */
export type Atom =
  | { readonly kind: 'thread'; readonly axis: 0 | 1 | 2 }
  | { readonly kind: 'block'; readonly axis: 0 | 1 | 2 }
  | { readonly kind: 'block-size'; readonly axis: 0 | 1 | 2 }
  | { readonly kind: 'grid-size'; readonly axis: 0 | 1 | 2 }
  | { readonly kind: 'parameter'; readonly index: number; readonly offset: number; readonly bytes: number }
  /** The number of completed iterations of a loop, counted from 0. */
  | { readonly kind: 'iteration'; readonly loop: number }
  /** A loop header's phi before its closed form is inserted. */
  | { readonly kind: 'phi'; readonly value: number }
  /** The start address of a memory object. */
  | { readonly kind: 'object'; readonly object: number; readonly generic: boolean }
  /** An unknown value: the result of an instruction (by value id) that terms do not express. */
  | { readonly kind: 'havoc'; readonly value: number }
  /** The index of one of the `lines` of the matrix that an instruction (by id) of a warp accesses; may be any. */
  | { readonly kind: 'line'; readonly instruction: number; readonly lines: number };

/** A key that is equal for equal atoms. */
export function atomKey(atom: Atom): string {
  switch (atom.kind) {
    case 'thread':
    case 'block':
    case 'block-size':
    case 'grid-size':
      return `${atom.kind}${atom.axis}`;
    case 'parameter':
      return `p${atom.index}.${atom.offset}.${atom.bytes}`;
    case 'iteration':
      return `k${atom.loop}`;
    case 'phi':
      return `f${atom.value}`;
    case 'object':
      return `o${atom.object}.${atom.generic}`;
    case 'havoc':
      return `h${atom.value}`;
    case 'line':
      return `l${atom.instruction}`;
  }
}
