/** Targets and directories of a CMake project, and the flags that they give to CUDA files. */
import { posix } from 'node:path';
import {
  GrowingReading,
  literalDefinitions,
  placedPath,
  rootPath,
  selectBuildFlags,
  shownFlag,
  unitsAmong,
  unknownText,
  type BuildReading,
  type BuildTree,
  type LeftOut,
} from './build-reading.ts';
import { withoutGenerators } from './cmake-expression.ts';

export type RequirementKind = 'definitions' | 'includes' | 'options' | 'features';

/** A value with its place and the undecided conditions around it. */
export interface CMakeItem {
  readonly text: string;
  readonly place: string;
  /** From the outermost one. */
  readonly reasons: readonly string[];
}

type Requirements = Readonly<Record<RequirementKind, CMakeItem[]>>;

export interface CMakeDirectory {
  /** From the root of the repository. */
  readonly folder: string;
  readonly own: Requirements;
  readonly parent: CMakeDirectory | undefined;
  readonly reasons: readonly string[];
  /** Variables at the end of the directory. */
  variables: ReadonlyMap<string, string>;
}

export interface CMakeTarget {
  readonly name: string;
  readonly place: string;
  readonly directory: CMakeDirectory;
  readonly reasons: readonly string[];
  readonly sources: CMakeItem[];
  /** For the files of the target. */
  readonly own: Requirements;
  /** For targets that link to it. */
  readonly passedOn: Requirements;
  readonly links: { readonly item: CMakeItem; readonly scope: 'PRIVATE' | 'PUBLIC' | 'INTERFACE' }[];
  readonly properties: Map<string, string>;
  /** Whether `cuda_add_library` and the like made it, which read `CUDA_NVCC_FLAGS`. */
  readonly isOfFindCuda: boolean;
}

export interface CMakeProject {
  readonly targets: Map<string, CMakeTarget>;
  readonly directories: CMakeDirectory[];
  readonly leftOut: LeftOut[];
}

/** Requirements to which nothing was added. */
export function noRequirements(): Requirements {
  return { definitions: [], includes: [], options: [], features: [] };
}

/** The commands of all CUDA files of a project. */
export function cmakeCommands({ targets, directories, leftOut }: CMakeProject, tree: BuildTree): BuildReading {
  const reading = new GrowingReading();
  reading.leftOut.push(...leftOut);
  for (const { variables } of directories) reading.architectures.push(...architecturesIn(variables.get('CMAKE_CUDA_ARCHITECTURES')));
  for (const target of targets.values()) {
    const { name, place, directory, properties } = target;
    reading.architectures.push(...architecturesIn(properties.get('CUDA_ARCHITECTURES')));
    const sources = target.sources.flatMap(({ text }) => withoutGenerators(text, '').split(';'));
    const units = unitsAmong(sources, directory.folder, tree);
    const selected = selectBuildFlags(wordsOf(target, targets, units.length === 0), directory.folder, tree);
    reading.add(selected, units, name, place, `for the target ${name}; `);
  }
  return reading;
}

/**
 * The options of nvcc of a target, without the items that depend on undecided conditions.
 * @param isHeaders whether the target only provides headers, so that those who use it need its options
 */
