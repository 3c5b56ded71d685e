/** Matrix instructions of warps and warp groups (PTX ISA 9.7.14, 9.7.15). */
import type { Width } from './model/domain.ts';
import type { AsyncGroup, MatrixAccessEffect, MatrixElement, SharedMatrix, StateSpace, ValueType } from './model/operation.ts';
import type { Modifiers, OperandShape, Row, Signature } from './model/row.ts';
import type { Product } from './arithmetic/matrix-layout.ts';
import { elementWidth, isQuadruple, fragmentWords } from './arithmetic/matrix-layout.ts';
import { addressWidth, groupRow, uncomputed, widthsOf } from './model/row.ts';

const shapePattern = /^m(\d+)n(\d+)k(\d+)$/;

function takeShape(modifiers: Modifiers): { readonly m: number; readonly n: number; readonly k: number } | null {
  const match = shapePattern.exec(modifiers.matching(shapePattern) ?? '');
  return match && { m: Number(match[1]), n: Number(match[2]), k: Number(match[3]) };
}

const multiplicands = ['f16', 'bf16', 'tf32', 'f64', 'e4m3', 'e5m2', 's8', 'u8', 's4', 'u4', 'b1'] as const;
const accumulators = ['f16', 'f32', 'f64', 's32'] as const;
const layouts = ['row', 'col'] as const;

type Multiplicand = (typeof multiplicands)[number];
type Accumulator = (typeof accumulators)[number];

/** Whether a product of such multiplicands can have such accumulators. */
function accumulates(a: Multiplicand, c: Accumulator): boolean {
  if (a === 'f64') return c === 'f64';
  if (/^(s8|u8|s4|u4|b1)$/.test(a)) return c === 's32';
  return c === 'f32' || (c === 'f16' && /^(f16|e4m3|e5m2)$/.test(a));
}

function sameKind(a: Multiplicand, b: Multiplicand): boolean {
  return a === b || (elementWidth(a) === elementWidth(b) && /^[su]/.test(a) === /^[su]/.test(b) && elementWidth(a) <= 8);
}

/** K of the `mma` shapes with N = 8, by M and the bits of a multiplicand. */
const depths: Readonly<Record<number, Readonly<Record<number, readonly number[]>>>> = {
  8: { 16: [4], 64: [4], 8: [16], 4: [32], 1: [128] },
  16: { 16: [8, 16], 32: [4, 8], 64: [4, 8, 16], 8: [16, 32], 4: [32, 64], 1: [128, 256] },
};

/** The shapes of `wmma`, by the bits of a multiplicand. */
const wmmaShapes: Readonly<Record<number, readonly string[]>> = {
  16: ['16,16,16', '32,8,16', '8,32,16'],
  8: ['16,16,16', '32,8,16', '8,32,16'],
  32: ['16,16,8'],
  64: ['8,8,4'],
  4: ['8,8,32'],
  1: ['8,8,128'],
};

function shapeExists({ layout, m, n, k, a }: Product): boolean {
  if (layout === 'wmma') return wmmaShapes[elementWidth(a)]?.includes(`${m},${n},${k}`) === true;
  if (isQuadruple({ layout, m, n, k, a } as Product)) return n === 8;
  return n === 8 && depths[m]?.[elementWidth(a)]?.includes(k) === true && !(m === 8 && /^(b?f16|e\dm\d)$/.test(a));
}

/** Widths of the registers with a lane's part of a matrix. */
function registers(product: Product, matrix: 'a' | 'b' | 'c' | 'd'): Width[] {
  const width = product[matrix] === 'f64' ? 64 : 32;
  return Array.from({ length: (fragmentWords(product, matrix) * 32) / width }, () => width);
}

function productSignature(product: Product): Signature | null {
  const { a, b, c, d } = product as { a: Multiplicand; b: Multiplicand; c: Accumulator; d: Accumulator };
  if (!sameKind(a, b) || !accumulates(a, c) || !accumulates(a, d) || !shapeExists(product)) return null;
  if (product.saturate && d !== 's32') return null;
  return {
    results: registers(product, 'd'),
    sources: [...registers(product, 'a'), ...registers(product, 'b'), ...registers(product, 'c')],
    effect: { kind: 'warp-matrix', operation: product },
    cost: 'special',
  };
}

