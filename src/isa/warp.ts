/** Instructions whose threads are the lanes of a warp (PTX ISA 9.7.9 shfl, 9.7.13 vote, match, redux, elect). */
import type { Row } from './model/row.ts';

const laneRemark = 'a source lane that does not take part gives the reader its own value (the ISA leaves it open)';

/** `shfl.sync.mode.b32 d|p, a, b, c, mask`; without `.sync` the mask is absent. */
const shuffle = (sync: boolean): Row => ({
  opcode: 'shfl',
  section: sync ? '9.7.9.6' : '9.7.9.5',
  forms: `shfl${sync ? '.sync' : ''}.mode.b32 d[|p], a, b, c${sync ? ', membermask' : ''}; .mode = {.up, .down, .bfly, .idx}`,
  treatment: 'exact',
  remark: sync ? laneRemark : `deprecated; not on sm_70 and later; ${laneRemark}`,
  decode(modifiers, shape) {
    if (modifiers.flag('sync') !== sync) return null;
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
});

/** `vote.sync.mode d, {!}a, mask`. */
const vote = (sync: boolean): Row => ({
  opcode: 'vote',
  section: sync ? '9.7.13.9' : '9.7.13.8',
  forms: `vote${sync ? '.sync' : ''}.mode.pred d, {!}a${sync ? ', membermask' : ''}; vote${sync ? '.sync' : ''}.ballot.b32 d, {!}a${sync ? ', membermask' : ''}; .mode = {.all, .any, .uni}`,
  treatment: 'exact',
  ...(!sync && { remark: 'deprecated; not on sm_70 and later' }),
  decode(modifiers) {
    if (modifiers.flag('sync') !== sync) return null;
    const mode = modifiers.oneOf('all', 'any', 'uni', 'ballot');
    if (!mode || modifiers.type()?.name !== (mode === 'ballot' ? 'b32' : 'pred')) return null;
    return {
      results: [mode === 'ballot' ? 32 : 'predicate'],
      sources: sync ? ['predicate', 32] : ['predicate'],
      effect: { kind: 'vote', mode, sync },
      cost: 'sync',
    };
  },
});

/** `match.any.sync.type d, a, mask` and `match.all.sync.type d|p, a, mask`. */
const match: Row = {
  opcode: 'match',
  section: '9.7.13.10',
  forms: 'match.any.sync.type d, a, membermask; match.all.sync.type d[|p], a, membermask; .type = {.b32, .b64}',
  treatment: 'exact',
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
  section: '9.7.13.12',
  forms:
    'redux.sync.op.type d, a, membermask; redux.sync.op.b32 d, a, membermask; redux.sync.op{.abs}{.NaN}.f32 d, a, membermask; .op = {.add, .min, .max} of {.u32, .s32}, {.and, .or, .xor} of .b32, {.min, .max} of .f32',
  treatment: 'exact',
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
  section: '9.7.13.11',
  forms: 'activemask.b32 d',
  treatment: 'exact',
  remark: 'the threads that the machine runs together, which the hardware may choose otherwise',
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
  section: '9.7.13.14',
  forms: 'elect.sync d|p, membermask',
  treatment: 'exact',
  remark: 'the lowest lane is elected (the ISA leaves it open)',
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

export const warpRows: readonly Row[] = [shuffle(true), shuffle(false), vote(true), vote(false), match, reduce, activeMask, elect];
