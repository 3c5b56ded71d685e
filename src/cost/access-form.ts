/**
 * The addresses of the memory accesses of an instruction, as forms over terms: equal for all warps, lanes and
 * iterations.
 */
import type { AccessForm } from './warp-setting.ts';
import { resolveTargets } from '../analysis/values/memory-base.ts';
import type { MemoryAccess } from '../interpreter/core/program.ts';
import type { Instruction } from '../ir/form/kernel.ts';
import type { Term } from '../term/term.ts';
import { withoutReadings } from './lanes/lane-values.ts';
import type { WarpSetting } from './warp-setting.ts';

/** Alignment in bytes of an array passed as a parameter: that of `cudaMalloc`. */
const parameterAlignment = 256;

/** The accesses of an instruction, except for those to local memory; computed once and cached. */
export function accessForms(setting: WarpSetting, instruction: Instruction): readonly AccessForm[] {
  const { accessForms: known } = setting;
  let forms = known.get(instruction);
  if (!forms) {
    const merged = setting.merged.get(instruction);
    forms = merged === 0 ? [] : accessesOf(setting, instruction).flatMap((access) => formOf(setting, instruction, access) ?? []);
    const [only] = forms;
    if (merged !== undefined && only) forms = [{ ...only, shape: { ...only.shape, bytes: merged } }];
    known.set(instruction, forms);
  }
  return forms;
}

/** The accesses of an instruction, in the order in which the interpreter counts them. */
export function accessesOf({ program }: WarpSetting, instruction: Instruction): MemoryAccess[] {
  const first = program.firstAccess.get(instruction);
  if (first === undefined) return [];
  const found: MemoryAccess[] = [];
  for (let index = first; program.accesses[index]?.instruction === instruction.id; index++) found.push(program.accesses[index]!);
  return found;
}

/** The address in an operand of an instruction, as a term. */
export function addressOf({ symbolic }: WarpSetting, instruction: Instruction, source: number): Term {
  const pointer = symbolic.operand(instruction.arguments[source]!);
  return symbolic.store.sum(pointer.width, source === 0 ? instruction.offset : 0n, [[pointer, 1n]]);
}

function formOf(setting: WarpSetting, instruction: Instruction, access: MemoryAccess): AccessForm | null {
  const { symbolic, declaredAs } = setting;
  const { kernel, store, view } = symbolic;
  if (access.space !== 'global' && access.space !== 'shared' && access.space !== 'generic') return null;
  const address = addressOf(setting, instruction, access.source);
  const shifted = store.sum(address.width, BigInt(access.displacement), [[address, 1n]]);
  const targets = resolveTargets(store, kernel, shifted, store.true, declaredAs);
  const [target] = targets;
  const isKnown = targets.length === 1 && target!.base.kind !== 'unknown';
  const offset = isKnown ? target!.offset : shifted;
  const object = isKnown && target!.base.kind === 'object' ? target!.base.object : null;
  if (object?.space === 'local') return null;
  const ofObject = object?.space === 'shared' ? 'shared' : 'global';
  return {
    space: access.space !== 'generic' ? access.space : isKnown ? ofObject : 'generic',
    offset: withoutReadings(setting, view.offset(offset)),
    shape: {
      bytes: access.bytes,
      isAtomic: access.operation === 'atomic',
      alignment: object ? object.alignment : isKnown ? parameterAlignment : 1,
    },
    isParameter: isKnown && !object,
  };
}
