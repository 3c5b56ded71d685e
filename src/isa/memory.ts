/** Loads, stores, atomics and hints to the memory system (PTX ISA 9.7.9 and 9.7.13). */
import type { Width } from './domain.ts';
import type { Effect, Scope, Semantics, StateSpace, ValueType } from './operation.ts';
import type { Modifiers, OperandShape, Row, Signature, TypeInformation } from './row.ts';
import { addressWidth, noOperation, uncomputed, widthsOf } from './row.ts';

const dataMovement = '9.7.9';
const synchronization = '9.7.13';

const spaces: Readonly<Record<string, StateSpace>> = {
  global: 'global',
  shared: 'shared',
  'shared::cta': 'shared',
  local: 'local',
  const: 'const',
  param: 'param',
  'param::entry': 'param',
  'param::func': 'param',
};

function takeSpace(modifiers: Modifiers): StateSpace {
  const name = modifiers.oneOf(...Object.keys(spaces));
  return name === undefined ? 'generic' : spaces[name]!;
}

const scopeNames = ['cta', 'cluster', 'gpu', 'sys'] as const;

const cacheHint = /^(L1|L2)::(evict_\w+|no_allocate|64B|128B|256B)$|^(ca|cg|cs|lu|cv|wb|wt|unified)$/;

/** Takes what only concerns caches; whether there is a cache policy among the operands. */
function takeCacheHints(modifiers: Modifiers): boolean {
  while (modifiers.matching(cacheHint) !== undefined);
  return modifiers.flag('L2::cache_hint');
}

/** How strong the access is; `default` where nothing is written. Null for combinations that do not exist. */
function takeSemantics(
  modifiers: Modifiers,
  allowed: readonly Semantics[],
  otherwise: { readonly semantics: Semantics; readonly scope: Scope },
): { readonly semantics: Semantics; readonly scope: Scope } | null {
  const mmio = modifiers.flag('mmio');
  const semantics = modifiers.oneOf(...allowed);
  const scope = modifiers.oneOf(...scopeNames);
  if (mmio) return semantics === 'relaxed' && scope === 'sys' ? { semantics: 'mmio', scope } : null;
  if (semantics === undefined) return { semantics: otherwise.semantics, scope: scope ?? otherwise.scope };
  if (semantics === 'volatile') return scope ? null : { semantics, scope: 'sys' };
  return { semantics, scope: scope ?? otherwise.scope };
}

const weakCta = { semantics: 'weak', scope: 'cta' } as const;

function vectorLanes(modifiers: Modifiers): number {
  return Number(modifiers.oneOf('v2', 'v4', 'v8')?.slice(1) ?? 1);
}

/** Widths of the registers of a loaded or stored value of `lanes`, each at least as wide as the type; else null. */
function laneWidths(
  shape: OperandShape | undefined,
  index: number,
  lanes: number,
  type: TypeInformation,
): readonly Width[] | null {
  const width = type.bits as Width;
  const form = shape?.[index];
  if (!form) return Array.from({ length: lanes }, () => width);
  if (form.widths.length !== lanes || lanes > 1 !== (form.kind === 'vector')) return null;
  const widths = form.widths.map((declared) => declared ?? width);
  if (widths.some((declared) => declared === 'predicate' || declared < width)) return null;
  return widths as readonly Width[];
}

function accessType(modifiers: Modifiers): TypeInformation | null {
  const type = modifiers.type();
  return type && type.kind !== 'predicate' && type.lanes === 1 ? type : null;
}

/** `ld`, `ldu`: the value of each lane, extended to its register. */
function load(opcode: 'ld' | 'ldu'): Row {
  return {
    opcode,
    section: dataMovement,
    decode(modifiers, shape) {
      const nonCoherent = modifiers.flag('nc') || opcode === 'ldu';
      const order = takeSemantics(modifiers, ['weak', 'volatile', 'relaxed', 'acquire'], weakCta);
      const space = takeSpace(modifiers);
      const policy = takeCacheHints(modifiers);
      const lanes = vectorLanes(modifiers);
      const type = accessType(modifiers);
      if (!order || !type) return null;
      const results = laneWidths(shape, 0, lanes, type);
      const address = addressWidth(shape, 1);
      if (!results || !address || (nonCoherent && order.semantics !== 'weak')) return null;
      const extend = type.kind === 'signed' ? 'sign' : 'zero';
      return {
        results,
        sources: policy ? [address, 64] : [address],
        effect: { kind: 'load', space, bytes: type.bits / 8, lanes, extend, ...order, nonCoherent },
        cost: space === 'param' ? 'free' : 'memory',
      };
    },
  };
}

const store: Row = {
  opcode: 'st',
  section: dataMovement,
  decode(modifiers, shape) {
    const order = takeSemantics(modifiers, ['weak', 'volatile', 'relaxed', 'release'], weakCta);
    const space = takeSpace(modifiers);
    const policy = takeCacheHints(modifiers);
    const lanes = vectorLanes(modifiers);
    const type = accessType(modifiers);
    if (!order || !type || space === 'const') return null;
    const values = laneWidths(shape, 1, lanes, type);
    const address = addressWidth(shape, 0);
    if (!values || !address) return null;
    return {
      results: [],
      sources: policy ? [address, ...values, 64] : [address, ...values],
      effect: { kind: 'store', space, bytes: type.bits / 8, lanes, ...order },
      cost: space === 'param' ? 'free' : 'memory',
    };
  },
};

