/** The IR as text, for tests and for people. */
import type { Instruction, Kernel, Operand, Terminator } from './kernel.ts';

/** Prints a kernel, one instruction a line; the output is deterministic. */
export function printKernel(kernel: Kernel): string {
  const lines = [`kernel ${kernel.symbol}`];
  for (const object of kernel.objects) {
    const size = object.bytes === null ? 'dynamic' : `${object.bytes} bytes`;
    lines.push(`  ${object.space} ${object.symbol}: ${size}, align ${object.alignment}${object.external ? ', external' : ''}`);
  }
  for (const { reason, ptxLine } of kernel.unsupported) lines.push(`  unsupported (line ${ptxLine}): ${reason}`);
  for (const block of kernel.blocks) {
    const notes = [];
    if (block.predecessors.length > 0) notes.push(`from ${block.predecessors.map((id) => `b${id}`).join(' ')}`);
    const loop = kernel.loopOf[block.id];
    if (loop !== null && loop !== undefined) notes.push(`loop ${loop}`);
    lines.push(`b${block.id}:${notes.length > 0 ? ` // ${notes.join(', ')}` : ''}`);
    for (const phi of block.phis) {
      const inputs = phi.inputs.map((input, index) => `b${block.predecessors[index]}: ${printOperand(kernel, input)}`);
      lines.push(`  v${phi.result}:${typeName(kernel, phi.result)} = phi ${inputs.join(', ')}`);
    }
    for (const instruction of block.instructions) lines.push(`  ${printInstruction(kernel, instruction)}`);
    lines.push(`  ${printTerminator(kernel, block.terminator)}`);
  }
  return `${lines.join('\n')}\n`;
}

function typeName(kernel: Kernel, value: number): string {
  const type = kernel.values[value]?.type;
  return type === 'predicate' ? 'p' : String(type);
}

/** One instruction as `results = mnemonic arguments`, constants as signed numbers; no line end. */
function printInstruction(kernel: Kernel, instruction: Instruction): string {
  const { operation, results, offset } = instruction;
  const written = results.map((result) => (result === null ? '_' : `v${result}:${typeName(kernel, result)}`));
  const read = instruction.arguments.map((operand) => printOperand(kernel, operand));
  if (offset !== 0n && read.length > 0) read[0] += offset > 0n ? `+${offset}` : String(offset);
  const { effect } = operation;
  const hint = effect.kind === 'havoc' && !instruction.marker ? ` (${effect.reason})` : '';
  return `${written.length > 0 ? `${written.join(', ')} = ` : ''}${operation.mnemonic}${read.length > 0 ? ` ${read.join(', ')}` : ''}${hint}`;
}

function printOperand(kernel: Kernel, operand: Operand): string {
  switch (operand.kind) {
    case 'value':
      return `v${operand.id}`;
    case 'constant':
      return operand.type === 'predicate' ? String(operand.value !== 0n) : String(BigInt.asIntN(operand.type, operand.value));
    case 'address': {
      const { symbol } = kernel.objects[operand.object]!;
      const offset = operand.offset === 0n ? '' : operand.offset > 0n ? `+${operand.offset}` : String(operand.offset);
      return `${operand.generic ? 'generic ' : ''}&${symbol}${offset}`;
    }
    case 'special':
      return `%${operand.register}`;
    case 'undefined':
      return 'undefined';
  }
}

function printTerminator(kernel: Kernel, terminator: Terminator): string {
  switch (terminator.kind) {
    case 'jump':
      return `jump b${terminator.target}`;
    case 'branch':
      return `branch ${printOperand(kernel, terminator.condition)} ? b${terminator.then} : b${terminator.otherwise}`;
    case 'switch':
      return `switch ${printOperand(kernel, terminator.index)} [${terminator.targets.map((id) => `b${id}`).join(' ')}]`;
    case 'exit':
    case 'trap':
      return terminator.kind;
    case 'unknown':
      return `unknown (${terminator.reason})`;
  }
}
