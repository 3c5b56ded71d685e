import { nearest } from '../../base/nearest.ts';
import { compareText } from '../../base/text.ts';
import { UsageError } from '../../base/usage-error.ts';
import { namesIn } from '../../assumptions/parts.ts';
import { matchKernel } from '../../cuda/names/kernel-pattern.ts';
import type { Configuration } from '../../settings/configuration.ts';
import type { Options } from '../../settings/options.ts';
import type { Location } from '../../source/location.ts';
import { launchesKey, statedKey, type KernelUnit, type LaunchedKernel, type StatedKernel } from '../build/phase-data.ts';
import { normalForm } from '../build/normal-form.ts';
import { knownNames, optionAssumptions } from '../project/stated-facts.ts';

/**
 * The kernels that the command line selects, in the order of the report.
 * @throws UsageError if it selects one that does not exist
 */
export function selectKernels(units: readonly KernelUnit[], options: Options): LaunchedKernel[] {
  const all = units.flatMap(({ kernels }) => kernels);
  const { kernel: pattern } = options;
  const selected = selectByName(options, all);
  // The kernels of a unit that failed to compile are unknown. The compilation error is reported instead.
  if (units.some(({ compiled }) => !compiled)) return selected;
  if (pattern !== undefined && selected.length === 0) {
    const names = [...new Set(all.map(({ name }) => name.qualified))];
    const list = names.length > 0 ? `The kernels are: ${names.slice(0, 20).join(', ')}.` : 'The input contains no kernels.';
    throw new UsageError(`--kernel ${pattern} matches no kernel. ${list}`);
  }
  if (selected.length > 0) requireKnownNames(options, selected);
  return selected;
}

/** The kernels that `--kernel` matches, in the order of the report. */
export function selectByName({ kernel: pattern }: Options, kernels: readonly LaunchedKernel[]): LaunchedKernel[] {
  const selected = pattern === undefined ? [...kernels] : kernels.filter(({ name }) => matchKernel(pattern, name.qualified, name.symbol));
  return withoutCopies(selected.sort(byPlace));
}

/** Kernels without duplicates: a kernel of a header is reported once if it is the same in all units that compile it. */
function withoutCopies(kernels: readonly LaunchedKernel[]): LaunchedKernel[] {
  const byName = new Map<string, LaunchedKernel[]>();
  return kernels.filter((kernel) => {
    const key = JSON.stringify([kernel.name.full, kernel.arch]);
    const others = byName.get(key);
    if (!others) byName.set(key, [kernel]);
    else if (others.some((other) => isCopy(other, kernel))) return false;
    else others.push(kernel);
    return true;
  });
}

function isCopy(a: LaunchedKernel, b: LaunchedKernel): boolean {
  const code = ({ verification, kernel }: LaunchedKernel): string => normalForm(verification.module, kernel.symbol);
  // Identical kernels in two files are distinct, because each has to be fixed.
  const file = ({ unit, kernel }: LaunchedKernel): string => kernel.location?.file ?? unit.path;
  return (
    file(a) === file(b) &&
    a.differ === b.differ &&
    launchesKey(a) === launchesKey(b) &&
    statedKey(a) === statedKey(b) &&
    code(a) === code(b)
  );
}

/**
 * Facts must name existing kernels and parameters: others would silently have no effect.
 * @throws UsageError with the location in the file of facts
 */
export function requireFactsFit(units: readonly KernelUnit<StatedKernel>[], { kernels: entries }: Pick<Configuration, 'kernels'>): void {
  // A unit failed to compile: its kernels are unknown, so a name cannot be rejected.
  if (units.some(({ compiled }) => !compiled)) return;
  const kernels = units.flatMap((unit) => unit.kernels);
  for (const { isFact, match, args, assumptions, location } of entries) {
    if (!isFact) continue;
    const refuse = (place: Location, message: string): never => {
      throw new UsageError(`${place.file}:${place.line}:${place.column ?? 1}: ${message}`);
    };
    const matching = kernels.filter(({ name }) => matchKernel(match, name.qualified, name.symbol));
    if (matching.length === 0) {
      const names = [...new Set(kernels.map(({ name }) => name.qualified))];
      const close = nearest(match, names);
      const there = names.length > 0 ? `the kernels are: ${names.slice(0, 20).join(', ')}.` : 'the input has no kernel.';
      refuse(location, `"match": "${match}" matches no kernel; ${close === undefined ? there : `did you mean "${close}"?`}`);
    }
    const known = matching.map(({ kernel, parameters }) => knownNames(kernel, parameters));
    const names = [...new Set(matching.flatMap(parameterNames))].join(', ') || 'none';
    const fits = (wanted: readonly string[]): boolean => known.some((of) => wanted.every((name) => of.has(name)));
    for (const name of args.keys()) {
      if (!fits([name.split('.')[0]!]))
        refuse(location, `"args": no kernel that "${match}" matches has the parameter ${name}. There are: ${names}.`);
    }
    for (const { expression, text, location: place } of assumptions) {
      if (!fits(namesIn(expression)))
        refuse(
          place ?? location,
          `"assume": "${text}" names a parameter that no kernel which "${match}" matches has. There are: ${names}.`,
        );
    }
  }
}

/** Rejects arguments and assumptions that fit no kernel: they would silently have no effect. */
function requireKnownNames(options: Options, kernels: readonly LaunchedKernel[]): void {
  const names = [...new Set(kernels.flatMap(parameterNames))].join(', ') || 'none';
  const known = kernels.map(({ kernel, parameters }) => knownNames(kernel, parameters));
  for (const argument of options.args.keys()) {
    if (known.some((of) => of.has(argument))) continue;
    throw new UsageError(`--arg ${argument}: no kernel has this parameter. There are: ${names}.`);
  }
  for (const { expression, text } of optionAssumptions(options)) {
    const wanted = namesIn(expression);
    if (known.some((of) => wanted.every((name) => of.has(name)))) continue;
    throw new UsageError(
      `--assume ${text}: no kernel has the ${wanted.length === 1 ? 'parameter' : 'parameters'} ${wanted.join(', ')}. There are: ${names}.`,
    );
  }
}

function parameterNames({ kernel, parameters }: StatedKernel): string[] {
  return kernel.parameters.map(({ index }) => parameters[index]?.name ?? `param${index}`);
}

function byPlace(a: LaunchedKernel, b: LaunchedKernel): number {
  return (
    compareText(a.unit.path, b.unit.path) ||
    compareText(a.arch, b.arch) ||
    (a.kernel.location?.line ?? 0) - (b.kernel.location?.line ?? 0) ||
    compareText(a.kernel.symbol, b.kernel.symbol)
  );
}
