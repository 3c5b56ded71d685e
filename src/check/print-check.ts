/** Intermediate results of a check as text, for `check --print`. The format may change. */
import type { AccessOccurrence, Interval } from '../analysis/barriers/barrier-interval.ts';
import type { Access } from '../analysis/values/access.ts';
import type { IterationRelation } from '../analysis/values/iteration-relation.ts';
import type { Instruction } from '../ir/form/kernel.ts';
import type { Term } from '../term/term.ts';
import type { KernelContext } from './context/facts.ts';
import { baseName, placeOf, wholeTerm } from './context/names.ts';
import type { KernelIntervals } from './intervals.ts';
import type { AccessPair, AccessSide, Obligation } from './obligations/obligation.ts';

const axes = ['x', 'y', 'z'] as const;

/**
 * Values, conditions of basic blocks, loops and accesses, as symbolic terms over thread and block indices, parameters
 * and iterations.
 */
export function printSymbolic(facts: KernelContext): string {
  const { kernel, symbolic, accesses, dimensions } = facts;
  const sizes = (name: string, extents: readonly (number | null)[]): string =>
    axes.map((axis, at) => `${name}.${axis} = ${extents[at] ?? 'any'}`).join(', ');
  const lines = [sizes('blockDim', dimensions.block), sizes('gridDim', dimensions.grid)];
  for (const { id, header } of kernel.loops) lines.push(`loop ${id}: header b${header}, at most ${symbolic.rounds[id]! + 1n} iterations`);
  for (const { id, phis, instructions } of kernel.blocks) {
    lines.push(`b${id}: reached if ${wholeTerm(facts, symbolic.reach(id))}`);
    for (const { result } of phis) lines.push(`  v${result} = ${wholeTerm(facts, symbolic.value(result))}`);
    for (const { results } of instructions)
      for (const result of results) if (result !== null) lines.push(`  v${result} = ${wholeTerm(facts, symbolic.value(result))}`);
  }
  return text([...lines, ...accesses.flatMap((access) => accessLines(facts, access))]);
}

/** Barrier intervals, with the accesses of each and the iterations of loops in which they happen. */
export function printIntervals(facts: KernelContext, { block, grid, own, truncated }: KernelIntervals): string {
  const lines = block.flatMap(({ warp, intervals, others }) => {
    const threads = warp === null ? 'threads of one block' : `threads of ${warp === 'same' ? 'one warp' : 'two warps'}`;
    return [threads, ...listed(facts, intervals), ...(others && others !== intervals ? ['second thread', ...listed(facts, others)] : [])];
  });
  if (grid) lines.push('threads of different blocks', ...listed(facts, grid));
  for (const { copy, access } of own)
    lines.push(`copy ${copy.access.index} is pending at access ${access.access.index} of its own thread${iterations(access.rounds)}`);
  if (truncated) lines.push('some intervals are missing: there are too many combinations of iterations');
  return text(lines);
}

/** Pairs of accesses that must be shown not to conflict, with the conditions of each obligation. */
export function printObligations(facts: KernelContext, pairs: readonly AccessPair[]): string {
  return text(
    pairs.flatMap(({ scope, conflict, first, second, obligations }, at) => [
      `pair ${at} (${scope}, ${conflict}): access ${first.index} at ${place(facts, first.instruction)}, access ${second.index} at ${place(facts, second.instruction)}`,
      ...obligations.flatMap((obligation) => obligationLines(facts, obligation)),
    ]),
  );
}

function accessLines(facts: KernelContext, { index, operation, bytes, memory, instruction, block, targets, isCopy }: Access): string[] {
  const head = `access ${index}: ${isCopy ? 'asynchronous ' : ''}${operation} of ${bytes} bytes in ${memory} memory at ${place(facts, instruction)}, b${block}`;
  return [head, ...targets.map((target) => `  ${sideText(facts, target.base, target.offset)} if ${wholeTerm(facts, target.condition)}`)];
}

function listed(facts: KernelContext, intervals: readonly Interval[]): string[] {
  return intervals.flatMap(({ start, startRounds, occurrences }, at) => [
    `  interval ${at}: from ${start ? `the barrier at ${place(facts, start.barrier)}${iterations(startRounds)}` : 'the entry'}`,
    ...occurrences.map((occurrence) => `    ${occurrenceText(facts, occurrence)}`),
  ]);
}

function occurrenceText(facts: KernelContext, { access, rounds, path, hasReturned }: AccessOccurrence): string {
  const conditions = path.map(({ term }) => ` if ${wholeTerm(facts, term)}`).join('');
  return `access ${access.index} (${access.operation}, ${place(facts, access.instruction)})${iterations(rounds)}${conditions}${hasReturned ? ', after its thread has returned' : ''}`;
}

/** Iterations of loops, relative to the start of the interval: `same`, `next`, `free`. */
function iterations(rounds: readonly IterationRelation[]): string {
  return rounds.length === 0 ? '' : ` [${rounds.map((state, loop) => `loop ${loop}: ${state}`).join(', ')}]`;
}

function obligationLines(facts: KernelContext, { first, second, sameThread, warp }: Obligation): string[] {
  const who = sameThread
    ? 'one thread accesses'
    : `two threads${warp === null ? '' : ` of ${warp === 'same' ? 'one warp' : 'two warps'}`} access`;
  return [`  obligation: ${who} disjoint bytes`, sideLine(facts, 1, first), sideLine(facts, 2, second)];
}

function sideLine(facts: KernelContext, thread: 1 | 2, { target, reading, conditions }: AccessSide): string {
  const terms = conditions.map(({ term }) => wholeTerm(facts, term)).join(' && ');
  return `    thread ${thread}: ${sideText(facts, target.base, target.offset)}${iterations(reading.rounds)} if ${terms === '' ? 'true' : terms}`;
}

function sideText(facts: KernelContext, base: Parameters<typeof baseName>[1], offset: Term): string {
  return `${baseName(facts, base)} + ${wholeTerm(facts, offset)} bytes`;
}

function place({ kernel }: KernelContext, instruction: Instruction): string {
  const { file, line } = placeOf(kernel, instruction);
  return `${file}:${line}`;
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
