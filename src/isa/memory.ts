/** Loads, stores, atomics and hints to the memory system (PTX ISA 9.7.9.8 to 9.7.9.18, 9.7.13.5, 9.7.13.6). */
import type { Width } from './model/domain.ts';
import type { Effect, Scope, Semantics, StateSpace, ValueType } from './model/operation.ts';
import type { Modifiers, OperandShape, Row, Signature, TypeInformation } from './model/row.ts';
import { addressWidth, noOperation, uncomputed } from './model/row.ts';

const stateSpaces: Readonly<Record<string, StateSpace>> = {
  global: 'global',
  shared: 'shared',
  'shared::cta': 'shared',
  local: 'local',
  const: 'const',
  param: 'param',
  'param::entry': 'param',
  'param::func': 'param',
};

/** Reads the state space; generic if unspecified. */
function takeSpace(modifiers: Modifiers): StateSpace {
  const name = modifiers.oneOf(...Object.keys(stateSpaces));
  return name === undefined ? 'generic' : stateSpaces[name]!;
}

const scopeNames = ['cta', 'cluster', 'gpu', 'sys'] as const;

const cacheHint = /^(L1|L2)::(evict_\w+|no_allocate|64B|128B|256B)$|^(ca|cg|cs|lu|cv|wb|wt|unified)$/;

/** Reads modifiers that only concern caches. @returns whether the operands include a cache policy */
export function takeCacheHints(modifiers: Modifiers): boolean {
  while (modifiers.matching(cacheHint) !== undefined);
  return modifiers.flag('L2::cache_hint');
}

/** Reads the semantics of the access; `default` if unspecified. Null for combinations that do not exist. */
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

/**
 * Widths of the registers of a loaded or stored value of `lanes`, each at least as wide as the type; null if a register
 * is too narrow, or the number of registers differs.
 */
function laneWidths(shape: OperandShape | undefined, index: number, lanes: number, type: TypeInformation): readonly Width[] | null {
  const width = type.bits as Width;
  const form = shape?.[index];
  if (!form) return Array.from({ length: lanes }, () => width);
  // ptxas accepts a vector of one element as a scalar: `st.global.b32 [a], {%r1}`, which Triton emits.
  if (form.widths.length !== lanes || (lanes > 1 && form.kind !== 'vector')) return null;
  const widths = form.widths.map((declared) => declared ?? width);
  if (widths.some((declared) => declared === 'predicate' || declared < width)) return null;
  return widths as readonly Width[];
}

function accessType(modifiers: Modifiers): TypeInformation | null {
  const type = modifiers.type();
  return type && type.kind !== 'predicate' && type.lanes === 1 ? type : null;
}

const accessTypes =
  '.vec = {.v2, .v4, .v8}; .type = {.b8, .b16, .b32, .b64, .b128, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f32, .f64}';
const hints = '{.cop}{.level::eviction_priority}{.level::cache_hint}{.level::prefetch_size}';
const strong = '.scope = {.cta, .cluster, .gpu, .sys}';

