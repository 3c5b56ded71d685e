import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { DeclaredTypes } from '../../cuda/reading/struct-layout.ts';
import type { CudaParser, CudaSource, KernelDefinition } from '../../cuda/syntax/syntax.ts';
import type { readAnnotations } from '../../cuda/reading/annotation.ts';
import type { DeclaredArray } from '../../cuda/reading/array-declaration.ts';
import type { Departure } from '../../cuda/reading/early-return.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Location } from '../../source/location.ts';
import { includedSources } from './included-sources.ts';
import { withoutTierUp } from '../../system/engine-flags.ts';
import type { KernelName } from '../../cuda/names/kernel-name.ts';
import type { Assets } from './assets.ts';
import type { Project, Tools } from './job.ts';
import type { LaunchIndex } from './launch-index.ts';
import type { LaunchFinder, LaunchRequest } from './host-programs.ts';

/** Facts about the sources that the PTX does not contain. Files are read and parsed on demand. */
export interface SourceFacts {
  /** A file of the tree; undefined if it cannot be read. */
  readonly source: (file: string) => CudaSource | undefined;
  /** The source definition of a compiled kernel, with its file. */
  readonly definitionOf: (kernel: Kernel, name: KernelName, unitPath: string) => Definition | undefined;
  /** Names, types and members of the parameters, by index; empty if the definition is not available. */
  readonly parametersOf: (
    definition: Definition | undefined,
    kernel: Kernel,
    name: KernelName,
    unitPath: string,
  ) => readonly ParameterSource[];
  /** Annotation in the comments at a kernel. */
  readonly annotationOf: (definition: Definition | undefined) => ReturnType<typeof readAnnotations>;
  /** Problems of the Selvage comments of a file. */
  readonly problemsOf: (file: string) => readonly Diagnostic[];
  /** Makes the function that finds the launches of kernels. */
  readonly launchFinder: (request: Pick<LaunchRequest, 'lower' | 'kept' | 'kernelsOf' | 'mayLaunch' | 'isStated'>) => Promise<LaunchFinder>;
  readonly accessText: (
    location: Location,
    operation: 'read' | 'write' | 'atomic',
    array: string | undefined,
    ordinal: number | undefined,
    alike: number | undefined,
  ) => Promise<string | undefined>;
  /** Declaration of an array in shared or global memory, searched for in the file of a location. */
  readonly declaredArray: (location: Location, name: string) => Promise<DeclaredArray | undefined>;
  /** A file of the tree with its syntax tree; undefined if it cannot be read. */
  readonly parse: (file: string) => Promise<CudaSource | undefined>;
  /** Parses another text instead of that of a file. */
  readonly parseText: (text: string, file: string) => Promise<CudaSource>;
  /**
   * Reads a file for editing: with the macros of the project's headers that it includes.
   * @param text - replaces the text of the file
   */
  readonly parseToEdit: (file: string, text?: string) => Promise<CudaSource | undefined>;
  /** Whether threads exit before a location, keyed by the location that decides it; undefined without the source. */
  readonly departure: (deciding: readonly Location[], place: Location, branch?: Location) => Promise<Departure | undefined>;
}

export interface Definition {
  readonly file: string;
  readonly kernel: KernelDefinition;
}

/** One parser for the process: the grammar is a WebAssembly module that must not be loaded twice concurrently. */
let theParser: Promise<CudaParser> | undefined;

