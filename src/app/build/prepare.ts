import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import { resolve, dirname } from 'node:path';
import type { Launch } from '../../launch/launch.ts';
import type { Block, Kernel } from '../../ir/form/kernel.ts';
import { lowerModule } from '../../ir/lower.ts';
import type { Module } from '../../ptx/ast.ts';
import { parsePtx } from '../../ptx/parser.ts';
import { distinctDiagnostics, type Diagnostic } from '../../source/diagnostic.ts';
import type { Location } from '../../source/location.ts';
import type { KernelSource } from '../workers/check-place.ts';
import { buildsDiffer } from './builds-differ.ts';
import type { Unit } from '../project/inputs.ts';
import { kernelName, type KernelName } from '../../cuda/names/kernel-name.ts';
import { resolveLaunches, type SiteSettings } from '../project/launches.ts';
import type { AnalysisRequest, BuildKind } from '../project/request.ts';
import type { SourceFacts } from '../project/source-facts.ts';
import { kindOf, relativeTo, type SourceTree } from '../project/source-tree.ts';
import { statedFacts } from '../project/stated-facts.ts';

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
  /** The verification build, as a worker gets it. */
  readonly source: KernelSource;
  readonly production: Module | undefined;
  readonly productionBuild: ReadModule | undefined;
  /** Differs from that of the verification build where linkage is internal. */
  readonly productionSymbol: string | undefined;
  readonly flags: string;
  /** The `// selvage:` comments of the kernel, as written. */
  readonly annotations: readonly string[];
  readonly annotationLocation: Location | undefined;
  /** About its launches and what is stated of it. */
  readonly diagnostics: readonly Diagnostic[];
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
  // PTX is what it is, whatever architecture is asked for.
  const jobs = (arches.length > 0 ? arches : [defaultArch]).flatMap((arch, index) =>
    request.units.flatMap((unit) =>
      unit.kind === 'ptx' && index > 0 ? [] : [prepareUnit(request, facts, unit, arch)],
    ),
  );
  return Promise.all(jobs);
}

async function prepareUnit(
  request: AnalysisRequest,
  opening: SourceFacts | Promise<SourceFacts>,
  unit: Unit,
  asked: string,
): Promise<PreparedUnit> {
  const { tree, builder } = request;
  const wanted: readonly BuildKind[] = unit.kind === 'ptx' ? ['verification'] : ['verification', 'production'];
  const [verification, production] = await Promise.all(wanted.map((kind) => builder.build(unit, kind, asked)));
  const facts = await opening;
  const diagnostics = distinctDiagnostics([...(verification?.diagnostics ?? []), ...(production?.diagnostics ?? [])]);
  if (verification?.ptx === undefined) {
    return { unit, arch: asked, kernels: [], diagnostics, files: new Set(), compiled: false, ptx: undefined };
  }
  let checked: ReadModule;
  let runs: ReadModule | undefined;
  try {
    checked = readBuild(verification.ptx, unit, tree);
    runs = production?.ptx === undefined ? undefined : readBuild(production.ptx, unit, tree);
  } catch (error) {
    diagnostics.push(unreadable(request, unit, verification.ptx, production?.ptx, error));
    return { unit, arch: asked, kernels: [], diagnostics, files: new Set(), compiled: false, ptx: verification.ptx };
  }
  diagnostics.push(...checked.diagnostics);
  const producedBy = new Map(runs?.kernels.map((kernel) => [stableName(kernel), kernel]));

  if (unit.kind === 'cuda') diagnostics.push(...facts.problemsOf(unit.path));
  const arch = unit.kind === 'ptx' ? machineOf(checked.module.target, asked) : asked;
  const kernels: PreparedKernel[] = [];
  for (const kernel of checked.kernels) {
    if (unit.throughHeaders && !filesOf(kernel).some((file) => unit.throughHeaders?.has(file))) continue;
    const name = kernelName(kernel.symbol);
    const definition = unit.kind === 'ptx' ? undefined : facts.definitionOf(kernel, name, unit.path);
    const parameters = facts.parametersOf(definition, kernel, name, unit.path);
    const produced = producedBy.get(stableName(kernel));
    const stated = statedFacts(request, kernel, name, parameters, definition, facts);
    const resolved = resolveLaunches(kernel, name.qualified, parameters, stated);
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
      source: checked.source,
      production: runs?.module,
      productionBuild: runs,
      productionSymbol: produced?.symbol,
      flags: `${arch} ${builder.flags(unit)}`,
      annotations: definition?.kernel.annotations.map(({ text }) => text) ?? [],
      annotationLocation: stated.annotation?.location,
      diagnostics: [...stated.diagnostics, ...resolved.diagnostics],
    });
  }
  const files = new Set(kernels.flatMap(({ kernel }) => filesOf(kernel)));
  return { unit, arch, kernels, diagnostics, files, compiled: true, ptx: verification.ptx };
}

