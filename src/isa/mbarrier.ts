/** Barriers in shared memory: `mbarrier.*` and `cp.async.mbarrier.arrive` (PTX ISA 9.7.13.15). */
import type { MbarrierEffect, ValueType } from './model/operation.ts';
import type { Modifiers, OperandShape, Row, Signature } from './model/row.ts';
import { copyGroup } from './copy.ts';
import { addressWidth } from './model/row.ts';

const spaces: Readonly<Record<string, MbarrierEffect['space']>> = {
  shared: 'shared',
  'shared::cta': 'shared',
  'shared::cluster': 'cluster',
};

function takeSpace(modifiers: Modifiers): MbarrierEffect['space'] {
  return spaces[modifiers.oneOf(...Object.keys(spaces)) ?? ''] ?? 'generic';
}

/** An mbarrier effect, given by its differences from a default one. */
function effectOf(form: MbarrierEffect['form'], space: MbarrierEffect['space'], more: Partial<MbarrierEffect> = {}): MbarrierEffect {
  return {
    kind: 'mbarrier',
    form,
    space,
    semantics: 'relaxed',
    scope: 'cta',
    noComplete: false,
    counted: false,
    expectTx: false,
    parity: false,
    noIncrement: false,
    ...more,
  };
}

function synchronize(effect: MbarrierEffect, sources: readonly ValueType[], results: readonly ValueType[] = []): Signature {
  return { results, sources, effect, cost: 'sync' };
}

/** Reads `.sem.scope`, which are both present or both absent. */
function takeOrder<Semantics extends MbarrierEffect['semantics']>(
  modifiers: Modifiers,
  otherwise: Semantics,
): { readonly semantics: Semantics | 'relaxed'; readonly scope: 'cta' | 'cluster' } {
  const semantics = modifiers.oneOf<Semantics | 'relaxed'>(otherwise, 'relaxed') ?? otherwise;
  return { semantics, scope: modifiers.oneOf('cta', 'cluster') ?? 'cta' };
}

interface Form {
  readonly name: string;
  readonly section: string;
  readonly forms: string;
  readonly remark?: string;
  readonly decode: (modifiers: Modifiers, shape: OperandShape | undefined) => Signature | null;
}

function mbarrier({ name, section, forms, remark, decode }: Form): Row {
  return {
    opcode: 'mbarrier',
    section,
    forms,
    treatment: 'exact',
    ...(remark && { remark }),
    decode: (modifiers, shape) => {
      if (!modifiers.flag(name)) return null;
      const signature = decode(modifiers, shape);
      return modifiers.flag('b64') ? signature : null;
    },
  };
}

/** `mbarrier.arrive` and `mbarrier.arrive_drop`: an arrival at another block's barrier has no result. */
function arrival(form: 'arrive' | 'arrive_drop', section: string): Row {
  const name = `mbarrier.${form}`;
  return mbarrier({
    name: form,
    section,
    forms: `${name}{.sem.scope}{.shared{::cta, ::cluster}}.b64 state, [addr]{, count}; ${name}.expect_tx{.sem.scope}{.space}.b64 state, [addr], txCount; ${name}.noComplete{.release.cta}{.shared{::cta}}.b64 state, [addr], count; .sem = {.release, .relaxed}; .scope = {.cta, .cluster}`,
    remark: 'the state is the word of the barrier before the arrival (the ISA leaves it open)',
    decode: (modifiers, shape) => {
      const expectTx = modifiers.flag('expect_tx');
      const noComplete = modifiers.flag('noComplete');
      const order = takeOrder(modifiers, 'release');
      const space = takeSpace(modifiers);
      const hasResult = shape?.[0]?.kind !== 'address';
      const at = hasResult ? 1 : 0;
      const address = addressWidth(shape, at);
      if (!address) return null;
      const hasCount = (shape?.length ?? at + 1) > at + 1;
      if (expectTx && !hasCount && shape) return null;
      const effect = effectOf(form, space, { ...order, noComplete, expectTx, counted: hasCount && !expectTx });
      return synchronize(effect, hasCount || expectTx ? [address, 32] : [address], hasResult ? [64] : []);
    },
  });
}

