/** Findings of a run, in the syntax of the `// run:` lines. */
import { placeOf } from '../../src/check/context/names.ts';
import type { DivergenceEvent, RunResult } from '../../src/interpreter/core/run-result.ts';
import type { Instruction, InstructionId, Kernel } from '../../src/ir/form/kernel.ts';

/**
 * The findings of a run, sorted, each once: `race 12,15 shared` with the lines of both accesses (ascending) and the
 * idiom that may order them, `divergence 9`, `out-of-bounds 7`, `trap 3`, `budget`, ….
 */
export function findingTexts(kernel: Kernel, result: RunResult): readonly string[] {
  const instructions = new Map<InstructionId, Instruction>();
  for (const block of kernel.blocks) for (const instruction of block.instructions) instructions.set(instruction.id, instruction);
  const lineOf = (id: InstructionId): number => placeOf(kernel, instructions.get(id)!).line;
  const texts = new Set<string>();
  const certain = new Set<string>();
  for (const { first, second, space, unmodelled } of result.races) {
    const lines = [lineOf(first.instruction), lineOf(second.instruction)].sort((a, b) => a - b);
    if (unmodelled.length === 0) certain.add(`race ${lines.join()} ${space}`);
    texts.add(`race ${lines.join()}${unmodelled.map((tag) => ` ${tag}`).join('')} ${space}`);
  }
  // Another pair of instructions of the same two lines may leave no doubt.
  for (const text of texts) {
    const plain = text.replace(/^(race [\d,]+).* (\w+)$/, '$1 $2');
    if (text !== plain && certain.has(plain)) texts.delete(text);
  }
  const divergence = (kind: DivergenceEvent['kind']): string => (kind === 'divergent' ? 'divergence' : kind);
  for (const { kind, barrier } of result.divergences) texts.add(`${divergence(kind)}${barrier === null ? '' : ` ${lineOf(barrier)}`}`);
  for (const { kind, instruction } of result.faults) texts.add(`${kind}${instruction === null ? '' : ` ${lineOf(instruction)}`}`);
  if (result.outcome === 'trap') texts.add(`trap${result.stopped ? ` ${lineOfBlock(kernel, result.stopped.at)}` : ''}`);
  if (result.outcome === 'budget' || result.outcome === 'race-limit') texts.add(result.outcome);
  return [...texts].sort();
}

/** Location of the end of a basic block. */
function lineOfBlock(kernel: Kernel, at: number): number {
  return placeOf(kernel, kernel.blocks[at]!.terminator as Pick<Instruction, 'location' | 'ptxLine'>).line;
}
