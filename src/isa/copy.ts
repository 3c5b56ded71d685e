/** Copies that complete later: `cp.async`, `cp.async.bulk`, and stores into other blocks (PTX ISA 9.7.9.12, 9.7.9.25). */
import type { AsyncGroup, CopyEffect, ValueType } from './model/operation.ts';
import type { Modifiers, OperandShape, Row } from './model/row.ts';
import { takeCacheHints } from './memory.ts';
import { addressWidth, groupRow, noOperation, uncomputed, widthsOf } from './model/row.ts';

/** Groups of `cp.async`; `cp.async.mbarrier.arrive` announces their copies to an mbarrier. */
export const copyGroup: AsyncGroup = { name: 'cp.async', proxy: 'generic', participants: 'thread' };
const bulkGroup: AsyncGroup = { name: 'cp.async.bulk', proxy: 'async', participants: 'thread' };

/**
 * `cp.async.ca|cg.shared.global [d], [s], bytes[, from][, policy]`: `from` bytes (a number, or none if a predicate is
 * true) come from global memory, the others are zero.
 */
const copyAsync: Row = {
  opcode: 'cp',
  section: '9.7.9.25.3.1',
  forms:
    'cp.async.ca.shared{::cta}.global{.level::cache_hint}{.level::prefetch_size} [dst], [src], cp-size{, src-size}{, cache-policy}; cp.async.cg.…; a predicate ignore-src in place of src-size; cp-size = {4, 8, 16}',
  treatment: 'exact',
  readsLiterals: true,
  decode(modifiers, shape) {
    if (!modifiers.flag('async')) return null;
    const whole = modifiers.oneOf('ca', 'cg');
    if (!modifiers.oneOf('shared', 'shared::cta') || !modifiers.flag('global') || !whole) return null;
    const policy = takeCacheHints(modifiers);
    const bytes = shape?.[2]?.literal ?? (whole === 'cg' ? 16n : undefined);
    if (bytes !== 4n && bytes !== 8n && bytes !== 16n) return null;
    const to = addressWidth(shape, 0);
    const from = addressWidth(shape, 1);
    if (!to || !from) return null;
    const optional = (shape?.length ?? 3) - (policy ? 1 : 0) > 3 ? widthsOf(shape, 3, 32) : [];
    const sources: ValueType[] = [to, from, 32, ...optional, ...(policy ? [64 as const] : [])];
    const effect: CopyEffect = { kind: 'copy', to: 'shared', from: 'global', bytes: Number(bytes), completion: copyGroup };
    return { results: [], sources, effect, cost: 'memory' };
  },
};

const destinations: Readonly<Record<string, CopyEffect['to']>> = {
  global: 'global',
  'shared::cta': 'shared',
  'shared::cluster': 'cluster',
};

/** Reads the destination, source and completion modifiers, in the order of the text. */
function takeBulkSpaces(modifiers: Modifiers): Pick<CopyEffect, 'to' | 'from' | 'completion'> | null {
  const first = modifiers.oneOf(...Object.keys(destinations));
  const second = modifiers.oneOf('global', 'shared::cta');
  const completion = modifiers.oneOf('mbarrier::complete_tx::bytes', 'bulk_group');
  if (!first || !second || !completion || (first === 'global') !== (completion === 'bulk_group')) return null;
  if (second === 'global' ? first === 'global' : first === 'shared::cta') return null;
  return {
    to: destinations[first]!,
    from: second === 'global' ? 'global' : 'shared',
    completion: completion === 'bulk_group' ? bulkGroup : 'mbarrier',
  };
}

/** Sources: destination, source, bytes, the mbarrier, and the remaining operands. */
function bulkSources(effect: CopyEffect, shape: OperandShape | undefined, policy: boolean): readonly ValueType[] | null {
  const isTracked = effect.completion === 'mbarrier';
  const addresses = [0, 1, ...(isTracked ? [3] : [])].map((index) => addressWidth(shape, index));
  const [to, from, barrier] = addresses;
  if (!to || !from || barrier === null) return null;
  return [
    to,
    from,
    32,
    ...(barrier ? [barrier] : []),
    ...(effect.multicast ? [16 as const] : []),
    ...(policy ? [64 as const] : []),
    ...(effect.masked ? [16 as const] : []),
  ];
}

const bulkRemark = 'a race with the copy itself is not looked for';

const copyBulk: Row = {
  opcode: 'cp',
  section: '9.7.9.25.4.1',
  forms:
    'cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.level::cache_hint} [dst], [src], size, [mbar]{, cache-policy}; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.multicast::cluster}{.level::cache_hint} [dst], [src], size, [mbar]{, ctaMask}{, cache-policy}; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dst], [src], size, [mbar]; cp.async.bulk.global.shared::cta.bulk_group{.level::cache_hint}{.cp_mask} [dst], [src], size{, cache-policy}{, byteMask}',
  treatment: 'exact',
  remark: bulkRemark,
  decode(modifiers, shape) {
    if (!modifiers.flag('async') || !modifiers.flag('bulk')) return null;
    const spaces = takeBulkSpaces(modifiers);
    if (!spaces) return null;
    const multicast = modifiers.flag('multicast::cluster');
    const policy = takeCacheHints(modifiers);
    const effect: CopyEffect = { kind: 'copy', ...spaces, bytes: null, multicast, masked: modifiers.flag('cp_mask') };
    const sources = bulkSources(effect, shape, policy);
    return sources && { results: [], sources, effect, cost: 'memory' };
  },
};

