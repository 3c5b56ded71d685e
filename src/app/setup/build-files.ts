/** Flags of device code, from the build files of a repository. */
import { posix } from 'node:path';
import type { BuildReading, BuildTree, LeftOut, UnitCommand } from './builds/build-reading.ts';
import { readBazel } from './builds/bazel.ts';
import { readCMake } from './builds/cmake.ts';
import { readMake } from './builds/make.ts';
import { readMeson } from './builds/meson.ts';
import { readPyproject, readSetup } from './builds/python-extensions.ts';
import { isHeader } from '../project/source-tree.ts';
import { isStandardHeader } from './toolkit-headers.ts';

type BuildSystem = 'cmake' | 'make' | 'setup.py' | 'pyproject.toml' | 'bazel' | 'meson';

export interface BuildFacts {
  /**
   * Build systems of the repository without duplicates, in the order of their files: first that of the top folder, if
   * any.
   */
  readonly systems: readonly BuildSystem[];
  /** Flags for nvcc that all units have; include folders are relative to the root. */
  readonly flags: readonly string[];
  /** Further flags of each unit; empty if no unit has any. */
  readonly unitFlags: ReadonlyMap<string, readonly string[]>;
  /** Architectures, such as `sm_80`, in ascending order. */
  readonly architectures: readonly string[];
  readonly leftOut: readonly LeftOut[];
  /** Variables that must be set for CUDA files to be compiled, such as `WITH_CUDA=ON`, by build system. */
  readonly switches: ReadonlyMap<BuildSystem, readonly string[]>;
}

/** Most definitions of a remark. */
const mostAlternatives = 6;

const systemOf: Readonly<Record<string, BuildSystem>> = {
  'CMakeLists.txt': 'cmake',
  Makefile: 'make',
  makefile: 'make',
  GNUmakefile: 'make',
  'setup.py': 'setup.py',
  'pyproject.toml': 'pyproject.toml',
  BUILD: 'bazel',
  'BUILD.bazel': 'bazel',
  'MODULE.bazel': 'bazel',
  WORKSPACE: 'bazel',
  'meson.build': 'meson',
};

/** Whether a file is a build file. */
export function isBuildFile(path: string): boolean {
  return Object.hasOwn(systemOf, posix.basename(path));
}

/**
 * Reads build files.
 * @param files paths of build files, the top ones first
 */
export function readBuildFiles(files: readonly string[], tree: BuildTree): BuildFacts {
  const systems = new Set(files.map((path) => systemOf[posix.basename(path)]!));
  const readings: BuildReading[] = [];
  const switches = new Map<BuildSystem, readonly string[]>();
  const found = new Set<BuildSystem>();
  for (const system of systems) {
    const own = files.filter((path) => systemOf[posix.basename(path)] === system);
    const read = readersOf[system](own, tree);
    readings.push(...read);
    const needed = read.flatMap((reading) => reading.switches);
    if (needed.length > 0) switches.set(system, needed);
    // A Python package without an extension module is not built by these files.
    if (system !== 'pyproject.toml' || read.some(({ commands }) => commands.length > 0)) found.add(system);
  }
  const chosen = new Map<string, UnitCommand>();
  const others = new Map<string, UnitCommand[]>();
  for (const { commands } of readings) {
    for (const command of commands) {
      const first = chosen.get(command.unit);
      if (first === undefined) chosen.set(command.unit, command);
      else others.set(command.unit, [...(others.get(command.unit) ?? []), command]);
    }
  }
  const leftOut = [
    ...readings.flatMap((reading) => reading.leftOut),
    ...[...others].flatMap(([unit, more]) => alternatives(chosen.get(unit)!, more)),
  ];
  const lists = chosen.size > 0 ? [...chosen.values()].map(({ flags }) => flags) : readings.flatMap(({ general }) => general);
  const { common, isComplete } = commonFlags(lists, tree);
  const unitFlags = new Map<string, readonly string[]>();
  if (!isComplete && chosen.size > 0) {
    const shared = new Set(common);
    for (const unit of tree.units)
      unitFlags.set(
        unit,
        (chosen.get(unit)?.flags ?? []).filter((flag) => !shared.has(flag)),
      );
  }
  const isChosen = ({ commands }: BuildReading): boolean =>
    chosen.size === 0 || commands.some((command) => chosen.get(command.unit) === command);
  const architectures = new Set(readings.filter(isChosen).flatMap((reading) => reading.architectures));
  return {
    systems: [...found],
    flags: common,
    unitFlags,
    architectures: [...architectures]
      .filter((number) => number >= 50)
      .sort((a, b) => a - b)
      .map((number) => `sm_${number}`),
    leftOut: withoutRepetition(leftOut, new Set([...common, ...[...unitFlags.values()].flat()])),
    switches,
  };
}

