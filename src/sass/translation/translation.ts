/**
 * Translation validation: the SASS of a kernel checked against its PTX. Accesses are identified by their line of the
 * PTX. If all paths of the PTX have a barrier (or a fence) between two accesses, so must all paths of the SASS. Every
 * barrier, fence and atomic in a block that the SASS contains must exist.
 */
import { hasBit } from '../../base/bit-set.ts';
import type { Instruction, Kernel, Operand } from '../../ir/form/kernel.ts';
import type { CodeFunction, Cubin } from '../cubin/cubin.ts';
import { flowOf, type SassFlow } from '../sass-flow.ts';
import { barrierForm, instructionsOf, type SassInstruction, sassGuard, targetOf, versionOf } from '../instruction/decode.ts';
import { fenceStrength, fenceWanted, groupsLeft, groupsLeftOf, type LostInstruction, lostInstructions } from './missing.ts';
import { mayWrite, registerUse } from '../instruction/operands.ts';
import { weakerAccesses } from './access-strength.ts';
import { foreignAddresses } from './address-values.ts';
import { mismatchedGuards } from './guard-match.ts';
import { mismatchedOperands } from './operand-match.ts';
import { waysAroundLoops } from './loop-bypasses.ts';
import { predicatesWritten } from '../predicates.ts';
import { RegisterFlow } from './registers.ts';
import { fewerCopies } from './iteration-counts.ts';
import { skippedEffects } from './skipped-effects.ts';
import { spillAccesses } from './spills.ts';
import { unusedResults } from './unused-results.ts';
import { earlierAccesses, type OrderedBlock, type OrderedStep } from './ordering.ts';

/** Errors in the SASS of a kernel. Lines are those of the PTX. */
export type TranslationFault =
  /**
   * A barrier, fence, atomic, store, asynchronous copy or wait for copies is missing, although the SASS contains its
   * block.
   */
  | ({ readonly kind: 'missing' } & LostInstruction)
  /** An access on a PTX line without one, or a barrier on the line of an access. */
  | { readonly kind: 'stray'; readonly what: 'access' | 'barrier'; readonly ptxLine: number; readonly address: number }
  /** The second access may follow the first without the separator that every PTX path has between them. */
  | {
      readonly kind: 'unseparated';
      readonly what: 'barrier' | 'fence' | 'wait';
      readonly earlier: number;
      readonly later: number;
      /** Address of the later access, in bytes from the start of its section. */
      readonly address: number;
    }
  /** The second access may come before the first; in the PTX it comes after a warp barrier that follows the first. */
  | {
      readonly kind: 'reversed';
      readonly what: 'warp barrier';
      readonly earlier: number;
      readonly later: number;
      /** Address of the first access, in bytes from the start of its section. */
      readonly address: number;
    }
  /** A load of a spilled register although no instruction stores a byte of its slot. */
  | {
      readonly kind: 'unstored';
      readonly what: 'spill';
      readonly ptxLine: number;
      /** In bytes from the start of the section. */
      readonly address: number;
    }
  /** Some SASS path omits a store or an atomic that all PTX paths between the same barriers have. */
  | { readonly kind: 'skipped'; readonly what: 'effect'; readonly ptxLine: number }
  /** A result that the PTX uses and the SASS does not: the instruction that used it is missing. */
  | {
      readonly kind: 'unused';
      readonly what: 'result';
      readonly ptxLine: number;
      /** In bytes from the start of the section. */
      readonly address: number;
    }
  /** An access is strong at a narrower scope than on its PTX line, or weak. */
  | {
      readonly kind: 'weaker';
      readonly what: 'access';
      readonly ptxLine: number;
      /** In bytes from the start of the section. */
      readonly address: number;
    }
  /**
   * The origins of the address, the data or the guard of an access differ from those of its PTX line: it is the SASS of
   * another access.
   */
  | {
      readonly kind: 'foreign';
      readonly what: 'address' | 'data' | 'guard';
      /**
       * True if none of the origins is one of the line. Otherwise a transformation of ptxas that was not observed so
       * far may explain the difference.
       */
      readonly isCertain: boolean;
      readonly ptxLine: number;
      /** In bytes from the start of the section. */
      readonly address: number;
    };