const atomicOperations = ['add', 'min', 'max', 'inc', 'dec', 'exch', 'cas', 'and', 'or', 'xor'] as const;

/** `atom` returns the old value; `red` does not. Default: relaxed at gpu scope (PTX ISA 9.7.13). */
function atomic(opcode: 'atom' | 'red'): Row {
  return {
    opcode,
    section: synchronization,
    decode(modifiers, shape) {
      const relaxed = { semantics: 'relaxed', scope: 'gpu' } as const;
      const order = takeSemantics(modifiers, ['relaxed', 'acquire', 'release', 'acq_rel'], relaxed);
      const space = takeSpace(modifiers);
      const operation = modifiers.oneOf(...atomicOperations);
      modifiers.flag('noftz');
      const policy = takeCacheHints(modifiers);
      const lanes = vectorLanes(modifiers);
      const type = modifiers.type();
      const returns = opcode === 'atom';
      if (!order || !operation || !type || type.bits < 16 || type.kind === 'predicate') return null;
      if (space !== 'generic' && space !== 'global' && space !== 'shared') return null;
      if (!returns && (operation === 'exch' || operation === 'cas')) return null;
      const width = type.bits as Width;
      const address = addressWidth(shape, returns ? 1 : 0);
      if (!address) return null;
      const value: Width[] = Array.from({ length: lanes }, () => width);
      const effect: Effect = {
        kind: 'atomic',
        space,
        operation,
        type: type.name,
        bytes: width / 8,
        lanes,
        ...order,
        returns,
      };
      const sources: ValueType[] = [
        address,
        ...value,
        ...(operation === 'cas' ? value : []),
        ...(policy ? [64 as const] : []),
      ];
      return { results: returns ? value : [], sources, effect, cost: 'memory' };
    },
  };
}

/** Hints that neither read nor write what a kernel can see. */
function hint(opcode: 'prefetch' | 'prefetchu' | 'applypriority'): Row {
  return {
    opcode,
    section: dataMovement,
    decode(modifiers, shape): Signature | null {
      takeSpace(modifiers);
      if (!modifiers.matching(/^(L1|L2|tensormap|L2::evict_\w+)$/)) return null;
      return noOperation(uncomputed(shape, 0, { kind: 'pure' }, 'memory').sources, 'memory');
    },
  };
}

/** The lines that `discard` names hold anything afterwards. */
const discard: Row = {
  opcode: 'discard',
  section: dataMovement,
  decode(modifiers, shape) {
    modifiers.rest();
    return uncomputed(shape, 0, { kind: 'opaque', reason: 'discard leaves undefined values in memory' }, 'memory');
  },
};

const createPolicy: Row = {
  opcode: 'createpolicy',
  section: dataMovement,
  decode(modifiers, shape) {
    modifiers.rest();
    return uncomputed(shape, 1, { kind: 'havoc', reason: 'cache policy' }, 'integer', 64);
  },
};

/**
 * `cp.async.ca|cg.shared.global [d], [s], bytes[, from][, policy]`: `from` bytes (a number, or none where a predicate
 * is true) come from global memory, the others are zero.
 */
const copyAsync: Row = {
  opcode: 'cp',
  section: dataMovement,
  decode(modifiers, shape) {
    if (!modifiers.flag('async')) return null;
    if (modifiers.flag('commit_group')) return wait('commit', []);
    if (modifiers.flag('wait_all')) return wait('wait-all', []);
    if (modifiers.flag('wait_group')) return wait('wait-group', [32]);
    if (modifiers.flag('mbarrier')) {
      if (!modifiers.flag('arrive')) return null;
      modifiers.flag('noinc');
      takeSpace(modifiers);
      if (!modifiers.flag('b64')) return null;
      return uncomputed(shape, 0, { kind: 'mbarrier', name: 'cp.async.arrive' }, 'sync');
    }
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
    return { results: [], sources, effect: { kind: 'async-copy', bytes: Number(bytes) }, cost: 'memory' };
  },
};

function wait(form: 'commit' | 'wait-group' | 'wait-all', sources: readonly ValueType[]): Signature {
  return { results: [], sources, effect: { kind: 'async-wait', form }, cost: 'sync' };
}

/** `cp.async.bulk…`, `cp.reduce.async.bulk…`: copies by other engines, ordered by mbarriers and proxies. */
const copyBulk: Row = {
  opcode: 'cp',
  section: dataMovement,
  decode(modifiers, shape) {
    const bulk = modifiers.rest().includes('bulk');
    return bulk ? uncomputed(shape, 0, { kind: 'opaque', reason: 'bulk asynchronous copy' }, 'memory') : null;
  },
};

export const memoryRows: readonly Row[] = [
  load('ld'),
  load('ldu'),
  store,
  atomic('atom'),
  atomic('red'),
  hint('prefetch'),
  hint('prefetchu'),
  hint('applypriority'),
  discard,
  createPolicy,
  copyAsync,
  copyBulk,
];
