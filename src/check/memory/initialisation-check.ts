/**
 * Reads of shared memory that no thread of the block has written: they return what an earlier block left. A run shows them; the
 * contents of arrays must not decide which elements are written and read, since other contents could then avoid the read. Where
 * launches are chosen, all large ones must show it.
 */
import type { Steps } from '../../base/coroutine.ts';
import type { Access } from '../../analysis/values/access.ts';
import type { Target } from '../../analysis/values/memory-base.ts';
import type { FaultEvent } from '../../interpreter/core/run-result.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import { participantsOf } from '../../isa/model/effect.ts';
import type { KernelContext } from '../context/facts.ts';
import { initialisationRun } from '../request/check-budget.ts';
import type { CheckResult } from '../request/check-request.ts';
import { type LaunchInstance, representativeLaunches } from '../representative/representative-launches.ts';
import { isGiven } from '../witness/origin.ts';
import type { Shown } from '../witness/replay.ts';
import type { Confirmation } from '../witness/scenarios.ts';
import { endsOf } from '../witness/some-blocks.ts';
import { type UndefinedUse, useOfContents } from '../witness/undefined-value.ts';
import { dependsOnContents } from './contents-dependence.ts';

/** A read of shared memory that no thread has written, as a run has shown. */
export interface UninitialisedRead {
  readonly access: Access;
  readonly target: Target;
  /** What the value reaches; null if two runs with other values do not differ. */
  readonly use: UndefinedUse | null;
  readonly isGiven: boolean;
  readonly shown: Shown<FaultEvent>;
}

/** Finds such reads, one for each array. */
export function* uninitialisedReads(
  context: KernelContext,
  { race, divergence }: CheckResult,
  confirmation: Confirmation,
): Steps<UninitialisedRead[]> {
  const suspects = context.accesses.filter((access) => access.operation !== 'write' && access.targets.some(isShared));
  if (suspects.length === 0 || race.verdict === 'race' || divergence.verdict === 'divergent' || ofCluster(context)) return [];
  const large = representativeLaunches(context).filter(({ isLarge }) => isLarge);
  const [first, ...others] = large.length > 0 ? large : representativeLaunches(context);
  const shown = first ? yield* readsIn(confirmation, first) : [];
  const found = new Map<string, UninitialisedRead>();
  let left = shown.flatMap((one) => {
    const access = suspects.find(({ instruction }) => instruction.id === one.event.instruction);
    const target = access?.targets.find(isShared);
    return access && target && !isAvoidable(context, access, target) ? [{ access, target, shown: one }] : [];
  });
  for (const setting of left.length > 0 ? others : []) {
    const ids = new Set((yield* readsIn(confirmation, setting)).map(({ event }) => event.instruction));
    left = left.filter(({ access }) => ids.has(access.instruction.id));
  }
  for (const one of left) {
    const { key } = one.target.base;
    if (found.has(key)) continue;
    const use = yield* useOfContents(context, one.shown);
    const terms = [one.target.offset, context.symbolic.reach(one.access.block)];
    const ofLaunch = terms.filter(({ leaves }) => leaves.every(({ atom }) => atom!.kind !== 'havoc'));
    found.set(key, { ...one, use, isGiven: isGiven(context, ofLaunch) });
  }
  return [...found.values()];
}

function isShared({ base }: Target): boolean {
  return base.kind === 'object' && base.object.space === 'shared';
}

/** Whether blocks of a cluster may write each other's shared memory. */
function ofCluster({ kernel }: KernelContext): boolean {
  const isOf = ({ operation: { effect } }: Instruction): boolean =>
    participantsOf(effect) === 'cluster' || (effect.kind === 'copy' && effect.to === 'cluster');
  return kernel.needsCluster === true || kernel.blocks.some(({ instructions }) => instructions.some(isOf));
}

/** The reads in the first and the last block of a launch, if threads neither race nor diverge there. */
function* readsIn(confirmation: Confirmation, setting: LaunchInstance): Steps<readonly Shown<FaultEvent>[]> {
  const observed = yield* confirmation.observed(setting, endsOf(setting.grid), initialisationRun.mostSteps);
  if (!observed) return [];
  const { scenario, run } = observed;
  const isClean =
    run.races.every(({ sameValue }) => sameValue) &&
    run.divergences.length === 0 &&
    run.faults.every(({ kind }) => kind === 'uninitialised');
  return isClean ? run.faults.map((event) => ({ event, scenario })) : [];
}

/** Whether contents of arrays decide if threads read an element, or if they write it: others may avoid the read. */
function isAvoidable(context: KernelContext, read: Access, { base }: Target): boolean {
  const mayWrite = ({ operation, targets }: Access): boolean =>
    operation !== 'read' && targets.some((target) => target.base.key === base.key || target.base.kind === 'unknown');
  const writes = context.accesses.filter((access) => mayWrite(access) && access.instruction !== read.instruction);
  // Without writes each read is of such an element.
  if (writes.every(({ operation }) => operation === 'atomic')) return false;
  return [read, ...writes].some((access) => dependsOnContents(context, access));
}