const bulkOperations = ['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'] as const;

const reduceBulk: Row = {
  opcode: 'cp',
  section: '9.7.9.25.4.2',
  forms:
    'cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.redOp.type [dst], [src], size, [mbar]; cp.reduce.async.bulk.global.shared::cta.bulk_group{.level::cache_hint}.redOp{.noftz}.type [dst], [src], size{, cache-policy}; .redOp = {.and, .or, .xor, .add, .inc, .dec, .min, .max}; .type = {.f16, .bf16, .b32, .u32, .s32, .b64, .u64, .s64, .f32, .f64}',
  treatment: 'exact',
  remark: bulkRemark,
  decode(modifiers, shape) {
    if (!modifiers.flag('reduce') || !modifiers.flag('async') || !modifiers.flag('bulk')) return null;
    const spaces = takeBulkSpaces(modifiers);
    const operation = modifiers.oneOf(...bulkOperations);
    modifiers.flag('noftz');
    const policy = takeCacheHints(modifiers);
    const type = modifiers.type();
    if (!spaces || spaces.from !== 'shared' || !operation || !type) return null;
    const reduction = { operation, type: type.name };
    const effect: CopyEffect = { kind: 'copy', ...spaces, bytes: null, reduction };
    const sources = bulkSources(effect, shape, policy);
    return sources && { results: [], sources, effect, cost: 'memory' };
  },
};

/** Prefetches memory into a cache; has no effect that a kernel can observe. */
const prefetchBulk: Row = {
  opcode: 'cp',
  section: '9.7.9.25.4.3',
  forms: 'cp.async.bulk.prefetch.L2.global{.level::cache_hint} [src], size{, cache-policy}; cp.async.bulk.prefetch.tensor.…',
  treatment: 'exact',
  remark: 'changes nothing',
  decode(modifiers, shape) {
    if (!modifiers.flag('async') || !modifiers.flag('bulk') || !modifiers.flag('prefetch')) return null;
    modifiers.rest();
    return noOperation(uncomputed(shape, 0, { kind: 'pure' }, 'memory').sources, 'memory');
  },
};

/** Tensor copies: a tensor map determines the accessed elements, and is not read here. */
function copyTensor(section: string, forms: string, opcode: 'async' | 'reduce'): Row {
  return {
    opcode: 'cp',
    section,
    forms,
    treatment: 'opaque',
    decode(modifiers, shape) {
      const rest = modifiers.rest();
      if (!rest.includes('bulk') || !rest.includes('tensor') || rest[0] !== opcode) return null;
      return uncomputed(shape, 0, { kind: 'opaque', reason: 'bulk asynchronous copy of a tensor' }, 'memory');
    },
  };
}

/** Operations that access shared memory of other blocks, or fill it by another engine. */
function remote(opcode: 'st' | 'red' | 'ld' | 'atom', section: string, forms: string, mark: RegExp, reason: string): Row {
  return {
    opcode,
    section,
    forms,
    treatment: 'opaque',
    decode(modifiers, shape) {
      if (!modifiers.rest().some((name) => mark.test(name))) return null;
      const results = opcode === 'ld' || opcode === 'atom' ? 1 : 0;
      return uncomputed(shape, results, { kind: 'opaque', reason }, 'memory');
    },
  };
}

const clusterReason = 'shared memory of another block of the cluster';

export const copyRows: readonly Row[] = [
  groupRow('9.7.9.25.3.2', 'cp.async.commit_group', copyGroup),
  groupRow('9.7.9.25.3.3', 'cp.async.wait_group N; cp.async.wait_all', copyGroup),
  copyAsync,
  groupRow('9.7.9.25.6.1', 'cp.async.bulk.commit_group', bulkGroup),
  groupRow('9.7.9.25.6.2', 'cp.async.bulk.wait_group{.read} N', bulkGroup),
  prefetchBulk,
  copyBulk,
  reduceBulk,
  copyTensor('9.7.9.25.5.2', 'cp.async.bulk.tensor.…', 'async'),
  copyTensor('9.7.9.25.5.3', 'cp.reduce.async.bulk.tensor.…', 'reduce'),
  remote(
    'st',
    '9.7.9.12',
    'st.async{.sem}{.scope}{.ss}.completion_mechanism{.vec}.type [a], b, [mbar]; st.async.mmio.…',
    /^async$/,
    clusterReason,
  ),
  remote('st', '9.7.9.13', 'st.bulk{.weak}{.shared{::cta}} [a], size, 0', /^bulk$/, 'bulk store'),
  remote('red', '9.7.13.7', 'red.async.sem.scope{.ss}.completion_mechanism.op.type [a], b, [mbar]', /^async$/, clusterReason),
  remote('ld', '9.7.9.8', 'ld….shared::cluster….type d, [a]', /^shared::cluster$/, clusterReason),
  remote('st', '9.7.9.11', 'st….shared::cluster….type [a], b', /^shared::cluster$/, clusterReason),
  remote('atom', '9.7.13.5', 'atom….shared::cluster….type d, [a], b{, c}', /^shared::cluster$/, clusterReason),
  remote('red', '9.7.13.6', 'red….shared::cluster….type [a], b', /^shared::cluster$/, clusterReason),
];
