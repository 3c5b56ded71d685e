/** Whether two threads that store to one element provably store equal values. */
import { isSharedByWarp } from '../analysis/values/butterfly.ts';
import type { Steps } from '../base/steps.ts';
import { warpSize } from '../device/hardware-limits.ts';
import type { Term } from '../term/term.ts';
import type { KernelAndLaunch, SymbolicFacts } from './context/facts.ts';
import { decideCheaply } from './deciding/cheap-tiers.ts';
import type { SolverTiers } from './deciding/solver-tiers.ts';
import type { Instances, Reading, TierContext } from './obligations/instance.ts';
import type { AccessPair, Obligation } from './obligations/obligation.ts';
import type { Access } from '../analysis/values/access.ts';
import { isUsed } from '../ir/form/uses.ts';
import { exchangedBy } from './ordering/synchronising-access.ts';
import { conditionsOf, multipleOf } from './premises/premises.ts';

/** Whether both threads of an obligation store equal values, as the terms alone tell. */
export function storesSameValue(
  facts: KernelAndLaunch & SymbolicFacts,
  context: TierContext,
  obligation: Obligation,
): boolean {
  const { first, second } = obligation;
  const lanes = storedLanes(facts, obligation);
  if (!lanes) return false;
  return (
    lanes.every(([a, b]) => isShared(context.instances, a, b, first.reading, second.reading)) ||
    (storesValueOfWarp(facts, obligation) && staysInWarp(context, obligation))
  );
}

/** What both threads store, lane by lane; null where they do not store as many bytes. */
function storedLanes(
  facts: KernelAndLaunch & SymbolicFacts,
  { first, second }: Obligation,
): (readonly [Term, Term])[] | null {
  const [a, b] = [first.access, second.access].map((access) => access.stored ?? exchangedLiteral(facts, access));
  if (!a || !b || a.length !== b.length || first.access.bytes !== second.access.bytes) return null;
  return a.map((term, lane) => [term, b[lane]!] as const);
}

/** What an atomic exchange leaves, if that is a literal and nothing uses what was there before; null for other accesses. */
function exchangedLiteral(
  { kernel, symbolic }: KernelAndLaunch & SymbolicFacts,
  access: Access,
): readonly Term[] | null {
  const left = exchangedBy(symbolic, access);
  if (left?.operator !== 'constant') return null;
  return access.instruction.results.some((id) => id !== null && isUsed(kernel, id)) ? null : [left];
}

function isShared(instances: Instances, a: Term, b: Term, of: Reading, other: Reading): boolean {
  if (a !== b) return false;
  return a.leaves.length === 0 || instances.isShared(a, of, other);
}

/** Whether the block consists of whole warps, as its extents or what is stated of them say. */
function hasWholeWarps({ dimensions, request }: KernelAndLaunch): boolean {
  const stated = conditionsOf(request.assumptions).flatMap((condition) => multipleOf(condition) ?? []);
  const divisors = dimensions.block.map((size, axis) => {
    if (size !== null) return size;
    const known = stated.find(
      ({ expression }) =>
        expression.kind === 'dimension' && expression.name === 'blockDim' && expression.axis === 'xyz'[axis],
    );
    return Number(known?.divisor ?? 1n);
  });
  return divisors.reduce((product, divisor) => product * divisor, 1) % warpSize === 0;
}

/** Whether one instruction stores what all lanes of a warp share. */
function storesValueOfWarp(facts: KernelAndLaunch & SymbolicFacts, obligation: Obligation): boolean {
  const { symbolic, kernel } = facts;
  const { first, second, scope } = obligation;
  const { instruction, stored, block } = first.access;
  if (scope !== 'block' || first.access !== second.access || !stored) return false;
  // Another round of a loop may store another value.
  if (kernel.loopOf[block] !== null || !hasWholeWarps(facts)) return false;
  return instruction.arguments
    .slice(1, 1 + stored.length)
    .every((operand) => operand.kind === 'value' && isSharedByWarp(symbolic, operand.id));
}

