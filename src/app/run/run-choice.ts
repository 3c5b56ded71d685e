/** Choices and checks of the command line before a run: the kernel, its launch, arrays and blocks. */
import { participantsOf } from '../../isa/model/effect.ts';
import { nearest } from '../../base/nearest.ts';
import type { Dim3 } from '../../base/dim3.ts';
import { UsageError } from '../../base/usage-error.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import type { Launch } from '../../launch/launch.ts';
import type { Options } from '../../settings/options.ts';
import type { KernelUnit, LaunchedKernel } from '../build/phase-data.ts';
import { selectByName } from '../pipeline/select.ts';
import type { Binding } from './run-binding.ts';
import type { RunWitness } from './run-witness.ts';

/** The only kernel that the options select. */
export function selectKernel(options: Options, units: readonly KernelUnit[], witness: RunWitness | undefined): LaunchedKernel {
  const all = units.flatMap(({ kernels }) => kernels);
  const isMeant = ({ name }: LaunchedKernel): boolean =>
    options.kernel !== undefined || witness === undefined || name.qualified === witness.kernel;
  const selected = selectByName(options, all).filter(isMeant);
  const [only] = selected;
  if (only && selected.length === 1) return only;
  const pattern = options.kernel ?? witness?.kernel;
  const asked = pattern === undefined ? '' : `--kernel ${pattern}`;
  const list = (kernels: readonly LaunchedKernel[]): string =>
    kernels
      .slice(0, 20)
      .map(({ name, kernel }) => `  ${name.full}${kernel.location ? `  (${kernel.location.file}:${kernel.location.line})` : ''}`)
      .join('\n');
  if (all.length === 0) throw new UsageError('The file has no kernel.');
  if (selected.length === 0) throw new UsageError(`${asked} matches no kernel. The kernels are:\n${list(all)}`);
  throw new UsageError(
    `${asked === '' ? 'The file has several kernels; name one with --kernel' : `${asked} matches ${selected.length} kernels; name one`}:\n${list(selected)}`,
  );
}

/** @throws UsageError if `--blocks` names one outside of the grid */
export function requireBlocks(blocks: readonly number[] | undefined, { grid }: Launch): void {
  const outside = blocks?.find((number) => number >= threads(grid!));
  if (outside !== undefined) throw new UsageError(`--blocks ${outside}: the grid of ${text(grid)} has blocks 0 to ${threads(grid!) - 1}.`);
}

/** The concrete launch that options, witness or sources specify. */
export function chooseLaunch(entry: LaunchedKernel, options: Options, witness: RunWitness | undefined): Launch {
  const { kernel, name } = entry;
  const found = distinctLaunches(entry.launches, options, witness);
  const [only] = found;
  if (!only || found.length > 1) {
    const lines = found.map(
      ({ block, grid, location }) =>
        `  --block ${text(block)} --grid ${text(grid)}${location ? `  (${location.file}:${location.line})` : ''}`,
    );
    throw new UsageError(`${name.qualified} has ${found.length} launches; choose one:\n${lines.join('\n')}`);
  }
  const missing = [only.block ? '' : '--block X[,Y[,Z]]', only.grid ? '' : '--grid X[,Y[,Z]]'].filter((word) => word !== '');
  if (missing.length > 0) {
    throw new UsageError(`Selvage does not know the launch of ${name.qualified}; give ${missing.join(' and ')}.`);
  }
  const block = only.block!;
  const { requiredThreads, maximumThreads } = kernel;
  const isOfClusters = kernel.blocks.some(({ instructions }) => instructions.some(usesCluster));
  if (only.cluster && threads(only.cluster) > 1 && isOfClusters) {
    throw new UsageError(
      `${name.qualified} is launched in clusters of ${text(only.cluster)}; the barriers and the memory of clusters of several blocks cannot be run.`,
    );
  }
  const effects = kernel.blocks.flatMap(({ instructions }) => instructions.map(({ operation }) => operation.effect.kind));
  // A witness does not record whether the launch is cooperative; the check that produced it has accepted the barrier.
  if (!only.cooperative && !witness && (effects.includes('grid-barrier') || kernel.workspace !== undefined)) {
    throw new UsageError(`${name.qualified} has a grid barrier, which works only in a cooperative launch; give --cooperative.`);
  }
  const given = witness?.block ?? options.block;
  if (requiredThreads && given && requiredThreads.some((extent, axis) => extent !== given[axis])) {
    throw new UsageError(`${name.qualified} requires a block of ${text(requiredThreads)}; a launch with ${text(given)} fails.`);
  }
  if (maximumThreads && threads(block) > threads(maximumThreads)) {
    throw new UsageError(`${name.qualified} allows ${threads(maximumThreads)} threads per block; a launch with ${threads(block)} fails.`);
  }
  return only;
}

/** Whether an instruction is a barrier of a cluster, or writes the memory of its blocks. */
function usesCluster({ operation: { effect } }: Instruction): boolean {
  return participantsOf(effect) === 'cluster' || (effect.kind === 'copy' && effect.to === 'cluster');
}

function text(extents: Dim3 | null): string {
  return extents ? extents.join(',') : '?';
}

function threads([x, y, z]: Dim3): number {
  return x * y * z;
}

function distinctLaunches(launches: readonly Launch[], options: Options, witness: RunWitness | undefined): Launch[] {
  const distinct = new Map<string, Launch>();
  for (const launch of launches) {
    const block = options.block ?? witness?.block ?? launch.block;
    const grid = options.grid ?? witness?.grid ?? launch.grid;
    const sharedBytes = options.shared ?? witness?.sharedBytes ?? (witness ? 0 : launch.sharedBytes);
    const one: Launch = { ...launch, block, grid, sharedBytes };
    const key = JSON.stringify([block, grid, sharedBytes, [...launch.scalars].map(([index, value]) => `${index}=${value}`)]);
    if (!distinct.has(key)) distinct.set(key, one);
  }
  // If a witness contains the scalars, the stated ones are irrelevant.
  const all = [...distinct.values()];
  return witness ? all.slice(0, 1) : all;
}

/** The buffers and symbols that `--track` names. */
export function trackedArrays(names: readonly string[], kernel: Kernel, { arrays }: Binding): readonly string[] {
  const variables = kernel.objects.filter(({ space }) => space === 'shared' || space === 'global');
  const known = [...arrays.map(({ name }) => name), ...variables.map(({ symbol }) => objectName(symbol))];
  return names.map((name) => {
    const owner = arrays.find((array) => array.names.includes(name));
    const variable = variables.find(({ symbol }) => symbol === name || objectName(symbol) === name);
    if (owner) return owner.name;
    if (variable) return variable.symbol;
    const close = nearest(name, known);
    const hint = close === undefined ? '' : ` Did you mean ${close}?`;
    throw new UsageError(`--track ${name}: no array has this name.${hint} There are: ${known.join(', ') || 'none'}.`);
  });
}

/** @throws UsageError if `--dump` names no array, or an unbounded one */
export function requireDumps(dump: ReadonlyMap<string, string>, { arrays }: Binding): void {
  for (const name of dump.keys()) {
    const array = arrays.find((one) => one.names.includes(name));
    if (array?.length === null) throw new UsageError(`--dump ${name}: the array has no bounds.`);
    if (array) continue;
    const names = arrays.map((one) => one.name);
    const close = nearest(name, names);
    const hint = close === undefined ? '' : ` Did you mean ${close}?`;
    throw new UsageError(`--dump ${name}: no array has this name.${hint} There are: ${names.join(', ') || 'none'}.`);
  }
}
