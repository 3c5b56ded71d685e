/** Properties of effects that provers, interpreter and costs ask. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  accessesOfEffect,
  completionOf,
  isOfRegisters,
  isUnfollowed,
  mayOrderAccesses,
  participantsOf,
} from '../../src/isa/model/effect.ts';
import type { Effect } from '../../src/isa/model/operation.ts';
import { decode } from '../../src/isa/table.ts';

function effectOf(mnemonic: string): Effect {
  const [opcode, ...modifiers] = mnemonic.split('.');
  return decode(opcode!, modifiers)!.effect;
}

/** Each access as `operation space count x bytes @source strength`, and the bytes of its elements. */
function accesses(mnemonic: string): string[] {
  return accessesOfEffect(effectOf(mnemonic)).map(
    ({ operation, space, count, bytes, source, strong, semantics, elementBytes }) =>
      `${operation} ${space} ${count}x${bytes} @${source} ${semantics} ${strong}${elementBytes ? ` of ${elementBytes}` : ''}`,
  );
}

test('accesses of instructions, and whether they are strong', () => {
  const expected: Readonly<Record<string, readonly string[]>> = {
    'ld.global.u32': ['read global 1x4 @0 weak null'],
    'ld.volatile.global.v4.u32': ['read global 1x16 @0 volatile sys of 4'],
    'st.release.gpu.shared.u16': ['write shared 1x2 @0 release gpu'],
    'red.global.add.noftz.f16x2': ['atomic global 1x4 @0 relaxed gpu of 2'],
    'red.global.add.v4.f32': ['atomic global 4x4 @0 relaxed gpu'],
    'atom.shared.cta.cas.b64': ['atomic shared 1x8 @0 relaxed cta'],
    'ldmatrix.sync.aligned.m8n8.x4.shared.b16': ['read shared 1x4 @0 weak null'],
    'cp.async.cg.shared.global': ['write shared 1x16 @0 weak null', 'read global 1x16 @1 weak null'],
    'cp.async.bulk.global.shared::cta.bulk_group': ['write global 1x16 @0 weak null', 'read shared 1x16 @1 weak null'],
    'cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u64': [
      'atomic global 1x16 @0 relaxed gpu of 8',
      'read shared 1x16 @1 weak null',
    ],
    'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes': [
      'write shared 1x16 @0 weak null',
      'read global 1x16 @1 weak null',
      'atomic shared 1x8 @3 weak cta',
    ],
    'mbarrier.init.shared.b64': ['write shared 1x8 @0 weak null'],
    'mbarrier.test_wait.shared.b64': ['atomic shared 1x8 @0 acquire cta'],
    'bar.sync': [],
  };
  for (const [mnemonic, list] of Object.entries(expected)) assert.deepEqual(accesses(mnemonic), list, mnemonic);
});

test('completion and participants of instructions', () => {
  const told = (mnemonic: string): string => {
    const effect = effectOf(mnemonic);
    const completion = completionOf(effect);
    const name = typeof completion === 'string' ? completion : (completion?.name ?? 'at once');
    return `${name}, ${participantsOf(effect)}${isUnfollowed(effect) ? ', unfollowed' : ''}`;
  };
  const expected: Readonly<Record<string, string>> = {
    'ld.global.u32': 'at once, thread',
    'cp.async.cg.shared.global': 'cp.async, thread',
    'cp.async.wait_all': 'at once, thread',
    'cp.async.bulk.global.shared::cta.bulk_group': 'cp.async.bulk, thread, unfollowed',
    'cp.async.bulk.wait_group': 'at once, thread, unfollowed',
    'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes': 'mbarrier, thread, unfollowed',
    'wgmma.wait_group.sync.aligned': 'at once, warpgroup',
    'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32': 'at once, warp',
    'vote.sync.any.pred': 'at once, lanes',
    'bar.sync': 'at once, block',
    'barrier.cluster.arrive': 'at once, cluster',
  };
  for (const [mnemonic, text] of Object.entries(expected)) {
    assert.equal(told(mnemonic), text, mnemonic);
  }
});

test('instructions that compute from registers only, and others that order no accesses', () => {
  const phrases = (mnemonic: string): string => {
    const effect = effectOf(mnemonic);
    return [isOfRegisters(effect) && 'registers', mayOrderAccesses(effect) && 'orders'].filter(Boolean).join(', ');
  };
  const expected: Readonly<Record<string, string>> = {
    'add.s32': 'registers',
    'shfl.sync.down.b32': 'registers',
    'vote.sync.all.pred': 'registers',
    'activemask.b32': 'registers',
    'mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32': 'registers',
    'ldmatrix.sync.aligned.m8n8.x4.shared.b16': '',
    'ld.global.u32': '',
    'ld.volatile.global.u32': 'orders',
    'atom.shared.cta.cas.b64': 'orders',
    'membar.gl': 'orders',
    'bar.warp.sync': 'orders',
    'cp.async.cg.shared.global': '',
    'cp.async.bulk.global.shared::cta.bulk_group': 'orders',
  };
  for (const [mnemonic, phrase] of Object.entries(expected)) assert.equal(phrases(mnemonic), phrase, mnemonic);
});
