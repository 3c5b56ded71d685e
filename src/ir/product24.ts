/**
 * `__mul24` and `__umul24`: nvcc compiles them to functions that truncate both factors to 24 bits and multiply the
 * results. This is the instruction `mul24` (PTX ISA 9.7.1.5), which states that the factors are meant to fit.
 */
import type * as ptx from '../ptx/ast.ts';

/** A register of such a function: a factor, truncated to 24 bits, or shifted to the left for the truncation. */
interface Cut {
  readonly kind: 'unsigned' | 'signed' | 'shifted';
  readonly of: ptx.PtxOperand;
}

const bodies = new WeakMap<ptx.Function, readonly ptx.PtxStatement[]>();

/** The body of a function; with `mul24` if the function only multiplies its parameters truncated to 24 bits. */
export function bodyWithProducts(callee: ptx.Function): readonly ptx.PtxStatement[] {
  const body = callee.body ?? [];
  if (callee.kind !== 'func' || body.length > maxStatements) return body;
  let known = bodies.get(callee);
  if (!known) {
    known = withProducts(body) ?? body;
    bodies.set(callee, known);
  }
  return known;
}

/** Such a function has two loads of parameters, four shifts, a product and a store, with declarations and lines. */
const maxStatements = 32;

/** The statements with `mul24` instead of the products; null if they are not straight-line code with such products. */
function withProducts(body: readonly ptx.PtxStatement[]): readonly ptx.PtxStatement[] | null {
  const written = new Set<string>();
  const cuts = new Map<string, Cut>();
  let products = 0;
  const statements: ptx.PtxStatement[] = [];
  for (const statement of body) {
    if (statement.kind === 'variable' || statement.kind === 'loc' || statement.kind === 'label') {
      statements.push(statement);
      continue;
    }
    // Without a branch, a register that is written once still has the value from which a factor was computed.
    if (statement.kind !== 'instruction' || statement.guard) return null;
    const [result] = statement.operands;
    if (statement.opcode === 'ld' || /^(and|shl|shr|mul)$/.test(statement.opcode)) {
      if (result?.kind !== 'register' || written.has(result.name)) return null;
      written.add(result.name);
      const cut = cutOf(statement, cuts);
      if (cut) cuts.set(result.name, cut);
    } else if (statement.opcode !== 'st' && statement.opcode !== 'ret') return null;
    const product = productOf(statement, cuts);
    if (product) products++;
    statements.push(product ?? statement);
  }
  return products > 0 ? statements : null;
}

function cutOf({ opcode, modifiers, operands }: ptx.PtxInstruction, cuts: ReadonlyMap<string, Cut>): Cut | null {
  const [, of, by] = operands;
  if (!of || by?.kind !== 'integer') return null;
  const [type, ...more] = modifiers;
  if (more.length > 0 || of.kind !== 'register') return null;
  if (opcode === 'and' && type === 'b32' && by.value === 0xffffffn) return { kind: 'unsigned', of };
  if (by.value !== 8n) return null;
  if (opcode === 'shl' && type === 'b32') return { kind: 'shifted', of };
  const shifted = cuts.get(of.name);
  return opcode === 'shr' && type === 's32' && shifted?.kind === 'shifted' ? { kind: 'signed', of: shifted.of } : null;
}

/** The product of two factors truncated by the same operation, as one instruction. */
function productOf(instruction: ptx.PtxInstruction, cuts: ReadonlyMap<string, Cut>): ptx.PtxInstruction | null {
  const [result, ...factors] = instruction.operands;
  if (instruction.opcode !== 'mul' || !/^lo [su]32$/.test(instruction.modifiers.join(' '))) return null;
  const [a, b] = factors.map((factor) => (factor.kind === 'register' ? cuts.get(factor.name) : undefined));
  if (!a || !b || a.kind !== b.kind || a.kind === 'shifted') return null;
  const type = a.kind === 'signed' ? 's32' : 'u32';
  return { ...instruction, opcode: 'mul24', modifiers: ['lo', type], operands: [result!, a.of, b.of] };
}
