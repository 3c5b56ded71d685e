/** Options and configurations that state for a PTX file the comments and launches of its CUDA source. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch } from '../../src/launch/launch.ts';
import { matchKernel } from '../../src/cuda/names/kernel-pattern.ts';
import type { LaunchedKernel } from '../../src/app/build/phase-data.ts';

/** One process. */
export interface Invocation {
  readonly options: readonly string[];
  /** The launches that it checks, with their indices among those of their kernels. */
  readonly launches: readonly { readonly kernel: LaunchedKernel; readonly index: number }[];
}

/**
 * The processes that check all launches of the kernels of a file: one, unless kernels have several launches each, which
 * a configuration cannot express: then the second process checks the second launch of those that have one, and so on.
 * @param folder for configurations, which are written if kernels differ in launches or assumptions
 */
export function invocationsOf(kernels: readonly LaunchedKernel[], folder: string): Invocation[] {
  const processes = Math.max(...kernels.map(({ launches }) => launches.length));
  return Array.from({ length: processes }, (_, index): Invocation => {
    const some = kernels.filter(({ launches }) => launches.length > index);
    const launches = some.map((kernel) => ({ kernel, index }));
    const selection = some.length < kernels.length ? ['--kernel', patternOf(some)] : [];
    const [options = [], ...others] = some.map((kernel) => optionsOf(kernel, kernel.launches[index]!));
    if (others.every((other) => other.join('\0') === options.join('\0'))) return { options: [...options, ...selection], launches };
    const file = join(folder, `launches-${index}.yml`);
    writeFileSync(file, configurationOf(some, index));
    return { options: ['--config', file, ...selection], launches };
  });
}

function optionsOf(kernel: LaunchedKernel, launch: Launch): string[] {
  const { block, grid, cluster, sharedBytes, cooperative } = launch;
  const dimensions = { block, grid, cluster };
  return [
    ...Object.entries(dimensions).flatMap(([name, extents]) => (extents ? [`--${name}`, extents.join(',')] : [])),
    ...(sharedBytes === null ? [] : ['--shared', String(sharedBytes)]),
    ...(cooperative ? ['--cooperative'] : []),
    ...argumentsOf(kernel, launch).flatMap(([name, value]) => ['--arg', `${name}=${value}`]),
    ...assumptionsOf(kernel).flatMap((assumption) => ['--assume', assumption]),
  ];
}

/** The text of a `.selvage.yml`, in the JSON that is YAML too. */
function configurationOf(kernels: readonly LaunchedKernel[], index: number): string {
  const entries = kernels.map((kernel) => {
    const matching = kernels.filter(({ name }) => matchKernel(kernel.name.qualified, name.qualified));
    if (matching.length > 1) throw new Error(`no own pattern of ${kernel.name.full}: ${matching.length - 1} others`);
    const launch = kernel.launches[index]!;
    const { block, grid, cluster, sharedBytes: shared, cooperative } = launch;
    const given = Object.entries({ block, grid, cluster, shared }).filter(([, value]) => value !== null);
    return {
      match: kernel.name.qualified,
      ...Object.fromEntries(given),
      cooperative,
      args: Object.fromEntries(argumentsOf(kernel, launch)),
      assume: assumptionsOf(kernel),
    };
  });
  return JSON.stringify({ version: 1, kernels: entries }, null, 2);
}

/** The scalars by the names that PTX has for them, as they are written. */
function argumentsOf({ kernel }: LaunchedKernel, { scalars }: Launch): [name: string, value: string][] {
  return [...scalars].map(([index, pattern]) => [`param${index}`, written(pattern, kernel.parameters[index]!.type)]);
}

function written(pattern: bigint, type: string): string {
  if (type === 'f32') return String(new Float32Array(new Uint32Array([Number(pattern)]).buffer)[0]);
  if (type === 'f64') return String(new Float64Array(new BigUint64Array([pattern]).buffer)[0]);
  return String(pattern);
}

/** A pattern for `--kernel` that matches exactly these kernels. */
function patternOf(kernels: readonly LaunchedKernel[]): string {
  const names = kernels.map(({ name }) => name.qualified.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`));
  return `/^(${names.join('|')})$/`;
}

/** The assumptions in the names that PTX has for parameters: their positions. */
function assumptionsOf({ assumptions, parameters }: LaunchedKernel): string[] {
  return assumptions.map(({ text }) =>
    parameters.reduce(
      // After `[*]` comes the keyword `in`, which may be the name of a parameter elsewhere.
      (renamed, { name }, index) => renamed.replaceAll(new RegExp(`(?<!\\[\\*\\] )\\b${name}\\b`, 'g'), `param${index}`),
      text,
    ),
  );
}
