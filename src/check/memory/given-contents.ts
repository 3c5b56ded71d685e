/** Elements of arrays that the host program fills before the launch, as threads read them. */
import type { Access } from '../../analysis/values/access.ts';
import type { Target } from '../../analysis/values/memory-base.ts';
import { integerType } from '../../cuda/syntax/basic-type.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import type { Term } from '../../term/term.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { baseName } from '../context/names.ts';

/** The access that reads the value of a leaf. */
export function accessOfLeaf({ kernel, accesses }: KernelAndLaunch & SymbolicFacts, { atom }: Term): Access | undefined {
  const definition = atom?.kind === 'havoc' ? kernel.values[atom.value]?.definition : undefined;
  return accesses.find(({ instruction }) => definition?.kind === 'instruction' && instruction === definition.instruction);
}

/** Whether a leaf is an element of an array that the host program fills with values that are known. */
export function isGivenElement(context: KernelAndLaunch & SymbolicFacts, leaf: Term): boolean {
  return accessOfLeaf(context, leaf)?.targets.every(({ base }) => isFilledBefore(context, base)) === true;
}

function isFilledBefore({ request }: KernelAndLaunch, base: Target['base']): boolean {
  return base.kind === 'parameter' && base.offset === 0 && request.launch.contents?.arrays.has(base.index) === true;
}

/** The element that a leaf is, and its value; null if the numbers do not determine it, or it is not given. */
export function givenElement(
  context: KernelAndLaunch & SymbolicFacts,
  leaf: Term,
  valueOf: (leaf: Term) => bigint | undefined,
): { readonly element: string; readonly value: number } | null {
  const read = accessOfLeaf(context, leaf);
  const [target, ...others] = read?.targets ?? [];
  if (!read || !target || others.length > 0 || target.base.kind !== 'parameter' || !isFilledBefore(context, target.base)) return null;
  const { parameters, launch } = context.request;
  const start = evaluateTerm(target.offset, valueOf, new Map());
  const index = start === undefined ? -1 : Number(BigInt.asIntN(64, start)) / read.bytes;
  const type = parameters[target.base.index]?.type.replace(/\bconst\b|\*.*$/g, '').trim() ?? '';
  const value = integerType(type)?.bytes === read.bytes ? launch.contents?.arrays.get(target.base.index)?.[index] : undefined;
  return value === undefined ? null : { element: `${baseName(context, target.base)}[${index}]`, value };
}
