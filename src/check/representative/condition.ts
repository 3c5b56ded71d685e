/**
 * The simplest relation between sizes and scalars that is true exactly for the launch instances that show a finding.
 */
import { type ComparisonOperator, comparisonHolds } from '../../assumptions/operators.ts';
import { type ParameterField, fieldName } from '../../launch/parameter-field.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { isNested } from '../shape/nesting.ts';
import { nestingText } from './nesting-text.ts';
import { type LaunchInstance, lastThread, shapeOf } from './representative-launches.ts';

/** A numeric property of a launch instance. */
interface Quantity {
  readonly name: string;
  readonly of: (setting: LaunchInstance) => bigint;
  readonly isScalar: boolean;
}

const relations: readonly ComparisonOperator[] = ['>', '<', '>=', '<=', '==', '!='];

/** An equation of a scalar with a number of threads is a coincidence. */
const inequalities = relations.slice(0, 4);

const equalFirst: readonly ComparisonOperator[] = ['==', ...relations.filter((operator) => operator !== '==')];

/** The fewest launches that must agree with a condition that has a factor. */
const fewestForFactors = 100;

function doubled({ name, of, isScalar }: Quantity): Quantity {
  return { name: `2 * ${name}`, of: (setting) => 2n * of(setting), isScalar };
}

/** A scalar that is compared with a constant is more likely equal to it. */
function relationsOf(a: Quantity, b: Quantity): readonly ComparisonOperator[] {
  if (!a.isScalar || b.isScalar) return relations;
  return /^\d/.test(b.name) ? equalFirst : inequalities;
}

/**
 * A condition in the language of assumptions, such as `w > h`, that is true exactly for the launch instances that show
 * a finding; null if no simple one exists.
 * @param matters whether the finding depends on a scalar
 */
export function separatingCondition(
  context: KernelAndLaunch & SymbolicFacts,
  settings: readonly { readonly setting: LaunchInstance; readonly isShown: boolean }[],
  matters: (field: ParameterField) => boolean,
): string | null {
  const [shown, others] = [true, false].map((isShown) =>
    settings.filter((one) => one.isShown === isShown).map(({ setting }) => setting),
  ) as [LaunchInstance[], LaunchInstance[]];
  if (shown.length === 0 || others.length === 0) return null;
  const separates = (test: (setting: LaunchInstance) => boolean): boolean => shown.every(test) && !others.some(test);
  const { scalars, constants } = shapeOf(context);
  const quantities: Quantity[] = scalars
    .filter(({ field }) => matters(field))
    .map(({ field, mask }) => {
      // A mask of bits has one value more than its own.
      const more = mask === 'bits' ? 1n : 0n;
      const name = fieldName(context.request.parameters, field, context.kernel);
      return {
        name: more > 0n ? `${name} + ${more}` : name,
        of: ({ scalar }) => BigInt.asIntN(8 * field.bytes, scalar(field)) + more,
        isScalar: true,
      };
    });
  const [ofBlock, ofGrid] = (['block', 'grid'] as const).map((of): Quantity[] =>
    [0, 1, 2].flatMap((axis) =>
      context.dimensions[of][axis] === null
        ? [{ name: `${of}Dim.${'xyz'[axis]}`, of: (setting: LaunchInstance) => BigInt(setting[of][axis]!), isScalar: false }]
        : [],
    ),
  ) as [Quantity[], Quantity[]];
  const sizes = [...ofBlock, ...ofGrid];
  // An axis of which the launch fixes an extent is compared by the other one.
  const reach: Quantity[] = [0, 1, 2].flatMap((axis) =>
    context.dimensions.block[axis] === null && context.dimensions.grid[axis] === null
      ? [
          {
            name: `gridDim.${'xyz'[axis]} * blockDim.${'xyz'[axis]}`,
            of: ({ block, grid }: LaunchInstance) => BigInt(block[axis]! * grid[axis]!),
            isScalar: false,
          },
        ]
      : [],
  );
  const numbers = [...new Set([...scalars.flatMap((one) => one.constants), ...constants, 1n, 32n])].sort((a, b) => Number(a - b));
  const fixed = numbers.map((value) => ({ name: String(value), of: () => value, isScalar: false }));
  // Extents are multiples of a warp more often than not: `blockDim.x < 32`, which the compiler may write as `<= 31`.
  const wholeFirst = [...fixed].sort((a, b) => Number(a.of() % 32n !== 0n) - Number(b.of() % 32n !== 0n));
  const scalarPairs = quantities.flatMap((a, at) => quantities.slice(at + 1).map((b) => [a, b] as const));
  const pairs: (readonly [Quantity, Quantity])[] = [
    ...quantities.flatMap((a) =>
      scalars
        .flatMap((one) => (one.field && one.constants.length > 0 ? one.constants : []))
        .map((value) => [a, { name: String(value), of: () => value, isScalar: false }] as const),
    ),
    ...quantities.flatMap((a) => ofBlock.map((b) => [a, b] as const)),
    ...quantities.flatMap((a) => reach.map((b) => [a, b] as const)),
    ...quantities.flatMap((a) => fixed.map((b) => [a, b] as const)),
    // A scalar is seldom compared with the number of blocks, so these pairs come last.
    ...quantities.flatMap((a) => ofGrid.map((b) => [a, b] as const)),
    ...sizes.flatMap((a) => wholeFirst.map((b) => [a, b] as const)),
    ...sizes.flatMap((a, at) => sizes.slice(at + 1).map((b) => [a, b] as const)),
  ];
  const related = (list: readonly (readonly [Quantity, Quantity])[]): string | null => {
    for (const [a, b] of list)
      for (const operator of relationsOf(a, b))
        if (separates((setting) => comparisonHolds(operator, a.of(setting), b.of(setting))))
          return operator === '<' && b.isScalar ? `${b.name} > ${a.name}` : `${a.name} ${operator} ${b.name}`;
    return null;
  };
  // Only of many launches: a factor makes coincidences more likely.
  const doubledPairs =
    settings.length < fewestForFactors
      ? []
      : scalarPairs.flatMap(
          ([a, b]) =>
            [
              [doubled(a), b],
              [doubled(b), a],
            ] as const,
        );
  const found = related(scalarPairs) ?? overlapping(context, shown, others) ?? related(doubledPairs) ?? related(pairs);
  if (found !== null) return found;
  for (const a of quantities)
    for (const divisor of [2n, 4n, 32n])
      for (const isMultiple of [false, true])
        if (separates((setting) => (a.of(setting) % divisor === 0n) === isMultiple))
          return `${a.name} % ${divisor} ${isMultiple ? '==' : '!='} 0`;
  return null;
}

/** The condition that strides of an access do not nest; null if no such condition separates the launch instances. */
function overlapping(
  context: KernelAndLaunch & SymbolicFacts,
  shown: readonly LaunchInstance[],
  others: readonly LaunchInstance[],
): string | null {
  const { nestings } = shapeOf(context);
  for (const order of ['last', 'first'] as const)
    for (const { stride, below } of nestings(order)) {
      const nests = (setting: LaunchInstance): boolean | null => isNested({ stride, below }, lastThread(context, setting));
      if (!shown.every((setting) => nests(setting) === false) || !others.every((setting) => nests(setting) === true)) continue;
      const text = nestingText(context, stride, below);
      if (text) return text.overlaps;
    }
  return null;
}