/** Whether the threads of an obligation meet only where they are of one warp. */
export function staysInWarp(context: TierContext, obligation: Obligation): boolean {
  return obligation.warp === 'same' || decideCheaply(context, { ...obligation, warp: 'different' }).kind === 'proved';
}

/** As {@link staysInWarp}, asked of the solver; what the answer rests on, or null where they may be of two warps. */
export function* meetsInWarp(
  obligation: Obligation,
  { tier, encoding }: ReturnType<SolverTiers['linear']>,
): Steps<readonly Term[] | null> {
  if (obligation.scope !== 'block' || obligation.warp === 'same') return obligation.warp === 'same' ? [] : null;
  const answer = yield* tier.decide(encoding.overlap({ ...obligation, warp: 'different' }));
  return answer.kind === 'proved' ? answer.assumes : null;
}

/** Whether all that both accesses of a pair ever store are one literal. */
export function storesLiteral(facts: KernelAndLaunch & SymbolicFacts, { obligations }: AccessPair): boolean {
  return obligations.every(
    (obligation) => storedLanes(facts, obligation)?.every(([a, b]) => a.operator === 'constant' && a === b) ?? false,
  );
}

/** Elements that addresses of values are read from, one in another. */
const deepest = 4;

/**
 * Whether threads that meet store equal values: what differs between them in the value is the same wherever the
 * addresses overlap, or is read from one element that the kernel does not write.
 * @param trusts `shared`: an element of shared memory is taken to hold the same for both threads that read it, which
 *   nothing proves
 */
export function* storesEqually(
  facts: KernelAndLaunch & SymbolicFacts,
  { instances }: TierContext,
  obligation: Obligation,
  { tier, encoding }: ReturnType<SolverTiers['linear']>,
  trusts: 'nothing' | 'shared' = 'nothing',
): Steps<boolean> {
  const { accesses, loaded, kernel, symbolic } = facts;
  if (storesValueOfWarp(facts, obligation) && (yield* meetsInWarp(obligation, { tier, encoding }))) return true;
  const [of, other] = [obligation.first.reading, obligation.second.reading];
  const overlap = encoding.overlap(obligation);
  function* areSame(term: Term): Steps<boolean> {
    const [a, b] = [of, other].map((reading) => encoding.linear(symbolic.view.natural(term), reading));
    return (yield* tier.decide(`(and ${overlap} (not (= ${a} ${b})))`)).kind === 'proved';
  }
  function* isEqual(term: Term, depth: number): Steps<boolean> {
    const isNumber = term.width > 0 && term.leaves.every(({ atom }) => atom!.kind !== 'havoc' && atom!.kind !== 'phi');
    if (isNumber && (yield* areSame(term))) return true;
    for (const leaf of term.leaves) {
      if (instances.isShared(leaf, of, other)) continue;
      const atom = leaf.atom!;
      if (atom.kind === 'thread' || atom.kind === 'block' || atom.kind === 'iteration') {
        if (!(yield* areSame(leaf))) return false;
        continue;
      }
      if (atom.kind !== 'havoc' || atom.value < 0 || depth === 0) return false;
      const { definition } = kernel.values[atom.value]!;
      if (definition.kind !== 'instruction') return false;
      const { instruction } = definition;
      const load = accesses.find((access) => access.instruction === instruction && access.operation === 'read');
      const [target, ...more] = load?.targets ?? [];
      const { effect } = instruction.operation;
      if (!target || more.length > 0 || effect.kind !== 'load' || effect.semantics !== 'weak') return false;
      const isFixed = target.base.kind === 'parameter' && loaded(instruction) === 'fixed';
      const isTrusted = trusts === 'shared' && target.base.kind === 'object' && load?.memory === 'shared';
      if (!isFixed && !isTrusted) return false;
      if (!(yield* isEqual(target.offset, depth - 1))) return false;
    }
    return true;
  }
  for (const [a, b] of storedLanes(facts, obligation) ?? []) {
    if (a !== b || !(yield* isEqual(a, deepest))) return false;
  }
  return storedLanes(facts, obligation) !== null;
}