const sumRemark =
  'sums in double precision from C on in the order of K, rounded once (the ISA leaves order and rounding open); f64: fused multiply-adds in that order; integers exact';

const multiply: Row = {
  opcode: 'mma',
  section: '9.7.14.5.14',
  forms:
    'mma.sync.aligned.shape.alayout.blayout{.satfinite}.dtype.atype.btype.ctype{.rnd} d, a, b, c; mma.sync.aligned.shape.row.col.s32.b1.b1.s32.bitOp.popc d, a, b, c; .atype = {.f16, .bf16, .tf32, .f64, .e4m3, .e5m2, .u8, .s8, .u4, .s4, .b1}; .bitOp = {.xor, .and}; every shape of these',
  treatment: 'exact',
  remark: sumRemark,
  decode(modifiers) {
    if (!modifiers.flag('sync') || !modifiers.flag('aligned')) return null;
    const shape = takeShape(modifiers);
    const rows = [modifiers.oneOf(...layouts), modifiers.oneOf(...layouts)] as const;
    const saturate = modifiers.flag('satfinite');
    const d = modifiers.oneOf(...accumulators);
    const a = modifiers.oneOf(...multiplicands);
    const b = modifiers.oneOf(...multiplicands);
    const c = modifiers.oneOf(...accumulators);
    const bits = modifiers.oneOf('xor', 'and');
    const rounding = modifiers.oneOf('rn', 'rz', 'rm', 'rp');
    if (!shape || !d || !a || !b || !c || modifiers.flag('popc') !== (a === 'b1') || (a === 'b1') !== (bits !== undefined)) return null;
    if (rounding && a !== 'f64') return null;
    const product: Product = {
      kind: 'product',
      layout: 'mma',
      ...shape,
      a,
      b,
      c,
      d,
      rowMajor: [rows[0] === 'row', rows[1] === 'row'],
      saturate,
      rounding: rounding ?? 'rn',
      ...(bits && { bits }),
    };
    if (!isQuadruple(product) && (rows[0] !== 'row' || rows[1] !== 'col')) return null;
    return productSignature(product);
  },
};

const multiplyFragments: Row = {
  opcode: 'wmma',
  section: '9.7.14.4.5',
  forms:
    'wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype{.satfinite} d, a, b, c; wmma.mma.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype{.rnd}{.satfinite} d, a, b, c; wmma.mma.bitOp.popc.sync.aligned.row.col.shape.s32.b1.b1.s32 d, a, b, c',
  treatment: 'exact',
  remark: `${sumRemark}; fragments are laid out by ourselves (the ISA leaves it open)`,
  decode(modifiers) {
    if (!modifiers.flag('mma')) return null;
    const bits = modifiers.oneOf('xor', 'and');
    const popc = modifiers.flag('popc');
    if (!modifiers.flag('sync') || !modifiers.flag('aligned')) return null;
    const rows = [modifiers.oneOf(...layouts), modifiers.oneOf(...layouts)] as const;
    const shape = takeShape(modifiers);
    const saturate = modifiers.flag('satfinite');
    const rounding = modifiers.oneOf('rn', 'rz', 'rm', 'rp');
    const d = modifiers.oneOf(...accumulators);
    if (!shape || !d || !rows[0] || !rows[1]) return null;
    // With half precision only the accumulators are named: `.f32.f32` is D and C.
    const rest = modifiers.rest();
    const [a, b, c] = rest.length === 1 ? ['f16', 'f16', rest[0]!] : rest;
    if (rest.length !== 1 && rest.length !== 3) return null;
    if (!multiplicands.includes(a as Multiplicand) || !multiplicands.includes(b as Multiplicand)) return null;
    if (!accumulators.includes(c as Accumulator)) return null;
    if ((a === 'b1') !== (bits !== undefined) || popc !== (a === 'b1')) return null;
    return productSignature({
      kind: 'product',
      layout: 'wmma',
      ...shape,
      a: a as Multiplicand,
      b: b as Multiplicand,
      c: c as Accumulator,
      d,
      rowMajor: [rows[0] === 'row', rows[1] === 'row'],
      saturate,
      rounding: rounding ?? 'rn',
      ...(bits && { bits }),
    });
  },
};

