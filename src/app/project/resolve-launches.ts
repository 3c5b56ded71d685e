import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import { dimensionsIn } from '../../assumptions/parts.ts';
import { printAssumption, printExpression } from '../../assumptions/print-assumption.ts';
import type { Dim3 } from '../../base/dim3.ts';
import { hashText } from '../../base/hash.ts';
import type { Launch, LaunchSource } from '../../launch/launch.ts';
import type { LaunchProperty, LaunchSite, SitePointer } from '../../cuda/launches/launch-site.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Location } from '../../source/location.ts';
import { sharedBytesWithoutOptIn } from '../../device/hardware-limits.ts';
import { sharedBytesBeyondDefault } from '../../launch/shared-memory-limit.ts';
import { dimensionsProblem } from '../../settings/dimensions.ts';
import { scalarPattern, type ScalarValue } from '../../settings/scalar-argument.ts';

/** Settings of a launch that one origin states. Other origins may state the missing ones. */
export interface LaunchSettings {
  readonly block?: Dim3;
  readonly grid?: Dim3;
  readonly cluster?: Dim3;
  readonly sharedBytes?: number;
  readonly cooperative?: boolean;
  /** Scalar arguments by parameter name or `paramN`. */
  readonly args?: ReadonlyMap<string, ScalarValue>;
  readonly location?: Location;
}

/** A launch in the sources. Properties that could not be evaluated are missing. */
export type SiteSettings = LaunchSettings & Partial<LaunchSite> & Pick<LaunchSite, 'location' | 'text' | 'scalars' | 'aliases'>;

export interface LaunchFacts {
  readonly option: LaunchSettings;
  /** Entries of the configuration that match the kernel, in their order. */
  readonly configured: readonly LaunchSettings[];
  readonly annotation?: LaunchSettings;
  readonly sites: readonly SiteSettings[];
}

interface ResolvedLaunches {
  /** At least one launch; all are distinct. */
  readonly launches: readonly Launch[];
  /** Launch sites that no launch represents completely: `proved` does not cover them. */
  readonly notEvaluated: readonly SiteSettings[];
  readonly diagnostics: readonly Diagnostic[];
}

type Layer = LaunchSettings & { readonly source: LaunchSource };

/** Resolves each property of a kernel's launches separately: option, configuration, annotation, sites, `.reqntid`. */
export function resolveLaunches(
  kernel: Kernel,
  name: string,
  parameters: readonly ParameterSource[],
  facts: LaunchFacts,
): ResolvedLaunches {
  const diagnostics: Diagnostic[] = [];
  const layers: Layer[] = [
    { ...facts.option, source: 'option' },
    ...[...facts.configured].reverse().map((settings): Layer => ({ ...settings, source: 'config' })),
    ...(facts.annotation ? [{ ...facts.annotation, source: 'annotation' as const }] : []),
  ];
  const settled = (property: keyof LaunchSettings): boolean => layers.some((layer) => layer[property] !== undefined);

  /**
   * Properties without a symbolic value: the analysis assumes that they are off, so it does not cover a site that may
   * set them.
   */
  const leftOpen = ({ unknown = [] }: SiteSettings): LaunchProperty[] =>
    unknown.filter(
      (property) =>
        (property === 'cooperative' && !settled(property)) || (property === 'cluster' && !settled(property) && !kernel.requiredCluster),
    );

  const usable: SiteSettings[] = [];
  const notEvaluated: SiteSettings[] = [];
  for (const site of facts.sites) {
    const outOfRange = axisProblem('block', site) ?? axisProblem('grid', site);
    const problem = outOfRange ?? (settled('sharedBytes') ? undefined : optInProblem(kernel, site));
    if (problem !== undefined) {
      const message = `The launch ${site.text} of ${name} ${problem}. It always fails, so Selvage does not analyse it.`;
      const code = outOfRange === undefined ? 'launch/refused' : 'launch/out-of-range';
      const fingerprint = hashText([code, name, site.location.file, site.text, problem].join('|'));
      diagnostics.push({ severity: 'error', code, message, location: site.location, fingerprint });
      continue;
    }
    usable.push(site);
    const isUsable = (site.block ?? site.grid) !== undefined || !!site.ties?.length || (settled('block') && settled('grid'));
    if (!isUsable || leftOpen(site).length > 0) notEvaluated.push(site);
  }

  const launches = new Map<string, Launch>();
  for (const site of usable.length > 0 ? usable : [undefined]) {
    const stack: Layer[] = site ? [...layers, { ...site, source: 'launch-site' }] : layers;
    const launch = oneLaunch(kernel, name, parameters, stack, site, diagnostics);
    const key = keyOf(launch);
    if (!launches.has(key)) launches.set(key, launch);
  }
  // A launch without any known property is equivalent to the symbolic one. It is reported if other launches are known.
  const open = notEvaluated.filter((site) => usable.length > notEvaluated.length || leftOpen(site).length > 0);
  for (const site of open) {
    const message =
      leftOpen(site).length > 0
        ? `Selvage cannot evaluate ${leftOpen(site)
            .map((property) => `\`${property}\``)
            .join(' and ')} for the launch ${site.text} of ${name}, and assumes that the launch ${leftOpen(site)
            .map((property) => (property === 'cluster' ? 'has no clusters' : `is not ${property}`))
            .join(' and ')}. State these properties in .selvage.yml.`
        : `Selvage cannot evaluate the launch ${site.text} of ${name}; give --block and --grid, or a comment \`// selvage: block=… grid=…\` above the kernel.`;
    diagnostics.push({ severity: 'notice', code: 'launch/not-evaluated', message, location: site.location });
  }
  return { launches: [...launches.values()], notEvaluated: open, diagnostics };
}

