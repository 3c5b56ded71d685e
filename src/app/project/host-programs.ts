/** The launches of kernels in the host programs of a project. */
import { posix } from 'node:path';
import { readHostProgram, type HostLaunch, type HostProgram } from '../../cuda/host/host-program.ts';
import { type HostText, readHostText } from '../../cuda/host/host-text.ts';
import { preprocessPlainly } from '../../cuda/host/plain-preprocessor.ts';
import type { AssumptionExpression, Condition } from '../../cuda/assumptions/assumption.ts';
import { integerType } from '../../cuda/syntax/basic-type.ts';
import type { AxisExtent, AxisExtents } from '../../cuda/launches/extents.ts';
import { canLaunch, canTake } from '../../cuda/launches/kernel-match.ts';
import {
  type LaunchParameter,
  type LaunchSite,
  commonPointers,
  distinctSites,
  sitesOf,
  withoutContents,
  withoutCovered,
} from '../../cuda/launches/launch-site.ts';
import { definesFunction, containsName, mayCall, mayLaunch } from '../../cuda/launches/launch-text.ts';
import { withoutTemplateArguments } from '../../cuda/names/demangle.ts';
import type { KernelName } from '../../cuda/names/kernel-name.ts';
import type { FunctionDeclaration } from '../../cuda/declarations/declarations.ts';
import type { CudaParser } from '../../cuda/syntax/syntax.ts';
import type { SyntaxNode } from '../../cuda/syntax/syntax-tree.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { SiteSettings } from './launches.ts';
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

export type LaunchFinder = (wanted: WantedKernel) => Promise<readonly SiteSettings[]>;

interface Request {
  readonly tree: SourceTree;
  /** Whether files other than the unit may launch its kernels. */
  readonly wholeTree: boolean;
  readonly parser: CudaParser;
  /** The sources that contain a word as an identifier; may include a few others, because words are hashed. */
  readonly mentioning: (word: string) => Promise<readonly string[]>;
  /** Units as nvcc preprocessed them, by path. */
  readonly preprocessed: (unit: string) => string | undefined;
  /** Preprocessed units that were already parsed, by their text. */
  readonly ahead: ReadonlyMap<string, ReadText>;
  /** Macros of files that nvcc did not preprocess, `NAME` or `NAME=VALUE`, by path. */
  readonly definitions: (file: string) => readonly string[];
}

interface Program extends HostProgram {
  readonly host: HostText;
}

/** If a kernel has more launches than this, a launch is omitted if another launch at the same location covers it. */
const maxTold = 8;

/** Whether a kernel is a template instance with a type argument: `reduce<double, 128>`. */
function isOfTypes(qualified: string): boolean {
  return /[A-Za-z_]/.test((/<([^]*)>/.exec(qualified)?.[1] ?? '').replaceAll(/\b(?:true|false)\b/g, ''));
}

/**
 * A launch without sizes and contents of arrays. In a templated host program they belong to one element type, which
 * need not be the type of this instance.
 */
function withoutExtents(site: LaunchSite): LaunchSite {
  const plain = withoutContents(site);
  return { ...plain, ties: plain.ties.filter(({ kind }) => kind !== 'extent') };
}

/** If a kernel has more launches than this, launches are merged; properties in which they differ become unspecified. */
const maxLaunches = 24;

/** A program that calls a function, and the launches that the call reaches. */
interface Called {
  readonly program: Program;
  readonly launches: readonly HostLaunch[];
}