/** Products whose values are not computed: sparse, block-scaled, or by other engines. */
function uncomputedProduct(section: string, forms: string, applies: RegExp): Row {
  return {
    opcode: 'mma',
    section,
    forms,
    treatment: 'havoc',
    decode(modifiers, shape) {
      if (!modifiers.rest().some((name) => applies.test(name))) return null;
      return uncomputed(shape, 1, { kind: 'havoc', reason: 'matrix product' }, 'special');
    },
  };
}

const spaces: Readonly<Record<string, StateSpace>> = { shared: 'shared', 'shared::cta': 'shared', global: 'global' };

function takeSpace(modifiers: Modifiers): StateSpace {
  return spaces[modifiers.oneOf(...Object.keys(spaces)) ?? ''] ?? 'generic';
}

const eights = { x1: 1, x2: 2, x4: 4 } as const;

/** `ldmatrix` and `stmatrix` of 8x8 matrices. */
function moveEights(opcode: 'ldmatrix' | 'stmatrix', section: string): Row {
  const isLoad = opcode === 'ldmatrix';
  return {
    opcode,
    section,
    forms: `${opcode}.sync.aligned.m8n8.num{.trans}{.shared{::cta}}.b16 ${isLoad ? 'r, [p]' : '[p], r'}; .num = {.x1, .x2, .x4}`,
    treatment: 'exact',
    decode(modifiers, shape) {
      if (!modifiers.flag('sync') || !modifiers.flag('aligned') || !modifiers.flag('m8n8')) return null;
      const count = modifiers.oneOf('x1', 'x2', 'x4');
      const transposed = modifiers.flag('trans');
      const space = takeSpace(modifiers);
      const address = addressWidth(shape, isLoad ? 1 : 0);
      if (!count || !modifiers.flag('b16') || !address || space === 'global') return null;
      const words = eights[count];
      const values: ValueType[] = Array.from({ length: words }, () => 32);
      const effect: MatrixAccessEffect = {
        kind: 'matrix-access',
        operation: isLoad ? 'read' : 'write',
        space,
        addressing: 'lanes',
        strided: false,
        fragment: `m8n8.x${words}`,
        lines: 8 * words,
        lineBytes: 16,
        element: 'b16',
        elementBits: 16,
        transposed,
        words,
      };
      return {
        results: isLoad ? values : [],
        sources: isLoad ? [address] : [address, ...values],
        effect,
        cost: 'memory',
      };
    },
  };
}

/** Other shapes, of sm_100 and later. */
function moveOther(opcode: 'ldmatrix' | 'stmatrix', section: string, forms: string): Row {
  return {
    opcode,
    section,
    forms,
    treatment: 'opaque',
    decode(modifiers, shape) {
      if (!modifiers.rest().some((name) => /^m(16n16|8n16|16n8)$/.test(name))) return null;
      return uncomputed(shape, opcode === 'ldmatrix' ? 1 : 0, { kind: 'opaque', reason: opcode }, 'memory');
    },
  };
}

const loadedElements = [...multiplicands, 'f32', 's32'] as const;

