/**
 * Properties of effects, derived from their one description in `operation.ts`: accesses, completion, participants, order.
 * Provers, interpreter, costs, idempotency and the comparison with SASS ask these about copies, groups and accesses, so that
 * a new one is a row of the table. A new kind of effect also needs its cases here, and in `idempotency/lasting-effects.ts`.
 */
import type { AsyncGroup, CopyEffect, Effect, MatrixAccessEffect, Scope, Semantics, StateSpace } from './operation.ts';

/** Equal accesses of an instruction, at distances of `bytes`. */
interface EffectAccess {
  readonly operation: 'read' | 'write' | 'atomic';
  /** Shared memory of other blocks of the cluster counts as shared. */
  readonly space: StateSpace;
  readonly bytes: number;
  readonly count: number;
  /** Index of the source with the address. */
  readonly source: number;
  /** The widest scope at which the access is strong; null if it is weak. */
  readonly strong: Scope | null;
  readonly semantics: Semantics;
  /** Bytes of each element of a vector or packed type, as elements are separate accesses; absent for a single element. */
  readonly elementBytes?: number;
}

const weakly = { count: 1, source: 0, strong: null, semantics: 'weak' } as const;

/** Bytes that a copy of variable size moves at a time; its addresses are aligned to them. */
const copyPiece = 16;

/** Bytes of a line that one lane accesses together. */
export function pieceBytes({ addressing, transposed, elementBits, lineBytes }: MatrixAccessEffect): number {
  if (addressing === 'lanes' && transposed) return elementBits / 8;
  return Math.min(Math.max(4, elementBits / 4), lineBytes);
}

/**
 * The accesses of an instruction at addresses in its sources. Vectors are one access except for atomics. An access of a
 * matrix is listed as the first bytes of a line; a copy as its write, its read, then the update of an mbarrier. The matrices
 * of `wgmma.mma_async` are described by its effect.
 */
export function accessesOfEffect(effect: Effect): readonly EffectAccess[] {
  switch (effect.kind) {
    case 'load':
    case 'store':
    case 'atomic': {
      const { space, bytes, lanes, semantics, scope } = effect;
      const strength = { source: 0, strong: semantics === 'weak' ? null : scope, semantics, space } as const;
      if (effect.kind !== 'atomic') {
        const operation = effect.kind === 'load' ? 'read' : 'write';
        return [{ ...strength, operation, bytes: bytes * lanes, count: 1, ...(lanes > 1 && { elementBytes: bytes }) }];
      }
      const isPacked = effect.type.endsWith('x2');
      return [{ ...strength, operation: 'atomic', bytes, count: lanes, ...(isPacked && { elementBytes: bytes / 2 }) }];
    }
    case 'matrix-access':
      return [{ ...weakly, operation: effect.operation, space: effect.space, bytes: pieceBytes(effect) }];
    case 'mbarrier': {
      if (effect.form === 'pending_count') return [];
      const word = { ...weakly, space: effect.space === 'generic' ? 'generic' : 'shared', bytes: 8 } as const;
      // Initialisation and invalidation of a barrier do not synchronize (PTX ISA 9.7.13.15.9 and 9.7.13.15.10).
      return effect.form === 'init' || effect.form === 'inval'
        ? [{ ...word, operation: 'write' }]
        : [{ ...word, operation: 'atomic', strong: effect.scope, semantics: effect.semantics }];
    }
    case 'copy': {
      const { reduction, from } = effect;
      const bytes = effect.bytes ?? copyPiece;
      const combines = reduction && {
        operation: 'atomic' as const,
        elementBytes: Number(/\d+/.exec(reduction.type)![0]) / 8,
        strong: 'gpu' as const,
        semantics: 'relaxed' as const,
      };
      return [
        { ...weakly, operation: 'write', space: effect.to === 'global' ? 'global' : 'shared', bytes, ...combines },
        { ...weakly, operation: 'read', space: from, bytes, source: 1 },
        ...(effect.completion === 'mbarrier'
          ? [{ ...weakly, operation: 'atomic', space: 'shared', bytes: 8, source: 3, strong: 'cta' } as const]
          : []),
      ];
    }
    default:
      return [];
  }
}

