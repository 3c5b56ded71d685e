/** Facts about a repository that a first configuration is based on. */
import { join, posix } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import { cacheFolder } from '../../system/cache-folder.ts';
import { git, type Repository } from '../project/git.ts';
import { includingUnits } from '../project/include-graph.ts';
import { openLaunchIndex } from '../project/launch-index.ts';
import { isHeader, isUnit, kindOf, listFiles, openSourceTree } from '../project/source-tree.ts';
import { isBuildFile, readBuildFiles, type BuildFacts } from './build-files.ts';

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
  /** Whether device code includes headers of PyTorch. */
  readonly needsTorch: boolean;
  /** The branch that pull requests target, as far as the clone determines it. */
  readonly defaultBranch: string;
}

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
    .sort((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))
    .flatMap((path): (readonly [string, string])[] => {
      const text = tree.text(path);
      return text === undefined ? [] : [[path, text]];
    });
  const scans = sources.flatMap((path) => index.source(path) ?? []);
  const launched = new Set(scans.flatMap((scan) => scan.launched));
  // Code that launches through an API may launch any kernel that it mentions.
  const isCalled = (name: string): boolean =>
    index.launching([name]).some((path) => {
      const scan = index.source(path);
      return scan !== undefined && (scan.calls.length > 0 || scan.pastes);
    });
  return {
    ...readBuildFiles(files, (path) => kindOf(join(root, path)) === 'folder'),
    units,
    defaultBranch: await defaultBranch({ root, environment }),
    loneHeaders: withKernels.filter((path) => (including.get(path) ?? []).length === 0),
    unlaunched: [...kernels.keys()].filter((name) => !launched.has(name) && !isCalled(name)).sort(),
    kernels: kernels.size,
    foreign: [...foreign].sort(),
    needsTorch: own.some((path) => (isUnit(path) || /\.cuh$/.test(path)) && (index.source(path)?.includes ?? []).some((name) => /^(?:torch|ATen|c10)\//.test(name))), // oxfmt-ignore
  };
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
