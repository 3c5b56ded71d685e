/**
 * Whether accesses of the SASS are as strong as in the PTX. A volatile, relaxed, acquiring or releasing access is
 * strong at its scope. A weak access, or one with a narrower scope, is the SASS of another access.
 */
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { SassFlow } from '../sass-flow.ts';
import { type SassInstruction, wordBits } from '../instruction/decode.ts';

/** An access that is weaker than its line of the PTX. */
interface WeakerAccess {
  readonly ptxLine: number;
  readonly instruction: SassInstruction;
}

/** Scopes of strong accesses; blocks of a cluster are on several multiprocessors. */
const scopes = { cta: 1, cluster: 2, gpu: 2, sys: 3 } as const;

/** Spaces with accesses that may be strong: shared memory is coherent for all threads of a block. */
const orderedSpaces: ReadonlySet<string | undefined> = new Set(['global', 'generic']);

/** First architecture with a single four-bit field for scope and strength. */
const firstOfOneField = 80;

/** Scope by that four-bit field: 0 is weak, 4 constant. */
const reach: Readonly<Record<number, number>> = { 0: 0, 4: 0, 5: 1, 7: 2, 10: 3 };

/** Scope of an access of the SASS, 0 for a weak one; undefined if unknown (Mesa, `sm70_encode.rs`). */
function strengthOf(instruction: SassInstruction, version: number): number | undefined {
  if (version >= firstOfOneField) return reach[wordBits(instruction, 77, 4)];
  if (wordBits(instruction, 79, 2) !== 2) return 0;
  return [1, undefined, 2, 3][wordBits(instruction, 77, 2)];
}

/** Scope of an access of the PTX, 0 for a weak one and for other instructions. */
function wantedStrength({ operation: { effect } }: Instruction): number {
  if (effect.kind !== 'load' && effect.kind !== 'store' && effect.kind !== 'atomic') return 0;
  return effect.semantics === 'weak' || !orderedSpaces.has(effect.space) ? 0 : scopes[effect.scope];
}

/**
 * Finds accesses that are weaker than their lines of the PTX.
 * @param lineOf the PTX line of an instruction
 */
export function weakerAccesses(
  kernel: Kernel,
  flow: SassFlow,
  version: number,
  lineOf: (instruction: SassInstruction) => number | undefined,
): WeakerAccess[] {
  /** By kind and line: the smallest strength of an access of the PTX. */
  const wanted = new Map<string, number>();
  for (const { instructions } of kernel.blocks) {
    for (const one of instructions) {
      const key = `${one.operation.effect.kind} ${one.ptxLine}`;
      wanted.set(key, Math.min(wantedStrength(one), wanted.get(key) ?? Infinity));
    }
  }
  return flow.instructions.flatMap((instruction): WeakerAccess[] => {
    const { opcode } = instruction;
    const ptxLine = opcode && orderedSpaces.has(opcode.space) ? lineOf(instruction) : undefined;
    // Atomics expanded to loops of loads and stores are not compared, since these have different kinds.
    const least = ptxLine === undefined ? undefined : wanted.get(`${opcode!.kind} ${ptxLine}`);
    if (ptxLine === undefined || !least) return [];
    const own = strengthOf(instruction, version);
    return own !== undefined && own < least ? [{ ptxLine, instruction }] : [];
  });
}
