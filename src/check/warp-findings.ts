/** Findings on instructions that lanes of a warp execute together, confirmed by runs. */
import { fingerprintOf } from '../verdict/fingerprint.ts';
import type { Steps } from '../base/coroutine.ts';
import type { Dim3 } from '../base/dim3.ts';
import { warpSize } from '../device/hardware-limits.ts';
import type { DivergenceEvent, UndefinedRead, Whereabouts } from '../interpreter/core/run-result.ts';
import type { BlockId, Instruction, InstructionId, Operand, ValueId } from '../ir/form/kernel.ts';
import type { DivergenceFinding, LaneFault } from '../verdict/finding.ts';
import { canName, executingLanes, loopAround } from './advice/missing-lanes.ts';
import { describeTerm, placeOf } from './context/names.ts';
import type { KernelContext } from './context/facts.ts';
import { isTogether, maskOf } from './obligations/warp-agreement.ts';
import { chosenLaunch, divergenceInterleaving } from './witness/interleaving.ts';
import { decidingConditions, dependOnOpenScalars, isGiven, standingOf, weaker } from './witness/origin.ts';
import { type Shown, describeWitness } from './witness/replay.ts';
import type { WarpState } from './warp-check.ts';
import { type Confirmation, barrierKey } from './witness/scenarios.ts';
import { type UndefinedUse, useOfUndefined } from './witness/undefined-value.ts';

/** The findings that runs have shown. */
export function* warpFindings(context: KernelContext, confirmation: Confirmation, { split }: WarpState): Steps<DivergenceFinding[]> {
  const findings = new Map<string, DivergenceFinding>();
  const add = (finding: DivergenceFinding): void => {
    const { code, barrier } = finding;
    const key = `${code} ${barrier.file}:${barrier.line}`;
    if (!findings.has(key)) findings.set(key, finding);
  };
  for (const [id, shown] of confirmation.warps) {
    if (isMaskChosen(context, id)) continue;
    yield* confirmation.barrierAtLargeSettings(shown, 'block');
    add(laneFinding(context, confirmation, split, yield* confirmation.smallestDivergence(shown, 'block')));
  }
  for (const [id, all] of confirmation.undefinedReads)
    for (const shown of confirmation.warps.has(id) || isMaskChosen(context, id) ? [] : all) {
      const use = yield* useOfUndefined(context, shown);
      if (use === null) continue;
      add(undefinedFinding(context, shown, use));
      break;
    }
  return [...findings.values()];
}

/** Lanes that are missing, or a lane outside the mask that it passes. */
function laneFinding(
  context: KernelContext,
  confirmation: Confirmation,
  split: WarpState['split'],
  shown: Shown<DivergenceEvent>,
): DivergenceFinding {
  const { event, scenario } = shown;
  const { kind, barrier } = event;
  const finding = describe(context, kind === 'outside-mask' ? kind : 'missing-lanes', barrier!, shown, faultOfEvent(event, scenario.block));
  const terms = termsOf(context, barrier!);
  const standing = finding.witnessOrigin === 'chosen' ? standingOf(context, confirmation, [barrierKey(event)], terms) : null;
  const { divergence } = context.request.policy;
  const condition = split?.conditions.get(barrier!);
  return {
    ...finding,
    ...(condition && { condition: describeTerm(context, condition) }),
    severity: standing?.isEverywhere === false ? weaker(divergence) : divergence,
    ...(standing?.when !== undefined && { when: standing.when }),
  };
}

function undefinedFinding(context: KernelContext, { event, scenario }: Shown<UndefinedRead>, use: UndefinedUse): DivergenceFinding {
  const { instruction, thread, block, lane, where } = event;
  const source = where && threadOfLane(thread, lane, scenario.block);
  const shown: Shown<DivergenceEvent> = {
    scenario,
    event: {
      kind: 'missing-lanes',
      barrier: instruction,
      block,
      arrived: [thread],
      arrivedCount: 1,
      absent: source && { thread: source, where },
      others: [],
    },
  };
  return describe(context, 'undefined-value', instruction, shown, {
    ...faultOfRead(event, scenario.block),
    reaches: use.kind === 'memory' ? use.array : null,
  });
}