function wordsOf(target: CMakeTarget, targets: ReadonlyMap<string, CMakeTarget>, isHeaders: boolean): readonly string[] {
  const { directory, own } = target;
  const buildType = directory.variables.get('CMAKE_BUILD_TYPE') ?? '';
  const values = (items: readonly CMakeItem[], around: readonly string[]): string[] => {
    const kept = items.filter(({ reasons }) => reasons.every((reason) => around.includes(reason)));
    return withoutGenerators(kept.map(({ text }) => text).join(';'), buildType)
      .split(';')
      .filter((text) => text !== '');
  };
  const all: Record<RequirementKind, string[]> = { definitions: [], includes: [], options: [], features: [] };
  const take = (requirements: Requirements, around: readonly string[]): void => {
    for (const kind of Object.keys(all) as RequirementKind[]) all[kind].push(...values(requirements[kind], around));
  };
  take(own, target.reasons);
  if (isHeaders) take(target.passedOn, target.reasons);
  take(directory.own, [...directory.reasons, ...target.reasons]);
  const seen = new Set([target.name]);
  const follow = (from: CMakeTarget, isFirst: boolean): void => {
    for (const { item, scope } of from.links) {
      // An interface library itself compiles nothing, so its links count, too.
      if (isFirst ? scope === 'INTERFACE' && from.sources.length > 0 : scope === 'PRIVATE') continue;
      if (!item.reasons.every((reason) => target.reasons.includes(reason) || from.reasons.includes(reason))) continue;
      for (const name of withoutGenerators(item.text, buildType).split(';')) {
        const linked = targets.get(name);
        if (linked === undefined || seen.has(linked.name)) continue;
        seen.add(linked.name);
        take(linked.passedOn, [...linked.reasons, ...target.reasons]);
        follow(linked, false);
      }
    }
  };
  follow(target, true);
  const property = (name: string, variable = `CMAKE_${name}`): string =>
    target.properties.get(name) ?? directory.variables.get(variable) ?? '';
  const typed = buildType === '' ? '' : ` ${directory.variables.get(`CMAKE_CUDA_FLAGS_${buildType.toUpperCase()}`) ?? ''}`;
  const findCuda = target.isOfFindCuda ? (directory.variables.get('CUDA_NVCC_FLAGS') ?? '') : '';
  const flags = `${directory.variables.get('CMAKE_CUDA_FLAGS') ?? ''}${typed} ${property('COMPILE_FLAGS', '')}`;
  const isTrue = /^(?:ON|TRUE|YES|1)$/i;
  return [
    ...standardOf(property('CUDA_STANDARD'), property('CXX_STANDARD'), all.features),
    ...spaced(flags),
    ...findCuda.split(';'),
    ...all.definitions.map((text) => (text.startsWith('-D') ? text : `-D${text}`)),
    ...all.includes.map((text) => `-I${text}`),
    ...all.options.flatMap((text) => (text.startsWith('SHELL:') ? spaced(text.slice(6)) : [text])),
    ...(isTrue.test(property('CUDA_SEPARABLE_COMPILATION')) ? ['-rdc=true'] : []),
  ];
}

function spaced(text: string): string[] {
  return text.replaceAll('"', '').split(/[\s]+/);
}

/** The standard of CUDA code. CMake takes that of C++ if the project states none for CUDA. */
function standardOf(cuda: string, cxx: string, features: readonly string[]): string[] {
  const newest = (kind: string): number =>
    Math.max(0, ...features.flatMap((feature) => Number(new RegExp(`^${kind}_std_(\\d+)$`).exec(feature)?.[1] ?? 0) % 90));
  const number = (text: string): number => (/^\d\d$/.test(text) ? Number(text) % 90 : 0);
  const own = Math.max(number(cuda), newest('cuda'));
  const host = Math.max(number(cxx), newest('cxx'));
  const chosen = own > 0 ? own : host;
  return chosen === 0 ? [] : [`-std=c++${String(chosen).padStart(2, '0')}`];
}

function architecturesIn(value: string | undefined): number[] {
  return [...(value ?? '').matchAll(/(?<![\w.])(\d{2,3})(?=[af]?(?:-real|-virtual)?(?:[\s;]|$))/g)].map(([, number]) => Number(number));
}

/** An absolute path of CMake for a folder of the repository. */
export function cmakePath(folder: string): string {
  return folder === '.' || folder === '' ? rootPath : `${rootPath}/${folder}`;
}

/** Definitions that a command contains, for comments on branches that are not taken. */
export function definitionsIn(name: string, words: readonly string[]): string[] {
  if (/^(?:message|install|execute_process|add_custom_command)$/.test(name)) return [];
  const isList = /^(?:target_compile_definitions|add_compile_definitions)$/.test(name);
  const own = name.startsWith('target_') ? words.slice(1) : words;
  const listed = isList
    ? own
        .filter((word) => /^[A-Za-z_]\w*(?:=.*)?$/.test(word) && !/^(?:PRIVATE|PUBLIC|INTERFACE)$/.test(word))
        .map((word) => shownFlag(`-D${word}`))
    : [];
  return [...listed, ...words.flatMap(literalDefinitions)];
}

/** A folder or file of CMake relative to the root; undefined if it is unknown or outside of the repository. */
export function folderOfPath(path: string, folder: string): string | undefined {
  return path.includes(unknownText) ? undefined : placedPath(path, folder);
}

/** The place of a line, as reports write it. */
export function cmakePlace(folder: string, file: string, line: number): string {
  return `${posix.join(folder, file)}:${line}`;
}