/** Finds launches. Each host program is parsed once, when it may launch one of the kernels. */
export function launchFinder(request: Request): LaunchFinder {
  const { tree, wholeTree } = request;
  const programs = new Map<string, Program>();
  const texts = new Map<string, ReadText>();
  const callers = new Map<FunctionDeclaration, Promise<readonly Called[]>>();
  const mentions = fileMentions(tree);
  /** Launch sites by launch and by parameter list, which all instances of a template share. */
  const said = new WeakMap<HostLaunch, Map<string, readonly LaunchSite[]>>();
  const sourceTextOf = (file: string): ReadText => {
    const found = texts.get(file) ?? readText(file, request);
    texts.set(file, found);
    return found;
  };
  const programOf = (file: string, wanted: ReadonlySet<string> = new Set()): Program => {
    const key = `${file}|${[...wanted].join()}`;
    const found = programs.get(key) ?? readProgram(file, sourceTextOf(file), wanted);
    programs.set(key, found);
    return found;
  };
  const others = async (unit: string, word: string): Promise<string[]> => {
    if (!wholeTree) return [];
    const files = await request.mentioning(word);
    return files.filter((file) => file !== unit && containsName(tree.text(file) ?? '', word));
  };
  return async (wanted) => {
    const { kernel, name, unit } = wanted;
    const parameters = parametersOf(wanted);
    const simple = simpleName(name.qualified);
    const own = programOf(unit);
    const found: { launch: HostLaunch; program: Program }[] = [];
    const ofKernel = (launch: HostLaunch): boolean => isOf(launch, own, wanted);
    for (const launch of own.launches) if (ofKernel(launch)) found.push({ launch, program: own });
    const isInternal = (own.declarations.functions.get(simple) ?? []).some((one) => one.isKernel && one.isInternal);

    // Functions of the unit that launch the kernel and that other files may call.
    for (const entry of new Set(found.map(({ launch }) => launch.entry))) {
      if (!own.entries.includes(entry)) continue;
      const known = callers.get(entry) ?? callersOf(entry, unit);
      callers.set(entry, known);
      const called = (await known).flatMap(({ program, launches }) => launches.filter(ofKernel).map((launch) => ({ launch, program }))); // oxfmt-ignore
      if (called.length === 0) continue;
      const rest = found.filter(({ launch }) => launch.entry !== entry);
      found.splice(0, found.length, ...rest, ...called.map(({ launch }) => ({ launch, program: own })));
    }
    // Functions of the unit that are called both by the unit and by other files.
    for (const entry of found.length > 0 && wholeTree ? own.shared : []) {
      const known = callers.get(entry) ?? callersOf(entry, unit);
      callers.set(entry, known);
      for (const { launches } of await known) for (const launch of launches) if (ofKernel(launch)) found.push({ launch, program: own }); // oxfmt-ignore
    }
    if (!isInternal) {
      const mentioned = await others(unit, simple);
      const isNear = (file: string): boolean => posix.dirname(file) === posix.dirname(unit);
      const seeing = mentioned.filter((file) => seesKernel(file, simple, mentioned, wanted, tree, mentions));
      // If another file defines a kernel of the same name, only programs in the folder of the unit refer to this
      // kernel.
      let isDefinedElsewhere = mentioned.some((file) => !seeing.includes(file) && definesKernel(tree.text(file) ?? '', simple)); // oxfmt-ignore
      const launchesOf = (file: string): { launch: HostLaunch; program: Program }[] => {
        const program = programOf(file);
        const definition = program.declarations.functions.get(simple)?.find(({ isKernel, body }) => isKernel && body);
        const place = definition && program.host.locate(definition.node.start);
        if (place !== undefined && place.file !== kernel.location?.file) {
          isDefinedElsewhere = true;
          return [];
        }
        const declared = (program.declarations.functions.get(simple) ?? []).some((one) => one.isKernel && one.parameters.length === kernel.parameters.length); // oxfmt-ignore
        const isMeant = ({ isByName }: HostLaunch): boolean =>
          declared || (isByName && namesUnit(program, unit) && isNearest(tree, file, unit));
        return program.launches.filter((launch) => isOf(launch, program, wanted) && isMeant(launch)).map((launch) => ({ launch, program })); // oxfmt-ignore
      };
      const launches = new Map(seeing.filter(isNear).map((file) => [file, launchesOf(file)]));
      // Programs in other folders come last, and only if no other file defines the kernel: parsing a program is far
      // more expensive than finding its name.
      for (const file of seeing) {
        if (isDefinedElsewhere) break;
        if (!isNear(file)) launches.set(file, launchesOf(file));
      }
      for (const file of seeing) if (!isDefinedElsewhere || isNear(file)) found.push(...(launches.get(file) ?? []));
    }
    const ofParameters = JSON.stringify(parameters);
    const sites = found.flatMap(({ launch, program }) => {
      const known = said.get(launch) ?? new Map<string, readonly LaunchSite[]>();
      const sites = known.get(ofParameters) ?? sitesOf(launch, program.host.locate(launch.node.start), parameters);
      said.set(launch, known.set(ofParameters, sites));
      return isOfTypes(name.qualified) ? sites.map(withoutExtents) : sites;
    });
    return fewer(distinctSites(sites), parameters).map(settingsOf);
  };

  /** The launches that are reached by calls of a function from other files. */
  async function callersOf(entry: FunctionDeclaration, unit: string): Promise<Called[]> {
    const own = programOf(unit);
    const results: Called[] = [];
    const definition = own.host.locate(entry.node.start).file;
    const isShared = own.shared.includes(entry);
    const isNear = (file: string): boolean => posix.dirname(file) === posix.dirname(unit);
    const files = (await others(unit, entry.name)).map((file) => ({ file, text: tree.text(file) ?? '' }));
    const isOwn = ({ file, text }: (typeof files)[number]): boolean =>
      file !== definition && definesFunction(text, entry.name);
    // If other programs define a function of the same name, they call their own definition.
    let isElsewhere = !isShared && files.some(isOwn);
    const callers: { file: string; program: Program }[] = [];
    for (const one of files) {
      const { file, text } = one;
      // Most files only mention the name, or define another function with it. Both are detected without parsing the
      // program.
      if (!mayCall(text, entry.name) || (isShared && isOwn(one)) || (isElsewhere && !isNear(file))) continue;
      const program = programOf(file, new Set([entry.name]));
      const hasOwn = (program.declarations.functions.get(entry.name) ?? []).some(
        ({ body, node }) => body && program.host.locate(node.start).file !== definition,
      );
      if (hasOwn) isElsewhere = true;
      else if (text.includes(entry.name)) callers.push({ file, program });
    }
    for (const { file, program } of callers) {
      if (isElsewhere && !isNear(file)) continue;
      for (const call of program.calls) {
        if (call.name !== entry.name || call.arguments.length > entry.parameters.length) continue;
        if (!call.declared.some((one) => mayBeOne(one, entry))) continue;
        results.push({ program, launches: own.launchesOf(entry, call.arguments, call.facts) });
      }
    }
    return results;
  }
}

