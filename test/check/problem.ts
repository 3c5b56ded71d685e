/** The obligations of a kernel with the context that decides them, for the tests of the tiers. */
import { describeTerm } from '../../src/check/context/names.ts';
import type { KernelContext } from '../../src/check/context/facts.ts';
import { barrierIntervals } from '../../src/analysis/barriers/barrier-interval.ts';
import { controlDependence } from '../../src/analysis/values/control-dependence.ts';
import { inferUniformity } from '../../src/analysis/values/uniformity.ts';
import { kernelContext } from '../../src/check/context/kernel-facts.ts';
import { conflictOf } from '../../src/memory-model/conflict.ts';
import { comparedSizes } from '../../src/check/context/named-term.ts';
import { refutedByDigits } from '../../src/check/radix/size-digits.ts';
import { addressDifference } from '../../src/check/obligations/difference.ts';
import { Instances } from '../../src/check/obligations/instance.ts';
import { type Conflicts, type MayAlias, type Obligation, blockPairs, gridPairs } from '../../src/check/obligations/obligation.ts';
import type { Term } from '../../src/term/term.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { type CheckOptions, requestFor } from './kernel-text.ts';

/** Context in which the obligations of a kernel in one scope are decided. */
export interface Problem {
  readonly context: KernelContext;
  readonly instances: Instances;
  readonly obligations: readonly Obligation[];
}

/** Bases alias if they are the same. */
export const byKey: MayAlias = (a, b) => (a.key === b.key ? 'same' : 'apart');

/** The obligations of a kernel, by scope; a few for each pair of accesses. */
export function problemsOf(kernel: Kernel, options: CheckOptions): Problem[] {
  const context = kernelContext(requestFor(kernel, options));
  const { symbolic, accesses, loaded } = context;
  const uniformity = inferUniformity(kernel, controlDependence(kernel), loaded, new Set());
  const { intervals } = barrierIntervals(symbolic, accesses, uniformity);
  const conflicts: Conflicts = (a, b, scope) => {
    const kind = conflictOf(a, b, scope === 'block' ? 0 : 2);
    return kind && { kind, betweenClusters: null };
  };
  return (['block', 'grid'] as const).map((scope) => {
    const pairs =
      scope === 'block'
        ? blockPairs(symbolic, { block: [{ warp: null, intervals }], own: [], crossings: [] }, conflicts, byKey, false, { conditions: 1e6 })
        : gridPairs(symbolic, accesses, null, conflicts, byKey, { conditions: 1e6 });
    const obligations = pairs.flatMap((pair) => pair.obligations.slice(0, 6));
    return { context, instances: new Instances(symbolic, uniformity, scope), obligations };
  });
}

/** What the digits of two addresses assume to refute an overlap; null if they do not refute it. */
export function refutedIn({ context, instances }: Problem, obligation: Obligation): readonly Term[] | null {
  const { symbolic, dimensions } = context;
  const tier = { symbolic, instances, dimensions, evaluations: 0, stated: comparedSizes(context) };
  return refutedByDigits(tier, obligation, addressDifference(symbolic, instances, obligation));
}

export function describe({ context }: Problem, { first, second, scope }: Obligation): string {
  const side = ({ target, reading }: Obligation['first']): string =>
    `${describeTerm(context, target.offset)} in iterations ${reading.rounds.join()}`;
  return `${scope}: ${side(first)} and ${side(second)}`;
}

export const shown = (found: ReadonlyMap<string, bigint> | null): string =>
  [...(found ?? [])].map(([name, value]) => `${name}=${value}`).join(' ');