export type Translation =
  | { readonly checked: true; readonly faults: readonly TranslationFault[] }
  | { readonly checked: false; readonly reason: string };

/** Kinds of separators. A wide fence has a scope wider than the thread block. */
type Separator = 'barrier' | 'fence' | 'wide fence' | 'wait' | 'warp barrier';

function separates(instruction: Instruction, by: Separator): boolean {
  const { effect } = instruction.operation;
  if (by === 'fence' || by === 'wide fence') {
    const fence = fenceWanted(instruction);
    return fence !== null && fence.scope >= (by === 'fence' ? 1 : 2);
  }
  if (by === 'wait') return groupsLeft(instruction) !== null;
  if (by === 'warp barrier' && effect.kind === 'warp-barrier') return true;
  return effect.kind === 'grid-barrier' || (effect.kind === 'barrier' && effect.form !== 'arrive');
}

/** Whether an instruction is a load or store that other threads may observe, and that stays ordered with barriers. */
function isAccess({ operation: { effect } }: Instruction): boolean {
  if (effect.kind === 'atomic') return true;
  if (effect.kind !== 'load' && effect.kind !== 'store' && effect.kind !== 'matrix-access') return false;
  if (effect.kind === 'load' && effect.nonCoherent) return false;
  return effect.space === 'global' || effect.space === 'shared' || effect.space === 'generic';
}

const accessSpaces: ReadonlySet<string | undefined> = new Set(['global', 'shared', 'generic']);

/** The function that a call targets. */
interface Call {
  /** Whether all threads of the block wait in the function. */
  readonly waits: boolean;
  /** Registers that the function may write; null if unknown. */
  readonly writes: ReadonlySet<number> | null;
}

/** Names of bodies that ptxas adds; the names of those that wait contain it. */
const ownBody = /__internal_|\$__cuda|__cuda_sm|__cuda_reduxsync|__nv_/;
const waitingBody = /barrier_(?:sync|red)/;

/** Codes of calls to an address in a register. */
const registerCalls: ReadonlySet<number> = new Set([0x343, 0x344]);

function callsOf(
  flow: SassFlow,
  isRuntime: boolean,
  functions: readonly CodeFunction[],
  version: number,
): ReadonlyMap<SassInstruction, Call> | string {
  const calls = new Map<SassInstruction, Call>();
  const written = new Map<CodeFunction, Call['writes']>();
  for (const instruction of flow.instructions) {
    if (instruction.opcode?.kind !== 'call') continue;
    if (isRuntime && registerCalls.has(instruction.code)) {
      calls.set(instruction, { waits: false, writes: null });
      continue;
    }
    const target = targetOf(instruction, version);
    const callee = target === undefined ? undefined : functions.find(({ start }) => start === target);
    if (!callee || !ownBody.test(callee.symbol)) return 'a call of a function that is not inlined';
    let writes = written.get(callee);
    if (writes === undefined) written.set(callee, (writes = writtenIn(callee, version)));
    calls.set(instruction, { waits: waitingBody.test(callee.symbol), writes });
  }
  return calls;
}

/** First architecture whose instructions may write registers in addition to the known ones. */
const firstUnprinted = 100;

/** Registers that a body added by ptxas may write; null if the body calls others, or has unknown code. */
function writtenIn(body: CodeFunction, version: number): ReadonlySet<number> | null {
  if (version >= firstUnprinted) return null;
  const instructions = instructionsOf(body, version);
  if (instructions.some(({ opcode }) => !opcode || opcode.kind === 'call')) return null;
  return new Set(instructions.flatMap((one) => registerUse(one, version)?.writes ?? mayWrite(one)));
}

/**
 * Checks the SASS of a kernel against its PTX.
 * @param kernel of the PTX that was assembled
 */