/** `wmma.load.a|b|c` and `wmma.store.d`. */
function moveFragment(direction: 'load' | 'store', section: string): Row {
  const isLoad = direction === 'load';
  return {
    opcode: 'wmma',
    section,
    forms: isLoad
      ? 'wmma.load.matrix.sync.aligned.layout.shape{.ss}.type r, [p]{, stride}; .matrix = {.a, .b, .c}; .layout = {.row, .col}; .ss = {.global, .shared{::cta}}'
      : 'wmma.store.d.sync.aligned.layout.shape{.ss}.type [p], r{, stride}',
    treatment: 'exact',
    remark: 'fragments are laid out by ourselves (the ISA leaves it open)',
    decode(modifiers, shape) {
      if (!modifiers.flag(direction)) return null;
      const matrix = modifiers.oneOf('a', 'b', 'c', 'd');
      if (!modifiers.flag('sync') || !modifiers.flag('aligned')) return null;
      const layout = modifiers.oneOf(...layouts);
      const size = takeShape(modifiers);
      const space = takeSpace(modifiers);
      const element = modifiers.oneOf(...loadedElements);
      const address = addressWidth(shape, isLoad ? 1 : 0);
      if (!matrix || !layout || !size || !element || !address || isLoad === (matrix === 'd')) return null;
      const product = fragmentProduct(size, matrix, element);
      if (!product) return null;
      const values = registers(product, matrix);
      const [rows, columns] = matrix === 'a' ? [size.m, size.k] : matrix === 'b' ? [size.k, size.n] : [size.m, size.n];
      const isColumns = layout === 'col';
      const stride: ValueType[] = strideOperand(shape);
      const [lines, perLine] = isColumns ? [columns, rows] : [rows, columns];
      const elementBits = elementWidth(element);
      const effect: MatrixAccessEffect = {
        kind: 'matrix-access',
        operation: isLoad ? 'read' : 'write',
        space,
        addressing: 'stride',
        strided: stride.length > 0,
        fragment: fragmentName(size, matrix, layout, element),
        lines,
        lineBytes: (perLine * elementBits) / 8,
        element,
        elementBits,
        transposed: isColumns,
        words: fragmentWords(product, matrix),
      };
      return {
        results: isLoad ? values : [],
        sources: isLoad ? [address, ...stride] : [address, ...values, ...stride],
        effect,
        cost: 'memory',
      };
    },
  };
}

/**
 * Names the distribution of a matrix over lanes. Accumulators have the same name for loads and stores, and their memory
 * layout does not affect the distribution.
 */
function fragmentName(
  { m, n, k }: { readonly m: number; readonly n: number; readonly k: number },
  matrix: string,
  layout: string,
  element: MatrixElement,
): string {
  const role = matrix === 'a' || matrix === 'b' ? `${matrix} ${layout}` : 'accumulator';
  return `${role} m${m}n${n}k${k} ${element}`;
}

function strideOperand(shape: OperandShape | undefined): ValueType[] {
  return shape?.length === 3 ? widthsOf(shape, 2, 32).slice() : [];
}

/** A product of which the fragment is a matrix; null if none exists. */
function fragmentProduct(
  size: { readonly m: number; readonly n: number; readonly k: number },
  matrix: 'a' | 'b' | 'c' | 'd',
  element: MatrixElement,
): Product | null {
  const isMultiplicand = matrix === 'a' || matrix === 'b';
  const [a, c]: readonly [MatrixElement, MatrixElement] = isMultiplicand
    ? [element, element]
    : [element === 'f64' ? 'f64' : element === 's32' ? 's8' : 'f16', element];
  if (isMultiplicand ? !multiplicands.includes(a as Multiplicand) : !accumulators.includes(c as Accumulator)) return null;
  const product: Product = {
    kind: 'product',
    layout: 'wmma',
    ...size,
    a,
    b: a,
    c,
    d: c,
    rowMajor: [true, true],
    saturate: false,
    rounding: 'rn',
  };
  // Accumulators have the shapes of all multiplicands with which they can be combined.
  const exists = isMultiplicand
    ? shapeExists(product)
    : Object.values(wmmaShapes).some((shapes) => shapes.includes(`${size.m},${size.n},${size.k}`));
  return exists ? product : null;
}

const transpose: Row = {
  opcode: 'movmatrix',
  section: '9.7.14.5.17',
  forms: 'movmatrix.sync.aligned.m8n8.trans.b16 d, a',
  treatment: 'exact',
  decode(modifiers) {
    for (const name of ['sync', 'aligned', 'm8n8', 'trans', 'b16']) if (!modifiers.flag(name)) return null;
    return {
      results: [32],
      sources: [32],
      effect: { kind: 'warp-matrix', operation: { kind: 'transpose' } },
      cost: 'special',
    };
  },
};

