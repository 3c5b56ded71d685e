/** Names in reports for values and accesses of a kernel: terms, arrays, places in the source. */
import { type Location, outsideToolkit } from '../../source/location.ts';
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { Base } from '../../analysis/values/memory-base.ts';
import type { Term, TermStore } from '../../term/term.ts';
import { fieldName, parameterName } from '../../launch/parameter-field.ts';
import { type TermNames, printTerm } from '../../analysis/values/print-term.ts';
import type { KernelAndLaunch, SymbolicFacts } from './facts.ts';

/** The facts needed to name a value. */
type NamedValues = Pick<KernelAndLaunch, 'request' | 'kernel'> & Pick<SymbolicFacts, 'accesses' | 'symbolic'>;

/** Nesting depth to which loads within the index of a load are spelled out. */
const deepestLoads = 2;

function termNames(context: NamedValues, depth = 0): TermNames {
  const { request } = context;
  return {
    parameter: (index, offset) => fieldName(request.parameters, { index, offset }, request.kernel),
    object: (object) => request.objectName(request.kernel.objects[object]!.symbol),
    unknown: (value) => (depth < deepestLoads ? describeLoaded(context, value, depth) : undefined),
  };
}

/** The array element that a value was read from: `flags[blockIdx.x]`. */
function describeLoaded(context: NamedValues, value: number, depth: number): string | undefined {
  const { kernel, accesses, symbolic } = context;
  const definition = kernel.values[value]?.definition;
  if (definition?.kind !== 'instruction' || definition.instruction.operation.effect.kind !== 'load') return undefined;
  const { lanes, bytes } = definition.instruction.operation.effect;
  const access = accesses.find(({ instruction }) => instruction === definition.instruction);
  const [target, ...others] = access?.targets ?? [];
  if (!target || others.length > 0 || target.base.kind === 'unknown' || lanes > 1) return undefined;
  const index = elementIndex(symbolic.store, target.offset, bytes);
  return index === null ? undefined : `${baseName(context, target.base)}[${printTerm(index, termNames(context, depth + 1))}]`;
}

/** The index of the element with this size that starts at an offset; null if the form of the offset does not show it. */
export function elementIndex(store: TermStore, offset: Term, bytes: number): Term | null {
  const { operator, width, value, arguments: parts, coefficients } = offset;
  if (operator === 'constant') return value % BigInt(bytes) === 0n ? store.constant(width, value / BigInt(bytes)) : null;
  if (operator !== 'sum' || ![value, ...coefficients].every((part) => part % BigInt(bytes) === 0n)) return null;
  const shares = parts.map((part, i) => [part, coefficients[i]! / BigInt(bytes)] as const);
  return store.sum(width, BigInt.asIntN(width, value) / BigInt(bytes), shares);
}

const longestText = 160;

/** A term in the words of the source, shortened. */
export function describeTerm(context: NamedValues, term: Term): string {
  const text = printTerm(term, termNames(context));
  return text.length > longestText ? `${text.slice(0, longestText - 3)}...` : text;
}

/** A term in the words of the source, however long. */
export function wholeTerm(context: NamedValues, term: Term): string {
  return printTerm(term, termNames(context));
}

/** The name of the memory that an access points into. */
export function baseName({ request, kernel }: Pick<KernelAndLaunch, 'request' | 'kernel'>, base: Base): string {
  if (base.kind === 'object') return request.objectName(base.object.symbol);
  if (base.kind === 'parameter')
    return base.offset === 0 && !/^b/.test(kernel.parameters[base.index]?.type ?? '')
      ? parameterName(request.parameters, base.index)
      : fieldName(request.parameters, base, kernel);
  return base.kind === 'loaded' ? `${baseName({ request, kernel }, base.table)}[...]` : 'memory';
}

/** The user's source location of an instruction: the innermost frame outside the toolkit's headers. */
export function placeOf(kernel: Kernel, instruction: Pick<Instruction, 'location' | 'ptxLine'>): Location {
  const place = outsideToolkit(instruction.location ?? locationBeside(kernel, instruction.ptxLine)) ?? kernel.location;
  return place ?? { file: kernel.symbol, line: Math.max(1, instruction.ptxLine) };
}

/**
 * Location of the preceding code in the basic block, otherwise of the following code. Moved and merged instructions
 * have no location.
 */
function locationBeside({ blocks }: Kernel, ptxLine: number): Location | undefined {
  for (const { instructions, terminator } of blocks) {
    const at = instructions.findIndex((instruction) => instruction.ptxLine === ptxLine);
    if (at === -1) continue;
    const before = instructions.slice(0, at).findLast(({ location }) => location);
    const after = instructions.slice(at + 1).find(({ location }) => location);
    return before?.location ?? after?.location ?? ('location' in terminator ? terminator.location : undefined);
  }
  return undefined;
}

/** Formats a dimension: `(256, 1, 1)`. */
export function tuple(dim: readonly number[]): string {
  return `(${dim.join(', ')})`;
}
