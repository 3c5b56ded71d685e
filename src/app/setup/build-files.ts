/** Flags of device code that build files contain literally. */
import { posix } from 'node:path';

type BuildSystem = 'cmake' | 'make' | 'setup.py' | 'bazel';

export interface BuildFacts {
  /**
   * Build systems of the repository without duplicates, in the order of their files: first that of the top folder, if
   * any.
   */
  readonly systems: readonly BuildSystem[];
  /** Flags for nvcc; include folders are relative to the root. */
  readonly flags: readonly string[];
  /** Architectures, such as `sm_80`, in ascending order. */
  readonly architectures: readonly string[];
}

const systemOf: Readonly<Record<string, BuildSystem>> = {
  'CMakeLists.txt': 'cmake', 'Makefile': 'make', 'makefile': 'make', 'GNUmakefile': 'make', 'setup.py': 'setup.py',
  'BUILD': 'bazel', 'BUILD.bazel': 'bazel', 'MODULE.bazel': 'bazel', 'WORKSPACE': 'bazel',
}; // oxfmt-ignore

/** Whether a file is a build file. */
export function isBuildFile(path: string): boolean {
  return Object.hasOwn(systemOf, posix.basename(path));
}

/** Flags that affect the meaning of device code; the others are left to the build. */
const wantedFlag =
  /^(?:-std=\S+|--std=\S+|-I\S+|-isystem=?\S+|-D\S+|--expt-relaxed-constexpr|--expt-extended-lambda|--extended-lambda|-rdc=true|--relocatable-device-code=true|--use_fast_math|-use_fast_math)$/;

/**
 * Reads build files.
 * @param files path from the root and text of each, the top ones first
 * @param isFolder whether a path from the root is a folder of the repository
 */
export function readBuildFiles(
  files: readonly (readonly [path: string, text: string])[],
  isFolder: (path: string) => boolean,
): BuildFacts {
  const systems = new Set<BuildSystem>();
  const flags = new Set<string>();
  const architectures = new Set<number>();
  for (const [path, text] of files) {
    const system = systemOf[posix.basename(path)]!;
    systems.add(system);
    const said = readers[system](withoutComments(text));
    for (const flag of said.flags) {
      const placed = placedFlag(flag, posix.dirname(path), isFolder);
      if (placed !== undefined) flags.add(placed);
    }
    for (const number of said.architectures) architectures.add(number);
  }
  const standards = [...flags].filter((flag) => /^-?-std=/.test(flag)).sort();
  const newest = standards.at(-1);
  return {
    systems: [...systems],
    flags: [...(newest === undefined ? [] : [newest]), ...[...flags].filter((flag) => !/^-?-std=/.test(flag))],
    architectures: [...architectures].filter((number) => number >= 50).sort((a, b) => a - b).map((number) => `sm_${number}`), // oxfmt-ignore
  };
}

interface Said {
  readonly flags: readonly string[];
  readonly architectures: readonly number[];
}

