/** The launches of kernels in the host programs of a project. */
import { grouped } from '../../base/grouped.ts';
import { posix } from 'node:path';
import { type AssumptionExpression, type Fact, comparison, equalsOneOf, integer, parameter } from '../../assumptions/expression.ts';
import { sitesOf } from '../../cuda/launches/event-sites.ts';
import { integerType } from '../../cuda/syntax/basic-type.ts';
import type { AxisExtent, AxisExtents } from '../../cuda/launches/extents.ts';
import { type LaunchSite, commonPointers, distinctSites, withoutContents, withoutCovered } from '../../cuda/launches/launch-site.ts';
import type { LaunchParameter } from '../../cuda/launches/launch-parameter.ts';
import { definesFunction, containsName, mayCall, mayLaunch } from '../../cuda/launches/launch-scan.ts';
import { demangle, objectName } from '../../cuda/names/demangle.ts';
import { type KernelName, isKernelInHost, isOfUnit } from '../../cuda/names/kernel-name.ts';
import type { HostUnit } from '../../host/host-unit.ts';
import type { KernelParameters } from '../../host/launches.ts';
import {
  type HostOperation,
  type HostTouch,
  type ReadLaunch,
  type OverlappingOperations,
  variableMemory,
} from '../../host/operations/host-operation.ts';
import { openHostUnit, readHostProgram } from '../../host/read-host.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import { globalVariables } from '../../ir/form/variable-use.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { HostProblem } from '../../lowering/lower-host.ts';
import type { LoweredHost } from '../../lowering/unchanged-host.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { KeptCode } from '../../toolchain/kept-code.ts';
import type { Location } from '../../source/location.ts';
import type { SiteSettings } from './resolve-launches.ts';
import { type FileMentions, fileMentions } from './file-mentions.ts';
import type { SourceTree } from './source-tree.ts';

/** A kernel whose launches are searched for. */
interface WantedKernel {
  readonly kernel: Pick<Kernel, 'symbol' | 'parameters' | 'location'>;
  readonly name: KernelName;
  /** Path of the unit. */
  readonly unit: string;
  readonly parameters: readonly ParameterSource[];
}

export interface LaunchFinder {
  readonly launchesOf: (wanted: WantedKernel) => Promise<readonly SiteSettings[]>;
  /** Operations of the host program of a unit that may overlap, one of them a launch. */
  readonly unorderedIn: (unit: string) => Promise<readonly OverlappingOperations[]>;
  /** Why host code of a unit, or of its callers, was not read. */
  readonly problemsOf: (unit: string) => readonly Diagnostic[];
}

/** A kernel of a unit. */
interface UnitKernel {
  readonly kernel: Pick<Kernel, 'symbol' | 'parameters' | 'location' | 'objects' | 'blocks' | 'values'>;
  readonly name: KernelName;
}

export interface LaunchRequest {
  readonly tree: SourceTree;
  /** Whether files other than the unit may launch its kernels. */
  readonly wholeTree: boolean;
  /** The sources that contain a word as an identifier; may include a few others, because words are hashed. */
  readonly mentioning: (word: string) => Promise<readonly string[]>;
  /** Whether launches are stated, so that none is searched for. */
  readonly isStated: boolean;
  /** Whether a unit may launch anything; else its host code is not lowered unless another one needs it. */
  readonly mayLaunch: (unit: string) => boolean;
  /** What the host compiler makes of a file; null without a compiler. */
  readonly lower: (file: string) => Promise<LoweredHost | HostProblem | null>;
  /** Cache of what was read from host code. */
  readonly kept?: KeptCode | undefined;
  /** Kernels of the units that were compiled. */
  readonly kernelsOf: (unit: string) => readonly UnitKernel[];
}

/** If a kernel has more launches than this, a launch is omitted if another launch at the same location covers it. */
const maxTold = 8;

/** If a kernel has more launches than this, launches are merged; properties in which they differ become unspecified. */
const maxLaunches = 24;

/** Maximum number of files that are compiled to find the callers of one unit. */
const maxFiles = 12;