/**
 * Whether two declarations with the same name may denote the same function: free functions must be in the same
 * namespace.
 */
function mayBeOne(
  a: Pick<FunctionDeclaration, 'path' | 'record'>,
  b: Pick<FunctionDeclaration, 'path' | 'record'>,
): boolean {
  return a.record !== undefined || b.record !== undefined || a.path.join('::') === b.path.join('::');
}

/** Whether a launch launches a given kernel, by name, template arguments and number of arguments. */
function isOf(launch: HostLaunch, { declarations }: Program, { kernel, name }: WantedKernel): boolean {
  const given = launch.arguments;
  if (given !== undefined && given.length > kernel.parameters.length) return false;
  if (launch.isByName) return launch.kernel.name === kernel.symbol || launch.kernel.name === simpleName(name.qualified);
  if (!canLaunch(launch.kernel, name.qualified) || !canTake(launch.argumentTypes, name.parameters)) return false;
  // An unqualified name refers to declarations in the namespaces around the launch, or to those imported by `using`.
  const full = withoutTemplateArguments(name.qualified.replaceAll('(anonymous namespace)::', ''));
  const paths = (declarations.functions.get(simpleName(name.qualified)) ?? []).filter(({ isKernel }) => isKernel).map(({ path }) => path.join('::')); // oxfmt-ignore
  if (!launch.kernel.name.includes('::'))
    for (let count = launch.path.length; count > 0; count--) {
      const around = launch.path.slice(0, count).join('::');
      if (paths.includes(around)) return `${around}::${launch.kernel.name}` === full;
    }
  const isVisible = launch.path.concat('').some((_, at) => [...launch.path.slice(0, at), launch.kernel.name].join('::') === full); // oxfmt-ignore
  return isVisible || launch.kernel.name === full || declarations.hasUsing;
}

/**
 * Whether a program names the file of a unit, as a source or in compiled form: `"scan_kernel.ptx"`,
 * `"scan_kernel64.fatbin"`.
 */
