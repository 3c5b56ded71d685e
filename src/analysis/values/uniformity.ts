/**
 * Values and branches that are the same for all threads of a block, of a warp, or of the grid, that execute them in the
 * same iteration of the loops around them. The analysis is syntactic and starts optimistic: a value varies when an operand
 * varies, when it is merged from paths that a varying branch separates, or when it leaves a loop that threads leave in
 * different iterations.
 */
import type { Block, BlockId, Instruction, Kernel, LoopId, Operand, ValueId } from '../../ir/form/kernel.ts';
import type { LoadedMemory } from './access.ts';
import type { ControlDependence } from './control-dependence.ts';

/**
 * `stable`: uniform provided that no two threads race on the memory it was read from: all threads of a block that read
 * one address in one barrier interval of a race-free execution read one value.
 */
type Uniformity = 'uniform' | 'stable' | 'varying';

export interface UniformityResult {
  readonly value: (id: ValueId) => Uniformity;
  /** For the condition of a block's terminator; `uniform` if it has none. */
  readonly branch: (block: BlockId) => Uniformity;
  /** Threads may leave the loop after different numbers of iterations. */
  readonly divergent: (loop: LoopId) => boolean;
}

const rank: Readonly<Record<Uniformity, number>> = { uniform: 0, stable: 1, varying: 2 };
const worse = (a: Uniformity, b: Uniformity): Uniformity => (rank[a] >= rank[b] ? a : b);

/** Lanes of a warp that agree on values which other threads of the block may not have. */
export interface SharedByLanes {
  /** Whether an operand is computed from the thread index, and is equal in all lanes of a warp. */
  readonly isOfWarp: (operand: Operand) => boolean;
  /** Whether all lanes read an existing lane in a shuffle if they pass one source lane. */
  readonly isBroadcast: (shuffle: Instruction) => boolean;
}

/** Special registers that all threads of a block share; those of the grid do not share the index of the block. */
const shared = {
  block: /^(ntid|ctaid|nctaid)\.|^(warpsize|dynamic_smem_size)$/,
  grid: /^(ntid|nctaid)\.|^(warpsize|dynamic_smem_size)$/,
};

/**
 * Computes uniformity.
 * @param dependences from `controlDependence`
 * @param loaded from `loadedMemory`
 * @param proved branches that a solver has shown to be uniform
 * @param scope the threads that agree: of a block, or of the grid, which share only parameters and constants; or the
 *   lanes of a warp, provided that they execute the exchanges of the warp together
 */
