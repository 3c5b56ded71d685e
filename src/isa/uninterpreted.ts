/**
 * Instructions whose values or effects are not modelled: textures and surfaces (PTX ISA 9.7.10, 9.7.11), matrices
 * (9.7.14 to 9.7.16), clusters, video. What only yields an unknown value is `havoc`, everything else `opaque`.
 */
import type { Effect } from './operation.ts';
import type { Modifiers, OperandShape, Row } from './row.ts';
import { uncomputed } from './row.ts';

/** `results`: how many of the first operands are results. */
function uninterpreted(
  opcode: string,
  section: string,
  results: number,
  effect: Effect,
  applies: (modifiers: readonly string[], shape: OperandShape | undefined) => boolean = () => true,
): Row {
  return {
    opcode,
    section,
    decode(modifiers: Modifiers, shape) {
      if (!applies(modifiers.rest(), shape)) return null;
      return uncomputed(shape, results, effect, effect.kind === 'surface-store' ? 'memory' : 'special');
    },
  };
}

function havoc(reason: string): Effect {
  return { kind: 'havoc', reason };
}

function opaque(reason: string): Effect {
  return { kind: 'opaque', reason };
}

const texture = havoc('texture fetch');
const surfaceStore: Effect = { kind: 'surface-store' };

export const uninterpretedRows: readonly Row[] = [
  uninterpreted('tex', '9.7.10', 1, texture),
  uninterpreted('tld4', '9.7.10', 1, texture),
  uninterpreted('txq', '9.7.10', 1, havoc('texture query')),
  uninterpreted('istypep', '9.7.10', 1, havoc('texture query')),
  uninterpreted('suld', '9.7.11', 1, havoc('surface load')),
  uninterpreted('suq', '9.7.11', 1, havoc('surface query')),
  uninterpreted('sust', '9.7.11', 0, surfaceStore),
  uninterpreted('sured', '9.7.11', 0, surfaceStore),
  uninterpreted(
    'mma',
    '9.7.14',
    1,
    havoc('matrix product'),
    (modifiers) => modifiers[0] === 'sync' || modifiers[0] === 'sp' || modifiers[0]?.startsWith('sp::') === true,
  ),
  uninterpreted('wmma', '9.7.14', 1, havoc('matrix product'), (modifiers) => modifiers[0] === 'mma'),
  uninterpreted('wmma', '9.7.14', 1, opaque('wmma.load'), (modifiers) => modifiers[0] === 'load'),
  uninterpreted('wmma', '9.7.14', 0, opaque('wmma.store'), (modifiers) => modifiers[0] === 'store'),
  uninterpreted('ldmatrix', '9.7.14', 1, opaque('ldmatrix')),
  uninterpreted('stmatrix', '9.7.14', 0, opaque('stmatrix')),
  uninterpreted('movmatrix', '9.7.14', 1, havoc('matrix transpose')),
  uninterpreted('wgmma', '9.7.15', 0, opaque('wgmma')),
  uninterpreted('tcgen05', '9.7.16', 0, opaque('tcgen05')),
  uninterpreted('mapa', '9.7.9', 1, opaque('address in another block of the cluster')),
  uninterpreted('getctarank', '9.7.9', 1, havoc('rank in the cluster')),
  uninterpreted('multimem', '9.7.9', 0, opaque('multimem')),
  uninterpreted('tensormap', '9.7.9', 0, opaque('tensormap')),
  uninterpreted('clusterlaunchcontrol', '9.7.13', 0, opaque('cluster launch control')),
  ...['vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax', 'vshl', 'vshr', 'vmad', 'vset']
    .flatMap((opcode) =>
      opcode === 'vmad' || opcode.startsWith('vsh') ? [opcode] : [opcode, `${opcode}2`, `${opcode}4`],
    )
    .map((opcode) => uninterpreted(opcode, '9.7.18', 1, havoc('video instruction'))),
  uninterpreted('vavrg2', '9.7.18', 1, havoc('video instruction')),
  uninterpreted('vavrg4', '9.7.18', 1, havoc('video instruction')),
];