export function validateTranslation(kernel: Kernel, cubin: Cubin): Translation {
  const code = cubin.functions.find(({ symbol, isKernel }) => isKernel && symbol === kernel.symbol);
  if (!code) return { checked: false, reason: 'the assembler made no code of it' };
  if (kernel.isTooLarge || kernel.unsupported.length > 0) return { checked: false, reason: 'its PTX is not all understood' };
  const version = versionOf(cubin.arch);
  const flow = flowOf(instructionsOf(code, version), version);
  if (flow.unknown !== undefined) return { checked: false, reason: flow.unknown };
  const calls = callsOf(
    flow,
    cubin.callsRuntimeAlone,
    cubin.functions.filter((one) => one.kernel === code.kernel),
    version,
  );
  if (typeof calls === 'string') return { checked: false, reason: calls };
  if (!flow.instructions.some(({ address }) => code.ptxLineAt(address) !== undefined)) {
    return { checked: false, reason: 'its code has no lines of the PTX' };
  }
  const lineOf = ({ address }: SassInstruction): number | undefined => code.ptxLineAt(address);
  const faults: TranslationFault[] = [
    ...lostInstructions(kernel, flow, version, lineOf, (one) => isBarrierCode(one, calls)).map((lost) => ({
      kind: 'missing' as const,
      ...lost,
    })),
    ...strays(kernel, flow, calls, lineOf),
  ];
  const { skipped, always } = skippedEffects(kernel, flow, lineOf, (one) => isBarrierCode(one, calls));
  for (const ptxLine of skipped) faults.push({ kind: 'skipped', what: 'effect', ptxLine });
  for (const ptxLine of always) {
    const at = flow.instructions.find((one) => one.opcode?.kind === 'store' && lineOf(one) === ptxLine)!;
    faults.push({ kind: 'foreign', what: 'guard', isCertain: false, ptxLine, address: at.address });
  }
  for (const ptxLine of fewerCopies(kernel, flow, version, lineOf)) {
    if (!faults.some((one) => one.kind === 'skipped' && one.ptxLine === ptxLine)) faults.push({ kind: 'skipped', what: 'effect', ptxLine });
  }
  for (const by of ['barrier', 'fence', 'wide fence', 'wait', 'warp barrier'] as const) {
    const found = unseparated(kernel, flow, calls, lineOf, by);
    if (!found) return { checked: false, reason: 'it has too many accesses' };
    faults.push(...found);
  }
  const spills = spillAccesses(kernel, flow.instructions, version) ?? undefined;
  const registers = new RegisterFlow(flow, version, spills, (one) => calls.get(one)?.writes ?? null);
  for (const { what, isCertain, ptxLine, instruction } of mismatchedOperands(kernel, flow, registers, version, lineOf)) {
    faults.push({ kind: 'foreign', what, isCertain, ptxLine, address: instruction.address });
  }
  for (const { ptxLine, instruction } of foreignAddresses(kernel, flow, registers, version, lineOf)) {
    faults.push({ kind: 'foreign', what: 'address', isCertain: false, ptxLine, address: instruction.address });
  }
  for (const { ptxLine, instruction } of mismatchedGuards(kernel, flow, lineOf)) {
    faults.push({ kind: 'foreign', what: 'guard', isCertain: false, ptxLine, address: instruction.address });
  }
  for (const { ptxLine, instruction } of weakerAccesses(kernel, flow, version, lineOf)) {
    faults.push({ kind: 'weaker', what: 'access', ptxLine, address: instruction.address });
  }
  for (const instruction of registers.unstored(!usesUndefined(kernel))) {
    const { address } = instruction;
    faults.push({ kind: 'unstored', what: 'spill', ptxLine: lineOf(instruction) ?? 0, address });
  }
  for (const instruction of unusedResults(kernel, flow, version, lineOf)) {
    const { address } = instruction;
    faults.push({ kind: 'unused', what: 'result', ptxLine: lineOf(instruction) ?? 0, address });
  }
  return { checked: true, faults };
}