/** Why no device allows the extents of a site, those that are known; undefined if some may. */
function axisProblem(of: 'block' | 'grid', { axes, ...site }: SiteSettings): string | undefined {
  const known = (axis: 0 | 1 | 2): number => {
    const extent = axes?.[of][axis];
    return typeof extent === 'number' ? extent : 1;
  };
  return dimensionsProblem(of, site[of] ?? [known(0), known(1), known(2)]);
}

/** Why a launch needs more shared memory than its kernel may have, as the end of a sentence; undefined if it does not. */
function optInProblem(kernel: Kernel, { keepsAttributes, sharedBytes = 0 }: SiteSettings): string | undefined {
  const bytes = keepsAttributes && sharedBytes > 0 ? sharedBytesBeyondDefault(kernel, sharedBytes) : null;
  if (bytes === null) return undefined;
  return `needs ${bytes} bytes of shared memory in a block, which has at most ${sharedBytesWithoutOptIn} unless the program calls cudaFuncSetAttribute() with cudaFuncAttributeMaxDynamicSharedMemorySize`;
}

function oneLaunch(
  kernel: Kernel,
  name: string,
  parameters: readonly ParameterSource[],
  layers: readonly Layer[],
  site: SiteSettings | undefined,
  diagnostics: Diagnostic[],
): Launch {
  const first = <Property extends 'block' | 'grid' | 'cluster' | 'sharedBytes' | 'cooperative'>(property: Property) =>
    layers.find((layer) => layer[property] !== undefined);
  const blockLayer = first('block');
  const gridLayer = first('grid');
  const { requiredThreads, maximumThreads } = kernel;
  const block = requiredThreads ?? blockLayer?.block ?? null;
  if (requiredThreads && blockLayer?.block && requiredThreads.some((extent, axis) => extent !== blockLayer.block?.[axis])) {
    const message = `${name} requires a block of ${requiredThreads.join(', ')}; a launch with block ${blockLayer.block.join(', ')} fails, so Selvage analyses the required block.`;
    diagnostics.push({ severity: 'error', code: 'launch/block-mismatch', message, ...at(blockLayer.location) });
  }
  const threads = (extents: Dim3): number => extents[0] * extents[1] * extents[2];
  if (block && maximumThreads && threads(block) > threads(maximumThreads)) {
    const message = `${name} is launched with ${threads(block)} threads; its launch bounds allow ${threads(maximumThreads)}, so the launch fails.`;
    diagnostics.push({ severity: 'error', code: 'launch/block-mismatch', message, ...at(blockLayer?.location) });
  }
  const source: LaunchSource = requiredThreads
    ? (gridLayer?.source ?? 'reqntid')
    : (blockLayer?.source ?? gridLayer?.source ?? (site ? 'launch-site' : maximumThreads ? 'launch-bounds' : 'symbolic'));
  const location = layers.find((layer) => layer.source === source)?.location;
  return {
    source,
    block,
    grid: gridLayer?.grid ?? null,
    ...(site?.axes ? { axes: site.axes } : {}),
    ...(site?.startsEarly ? { startsEarly: true } : {}),
    ...(site?.mayOverlap ? { mayOverlap: true } : {}),
    cluster: kernel.requiredCluster ?? first('cluster')?.cluster ?? null,
    sharedBytes: first('sharedBytes')?.sharedBytes ?? null,
    ...(site?.sharedSize && !first('sharedBytes') ? { sharedSize: site.sharedSize } : {}),
    cooperative: first('cooperative')?.cooperative ?? false,
    ...at(location),
    scalars: scalarsOf(kernel, name, parameters, layers, site, diagnostics),
    aliases: site?.aliases ?? [],
    ...nullsOf(site),
    samePointers: site?.samePointers ?? [],
    ...(site?.distances?.length ? { distances: site.distances } : {}),
    ...startsOf(site),
    ...tiesOf(site, layers),
    ...reasonsOf(site, layers),
    ...(site?.parts ? { parts: site.parts } : {}),
    ...contentsOf(kernel, site),
  };
}

/** Parameters to which a site passes null pointers. */
function nullsOf(site: SiteSettings | undefined): Pick<Launch, 'nulls'> {
  const nulls = [...(site?.pointers ?? [])].flatMap(([index, { memory }]) => (memory === 'null' ? [index] : []));
  return nulls.length > 0 ? { nulls } : {};
}

