/** The expensive instructions that a kernel executes, by kind and source line. */
import type { Instruction, Kernel } from '../ir/form/kernel.ts';
import type { Location } from '../source/location.ts';
import type { MixKind } from './model/mix-kinds.ts';

const arithmetic = /^(?:add|sub|mul|fma|mad|div|rcp|sqrt|rsqrt|min|max|abs|neg|setp|set|testp|copysign|cvt)\b/;
const special = /^(?:sin|cos|ex2|lg2|tanh|rcp|sqrt|rsqrt)\b/;
/** `mma.sync.aligned.m16n8k16.…`: rows, columns and depth of the product. */
const matrices = /^(?:mma|wmma\.mma|wgmma\.mma_async|tcgen05\.mma)\b/;
const matrixShape = /\.m(\d+)n(\d+)k(\d+)\./;

/** The kinds of an instruction; a division of doubles has two. */
export function kindsOf({ operation: { mnemonic, effect } }: Instruction): readonly MixKind[] {
  if (matrices.test(mnemonic)) return ['tensor'];
  if (effect.kind === 'atomic') return ['atomic'];
  const kinds: MixKind[] = [];
  if (arithmetic.test(mnemonic) && /\.f64\b/.test(mnemonic)) kinds.push('double');
  if (/^(?:div|rem)\b/.test(mnemonic)) kinds.push('division');
  else if (special.test(mnemonic)) kinds.push('special');
  return kinds;
}

/** Floating-point operations of a matrix product by the whole warp; 0 for other instructions. */
export function matrixOperations({ operation: { mnemonic } }: Instruction): number {
  if (!matrices.test(mnemonic)) return 0;
  const [, rows, columns, depth] = matrixShape.exec(`${mnemonic}.`) ?? [];
  return 2 * Number(rows ?? 0) * Number(columns ?? 0) * Number(depth ?? 0);
}

/** The number of instructions of a kind at a line. */
interface MixLine {
  readonly location: Location;
  readonly instructions: number;
}

/** The instructions of one kind in a kernel. */
interface MixEntry {
  readonly kind: MixKind;
  readonly instructions: number;
  /** In descending order of the number of instructions. */
  readonly lines: readonly MixLine[];
}

/**
 * The expensive instructions of a kernel.
 * @param placeOf maps a location to the place in the user's source
 */
export function instructionMix(kernel: Kernel, placeOf: (location: Location) => Location): readonly MixEntry[] {
  const found = new Map<MixKind, { total: number; readonly lines: Map<string, MixLine> }>();
  for (const { instructions } of kernel.blocks) {
    for (const instruction of instructions) {
      for (const kind of kindsOf(instruction)) {
        const entry = found.get(kind) ?? { total: 0, lines: new Map<string, MixLine>() };
        found.set(kind, entry);
        entry.total++;
        if (!instruction.location) continue;
        const { file, line } = placeOf(instruction.location);
        const key = `${file}:${line}`;
        const before = entry.lines.get(key)?.instructions ?? 0;
        entry.lines.set(key, { location: { file, line }, instructions: before + 1 });
      }
    }
  }
  return [...found].map(([kind, { total, lines }]) => ({
    kind,
    instructions: total,
    lines: [...lines.values()].sort((a, b) => b.instructions - a.instructions || a.location.line - b.location.line),
  }));
}
