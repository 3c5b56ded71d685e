/** Facts about a repository that a first configuration is based on. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import { cacheFolder } from '../../system/cache-folder.ts';
import { git, type Repository } from '../project/git.ts';
import { includingUnits } from '../project/include-graph.ts';
import { openLaunchIndex } from '../project/launch-index.ts';
import { isHeader, isUnit, kindOf, listFiles, mayBeRead, openSourceTree, relativeTo } from '../project/source-tree.ts';
import { parseCompileCommands } from '../../toolchain/compile-commands.ts';
import { isBuildFile, readBuildFiles, type BuildFacts } from './build-files.ts';
import { includedHeaders } from './included-headers.ts';
import { packagesFor, type ToolkitPackages } from './toolkit-headers.ts';

export interface Survey extends BuildFacts {
  /** Paths of `.cu` files, sorted. */
  readonly units: readonly string[];
  /** Headers that define kernels and that no `.cu` file includes. */
  readonly loneHeaders: readonly string[];
  /** Names of kernels that no source launches by name. */
  readonly unlaunched: readonly string[];
  /** Number of kernels. */
  readonly kernels: number;
  /** Folders of third-party code that contain `.cu` files. */
  readonly foreign: readonly string[];
  /** The folder of the repository below which a header has a name, such as `lib` for `math/a.h` of `lib/math/a.h`. */
  readonly headerFolders: (name: string) => string | undefined;
  /** Whether device code includes headers of PyTorch. */
  readonly needsTorch: boolean;
  /** Whether the top folder is a project of CMake, whose flags its configure step writes. */
  readonly hasTopCMake: boolean;
  /** Paths of compilation databases with an entry for a unit, and whether they have one for each. */
  readonly databases: readonly string[];
  readonly areAllInDatabases: boolean;
  /** Packages of the toolkit whose headers the sources include. */
  readonly packages: ToolkitPackages;
  /** Submodules that are not checked out here. */
  readonly absentSubmodules: readonly string[];
  /** Included headers that the configure step of the build writes. */
  readonly generatedHeaders: ReadonlySet<string>;
  /** Headers by unit that no package of the toolkit and no file of the repository provides. */
  readonly foreignHeaders: ReadonlyMap<string, readonly string[]>;
  /** The branch that pull requests target, as far as the clone determines it. */
  readonly defaultBranch: string;
}

/** Version of the toolkit that the workflow installs. */
export const workflowToolkit = '13.2.0';
/** Path of the database that `init` writes for flags of single units. */
export const writtenDatabase = 'selvage/compile_commands.json';
/** Path of the generated unit that includes headers which no `.cu` file includes. */
export const headerUnit = 'selvage/kernels.cu';

const foreignFolder = /(?:^|\/)(?:third_party|third-party|3rdparty|thirdparty|vendor|external|extern|submodules)(?=\/)/;

/**
 * Surveys a repository: sources and build files, which are read and not run.
 * @param root absolute
 */