/** Whether an effect is a load, a store, an atomic, or a copy of a fixed size that does not complete at an mbarrier. */
export function hasPlainAccesses(
  effect: Effect,
): effect is Extract<Effect, { kind: 'load' | 'store' | 'atomic' }> | (CopyEffect & { readonly bytes: number }) {
  if (effect.kind === 'copy') return effect.bytes !== null && effect.completion !== 'mbarrier';
  return effect.kind === 'load' || effect.kind === 'store' || effect.kind === 'atomic';
}

/** How the accesses of an instruction complete if they continue after it: with a group, or at an mbarrier; otherwise null. */
export function completionOf(effect: Effect): CopyEffect['completion'] | null {
  if (effect.kind === 'copy') return effect.completion;
  return effect.kind === 'warpgroup-multiply' ? effect.group : null;
}

/** The group with which the accesses of an instruction complete; null if they do not complete with one. */
export function groupOf(effect: Effect): AsyncGroup | null {
  const completion = completionOf(effect);
  return completion === 'mbarrier' ? null : completion;
}

/**
 * Number of groups that a wait for groups leaves pending; undefined if it is unknown, null for other effects.
 * @param count the first source
 */
export function groupsLeftBy(
  effect: Effect,
  count: { readonly kind: string; readonly value?: bigint } | undefined,
): number | undefined | null {
  if (effect.kind !== 'group' || effect.form === 'commit' || effect.form === 'fence') return null;
  if (effect.form === 'wait-all') return 0;
  return count?.kind === 'constant' ? Number(count.value) : undefined;
}

/**
 * Whether an effect is a copy, or concerns one, whose accesses proofs cannot follow to its wait: of unknown size, through
 * the asynchronous proxy, or completed by an mbarrier.
 */
export function isUnfollowed(effect: Effect): boolean {
  if (effect.kind === 'group') return effect.group.proxy === 'async' && effect.group.participants === 'thread';
  if (effect.kind !== 'copy') return false;
  return !hasPlainAccesses(effect) || groupOf(effect)?.proxy === 'async';
}

/** Whether an instruction accesses no memory and orders nothing: its results follow from registers of its lanes, or are unknown. */
export function isOfRegisters({ kind }: Effect): boolean {
  switch (kind) {
    case 'pure':
    case 'havoc':
    case 'shuffle':
    case 'vote':
    case 'warp-value':
    case 'warp-matrix':
    case 'grid-dependency':
      return true;
    default:
      return false;
  }
}

/** Whether an instruction may release earlier accesses of its thread, or acquire accesses of others. */
export function mayOrderAccesses(effect: Effect): boolean {
  if (isOfRegisters(effect)) return false;
  switch (effect.kind) {
    case 'load':
    case 'store':
      return effect.semantics !== 'weak';
    case 'fence':
      return effect.semantics !== 'proxy';
    case 'matrix-access':
    case 'warpgroup-multiply':
      return false;
    case 'copy':
    case 'group':
      return isUnfollowed(effect);
    default:
      return true;
  }
}

type Participants = 'thread' | 'lanes' | 'warp' | 'warpgroup' | 'block' | 'cluster' | 'grid';

/**
 * Threads that execute an instruction together. `lanes`: those of a warp that a mask names, or that execute it at the
 * same time; `warp`: all lanes of a warp.
 */
export function participantsOf(effect: Effect): Participants {
  switch (effect.kind) {
    case 'warp-barrier':
    case 'shuffle':
    case 'vote':
    case 'warp-value':
      return 'lanes';
    case 'warp-matrix':
    case 'matrix-access':
      return 'warp';
    case 'warpgroup-multiply':
    case 'group':
      return effect.group.participants;
    case 'barrier':
      return 'block';
    case 'cluster-barrier':
      return 'cluster';
    case 'grid-barrier':
      return 'grid';
    default:
      return 'thread';
  }
}
