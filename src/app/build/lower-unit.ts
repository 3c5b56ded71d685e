import { messageOf } from '../../base/text.ts';
import { dirname, resolve } from 'node:path';
import { kernelName, type KernelName } from '../../cuda/names/kernel-name.ts';
import type { Block, Kernel } from '../../ir/form/kernel.ts';
import { lowerModule } from '../../ir/lower.ts';
import type { Module } from '../../ptx/ast.ts';
import { pathOfFile, sourceLocation } from '../../ptx/debug-information.ts';
import { parsePtx } from '../../ptx/parser.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Location } from '../../source/location.ts';
import { Interruption, withDefaultSignals } from '../../system/interruption.ts';
import type { Unit } from '../project/input-files.ts';
import type { Progress } from '../project/progress.ts';
import { kindOf, relativeTo, type SourceTree } from '../project/source-tree.ts';
import type { KernelSource } from '../workers/check-executor.ts';
import type { ThirdPartyKernelTest } from './foreign-kernels.ts';
import type { BuiltUnit, KernelUnit, LoweredKernel, ReadModule } from './phase-data.ts';

/**
 * Reads and lowers the PTX of a unit.
 * @param tree - names the files of the source as reports name them
 * @param progress - receives internal errors of the parser; other units are read further
 * @param isThirdParty - kernels that are not lowered
 */
export async function lowerUnit(
  built: BuiltUnit,
  tree: SourceTree,
  progress: Progress,
  isThirdParty: ThirdPartyKernelTest,
): Promise<KernelUnit<LoweredKernel>> {
  const { unit, arch: asked, host, diagnostics } = built;
  const failed = { unit, arch: asked, kernels: [], files: new Set<string>(), host, compiled: false, foreign: [] };
  const first = built.isProductionAlone ? built.production : built.verification;
  if (first === undefined) return { ...failed, diagnostics };
  let verification: ReadModule;
  let production: ReadModule | undefined;
  try {
    const read = (ptx: string): Promise<ReadModule> => withDefaultSignals(() => readBuild(ptx, unit, tree, isThirdParty));
    verification = await read(first);
    if (built.isProductionAlone) production = verification;
    else production = built.production === undefined ? undefined : await read(built.production);
  } catch (error) {
    if (error instanceof Interruption) throw error;
    return { ...failed, diagnostics: [...diagnostics, unreadable(built, progress, error)] };
  }
  const arch = unit.kind === 'ptx' ? machineOf(verification.module.target, asked) : asked;
  const producedBy = new Map(production?.kernels.map((kernel) => [stableName(kernel), kernel]));
  const kernels = verification.kernels
    .filter((kernel) => !unit.throughHeaders || filesOf(kernel).some((file) => unit.throughHeaders?.has(file)))
    .map((kernel): LoweredKernel => {
      const produced = producedBy.get(stableName(kernel));
      const { unoptimised } = built;
      return {
        unit,
        arch,
        name: kernelName(kernel.symbol),
        kernel,
        verification,
        production,
        produced,
        ...(unoptimised && { unoptimised }),
      };
    });
  return {
    unit,
    arch,
    kernels,
    files: new Set(kernels.flatMap(({ kernel }) => filesOf(kernel))),
    host,
    compiled: true,
    foreign: verification.foreign,
    diagnostics: [...diagnostics, ...verification.diagnostics],
  };
}

/** Architecture for which PTX is assembled: the requested one, unless `.target` is newer or architecture-specific. */
function machineOf(target: readonly string[], asked: string): string {
  const [, own, feature] = /^sm_(\d+)([af]?)$/.exec(target[0] ?? '') ?? [];
  if (own === undefined || target[0] === asked) return asked;
  return feature !== '' || Number(own) > Number(/\d+/.exec(asked)?.[0] ?? 0) ? target[0]! : asked;
}

/** The name of a kernel without the hashes of its unit. */
export function stableName(kernel: Kernel): string {
  return kernelName(kernel.symbol).full;
}

/**
 * Diagnostic for PTX that made the parser throw. Any input must be parsed without throwing: this is an internal error.
 */
function unreadable({ unit: { path }, verification = '', production }: BuiltUnit, progress: Progress, error: unknown): Diagnostic {
  const files = new Map([['verification.ptx', verification]]);
  if (production !== undefined) files.set('production.ptx', production);
  progress.defect({ kernel: `all of ${path}`, error, files });
  const text = messageOf(error);
  const message = `Internal error of Selvage while reading the PTX of ${path}: ${text}. Report it with the input that was saved.`;
  return { severity: 'error', code: 'internal/defect', message, location: { file: path, line: 1 } };
}

/**
 * Parses and lowers the PTX of a unit; files are named as reports name them.
 * @param isThirdParty - kernels that are left out; none by default
 */
export function readBuild(ptx: string, unit: Unit, tree: SourceTree, isThirdParty?: ThirdPartyKernelTest): ReadModule {
  const parsed = parsePtx(ptx, unit.path);
  const files = new Map([...parsed.module.files].map(([index, file]) => [index, reportedPath(file, unit, tree)]));
  const module: Module = { ...parsed.module, files };
  const source: KernelSource = { ptx, path: unit.path, files };
  const left = isThirdParty ? thirdPartyKernels(module, unit, isThirdParty) : new Map<string, KernelName>();
  const foreign = [...left.values()];
  const lowered = lowerModule(module, {}, (symbol) => !left.has(symbol));
  const diagnostics = [...parsed.diagnostics, ...lowered.diagnostics];
  if (unit.kind === 'ptx') return { module, source, kernels: placedKernels(lowered.kernels, module, unit.path), foreign, diagnostics };
  // Line numbers of PTX in a temporary file would mislead the user.
  const placed = diagnostics.map(({ location, ...diagnostic }) =>
    location && location.file !== unit.path
      ? { ...diagnostic, location }
      : { ...diagnostic, message: `${unit.path}: ${diagnostic.message}` },
  );
  return { module, source, kernels: lowered.kernels, foreign, diagnostics: placed };
}

/** Kernels of a module that third-party headers define. */
function thirdPartyKernels(module: Module, unit: Unit, isThirdParty: ThirdPartyKernelTest): Map<string, KernelName> {
  const foreign = new Map<string, KernelName>();
  for (const item of module.items) {
    if (item.kind !== 'entry' || !item.body) continue;
    const name = kernelName(item.name);
    const first = item.body.find((statement) => statement.kind === 'loc');
    if (isThirdParty(unit, name, sourceLocation(module, first))) foreign.set(item.name, name);
  }
  return foreign;
}

/** Kernels of PTX without line information get locations in the PTX itself. */
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
 * A source file of the compiler as reports name it. A relative path in a PTX file is relative to its folder or to the
 * root.
 */
function reportedPath(spelling: string, unit: Unit, tree: SourceTree): string {
  const file = pathOfFile(spelling);
  const beside = resolve(dirname(unit.file), file);
  const absolute = kindOf(beside) === 'file' ? beside : resolve(tree.root, file);
  return file.startsWith('/') || kindOf(absolute) === 'file' ? relativeTo(tree.root, absolute) : file;
}

/** The source files that contain code of a kernel. */
function filesOf(kernel: Kernel): string[] {
  const files = new Set<string>();
  if (kernel.location) files.add(kernel.location.file);
  for (const { instructions } of kernel.blocks) {
    for (const { location } of instructions) if (location) files.add(location.file);
  }
  return [...files];
}
