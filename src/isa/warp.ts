/** Instructions whose threads are the lanes of a warp (PTX ISA 9.7.9 shfl, 9.7.13 vote, match, redux, elect). */
import type { Row } from './row.ts';

const section = '9.7.13';

/** `shfl.sync.mode.b32 d|p, a, b, c, mask`; without `.sync` there is no mask. */
const shuffle: Row = {
  opcode: 'shfl',
  section: '9.7.9',
  decode(modifiers, shape) {
    const sync = modifiers.flag('sync');
    const mode = modifiers.oneOf('idx', 'up', 'down', 'bfly');
    if (!mode || modifiers.type()?.name !== 'b32') return null;
    const hasPredicate = shape?.[0]?.kind === 'pair';
    return {
      results: hasPredicate ? [32, 'predicate'] : [32],
      sources: sync ? [32, 32, 32, 32] : [32, 32, 32],
      effect: { kind: 'shuffle', mode, hasPredicate, sync },
      cost: 'sync',
    };
  },
};

/** `vote.sync.mode d, {!}a, mask`. */
const vote: Row = {
  opcode: 'vote',
  section,
  decode(modifiers) {
    const sync = modifiers.flag('sync');
    const mode = modifiers.oneOf('all', 'any', 'uni', 'ballot');
    if (!mode || modifiers.type()?.name !== (mode === 'ballot' ? 'b32' : 'pred')) return null;
    return {
      results: [mode === 'ballot' ? 32 : 'predicate'],
      sources: sync ? ['predicate', 32] : ['predicate'],
      effect: { kind: 'vote', mode, sync },
      cost: 'sync',
    };
  },
};

/** `match.any.sync.type d, a, mask` and `match.all.sync.type d|p, a, mask`. */
const match: Row = {
  opcode: 'match',
  section,
  decode(modifiers, shape) {
    const mode = modifiers.oneOf('any', 'all');
    const sync = modifiers.flag('sync');
    const type = modifiers.type();
    if (!mode || !sync || (type?.name !== 'b32' && type?.name !== 'b64')) return null;
    const hasPredicate = shape?.[0]?.kind === 'pair';
    if (hasPredicate && mode === 'any') return null;
    return {
      results: hasPredicate ? [32, 'predicate'] : [32],
      sources: [type.bits as 32 | 64, 32],
      effect: { kind: 'warp-value', name: `match.${mode}`, sync: true },
      cost: 'sync',
    };
  },
};

const reductions = ['add', 'min', 'max', 'and', 'or', 'xor'] as const;

/** `redux.sync.op.type d, a, mask`. */
const reduce: Row = {
  opcode: 'redux',
  section,
  decode(modifiers) {
    const sync = modifiers.flag('sync');
    const operation = modifiers.oneOf(...reductions);
    const absolute = modifiers.flag('abs');
    const nan = modifiers.flag('NaN');
    const type = modifiers.type();
    if (!sync || !operation || !type || type.bits !== 32) return null;
    if (type.kind === 'float' ? operation !== 'min' && operation !== 'max' : absolute || nan) return null;
    const suffix = `${absolute ? '.abs' : ''}${nan ? '.NaN' : ''}`;
    return {
      results: [32],
      sources: [32, 32],
      effect: { kind: 'warp-value', name: `redux.${operation}${suffix}.${type.name}`, sync: true },
      cost: 'sync',
    };
  },
};

const activeMask: Row = {
  opcode: 'activemask',
  section,
  decode(modifiers) {
    if (modifiers.type()?.name !== 'b32') return null;
    return {
      results: [32],
      sources: [],
      effect: { kind: 'warp-value', name: 'activemask', sync: false },
      cost: 'sync',
    };
  },
};

/** `elect.sync d|p, mask`: the lane that is elected, and whether this thread is it. */
const elect: Row = {
  opcode: 'elect',
  section,
  decode(modifiers, shape) {
    if (!modifiers.flag('sync') || (shape && shape[0]?.kind !== 'pair')) return null;
    return {
      results: [32, 'predicate'],
      sources: [32],
      effect: { kind: 'warp-value', name: 'elect', sync: true },
      cost: 'sync',
    };
  },
};

export const warpRows: readonly Row[] = [shuffle, vote, match, reduce, activeMask, elect];
