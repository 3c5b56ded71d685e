import { resolve, dirname } from 'node:path';
import type { Launch } from '../check/launch.ts';
import type { ParameterSource, StatedAssumption } from '../check/request.ts';
import type { Kernel } from '../ir/kernel.ts';
import { lowerModule } from '../ir/lower.ts';
import type { Module } from '../ptx/ast.ts';
import { parsePtx } from '../ptx/parser.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';
import { buildsDiffer } from './builds-differ.ts';
import type { Unit } from './inputs.ts';
import { kernelName, type KernelName } from './kernel-name.ts';
import { resolveLaunches, type SiteSettings } from './launches.ts';
import type { AnalysisRequest, BuildKind } from './request.ts';
import type { SourceFacts } from './source-facts.ts';
import { exists, relativeTo, type SourceTree } from './source-tree.ts';
import { statedFacts } from './stated-facts.ts';

/** A kernel with all that its analysis needs. */
export interface PreparedKernel {
  readonly unit: Unit;
  readonly arch: string;
  readonly name: KernelName;
  readonly kernel: Kernel;
  readonly parameters: readonly ParameterSource[];
  readonly launches: readonly Launch[];
  readonly notEvaluated: readonly SiteSettings[];
  readonly assumptions: readonly StatedAssumption[];
  /** Why the production build is another program, if it is. */
  readonly differ: string | undefined;
  readonly verification: Module;
  readonly production: Module | undefined;
  /** Differs from that of the verification build where linkage is internal. */
  readonly productionSymbol: string | undefined;
  readonly flags: string;
  /** The `// selvage:` comments of the kernel, as written. */
  readonly annotations: readonly string[];
  readonly annotationLocation: Location | undefined;
}

export interface PreparedUnit {
  readonly unit: Unit;
  readonly arch: string;
  readonly kernels: readonly PreparedKernel[];
  readonly diagnostics: readonly Diagnostic[];
  /** Source files that the kernels have code from. */
  readonly files: ReadonlySet<string>;
  /** Whether the verification build could be made and read. */
  readonly compiled: boolean;
  /** Text of the verification build, for the report of a defect. */
  readonly ptx: string | undefined;
}

/** Default architecture: what most toolkits in use can compile for. */
export const defaultArch = 'sm_80';

/**
 * Compiles, reads and lowers every unit, and finds the launches and assumptions of its kernels.
 * @param facts awaited only after the first unit is compiled: both take their time
 */
export async function prepare(
  request: AnalysisRequest,
  facts: SourceFacts | Promise<SourceFacts>,
): Promise<PreparedUnit[]> {
  const arches = request.options.arch.length > 0 ? request.options.arch : (request.configuration?.arch ?? []);
  const jobs = (arches.length > 0 ? arches : [defaultArch]).flatMap((arch) =>
    request.units.map((unit) => prepareUnit(request, facts, unit, arch)),
  );
  return Promise.all(jobs);
}

async function prepareUnit(
  request: AnalysisRequest,
  opening: SourceFacts | Promise<SourceFacts>,
  unit: Unit,
  arch: string,
): Promise<PreparedUnit> {
  const { tree, builder } = request;
  const wanted: readonly BuildKind[] = unit.kind === 'ptx' ? ['verification'] : ['verification', 'production'];
  const [verification, production] = await Promise.all(wanted.map((kind) => builder.build(unit, kind, arch)));
  const facts = await opening;
  const diagnostics = distinctDiagnostics([...(verification?.diagnostics ?? []), ...(production?.diagnostics ?? [])]);
  if (verification?.ptx === undefined) {
    return { unit, arch, kernels: [], diagnostics, files: new Set(), compiled: false, ptx: undefined };
  }
  const checked = read(verification.ptx, unit, tree);
  diagnostics.push(...checked.diagnostics);
  const runs = production?.ptx === undefined ? undefined : read(production.ptx, unit, tree);
  const producedBy = new Map(runs?.kernels.map((kernel) => [stableName(kernel), kernel]));

  if (unit.kind === 'cuda') diagnostics.push(...facts.problemsOf(unit.path));
  const kernels: PreparedKernel[] = [];
  for (const kernel of checked.kernels) {
    if (unit.throughHeaders && !filesOf(kernel).some((file) => unit.throughHeaders?.has(file))) continue;
    const name = kernelName(kernel.symbol);
    const definition = unit.kind === 'ptx' ? undefined : facts.definitionOf(kernel, name, unit.path);
    const parameters = facts.parametersOf(definition, kernel);
    const produced = producedBy.get(stableName(kernel));
    const stated = statedFacts(request, kernel, name, parameters, definition, facts);
    const resolved = resolveLaunches(kernel, name.qualified, parameters, stated);
    diagnostics.push(...stated.diagnostics, ...resolved.diagnostics);
    kernels.push({
      unit,
      arch,
      name,
      kernel,
      parameters,
      launches: resolved.launches,
      notEvaluated: resolved.notEvaluated,
      assumptions: stated.assumptions,
      differ: unit.kind === 'ptx' ? undefined : buildsDiffer(kernel, produced),
      verification: checked.module,
      production: runs?.module,
      productionSymbol: produced?.symbol,
      flags: `${arch} ${builder.flags(unit)}`,
      annotations: definition?.kernel.annotations.map(({ text }) => text) ?? [],
      annotationLocation: stated.annotation?.location,
    });
  }
  const files = new Set(kernels.flatMap(({ kernel }) => filesOf(kernel)));
  return { unit, arch, kernels, diagnostics, files, compiled: true, ptx: verification.ptx };
}

function stableName(kernel: Kernel): string {
  return kernelName(kernel.symbol).full;
}

interface ReadModule {
  readonly module: Module;
  readonly kernels: readonly Kernel[];
  readonly diagnostics: readonly Diagnostic[];
}

function read(ptx: string, unit: Unit, tree: SourceTree): ReadModule {
  const parsed = parsePtx(ptx, unit.path);
  const files = new Map([...parsed.module.files].map(([index, file]) => [index, reportedPath(file, unit, tree)]));
  const module: Module = { ...parsed.module, files };
  const lowered = lowerModule(module);
  const diagnostics = [...parsed.diagnostics, ...lowered.diagnostics];
  if (unit.kind === 'ptx') return { module, kernels: lowered.kernels, diagnostics };
  // Lines of PTX that nobody keeps would mislead.
  const placed = diagnostics.map(({ location, ...diagnostic }) =>
    location && location.file !== unit.path
      ? { ...diagnostic, location }
      : { ...diagnostic, message: `${unit.path}: ${diagnostic.message}` },
  );
  return { module, kernels: lowered.kernels, diagnostics: placed };
}

/**
 * The compiler's spelling of a source file as reports name it. A relative path in a PTX file is meant from there or
 * from the root.
 */
function reportedPath(file: string, unit: Unit, tree: SourceTree): string {
  const beside = resolve(dirname(unit.file), file);
  const absolute = exists(beside) ? beside : resolve(tree.root, file);
  return file.startsWith('/') || exists(absolute) ? relativeTo(tree.root, absolute) : file;
}

/** The source files that a kernel has code from. */
function filesOf(kernel: Kernel): string[] {
  const files = new Set<string>();
  if (kernel.location) files.add(kernel.location.file);
  for (const { instructions } of kernel.blocks) {
    for (const { location } of instructions) if (location) files.add(location.file);
  }
  return [...files];
}

/** Both builds say the same of a file that does not compile. */
function distinctDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...new Map(diagnostics.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic])).values()];
}