/** The descriptors among the sources of `wgmma.mma_async`, and their matrices. */
function sharedMatrices(
  { m, n, k }: { readonly m: number; readonly n: number; readonly k: number },
  elementBits: number,
  isSparse: boolean,
  shape: OperandShape,
): readonly SharedMatrix[] {
  const [, first] = shape;
  const registersOfA = first?.kind === 'vector' ? first.widths.length : null;
  // Only elements of 16 bits may be transposed: A, if a descriptor names it, and B in the last two operands.
  const last = (from: number): boolean | null => {
    const literal = shape[shape.length - from]?.literal;
    return elementBits !== 16 ? false : literal === undefined ? null : literal !== 0n;
  };
  const b: SharedMatrix = { source: registersOfA ?? 1, rows: n, depth: k, elementBits, transposed: last(1) };
  if (registersOfA !== null) return [b];
  return [{ source: 0, rows: m, depth: isSparse ? k / 2 : k, elementBits, transposed: last(2) }, b];
}

const productGroup: AsyncGroup = { name: 'wgmma', proxy: 'async', participants: 'warpgroup' };

const groupMultiply: Row = {
  opcode: 'wgmma',
  section: '9.7.15.5.2',
  forms:
    'wgmma.mma_async{.sp}.sync.aligned.shape{.satfinite}.dtype.atype.btype{.op.popc} d, a-desc or a, b-desc, {sp-meta, sp-sel,} scale-d{, imm-scale-a, imm-scale-b}{, imm-trans-a}{, imm-trans-b}',
  treatment: 'havoc',
  remark:
    'each thread reads all of both matrices until it has waited; not checked: use of the registers before that, and which warps form a group',
  readsLiterals: true,
  decode(modifiers, shape) {
    if (!modifiers.flag('mma_async') || !modifiers.flag('sync') || !modifiers.flag('aligned')) return null;
    const isSparse = modifiers.flag('sp');
    const size = takeShape(modifiers);
    const named = modifiers.rest().filter((name) => /^(b?f16|f32|tf32|e\dm\d|[su]8|s32|b1)$/.test(name));
    const element = named[named.length - 1];
    if (!size || !element) return null;
    const elementBits = elementWidth(element as MatrixElement);
    const matrices = shape ? sharedMatrices(size, elementBits, isSparse, shape) : [];
    return uncomputed(shape, 1, { kind: 'warpgroup-multiply', matrices, group: productGroup }, 'special');
  },
};

export const matrixRows: readonly Row[] = [
  multiplyFragments,
  moveFragment('load', '9.7.14.4.3'),
  moveFragment('store', '9.7.14.4.4'),
  multiply,
  uncomputedProduct('9.7.14.5.14', 'mma.sync.aligned.shape.row.col.kind{.block_scale}{.scale_vec_size}.… d, a, b, c{, …}', /^kind::/),
  uncomputedProduct('9.7.14.6.3', 'mma.sp{::ordered_metadata}.sync.aligned.shape.row.col.… d, a, b, c, e, f', /^sp(::|$)/),
  moveEights('ldmatrix', '9.7.14.5.15'),
  moveOther(
    'ldmatrix',
    '9.7.14.5.15',
    'ldmatrix.sync.aligned.m16n16.num.trans{.ss}.b8 r, [p]; ldmatrix.sync.aligned.shape.num{.trans}{.ss}.b8x16.src_fmt r, [p]',
  ),
  moveEights('stmatrix', '9.7.14.5.16'),
  moveOther('stmatrix', '9.7.14.5.16', 'stmatrix.sync.aligned.m16n8.num.trans{.ss}.b8 [p], r'),
  transpose,
  groupMultiply,
  groupRow('9.7.15.7.1', 'wgmma.fence.sync.aligned', productGroup),
  groupRow('9.7.15.7.2', 'wgmma.commit_group.sync.aligned', productGroup),
  groupRow('9.7.15.7.3', 'wgmma.wait_group.sync.aligned N', productGroup),
];
