/** What the findings on single accesses have in common, and what would decide the verdict of a kernel with such a fault. */
import type { Access } from '../../analysis/values/access.ts';
import type { Target } from '../../analysis/values/memory-base.ts';
import type { FaultEvent } from '../../interpreter/core/run-result.ts';
import type { DecidingFact } from '../../verdict/deciding-fact.ts';
import type { RaceFinding } from '../../verdict/finding.ts';
import { fingerprintOf } from '../../verdict/fingerprint.ts';
import type { MemoryFault } from '../../verdict/memory-fault.ts';
import type { Reason } from '../../verdict/reason.ts';
import { describeAccess } from '../context/access-description.ts';
import type { KernelContext } from '../context/facts.ts';
import { baseName, describeTerm } from '../context/names.ts';
import { chosenLaunch } from '../witness/interleaving.ts';
import { describeWitness, type Shown } from '../witness/replay.ts';

/** An access that a run has shown to be wrong. */
interface ShownFault {
  readonly access: Access;
  readonly target: Target;
  /** Whether the launch and the arguments are given. */
  readonly isGiven: boolean;
  readonly shown: Shown<Pick<FaultEvent, 'block' | 'thread'>>;
}

/** A finding on a wrong access, as an error. */
export function faultFinding(context: KernelContext, fault: MemoryFault, { access, target, isGiven, shown }: ShownFault): RaceFinding {
  const { request, kernel, fields } = context;
  const { block, thread } = shown.event;
  const array = baseName(context, target.base);
  const described = describeAccess(context, access, {
    instruction: access.instruction.id,
    operation: access.operation,
    block,
    thread,
  });
  return {
    code: `memory/${fault}`,
    severity: 'error',
    fingerprint: fingerprintOf(request.identity, [fault, array, `${access.operation}:${describeTerm(context, target.offset)}`]),
    kind: fault,
    memory: access.memory === 'shared' ? 'shared' : 'global',
    array,
    first: described,
    second: described,
    confirmed: true,
    witness: describeWitness(kernel, request.name, request.parameters, fields, request.launch, shown.scenario),
    witnessOrigin: isGiven ? 'given' : 'chosen',
    ...(!isGiven && { chosen: chosenLaunch(context, shown.scenario) }),
  };
}

/** What would decide the race verdict of a kernel that has a fault. */
export function decidedWithout(reason: Reason): DecidingFact {
  switch (reason.kind) {
    case 'misaligned':
      return { question: { kind: 'alignment' } };
    case 'index-overflow':
      return { question: { kind: 'width' } };
    default:
      return { question: { kind: reason.kind === 'out-of-bounds' && reason.isNull ? 'null-pointer' : 'bounds' } };
  }
}