/** Removes comments that begin with `#`, a syntax that the four build languages share. */
function withoutComments(text: string): string {
  return text.replaceAll(/(^|\s)#[^\n]*/g, '$1');
}

const readers: Readonly<Record<BuildSystem, (text: string) => Said>> = {
  cmake: readCMake,
  make: readMake,
  'setup.py': readSetup,
  bazel: readBazel,
};

/** Architectures that a text names: `sm_80`, `compute_80`. */
function namedArchitectures(text: string): number[] {
  return [...text.matchAll(/\b(?:sm|compute)_(\d{2,3})\b/g)].map(([, number]) => Number(number));
}

function readCMake(text: string): Said {
  const flags: string[] = [];
  const standards = [...text.matchAll(/CMAKE_(?:CUDA|CXX)_STANDARD\s+(\d+)|(?:cuda|cxx)_std_(\d+)/g)];
  const numbers = standards.map(([, set, feature]) => Number(set ?? feature)).filter((number) => number < 90);
  if (numbers.length > 0) flags.push(`-std=c++${Math.max(...numbers)}`);
  for (const [, name, body = ''] of text.matchAll(
    /\b((?:target_)?(?:include_directories|compile_definitions|compile_options)|add_compile_definitions|add_compile_options)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)/gi,
  )) {
    const words = (body.match(/"[^"]*"|[^\s"]+/g) ?? []).map((word) => word.replaceAll('"', ''));
    // The first argument of commands such as `target_compile_options` is the target.
    const own = name!.toLowerCase().startsWith('target_') ? words.slice(1) : words;
    for (const word of own.filter((one) => !/^(?:PRIVATE|PUBLIC|INTERFACE|SYSTEM|BEFORE|AFTER)$/.test(one))) {
      const plain = word
        .replace(/^\$<BUILD_INTERFACE:(.*)>$/, '$1')
        .replace(/^\$<\$<COMPILE_LANGUAGE:CUDA>:(.*)>$/, '$1')
        .replace(/^\$\{(?:CMAKE_CURRENT_SOURCE_DIR|CMAKE_CURRENT_LIST_DIR)\}\/?/, './')
        .replace(/^\$\{(?:PROJECT_SOURCE_DIR|CMAKE_SOURCE_DIR)\}\/?/, '//');
      if (plain === '' || plain.includes('$')) continue;
      if (/include_directories/i.test(name!)) flags.push(`-I${plain}`);
      else if (/definitions/i.test(name!)) flags.push(plain.startsWith('-D') ? plain : `-D${plain}`);
      else flags.push(...plain.split(';'));
    }
  }
  const architectures = [...text.matchAll(/CMAKE_CUDA_ARCHITECTURES\s+([^)]*)\)|CUDA_ARCHITECTURES\s+([^)]*)\)/g)];
  const listed = architectures.flatMap(
    ([, set, property]) =>
    [...(set ?? property ?? '').matchAll(/(?<![\w.])(\d{2,3})(?=[af]?(?:-real|-virtual)?(?:[\s;")]|$))/g)].map(([, number]) => Number(number)), // oxfmt-ignore
  );
  return { flags, architectures: [...listed, ...namedArchitectures(text)] };
}

function readMake(text: string): Said {
  const lines = text.replaceAll(/\\\n/g, ' ').split('\n');
  const variables = new Map<string, string>();
  for (const line of lines) {
    const [, name, operator, value = ''] = /^\s*([A-Za-z_]\w*)\s*(\+|:|\?)?=\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) continue;
    variables.set(name, operator === '+' ? `${variables.get(name) ?? ''} ${value}` : value);
  }
  const expand = (word: string, depth = 0): string =>
    depth > 5
      ? word
      : word.replaceAll(/\$[({](\w+)[)}]/g, (whole, name: string) => {
          const value = name === 'CURDIR' ? '.' : variables.get(name);
          return value === undefined ? whole : expand(value, depth + 1);
        });
  const words = lines.flatMap((line) =>
    expand(line)
      .replace(/(-I|-isystem)\s+/g, '$1')
      .split(/[\s"']+/),
  );
  return { flags: words.filter((word) => !word.includes('$')), architectures: namedArchitectures(lines.join('\n')) };
}

/** The string literals of a list in Python or Starlark. */
function strings(text: string): string[] {
  return [...text.matchAll(/(?<![\w'"])(?:'([^'\n]*)'|"([^"\n]*)")/g)].map(([, single, double]) => single ?? double ?? ''); // oxfmt-ignore
}

function readSetup(text: string): Said {
  // In a dictionary of flags by compiler, the key is `nvcc`.
  const own = [...text.matchAll(/['"]nvcc['"]\s*:\s*\[([^\]]*)\]|nvcc_(?:args|flags)\s*\+?=\s*\[([^\]]*)\]/g)].flatMap(([, a, b]) => strings(a ?? b ?? '')); // oxfmt-ignore
  const folders = [...text.matchAll(/include_dirs\s*=\s*\[([^\]]*)\]/g)].flatMap(([, list]) => strings(list ?? ''));
  const macros = [...text.matchAll(/define_macros\s*=\s*\[(.*?)\]\s*[,)]/gs)].flatMap(([, list = '']) =>
    [...list.matchAll(/\(\s*['"](\w+)['"]\s*,\s*(?:['"]([^'"]*)['"]|None)\s*\)/g)].map(([, name, value]) =>
      value === undefined ? `-D${name}` : `-D${name}=${value}`,
    ),
  );
  return {
    flags: [...own, ...folders.map((folder) => `-I${folder}`), ...macros],
    architectures: namedArchitectures(own.join(' ')),
  };
}

function readBazel(text: string): Said {
  const listOf = (name: string): string[] =>
    [...text.matchAll(new RegExp(`\\b${name}\\s*=\\s*\\[([^\\]]*)\\]`, 'g'))].flatMap(([, list]) => strings(list ?? '')); // oxfmt-ignore
  return {
    // In Bazel, files include each other by their paths from the top of the workspace.
    flags: [
      '-I//',
      ...listOf('copts'),
      ...listOf('includes').map((folder) => `-I${folder}`),
      ...[...listOf('defines'), ...listOf('local_defines')].map((define) => `-D${define}`),
    ],
    architectures: namedArchitectures(text),
  };
}

/** A flag with its folder made relative to the root; undefined for irrelevant flags and missing folders. */
function placedFlag(flag: string, folder: string, isFolder: (path: string) => boolean): string | undefined {
  if (!wantedFlag.test(flag)) return undefined;
  const [, option, path] = /^(-I|-isystem=?)(.+)$/.exec(flag) ?? [];
  if (path === undefined) return /["'`;&|<>]/.test(flag) ? undefined : flag;
  const placed = path.startsWith('//') ? path.slice(2) : path.startsWith('/') ? undefined : posix.join(folder, path);
  if (placed === undefined || placed.startsWith('..')) return undefined;
  const clean = posix.normalize(placed === '' ? '.' : placed).replace(/(.)\/$/, '$1');
  return clean === '.' || isFolder(clean) ? `${option === '-I' ? '-I' : '-isystem='}${clean}` : undefined;
}
