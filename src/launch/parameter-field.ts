/** The parts of kernel parameters that a kernel reads, and their names. */
import type { ParameterSource } from './parameter-source.ts';
import type { Base } from '../analysis/values/memory-base.ts';
import type { Instruction, Kernel } from '../ir/form/kernel.ts';

/** A part of a parameter that the kernel reads: `bytes` bytes at `offset`. */
export interface ParameterField {
  readonly index: number;
  readonly offset: number;
  readonly bytes: number;
  /** Whether the kernel uses the field as a pointer to an array. */
  readonly isPointer: boolean;
}

/** Lists the parameter fields that a kernel reads, and marks those that it uses as pointers. */
export function parameterFields(kernel: Kernel, bases: Iterable<Base>, parameters: readonly ParameterSource[]): ParameterField[] {
  const pointers = new Set<string>();
  for (const base of bases) if (base.kind === 'parameter') pointers.add(`${base.index}.${base.offset}`);
  const fields = new Map<string, ParameterField>();
  const visit = (instruction: Instruction): void => {
    const { effect } = instruction.operation;
    const base = instruction.arguments[0];
    if (effect.kind !== 'load' || base?.kind !== 'address') return;
    const object = kernel.objects[base.object]!;
    if (object.space !== 'param' || object.parameter === undefined) return;
    for (let lane = 0; lane < effect.lanes; lane++) {
      const offset = Number(base.offset + instruction.offset) + lane * effect.bytes;
      const key = `${object.parameter}.${offset}`;
      const source = parameters[object.parameter];
      const type = memberAt(source, offset)?.type ?? (offset === 0 ? source?.type : undefined);
      const declared = type?.trim().endsWith('*') ?? false;
      const isPointer = effect.bytes === 8 && (pointers.has(key) || declared);
      fields.set(`${key}.${effect.bytes}`, { index: object.parameter, offset, bytes: effect.bytes, isPointer });
    }
  };
  for (const block of kernel.blocks) block.instructions.forEach(visit);
  return [...fields.values()].sort((a, b) => a.index - b.index || a.offset - b.offset || a.bytes - b.bytes);
}

/** The name of a parameter in the source, or `param0`, … without source. */
export function parameterName(parameters: readonly ParameterSource[], index: number): string {
  return parameters[index]?.name || `param${index}`;
}

/** The member of a struct parameter at an offset, if its definition is known. */
function memberAt(parameter: ParameterSource | undefined, offset: number): { name: string; type: string } | undefined {
  return parameter?.fields?.find((candidate) => candidate.offset === offset);
}

/** The name of a field: that of the parameter, `p.n`, or `p+8` in a struct whose definition is unknown. */
export function fieldName(parameters: readonly ParameterSource[], field: { index: number; offset: number }, kernel: Kernel): string {
  const name = parameterName(parameters, field.index);
  const member = memberAt(parameters[field.index], field.offset);
  if (member) return `${name}.${member.name}`;
  const isStruct = /^b/.test(kernel.parameters[field.index]?.type ?? '') || field.offset > 0;
  return isStruct ? `${name}+${field.offset}` : name;
}

/** Whether a field is a floating-point number, by its PTX type or its declaration as a member of a struct. */
export function isFloat(kernel: Kernel, parameters: readonly ParameterSource[], field: ParameterField): boolean {
  const type = kernel.parameters[field.index]?.type ?? '';
  if (/^b/.test(type)) return /\b(float|double)\b/.test(memberAt(parameters[field.index], field.offset)?.type ?? '');
  return /^f/.test(type);
}

/** The bits of a scalar as a literal of the source language. */
export function scalarText(kernel: Kernel, parameters: readonly ParameterSource[], field: ParameterField, value: bigint): number | string {
  const float = isFloat(kernel, parameters, field);
  if (float && field.bytes === 4) return new Float32Array(new Uint32Array([Number(BigInt.asUintN(32, value))]).buffer)[0]!;
  if (float && field.bytes === 8) return new Float64Array(new BigUint64Array([value]).buffer)[0]!;
  const signed = BigInt.asIntN(field.bytes * 8, value);
  const isSafe = signed >= BigInt(Number.MIN_SAFE_INTEGER) && signed <= BigInt(Number.MAX_SAFE_INTEGER);
  return isSafe ? Number(signed) : signed.toString();
}