/** Contents of memory at a site that the kernel may read. */
function contentsOf({ objects }: Kernel, site: SiteSettings | undefined): Pick<Launch, 'contents'> {
  const { arrays, variables } = site?.contents ?? {};
  const own = [...(variables ?? [])].filter(([name, { length }]) => {
    const fitting = objects.filter(({ symbol, space }) => (space === 'global' || space === 'const') && objectName(symbol) === name);
    return fitting.length === 1 && fitting[0]!.bytes === length && !fitting[0]!.addresses?.length;
  });
  if (own.length === 0 && !arrays?.size) return {};
  return { contents: { arrays: arrays ?? new Map(), variables: new Map(own) } };
}

/** Why extents are not known, of those that are not stated otherwise. */
function reasonsOf(site: SiteSettings | undefined, layers: readonly Layer[]): Pick<Launch, 'reasons'> {
  const isStated = (property: 'block' | 'grid'): boolean =>
    layers.some((layer) => layer.source !== 'launch-site' && layer[property] !== undefined);
  const reasons = (site?.reasons ?? []).filter((text) => !isStated(text.startsWith('block') ? 'block' : 'grid'));
  return reasons.length > 0 ? { reasons } : {};
}

/**
 * Constraints of a site on dimensions and arguments; a constraint on a dimension is dropped if the dimension is stated
 * otherwise.
 */
function tiesOf(site: SiteSettings | undefined, layers: readonly Layer[]): Pick<Launch, 'ties'> {
  const isStated = (property: 'block' | 'grid'): boolean =>
    layers.some((layer) => layer.source !== 'launch-site' && layer[property] !== undefined);
  const ties = (site?.ties ?? []).flatMap((expression): StatedAssumption[] => {
    const names = dimensionsIn(expression);
    if ((names.has('blockDim') && isStated('block')) || (names.has('gridDim') && isStated('grid'))) return [];
    return [{ expression, text: printAssumption(expression), isOfLaunch: true, ...(site ? { location: site.location } : {}) }];
  });
  return ties.length > 0 ? { ties } : {};
}

function scalarsOf(
  kernel: Kernel,
  name: string,
  parameters: readonly ParameterSource[],
  layers: readonly Layer[],
  site: SiteSettings | undefined,
  diagnostics: Diagnostic[],
): Map<number, bigint> {
  const scalars = new Map<number, bigint>();
  for (const parameter of kernel.parameters) {
    const source = parameters[parameter.index];
    const names = [source?.name, `param${parameter.index}`].filter((candidate) => candidate !== undefined);
    for (const layer of layers) {
      const given = names.map((candidate) => layer.args?.get(candidate)).find((value) => value !== undefined);
      const value = given ?? (layer.source === 'launch-site' ? site?.scalars.get(parameter.index) : undefined);
      if (value === undefined) continue;
      const pattern = scalarPattern(parameter, source?.type, value);
      if (typeof pattern === 'bigint') {
        scalars.set(parameter.index, pattern);
        break;
      }
      if (layer.source === 'launch-site') break;
      const message = `The parameter ${names[0]} of ${name} ${pattern.problem}; the value given is not used.`;
      diagnostics.push({ severity: 'warning', code: 'launch/bad-argument', message, ...at(layer.location) });
      break;
    }
  }
  return scalars;
}

function at(location: Location | undefined): { readonly location?: Location } {
  return location ? { location } : {};
}

/** The pointer parameters that the site passes at known multiples of 16 bytes from the start of their memory. */
function startsOf(site: SiteSettings | undefined): Pick<Launch, 'starts'> {
  const isStart = ({ offset, isTexture }: SitePointer): boolean => offset !== null && offset % 16n === 0n && isTexture !== true;
  const starts = [...(site?.pointers ?? [])].flatMap(([index, pointer]) => (isStart(pointer) ? [index] : []));
  return starts.length > 0 ? { starts: starts.sort((a, b) => a - b) } : {};
}

function keyOf({
  block,
  grid,
  axes,
  startsEarly,
  mayOverlap,
  cluster,
  sharedBytes,
  sharedSize,
  cooperative,
  scalars,
  aliases,
  nulls,
  samePointers,
  distances = [],
  starts = [],
  ties = [],
  contents,
}: Launch): string {
  const values = [...scalars].map(([index, value]) => `${index}=${value}`);
  return JSON.stringify([
    block,
    grid,
    [block ? null : axes?.block, grid ? null : axes?.grid],
    cluster,
    sharedBytes,
    sharedSize ? printExpression(sharedSize) : null,
    cooperative,
    startsEarly,
    mayOverlap,
    values,
    aliases,
    nulls,
    samePointers,
    distances.map(([from, to, bytes]) => [from, to, printExpression(bytes)]),
    starts,
    ties.map(({ text }) => text),
    contents ? [[...contents.arrays], [...contents.variables].map(([name, bytes]) => [name, [...bytes]])] : [],
  ]);
}
