/** Whether two operations of a host program that may overlap access the same bytes, in runs of their kernels. */
import { type Fact, type HostTerm, termConstant } from '../assumptions/expression.ts';
import type { HostOperation, OverlappingOperations } from '../host/operations/host-operation.ts';
import type { InstructionId, Kernel } from '../ir/form/kernel.ts';
import { weak } from '../memory-model/conflict.ts';
import type { ParameterSource } from '../launch/parameter-source.ts';
import { type LaunchInProgram, concreteLaunch, termsOfLaunch } from './concrete-launch.ts';
import { type HostSample, type UsedTerms, allTerms, samplesOf, spreadSamplesOf } from './host-values.ts';
import { type LaunchEffect, type OperationBytes, effectsOf } from './launch-effects.ts';
import { type SharedBytes, mayBeLater, maySynchronise, overlapsOf, possibleOverlaps } from './overlap.ts';

/** The kernel of a launch, in the build that is run. */
export interface LaunchedCode {
  readonly kernel: Kernel;
  /** The file in which it is. */
  readonly unit?: string;
  readonly parameters: readonly ParameterSource[];
}

/** Accesses of an operation: those of a kernel have an instruction. */
export type OperationAccess = OperationBytes & { readonly instruction?: InstructionId };

/** What runs of two operations share. */
interface UnorderedBytes {
  /** Overlaps in all samples, one for each instruction of the second operation. */
  readonly overlaps: readonly SharedBytes<OperationAccess, OperationAccess>[];
  /** Accesses of the second operation, one for each instruction, that may overlap, depending on values that are not known. */
  readonly possible: readonly OperationAccess[];
}

/** Number of samples that have to agree, and of those that are tried. */
const samplesNeeded = 2;
const samplesTried = 6;
const budget = { steps: 300_000, maxThreads: 512 };

/**
 * Runs both operations with values that the host program may give them. An overlap counts if each sample has it, one of them with
 * different values for the symbols: facts about the host program that are missing may exclude the others.
 * @param codes of the first and the second operation; null if it is not a launch, or its kernel is unknown
 * @param isEarly whether only accesses of the second operation before its wait count
 * @returns null if it is not known which accesses of the second launch are before its wait
 */
export function unorderedBytes(
  { kind, first, second, symbolFacts }: OverlappingOperations & { readonly first: HostOperation },
  codes: readonly [LaunchedCode | null, LaunchedCode | null],
  isEarly = kind === 'programmatic',
): UnorderedBytes | null {
  const operations = [first, second] as const;
  const facts = [...symbolFacts, ...operations.flatMap(factsOf)];
  const used = operations.map(usedTermsOf);
  const spread = spreadSamplesOf(facts, used, samplesTried);
  const samples = [...spread, ...samplesOf(facts, used.flatMap(allTerms), samplesTried)];
  let isSpread = false;
  const tried: (readonly [Accesses, Accesses])[] = [];
  let known = 0;
  for (const sample of samples) {
    const both = [accessesOf(first, codes[0], sample), accessesOf(second, codes[1], sample)] as const;
    const isRun = operations.every(({ launch }, at) => !launch || both[at]!.effects);
    if (isRun) {
      tried.splice(known++, 0, both);
      isSpread ||= spread.includes(sample);
    } else tried.push(both);
    if (known === samplesNeeded) break;
  }
  const isSynchronised = tried.some(([{ effects: one }, { effects: other }]) => one && other && maySynchronise(one, other));
  if (!isEarly && isSynchronised) return { overlaps: [], possible: [] };
  // Launches that cannot be run in any sample are given arrays in the first one.
  const found = tried
    .slice(0, Math.max(1, known))
    .map(([before, after]) => compared(before, after, isEarly, kind === 'programmatic' || kind === 'chain'));
  const [one, ...others] = found;
  if (!one || found.includes(null)) return one === undefined ? { overlaps: [], possible: [] } : null;
  const isCommon = (key: InstructionId | undefined): boolean => others.every((other) => other?.overlaps.has(key));
  const overlaps = [...one.overlaps].flatMap(([key, overlap]) => (isCommon(key) ? [overlap] : []));
  const possible = [...one.possible.values()];
  return isSpread ? { overlaps, possible } : { overlaps: [], possible: [...overlaps.map((overlap) => overlap.second), ...possible] };
}

