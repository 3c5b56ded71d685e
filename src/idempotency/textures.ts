/**
 * Fetches from textures. The program binds memory to a texture object, which a launch does not reveal: a launch is
 * idempotent unless the kernel writes to the memory that it is bound to.
 */
import { weak } from '../memory-model/conflict.ts';
import { pointsOf } from '../analysis/values/program-point.ts';
import type { Instruction, Kernel } from '../ir/form/kernel.ts';
import type * as ptx from '../ptx/ast.ts';
import type { Footprint } from './footprint/footprint.ts';
import { always, type Quantity } from './model/quantity.ts';

/** A texture object among the arguments: `offset` bytes into parameter `index`. */
interface TextureParameter {
  readonly index: number;
  readonly offset: number;
}

/**
 * The parameters with the texture objects of fetches. The IR leaves out the brackets of a fetch, so they are read from
 * the PTX: registers that one instruction loads from a parameter, and others copy.
 * @param module the PTX that the kernel is from
 * @returns nothing for a fetch whose texture object is not certainly a parameter
 */
export function textureParameters(kernel: Kernel, module: ptx.Module): ReadonlyMap<Instruction, TextureParameter> {
  const found = new Map<Instruction, TextureParameter>();
  const fetches = pointsOf(kernel, isFetch);
  const entry = module.items.find((item): item is ptx.Function => item.kind === 'entry' && item.name === kernel.symbol);
  if (fetches.length === 0 || !entry?.body) return found;
  const byLine = new Map<number, ptx.PtxInstruction[]>();
  const definitions = new Map<string, ptx.PtxInstruction[]>();
  const walk = (statements: readonly ptx.PtxStatement[]): void => {
    for (const statement of statements) {
      if (statement.kind === 'scope') walk(statement.body);
      if (statement.kind !== 'instruction') continue;
      const { line } = statement.span;
      byLine.set(line, [...(byLine.get(line) ?? []), statement]);
      for (const name of registersOf(statement.operands[0])) definitions.set(name, [...(definitions.get(name) ?? []), statement]);
    }
  };
  walk(entry.body);
  for (const { instruction } of fetches) {
    const [fetch, ...others] = byLine.get(instruction.ptxLine) ?? [];
    const source = fetch?.operands[1];
    const handle = source?.kind === 'bracketed' ? source.elements[0] : undefined;
    if (others.length > 0 || !fetch || !/^(tex|tld4)$/.test(fetch.opcode) || !handle) continue;
    const parameter = parameterIn(handle, kernel, definitions);
    if (parameter) found.set(instruction, parameter);
  }
  return found;
}

/** Copies that are followed. */
const maxCopies = 8;

/** The parameter that a register contains. */
function parameterIn(
  handle: ptx.PtxOperand,
  { parameters }: Kernel,
  definitions: ReadonlyMap<string, readonly ptx.PtxInstruction[]>,
): TextureParameter | null {
  let name = handle.kind === 'register' ? handle.name : baseOf(handle, 'register');
  for (let copies = 0; name !== null && copies < maxCopies; copies++) {
    const [definition, ...others] = definitions.get(name) ?? [];
    if (!definition || others.length > 0 || definition.guard) return null;
    const { opcode, modifiers, operands } = definition;
    const [destination, source] = operands;
    if (destination?.kind !== 'register' || !source || !/^[bu]64$/.test(modifiers.at(-1) ?? '')) return null;
    if (opcode === 'ld' && modifiers[0] === 'param' && source.kind === 'address') {
      const symbol = baseOf(source, 'symbol');
      const parameter = parameters.find((one) => one.symbol === symbol);
      return parameter ? { index: parameter.index, offset: Number(source.offset) } : null;
    }
    name = opcode === 'mov' && source.kind === 'register' ? source.name : null;
  }
  return null;
}

function baseOf(operand: ptx.PtxOperand, kind: ptx.AddressBase['kind']): string | null {
  return operand.kind === 'address' && operand.base?.kind === kind ? operand.base.name : null;
}

/** Registers that an operand names, with those in vectors and pairs. */
function registersOf(operand: ptx.PtxOperand | undefined): string[] {
  switch (operand?.kind) {
    case 'register':
      return [operand.name];
    case 'vector':
    case 'list':
      return operand.elements.flatMap(registersOf);
    case 'pair':
      return [operand.first, operand.second].flatMap(registersOf);
    default:
      return [];
  }
}

/** Whether an instruction fetches from a texture. */
export function isFetch({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'havoc' && effect.reason === 'texture fetch';
}

/** Footprints of textures among the arguments: any byte of the memory that they are bound to. */
export function texturesOf(kernel: Kernel, module: ptx.Module): readonly Footprint[] {
  const parameters = textureParameters(kernel, module);
  const one: Quantity = { kind: 'constant', value: 1n };
  return pointsOf(kernel, isFetch).flatMap(({ instruction, block, position }, at): Footprint[] => {
    const parameter = parameters.get(instruction);
    if (!parameter) return [];
    const texture: Quantity = { kind: 'argument', ...parameter, bytes: 8, signed: false };
    const bytes = {
      base: { kind: 'texture-start', texture },
      steps: [{ stride: one, count: { kind: 'texture-bytes', texture } }],
      bytes: 1,
    } as const;
    const access = {
      ...weak,
      index: -1 - at,
      instruction,
      block,
      position,
      operation: 'read',
      memory: 'global',
      bytes: 1,
      targets: [],
      stored: null,
      isCopy: false,
    } as const;
    return [{ access, root: { kind: 'texture', ...parameter }, bytes, variables: [], needs: always, exact: false, reason: null }];
  });
}
