/**
 * Maximum number of SASS instructions that a warp executes, from the execution counts of PTX lines. One iteration of a
 * SASS loop may execute several iterations of the PTX loop, or a part of one. Accesses are executed as often as in the
 * PTX. So each SASS iteration executes one PTX iteration per copy of an access that all paths execute.
 */
import { add, constant, type Expression, floorQuotient, scale, zero } from '../cost/expressions/expression.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import { type Location, outermost, outsideToolkit } from '../source/location.ts';
import { flowOf, type SassFlow } from './sass-flow.ts';
import type { CodeFunction, Cubin } from './cubin/cubin.ts';
import { accessBits, instructionsOf, type SassInstruction, sassGuard, targetOf, versionOf } from './instruction/decode.ts';
import { lineKey } from './line-changes.ts';
import { loopsOf, type SassLoop, type SassLoops } from './sass-loops.ts';
import { withoutPadding } from './profile.ts';

/** Maximum number of instructions that a warp executes if diverged lanes reconverge; null if unknown. */
export interface ExecutedSteps {
  readonly whole: Expression | null;
  /** By {@link lineKey}. */
  readonly byLine: ReadonlyMap<string, Expression | null>;
}

/** PTX executions in one iteration of a SASS loop: at least `copies` executions of a line. */
interface Share {
  readonly copies: number;
  readonly visits: Expression;
  /** Whether the last, incomplete iteration also has that number of executions. */
  readonly isWhole: boolean;
}

/**
 * Bounds the SASS instructions of a kernel that a warp executes.
 * @param visits maximum number of executions of PTX lines in loops by a warp
 * @param placeOf the name of a place in `byLine`
 * @returns null if some SASS is not supported
 */
export function executedSteps(
  kernel: Kernel,
  cubin: Cubin,
  visits: ReadonlyMap<number, Expression>,
  placeOf: (location: Location) => Location = (location) => location,
): ExecutedSteps | null {
  const code = cubin.functions.find(({ symbol, isKernel }) => isKernel && symbol === kernel.symbol);
  if (!code) return null;
  const version = versionOf(cubin.arch);
  const flow = flowOf(withoutPadding(instructionsOf(code, version), version), version);
  if (flow.unknown !== undefined) return null;
  const loops = loopsOf(flow);
  const rounds = new Rounds(kernel, code, flow, loops, visits, version);
  const byLine = new Map<string, Expression | null>();
  const bodies = new Map<number, number | null>();
  let whole: Expression | null = zero;
  for (const [block, { first, end }] of flow.blocks.entries()) {
    const times = rounds.ofBlock(block);
    for (const instruction of flow.instructions.slice(first, end)) {
      const called = stepsOfCall(instruction, cubin, code, version, bodies);
      const own = times && called !== null ? scale(times, 1 + called) : null;
      const place = code.sourceAt(instruction.address);
      const key = lineKey(place && placeOf(outsideToolkit(place) ?? outermost(place)));
      const known = byLine.get(key);
      byLine.set(key, known === null || own === null ? null : add(known ?? zero, own));
      whole = whole && own && add(whole, own);
    }
  }
  return { whole, byLine };
}

/** Number of instructions of a called body; 0 without a call, null if the body has a loop or is unknown. */
function stepsOfCall(
  instruction: SassInstruction,
  { functions }: Cubin,
  caller: CodeFunction,
  version: number,
  known: Map<number, number | null>,
): number | null {
  if (instruction.opcode?.kind !== 'call') return 0;
  const target = targetOf(instruction, version);
  const body = functions.find(({ kernel, start }) => kernel === caller.kernel && start === target);
  if (target === undefined || !body || body === caller) return null;
  if (!known.has(target)) {
    const flow = flowOf(withoutPadding(instructionsOf(body, version), version), version);
    const isPlain =
      flow.unknown === undefined && loopsOf(flow).loops.length === 0 && !flow.instructions.some(({ opcode }) => opcode?.kind === 'call');
    known.set(target, isPlain ? flow.instructions.length : null);
  }
  return known.get(target)!;
}

/** Execution counts of blocks. */
class Rounds {
  readonly #code: CodeFunction;
  readonly #flow: SassFlow;
  readonly #loops: SassLoops;
  readonly #visits: ReadonlyMap<number, Expression>;
  /** PTX lines with a single instruction: a load or a store, with its number of bits, or a barrier (0). */
  readonly #accesses = new Map<number, number>();
  readonly #version: number;
  readonly #known = new Map<SassLoop, Expression | null>();

