/** Machine code from fields of instructions. */
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';
import type { CodeFunction, Cubin } from '../../../src/sass/cubin/cubin.ts';
import { flowOf, type SassFlow } from '../../../src/sass/sass-flow.ts';
import { instructionsOf, type SassInstruction } from '../../../src/sass/instruction/decode.ts';
import { RegisterFlow } from '../../../src/sass/translation/registers.ts';

/** An instruction: its code, its fields, and its line of the PTX. */
export interface Written {
  readonly code: number;
  /** Result in bits 16 to 23; sources in bits 24 to 31, 32 to 39 and 64 to 71. `RZ` by default. */
  readonly to?: number;
  readonly a?: number;
  readonly b?: number;
  readonly c?: number;
  /** Bits 32 to 63. */
  readonly immediate?: number;
  /** Offset in constant bank 0. */
  readonly constant?: number;
  /** Displacement of an access, in bits 40 to 63. */
  readonly displacement?: number;
  /** The number of a predicate, plus 8 if it is negated; 7: always. */
  readonly guard?: number;
  /** Index of the instruction that a branch targets. */
  readonly target?: number;
  /** Further fields: the first bit, the number of bits, the value. */
  readonly set?: readonly (readonly [from: number, count: number, value: number])[];
  readonly line?: number;
}

const zeroRegister = 255;

function encoded(one: Written, index: number): bigint {
  let bits = BigInt(one.code);
  const put = (from: number, count: number, value: number | bigint): void => {
    const mask = ((1n << BigInt(count)) - 1n) << BigInt(from);
    bits = (bits & ~mask) | ((BigInt.asUintN(128, BigInt(value)) << BigInt(from)) & mask);
  };
  put(12, 4, one.guard ?? 7);
  put(16, 8, one.to ?? zeroRegister);
  put(24, 8, one.a ?? zeroRegister);
  put(32, 8, one.b ?? zeroRegister);
  put(64, 8, one.c ?? zeroRegister);
  // No predicate is written, and branches have no further condition.
  put(81, 9, 0x1ff);
  if (one.immediate !== undefined) put(32, 32, one.immediate);
  if (one.constant !== undefined) {
    put(32, 32, 0);
    put(38, 16, one.constant);
  }
  if (one.displacement !== undefined) put(40, 24, one.displacement);
  if (one.target !== undefined) {
    put(32, 32, 0);
    put(64, 8, 0);
    const words = BigInt((one.target - index - 1) * 4);
    put(34, 30, words);
    put(64, 18, words >> 30n);
  }
  for (const [from, count, value] of one.set ?? []) put(from, count, value);
  return bits;
}

export function functionOf(symbol: string, kernel: string, written: readonly Written[], start = 0): CodeFunction {
  const code = new Uint8Array(written.length * 16);
  for (const [index, one] of written.entries()) {
    const bits = encoded(one, index);
    for (let byte = 0; byte < 16; byte++) code[index * 16 + byte] = Number((bits >> BigInt(8 * byte)) & 0xffn);
  }
  const ptxLineAt = (address: number): number | undefined => written[(address - start) / 16]?.line;
  return { symbol, isKernel: symbol === kernel, kernel, start, code, fileOffset: 0, sourceAt: () => undefined, ptxLineAt };
}

/** A cubin with one kernel, and with bodies that ptxas appends. */
export function cubinOf(kernel: string, version: number, written: readonly Written[], bodies: readonly CodeFunction[] = []): Cubin {
  const functions = [functionOf(kernel, kernel, written), ...bodies];
  return { arch: `sm_${version}`, functions, callsRuntimeAlone: false, registers: new Map() };
}

export interface Code {
  readonly flow: SassFlow;
  readonly registers: RegisterFlow;
  readonly lineOf: (instruction: SassInstruction) => number | undefined;
}

/** The flow of control and the registers of instructions. */
export function codeOf(version: number, written: readonly Written[]): Code {
  const made = functionOf('k', 'k', written);
  const flow = flowOf(instructionsOf(made, version), version);
  return { flow, registers: new RegisterFlow(flow, version), lineOf: ({ address }) => made.ptxLineAt(address) };
}

/** The number of the first line of the body that {@link kernelOf} gets. */
export const firstLine = 11;

/** The line of an instruction of the body. */
export const at = (index: number): number => firstLine + index;

/** An instruction with further fields. */
export const fields = (one: Written, ...set: NonNullable<Written['set']>): Written => ({ ...one, set: [...set, ...(one.set ?? [])] });

export const exit: Written = { code: 0x94d };

/**
 * A kernel from the lines of its body: parameters `a` and `b` (pointers, in `%d1` and `%d2`) and `n` (in `%r9`); `%r0`
 * is tid.x, `s` an array of 1024 bytes in shared memory.
 */
export function kernelOf(body: readonly string[], directives = ''): Kernel {
  const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) ${directives} {
.shared .align 16 .b8 s[1024]; .shared .align 16 .b8 t[1024];
.reg .b16 %h<8>; .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .f32 %f<20>; .reg .f64 %e<20>; .reg .pred %p<8>;
ld.param.u64 %d1, [a]; cvta.to.global.u64 %d1, %d1;
ld.param.u64 %d2, [b]; cvta.to.global.u64 %d2, %d2;
ld.param.u32 %r9, [n];
mov.u32 %r0, %tid.x;
${body.join('\n')}
ret;
}
`;
  const { module, diagnostics } = parsePtx(text);
  if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics));
  return lowerModule(module).kernels[0]!;
}
