/** The terms that names in assumptions denote. */
import type { IntegerExpression, LaunchName } from '../../assumptions/expression.ts';
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

/** What decides the meaning of a name: the declarations of the parameters, and the launch. */
export type NameContext = Pick<KernelAndLaunch, 'request' | 'kernel' | 'fields' | 'dimensions'> & Pick<SymbolicFacts, 'symbolic'>;

/** The term that a name in an assumption denotes; null if it is not a scalar. */
export function namedTerm(context: NameContext, name: LaunchName): NamedTerm | null {
  const { request, symbolic, dimensions } = context;
  const { store } = symbolic;
  if (name.kind === 'dimension') {
    const { axis } = name;
    const size = (name.name === 'blockDim' ? dimensions.block : dimensions.grid)[axis];
    const kind = name.name === 'blockDim' ? 'block-size' : 'grid-size';
    return { term: size === null ? store.atom(32, { kind, axis }) : store.constant(32, BigInt(size)), isSigned: false };
  }
  const named = namedScalar(request.parameters, name.path);
  const field = named && integerField(context, named);
  if (!field) return null;
  const { index, offset, bytes } = field;
  const given = givenScalar(request.launch, index, offset, bytes);
  const term = given === undefined ? store.atom(8 * bytes, { kind: 'parameter', index, offset, bytes }) : store.constant(8 * bytes, given);
  return { term, isSigned: !isUnsignedType(named.type) };
}

/** The assumptions that compare sizes. */
export function comparedSizes(context: KernelAndLaunch & SymbolicFacts): readonly StatedSize[] {
  return statedSizes(conditionsOf(context.request.assumptions), (name) => namedTerm(context, name));
}

/** The low 64 bits of a sum or product of names and numbers as a term; null for other expressions. */
export function wordOf(context: NameContext, expression: IntegerExpression): Term | null {
  const { store } = context.symbolic;
  switch (expression.kind) {
    case 'integer':
      return store.constant(64, BigInt.asUintN(64, expression.value));
    case 'parameter':
    case 'dimension': {
      const named = namedTerm(context, expression);
      if (!named) return null;
      return named.isSigned ? store.signExtend(64, named.term) : store.zeroExtend(64, named.term);
    }
    case 'arithmetic': {
      const [left, right] = [wordOf(context, expression.left), wordOf(context, expression.right)];
      if (!left || !right || (expression.operator !== '+' && expression.operator !== '*')) return null;
      return expression.operator === '+' ? store.add(64, left, right) : store.mul(64, left, right);
    }
    default:
      return null;
  }
}
