/**
 * HiRace's state machine: the access history of a location. Its table is generated from nine rules, so that every cell
 * has a reason; a test searches it exhaustively against happens-before.
 */

/** The states; the number of a state is its index. */
export const stateNames = [
  'untouched',
  // Reads that are not concurrent with a write, by readers: one thread, one warp, one block, several blocks.
  'read',
  'read-warp',
  'read-block',
  'read-grid',
  // The last access is a write, or a read by the only thread that can read after the write without a race.
  'write',
  // Reads of the warp in which a warp barrier ordered the write before them: other warps still race with the write.
  'warp-synced',
  'warp-synced-readers',
  // Reads in a block after a block barrier that ordered an earlier write before them. By one thread, by one thread
  // after a warp barrier that ordered other reads before it, by one warp, by the block.
  'block-synced',
  'block-warp-synced',
  'block-synced-readers-warp',
  'block-synced-readers-block',
  // Atomics, at least one of block scope; by one thread, one warp, one block.
  'block-atomic',
  'block-atomic-warp',
  'block-atomic-block',
  // Atomics of device scope or wider.
  'device-atomic',
  'device-atomic-warp',
  'device-atomic-block',
  'device-atomic-grid',
  // Atomics after a plain access that a warp barrier ordered before them.
  'warp-synced-atomic',
  'warp-synced-atomic-warp',
  // Atomics after a plain access that a block barrier ordered before them.
  'block-synced-atomic',
  'block-synced-atomic-warp',
  'block-synced-atomic-block',
  'race',
] as const;

export type StateName = (typeof stateNames)[number];

/** Kind of an access: index of the second dimension. */
export const accessNames = ['read', 'write', 'block-atomic', 'device-atomic'] as const;
export type AccessName = (typeof accessNames)[number];

/** The strongest barrier that the accessor has passed since the last access: index of the third dimension. */
export const syncNames = ['none', 'warp', 'block'] as const;
export type SyncName = (typeof syncNames)[number];

/** Relation of the accessor to the last one: index of the fourth dimension. */
export const relationNames = ['thread', 'warp', 'block', 'grid'] as const;
export type RelationName = (typeof relationNames)[number];

/** A location that has contents and that no thread has accessed: the state of a shadow word that is zero. */
export const untouched = 0;
export const raceState = 24;
/** Row of a location without contents; equal to that of `untouched`. */
export const uninitialised = 25;
/** Not a row of the table: a location for which only synchronization is recorded. */
export const handingOver = 28;

/** Index into {@link transitions}. */
export function transitionIndex(state: number, access: number, sync: number, relation: number): number {
  return ((state * accessNames.length + access) * syncNames.length + sync) * relationNames.length + relation;
}

interface Family {
  /**
   * States of the family by the widest set of threads that may have accessed: thread, warp, block, grid. Missing
   * entries are races.
   */
  readonly members: readonly (StateName | undefined)[];
}

const families = {
  read: { members: ['read', 'read-warp', 'read-block', 'read-grid'] },
  write: { members: ['write'] },
  warpSynced: { members: ['warp-synced', 'warp-synced-readers'] },
  blockSynced: { members: ['block-synced', 'block-synced-readers-warp', 'block-synced-readers-block'] },
  blockAtomic: { members: ['block-atomic', 'block-atomic-warp', 'block-atomic-block'] },
  deviceAtomic: { members: ['device-atomic', 'device-atomic-warp', 'device-atomic-block', 'device-atomic-grid'] },
  warpSyncedAtomic: { members: ['warp-synced-atomic', 'warp-synced-atomic-warp'] },
  blockSyncedAtomic: {
    members: ['block-synced-atomic', 'block-synced-atomic-warp', 'block-synced-atomic-block'],
  },
} satisfies Record<string, Family>;

type FamilyName = keyof typeof families;

/** Family and width (0 thread … 3 grid) of a state other than `untouched` and `race`. */
function familyOf(state: StateName): { readonly family: FamilyName; readonly width: number } {
  if (state === 'block-warp-synced') return { family: 'blockSynced', width: 0 };
  for (const family of Object.keys(families) as FamilyName[]) {
    const width = (families[family].members as readonly string[]).indexOf(state);
    if (width >= 0) return { family, width };
  }
  throw new RangeError(state);
}

