/**
 * The first phases of a check, from the units to the launches of their kernels; a comparison and `selvage run` begin
 * with the same. `build/phase-data.ts` declares the results of each phase.
 */
import { resolve } from 'node:path';
import { mayLaunch } from '../../cuda/launches/launch-scan.ts';
import { architecturesOf } from '../../settings/settings.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { bothBuilds, buildUnits } from '../build/build-units.ts';
import { compareBuilds } from '../build/builds-differ.ts';
import type { BuiltUnit, ComparedKernel, KernelUnit, LaunchedKernel, LoweredKernel, StatedKernel } from '../build/phase-data.ts';
import { kernelIdentity } from '../build/kernel-identity.ts';
import { thirdPartyKernelTest } from '../build/foreign-kernels.ts';
import { lowerUnit } from '../build/lower-unit.ts';
import type { Job } from '../project/job.ts';
import type { BuildKind } from '../project/unit-builder.ts';
import type { LaunchFinder, LaunchRequest } from '../project/host-programs.ts';
import { canStartEarly } from '../../device/architecture.ts';
import { resolveLaunches, type SiteSettings } from '../project/resolve-launches.ts';
import { openSourceFacts, type SourceFacts } from '../project/source-facts.ts';
import { statedFacts } from '../project/stated-facts.ts';
import type { Settings } from '../../settings/settings.ts';
import { requireFactsFit } from './select.ts';

export interface Prepared {
  readonly sources: SourceFacts;
  readonly units: readonly KernelUnit[];
}

/**
 * Builds, reads and lowers the units of a project, and finds the statements about their kernels and their launches.
 * @param wanted which builds of CUDA are needed
 */
export async function prepare({ project, settings, tools }: Job, wanted: readonly BuildKind[] = bothBuilds): Promise<Prepared> {
  const { tree, builder, wholeTree } = project;
  const isThirdParty = thirdPartyKernelTest(tree, wholeTree, settings.options.kernel);
  const building: Promise<BuiltUnit>[] = buildUnits(project.units, architecturesOf(settings), builder, wanted);
  // The sources are read while nvcc runs, and units are lowered while others are compiled.
  const opening: Promise<SourceFacts> = openSourceFacts(project, tools);
  const [arch = ''] = architecturesOf(settings);
  const lowering = new Map<string, ReturnType<NonNullable<typeof builder.lower>>>();
  const lower: LaunchRequest['lower'] = async (path) => {
    const asked = lowering.get(path) ?? builder.lower?.({ kind: 'cuda', path, file: resolve(tree.root, path) }, arch);
    if (asked) lowering.set(path, asked);
    return (await asked) ?? null;
  };
  const { block, grid } = settings.options;
  // A launch on the command line needs no host program.
  const isStated = block !== undefined && grid !== undefined;
  // Host code is lowered while nvcc compiles device code.
  if (!isStated) builder.onPreprocessed?.((host, path) => void (mayLaunch(host) && lower(path).catch(() => undefined)));
  const [sources, lowered]: [SourceFacts, KernelUnit<LoweredKernel>[]] = await Promise.all([
    opening,
    Promise.all(building.map(async (built) => lowerUnit(await built, tree, tools.progress, isThirdParty))),
  ]);
  const compared: KernelUnit<ComparedKernel>[] = lowered.map(compareBuilds);
  const byPath = new Map(lowered.map((unit) => [unit.unit.path, unit]));
  const launches: LaunchFinder = await sources.launchFinder({
    kernelsOf: (path) => byPath.get(path)?.kernels ?? [],
    isStated,
    mayLaunch: (path) => mayLaunch(byPath.get(path)?.host ?? ''),
    lower,
    kept: builder.kept,
  });
  const stated: KernelUnit<StatedKernel>[] = await Promise.all(compared.map((unit) => stateFacts(unit, sources, settings, launches)));
  requireFactsFit(stated, settings.configuration);
  const units: KernelUnit[] = stated.map(findLaunches);
  return { sources, units };
}

/** Finds the statements of options, configuration, comments and sources about the kernels of a unit. */
async function stateFacts(
  unit: KernelUnit<ComparedKernel>,
  sources: SourceFacts,
  settings: Settings,
  launches: LaunchFinder,
): Promise<KernelUnit<StatedKernel>> {
  const { path, kind } = unit.unit;
  const stateKernel = async (entry: ComparedKernel): Promise<StatedKernel> => {
    const { kernel, name } = entry;
    const definition = kind === 'ptx' ? undefined : sources.definitionOf(kernel, name, path);
    const parameters = sources.parametersOf(definition, kernel, name, path);
    const sites = kind === 'ptx' ? [] : await launches.launchesOf({ kernel, name, unit: path, parameters });
    const { assumptions, diagnostics, ...launchFacts } = statedFacts(settings, kernel, name, parameters, definition, sources, sites);
    const identity = kernelIdentity(entry, unit.kernels);
    return { ...entry, definition, identity, parameters, assumptions, launchFacts, diagnostics };
  };
  const kernels = await Promise.all(unit.kernels.map(stateKernel));
  const problems: readonly Diagnostic[] = kind === 'cuda' && unit.compiled ? sources.problemsOf(path) : [];
  const unordered = kind === 'ptx' || kernels.length === 0 ? [] : await launches.unorderedIn(path);
  return { ...unit, kernels, unordered, diagnostics: [...unit.diagnostics, ...problems, ...launches.problemsOf(path)] };
}

/** Resolves the launches of the kernels of a unit. */
function findLaunches(unit: KernelUnit<StatedKernel>): KernelUnit {
  const kernels = unit.kernels.map((entry): LaunchedKernel => {
    const { kernel, name, parameters, arch } = entry;
    const sites = canStartEarly(arch) ? entry.launchFacts.sites : entry.launchFacts.sites.map(withoutEarlyStart);
    const facts = { ...entry.launchFacts, sites };
    const { launches, notEvaluated, diagnostics } = resolveLaunches(kernel, name.qualified, parameters, facts);
    return { ...entry, launches, notEvaluated, diagnostics: [...entry.diagnostics, ...diagnostics] };
  });
  return { ...unit, kernels };
}

function withoutEarlyStart({ startsEarly, ...site }: SiteSettings): SiteSettings {
  void startsEarly;
  return site;
}

/** Diagnostics of the first phases about units and their analysed kernels. */
export function diagnosticsOf(units: readonly KernelUnit[], kernels: readonly LaunchedKernel[]): Diagnostic[] {
  return [...units, ...kernels].flatMap(({ diagnostics }) => diagnostics);
}