/** Accesses that threads of a launch make before they wait, in each run and with any contents of memory: their instructions. */
export function earlyInstructions(operation: HostOperation, code: LaunchedCode): ReadonlySet<InstructionId> {
  const runs: ReadonlySet<InstructionId>[] = [];
  for (const sample of samplesOf(factsOf(operation), allTerms(usedTermsOf(operation)), samplesTried)) {
    const { effects } = accessesOf(operation, code, sample);
    if (effects) runs.push(new Set(effects.filter((one) => one.isEarly && !one.isOpen).map((one) => one.instruction)));
    if (runs.length === samplesNeeded) break;
  }
  const [one = new Set<InstructionId>(), ...others] = runs;
  return new Set([...one].filter((id) => others.every((other) => other.has(id))));
}

/**
 * What two operations share in a sample, by the instruction of the second one; null if its accesses before the wait are not known.
 * @param hasStarted whether the second one starts only when the first one lets it, or has ended
 */
function compared(before: Accesses, after: Accesses, isEarly: boolean, hasStarted: boolean) {
  if (isEarly && !after.effects) return null;
  // The launch before may still make accesses of which nothing is known.
  const first = hasStarted && before.effects ? before.effects.filter(mayBeLater) : before.all;
  const second = isEarly && after.effects ? after.effects.filter((effect) => effect.isEarly) : after.all;
  return {
    overlaps: byInstruction(overlapsOf(first, second), (overlap) => overlap.second),
    possible: byInstruction(possibleOverlaps(first, second), (access) => access),
  };
}

/** The first of some accesses for each instruction. */
function byInstruction<Item>(all: readonly Item[], accessOf: (item: Item) => OperationAccess): Map<InstructionId | undefined, Item> {
  return new Map(all.toReversed().map((one) => [accessOf(one).instruction, one]));
}

function factsOf({ facts, launch }: HostOperation): readonly Fact[] {
  return launch ? [...facts, ...launch.facts, ...launch.symbolFacts] : facts;
}

function usedTermsOf({ launch, touches }: HostOperation): UsedTerms {
  const given = (terms: readonly (HostTerm | null)[]): HostTerm[] => terms.filter((term) => term !== null);
  const ofTouches = { extents: given(touches.map(({ bytes }) => bytes)), offsets: given(touches.map(({ offset }) => offset)), numbers: [] };
  return launch ? termsOfLaunch(launch) : ofTouches;
}

interface Accesses {
  readonly all: readonly OperationAccess[];
  /** Those of a kernel that was run. */
  readonly effects?: readonly LaunchEffect[];
}

/** The accesses of an operation in a sample. */
function accessesOf({ launch, touches }: HostOperation, code: LaunchedCode | null, sample: HostSample): Accesses {
  if (launch) {
    const run = code && concreteLaunch(code.kernel, code.parameters, launch, sample, budget);
    const effects = run && effectsOf(run, code.unit);
    return effects ? { all: effects, effects } : { all: openAccesses(launch, code) };
  }
  const all = touches.map(({ memory, offset, bytes, isWrite }): OperationAccess => {
    const [from, length] = [offset, bytes].map((term) => (term ? sample(term) : undefined));
    const access = { memory: memory.id, operation: isWrite ? 'write' : 'read', ...weak } as const;
    if (from === undefined || length === undefined) return { ...access, offset: 0, bytes: 0, isOpen: true };
    return { ...access, offset: Number(from), bytes: Number(length) };
  });
  return { all };
}

/** Accesses of a launch that cannot be run: it is given the start of a memory, and may write what is not declared constant. */
function openAccesses({ arguments: given = [] }: LaunchInProgram, code: LaunchedCode | null): OperationAccess[] {
  return given.flatMap((value, at): OperationAccess[] => {
    if (value.kind !== 'pointer' || value.memory.id === 'null' || !value.offset || termConstant(value.offset) !== 0n) return [];
    const operation = /\bconst\b/.test(code?.parameters[at]?.type ?? '') ? 'read' : 'write';
    return [{ memory: value.memory.id, offset: 0, bytes: 0, operation, ...weak, isOpen: true }];
  });
}