/** Opens the sources of an analysis; the parser is loaded only if a file has to be parsed. */
export async function openSourceFacts(
  project: Pick<Project, 'tree' | 'units' | 'wholeTree'>,
  { assets, index }: Pick<Tools, 'assets' | 'index'>,
): Promise<SourceFacts> {
  const { tree, units } = project;
  const cuda = units.some(({ kind }) => kind === 'cuda') ? await loadOutline() : undefined;
  const startParser = (): Promise<CudaParser> => (theParser ??= loadParser(assets));

  const outlines = new Map<string, CudaSource | undefined>();
  const source = (file: string): CudaSource | undefined => {
    if (!cuda) return undefined;
    if (!outlines.has(file)) {
      const text = file.endsWith('.ptx') ? undefined : tree.text(file);
      outlines.set(file, text === undefined ? undefined : cuda.readSource(text, file));
    }
    return outlines.get(file);
  };
  const types = new Map<CudaSource, DeclaredTypes>();
  /** The types that are declared in a unit or in the files that it includes. */
  const typesIn = (unitPath: string): DeclaredTypes[] => {
    const unit = source(unitPath);
    if (!unit || !cuda) return [];
    return [unit, ...includedSources(unit, tree.sources(), source)].map((file) => {
      const known = types.get(file) ?? cuda.declaredTypes(file);
      types.set(file, known);
      return known;
    });
  };
  const parsed = new Map<string, CudaSource | undefined>();
  const parse = async (file: string): Promise<CudaSource | undefined> => {
    if (!parsed.has(file)) {
      const text = file.endsWith('.ptx') ? undefined : tree.text(file);
      parsed.set(file, text === undefined ? undefined : (await startParser()).parse(text, file));
    }
    return parsed.get(file);
  };
  return {
    source,
    definitionOf(kernel, name, unitPath) {
      const file = kernel.location?.file ?? unitPath;
      const text = source(file);
      const found = text && cuda?.findKernel(text, name, kernel.location?.line);
      return found && { file, kernel: found };
    },
    parametersOf: (definition, kernel, name, unitPath) =>
      definition && cuda ? cuda.parameterSources(definition.kernel, kernel, name, () => typesIn(unitPath)) : [],
    annotationOf: (definition) =>
      definition && cuda
        ? cuda.readAnnotations(definition.kernel.annotations, definition.file)
        : { annotation: undefined, diagnostics: [] },
    problemsOf(file) {
      const text = source(file);
      return text && cuda ? cuda.commentProblems(text) : [];
    },
    async launchFinder(facts) {
      if (!cuda || facts.isStated) return { launchesOf: async () => [], problemsOf: () => [], unorderedIn: async () => [] };
      const { launchFinder } = await import('./host-programs.ts');
      let opened: Promise<LaunchIndex> | undefined;
      const open = async (): Promise<LaunchIndex> => (await import('./launch-index.ts')).openLaunchIndex({ tree, ...index });
      const mentioning = async (word: string): Promise<readonly string[]> => (await (opened ??= open())).mentioning([word]);
      return launchFinder({ tree, wholeTree: project.wholeTree, mentioning, ...facts });
    },
    async accessText(location, operation, array, ordinal, alike) {
      const file = await parse(location.file);
      if (!file) return undefined;
      const { accessText } = await import('../../cuda/reading/access-text.ts');
      return accessText(file, location, operation, array, ordinal, alike);
    },
    async declaredArray(location, name) {
      const file = await parse(location.file);
      if (!file) return undefined;
      const { declaredArray } = await import('../../cuda/reading/array-declaration.ts');
      return declaredArray(file, location.line, name);
    },
    departure: departureAmong(parse),
    parse,
    parseText: async (text, file) => (await startParser()).parse(text, file),
    async parseToEdit(file, text = tree.text(file)) {
      const own = source(file);
      if (text === undefined || !own) return undefined;
      const included = includedSources(own, tree.sources(), source).flatMap(({ macros }) => macros);
      return (await startParser()).parse(text, file, included);
    },
  };
}

/** Determines whether threads exit before a location, from the files that `parse` reads. */
export function departureAmong(parse: (file: string) => Promise<CudaSource | undefined>): SourceFacts['departure'] {
  return async (deciding, place, branch) => {
    const { departure } = await import('../../cuda/reading/early-return.ts');
    const answers = new Set<Departure>();
    for (const path of new Set(deciding.map(({ file }) => file))) {
      const file = await parse(path);
      if (!file) return undefined;
      const here = deciding.filter((one) => one.file === path);
      // Inlined code is attributed to its call sites, up to the kernel.
      let inside: Location | undefined = place;
      while (inside && inside.file !== path) inside = inside.inlinedAt;
      const own = branch?.file === path ? branch : undefined;
      answers.add(departure(file, here, inside, own));
      for (let frame = inside?.inlinedAt; frame; frame = frame.inlinedAt)
        if (frame.file === path) answers.add(departure(file, here, frame, own));
    }
    const [only] = answers;
    return answers.size === 1 ? only : 'unclear';
  };
}

async function loadOutline() {
  const [syntax, match, annotation, layout, parameter] = await Promise.all([
    import('../../cuda/syntax/syntax.ts'),
    import('../../cuda/names/kernel-match.ts'),
    import('../../cuda/reading/annotation.ts'),
    import('../../cuda/reading/struct-layout.ts'),
    import('./declared-parameters.ts'),
  ]);
  const { readAnnotations, commentProblems } = annotation;
  const { findKernel } = match;
  const { declaredTypes } = layout;
  const { parameterSources } = parameter;
  return { readSource: syntax.readSource, findKernel, parameterSources, declaredTypes, readAnnotations, commentProblems };
}

async function loadParser({ grammar }: Pick<Assets, 'grammar'>): Promise<CudaParser> {
  const { loadCudaGrammar } = await import('../../cuda/syntax/syntax.ts');
  return withoutTierUp(() => loadCudaGrammar(grammar(), withoutTierUp));
}
