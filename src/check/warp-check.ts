/**
 * Instructions that lanes of a warp execute together: decides whether all lanes that they wait for come, with one mask,
 * and whether shuffles return undefined values.
 */
import { type UniformityResult, inferUniformity } from '../analysis/values/uniformity.ts';
import { sharedByLanes } from '../analysis/values/shared-by-lanes.ts';
import type { Steps } from '../base/coroutine.ts';
import { extentProduct } from '../base/dim3.ts';
import { warpSize } from '../device/hardware-limits.ts';
import type { BlockId, Instruction, InstructionId } from '../ir/form/kernel.ts';
import { isUsed } from '../ir/form/uses.ts';
import type { Term } from '../term/term.ts';
import type { Reason } from '../verdict/reason.ts';
import type { CertificateLog } from './certifying/certificate-log.ts';
import type { AssumedFacts } from './context/assumed-facts.ts';
import type { KernelAndLaunch, SymbolicFacts } from './context/facts.ts';
import { describeTerm } from './context/names.ts';
import { enumerateBranch } from './deciding/enumerate-branch.ts';
import type { SolverTiers } from './deciding/solver-tiers.ts';
import { Instances } from './obligations/instance.ts';
import { type WarpObligation, isTogether, warpObligations } from './obligations/warp-agreement.ts';
import { capRemainingEffort } from './request/check-budget.ts';
import type { Confirmation } from './witness/scenarios.ts';

type WarpFacts = KernelAndLaunch & SymbolicFacts;

export interface WarpState {
  /** For the lanes of a warp. */
  readonly uniformity: UniformityResult;
  /** Instructions for which not all lanes may come, or not with one mask, each with the
   * first condition on which this depends; null if none exists. */
  readonly split: { readonly reason: Reason; readonly conditions: ReadonlyMap<InstructionId, Term> } | null;
  /** Whether lanes may have exited before an exchange of the warp. */
  readonly mayHaveExited: boolean;
}

/** Uniformity for the threads of a block: those of one warp if the block has no others. */
export function uniformityOf(facts: WarpFacts, proved: ReadonlySet<BlockId>): UniformityResult {
  const { kernel, dependences, loaded, symbolic, dimensions } = facts;
  const threads = dimensions.block.reduce<number>((product, size) => product * (size ?? Infinity), 1);
  const isOneWarp = threads <= warpSize;
  return inferUniformity(kernel, dependences, loaded, proved, isOneWarp ? sharedByLanes(symbolic, dimensions, true) : 'block');
}

/**
 * Decides all obligations of instructions of a warp, and executes those that are left open.
 * @param proved branches that are uniform for the block
 */
export function* decideWarps(
  facts: WarpFacts,
  proved: ReadonlySet<BlockId>,
  tiers: SolverTiers,
  confirmation: Confirmation,
  assumed: AssumedFacts,
  log: CertificateLog | null,
): Steps<WarpState> {
  const { kernel, dependences, loaded, symbolic, dimensions } = facts;
  const uniform = (mayHaveExited: boolean): UniformityResult =>
    inferUniformity(kernel, dependences, loaded, proved, sharedByLanes(symbolic, dimensions, mayHaveExited));
  const shuffles = sharedByLanes(symbolic, dimensions, false);
  const hasBroadcasts = kernel.blocks.some(({ instructions }) => instructions.some(shuffles.isBroadcast));
  let uniformity = uniform(false);
  let result = yield* splitWarps(facts, uniformity, tiers, assumed, log);
  if (result.afterExits.size > 0 && hasBroadcasts) {
    // The value of a lane that has exited is not one value for those that read it.
    uniformity = uniform(true);
    result = yield* splitWarps(facts, uniformity, tiers, assumed, log);
  }
  const { split, afterExits } = result;
  if (split) yield* confirmation.runWarps(new Set(split.conditions.keys()));
  const doubtful = readsInDoubt(facts, afterExits);
  if (doubtful.size > 0) yield* confirmation.runShuffles(doubtful);
  return { uniformity, split, mayHaveExited: afterExits.size > 0 };
}

interface Split {
  readonly split: WarpState['split'];
  /** Instructions before which lanes may exit. */
  readonly afterExits: ReadonlySet<Instruction>;
}

function* splitWarps(
  facts: WarpFacts,
  uniformity: UniformityResult,
  tiers: SolverTiers,
  assumed: AssumedFacts,
  log: CertificateLog | null,
): Steps<Split> {
  const { symbolic, dimensions, request, dependences } = facts;
  const instances = new Instances(symbolic, uniformity, 'block');
  const { evaluations } = request.budget;
  let reason: Reason | null = null;
  const conditions = new Map<InstructionId, Term>();
  const afterExits = new Set<Instruction>();
  tiers.forget(); // Values that threads of a block do not share may be shared by the lanes of a warp.
  function* isInfeasible({ instruction, paths }: WarpObligation): Steps<boolean> {
    for (const conditions of paths) {
      if (request.budget.expired()) return false;
      const { tier, encoding } = tiers.linear('block', uniformity);
      const isOfOne = conditions.every(({ reading }) => reading.side === 1);
      const question = isOfOne ? `(and ${encoding.conditions(conditions).join(' ')})` : encoding.together(conditions, 'same');
      const result = yield* tier.decide(question);
      if (result.kind !== 'proved') return false;
      log?.addSolvedDivergence(instruction, 'linear', result.asked);
      assumed.addNoWrap(result.assumes);
    }
    return paths.length > 0;
  }
  for (const obligation of warpObligations(symbolic, dependences, uniformity, dimensions)) {
    const { condition, byLane, instruction, others, isOfExit } = obligation;
    const all = [instruction, ...others];
    if (isOfExit && all.every((one) => afterExits.has(one))) continue;
    const branching = { condition, conditions: byLane?.sides ?? [] };
    const tried = byLane ? enumerateBranch({ symbolic, instances, dimensions, evaluations }, branching, byLane.groups).kind : 'unable';
    if (tried === 'uniform') {
      log?.addDivergence(instruction, 'enumeration', null);
      continue;
    }
    if (tried === 'unable' && (yield* isInfeasible(obligation))) continue;
    if (isOfExit) {
      for (const one of all) afterExits.add(one);
      continue;
    }
    for (const { id } of all) if (!conditions.has(id)) conditions.set(id, condition);
    capRemainingEffort(request);
    reason ??= { kind: 'condition', condition: describeTerm(facts, condition), among: 'warp', mnemonic: instruction.operation.mnemonic };
  }
  return { split: reason === null ? null : { reason, conditions }, afterExits };
}

/** Shuffles whose source lane may have exited, may not exist, or may not be named by the mask. */
function readsInDoubt({ kernel, dimensions }: WarpFacts, afterExits: ReadonlySet<Instruction>): ReadonlySet<InstructionId> {
  const [x, y, z] = dimensions.block;
  const isPart = x !== null && y !== null && z !== null && extentProduct([x, y, z]) % warpSize !== 0;
  const shuffles = kernel.blocks.flatMap(({ instructions }) => instructions).filter(isTogether);
  return new Set(
    shuffles.flatMap((instruction) => {
      const { effect } = instruction.operation;
      const [value] = instruction.results;
      if (effect.kind !== 'shuffle' || value === null || value === undefined || !isUsed(kernel, value)) return [];
      const mask = instruction.arguments[3];
      const isWhole = mask?.kind === 'constant' && BigInt.asUintN(32, mask.value) === 0xffff_ffffn;
      return isPart || !isWhole || afterExits.has(instruction) ? [instruction.id] : [];
    }),
  );
}
