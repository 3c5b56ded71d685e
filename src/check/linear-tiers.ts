/** The solver tier of one kernel: a session for pairs within a block and one for pairs between blocks. */
import type { UniformityResult } from '../analysis/uniformity.ts';
import { type KernelContext, givenScalar, integerField, namedField } from './context.ts';
import { Instances, type PairScope } from './instance.ts';
import { LinearEncoding } from './linear-encoding.ts';
import { LinearTier } from './pair-tiers.ts';
import { conditionsOf, encodeCondition, isUnsignedType } from './premises.ts';

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
  async of(scope: PairScope, uniformity: UniformityResult): Promise<OpenTier> {
    let entry = this.open.get(scope);
    if (!entry) {
      const { request, symbolic, dimensions, tickets } = this.context;
      const solver = await request.solver();
      const encoding = new LinearEncoding(symbolic, new Instances(symbolic, uniformity, scope), dimensions, tickets);
      const premises = premisesOf(this.context, encoding);
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

/** The stated assumptions in the solver's words. */
function premisesOf(context: KernelContext, encoding: LinearEncoding): string[] {
  const { request, symbolic, dimensions } = context;
  const { store, view } = symbolic;
  const reading = { side: 1 as const, rounds: [] };
  const texts: string[] = [];
  for (const condition of conditionsOf(request.assumptions)) {
    const text = encodeCondition(
      condition,
      {
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
      },
      request.parameters,
    );
    if (text !== null) texts.push(text);
  }
  encoding.takeAssumptions();
  return texts;
}