/** A file with host code. It is read only where what was read before is not cached. */
interface HostFile {
  readonly path: string;
  readonly key: string | null;
  /** Files of the project by the names that the compiler has for them. */
  readonly files: ReadonlyMap<string, string>;
  /** Functions of external linkage that lead to a launch. */
  readonly launchers: readonly string[];
  readonly unit: () => HostUnit;
}

/** What is cached of a program. */
interface ProgramReading {
  readonly launches: readonly Omit<ReadLaunch, 'symbolFacts'>[];
  /** Facts about symbols, and for each launch which of them are about its own. */
  readonly facts: readonly (readonly Fact[])[];
  readonly factsOf: readonly number[];
  /** Kernels of which the host code takes the address. */
  readonly taken: readonly string[];
  readonly unordered: readonly OverlappingOperations[];
}

/** The launches of the kernels of a unit. */
interface UnitLaunches {
  readonly launches: readonly ReadLaunch[];
  /** Whether the host code takes the address of a kernel: an unknown kernel may be it. */
  readonly isTaken: (symbol: string) => boolean;
  /** Operations that may overlap, with the paths of files in the project. */
  readonly unordered: readonly OverlappingOperations[];
}

/** Finds launches. The host code of each file is read once, when it may launch one of the kernels. */
export function launchFinder(request: LaunchRequest): LaunchFinder {
  const { tree, wholeTree } = request;
  const units = new Map<string, Promise<HostFile | null>>();
  const files = new Map<string, string>();
  const problems = new Map<string, Diagnostic>();
  const found = new Map<string, Promise<UnitLaunches>>();
  const mentions = fileMentions(tree);
  const shown = new Map<string, readonly Diagnostic[]>();

  const parametersIn = (file: string): KernelParameters =>
    new Map(request.kernelsOf(file).map(({ kernel }) => [kernel.symbol, kernel.parameters.map(({ bytes }) => bytes)]));
  /** Accesses to variables of the unit in global memory. Which bytes they are of, runs show. */
  const variablesIn = (file: string): [string, readonly HostTouch[]][] =>
    request.kernelsOf(file).flatMap(({ kernel }): [string, readonly HostTouch[]][] => {
      if (!kernel.objects.some(({ space }) => space === 'global')) return [];
      const touches = [...globalVariables(kernel)].map(([symbol, isWrite]): HostTouch => {
        const memory = { id: variableMemory(file, symbol), label: objectName(symbol) };
        return { memory, offset: null, bytes: null, isWrite };
      });
      return [[kernel.symbol, touches]];
    });
  /** What is made of inputs, or was made of them before. @param keys of files; null if not all inputs are known */
  const remembered = <Value>(keys: readonly (string | null)[], parts: readonly unknown[], make: () => Value): Value => {
    if (!request.kept || keys.includes(null)) return make();
    const all = ['host', keys, ...parts];
    const known = request.kept.read(all) as Value | undefined;
    if (known !== undefined) return known;
    const made = make();
    request.kept.write(all, made);
    return made;
  };
  const open = (file: string): Promise<HostFile | null> => {
    const known = units.get(file) ?? openUnit(file);
    units.set(file, known);
    return known;
  };
  const openUnit = async (file: string): Promise<HostFile | null> => {
    const lowered = await request.lower(file);
    if (lowered && 'problem' in lowered) problems.set(file, lowered.problem);
    if (!lowered || 'problem' in lowered) return null;
    for (const [path, own] of lowered.files) files.set(path, own);
    const parameters = parametersIn(file);
    let opened: HostUnit | undefined;
    const unit = (): HostUnit => (opened ??= openHostUnit(file, lowered.dump(), parameters));
    const { key } = lowered;
    const launchers = remembered([key], ['launchers', file, [...parameters.keys()]], () => unit().externalLaunchers());
    return { path: file, key, files: lowered.files, launchers, unit };
  };
  const others = async (unit: string, word: string): Promise<string[]> => {
    if (!wholeTree) return [];
    const all = await request.mentioning(word);
    return all.filter((file) => file !== unit && containsName(tree.text(file) ?? '', word));
  };
  return {
    async launchesOf(wanted) {
      const { name, unit } = wanted;
      const { launches, isTaken } = await read(unit);
      const parameters = parametersOf(wanted);
      const sites = launches
        .filter((launch) => isOf(launch, wanted, isTaken))
        .flatMap((launch) => {
          const location = locationOf(launch);
          return sitesOf({ ...launch, text: launchText(name, location, tree) }, location, parameters);
        });
      return fewer(distinctSites(sites), parameters);
    },
    unorderedIn: async (unit) => (await read(unit)).unordered,
    problemsOf: (unit) => shown.get(unit) ?? [],
  };

  function read(unit: string): Promise<UnitLaunches> {
    const known = found.get(unit) ?? launchesIn(unit);
    found.set(unit, known);
    return known;
  }

  /** An operation, with the path of its file in the project. */
  function inProject(operation: HostOperation): HostOperation {
    const { location, launch } = operation;
    const own = location && { ...location, file: files.get(location.file) ?? location.file };
    return { ...operation, location: own, ...(launch ? { launch: { ...launch, location: own } } : {}) };
  }

  function locationOf({ location, unit }: ReadLaunch): Location {
    if (!location) return { file: unit, line: 1 };
    return { file: files.get(location.file) ?? location.file, line: location.line };
  }

  /** All launches that the host program of a unit makes, and the other files that reach its kernels. */
  async function launchesIn(unit: string): Promise<UnitLaunches> {
    const first = request.mayLaunch(unit) ? await open(unit) : null;
    const opened = new Map<string, HostFile>(first ? [[unit, first]] : []);
    const asked = new Set([unit]);
    const unread: string[] = [];
    const words = new Set<string>();
    for (const { name, kernel } of request.kernelsOf(unit)) if (!isOfUnit(kernel.symbol)) words.add(`kernel ${simpleName(name.qualified)}`);
    for (let count = -1; count !== words.size + opened.size;) {
      count = words.size + opened.size;
      for (const one of opened.values())
        for (const symbol of one.launchers) words.add(`function ${simpleName(demangle(symbol)?.qualified ?? symbol)}`);
      for (const file of await callersAmong(unit, words, asked)) {
        const isInBudget = asked.size <= maxFiles;
        asked.add(file);
        const caller = isInBudget ? await open(file) : null;
        if (caller) opened.set(file, caller);
        else unread.push(file);
        if (!isInBudget) problems.set(file, tooManyFiles(file));
      }
    }
    // A function that a file calls which was not read may have any arguments.
    const isOpen = (symbol: string): boolean =>
      unread.some((file) => containsName(tree.text(file) ?? '', simpleName(demangle(symbol)?.qualified ?? symbol)));
    shown.set(
      unit,
      [...asked].flatMap((file) => problems.get(file) ?? []),
    );
    const list = [...opened.values()];
    if (list.length === 0) return { launches: [], isTaken: () => false, unordered: [] };
    const constants = new Set(
      [...opened.keys()].flatMap((file) =>
        request
          .kernelsOf(file)
          .flatMap(({ kernel }) =>
            kernel.objects.flatMap(({ space, symbol }) => (space === 'const' ? [objectName(symbol).replace(/^.*::/s, '')] : [])),
          ),
      ),
    );
    const parameters: KernelParameters = new Map([unit, ...opened.keys()].flatMap((file) => [...parametersIn(file)]));
    const variables = new Map([unit, ...opened.keys()].flatMap((file) => variablesIn(file)));
    const openLaunchers = list.flatMap((one) => one.launchers.filter(isOpen));
    const own = new Set(list.flatMap((one) => [...one.files.keys()]));
    const parts = [list.map(({ path }) => path), parameters, [...variables], [...constants], openLaunchers, [...own]];
    const { launches, facts, factsOf, taken, unordered } = remembered(
      list.map(({ key }) => key),
      ['program', ...parts],
      (): ProgramReading => {
        const hosts = list.map((one) => one.unit());
        const open = new Set(openLaunchers);
        const reading = readHostProgram({
          units: hosts,
          parameters,
          constants,
          variables,
          isOwn: (file) => own.has(file),
          isOpen: (symbol) => open.has(symbol),
        });
        const sets = [...new Set(reading.launches.map(({ symbolFacts }) => symbolFacts))];
        return {
          launches: reading.launches.map(withoutFacts),
          unordered: reading.unordered,
          facts: sets,
          factsOf: reading.launches.map(({ symbolFacts }) => sets.indexOf(symbolFacts)),
          taken: [...parameters.keys()].filter((symbol) => hosts.some((one) => one.takesAddress(symbol))),
        };
      },
    );
    return {
      launches: launches.map((launch, at) => ({ ...launch, symbolFacts: facts[factsOf[at]!]! })),
      isTaken: (symbol) => taken.includes(symbol),
      unordered: unordered.map(({ first, second, between, ...pair }) => {
        const operations = {
          first: first && inProject(first),
          second: inProject(second),
          ...(between && { between: between.map(inProject) }),
        };
        return { ...pair, ...operations };
      }),
    };
  }

  /** Files that may call a function of one of these names, or launch a kernel of one. */
  async function callersAmong(unit: string, words: ReadonlySet<string>, asked: ReadonlySet<string>): Promise<string[]> {
    const callers = new Set<string>();
    const isNear = (file: string): boolean => posix.dirname(file) === posix.dirname(unit);
    for (const entry of words) {
      const [kind, word] = entry.split(' ') as [string, string];
      if (word === 'main') continue;
      const mentioned = await others(unit, word);
      if (kind === 'kernel') {
        const wanted = request.kernelsOf(unit).find(({ name }) => simpleName(name.qualified) === word)!;
        const seeing = mentioned.filter((file) => seesKernel(file, word, mentioned, { ...wanted, unit }, tree, mentions));
        // If another file defines a kernel of the same name, only programs in the folder of the unit mean this one.
        const isElsewhere = mentioned.some((file) => !seeing.includes(file) && definesKernel(tree.text(file) ?? '', word));
        for (const file of seeing) if (!isElsewhere || isNear(file)) callers.add(file);
      } else {
        const isElsewhere = mentioned.some((file) => !asked.has(file) && definesFunction(tree.text(file) ?? '', word));
        for (const file of mentioned) if (mayCall(tree.text(file) ?? '', word) && (!isElsewhere || isNear(file))) callers.add(file);
      }
    }
    return [...callers].filter((file) => !asked.has(file) && isCompiled(file));
  }

  /** Whether a launch is one of a kernel. */
  function isOf(launch: ReadLaunch, { kernel, name, unit }: WantedKernel, isTaken: (symbol: string) => boolean): boolean {
    const given = launch.arguments;
    if (given !== undefined && given.length > kernel.parameters.length) return false;
    const written = launch.kernel;
    // A call through a pointer passes all arguments.
    if (written === '') return isTaken(kernel.symbol) && (given === undefined || given.length === kernel.parameters.length);
    const isOwn = launch.unit === unit;
    if (written === kernel.symbol) {
      // Another unit may have a kernel of the same name that only it can launch.
      const isOther =
        isOfUnit(kernel.symbol) ||
        request.kernelsOf(launch.unit).some((one) => one.kernel.symbol === written) ||
        definesKernel(tree.text(launch.unit) ?? '', simpleName(name.qualified));
      return isOwn || !isOther;
    }
    if (isOwn && isKernelInHost(written, kernel.symbol)) return true;
    if (written.startsWith('_Z') || written.includes('!') || written !== simpleName(name.qualified)) return false;
    return isOwn || (namesUnit(tree.text(launch.unit) ?? '', unit) && isNearest(tree, launch.unit, unit));
  }
}