/** `ld`, `ld.global.nc`, `ldu`: the value of each lane, extended to its register. */
function load(opcode: 'ld' | 'ldu', nonCoherent: boolean, section: string, forms: string): Row {
  return {
    opcode,
    section,
    forms: `${forms}; ${accessTypes}`,
    treatment: 'exact',
    ...(opcode === 'ld' && { remark: 'cache operators and hints change nothing' }),
    decode(modifiers, shape) {
      if (opcode === 'ld' && modifiers.flag('nc') !== nonCoherent) return null;
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
  section: '9.7.9.11',
  forms: `st{.weak, .volatile}{.ss}${hints}{.vec}.type [a], b; st.sem.scope{.ss}…; st.mmio.relaxed.sys{.global}.type [a], b; .sem = {.relaxed, .release}; ${strong}; .ss = {.global, .shared{::cta}, .local, .param{::func}}; ${accessTypes}`,
  treatment: 'exact',
  remark: 'cache operators and hints change nothing',
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
  const operands = opcode === 'atom' ? 'd, [a], b{, c}' : '[a], b';
  return {
    opcode,
    section: opcode === 'atom' ? '9.7.13.5' : '9.7.13.6',
    forms: `${opcode}{.sem}{.scope}{.space}.op{.noftz}{.level::cache_hint}{.vec}.type ${operands}; .op = {.add, .min, .max, .inc, .dec, .and, .or, .xor${opcode === 'atom' ? ', .exch, .cas' : ''}}; .sem = {.relaxed, .acquire, .release, .acq_rel}; ${strong}; .space = {.global, .shared{::cta}}; .vec = {.v2, .v4, .v8}; .type = {.b16, .b32, .b64, .b128, .u32, .s32, .u64, .s64, .f16, .f16x2, .bf16, .bf16x2, .f32, .f64}`,
    treatment: 'exact',
    remark: 'each lane of a packed or vector form is atomic of its own; the order of floating-point sums is that of the schedule',
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
      const sources: ValueType[] = [address, ...value, ...(operation === 'cas' ? value : []), ...(policy ? [64 as const] : [])];
      return { results: returns ? value : [], sources, effect, cost: 'memory' };
    },
  };
}

/** Hints that neither read nor write memory as visible to a kernel. */
function hint(opcode: 'prefetch' | 'prefetchu' | 'applypriority', section: string, forms: string): Row {
  return {
    opcode,
    section,
    forms,
    treatment: 'exact',
    remark: 'changes nothing',
    decode(modifiers, shape): Signature | null {
      takeSpace(modifiers);
      if (!modifiers.matching(/^(L1|L2|tensormap|L2::evict_\w+)$/)) return null;
      return noOperation(uncomputed(shape, 0, { kind: 'pure' }, 'memory').sources, 'memory');
    },
  };
}

/** After `discard`, the contents of the named lines are undefined. */
const discard: Row = {
  opcode: 'discard',
  section: '9.7.9.17',
  forms: 'discard{.global}.L2 [a], 128',
  treatment: 'opaque',
  decode(modifiers, shape) {
    modifiers.rest();
    return uncomputed(shape, 0, { kind: 'opaque', reason: 'discard leaves undefined values in memory' }, 'memory');
  },
};

const createPolicy: Row = {
  opcode: 'createpolicy',
  section: '9.7.9.18',
  forms:
    'createpolicy.range{.global}.level::primary{.level::secondary}.b64 d, [a], b, c; createpolicy.fractional.level::primary{.level::secondary}.b64 d{, fraction}; createpolicy.cvt.L2.b64 d, a',
  treatment: 'havoc',
  remark: 'policies only concern caches',
  decode(modifiers, shape) {
    modifiers.rest();
    return uncomputed(shape, 1, { kind: 'havoc', reason: 'cache policy' }, 'integer', 64);
  },
};

export const memoryRows: readonly Row[] = [
  load(
    'ld',
    false,
    '9.7.9.8',
    `ld{.weak, .volatile}{.ss}${hints}{.vec}.type d, [a]; ld.sem.scope{.ss}…; ld.mmio.relaxed.sys{.global}.type d, [a]; .sem = {.relaxed, .acquire}; ${strong}; .ss = {.global, .shared{::cta}, .local, .const, .param{::entry, ::func}}`,
  ),
  load('ld', true, '9.7.9.9', `ld.global${hints}.nc{.vec}.type d, [a]`),
  load('ldu', true, '9.7.9.10', 'ldu{.global}{.vec}.type d, [a]'),
  store,
  atomic('atom'),
  atomic('red'),
  hint(
    'prefetch',
    '9.7.9.15',
    'prefetch{.global, .local}.level [a]; prefetch.global.level::eviction_priority [a]; prefetch{.const, .param}.tensormap [a]; .level = {.L1, .L2}',
  ),
  hint('prefetchu', '9.7.9.15', 'prefetchu.L1 [a]'),
  hint('applypriority', '9.7.9.16', 'applypriority{.global}.L2::evict_normal [a], 128'),
  discard,
  createPolicy,
];