function member(family: FamilyName, width: number): StateName {
  return (families[family].members as readonly StateName[])[width] ?? 'race';
}

/** By the barrier passed: the state after an access by one thread that the barrier orders after earlier ones. */
const readAfter = { none: 'write', warp: 'warp-synced', block: 'block-synced' } as const;
const atomicAfter = { none: 'write', warp: 'warp-synced-atomic', block: 'block-synced-atomic' } as const;

const firstAccess: Readonly<Record<AccessName, StateName>> = {
  read: 'read',
  write: 'write',
  'block-atomic': 'block-atomic',
  'device-atomic': 'device-atomic',
};

/** Whether all accesses that the state represents are ordered before one by such an accessor. */
function isCleared(width: number, sync: SyncName, relation: RelationName): boolean {
  if (relation === 'grid' || width === 3) return false;
  if (sync === 'block') return true;
  if (width === 2) return false;
  if (sync === 'warp') return relation === 'thread' || relation === 'warp';
  return width === 0 && relation === 'thread';
}

/** The state after an access. */
export function nextState(state: StateName, access: AccessName, sync: SyncName, relation: RelationName): StateName {
  if (state === 'untouched') return firstAccess[access];
  if (state === 'race') return 'race';
  const { family, width } = familyOf(state);
  const cleared = isCleared(width, sync, relation);
  const joined = Math.max(width, relationNames.indexOf(relation));
  // 1: a write requires all earlier accesses to be ordered before it.
  if (access === 'write') return cleared ? 'write' : 'race';
  const isAtomicFamily = family.endsWith('tomic');
  if (access === 'read') {
    // 2: reads after reads.
    if (family === 'read') return cleared ? 'read' : member('read', joined);
    // 3: the write stays ordered before accesses of the warp only, until a block barrier is passed.
    if (family === 'warpSynced') {
      if (cleared) return sync === 'block' ? 'block-synced' : 'warp-synced';
      return member('warpSynced', joined);
    }
    // 4: the write stays ordered before accesses of the block.
    if (family === 'blockSynced') {
      if (relation === 'grid') return 'race';
      if (!cleared) return member('blockSynced', joined);
      return sync === 'none' ? state : sync === 'warp' ? 'block-warp-synced' : 'block-synced';
    }
    // 5: a read after a write or after atomics.
    return cleared ? readAfter[sync] : 'race';
  }
  // 6 and 7: atomics after atomics; if one has block scope, the result is a block-atomic state.
  if (family === 'blockAtomic' || (family === 'deviceAtomic' && access === 'block-atomic')) {
    return cleared ? 'block-atomic' : member('blockAtomic', joined);
  }
  if (family === 'deviceAtomic') return cleared ? 'device-atomic' : member('deviceAtomic', joined);
  // 8: atomics after atomics that come after plain accesses.
  if (isAtomicFamily) {
    if (!cleared) return member(family, joined);
    if (family === 'blockSyncedAtomic') return 'block-synced-atomic';
    return sync === 'block' ? 'block-synced-atomic' : 'warp-synced-atomic';
  }
  // 9: the first atomic after plain accesses.
  return cleared ? atomicAfter[sync] : 'race';
}

/** The next state by {@link transitionIndex}, for the 25 states and `uninitialised`. */
export const transitions: Uint8Array = tabulate();

function tabulate(): Uint8Array {
  const table = new Uint8Array((uninitialised + 1) * accessNames.length * syncNames.length * relationNames.length);
  const numbers = new Map(stateNames.map((name, index) => [name, index]));
  for (let state = 0; state <= uninitialised; state++) {
    const from = stateNames[state === uninitialised ? untouched : state]!;
    for (const [a, access] of accessNames.entries()) {
      for (const [s, sync] of syncNames.entries()) {
        for (const [r, relation] of relationNames.entries()) {
          table[transitionIndex(state, a, s, r)] = numbers.get(nextState(from, access, sync, relation))!;
        }
      }
    }
  }
  return table;
}
