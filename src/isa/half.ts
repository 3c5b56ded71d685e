/** Half precision: `f16`, `bf16` and pairs of them, and sums of mixed precision (PTX ISA 9.7.4, 9.7.5). */
import type { Width } from './model/domain.ts';
import type { Modifiers, Row, TypeInformation } from './model/row.ts';
import { computeLanes, floatRoundings, takeExtremum } from './float.ts';
import { bits, pure } from './model/row.ts';

const names = ['f16', 'f16x2', 'bf16', 'bf16x2'];
const types = '.type = {.f16, .f16x2, .bf16, .bf16x2}';

function takeHalf(modifiers: Modifiers): TypeInformation | null {
  const type = modifiers.type();
  return type && names.includes(type.name) ? type : null;
}

function arithmetic(opcode: 'add' | 'sub' | 'mul' | 'fma', section: string): Row {
  const isFused = opcode === 'fma';
  const operands = isFused ? 'd, a, b, c' : 'd, a, b';
  return {
    opcode,
    section,
    forms: `${opcode}{.rn}{.ftz}{.sat}${isFused ? '{.relu}' : ''}.type ${operands}; ${types}`,
    treatment: 'exact',
    decode(modifiers) {
      modifiers.flag('rn');
      const ftz = modifiers.flag('ftz');
      const saturate = modifiers.flag('sat');
      const name = isFused && modifiers.flag('relu') ? 'fma.relu' : opcode;
      const type = takeHalf(modifiers);
      return type && computeLanes(type, isFused ? 3 : 2, { name, rounding: 'rn', ftz, saturate }, 'float');
    },
  };
}

/** `fma.oob`: a source may be the NaN that represents elements outside a tensor. */
const fusedOutOfBounds: Row = {
  opcode: 'fma',
  section: '9.7.4.4',
  forms: `fma.rn.oob{.relu}.type d, a, b, c; ${types}`,
  treatment: 'havoc',
  decode(modifiers) {
    if (!modifiers.flag('rn') || !modifiers.flag('oob')) return null;
    modifiers.flag('relu');
    const type = takeHalf(modifiers);
    if (!type) return null;
    const width = type.bits as Width;
    const reason = 'values outside a tensor';
    return { results: [width], sources: [width, width, width], effect: { kind: 'havoc', reason }, cost: 'float' };
  },
};

function sign(opcode: 'neg' | 'abs', section: string): Row {
  return {
    opcode,
    section,
    forms: `${opcode}{.ftz}.type d, a; ${types}`,
    treatment: 'exact',
    remark: 'a NaN keeps its payload; only its sign bit changes',
    decode(modifiers) {
      const ftz = modifiers.flag('ftz');
      const type = takeHalf(modifiers);
      return type && computeLanes(type, 1, { name: opcode, rounding: 'none', ftz, saturate: false }, 'float');
    },
  };
}

function extremum(opcode: 'min' | 'max', section: string): Row {
  return {
    opcode,
    section,
    forms: `${opcode}{.ftz}{.NaN}{.xorsign.abs}.type d, a, b; ${types}`,
    treatment: 'exact',
    decode(modifiers, shape) {
      const ftz = modifiers.flag('ftz');
      const name = takeExtremum(opcode, modifiers, shape);
      const type = takeHalf(modifiers);
      return type && name ? computeLanes(type, 2, { name, rounding: 'none', ftz, saturate: false }, 'float') : null;
    },
  };
}

function approximate(opcode: 'tanh' | 'ex2', section: string, remark: string): Row {
  return {
    opcode,
    section,
    forms: `${opcode}.approx{.ftz}.type d, a; ${types}`,
    treatment: 'approximate',
    remark,
    decode(modifiers) {
      if (!modifiers.flag('approx')) return null;
      const ftz = modifiers.flag('ftz');
      const type = takeHalf(modifiers);
      return type && computeLanes(type, 1, { name: opcode, rounding: 'approx', ftz, saturate: false }, 'special');
    },
  };
}

/** `add.f32.f16 d, a, c` and the like: sources of half precision, widened exactly; the last source is `f32`. */
function mixed(opcode: 'add' | 'sub' | 'fma', section: string): Row {
  const halves = opcode === 'fma' ? 2 : 1;
  return {
    opcode,
    section,
    forms: `${opcode}{.rnd}{.sat}.f32.type d, ${halves === 2 ? 'a, b, c' : 'a, c'}; .type = {.f16, .bf16}; .rnd = {.rn, .rz, .rm, .rp}`,
    treatment: 'exact',
    decode(modifiers) {
      const rounding = modifiers.oneOf(...floatRoundings) ?? 'rn';
      const saturate = modifiers.flag('sat');
      if (modifiers.type()?.name !== 'f32') return null;
      const from = modifiers.type()?.name;
      if (from !== 'f16' && from !== 'bf16') return null;
      const widen = { name: 'cvt', from, to: 'f32', rounding: 'none', ftz: false, saturate: false };
      const operation = { name: opcode, from: 'f32', to: 'f32', rounding, ftz: false, saturate };
      return pure(
        32,
        halves === 2 ? [16, 16, 32] : [16, 32],
        'float',
        bits((d, ...values) =>
          d.float(
            operation,
            values.map((value, index) => (index < halves ? d.float(widen, [value]) : value)),
          ),
        ),
      );
    },
  };
}

export const halfRows: readonly Row[] = [
  arithmetic('add', '9.7.4.1'),
  arithmetic('sub', '9.7.4.2'),
  arithmetic('mul', '9.7.4.3'),
  arithmetic('fma', '9.7.4.4'),
  fusedOutOfBounds,
  sign('neg', '9.7.4.5'),
  sign('abs', '9.7.4.6'),
  extremum('min', '9.7.4.7'),
  extremum('max', '9.7.4.8'),
  approximate('tanh', '9.7.4.9', 'absolute error at most 2^-10.987 (f16), 2^-8 (bf16)'),
  approximate('ex2', '9.7.4.10', 'relative error at most 2^-9.9 (f16), 2^-7 (bf16)'),
  mixed('add', '9.7.5.1'),
  mixed('sub', '9.7.5.2'),
  mixed('fma', '9.7.5.3'),
];
