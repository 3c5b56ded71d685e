/**
 * The stack frame of a function (`__local_depotN`) split into its variables. nvcc computes the address of a variable
 * with `add.u64 %rd, %SP, c` and addresses inside it with further instructions, so a variable starts at every such `c`;
 * the bytes up to the next start are treated as a separate object.
 */
import type * as ptx from '../ptx/ast.ts';
import { newObject } from './form/draft.ts';
import type { Operand } from './form/kernel.ts';
import type { Expansion, FramePart, BindingScope } from './name-bindings.ts';
import { declarationBytes, typeBytes } from './name-bindings.ts';

/** Whether a register is a stack pointer, `%SP` (generic) or `%SPL` (local). */
export function isFrameRegister(name: string): boolean {
  return name === '%SP' || name === '%SPL';
}

/** Binds `%SP` and `%SPL` of a function instance to the variables of its frame, if they can be distinguished. */
export function bindFrame(expansion: Expansion, scope: BindingScope, callee: ptx.Function): void {
  const frame = frameOf(callee);
  if (!frame) return;
  const { frames } = expansion.symbols;
  let starts = frames.get(callee);
  if (starts === undefined) {
    starts = variableStarts(callee.body ?? [], frame.name);
    frames.set(callee, starts);
  }
  if (!starts) return;
  const bytes = declarationBytes(frame) ?? 0;
  const parts = starts.map((start, index): FramePart => {
    const object = newObject(expansion.draft, {
      symbol: `${frame.name}+${start}`,
      space: 'local',
      alignment: alignmentAt(frame.alignment ?? 1, start),
      elementBytes: 1,
      bytes: (starts[index + 1] ?? bytes) - start,
      external: false,
    });
    expansion.draft.parts.add(object);
    return { start, object };
  });
  scope.names.set('%SP', { kind: 'frame', generic: true, parts });
  scope.names.set('%SPL', { kind: 'frame', generic: false, parts });
}

function alignmentAt(alignment: number, start: number): number {
  return start === 0 ? alignment : Math.min(alignment, start & -start);
}

function frameOf(callee: ptx.Function): ptx.VariableDeclaration | null {
  for (const statement of callee.body ?? []) {
    if (statement.kind === 'variable' && statement.space === 'local' && /^__local_depot\d+$/.test(statement.name)) {
      return statement;
    }
  }
  return null;
}

/** The address of byte `at` of a frame. */
export function partAddress(frame: { readonly generic: boolean; readonly parts: readonly FramePart[] }, at: number): Operand {
  let part = frame.parts[0]!;
  for (const candidate of frame.parts) if (candidate.start <= at) part = candidate;
  return { kind: 'address', object: part.object, offset: BigInt(at - part.start), width: 64, generic: frame.generic };
}

/**
 * The first bytes of the variables, 0 among them. Null if there is only one, or if the stack pointers have other uses
 * than their setup, an access at a constant offset or the address of a variable.
 */
function variableStarts(body: readonly ptx.PtxStatement[], frame: string): readonly number[] | null {
  const starts = new Set([0]);
  const accesses: { start: number; end: number }[] = [];
  const understood = (statements: readonly ptx.PtxStatement[]): boolean =>
    statements.every((statement) => {
      if (statement.kind === 'scope') return understood(statement.body);
      if (statement.kind === 'damage') return false;
      if (statement.kind !== 'instruction' || !statement.operands.some(namesFrame)) return true;
      const [first, second, third] = statement.operands;
      if (statement.guard) return false;
      if (first?.kind === 'register' && isFrameRegister(first.name)) return setsUp(statement, frame);
      if (statement.opcode === 'add' && first?.kind === 'register' && third?.kind === 'integer') {
        if (second?.kind !== 'register' || statement.modifiers[0] !== 'u64' || third.value < 0n) return false;
        starts.add(Number(third.value));
        return true;
      }
      const address = statement.opcode === 'st' ? first : statement.opcode === 'ld' ? second : undefined;
      const size = accessBytes(statement.modifiers);
      if (address?.kind !== 'address' || size === 0 || address.offset < 0n) return false;
      if (statement.operands.some((operand) => operand !== address && namesFrame(operand))) return false;
      accesses.push({ start: Number(address.offset), end: Number(address.offset) + size });
      return true;
    });
  if (!understood(body) || starts.size === 1) return null;
  for (const { start, end } of accesses) {
    for (const boundary of starts) if (start < boundary && boundary < end) starts.delete(boundary);
  }
  return [...starts].sort((a, b) => a - b);
}

/** Whether an operand is a stack pointer or contains one. */
function namesFrame(operand: ptx.PtxOperand): boolean {
  switch (operand.kind) {
    case 'register':
      return isFrameRegister(operand.name);
    case 'address':
      return operand.base !== null && isFrameRegister(operand.base.name);
    case 'vector':
    case 'list':
    case 'bracketed':
      return operand.elements.some(namesFrame);
    case 'pair':
      return namesFrame(operand.first) || namesFrame(operand.second);
    case 'not':
    case 'negative':
      return namesFrame(operand.operand);
    case 'element':
      return namesFrame(operand.index);
    default:
      return false;
  }
}

/** `mov.u64 %SPL, __local_depotN` and `cvta.local.u64 %SP, %SPL`. */
function setsUp({ opcode, operands }: ptx.PtxInstruction, frame: string): boolean {
  const [destination, source] = operands;
  if (destination?.kind !== 'register') return false;
  return destination.name === '%SPL'
    ? opcode === 'mov' && source?.kind === 'symbol' && source.name === frame && source.offset === 0n
    : opcode === 'cvta' && source?.kind === 'register' && source.name === '%SPL';
}

/** Bytes of a `ld` or `st` with these modifiers, 0 if its type is not clear. */
function accessBytes(modifiers: readonly string[]): number {
  const lanes = Number(modifiers.find((modifier) => /^v[248]$/.test(modifier))?.slice(1) ?? 1);
  return lanes * typeBytes(modifiers.at(-1) ?? '');
}