export function inferUniformity(
  kernel: Kernel,
  dependences: ControlDependence,
  loaded: (load: Instruction) => LoadedMemory,
  proved: ReadonlySet<BlockId>,
  scope: 'block' | 'grid' | SharedByLanes = 'block',
): UniformityResult {
  const lanes = typeof scope === 'object' ? scope : null;
  const registers = scope === 'grid' ? shared.grid : shared.block;
  const values: Uniformity[] = kernel.values.map(() => 'uniform');
  const divergent: boolean[] = kernel.loops.map(() => false);

  function operandAt(operand: Operand, block: BlockId): Uniformity {
    switch (operand.kind) {
      case 'value': {
        const home = kernel.values[operand.id]!.definition.block;
        for (let loop = kernel.loopOf[home] ?? null; loop !== null; loop = kernel.loops[loop]!.parent)
          if (divergent[loop] && !kernel.loops[loop]!.blocks.has(block)) return 'varying';
        return values[operand.id]!;
      }
      case 'special':
        return registers.test(operand.register) || lanes?.isOfWarp(operand) === true ? 'uniform' : 'varying';
      case 'undefined':
        return 'varying';
      case 'constant':
      case 'address':
        return 'uniform';
    }
  }

  function branchOf(block: Block): Uniformity {
    if (proved.has(block.id)) return 'uniform';
    const { terminator } = block;
    if (terminator.kind === 'branch') return operandAt(terminator.condition, block.id);
    return terminator.kind === 'switch' ? operandAt(terminator.index, block.id) : 'uniform';
  }

  /** How the branches between a block and its immediate dominator separate the threads that join in it. */
  function mergeOf(block: Block): Uniformity {
    const dominator = kernel.dominators[block.id]!;
    const seen = new Set<BlockId>([dominator]);
    const work = block.predecessors.filter((id) => id !== dominator);
    let result = block.id === dominator ? 'uniform' : branchOf(kernel.blocks[dominator]!);
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      result = worse(result, branchOf(kernel.blocks[next]!));
      if (next !== block.id) work.push(...kernel.blocks[next]!.predecessors);
    }
    return result;
  }

  function resultOf(instruction: Instruction, block: BlockId): Uniformity {
    const { effect } = instruction.operation;
    let inputs: Uniformity = 'uniform';
    for (const argument of instruction.arguments) inputs = worse(inputs, operandAt(argument, block));
    switch (effect.kind) {
      case 'pure': {
        const [id] = instruction.results;
        const isOfWarp = inputs === 'varying' && lanes && id !== undefined && id !== null && lanes.isOfWarp({ kind: 'value', id });
        return isOfWarp ? 'uniform' : inputs;
      }
      case 'vote': {
        const [predicate, mask] = instruction.arguments.map((argument) => operandAt(argument, block));
        if (!effect.sync) return 'varying';
        // Lanes with one mask get one result. Lanes that agree on the predicate get the predicate.
        const ofMask = lanes ? mask! : 'varying';
        return effect.mode === 'ballot' || rank[ofMask] <= rank[predicate!] ? ofMask : predicate!;
      }
      case 'warp-value': {
        const isOfAll = effect.sync && effect.name !== 'match.any' && effect.name !== 'elect';
        return lanes && isOfAll ? operandAt(instruction.arguments[1]!, block) : 'varying';
      }
      case 'shuffle':
        return lanes?.isBroadcast(instruction) === true ? operandAt(instruction.arguments[1]!, block) : 'varying';
      case 'load':
        if (inputs === 'varying' || effect.semantics !== 'weak') return 'varying';
        if (scope === 'grid' && effect.space !== 'param' && effect.space !== 'const') return 'varying';
        switch (loaded(instruction)) {
          case 'private':
            return 'varying';
          case 'written':
            return 'stable';
          case 'fixed':
            return inputs;
        }
      case 'barrier':
        return effect.form === 'red' && scope !== 'grid' ? 'uniform' : 'varying';
      default:
        return 'varying';
    }
  }

  for (let changed = true; changed;) {
    changed = false;
    const raise = (id: ValueId, to: Uniformity): void => {
      const next = worse(values[id]!, to);
      if (next !== values[id]) {
        values[id] = next;
        changed = true;
      }
    };
    for (const block of kernel.blocks) {
      if (block.phis.length > 0) {
        const merge = mergeOf(block);
        const header = kernel.loops.find((loop) => loop.header === block.id);
        for (const phi of block.phis) {
          // Entry and back edges of a loop separate no threads: all are in the same iteration.
          const groups = new Map<string, string>();
          let merged = false;
          phi.inputs.forEach((input, i) => {
            const from = block.predecessors[i]!;
            const group = header?.latches.includes(from) ? 'back' : 'entry';
            const key = operandKey(input);
            if ((groups.get(group) ?? key) !== key) merged = true;
            groups.set(group, key);
            // The thread may leave a divergent loop before this edge, or on it.
            raise(phi.result, worse(operandAt(input, from), operandAt(input, block.id)));
          });
          if (merged) raise(phi.result, merge);
        }
      }
      for (const instruction of block.instructions) {
        const result = resultOf(instruction, block.id);
        for (const id of instruction.results) if (id !== null) raise(id, result);
      }
    }
    for (const loop of kernel.loops) {
      if (divergent[loop.id]) continue;
      const leaving = loop.exits.some(({ from }) => {
        if (branchOf(kernel.blocks[from]!) === 'varying') return true;
        for (const branch of dependences.controlling(from, loop.id))
          if (loop.blocks.has(branch) && branchOf(kernel.blocks[branch]!) === 'varying') return true;
        return false;
      });
      if (leaving) {
        divergent[loop.id] = true;
        changed = true;
      }
    }
  }

  return {
    value: (id) => values[id]!,
    branch: (block) => branchOf(kernel.blocks[block]!),
    divergent: (loop) => divergent[loop]!,
  };
}

function operandKey(operand: Operand): string {
  switch (operand.kind) {
    case 'value':
      return `v${operand.id}`;
    case 'constant':
      return `c${operand.value}`;
    case 'address':
      return `a${operand.object}+${operand.offset}`;
    case 'special':
      return operand.register;
    case 'undefined':
      return 'undefined';
  }
}
