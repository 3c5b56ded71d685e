/** Special registers as terms: the indices and extents of a launch. */
import type { Dimensions } from './launch-bounds.ts';
import type { Term, TermStore } from '../../term/term.ts';

interface LaunchSizes {
  readonly dimensions: Dimensions;
  /** Dynamic shared memory in bytes; null if unspecified. */
  readonly sharedBytes: number | null;
}

/** The value of a special register: a constant if the launch specifies it. */
export function specialRegister(store: TermStore, { dimensions, sharedBytes }: LaunchSizes, register: string): Term {
  const axis = 'xyz'.indexOf(register.slice(-1)) as 0 | 1 | 2;
  const name = register.slice(0, -2);
  if (name === 'tid') {
    if (dimensions.block[axis] === 1) return store.constant(32, 0n);
    return store.atom(32, { kind: 'thread', axis });
  }
  if (name === 'ctaid') {
    if (dimensions.grid[axis] === 1) return store.constant(32, 0n);
    return store.atom(32, { kind: 'block', axis });
  }
  if (name === 'ntid' || name === 'nctaid') {
    const size = (name === 'ntid' ? dimensions.block : dimensions.grid)[axis];
    if (size !== null) return store.constant(32, BigInt(size));
    return store.atom(32, { kind: name === 'ntid' ? 'block-size' : 'grid-size', axis });
  }
  if (register === 'warpsize') return store.constant(32, 32n);
  if (register === 'dynamic_smem_size' && sharedBytes !== null) return store.constant(32, BigInt(sharedBytes));
  if (register === 'laneid') return store.and(32, linearThread(), store.constant(32, 31n));
  // Lane masks are functions of the lane index.
  return store.pure(register, 32, [linearThread()]);

  function linearThread(): Term {
    const special = (other: string): Term => specialRegister(store, { dimensions, sharedBytes }, other);
    const [x, y, z] = [special('tid.x'), special('tid.y'), special('tid.z')];
    const plane = store.add(32, y, store.mul(32, z, special('ntid.y')));
    return store.add(32, x, store.mul(32, plane, special('ntid.x')));
  }
}
