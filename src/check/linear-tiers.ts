/** The solver tier of one kernel: a session for pairs within a block and one for pairs between blocks. */
import type { UniformityResult } from '../analysis/uniformity.ts';
import { settled, type Steps } from '../base/steps.ts';
import { type KernelContext, givenScalar, integerField, namedField } from './context.ts';
import { Instances, type PairScope } from './instance.ts';
import { LinearEncoding } from './linear-encoding.ts';
import { LinearTier } from './pair-tiers.ts';
import { type Vocabulary, conditionsOf, encodeCondition, encodeExpression, isUnsignedType } from './premises.ts';

export interface OpenTier {
  readonly tier: LinearTier;
  readonly encoding: LinearEncoding;
}

export class LinearTiers {
  private readonly open = new Map<PairScope, OpenTier>();
  private readonly context: KernelContext;

  constructor(context: KernelContext) {
    this.context = context;
  }

  /** The session of a scope, started on first use. */
  *of(scope: PairScope, uniformity: UniformityResult): Steps<OpenTier> {
    let entry = this.open.get(scope);
    if (!entry) {
      const { request, symbolic, dimensions, tickets, elements } = this.context;
      const solver = yield* settled(request.solver);
      const instances = new Instances(symbolic, uniformity, scope);
      const encoding = new LinearEncoding(symbolic, instances, dimensions, tickets, elements);
      const vocabulary = vocabularyOf(this.context, encoding);
      encoding.rangeOf = (fact, name) =>
        fact.ranges.flatMap(({ low, high }) => {
          const [least, most] = [low, high].map((bound) => encodeExpression(bound, vocabulary, request.parameters));
          return [...(least ? [`(<= ${least} ${name})`] : []), ...(most ? [`(<= ${name} ${most})`] : [])];
        });
      const premises = premisesOf(this.context, encoding, vocabulary);
      entry = { encoding, tier: new LinearTier(solver, encoding, premises, request.budget.solverUnits) };
      this.open.set(scope, entry);
    }
    return entry;
  }

  /** Forgets the sessions: values that were private may be shared now. */
  dispose(): void {
    for (const { tier } of this.open.values()) tier.dispose();
    this.open.clear();
  }
}

/** What the names in assumptions stand for in the solver's words. */
function vocabularyOf(context: KernelContext, encoding: LinearEncoding): Vocabulary {
  const { request, symbolic, dimensions } = context;
  const { store, view } = symbolic;
  const reading = { side: 1 as const, rounds: [] };
  return {
    parameter: (named) => {
      const field = integerField(context, named);
      if (!field) return null;
      const { index, offset, type } = named;
      const given = givenScalar(request.launch, index, offset, field.bytes);
      if (given === undefined && !namedField(context, named)) return encoding.unread(field, isUnsignedType(type));
      const width = field.bytes * 8;
      const term =
        given !== undefined
          ? store.constant(width, given)
          : store.atom(width, { kind: 'parameter', index, offset, bytes: field.bytes });
      return encoding.linear(isUnsignedType(type) ? view.unsigned(term) : view.signed(term), reading);
    },
    dimension: (name, axis) => {
      const size = (name === 'blockDim' ? dimensions.block : dimensions.grid)[axis];
      if (size !== null) return String(size);
      const kind = name === 'blockDim' ? 'block-size' : 'grid-size';
      return encoding.linear(view.unsigned(store.atom(32, { kind, axis })), reading);
    },
  };
}

/** The stated conditions in the solver's words. */
function premisesOf({ request }: KernelContext, encoding: LinearEncoding, vocabulary: Vocabulary): string[] {
  const texts = conditionsOf(request.assumptions).flatMap(
    (condition) => encodeCondition(condition, vocabulary, request.parameters) ?? [],
  );
  encoding.takeAssumptions();
  return texts;
}