function namesUnit({ declarations }: Program, unit: string): boolean {
  const stem = posix
    .basename(unit)
    .replace(/\.\w+$/, '')
    .replace(/\W/g, '.');
  return new RegExp(`"(?:[^"\\n]*\\/)?${stem}\\w*\\.(?:cu|ptx|cubin|fatbin|ltoir|o)"`).test(declarations.text);
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
  { kernel, unit }: WantedKernel,
  tree: SourceTree,
  mentions: FileMentions,
): boolean {
  const text = tree.text(file) ?? '';
  if (!mayLaunch(text) && !/\bcu\w+|cudaGraph/.test(text)) return false;
  if (definesKernel(text, name)) return kernel.location?.file === file;
  if (new RegExp(`__global__[^;{}]*\\b${name}\\s*\\(`).test(text) || text.includes(`"${name}"`) || text.includes(`"${kernel.symbol}"`)) return true; // oxfmt-ignore
  const declaring = [unit, kernel.location?.file ?? unit, ...mentioned.filter((other) => /__global__/.test(tree.text(other) ?? ''))]; // oxfmt-ignore
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

/** A parsed host program. */
export interface ReadText {
  readonly host: HostText;
  readonly root: SyntaxNode;
}

function readText(file: string, { tree, parser, preprocessed, ahead, definitions }: Request): ReadText {
  const unit = preprocessed(file);
  const known = unit === undefined ? undefined : ahead.get(unit);
  if (known) return known;
  const resolve = resolverOf(tree);
  const own = unit ?? preprocessPlainly({ file, text: tree.text, resolve, definitions: definitions(file) });
  return readPreprocessed(own, parser);
}

/** Parses the project's part of a preprocessed unit. */
export function readPreprocessed(own: string, parser: CudaParser): ReadText {
  const host = readHostText(own);
  return { host, root: parser.treeOf(host.text) };
}

function readProgram(file: string, { host, root }: ReadText, wanted: ReadonlySet<string>): Program {
  return { ...readHostProgram(file, host.text, root, wanted), host };
}

/** Resolves an include: the file in the same folder, otherwise the only one whose path ends with it. */
function resolverOf(tree: SourceTree): (from: string, written: string, isSystem: boolean) => string | undefined {
  return (from, written, isSystem) => {
    const beside = posix.normalize(posix.join(posix.dirname(from), written));
    if (!isSystem && tree.text(beside) !== undefined) return beside;
    const end = written.replace(/^(?:\.{1,2}\/)+/, '');
    const fitting = tree.sources().filter((path) => path === end || path.endsWith(`/${end}`));
    return fitting.length === 1 ? fitting[0] : undefined;
  };
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
  const groups = new Map<string, LaunchSite[]>();
  for (const site of sites) {
    const { location, block, cluster, cooperative, startsEarly, aliases, samePointers, distances, unknown } = site;
    const key = JSON.stringify([location.file, location.line, block ?? null, cluster ?? null, cooperative ?? null, startsEarly ?? null, aliases, samePointers, distances, unknown]); // oxfmt-ignore
    const group = groups.get(key);
    if (group) group.push(site);
    else groups.set(key, [site]);
  }
  const shown = [...groups.values()].flatMap((group) => group.slice(0, maxShown));
  const merged = [...groups.values()].map((group): LaunchSite => {
    const [first, ...rest] = group;
    const { grid, sharedBytes, ...common } = first!;
    const same = <Value>(value: (site: LaunchSite) => Value): boolean =>
      rest.every((site) => JSON.stringify(value(site)) === JSON.stringify(value(first!)));
    const text = (value: unknown): string => JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)); // oxfmt-ignore
    const contents = (site: LaunchSite): unknown => [[...site.contents.arrays], [...site.contents.variables]];
    return {
      ...common,
      contents: same(contents) ? common.contents : withoutContents(first!).contents,
      axes: commonAxes(group),
      ...(grid && same((site) => site.grid) ? { grid } : {}),
      ...(sharedBytes !== undefined && same((site) => site.sharedBytes) ? { sharedBytes } : {}),
      scalars: new Map(
        [...common.scalars].filter(([index, value]) => rest.every((site) => site.scalars.get(index) === value)),
      ),
      pointers: commonPointers([first!, ...rest]),
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
    const is = (operator: '==' | '>=' | '<=') => (value: bigint): Condition => ({ kind: 'comparison', operator, left: { kind: 'parameter', path: [name] }, right: { kind: 'integer', value } }); // oxfmt-ignore
    const sorted = values.toSorted((a, b) => (a < b ? -1 : 1));
    const [low, high] = [sorted[0]!, sorted.at(-1)!];
    if (values.length > 4 && high - low === BigInt(values.length - 1))
      return [{ kind: 'condition', condition: { kind: 'and', left: is('>=')(low), right: is('<=')(high) } }];
    const [first, ...rest] = sorted.map(is('=='));
    return [{ kind: 'condition', condition: rest.reduce((left, right): Condition => ({ kind: 'or', left, right }), first!) }]; // oxfmt-ignore
  });
}

/** Settings of a launch from a site. Unknown properties are missing and have no default. */
function settingsOf(site: LaunchSite): SiteSettings {
  const { text, location, block, grid, axes, startsEarly, cluster, sharedBytes, cooperative, scalars, aliases, samePointers, distances, pointers, unknown, ties, contents, parts } = site; // oxfmt-ignore
  return {
    text,
    location,
    unknown,
    ...(cooperative === undefined ? {} : { cooperative }),
    ...(block ? { block } : {}),
    ...(grid ? { grid } : {}),
    axes,
    ...(startsEarly ? { startsEarly } : {}),
    ...(cluster ? { cluster } : {}),
    ...(sharedBytes === undefined ? {} : { sharedBytes }),
    scalars,
    aliases,
    samePointers,
    distances,
    pointers,
    ties,
    contents,
    ...(parts ? { parts } : {}),
  };
}
