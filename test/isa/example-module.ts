import type { PtxInstruction, PtxOperand, PtxStatement } from '../../src/ptx/ast.ts';
import type { OperandForm, Row } from '../../src/isa/model/row.ts';
import type { Operation, ValueType } from '../../src/isa/model/operation.ts';
import { decode, rowOf } from '../../src/isa/table.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import type { Example, Target } from './examples.ts';

/** A module that ptxas accepts if it accepts each example. */
export function exampleModule(examples: readonly Example[], target: Target): string {
  const body = examples.map(({ text }) => {
    // Instructions that end the thread, or jump, have a guard so that the following code stays reachable.
    const guarded = /^(bra|brx|ret|exit|trap) ?/.test(text) ? `@%p0 ${text}` : text;
    return `\t${guarded};`;
  });
  return `.version 9.0
.target sm_${target}
.address_size 64
.func (.reg .b32 %out) callee (.reg .b32 %in) { mov.b32 %out, %in; ret; }
.visible .entry examples() {
\t.reg .b128 %q<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %e<9>; .reg .pred %p<9>;
TARGETS: .branchtargets DONE;
${body.join('\n')}
DONE:
\tret;
}
`;
}

const widths: Readonly<Record<string, ValueType>> = { h: 16, r: 32, d: 64, q: 128, f: 32, e: 64, p: 'predicate' };

function widthOf(operand: PtxOperand): ValueType | null {
  if (operand.kind === 'not' || operand.kind === 'negative') return widthOf(operand.operand);
  return operand.kind === 'register' ? (widths[/^%([a-z])\d$/.exec(operand.name)?.[1] ?? ''] ?? null) : null;
}

export function operandForm(operand: PtxOperand): OperandForm {
  switch (operand.kind) {
    case 'vector':
      return { kind: 'vector', widths: operand.elements.map(widthOf) };
    case 'pair':
      return { kind: 'pair', widths: [...operandForm(operand.first).widths, widthOf(operand.second)] };
    case 'address':
      return { kind: 'address', widths: [operand.base ? widthOf({ ...operand.base, kind: 'register' }) : null] };
    case 'list':
    case 'bracketed':
    case 'component':
    case 'symbol':
      return { kind: 'other', widths: [] };
    case 'integer':
      return { kind: 'scalar', widths: [null], literal: operand.value };
    default:
      return { kind: 'scalar', widths: [widthOf(operand)] };
  }
}

export interface DecodedExample {
  readonly example: Example;
  readonly instruction: PtxInstruction;
  readonly operation: Operation | null;
  readonly row: Row | null;
}

/** Parses and decodes each example. */
export function decodeExamples(examples: readonly Example[]): DecodedExample[] {
  const { module } = parsePtx(exampleModule(examples, 90));
  const entry = module.items.find((item) => item.kind === 'entry');
  const isInstruction = (statement: PtxStatement): statement is PtxInstruction => statement.kind === 'instruction';
  const instructions = entry?.kind === 'entry' ? (entry.body ?? []).filter(isInstruction) : [];
  return examples.map((example, index) => {
    const instruction = instructions[index]!;
    const { opcode, modifiers, operands } = instruction;
    const shape = operands.map(operandForm);
    const row = rowOf(opcode, modifiers, shape);
    return { example, instruction, operation: decode(opcode, modifiers, shape), row };
  });
}
