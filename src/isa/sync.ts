/** Barriers, fences and mbarriers (PTX ISA 9.7.13). */
import type { Effect, Scope, ValueType } from './operation.ts';
import type { Modifiers, OperandShape, Row, Signature } from './row.ts';
import { uncomputed } from './row.ts';

const section = '9.7.13';

function synchronize(effect: Effect, sources: readonly ValueType[], results: readonly ValueType[] = []): Signature {
  return { results, sources, effect, cost: 'sync' };
}

/** `bar{.cta}` and `barrier{.cta}`: operands are the barrier's number, a count of threads, a predicate to reduce. */
function barrier(opcode: 'bar' | 'barrier'): Row {
  return {
    opcode,
    section,
    decode(modifiers, shape) {
      if (opcode === 'barrier' && modifiers.flag('cluster')) return clusterBarrier(modifiers);
      if (opcode === 'bar' && modifiers.flag('warp')) {
        return modifiers.flag('sync') ? synchronize({ kind: 'warp-barrier' }, [32]) : null;
      }
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

/** `bar.red.popc.u32 d, a{, b}, {!}c` and `bar.red.and|or.pred p, a{, b}, {!}c`. */
function barrierReduction(modifiers: Modifiers, shape: OperandShape | undefined, aligned: boolean): Signature | null {
  const reduction = modifiers.oneOf('popc', 'and', 'or');
  if (!reduction || modifiers.type()?.name !== (reduction === 'popc' ? 'u32' : 'pred')) return null;
  const operands = shape?.length ?? 3;
  if (operands !== 3 && operands !== 4) return null;
  return synchronize(
    { kind: 'barrier', form: 'red', reduction, aligned },
    operands === 4 ? [32, 32, 'predicate'] : [32, 'predicate'],
    [reduction === 'popc' ? 32 : 'predicate'],
  );
}

function clusterBarrier(modifiers: Modifiers): Signature | null {
  const form = modifiers.oneOf('arrive', 'wait');
  modifiers.oneOf('acquire', 'release', 'relaxed');
  modifiers.flag('aligned');
  return form ? synchronize({ kind: 'cluster-barrier', form }, []) : null;
}

const membarScopes: Readonly<Record<string, Scope>> = { cta: 'cta', gl: 'gpu', sys: 'sys' };

/** `membar.level` is `fence.sc` at the matching scope on sm_70 and later. */
const memoryBarrier: Row = {
  opcode: 'membar',
  section,
  decode(modifiers, shape) {
    if (modifiers.flag('proxy')) return proxyFence(modifiers, shape);
    const level = modifiers.oneOf('cta', 'gl', 'sys');
    return level ? synchronize({ kind: 'fence', semantics: 'sc', scope: membarScopes[level]! }, []) : null;
  },
};

function proxyFence(modifiers: Modifiers, shape: OperandShape | undefined): Signature {
  modifiers.rest();
  return uncomputed(shape, 0, { kind: 'fence', semantics: 'proxy', scope: 'sys' }, 'sync');
}

const fence: Row = {
  opcode: 'fence',
  section,
  decode(modifiers, shape) {
    if (modifiers.flag('proxy')) return proxyFence(modifiers, shape);
    // `fence.mbarrier_init.release.cluster` and `fence.acquire.sync_restrict::…`: narrower forms of the same.
    modifiers.matching(/^(mbarrier_init|sync_restrict::.*)$/);
    const semantics = modifiers.oneOf('sc', 'acq_rel', 'acquire', 'release') ?? 'acq_rel';
    const scope = modifiers.oneOf('cta', 'cluster', 'gpu', 'sys');
    return scope ? synchronize({ kind: 'fence', semantics, scope }, []) : null;
  },
};

/** Forms with a result in the first operand. */
const mbarrierResults: Readonly<Record<string, boolean>> = {
  init: false,
  inval: false,
  expect_tx: false,
  complete_tx: false,
  arrive: true,
  arrive_drop: true,
  test_wait: true,
  try_wait: true,
  pending_count: true,
};

const mbarrier: Row = {
  opcode: 'mbarrier',
  section,
  decode(modifiers, shape) {
    const name = modifiers.oneOf(...Object.keys(mbarrierResults));
    if (!name) return null;
    modifiers.rest();
    // `mbarrier.arrive` on another block's barrier has no result.
    const hasResult = mbarrierResults[name]! && shape?.[0]?.kind !== 'address';
    const predicate = name === 'test_wait' || name === 'try_wait';
    const signature = uncomputed(shape, hasResult ? 1 : 0, { kind: 'mbarrier', name }, 'sync', 64);
    return predicate ? { ...signature, results: ['predicate'] } : signature;
  },
};

export const syncRows: readonly Row[] = [barrier('bar'), barrier('barrier'), memoryBarrier, fence, mbarrier];
