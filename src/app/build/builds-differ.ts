import { gridDependency, waitsFirst } from '../../analysis/barriers/grid-dependency.ts';
import { reachedBlocks } from '../../analysis/values/reached-blocks.ts';
import type { BlockId, Kernel, Instruction } from '../../ir/form/kernel.ts';
import { type ComparedKernel, hasWrittenBuild, type KernelUnit, type LoweredKernel } from './phase-data.ts';
import { accessesOfEffect, completionOf, participantsOf } from '../../isa/model/effect.ts';
import type { Launch } from '../../launch/launch.ts';
import { outsideToolkit } from '../../source/location.ts';

/**
 * Compares the two builds of each kernel and records why the production build may behave differently. PTX has one
 * build.
 */
export function compareBuilds(unit: KernelUnit<LoweredKernel>): KernelUnit<ComparedKernel> {
  const differ = (entry: LoweredKernel): string | undefined =>
    entry.unit.kind === 'ptx' || !hasWrittenBuild(entry) ? undefined : buildsDiffer(entry.kernel, entry.produced);
  return { ...unit, kernels: unit.kernels.map((entry) => ({ ...entry, differ: differ(entry) })) };
}

/**
 * Why the production build of a kernel may behave differently from the verification build under a launch; undefined if
 * it is not. A single thread cannot race or miss a barrier, whichever stores differ: then only asynchronous and
 * unsupported effects count.
 */
export function differsAt({ block, grid }: Launch, { differ, kernel, produced }: ComparedKernel): string | undefined {
  if (differ === undefined || !produced) return differ;
  const isAlone = [block, grid].every((extents) => extents?.every((size) => size === 1) === true);
  if (!isAlone) return differ;
  const checked = new Set(beside(kernel));
  return beside(produced).every((what) => checked.has(what) && what !== asynchronous) ? undefined : differ;
}

/** Effects of a kernel that run, or may run, asynchronously to its thread. */
function beside(kernel: Kernel): string[] {
  const { unsupported, blocks, overlapsOthers } = kernel;
  const effects = blocks.flatMap(({ instructions }) => instructions.map(({ operation }) => operation.effect));
  return [
    ...unsupported.map(({ reason }) => reason),
    ...(overlapsOthers ? accessesBeforeWait(kernel) : []),
    ...effects.flatMap((effect) => (effect.kind === 'opaque' ? [effect.reason] : completionOf(effect) !== null ? [asynchronous] : [])),
  ];
}

const asynchronous = 'asynchronous';

type Role = 'barrier' | 'store' | 'atomic';

/**
 * Compares barriers, atomics and stores of the production build with those of the verification build, by source line. A
 * store, atomic or barrier that only the production build has was never checked; a proof may depend on a barrier that
 * only the verification build has. Stores that only the verification build has are dead ones that the optimiser
 * removed.
 * @returns why verdicts on the verification build do not apply to the production build; undefined if they do
 */
export function buildsDiffer(verification: Kernel, production: Kernel | undefined): string | undefined {
  return [...buildDifferences(verification, production)][0];
}

/**
 * All differences that {@link buildsDiffer} compares, one text each.
 * @param former - line of an edited file before the edit; null for a new line
 */
export function* buildDifferences(
  verification: Kernel,
  production: Kernel | undefined,
  former: (file: string, line: number) => number | null = (_, line) => line,
): Generator<string> {
  if (!production) {
    yield 'the production build lacks this kernel';
    return;
  }
  for (const { reason } of production.unsupported)
    if (!verification.unsupported.some((other) => other.reason === reason))
      yield `the production build contains code that Selvage does not support: ${reason}`;
  const gridBarriers = gridBarrierLines(verification);
  const checked = linesByRole(verification, gridBarriers);
  const runs = linesByRole(production, gridBarriers);
  const placeText = (place: string): string =>
    place.replace(/^at (.*):(\d+)$/, (_, file: string, line: string) => `at ${file}:${former(file, Number(line)) ?? 'a new line'}`);
  for (const role of ['barrier', 'atomic', 'store'] as const) {
    for (const [line, place] of runs[role]) {
      if (!checked[role].has(line)) yield `only the production build has ${article(role)} ${placeText(place)}`;
    }
  }
  const missing = [...checked.barrier].filter(([line]) => !runs.barrier.has(line));
  // A barrier that no launch reaches is removed like other dead code.
  const live = missing.length > 0 ? linesByRole(verification, gridBarriers, reachedBlocks(verification)).barrier : null;
  for (const [line, place] of missing) if (live?.has(line)) yield `the production build lacks the barrier ${placeText(place)}`;
  if (!verification.overlapsOthers || !waitsFirst(gridDependency(verification))) return;
  for (const place of accessesBeforeWait(production))
    yield `only the production build has an access before cudaGridDependencySynchronize() ${placeText(place)}`;
}

/** Places of accesses of global memory that a thread may execute before it waits for the kernels before. */
function accessesBeforeWait(kernel: Kernel): string[] {
  return [...gridDependency(kernel).accesses].flatMap(([{ location }, order]) => {
    const place = outsideToolkit(location) ?? location;
    return order === 'after' ? [] : [place ? `at ${place.file}:${place.line}` : 'without a source line'];
  });
}

function article(role: Role): string {
  return role === 'atomic' ? 'an atomic' : `a ${role}`;
}

/** Lines with a grid barrier, which the production build expands into a barrier, atomics and a loop. */
function gridBarrierLines(kernel: Kernel): Set<string> {
  const lines = new Set<string>();
  for (const block of kernel.blocks) {
    for (const { operation, location } of block.instructions) {
      const place = outsideToolkit(location);
      if (operation.effect.kind === 'grid-barrier' && place) lines.add(`${place.file}:${place.line}`);
    }
  }
  return lines;
}

/** @param among basic blocks to search; if absent, all blocks */
function linesByRole(kernel: Kernel, gridBarriers: ReadonlySet<string>, among?: ReadonlySet<BlockId>): Record<Role, Map<string, string>> {
  const lines: Record<Role, Map<string, string>> = { barrier: new Map(), store: new Map(), atomic: new Map() };
  for (const block of kernel.blocks) {
    if (among && !among.has(block.id)) continue;
    for (const instruction of block.instructions) {
      const role = roleOf(instruction);
      if (role === undefined) continue;
      const place = outsideToolkit(instruction.location) ?? instruction.location;
      const line = place && `${place.file}:${place.line}`;
      const isOfGridBarrier = line !== undefined && place !== instruction.location && gridBarriers.has(line);
      if (isOfGridBarrier) lines.barrier.set(line, `at ${line}`);
      else if (line !== undefined) lines[role].set(line, `at ${line}`);
      else lines[role].set('?', 'without a source line');
    }
  }
  return lines;
}

function roleOf({ operation: { effect } }: Instruction): Role | undefined {
  if (/^(block|cluster|grid)$/.test(participantsOf(effect))) return 'barrier';
  if (effect.kind === 'surface-store') return 'store';
  if (effect.kind === 'mbarrier') return undefined;
  const [first] = accessesOfEffect(effect);
  if (effect.kind === 'atomic') return 'atomic';
  return !first || first.operation === 'read' || first.space === 'local' || first.space === 'param' ? undefined : 'store';
}