  constructor(
    kernel: Kernel,
    code: CodeFunction,
    flow: SassFlow,
    loops: SassLoops,
    visits: ReadonlyMap<number, Expression>,
    version: number,
  ) {
    const times = new Map<number, number>();
    for (const { instructions } of kernel.blocks) {
      for (const {
        ptxLine,
        operation: { effect },
      } of instructions) {
        times.set(ptxLine, (times.get(ptxLine) ?? 0) + 1);
        // Atomics are excluded, since ptxas may expand them to loops. The bits exclude wide accesses that ptxas splits.
        if (effect.kind === 'barrier') this.#accesses.set(ptxLine, 0);
        else if ((effect.kind === 'load' || effect.kind === 'store') && /^(?:global|shared|generic)$/.test(effect.space))
          this.#accesses.set(ptxLine, effect.bytes * effect.lanes * 8);
      }
    }
    for (const [line, many] of times) if (many > 1) this.#accesses.delete(line);
    [this.#code, this.#flow, this.#loops, this.#visits, this.#version] = [code, flow, loops, visits, version];
  }

  /** Upper bound of the executions of a block; null if unknown. */
  ofBlock(block: number): Expression | null {
    const loop = this.#loops.innermost(block);
    return loop ? this.#ofLoop(loop) : constant(1);
  }

  /** Execution count of the header of a loop. */
  #ofLoop(loop: SassLoop): Expression | null {
    const known = this.#known.get(loop);
    if (known !== undefined) return known;
    const share = this.#shareOf(loop);
    let found: Expression | null = null;
    if (share) {
      const whole = share.copies === 1 ? share.visits : floorQuotient(share.visits, constant(share.copies));
      const around = share.isWhole ? zero : this.#around(loop);
      found = around && add(whole, around);
    }
    this.#known.set(loop, found);
    return found;
  }

  /** Number of executions of a loop: at most one in each iteration of the outer loop. */
  #around(loop: SassLoop): Expression | null {
    const outer = this.#loops.loops.filter((one) => one !== loop && one.blocks.has(loop.header) && one.header !== loop.header);
    if (outer.length === 0) return constant(1);
    return this.#ofLoop(outer.reduce((least, one) => (one.blocks.size < least.blocks.size ? one : least)));
  }

  /**
   * The access with the most copies among those that every iteration of a loop executes; null if no such access has a
   * known execution count.
   */
  #shareOf(loop: SassLoop): Share | null {
    const { dominates, innermost } = this.#loops;
    const always = [...loop.blocks].filter((block) => innermost(block) === loop && loop.latches.every((latch) => dominates(block, latch)));
    const copies = new Map<number, { count: number; readonly blocks: number[] }>();
    for (const block of always) {
      const { first, end } = this.#flow.blocks[block]!;
      for (const instruction of this.#flow.instructions.slice(first, end)) {
        const kind = instruction.opcode?.kind;
        const isAccess = kind === 'load' || kind === 'store' || kind === 'barrier';
        const line = isAccess && !sassGuard(instruction) ? this.#code.ptxLineAt(instruction.address) : undefined;
        const bits = line === undefined ? undefined : this.#accesses.get(line);
        const isWhole =
          bits !== undefined && (kind === 'barrier' ? bits === 0 : bits > 0 && (accessBits(instruction, this.#version) ?? 0) >= bits);
        if (line === undefined || !isWhole || !this.#visits.has(line)) continue;
        const own = copies.get(line) ?? { count: 0, blocks: [] };
        copies.set(line, own);
        own.count++;
        own.blocks.push(block);
      }
    }
    const exits = [...loop.blocks].filter(
      (block) => this.#flow.blocks[block]!.successors.some((one) => !loop.blocks.has(one)) || this.#leaves(block),
    );
    let best: Share | null = null;
    for (const [line, { count, blocks }] of copies) {
      const isWhole = exits.every((exit) => blocks.every((block) => dominates(block, exit)));
      const isBetter = !best || count > best.copies || (count === best.copies && isWhole && !best.isWhole);
      if (isBetter) best = { copies: count, visits: this.#visits.get(line)!, isWhole };
    }
    return best;
  }

  /** Whether threads may exit in a block. */
  #leaves(block: number): boolean {
    const { first, end } = this.#flow.blocks[block]!;
    return this.#flow.instructions.slice(first, end).some(({ opcode }) => opcode?.kind === 'exit');
  }
}
