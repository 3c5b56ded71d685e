/** The text of a finding on an instruction that lanes of a warp execute together (`warp/*`). */
import type { DivergenceFinding, InterleavingStep, LaneFault } from '../../verdict/finding.ts';
import { code, readable, sentences } from '../text/code-text.ts';
import { chosenText } from '../text/launch-text.ts';
import { cudaFunction } from '../text/cuda-function.ts';
import { calledFrom, homeOf, lineText } from '../text/place.ts';

export type LaneFaultKind = 'missing-lanes' | 'outside-mask' | 'undefined-value';

function maskText(mask: number): string {
  return code(`0x${mask.toString(16).padStart(8, '0')}`);
}

/** What is wrong, as a clause. `at` is the place of the instruction: `line 12`. */
export function laneFaultText(kind: LaneFaultKind, { mnemonic, mask, lane, other, reaches, ofGroup }: LaneFault, at: string): string {
  const name = cudaFunction(mnemonic, ofGroup);
  switch (kind) {
    case 'outside-mask':
      return `lane ${lane} executes ${name} on ${at} with the mask ${maskText(mask ?? 0)}, which does not contain lane ${lane}; the result is undefined`;
    case 'missing-lanes':
      if (mask === undefined) return `all lanes of a warp must execute ${name} on ${at} together, but lane ${other?.lane ?? 0} does not`;
      return ofGroup
        ? `${name} on ${at} waits for all lanes of the group, ${maskText(mask)}, but lane ${other?.lane ?? 0} does not execute it`
        : `${name} on ${at} waits for lane ${other?.lane ?? 0}, which its mask ${maskText(mask)} contains, but this lane does not execute it with that mask`;
    case 'undefined-value': {
      const source = other?.lane ?? 0;
      const because =
        other?.is === 'exited'
          ? 'which has exited'
          : other?.is === 'absent'
            ? 'which its warp does not have'
            : other?.is === 'unnamed'
              ? `which is not in the mask ${maskText(mask ?? 0)}`
              : 'which executes another instruction';
      const use = reaches === undefined ? '' : reaches === null ? ', and a branch depends on it' : ` and reaches ${code(reaches)}`;
      return `lane ${lane} reads the value of lane ${source}, ${because}, in ${name} on ${at}; the value is undefined${use}`;
    }
  }
}

/** What the lanes that do not execute an instruction yet have to pass so that its result stays the same. */
function neutralValue(mnemonic: string): string {
  if (mnemonic.startsWith('vote.sync.any') || mnemonic.startsWith('vote.sync.ballot')) return ', with 0 in the others';
  if (/^vote\.sync\.all/.test(mnemonic)) return ', with 1 in the others';
  if (/^redux\.sync\.(?:add|or|xor)/.test(mnemonic)) return ', with 0 in the others';
  if (/^redux/.test(mnemonic)) return ', with a value in the others that does not change the result';
  return /^shfl\.sync\.(?:up|down|bfly)/.test(mnemonic) ? ', with a neutral value in a sum' : '';
}

/** What to do about it. */
export function laneRemedy(kind: LaneFaultKind, fault: LaneFault, loop?: 'left' | 'whole'): string {
  const { mnemonic, mask, lane, lanes, other, needsOthers, ofGroup } = fault;
  const name = cudaFunction(mnemonic, ofGroup);
  switch (kind) {
    case 'outside-mask': {
      const named =
        lanes === undefined
          ? `name lane ${lane} in the mask too: ${code('__ballot_sync()')} computes a mask from the condition under which lanes execute it`
          : `name all lanes that execute it in the mask: ${maskText(lanes)}`;
      return needsOthers ? named.replace('execute it', `execute ${name}`) : `let only lanes of the mask execute ${name}, or ${named}`;
    }
    case 'missing-lanes': {
      const all = `all lanes of the ${mask === undefined ? 'warp' : ofGroup ? 'group' : 'mask'}`;
      if (loop === 'left')
        return `let ${all} execute the same number of iterations, and guard the rest of the loop body instead${neutralValue(mnemonic)}`;
      const isNarrower = lanes !== undefined && mask !== undefined && lanes !== mask && (lanes & ~mask) === 0;
      const named = isNarrower ? `, or, if its result is for lanes that execute it only, name these in the mask: ${maskText(lanes)}` : '';
      return `move ${loop === 'whole' ? `the loop with ${name}` : name} to where ${all} execute it${isNarrower && /^shfl/.test(mnemonic) ? '' : neutralValue(mnemonic)}${named}`;
    }
    case 'undefined-value':
      if (other?.is === 'exited')
        return `let all lanes of the ${ofGroup ? 'group' : 'mask'} execute ${name} before they return${neutralValue(mnemonic)}, and guard only what follows`;
      if (other?.is === 'absent')
        return `${/\.idx/.test(mnemonic) ? `let ${name} read a lane that every warp has, such as lane 0, or ` : ''}use the value only where the warp has the source lane: the last warp of a block has fewer than 32 lanes unless 32 divides the number of its threads`;
      if (other?.is === 'elsewhere') return `let all lanes of the mask execute the same ${name}`;
      return `name the source lane in the mask and let it execute ${name}${neutralValue(mnemonic)}${other?.hasExited ? '' : ', or use the value only where the mask contains the source lane'}`;
  }
}

/** Whether a finding is on an instruction of a warp. */
export function laneFaultKind(kind: DivergenceFinding['kind']): LaneFaultKind | null {
  return kind === 'missing-lanes' || kind === 'outside-mask' || kind === 'undefined-value' ? kind : null;
}

/** What the missing lane does instead. */
function absentText(step: InterleavingStep, { mnemonic, ofGroup }: LaneFault): string {
  if (step.action === 'exit') return 'has exited';
  if (step.action !== 'wait') return 'is elsewhere';
  if (step.at !== 'instruction') return 'waits at a barrier';
  const other = cudaFunction(step.mnemonic, ofGroup);
  return `waits at ${other}${other === cudaFunction(mnemonic, ofGroup) ? ' with another mask' : ''}`;
}

/** The sentences on a finding on an instruction of a warp. */
export function laneMessage(finding: DivergenceFinding, kind: LaneFaultKind, fault: LaneFault): string {
  const { barrier, interleaving, condition: raw, chosen, when, loop } = finding;
  const home = homeOf([barrier]);
  const at = `${lineText(barrier, home)}${calledFrom([barrier], home)}`;
  const condition = raw === undefined ? undefined : readable(raw);
  const [first, second] = interleaving?.threads ?? [];
  const step = interleaving?.steps[1];
  const isElsewhere = step !== undefined && step.action !== 'exit';
  const line = isElsewhere && step.location ? ` on line ${step.location.line}` : '';
  const who =
    kind === 'missing-lanes' && first && second && step
      ? `${first.name} (lane ${fault.lane}) waits there while ${second.name} (lane ${fault.other?.lane ?? 0}) ${absentText(step, fault)}${line}`
      : '';
  return sentences(
    laneFaultText(kind, fault, at),
    who,
    kind !== 'missing-lanes' || condition === undefined ? undefined : `whether a lane executes it depends on ${condition}`,
    chosen &&
      `this happens${when === undefined ? '' : ` when ${code(when)}`}, for example, if the kernel is launched with ${chosenText(chosen)}`,
    laneRemedy(kind, fault, loop),
  );
}
