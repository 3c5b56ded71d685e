/** Whether two operations of a host program that may overlap access the same bytes, in runs of their kernels. */
import type { Fact, HostTerm } from '../assumptions/expression.ts';
import type { HostOperation, OverlappingOperations } from '../host/operations/host-operation.ts';
import type { InstructionId, Kernel } from '../ir/form/kernel.ts';
import type { ParameterSource } from '../launch/parameter-source.ts';
import { concreteLaunch, termsOfLaunch } from './concrete-launch.ts';
import { type HostSample, samplesOf } from './host-values.ts';
import { type LaunchEffect, type OperationBytes, effectsOf } from './launch-effects.ts';
import { type SharedBytes, isBeforeWait, overlapsOf } from './overlap.ts';

/** The kernel of a launch, in the build that is run. */
export interface LaunchedCode {
  readonly kernel: Kernel;
  readonly parameters: readonly ParameterSource[];
}

/** Accesses of an operation: those of a kernel have an instruction. */
export type OperationAccess = OperationBytes & { readonly instruction?: InstructionId };

/**
 * The result of runs. `shown`: overlaps in all samples, one for each access of the second operation; `unknown`: the values that
 * the host program gives to a launch are not known.
 */
type UnorderedBytes =
  | { readonly kind: 'shown'; readonly overlaps: readonly SharedBytes<OperationAccess, OperationAccess>[] }
  | { readonly kind: 'unknown' };

/** Number of samples that have to agree, and of those that are tried. */
const samplesNeeded = 2;
const samplesTried = 6;
const budget = { steps: 300_000, maxThreads: 512 };

/**
 * Runs both operations with values that the host program may give them. An overlap counts if each sample has it: facts about the
 * host program that are missing may exclude some.
 * @param codes of the first and the second operation; null if it is not a launch, or its kernel is unknown
 */
export function unorderedBytes(
  { kind, first, second }: OverlappingOperations & { readonly first: HostOperation },
  codes: readonly [LaunchedCode | null, LaunchedCode | null],
): UnorderedBytes {
  const operations = [first, second] as const;
  const facts = operations.flatMap(factsOf);
  const samples = samplesOf(facts, operations.flatMap(termsOf), samplesTried);
  let common = null as Overlaps | null;
  let count = 0;
  for (const sample of samples) {
    const [before, after] = operations.map((one, at) => accessesOf(one, codes[at] ?? null, sample)) as [Accesses, Accesses];
    if (!before || !after) continue;
    const overlaps =
      kind === 'programmatic' ? overlapsOf(before as LaunchEffect[], after as LaunchEffect[], isBeforeWait) : overlapsOf(before, after);
    const found = new Map(overlaps.toReversed().map((one) => [String(one.second.instruction), one]));
    common = common ? new Map([...common].filter(([key]) => found.has(key))) : found;
    if (++count === samplesNeeded || common.size === 0) break;
  }
  return common ? { kind: 'shown', overlaps: [...common.values()] } : { kind: 'unknown' };
}

type Overlaps = ReadonlyMap<string, SharedBytes<OperationAccess, OperationAccess>>;

type Accesses = readonly OperationAccess[] | null;

function factsOf({ facts, launch }: HostOperation): readonly Fact[] {
  return launch ? [...facts, ...launch.facts, ...launch.symbolFacts] : facts;
}

function termsOf({ launch, touches }: HostOperation): HostTerm[] {
  const ofTouches = touches.flatMap(({ offset, bytes }) => [offset, bytes].filter((term) => term !== null));
  return launch ? [...ofTouches, ...termsOfLaunch(launch)] : ofTouches;
}

/** The accesses of an operation in a sample; null if a launch is not known well enough to run it. */
function accessesOf({ launch, touches }: HostOperation, code: LaunchedCode | null, sample: HostSample): Accesses {
  if (launch) {
    const run = code && concreteLaunch(code.kernel, code.parameters, launch, sample, budget);
    return run && effectsOf(run);
  }
  return touches.flatMap(({ memory, offset, bytes, isWrite }): OperationAccess[] => {
    const [from, length] = [offset, bytes].map((term) => (term ? sample(term) : undefined));
    if (from === undefined || length === undefined || length <= 0n) return [];
    return [{ memory: memory.id, offset: Number(from), bytes: Number(length), operation: isWrite ? 'write' : 'read' }];
  });
}