function withoutFacts({ symbolFacts, ...launch }: ReadLaunch): Omit<ReadLaunch, 'symbolFacts'> {
  void symbolFacts;
  return launch;
}

/** Notes that a file was not read because it is one of too many. */
function tooManyFiles(file: string): Diagnostic {
  const message = `Selvage did not read the launches in this file, because more than ${maxFiles} files may launch the kernels of one unit. Functions that it calls are checked with any arguments.`;
  return { severity: 'notice', code: 'launch/unread', message, location: { file, line: 1 } };
}

/** Sources with host code; headers are read with the files that include them. */
function isCompiled(file: string): boolean {
  return /\.(?:cu|cpp|cc|cxx|C)$/.test(file);
}

/** A launch as the source has it, for messages. */
function launchText({ qualified }: KernelName, { file, line }: Location, tree: SourceTree): string {
  const [first = '', ...more] = (tree.text(file) ?? '').split('\n').slice(line - 1, line + 5);
  const lines = [first, ...more].join('\n');
  const name = simpleName(qualified);
  const own = new RegExp(`[\\w:]*\\b${name}\\s*(?:<[^;]*?>)?\\s*<<<[^;]*?>>>`).exec(lines);
  const written =
    own ?? /[\w:]+\s*(?:<[^;{}]*?>)?\s*<<<[^;]*?>>>/.exec(first) ?? /\b(?:cuda|cu)\w*(?:Launch|Graph)\w*\s*\([^;]*/.exec(lines);
  return (written?.[0] ?? `${name}<<<…>>>`).replace(/\s+/g, ' ');
}

/**
 * Whether a program names the file of a unit, as a source or in compiled form: `"scan_kernel.ptx"`,
 * `"scan_kernel64.fatbin"`.
 */
function namesUnit(text: string, unit: string): boolean {
  const stem = posix
    .basename(unit)
    .replace(/\.\w+$/, '')
    .replace(/\W/g, '.');
  return new RegExp(`"(?:[^"\\n]*\\/)?${stem}\\w*\\.(?:cu|ptx|cubin|fatbin|ltoir|o)"`).test(text);
}

/** Whether a text defines a kernel of this name. */
function definesKernel(text: string, name: string): boolean {
  return new RegExp(`__global__[^;{}]*\\b${name}\\s*\\([^;{}]*\\)\\s*\\{`).test(text);
}

/**
 * Whether a file may launch a kernel of another unit, according to texts only: it contains a launch, and it declares
 * the kernel, includes a file that does, or names it as a string.
 */
function seesKernel(
  file: string,
  name: string,
  mentioned: readonly string[],
  { kernel, unit }: UnitKernel & { readonly unit: string },
  tree: SourceTree,
  mentions: FileMentions,
): boolean {
  const text = tree.text(file) ?? '';
  // Kernels are found by name with the driver API, or with what compiles sources at run time.
  if (!mayLaunch(text) && !/\bcu(?:da)?[A-Z]\w*|[nN]vrtc|NVRTC|[jJ]itify/.test(text)) return false;
  if (definesKernel(text, name)) return kernel.location?.file === file;
  if (new RegExp(`__global__[^;{}]*\\b${name}\\s*\\(`).test(text) || text.includes(`"${name}"`) || text.includes(`"${kernel.symbol}"`))
    return true;
  const declaring = [unit, kernel.location?.file ?? unit, ...mentioned.filter((other) => /__global__/.test(tree.text(other) ?? ''))];
  return declaring.some((header) => header !== file && mentions.mentionsFile(file, header));
}

/** Whether the unit is the nearest to a program among the units with the same file name. */
function isNearest(tree: SourceTree, program: string, unit: string): boolean {
  const shared = (file: string): number => {
    const [a, b] = [posix.dirname(program).split('/'), posix.dirname(file).split('/')];
    let count = 0;
    while (count < a.length && a[count] === b[count]) count++;
    // Among files with the same common ancestor, the one with fewer folders below it is nearer.
    return count * 100 - b.length;
  };
  const stem = posix.basename(unit);
  return tree.sources().every((file) => posix.basename(file) !== stem || file === unit || shared(file) < shared(unit));
}

function simpleName(qualified: string): string {
  return qualified.replace(/<[^]*$/, '').replace(/^.*::/s, '');
}

function parametersOf({ kernel, parameters }: WantedKernel): LaunchParameter[] {
  return kernel.parameters.map(({ index }) => ({
    name: parameters[index]?.name || `param${index}`,
    type: parameters[index]?.type ?? '',
    ...(parameters[index]?.fields ? { fields: parameters[index].fields } : {}),
  }));
}

/**
 * Maximum number of launches per location that remain separate when launches are merged: findings may depend on their
 * integers.
 */
const maxShown = 6;

/**
 * Merges many launches: those at one location become a launch with their common properties. The first few remain
 * separate.
 */
function fewer(all: readonly LaunchSite[], parameters: readonly LaunchParameter[]): readonly LaunchSite[] {
  const sites = all.length <= maxTold ? all : withoutCovered(all);
  if (sites.length <= maxLaunches) return sites;
  const text = (value: unknown): string => JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part));
  const groups = grouped(sites, (site) => {
    const { location, block, cluster, cooperative, startsEarly, mayOverlap, aliases, samePointers, distances, unknown } = site;
    return text(
      [location.file, location.line, block, cluster, cooperative, startsEarly, mayOverlap, aliases, samePointers, distances, unknown].map(
        (one) => one ?? null,
      ),
    );
  });
  const shown = [...groups.values()].flatMap((group) => group.slice(0, maxShown));
  const merged = [...groups.values()].map((group): LaunchSite => {
    const [first, ...rest] = group;
    const { grid, sharedBytes, sharedSize, ...common } = first;
    const same = <Value>(value: (site: LaunchSite) => Value): boolean =>
      rest.every((site) => JSON.stringify(value(site)) === JSON.stringify(value(first)));
    const contents = (site: LaunchSite): unknown => [[...site.contents.arrays], [...site.contents.variables]];
    return {
      ...common,
      contents: same(contents) ? common.contents : withoutContents(first).contents,
      axes: commonAxes(group),
      ...(grid && same((site) => site.grid) ? { grid } : {}),
      ...(sharedBytes !== undefined && same((site) => site.sharedBytes) ? { sharedBytes } : {}),
      ...(sharedSize && rest.every((site) => text(site.sharedSize) === text(sharedSize)) ? { sharedSize } : {}),
      scalars: new Map([...common.scalars].filter(([index, value]) => rest.every((site) => site.scalars.get(index) === value))),
      pointers: commonPointers([first, ...rest]),
      ties: [
        ...common.ties.filter((tie) => rest.every((site) => site.ties.some((other) => text(other) === text(tie)))),
        ...listedScalars(group, parameters),
      ],
    };
  });
  return [...shown, ...merged];
}

