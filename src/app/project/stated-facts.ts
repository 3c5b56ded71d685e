import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { KernelAnnotation } from '../../cuda/reading/annotation.ts';
import { parseAssumption } from '../../assumptions/assumption-parser.ts';
import { namesIn, pathsIn } from '../../assumptions/parts.ts';
import { printAssumption } from '../../assumptions/print-assumption.ts';
import { matchKernel } from '../../cuda/names/kernel-pattern.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { maximumSharedBytes } from '../../device/hardware-limits.ts';
import { dimensionsProblem } from '../../settings/dimensions.ts';
import type { KernelName } from '../../cuda/names/kernel-name.ts';
import type { LaunchFacts, LaunchSettings, SiteSettings } from './resolve-launches.ts';
import type { Options } from '../../settings/options.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Definition, SourceFacts } from './source-facts.ts';
import { UsageError } from '../../base/usage-error.ts';

interface StatedFacts extends LaunchFacts {
  readonly assumptions: readonly StatedAssumption[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Statements about a kernel in options, configuration, annotations and launches of the sources. */
export function statedFacts(
  settings: Pick<Settings, 'options' | 'configuration'>,
  kernel: Kernel,
  name: KernelName,
  parameters: readonly ParameterSource[],
  definition: Definition | undefined,
  facts: SourceFacts,
  sites: readonly SiteSettings[],
): StatedFacts {
  const known = knownNames(kernel, parameters);
  const { annotation: written, diagnostics: problems } = facts.annotationOf(definition);
  const diagnostics = [...problems];
  const annotation = written && withinLimits(written, name, diagnostics);
  // An option applies to all kernels with parameters of the names that it mentions.
  const options = optionAssumptions(settings.options).filter(({ expression }) => namesIn(expression).every((n) => known.has(n)));
  const configured = configuredFor(settings, name);
  const assumptions: StatedAssumption[] = [];
  for (const stated of [...options, ...configured.assumptions, ...(annotation?.assumptions ?? [])]) {
    const missing = namesIn(stated.expression).find((word) => !known.has(word));
    const problem =
      missing === undefined
        ? memberProblem(stated, kernel, parameters)
        : `${name.qualified} has no parameter ${missing}. It has: ${[...known].join(', ') || 'none'}`;
    if (problem === undefined) assumptions.push(stated);
    else {
      const message = `Selvage ignores the assumption ${stated.text} for ${name.qualified}: ${problem}.`;
      const place = stated.location ? { location: stated.location } : {};
      diagnostics.push({ severity: 'warning', code: 'assumption/unknown-name', message, ...place });
    }
  }
  return {
    option: optionSettings(settings.options),
    configured: configured.settings,
    ...(annotation ? { annotation } : {}),
    sites,
    assumptions,
    diagnostics,
  };
}

/** Annotated properties within the limits of devices. The others are omitted, with one diagnostic each. */
function withinLimits(annotation: KernelAnnotation, { qualified }: KernelName, diagnostics: Diagnostic[]): KernelAnnotation {
  const { block, grid, cluster, sharedBytes, ...rest } = annotation;
  const problems = {
    block: block && dimensionsProblem('block', block),
    grid: grid && dimensionsProblem('grid', grid),
    cluster: cluster && dimensionsProblem('cluster', cluster),
    sharedBytes:
      sharedBytes !== undefined && sharedBytes > maximumSharedBytes
        ? `is ${sharedBytes} bytes; a block has at most ${maximumSharedBytes}`
        : undefined,
  };
  for (const [property, problem] of Object.entries(problems) as [keyof typeof problems, string | undefined][]) {
    if (problem === undefined) continue;
    const word = property === 'sharedBytes' ? 'shared memory' : property;
    const message = `The ${word} in the comment at ${qualified} ${problem}.`;
    const location = annotation.places.get(property) ?? annotation.location;
    diagnostics.push({ severity: 'error', code: 'annotation/out-of-range', message, location });
  }
  return {
    ...rest,
    ...(block && problems.block === undefined ? { block } : {}),
    ...(grid && problems.grid === undefined ? { grid } : {}),
    ...(cluster && problems.cluster === undefined ? { cluster } : {}),
    ...(sharedBytes !== undefined && problems.sharedBytes === undefined ? { sharedBytes } : {}),
  };
}

/** Why an assumption about members of a struct parameter cannot be used, as the end of a sentence. */
function memberProblem({ expression }: StatedAssumption, kernel: Kernel, parameters: readonly ParameterSource[]): string | undefined {
  for (const path of pathsIn(expression)) {
    const [word = '', ...members] = path.split('.');
    const index = kernel.parameters.findIndex((p) => [parameters[p.index]?.name, `param${p.index}`].includes(word));
    const fields = parameters[index]?.fields;
    if (members.length === 0) continue;
    if (!fields) return `Selvage does not know the members of ${word}, because its definition was not found or is too complex`;
    if (fields.some(({ name }) => name === members.join('.'))) continue;
    return `${word} has no member ${members.join('.')}. It has: ${fields.map(({ name }) => name).join(', ') || 'none'}`;
  }
  return undefined;
}

/** Names that assumptions and arguments may use for the parameters of a kernel. */
export function knownNames(kernel: Kernel, parameters: readonly ParameterSource[]): Set<string> {
  return new Set(
    kernel.parameters.flatMap(({ index }) => {
      const own = parameters[index]?.name;
      return own === undefined ? [`param${index}`] : [own, `param${index}`];
    }),
  );
}

/**
 * The assumptions of the command line.
 * @throws UsageError with the column if one cannot be parsed
 */
export function optionAssumptions({ assume }: Options): StatedAssumption[] {
  return assume.map((text) => {
    const parsed = parseAssumption(text);
    if ('error' in parsed) throw new UsageError(`--assume "${text}", column ${parsed.column}: ${parsed.error}.`);
    return { expression: parsed.expression, text: printAssumption(parsed.expression) };
  });
}

function optionSettings({ block, grid, cluster, shared, cooperative, args }: Options): LaunchSettings {
  return {
    ...(block ? { block } : {}),
    ...(grid ? { grid } : {}),
    ...(cluster ? { cluster } : {}),
    ...(shared === undefined ? {} : { sharedBytes: shared }),
    ...(cooperative ? { cooperative } : {}),
    args,
  };
}

function configuredFor(
  { configuration }: Pick<Settings, 'configuration'>,
  name: KernelName,
): { readonly settings: readonly LaunchSettings[]; readonly assumptions: readonly StatedAssumption[] } {
  const settings = configuration.kernels.filter(({ match }) => matchKernel(match, name.qualified, name.symbol));
  return { settings, assumptions: settings.flatMap(({ assumptions }) => assumptions) };
}
