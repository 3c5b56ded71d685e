/** The terms that names in assumptions denote. */
import type { IntegerExpression } from '../../cuda/assumptions/assumption.ts';
import type { Term } from '../../term/term.ts';
import { conditionsOf, isUnsignedType, namedScalar } from '../premises/premises.ts';
import { type StatedSize, statedSizes } from '../premises/stated-sizes.ts';
import type { KernelAndLaunch, SymbolicFacts } from './facts.ts';
import { givenScalar, integerField } from './scalars.ts';

interface NamedTerm {
  /** An atom, or the constant that the launch gives. */
  readonly term: Term;
  readonly isSigned: boolean;
}

/** The term that a name in an assumption denotes; null if it is not a scalar. */
export function namedTerm(
  context: KernelAndLaunch & SymbolicFacts,
  name: Extract<IntegerExpression, { kind: 'parameter' | 'dimension' }>,
): NamedTerm | null {
  const { request, symbolic, dimensions } = context;
  const { store } = symbolic;
  if (name.kind === 'dimension') {
    const axis = 'xyz'.indexOf(name.axis) as 0 | 1 | 2;
    const size = (name.name === 'blockDim' ? dimensions.block : dimensions.grid)[axis];
    const kind = name.name === 'blockDim' ? 'block-size' : 'grid-size';
    return { term: size === null ? store.atom(32, { kind, axis }) : store.constant(32, BigInt(size)), isSigned: false };
  }
  const named = namedScalar(request.parameters, name.path);
  const field = named && integerField(context, named);
  if (!field) return null;
  const { index, offset, bytes } = field;
  const given = givenScalar(request.launch, index, offset, bytes);
  const term = given === undefined ? store.atom(8 * bytes, { kind: 'parameter', index, offset, bytes }) : store.constant(8 * bytes, given); // oxfmt-ignore
  return { term, isSigned: !isUnsignedType(named.type) };
}

/** The assumptions that compare sizes. */
export function comparedSizes(context: KernelAndLaunch & SymbolicFacts): readonly StatedSize[] {
  return statedSizes(conditionsOf(context.request.assumptions), (name) => namedTerm(context, name));
}