/** Common extents of several launches by axis: an integer, or a mark that they differ. */
function commonAxes(sites: readonly LaunchSite[]): AxisExtents {
  const common = (of: 'block' | 'grid', axis: 0 | 1 | 2): AxisExtent => {
    const [first = null, ...others] = new Set(sites.map(({ axes }) => axes[of][axis]));
    return others.length > 0 ? 'computed' : first;
  };
  const axes = (of: 'block' | 'grid'): AxisExtents['grid'] => [common(of, 0), common(of, 1), common(of, 2)];
  return { block: axes('block'), grid: axes('grid') };
}

/** Maximum number of values of a scalar that the condition of a merged launch lists. */
const maxValues = 64;

/** Condition on the scalars in which launches differ, by their values: `m == 2 || m == 8`, or `m >= 2 && m <= 9`. */
function listedScalars(sites: readonly LaunchSite[], parameters: readonly LaunchParameter[]): AssumptionExpression[] {
  return parameters.flatMap(({ name, type, fields }, index): AssumptionExpression[] => {
    if (fields || integerType(type) === undefined) return [];
    const given = new Set(sites.map(({ scalars }) => scalars.get(index)));
    const values = [...given].filter((value) => typeof value === 'bigint');
    if (given.size < 2 || values.length < given.size || values.length > maxValues) return [];
    const sorted = values.toSorted((a, b) => (a < b ? -1 : 1));
    const [low, high] = [sorted[0]!, sorted.at(-1)!];
    const isRange = values.length > 4 && high - low === BigInt(values.length - 1);
    const scalar = parameter(name);
    const [left, right] = [comparison(scalar, '>=', integer(low)), comparison(scalar, '<=', integer(high))];
    return [{ kind: 'condition', condition: isRange ? { kind: 'and', left, right } : equalsOneOf(scalar, sorted) }];
  });
}
