import type { ParameterSource, StatedAssumption } from '../check/request.ts';
import type { Kernel } from '../ir/kernel.ts';
import { parseAssumption, printAssumption } from '../cuda/assumption-parser.ts';
import { matchKernel } from '../cuda/kernel-pattern.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { namesIn } from './assumption-names.ts';
import type { KernelName } from './kernel-name.ts';
import type { LaunchFacts, LaunchSettings } from './launches.ts';
import type { Options } from './options.ts';
import type { AnalysisRequest } from './request.ts';
import type { Definition, SourceFacts } from './source-facts.ts';
import { UsageError } from './usage-error.ts';

export interface StatedFacts extends LaunchFacts {
  readonly assumptions: readonly StatedAssumption[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What options, configuration, annotations and launches in the sources say of a kernel. */
export function statedFacts(
  request: AnalysisRequest,
  kernel: Kernel,
  name: KernelName,
  parameters: readonly ParameterSource[],
  definition: Definition | undefined,
  facts: SourceFacts,
): StatedFacts {
  const known = knownNames(kernel, parameters);
  const { annotation, diagnostics: problems } = facts.annotationOf(definition);
  const diagnostics = [...problems];
  const assumptions = optionAssumptions(request.options).filter(({ expression }) =>
    namesIn(expression).every((n) => known.has(n)),
  );
  const configured = configuredFor(request, name);
  for (const stated of [...configured.assumptions, ...(annotation?.assumptions ?? [])]) {
    const missing = namesIn(stated.expression).find((word) => !known.has(word));
    if (missing === undefined) assumptions.push(stated);
    else {
      const list = [...known].join(', ');
      const message = `The assumption ${stated.text} is not used for ${name.qualified}, which has no parameter ${missing}. It has: ${list || 'none'}.`;
      const place = stated.location ? { location: stated.location } : {};
      diagnostics.push({ severity: 'warning', code: 'assumption/unknown-name', message, ...place });
    }
  }
  return {
    option: optionSettings(request.options),
    configured: configured.settings,
    ...(annotation ? { annotation } : {}),
    sites: facts.launchesOf(name),
    assumptions,
    diagnostics,
  };
}

/** The names by which assumptions and arguments can speak of a kernel's parameters. */
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
 * @throws UsageError with the column where one cannot be read
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
  { configuration }: AnalysisRequest,
  name: KernelName,
): { readonly settings: readonly LaunchSettings[]; readonly assumptions: readonly StatedAssumption[] } {
  const settings = (configuration?.kernels ?? []).filter(({ match }) => matchKernel(match, name.qualified));
  return { settings, assumptions: settings.flatMap(({ assumptions }) => assumptions) };
}