/** Whether an instruction uses a value that is undefined on some path. */
function usesUndefined({ blocks }: Kernel): boolean {
  const isUndefined = ({ kind }: Operand): boolean => kind === 'undefined';
  return blocks.some(
    ({ phis, instructions }) =>
      phis.some(({ inputs }) => inputs.some(isUndefined)) || instructions.some((one) => one.arguments.some(isUndefined)),
  );
}

function isBarrierCode(instruction: SassInstruction, calls: ReadonlyMap<SassInstruction, Call>): boolean {
  if (instruction.opcode?.kind === 'barrier') return barrierForm(instruction) !== 'arrive';
  return calls.get(instruction)?.waits === true;
}

/** Accesses on lines of barriers, and barriers on lines of accesses: the two were exchanged. */
function strays(
  kernel: Kernel,
  flow: SassFlow,
  calls: ReadonlyMap<SassInstruction, Call>,
  lineOf: (instruction: SassInstruction) => number | undefined,
): TranslationFault[] {
  const kinds = new Map<number, { hasAccess: boolean; hasBarrier: boolean; hasOther: boolean }>();
  for (const { instructions } of kernel.blocks) {
    for (const instruction of instructions) {
      const known = kinds.get(instruction.ptxLine) ?? { hasAccess: false, hasBarrier: false, hasOther: false };
      kinds.set(instruction.ptxLine, known);
      const { kind } = instruction.operation.effect;
      if (kind === 'load' || kind === 'store' || kind === 'atomic' || kind === 'matrix-access') known.hasAccess = true;
      else if (kind === 'barrier') known.hasBarrier = true;
      else if (kind !== 'pure') known.hasOther = true;
    }
  }
  return flow.instructions.flatMap((instruction): TranslationFault[] => {
    const { opcode, address } = instruction;
    const ptxLine = lineOf(instruction);
    const line = ptxLine === undefined ? undefined : kinds.get(ptxLine);
    if (!opcode || ptxLine === undefined || !line || line.hasOther) return [];
    const isMemory = opcode.kind === 'load' || opcode.kind === 'store' || opcode.kind === 'atomic';
    const isAccessAtBarrier = isMemory && accessSpaces.has(opcode.space) && !line.hasAccess;
    const isBarrierAtAccess = opcode.kind === 'barrier' && line.hasAccess && !line.hasBarrier && !calls.has(instruction);
    if (!isAccessAtBarrier && !isBarrierAtAccess) return [];
    return [{ kind: 'stray', what: isMemory ? 'access' : 'barrier', ptxLine, address }];
  });
}

/** Whether an instruction is a separator, or another wait or copy, that is ordered like an access. */
function isNamed(instruction: Instruction, by: Separator): boolean {
  if (by !== 'barrier' && by !== 'wait') return false;
  const { kind } = instruction.operation.effect;
  if (by === 'wait' && kind === 'copy') return true;
  return kind === 'barrier' && separates(instruction, 'barrier');
}

/** The steps of a separator. If it is itself ordered, it ends the path before it and begins the path after it. */
function stepsOf(step: OrderedStep, isNamedOne: boolean): OrderedStep[] {
  if (!isNamedOne || !step.separates) return [step];
  const { access, guard, writes = [] } = step;
  const own = { ...(access !== undefined && { access }), separates: false, ...(guard && { guard }), writes: [] };
  return [own, { separates: true, writes: [] }, { ...own, writes }];
}