const readersOf: Readonly<Record<BuildSystem, (files: readonly string[], tree: BuildTree) => BuildReading[]>> = {
  cmake: readCMake,
  make: readMakefiles,
  'setup.py': (files, tree) => files.map((file) => readSetup(file, tree)),
  'pyproject.toml': (files, tree) => files.map((file) => readPyproject(file, tree)),
  bazel: (files, tree) => [readBazel(files, tree)],
  meson: (files, tree) => topmost(files).map((file) => readMeson(file, tree)),
};

/** A pattern rule applies to the folders below without a makefile. */
function readMakefiles(files: readonly string[], tree: BuildTree): BuildReading[] {
  return files.map((file) => {
    const folder = posix.dirname(file);
    const nested = files.map((path) => posix.dirname(path)).filter((other) => other !== folder && isBelow(other, folder));
    const units = tree.units.filter((unit) => !nested.some((other) => unit.startsWith(`${other}/`)));
    return readMake(file, { ...tree, units }, tree.units);
  });
}

/** The files that no other one of the list is above. */
function topmost(files: readonly string[]): string[] {
  return files.filter((file) => !files.some((other) => other !== file && isBelow(posix.dirname(file), posix.dirname(other))));
}

function isBelow(folder: string, other: string): boolean {
  return other === '.' ? folder !== '.' : folder.startsWith(`${other}/`);
}

/** Definitions that further targets have for a unit, as one remark. */
function alternatives(first: UnitCommand, others: readonly UnitCommand[]): LeftOut[] {
  const known = new Set(first.flags);
  const different = others.filter(({ flags }) => flags.some((flag) => !known.has(flag) && flag.startsWith('-D')));
  const flags = new Set(different.flatMap((one) => one.flags.filter((flag) => !known.has(flag) && flag.startsWith('-D'))));
  const [other] = different;
  if (other === undefined) return [];
  const targets = different.length === 1 ? other.target : `${different.length} other targets`;
  return [
    {
      place: other.place,
      flags: [...flags].slice(0, mostAlternatives),
      reason: `for ${first.unit} in ${targets}; ${first.target} is taken`,
    },
  ];
}

/**
 * The flags that all lists have. If the lists differ only in their include folders, and no header name is in two of
 * these, all folders are common.
 */
function commonFlags(lists: readonly (readonly string[])[], tree: BuildTree): { common: string[]; isComplete: boolean } {
  const [first = []] = lists;
  const isCommon = (flag: string): boolean => lists.every((list) => list.includes(flag));
  const common = first.filter(isCommon);
  const others = new Set(lists.flat().filter((flag) => !isCommon(flag)));
  if (others.size === 0) return { common, isComplete: true };
  const folders = [...common, ...others].flatMap((flag) => folderOf(flag) ?? []);
  const areFolders = [...others].every((flag) => folderOf(flag) !== undefined);
  if (areFolders && !isAmbiguous(folders, tree)) return { common: [...common, ...others], isComplete: true };
  return { common, isComplete: false };
}

function folderOf(flag: string): string | undefined {
  return /^(?:-I|-isystem=)(.+)$/.exec(flag)?.[1];
}

/** Whether two folders contain a header of the same name, or one contains a header with the name of a system header. */
function isAmbiguous(folders: readonly string[], tree: BuildTree): boolean {
  const seen = new Map<string, string>();
  for (const folder of new Set(folders)) {
    for (const path of tree.sources.filter(isHeader)) {
      if (folder !== '.' && !path.startsWith(`${folder}/`)) continue;
      const name = folder === '.' ? path : path.slice(folder.length + 1);
      const other = seen.get(name);
      if ((other !== undefined && other !== path) || isStandardHeader(name)) return true;
      seen.set(name, path);
    }
  }
  return false;
}

/** Remarks without those on flags that apply anyway, and each only once. */
function withoutRepetition(leftOut: readonly LeftOut[], applied: ReadonlySet<string>): LeftOut[] {
  const seen = new Set<string>();
  return leftOut.flatMap(({ place, flags, reason }) => {
    const open = [...new Set(flags)].filter((flag) => !applied.has(flag) && !seen.has(`${place} ${flag}`));
    open.forEach((flag) => seen.add(`${place} ${flag}`));
    return open.length === 0 ? [] : [{ place, flags: open, reason }];
  });
}