function transaction(form: 'expect_tx' | 'complete_tx', section: string): Row {
  return mbarrier({
    name: form,
    section,
    forms: `mbarrier.${form}{.relaxed.scope}{.shared{::cta, ::cluster}}.b64 [addr], txCount; .scope = {.cta, .cluster}`,
    decode: (modifiers, shape) => {
      const order = takeOrder(modifiers, 'relaxed');
      const address = addressWidth(shape, 0);
      return address && synchronize(effectOf(form, takeSpace(modifiers), order), [address, 32]);
    },
  });
}

function wait(form: 'test_wait' | 'try_wait'): Row {
  const hint = form === 'try_wait' ? '{, suspendTimeHint}' : '';
  return mbarrier({
    name: form,
    section: '9.7.13.15.16',
    forms: `mbarrier.${form}{.sem.scope}{.shared{::cta}}.b64 p, [addr], state${hint}; mbarrier.${form}.parity{.sem.scope}{.shared{::cta}}.b64 p, [addr], phaseParity${hint}; .sem = {.acquire, .relaxed}; .scope = {.cta, .cluster}`,
    ...(form === 'try_wait' && { remark: 'the time limit is a hint' }),
    decode: (modifiers, shape) => {
      const parity = modifiers.flag('parity');
      const order = takeOrder(modifiers, 'acquire');
      const space = takeSpace(modifiers);
      const address = addressWidth(shape, 1);
      if (!address) return null;
      const hinted = form === 'try_wait' && (shape?.length ?? 3) > 3;
      const sources: ValueType[] = [address, parity ? 32 : 64, ...(hinted ? [32 as const] : [])];
      return synchronize(effectOf(form, space, { ...order, parity }), sources, ['predicate']);
    },
  });
}

const init = mbarrier({
  name: 'init',
  section: '9.7.13.15.9',
  forms: 'mbarrier.init{.shared{::cta}}.b64 [addr], count',
  decode: (modifiers, shape) => {
    const address = addressWidth(shape, 0);
    return address && synchronize(effectOf('init', takeSpace(modifiers)), [address, 32]);
  },
});

const invalidate = mbarrier({
  name: 'inval',
  section: '9.7.13.15.10',
  forms: 'mbarrier.inval{.shared{::cta}}.b64 [addr]',
  decode: (modifiers, shape) => {
    const address = addressWidth(shape, 0);
    return address && synchronize(effectOf('inval', takeSpace(modifiers)), [address]);
  },
});

const pendingCount = mbarrier({
  name: 'pending_count',
  section: '9.7.13.15.17',
  forms: 'mbarrier.pending_count.b64 count, state',
  decode: () => synchronize(effectOf('pending_count', 'shared'), [64], [32]),
});

const copyArrive: Row = {
  opcode: 'cp',
  section: '9.7.13.15.15',
  forms: 'cp.async.mbarrier.arrive{.noinc}{.shared{::cta}}.b64 [addr]',
  treatment: 'exact',
  decode(modifiers, shape) {
    if (!modifiers.flag('async') || !modifiers.flag('mbarrier') || !modifiers.flag('arrive')) return null;
    const noIncrement = modifiers.flag('noinc');
    const space = takeSpace(modifiers);
    const address = addressWidth(shape, 0);
    if (!modifiers.flag('b64') || !address) return null;
    return synchronize(effectOf('cp_async_arrive', space, { copies: copyGroup, noIncrement }), [address]);
  },
};

export const mbarrierRows: readonly Row[] = [
  init,
  invalidate,
  transaction('expect_tx', '9.7.13.15.11'),
  transaction('complete_tx', '9.7.13.15.12'),
  arrival('arrive', '9.7.13.15.13'),
  arrival('arrive_drop', '9.7.13.15.14'),
  copyArrive,
  wait('test_wait'),
  wait('try_wait'),
  pendingCount,
];