/** Accesses that follow each other without a separator only in the SASS; null if there are too many. */
function unseparated(
  kernel: Kernel,
  flow: SassFlow,
  calls: ReadonlyMap<SassInstruction, Call>,
  lineOf: (instruction: SassInstruction) => number | undefined,
  by: Separator,
): TranslationFault[] | null {
  const numbers = new Map<number, number>();
  let any = false;
  const isEvent = (instruction: Instruction): boolean => isAccess(instruction) || isNamed(instruction, by);
  for (const { instructions } of kernel.blocks) {
    for (const instruction of instructions) {
      any ||= by === 'warp barrier' ? instruction.operation.effect.kind === 'warp-barrier' : separates(instruction, by);
      if (isEvent(instruction) && !numbers.has(instruction.ptxLine)) numbers.set(instruction.ptxLine, numbers.size);
    }
  }
  if (!any) return [];
  const lines = [...numbers.keys()];
  const wanted: OrderedBlock[] = kernel.blocks.map(({ instructions, predecessors }) => ({
    predecessors,
    steps: instructions.flatMap((instruction): OrderedStep[] => {
      const access = isEvent(instruction) ? numbers.get(instruction.ptxLine) : undefined;
      const isSeparator = separates(instruction, by);
      if (access === undefined && !isSeparator) return [];
      return stepsOf({ ...(access === undefined ? {} : { access }), separates: isSeparator }, isNamed(instruction, by));
    }),
  }));
  const addresses = new Map<number, number>();
  const made: OrderedBlock[] = flow.blocks.map(({ first, end, predecessors, branch }) => ({
    predecessors,
    ...(branch && { branch }),
    steps: flow.instructions.slice(first, end).flatMap((instruction): OrderedStep[] => {
      const line = lineOf(instruction);
      const { opcode } = instruction;
      const isMemory =
        opcode && (opcode.kind === 'load' || opcode.kind === 'store' || opcode.kind === 'atomic') && accessSpaces.has(opcode.space);
      const isBarrier = isBarrierCode(instruction, calls);
      const isOther = (by === 'barrier' || by === 'wait') && (isBarrier || (by === 'wait' && opcode?.kind === 'copy'));
      const access = (isMemory || isOther) && line !== undefined ? numbers.get(line) : undefined;
      if (access !== undefined && !addresses.has(access)) addresses.set(access, instruction.address);
      const fence = fenceStrength(instruction);
      const isFence = fence !== null && fence.scope >= (by === 'fence' ? 1 : 2);
      const isSeparator = by === 'fence' || by === 'wide fence' ? isFence : by === 'wait' ? groupsLeftOf(instruction) !== null : isBarrier;
      const writes = predicatesWritten(instruction);
      const guard = sassGuard(instruction);
      if (access === undefined && !isSeparator && writes.length === 0) return [];
      return stepsOf({ ...(access === undefined ? {} : { access }), separates: isSeparator, ...(guard && { guard }), writes }, isOther);
    }),
  }));
  const around = waysAroundLoops(kernel);
  const [can, may, does] = [
    earlierAccesses(wanted, lines.length, false),
    earlierAccesses(
      wanted.map((block, index) => ({ ...block, predecessors: around[index]!.predecessors })),
      lines.length,
      true,
    ),
    // A warp that has not diverged needs no code for its barrier.
    earlierAccesses(made, lines.length, by !== 'warp barrier'),
  ];
  if (!can || !may || !does) return null;
  const faults: TranslationFault[] = [];
  if (by === 'warp barrier') {
    for (const [later] of lines.entries()) {
      for (const [earlier] of lines.entries()) {
        if (earlier === later || !hasBit(does[earlier]!, later) || hasBit(can[earlier]!, later)) continue;
        if (!hasBit(can[later]!, earlier) || hasBit(may[later]!, earlier)) continue;
        faults.push({ kind: 'reversed', what: by, earlier: lines[earlier]!, later: lines[later]!, address: addresses.get(earlier)! });
      }
    }
    return faults;
  }
  for (const [later] of lines.entries()) {
    const [own, reached, allowed] = [does[later]!, can[later]!, may[later]!];
    for (let word = 0; word < own.length; word++) {
      for (let left = own[word]! & reached[word]! & ~allowed[word]!; left !== 0; left &= left - 1) {
        const earlier = word * 32 + (31 - Math.clz32(left & -left));
        // The line table may assign one line to two accesses. Within an interval accesses may be reordered.
        if (earlier === later || hasBit(may[earlier]!, later)) continue;
        faults.push({
          kind: 'unseparated',
          what: by === 'wide fence' ? 'fence' : by,
          earlier: lines[earlier]!,
          later: lines[later]!,
          address: addresses.get(later)!,
        });
      }
    }
  }
  return faults;
}
