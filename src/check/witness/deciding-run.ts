/**
 * Launches decided by one run. If no value loaded from memory affects the paths of threads or their addresses, every
 * execution performs the accesses of that run, and only barriers order them. If a run has a race, the fast form of the
 * race detector finds one. So a run without a race is a proof. If lanes of a part of a warp wait for each other, or threads
 * of a part of the block, the precise form is required, which states whether it has forgotten accesses, or whether others
 * may take part in a barrier.
 */
import type { Steps } from '../../base/coroutine.ts';
import { isFullBarrier, isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import { isOneObject } from '../../analysis/values/memory-base.ts';
import { maximumSharedBytes, sharedBytesWithoutOptIn } from '../../device/hardware-limits.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Instruction, InstructionId, Operand } from '../../ir/form/kernel.ts';
import { clusterOf } from '../../launch/launch.ts';
import { needsVectorClocks } from '../../interpreter/detector/needs-vector-clocks.ts';
import { countsOfBarriers } from '../../interpreter/detector/barrier-phases.ts';
import { lanesAt, wholeWarp } from '../advice/executing-threads.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { fieldAt, givenScalar } from '../context/scalars.ts';
import type { AccessPair } from '../obligations/obligation.ts';
import { decidingRuns } from '../request/check-budget.ts';
import type { Term } from '../../term/term.ts';
import { replay, replayRequest, type Scenario } from './replay.ts';

/** Effects that order accesses by barriers only, and whose results affect no path and no address. */
const plainEffects: ReadonlySet<string> = new Set([
  'pure',
  'load',
  'store',
  'barrier',
  'warp-barrier',
  'shuffle',
  'vote',
  'warp-value',
  'fence',
  'havoc',
]);

/**
 * Whether a run of the launch shows that none of these pairs races.
 * @param pairs open pairs; if two accesses are to different arrays, the run does not decide
 * @returns false if one run does not decide the pairs, or if the run shows any event
 */
export function* isDecidedByRun(context: KernelAndLaunch & SymbolicFacts, pairs: readonly AccessPair[]): Steps<boolean> {
  const { request, kernel, fields } = context;
  const { launch, parameters, policy, budget } = request;
  const scope = scopeOfRun(context, pairs);
  if (scope === null || budget.expired()) return false;
  const [x, y, z] = scope.grid;
  const count = scope.blocks === 'first' ? 1 : x * y * z;
  const threads = scope.block[0] * scope.block[1] * scope.block[2] * count;
  const steps = Math.min(decidingRuns.mostSteps, budget.replaySteps);
  if (threads > decidingRuns.mostThreads || steps <= 0) return false;
  const scenario: Scenario = {
    block: scope.block,
    grid: scope.grid,
    sharedBytes: launch.sharedBytes ?? sharedBytesWithoutOptIn,
    // Unspecified scalars affect neither paths nor addresses.
    scalar: ({ index, offset, bytes }) => givenScalar(launch, index, offset, bytes) ?? 1n,
    blocks: Array.from({ length: count }, (_, block) => block),
    contents: 1,
    settled: new Map(),
  };
  const asked = replayRequest(kernel, parameters, fields, launch, scenario, steps, policy.warpLockstep);
  const { outcome, races, divergences, faults, havocs, brokenAssumptions, mayMissRaces } = yield* replay({
    ...asked,
    volatileRaces: policy.volatile !== 'allow',
  });
  // Uninitialised reads affect neither paths nor addresses.
  const others = faults.filter(({ kind }) => kind !== 'uninitialised');
  const isClean = [races, divergences, others, brokenAssumptions].every((events) => events.length === 0);
  return outcome === 'finished' && isClean && !(scope.isClocked && mayMissRaces) && !havocs.some((made) => scope.followed.has(made));
}

/**
 * Dimensions and blocks of the run, and the instructions that affect paths and addresses; null if one run does not
 * suffice.
 */
function scopeOfRun(
  context: KernelAndLaunch & SymbolicFacts,
  pairs: readonly AccessPair[],
): { block: Dim3; grid: Dim3; blocks: 'first' | 'all'; followed: ReadonlySet<InstructionId>; isClocked: boolean } | null {
  const { request, kernel, dimensions } = context;
  const { launch } = request;
  const [block, given] = [givenSizes(dimensions.block), launch.grid && givenSizes(dimensions.grid)];
  if (pairs.length === 0 || !block || launch.block === null) return null;
  // If the grid is unspecified, one block may be representative of all blocks.
  const grid: Dim3 = given ?? [1, 1, 1];
  if (!clusterOf({ ...launch, grid }, kernel)?.every((size) => size === 1)) return null;
  if (launch.samePointers?.length || launch.distances?.length || (launch.sharedBytes ?? 0) > maximumSharedBytes) return null;
  if (kernel.unsupported.length > 0 || kernel.assumesLocalBounds || kernel.workspace !== undefined) return null;
  const isPlain = kernel.blocks.every(
    ({ instructions, terminator }) =>
      terminator.kind !== 'unknown' && terminator.kind !== 'trap' && instructions.every(isOrderedByBarriers),
  );
  const clocked = needsVectorClocks(kernel);
  if (!isPlain || clocked.some((reason) => reason !== 'warp-mask' && reason !== 'named-barrier')) return null;
  if (clocked.includes('named-barrier') && !areOfWholeWarps(context, block[0] * block[1] * block[2])) return null;
  const walk = new Followed(context);
  for (const { terminator, instructions } of kernel.blocks) {
    if (terminator.kind === 'branch' && !walk.operand(terminator.condition)) return null;
    if (terminator.kind === 'switch' && !walk.operand(terminator.index)) return null;
    for (const { operation, arguments: operands } of instructions)
      if (/^(?:warp-)?barrier$/.test(operation.effect.kind) && !operands.every((operand) => walk.operand(operand))) return null;
  }
  for (const { obligations } of pairs)
    for (const { first, second, resolved } of obligations) {
      if (!resolved || !isOneObject(first.target.base) || first.target.base.key !== second.target.base.key) return null;
      for (const { access, target } of [first, second]) {
        if (access.targets.length !== 1 || target !== access.targets[0]) return null;
        if (![target.offset, target.condition].every((term) => walk.term(term))) return null;
      }
    }
  const isOfBlock = pairs.every(({ scope }) => scope === 'block') && !walk.dependsOnBlock;
  if (!given && (!isOfBlock || walk.dependsOnGrid)) return null;
  const isOneBlock = isOfBlock || grid[0] * grid[1] * grid[2] === 1;
  if (clocked.length > 0 && !isOneBlock) return null;
  return { block, grid, blocks: isOfBlock ? 'first' : 'all', followed: walk.instructions, isClocked: clocked.length > 0 };
}

/**
 * Whether whole warps execute the barriers of some threads of the block, each of which has one name and waits for one number of
 * threads. Barrier 0 is that of all threads.
 */
function areOfWholeWarps(context: KernelAndLaunch & SymbolicFacts, threads: number): boolean {
  const { kernel } = context;
  const counts = countsOfBarriers(kernel, threads);
  if (!counts || (counts.has(0) && counts.get(0) !== threads)) return false;
  return kernel.blocks.every(
    ({ id, instructions }) =>
      !instructions.some(({ operation }) => operation.effect.kind === 'barrier') || lanesAt(context, id) === wholeWarp,
  );
}

function givenSizes([x, y, z]: readonly [number | null, number | null, number | null]): Dim3 | null {
  return x === null || y === null || z === null ? null : [x, y, z];
}

function isOrderedByBarriers(instruction: Instruction): boolean {
  const { effect } = instruction.operation;
  if (!plainEffects.has(effect.kind)) return false;
  if (effect.kind === 'load' || effect.kind === 'store') return effect.semantics === 'weak';
  if (effect.kind === 'barrier') return isFullBarrier(instruction) ? !isGridBarrier(instruction) : effect.form !== 'red';
  return true;
}

/**
 * Floating-point instructions. For some of them, such as `sin.approx`, the interpreter does not have the result of the
 * device.
 */
const floating = /\.(b?f\d+|tf32|e\dm\d)/;

/** Whether a term contains a function whose value the interpreter may have to invent. */
function isMadeUp(term: Term): boolean {
  const seen = new Set<Term>();
  const work = [term];
  for (let next = work.pop(); next; next = work.pop()) {
    if (next.operator === 'pure' || next.operator === 'test') return true;
    if (seen.has(next)) continue;
    seen.add(next);
    work.push(...next.arguments);
  }
  return false;
}

/** Traces the terms of paths and addresses back to the launch and its arguments. */
class Followed {
  readonly instructions = new Set<InstructionId>();
  /** Whether the paths or the offsets depend on the block index. */
  dependsOnBlock = false;
  /** Whether the paths or the offsets depend on the size of the grid. */
  dependsOnGrid = false;
  readonly #context: KernelAndLaunch & SymbolicFacts;
  readonly #values = new Set<number>();

  constructor(context: KernelAndLaunch & SymbolicFacts) {
    this.#context = context;
  }

  /**
   * Whether a term depends on given values only. Records the dependences on the block index and on the size of the
   * grid.
   */
  term(term: Term): boolean {
    return (
      !isMadeUp(term) &&
      term.leaves.every(({ atom }) => {
        switch (atom!.kind) {
          case 'thread':
          case 'block-size':
          case 'iteration':
            return true;
          case 'grid-size':
            this.dependsOnGrid = true;
            return true;
          case 'block':
            this.dependsOnBlock = true;
            return true;
          case 'parameter':
            return this.#isGivenField(atom.index, atom.offset);
          case 'phi':
          case 'havoc':
            return atom.value >= 0 && this.#value(atom.value);
          default:
            return false;
        }
      })
    );
  }

  /** Like {@link term}, for an operand. */
  operand(operand: Operand): boolean {
    switch (operand.kind) {
      case 'constant':
        return true;
      case 'special':
        if (operand.register.startsWith('ctaid')) this.dependsOnBlock = true;
        if (operand.register.startsWith('nctaid')) this.dependsOnGrid = true;
        return operand.register !== 'dynamic_smem_size' || this.#context.request.launch.sharedBytes !== null;
      case 'value':
        return this.#value(operand.id);
      case 'address':
      case 'undefined':
        return false;
    }
  }

  #value(id: number): boolean {
    if (this.#values.has(id)) return true;
    // The inputs of a cycle from outside determine its values.
    this.#values.add(id);
    const { kernel } = this.#context;
    const { definition } = kernel.values[id]!;
    if (definition.kind === 'phi')
      return kernel.blocks[definition.block]!.phis[definition.index]!.inputs.every((input) => this.operand(input));
    const { instruction } = definition;
    const { effect } = instruction.operation;
    this.instructions.add(instruction.id);
    if (floating.test(instruction.operation.mnemonic)) return false;
    if (effect.kind === 'pure') return instruction.arguments.every((source) => this.operand(source));
    const [address] = instruction.arguments;
    if (effect.kind !== 'load' || address?.kind !== 'address') return false;
    const { space, parameter } = kernel.objects[address.object]!;
    return space === 'param' && parameter !== undefined && this.#isGivenField(parameter, Number(address.offset + instruction.offset));
  }

  #isGivenField(index: number, offset: number): boolean {
    const field = fieldAt(this.#context, index, offset);
    const { launch } = this.#context.request;
    return field !== undefined && !field.isPointer && givenScalar(launch, index, offset, field.bytes) !== undefined;
  }
}