export async function survey(root: string, environment: Readonly<Record<string, string | undefined>>): Promise<Survey> {
  const tree = openSourceTree(root);
  const sources = tree.sources();
  const foreign = new Set<string>();
  const isThirdParty = (path: string): boolean => {
    const match = foreignFolder.exec(path);
    if (match && isUnit(path)) foreign.add(path.slice(0, match.index + match[0].length));
    return match !== null;
  };
  // Build folders of CMake contain generated Makefiles and downloaded sources, which are excluded.
  const built = listFiles(root, (path) => posix.basename(path) === 'CMakeCache.txt').map((path) => posix.dirname(path));
  const isBuilt = (path: string): boolean => built.some((folder) => folder !== '.' && path.startsWith(`${folder}/`));
  const own = sources.filter((path) => !isBuilt(path) && !isThirdParty(path));
  const units = own.filter(isUnit);
  const index = await openLaunchIndex({ tree, environment, folder: cacheFolder(environment, 'launches') });
  const kernels = new Map<string, string[]>();
  for (const path of own) {
    for (const name of index.source(path)?.kernels ?? []) kernels.set(name, [...(kernels.get(name) ?? []), path]);
  }
  const withKernels = [...new Set([...kernels.values()].flat())].filter(isHeader);
  const including = withKernels.length > 0 ? includingUnits(tree, withKernels) : new Map<string, readonly string[]>();
  const files = listFiles(root, isBuildFile)
    .filter((path) => !foreignFolder.test(path) && !isBuilt(path))
    .sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1));
  const submodules = submodulesOf(root);
  const builds = readBuildFiles(files, {
    units,
    sources: own,
    text: tree.text,
    isFile: (path) => kindOf(join(root, path)) === 'file',
    // The workflow checks submodules out.
    isFolder: (path) => kindOf(join(root, path)) === 'folder' || submodules.some((folder) => path.startsWith(`${folder}/`)),
    toolkit: workflowToolkit.replace(/\.\d+$/, ''),
  });
  const scans = sources.flatMap((path) => index.source(path) ?? []);
  const launched = new Set(scans.flatMap((scan) => scan.launched));
  // Code that launches through an API may launch any kernel that it mentions.
  const isCalled = (name: string): boolean =>
    index.launching([name]).some((path) => {
      const scan = index.source(path);
      return scan !== undefined && (scan.calls.length > 0 || scan.pastes);
    });
  const loneHeaders = withKernels.filter((path) => (including.get(path) ?? []).length === 0);
  const headers = includedHeaders(units.length > 0 ? units : loneHeaders, tree, (unit) => [
    ...builds.flags,
    ...(builds.unitFlags.get(unit) ?? []),
  ]);
  const databases = databasesIn(root, units);
  return {
    ...builds,
    units,
    hasTopCMake: /^\s*project\s*\(/im.test(tree.text('CMakeLists.txt') ?? ''),
    absentSubmodules: submodules.filter((folder) => listFiles(join(root, folder), () => true).length === 0),
    ...databases,
    packages: packagesFor(headers.outside, workflowToolkit),
    ...foreignParts(root, headers.foreign),
    headerFolders: (name) => sources.find((path) => path.endsWith(`/${name}`))?.slice(0, -name.length - 1),
    defaultBranch: await defaultBranch({ root, environment }),
    loneHeaders,
    unlaunched: [...kernels.keys()].filter((name) => !launched.has(name) && !isCalled(name)).sort(),
    kernels: kernels.size,
    foreign: [...foreign].sort(),
    needsTorch: own.some(
      (path) =>
        (isUnit(path) || /\.cuh$/.test(path)) && (index.source(path)?.includes ?? []).some((name) => /^(?:torch|ATen|c10)\//.test(name)),
    ),
  };
}

/** Folders of submodules. */
function submodulesOf(root: string): string[] {
  const file = mayBeRead(root, '.gitmodules');
  const text = file === undefined ? '' : readFileSync(file, 'utf8');
  return [...text.matchAll(/^\s*path\s*=\s*(\S+)\s*$/gm)].map(([, path]) => path!);
}

/** Separates headers that `configure_file` makes of a template: `config.h` of `config.h.in`. */
function foreignParts(root: string, foreign: ReadonlyMap<string, readonly string[]>): Pick<Survey, 'foreignHeaders' | 'generatedHeaders'> {
  const templates = new Set(listFiles(root, (path) => path.endsWith('.in')).map((path) => posix.basename(path, '.in')));
  const foreignHeaders = new Map<string, readonly string[]>();
  const generatedHeaders = new Set<string>();
  for (const [unit, headers] of foreign) {
    const open = headers.filter((name) => !templates.has(posix.basename(name)));
    if (open.length > 0) foreignHeaders.set(unit, open);
    for (const name of headers) if (!open.includes(name)) generatedHeaders.add(name);
  }
  return { foreignHeaders, generatedHeaders };
}

/** Compilation databases anywhere in the repository. */
function databasesIn(root: string, units: readonly string[]): Pick<Survey, 'databases' | 'areAllInDatabases'> {
  const covered = new Set<string>();
  const databases = listFiles(root, (path) => posix.basename(path) === 'compile_commands.json')
    .filter((path) => path !== writtenDatabase && !foreignFolder.test(path))
    .filter((path) => {
      const known = filesOfDatabase(root, path).filter((file) => units.includes(file));
      known.forEach((file) => covered.add(file));
      return known.length > 0;
    });
  return { databases, areAllInDatabases: databases.length > 0 && covered.size === units.length };
}

/** Paths of the files with an entry. */
function filesOfDatabase(root: string, path: string): string[] {
  const file = mayBeRead(root, path);
  const { commands } = parseCompileCommands(file === undefined ? '[]' : readFileSync(file, 'utf8'), path, root);
  return [...commands.keys()].map((name) => relativeTo(root, name));
}

/**
 * The default branch of the server, as recorded when the repository was cloned; otherwise `main` or `master`, if it
 * exists.
 */
async function defaultBranch(repository: Repository): Promise<string> {
  try {
    const told = await git(repository, ['symbolic-ref', '--quiet', '--short', 'refs/remotes/origin/HEAD']);
    const name = told.stdout.trim().replace(/^origin\//, '');
    if (told.code === 0 && /^[\w./-]+$/.test(name)) return name;
    const old = await git(repository, ['rev-parse', '--verify', '--quiet', 'refs/heads/master']);
    const usual = await git(repository, ['rev-parse', '--verify', '--quiet', 'refs/heads/main']);
    return old.code === 0 && usual.code !== 0 ? 'master' : 'main';
  } catch (error) {
    if (error instanceof UsageError) return 'main';
    throw error;
  }
}