function describe(
  context: KernelContext,
  kind: 'missing-lanes' | 'outside-mask' | 'undefined-value',
  id: InstructionId,
  { event, scenario }: Shown<DivergenceEvent>,
  fault: Omit<LaneFault, 'mnemonic'>,
): DivergenceFinding {
  const { request, kernel, fields } = context;
  const instructions = kernel.blocks.flatMap((block) => block.instructions);
  const instruction = instructions.find((other) => other.id === id)!;
  const code = `warp/${kind}` as const;
  const terms = termsOf(context, id);
  const origin = isGiven(context, terms) ? 'given' : 'chosen';
  const chosen = origin === 'chosen' ? chosenLaunch(context, scenario) : undefined;
  const ordinal = instructions.filter(isTogether).indexOf(instruction);
  const home = homeOf(context, id);
  const { mask } = fault;
  const needsOthers = kind === 'outside-mask' && mask !== undefined && isShuffle(instruction) && !canName(context, instruction, mask);
  const loop = kind === 'missing-lanes' ? loopAround(context, home, 'warp') : null;
  return {
    code,
    severity: 'warning',
    fingerprint: fingerprintOf(request.identity, [code, instruction.operation.mnemonic, String(ordinal)]),
    kind,
    barrier: placeOf(kernel, instruction),
    fault: {
      mnemonic: instruction.operation.mnemonic,
      ...fault,
      ...executingLanes(context, instruction, home, kind === 'outside-mask'),
      ...(needsOthers && { needsOthers }),
    },
    ...(loop && { loop }),
    confirmed: true,
    witness: describeWitness(kernel, request.name, request.parameters, fields, request.launch, scenario),
    witnessOrigin: origin,
    interleaving: divergenceInterleaving(context, event, scenario),
    among: 'warp',
    ...(chosen && { chosen }),
  };
}

/** The lanes of missing lanes, or of a lane outside its mask. */
export function faultOfEvent({ arrived, absent, mask }: DivergenceEvent, block: Dim3): Omit<LaneFault, 'mnemonic'> {
  return {
    lane: laneOf(arrived[0]!, block),
    ...(mask !== undefined && { mask: mask >>> 0 }),
    ...(absent && { other: { lane: laneOf(absent.thread, block), is: placeKind(absent.where) } }),
  };
}

/** The lanes of an undefined value. */
export function faultOfRead({ thread, lane, where, mask }: UndefinedRead, block: Dim3): Omit<LaneFault, 'mnemonic'> {
  const isNamed = ((mask >>> lane) & 1) === 1;
  const hasExited = where?.kind === 'exited';
  return {
    lane: laneOf(thread, block),
    mask: mask >>> 0,
    other: { lane, is: !where ? 'absent' : isNamed ? placeKind(where) : 'unnamed', ...(hasExited && { hasExited }) },
  };
}

/**
 * Whether a mask depends on an argument or on contents of an array that Selvage chose. Programs pass masks that suit the
 * kernel, so that such a run shows nothing.
 */
function isMaskChosen(context: KernelContext, id: InstructionId): boolean {
  const { kernel, symbolic, accesses } = context;
  const instruction = kernel.blocks.flatMap(({ instructions }) => instructions).find((other) => other.id === id)!;
  const mask = maskOf(instruction);
  const seen = new Set<ValueId>();
  const isChosen = (operand: Operand): boolean => {
    if (operand.kind !== 'value' || seen.has(operand.id)) return false;
    seen.add(operand.id);
    if (dependOnOpenScalars(context, [symbolic.operand(operand)])) return true;
    const { definition } = kernel.values[operand.id]!;
    if (definition.kind === 'phi') {
      const phi = kernel.blocks[definition.block]!.phis.find(({ result }) => result === operand.id);
      return phi?.inputs.some(isChosen) === true;
    }
    const { effect } = definition.instruction.operation;
    if (effect.kind === 'pure') return definition.instruction.arguments.some(isChosen);
    const access = accesses.find((one) => one.instruction === definition.instruction);
    return access?.targets.some(({ base }) => base.kind !== 'object') === true;
  };
  return mask !== undefined && isChosen(mask);
}

/** The conditions under which a thread reaches an instruction. */
function termsOf(context: KernelContext, id: InstructionId) {
  return decidingConditions(context, [homeOf(context, id)], []);
}

function homeOf({ kernel }: KernelContext, id: InstructionId): BlockId {
  return kernel.blocks.find(({ instructions }) => instructions.some((other) => other.id === id))!.id;
}

function isShuffle({ operation }: Instruction): boolean {
  return operation.effect.kind === 'shuffle';
}

function placeKind(where: Whereabouts): 'exited' | 'elsewhere' {
  return where.kind === 'exited' ? 'exited' : 'elsewhere';
}

function laneOf([i, j, k]: Dim3, [x, y]: Dim3): number {
  return (i + x * (j + y * k)) % warpSize;
}

/** The thread in a lane of the warp of another thread. */
function threadOfLane(thread: Dim3, lane: number, block: Dim3): Dim3 {
  const [i, j, k] = thread;
  const [x, y] = block;
  const linear = i + x * (j + y * k) - laneOf(thread, block) + lane;
  return [linear % x, Math.floor(linear / x) % y, Math.floor(linear / (x * y))];
}