/** What PTX for `.target` is assembled for: the machine that is asked for, unless that is older, or PTX is for one alone. */
function machineOf(target: readonly string[], asked: string): string {
  const [, own, feature] = /^sm_(\d+)([af]?)$/.exec(target[0] ?? '') ?? [];
  if (own === undefined || target[0] === asked) return asked;
  return feature !== '' || Number(own) > Number(/\d+/.exec(asked)?.[0] ?? 0) ? target[0]! : asked;
}

/** The launches of a kernel, without the places that state them. */
export function launchesKey({ launches, notEvaluated }: PreparedKernel): string {
  const key = ({ location, scalars, ...rest }: Launch): unknown => {
    void location;
    return [rest, [...scalars].map(([index, value]) => [index, String(value)])];
  };
  return JSON.stringify([launches.map(key), notEvaluated.map(({ text }) => text)]);
}

/** The assumptions that are stated of a kernel. */
export function statedKey({ assumptions }: PreparedKernel): string {
  return JSON.stringify(assumptions.map(({ text }) => text));
}

/** The name of a kernel without the hashes of its unit. */
export function stableName(kernel: Kernel): string {
  return kernelName(kernel.symbol).full;
}

/** Reading never throws for what a file may hold: this is a defect of ours, and other units go on. */
function unreadable(
  { progress }: AnalysisRequest,
  { path }: Unit,
  verification: string,
  production: string | undefined,
  error: unknown,
): Diagnostic {
  const files = new Map([['verification.ptx', verification]]);
  if (production !== undefined) files.set('production.ptx', production);
  progress.defect({ kernel: `all of ${path}`, error, files });
  const text = error instanceof Error ? error.message : String(error);
  const message = `A defect of Selvage in reading the PTX of ${path}: ${text}. Report it with the input that was saved.`;
  return { severity: 'error', code: 'internal/defect', message, location: { file: path, line: 1 } };
}

/** A build as it is read. */
export interface ReadModule {
  readonly module: Module;
  readonly source: KernelSource;
  readonly kernels: readonly Kernel[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Parses and lowers the PTX of a unit; files are named as reports name them. */
export function readBuild(ptx: string, unit: Unit, tree: SourceTree): ReadModule {
  const parsed = parsePtx(ptx, unit.path);
  const files = new Map([...parsed.module.files].map(([index, file]) => [index, reportedPath(file, unit, tree)]));
  const module: Module = { ...parsed.module, files };
  const source: KernelSource = { ptx, path: unit.path, files };
  const lowered = lowerModule(module);
  const diagnostics = [...parsed.diagnostics, ...lowered.diagnostics];
  if (unit.kind === 'ptx') return { module, source, kernels: placedKernels(lowered.kernels, module, unit.path), diagnostics }; // prettier-ignore
  // Lines of PTX that nobody keeps would mislead.
  const placed = diagnostics.map(({ location, ...diagnostic }) =>
    location && location.file !== unit.path
      ? { ...diagnostic, location }
      : { ...diagnostic, message: `${unit.path}: ${diagnostic.message}` },
  );
  return { module, source, kernels: lowered.kernels, diagnostics: placed };
}

/** Kernels of PTX that tells of no source get places in the PTX itself. */
function placedKernels(kernels: readonly Kernel[], module: Module, file: string): Kernel[] {
  return kernels.map((kernel) => {
    const hasPlaces = ({ instructions }: Block): boolean => instructions.some(({ location }) => location);
    if (kernel.location || kernel.blocks.some(hasPlaces)) return kernel;
    const entry = module.items.find((item) => item.kind === 'entry' && item.name === kernel.symbol);
    const place = <Of extends { readonly ptxLine: number }>(of: Of): Of & { readonly location: Location } => ({
      ...of,
      location: { file, line: of.ptxLine },
    });
    const blocks = kernel.blocks.map((block) => ({
      ...block,
      instructions: block.instructions.map(place),
      terminator: 'ptxLine' in block.terminator ? place(block.terminator) : block.terminator,
    }));
    return { ...kernel, blocks, ...(entry && 'span' in entry ? { location: { file, line: entry.span.line } } : {}) };
  });
}

/**
 * The compiler's spelling of a source file as reports name it. A relative path in a PTX file is meant from there or
 * from the root.
 */
function reportedPath(file: string, unit: Unit, tree: SourceTree): string {
  const beside = resolve(dirname(unit.file), file);
  const absolute = kindOf(beside) === 'file' ? beside : resolve(tree.root, file);
  return file.startsWith('/') || kindOf(absolute) === 'file' ? relativeTo(tree.root, absolute) : file;
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
