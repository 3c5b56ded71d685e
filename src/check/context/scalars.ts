/** Parameters in three views: declarations of the source, names in assumptions, and values of the launch. */
import type { Launch } from '../../launch/launch.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import { sizeOfType, integerType } from '../../cuda/syntax/basic-type.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Lookup } from '../../assumptions/evaluate.ts';
import type { LaunchName } from '../../assumptions/expression.ts';
import { dynamicSharedBytes, extentsBy } from '../premises/extents.ts';
import { isUnsignedType, namedScalar, type NamedScalar } from '../premises/premises.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import type { KernelAndLaunch } from './facts.ts';
import type { DeclaredAs } from '../../analysis/values/memory-base.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';

/** The declaration of a parameter, or of a field of it, in the source. */
export function declarationOf(parameter: ParameterSource | undefined, offset: number): ReturnType<DeclaredAs> {
  const field = parameter?.fields?.find((candidate) => candidate.offset === offset);
  const type = field?.type ?? (offset === 0 ? parameter?.type : undefined);
  if (type === undefined) return 'unknown';
  if (/[*&]\s*(const|volatile|__restrict__|__restrict|\s)*$/.test(type)) return 'pointer';
  if (field && !/[*&]/.test(type)) return 'scalar';
  return arithmeticType.test(type) ? 'scalar' : 'unknown';
}

const arithmeticType = /^[\w\s]*\b(int|long|short|char|unsigned|size_t|u?int\d+_t|float|double|bool)\b[\w\s]*$/;

/** The field of a parameter at an offset, if the kernel reads it. */
export function fieldAt(context: Pick<KernelAndLaunch, 'fields'>, index: number, offset: number): ParameterField | undefined {
  return context.fields.find((field) => field.index === index && field.offset === offset);
}

/**
 * The scalar that an assumption names, if the kernel reads all of its bytes, as the integer that is declared; undefined
 * otherwise.
 */
export function namedField(context: Pick<KernelAndLaunch, 'kernel' | 'fields'>, named: NamedScalar): ParameterField | undefined {
  if (isFloatParameter(context.kernel, named.index)) return undefined;
  return context.fields.find(
    ({ index, offset, bytes, isPointer }) =>
      index === named.index && offset === named.offset && !isPointer && (sizeOfType(named.type) ?? bytes) === bytes,
  );
}

/**
 * The scalar that an assumption names, even if the kernel does not read it, since statements about it may be
 * contradictory. Undefined if it has no known declaration as an integer.
 */
export function integerField(context: Pick<KernelAndLaunch, 'kernel' | 'fields'>, named: NamedScalar): ParameterField | undefined {
  const read = namedField(context, named);
  if (read) return read;
  const { index, offset, type } = named;
  const parameter = context.kernel.parameters[index];
  if (!parameter) return undefined;
  const declared = integerType(type) ?? (type === '' && offset === 0 ? integerOfPtx(parameter.type) : undefined);
  return declared && { index, offset, bytes: declared.bytes, isPointer: false };
}

function integerOfPtx(type: string): { readonly bytes: number } | undefined {
  const bits = /^[us](8|16|32|64)$/.exec(type)?.[1];
  return bits === undefined ? undefined : { bytes: Number(bits) / 8 };
}

/** What is known of a launch: dimensions, and the bits of scalars; undefined if unknown. */
export interface KnownLaunch {
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly scalar: (field: ParameterField) => bigint | undefined;
}

/** The values of names in expressions, in a launch. */
export function lookupIn(
  kernel: Pick<KernelAndLaunch, 'kernel' | 'fields'>,
  parameters: readonly ParameterSource[],
  { block, grid, scalar }: KnownLaunch,
  named: NamedField = namedFields(kernel, parameters),
): Lookup {
  return (name) => {
    if (name.kind === 'dimension') return BigInt((name.name === 'blockDim' ? block : grid)[name.axis]);
    const found = named(name);
    const value = found ? scalar(found.field) : undefined;
    if (!found || value === undefined) return undefined;
    return found.isUnsigned ? value : BigInt.asIntN(found.field.bytes * 8, value);
  };
}

/** The sizes of memory in a launch: dynamic shared memory, and arrays of which a size is stated, by `INDEX.OFFSET` of the parameter. */
export function memoryOf(
  { request, ...kernel }: Pick<KernelAndLaunch, 'request' | 'kernel' | 'fields'>,
  known: KnownLaunch,
): { readonly sharedBytes: number; readonly extents: ReadonlyMap<string, number> } {
  const { launch, parameters, assumptions } = request;
  const lookup = lookupIn(kernel, parameters, known);
  return { sharedBytes: dynamicSharedBytes(launch, lookup), extents: extentsBy(assumptions, parameters, launch, lookup) };
}

/** The field of a parameter, and whether its type is unsigned; null if no integer has the name. */
export type NamedField = (
  name: Extract<LaunchName, { kind: 'parameter' }>,
) => { readonly field: ParameterField; readonly isUnsigned: boolean } | null;

/** The fields of names, each looked up once: for statements that are evaluated in many launches. */
export function namedFields(kernel: Pick<KernelAndLaunch, 'kernel' | 'fields'>, parameters: readonly ParameterSource[]): NamedField {
  const known = new Map<LaunchName, ReturnType<NamedField>>();
  return (name) => {
    let found = known.get(name);
    if (found === undefined) {
      const named = namedScalar(parameters, name.path);
      const field = named && integerField(kernel, named);
      known.set(name, (found = named && field ? { field, isUnsigned: isUnsignedType(named.type) } : null));
    }
    return found;
  };
}

/** Whether a parameter is a floating-point number. */
export function isFloatParameter(kernel: Kernel, index: number): boolean {
  return /^f/.test(kernel.parameters[index]?.type ?? '');
}

/** The bits of a scalar, if the launch specifies it. */
export function givenScalar(launch: Launch, index: number, offset: number, bytes: number): bigint | undefined {
  const value = launch.scalars.get(index);
  return value === undefined ? undefined : BigInt.asUintN(bytes * 8, value >> BigInt(8 * offset));
}
