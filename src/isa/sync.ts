/** Barriers and fences (PTX ISA 9.7.13). */
import type { Effect, Scope, ValueType } from './model/operation.ts';
import type { Modifiers, OperandShape, Row, Signature } from './model/row.ts';
import { uncomputed } from './model/row.ts';

function synchronize(effect: Effect, sources: readonly ValueType[], results: readonly ValueType[] = []): Signature {
  return { results, sources, effect, cost: 'sync' };
}

/** `bar{.cta}` and `barrier{.cta}`: operands are the barrier's number, a count of threads, a predicate to reduce. */
function barrier(opcode: 'bar' | 'barrier'): Row {
  const name = opcode === 'bar' ? 'bar{.cta}' : 'barrier{.cta}';
  const end = opcode === 'bar' ? '' : '{.aligned}';
  return {
    opcode,
    section: '9.7.13.1',
    forms: `${name}.sync${end} a{, b}; ${name}.arrive${end} a, b; ${name}.red.popc${end}.u32 d, a{, b}, {!}c; ${name}.red.op${end}.pred p, a{, b}, {!}c; .op = {.and, .or}`,
    treatment: 'exact',
    decode(modifiers, shape) {
      modifiers.flag('cta');
      const form = modifiers.oneOf('sync', 'arrive', 'red');
      const aligned = modifiers.flag('aligned') || opcode === 'bar';
      if (form === 'red') return barrierReduction(modifiers, shape, aligned);
      if (!form) return null;
      const operands = shape?.length ?? (form === 'sync' ? 1 : 2);
      if (operands < (form === 'arrive' ? 2 : 1) || operands > 2) return null;
      return synchronize({ kind: 'barrier', form, aligned }, operands === 2 ? [32, 32] : [32]);
    },
  };
}

const warpBarrier: Row = {
  opcode: 'bar',
  section: '9.7.13.2',
  forms: 'bar.warp.sync membermask',
  treatment: 'exact',
  decode(modifiers) {
    return modifiers.flag('warp') && modifiers.flag('sync') ? synchronize({ kind: 'warp-barrier' }, [32]) : null;
  },
};

/** `bar.red.popc.u32 d, a{, b}, {!}c` and `bar.red.and|or.pred p, a{, b}, {!}c`. */
function barrierReduction(modifiers: Modifiers, shape: OperandShape | undefined, aligned: boolean): Signature | null {
  const reduction = modifiers.oneOf('popc', 'and', 'or');
  if (!reduction || modifiers.type()?.name !== (reduction === 'popc' ? 'u32' : 'pred')) return null;
  const operands = shape?.length ?? 3;
  if (operands !== 3 && operands !== 4) return null;
  return synchronize({ kind: 'barrier', form: 'red', reduction, aligned }, operands === 4 ? [32, 32, 'predicate'] : [32, 'predicate'], [
    reduction === 'popc' ? 32 : 'predicate',
  ]);
}

const clusterBarrier: Row = {
  opcode: 'barrier',
  section: '9.7.13.3',
  forms: 'barrier.cluster.arrive{.sem}{.aligned}; barrier.cluster.wait{.acquire}{.aligned}; .sem = {.release, .relaxed}',
  treatment: 'exact',
  decode(modifiers) {
    if (!modifiers.flag('cluster')) return null;
    const form = modifiers.oneOf('arrive', 'wait');
    const natural = form === 'arrive' ? 'release' : 'acquire';
    const semantics = modifiers.oneOf('relaxed', natural) ?? natural;
    modifiers.flag('aligned');
    return form ? synchronize({ kind: 'cluster-barrier', form, semantics }, []) : null;
  },
};

const membarScopes: Readonly<Record<string, Scope>> = { cta: 'cta', gl: 'gpu', sys: 'sys' };

/** `membar.level` is `fence.sc` at the matching scope on sm_70 and later. */
const membar: Row = {
  opcode: 'membar',
  section: '9.7.13.4',
  forms: 'membar.level; .level = {.cta, .gl, .sys}',
  treatment: 'exact',
  decode(modifiers) {
    const level = modifiers.oneOf('cta', 'gl', 'sys');
    return level ? synchronize({ kind: 'fence', semantics: 'sc', scope: membarScopes[level]! }, []) : null;
  },
};

/** Fences between the proxies (generic, asynchronous, tensor map, alias); they order nothing else. */
function proxyFence(opcode: 'membar' | 'fence'): Row {
  return {
    opcode,
    section: '9.7.13.4',
    forms:
      opcode === 'membar'
        ? 'membar.proxy.kind'
        : 'fence.proxy.kind; fence.proxy.from::to.sem.scope{ [a], size}; .kind = {.alias, .async{.space}, .tensormap …}',
    treatment: 'exact',
    remark: 'runs know the generic proxy alone; proofs of `wgmma` need this fence behind generic writes',
    decode(modifiers, shape) {
      if (!modifiers.flag('proxy')) return null;
      const isAsyncFence = modifiers.flag('async');
      const rest = modifiers.rest();
      const reachesShared = rest.every((name) => /^shared(::cta|::cluster)?$/.test(name));
      const isAsync = isAsyncFence && reachesShared && { ordersAsyncShared: true as const };
      return uncomputed(shape, 0, { kind: 'fence', semantics: 'proxy', scope: 'sys', ...isAsync }, 'sync');
    },
  };
}

const fence: Row = {
  opcode: 'fence',
  section: '9.7.13.4',
  forms:
    'fence{.sem}.scope; fence.acquire.sync_restrict::space.cluster; fence.release.sync_restrict::space.cluster; fence.mbarrier_init.release.cluster; .sem = {.sc, .acq_rel, .acquire, .release}; .scope = {.cta, .cluster, .gpu, .sys}',
  treatment: 'exact',
  remark: 'forms restricted to a space or to the initialisation of mbarriers count as fences of that scope',
  decode(modifiers) {
    modifiers.matching(/^(mbarrier_init|sync_restrict::.*)$/);
    const semantics = modifiers.oneOf('sc', 'acq_rel', 'acquire', 'release') ?? 'acq_rel';
    const scope = modifiers.oneOf('cta', 'cluster', 'gpu', 'sys');
    return scope ? synchronize({ kind: 'fence', semantics, scope }, []) : null;
  },
};

export const syncRows: readonly Row[] = [
  barrier('bar'),
  warpBarrier,
  barrier('barrier'),
  clusterBarrier,
  membar,
  proxyFence('membar'),
  fence,
  proxyFence('fence'),
];
