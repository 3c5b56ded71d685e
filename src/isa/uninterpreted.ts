/**
 * Instructions whose values or effects are not modelled: textures and surfaces (PTX ISA 9.7.10, 9.7.11), other blocks of
 * a cluster, tensor memory. What only yields an unknown value is `havoc`, everything else `opaque`.
 */
import type { Effect } from './model/operation.ts';
import type { Row, Treatment } from './model/row.ts';
import { uncomputed } from './model/row.ts';

interface Uninterpreted {
  readonly opcode: string;
  readonly section: string;
  readonly forms: string;
  readonly effect: Effect;
  /** Whether the first operand is a result. */
  readonly returns: boolean;
  readonly remark?: string;
  /** The first modifier that the row requires. */
  readonly first?: string;
}

function uninterpreted({ opcode, section, forms, effect, returns, remark, first }: Uninterpreted): Row {
  const treatment: Treatment = effect.kind === 'opaque' ? 'opaque' : 'havoc';
  return {
    opcode,
    section,
    forms,
    treatment,
    ...(remark && { remark }),
    decode(modifiers, shape) {
      const rest = modifiers.rest();
      if (first !== undefined && rest[0] !== first) return null;
      return uncomputed(shape, returns ? 1 : 0, effect, effect.kind === 'surface-store' ? 'memory' : 'special');
    },
  };
}

/** A row for an instruction whose only effect is an unknown value. */
function havoc(opcode: string, section: string, forms: string, reason: string): Row {
  return uninterpreted({ opcode, section, forms, effect: { kind: 'havoc', reason }, returns: true });
}

function opaque(opcode: string, section: string, forms: string, reason: string, returns: boolean, first?: string): Row {
  const effect: Effect = { kind: 'opaque', reason };
  return uninterpreted({ opcode, section, forms, effect, returns, ...(first && { first }) });
}

function surfaceStore(opcode: string, section: string, forms: string): Row {
  const remark = 'writes an element that is not known';
  return uninterpreted({ opcode, section, forms, effect: { kind: 'surface-store' }, returns: false, remark });
}

const multimem = 'memory of several devices';

export const uninterpretedRows: readonly Row[] = [
  havoc('tex', '9.7.10.3', 'tex.geom.v4.dtype.ctype d[|p], [a, {b,} c]{, e}{, f}; tex.base, tex.level, tex.grad', 'texture fetch'),
  havoc('tld4', '9.7.10.4', 'tld4.comp.2d.v4.dtype.f32 d[|p], [a, {b,} c]{, e}{, f}', 'texture fetch'),
  havoc('txq', '9.7.10.5', 'txq.query.b32 d, [a]; txq.level.query.b32 d, [a], lod', 'texture query'),
  havoc('istypep', '9.7.10.6', 'istypep.type p, a', 'texture query'),
  havoc('suld', '9.7.11.1', 'suld.b.geom{.cop}{.vec}.dtype.clamp d, [a, b]', 'surface load'),
  surfaceStore('sust', '9.7.11.2', 'sust.b.geom{.cop}{.vec}.ctype.clamp [a, b], c; sust.p.geom{.vec}.b32.clamp [a, b], c'),
  surfaceStore('sured', '9.7.11.3', 'sured.b.op.geom.ctype.clamp [a, b], c; sured.p.op.geom.ctype.clamp [a, b], c'),
  havoc('suq', '9.7.11.4', 'suq.query.b32 d, [a]', 'surface query'),
  opaque('multimem', '9.7.9.14', 'multimem.ld_reduce.… d, [a]', multimem, true, 'ld_reduce'),
  opaque('multimem', '9.7.9.14', 'multimem.st.… [a], b; multimem.red.… [a], b', multimem, false),
  opaque('mapa', '9.7.9.23', 'mapa{.shared::cluster}.type d, a, b; .type = {.u32, .u64}', 'address in another block of the cluster', true),
  havoc('getctarank', '9.7.9.24', 'getctarank{.shared::cluster}.type d, a; .type = {.u32, .u64}', 'rank in the cluster'),
  opaque('tensormap', '9.7.9.26', 'tensormap.replace.mode.field{.ss}.b1024.type [addr], new-val', 'tensormap', false, 'replace'),
  opaque('tensormap', '9.7.13.16', 'tensormap.cp_fenceproxy.… [dst], [src], size', 'tensormap', false, 'cp_fenceproxy'),
  opaque(
    'clusterlaunchcontrol',
    '9.7.13.17',
    'clusterlaunchcontrol.try_cancel.async{.space}.… [addr], [mbar]',
    'cluster launch control',
    false,
    'try_cancel',
  ),
  opaque(
    'clusterlaunchcontrol',
    '9.7.13.18',
    'clusterlaunchcontrol.query_cancel.… d, handle',
    'cluster launch control',
    true,
    'query_cancel',
  ),
  opaque('tcgen05', '9.7.16', 'tcgen05.ld.… r, [taddr]', 'tcgen05', true, 'ld'),
  opaque('tcgen05', '9.7.16', 'tcgen05.… (all others)', 'tcgen05', false),
];
