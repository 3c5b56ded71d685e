/** The table of the suite of samples: the results of its units. */
import { quantile } from '../bench/measure.ts';

export interface SampleFinding {
  readonly code: string;
  readonly severity: string;
  /** Origin of the launch of its witness: `given` or `chosen`. */
  readonly origin?: string;
  /** `FILE:LINE[,LINE]…`, with spaces between files. */
  readonly lines: string;
  readonly text: string;
}

/** An instance of a kernel in a unit. */
export interface SampleKernel {
  readonly name: string;
  /** `FILE:LINE NAME`, the same for all instances of a template. */
  readonly definition: string;
  /** Defined in the checkout. */
  readonly isOwn: boolean;
  readonly race: string;
  readonly divergence: string;
  readonly reasons: readonly string[];
  readonly preconditions: readonly string[];
  /** Errors and warnings. */
  readonly findings: readonly SampleFinding[];
  readonly launches: readonly { readonly source: string; readonly block: Known; readonly grid: Known }[];
  /** Launch sites that were used: `FILE:LINE`. */
  readonly sites: readonly string[];
  /** Those of other samples. */
  readonly foreign: readonly string[];
}

/** How a launch is known: as numbers, by the kernel's arguments, or not. */
type Known = 'given' | 'tied' | 'open';

export interface SampleUnit {
  readonly unit: string;
  readonly sample: string;
  readonly outcome: 'checked' | 'defect' | 'failed' | 'out of time' | 'not compiled' | 'no kernels';
  readonly message?: string;
  /** Names of the kernels that it defines, as the PTX of nvcc has them. */
  readonly entries: readonly string[];
  readonly kernels: readonly SampleKernel[];
  /** Errors and warnings that no kernel has. */
  readonly diagnostics: readonly SampleFinding[];
  /** Seconds of the check with its children, and of `nvcc -ptx` on the same file. */
  readonly cpu?: number;
  readonly wall?: number;
  readonly nvccCpu?: number;
  readonly nvccWall?: number;
}

/** All instances of a kernel. */
interface Definition {
  readonly name: string;
  readonly instances: readonly SampleKernel[];
  readonly rank: number;
}

/** Worst last. */
const ranks = ['proved', 'proved under preconditions', 'possible', 'unknown', 'race', 'divergent', 'not checked'];
const dearestUnits = 10;

function rankOf({ race, divergence, preconditions }: SampleKernel): number {
  if (race === 'proved' && divergence === 'proved') return preconditions.length > 0 ? 1 : 0;
  return Math.max(...[race, divergence].map((verdict) => Math.max(2, ranks.indexOf(verdict))));
}

function definitionsOf(units: readonly SampleUnit[]): Definition[] {
  const table = new Map<string, SampleKernel[]>();
  for (const { kernels } of units)
    for (const kernel of kernels) if (kernel.isOwn) table.set(kernel.definition, [...(table.get(kernel.definition) ?? []), kernel]);
  const checked = [...table].map(([name, instances]) => ({
    name,
    instances,
    rank: Math.max(...instances.map(rankOf)),
  }));
  const lost = units.flatMap(({ unit, outcome, kernels, entries }) =>
    outcome !== 'no kernels' && outcome !== 'not compiled' && kernels.length === 0
      ? entries.map((entry) => ({ name: `${unit} ${entry}`, instances: [], rank: ranks.indexOf('not checked') }))
      : [],
  );
  return [...checked, ...lost];
}

/** Class of the launches of a kernel, by the known dimensions. */
function launchClass({ instances }: Definition): string {
  const launches = instances.flatMap((instance) => instance.launches);
  const isFrom = (source: string): boolean => launches.some((launch) => launch.source === source);
  if (launches.length === 0) return 'not checked';
  if (!isFrom('launch-site')) return 'no launch found';
  const open = launches.filter(({ block, grid }) => block === 'open' || grid === 'open');
  if (open.length > 0)
    return open.some(({ source }) => source === 'launch-site') ? 'launch found, block or grid open' : 'an instance without launch';
  return launches.every(({ block, grid }) => block === 'given' && grid === 'given') ? 'launch known' : 'launch tied';
}

/** A reason without numbers and names, so that the same one of other kernels has the same text. */
function withoutNames(reason: string): string {
  return reason
    .replaceAll(/\S+\.(?:cu|cuh|h|hpp|cpp|inl):?(?:\d+)?/g, 'FILE')
    .replaceAll(/`[^`]*`/g, '`…`')
    .replaceAll(/\b\d+\b/g, 'N')
    .replaceAll(/(?<=lines? )N(?:, N)*(?: and N)?/g, 'N')
    .replaceAll(/\b[A-Za-z_]\w*\[[^\]]*\]/g, 'A[…]');
}

function reasonOf({ instances, rank }: Definition): string {
  if (instances.length === 0) return 'not checked';
  const worst = instances.filter((instance) => rankOf(instance) === rank);
  if (rank >= ranks.indexOf('race')) {
    const codes = worst.flatMap(({ findings }) =>
      findings.map(({ code, severity, origin }) => `${severity} ${code}${origin === undefined || origin === '' ? '' : ` (${origin})`}`),
    );
    return `${ranks[rank]}: ${[...new Set(codes)].sort().join(', ') || 'reported as notices'}`;
  }
  return `${ranks[rank]}: ${withoutNames(worst[0]!.reasons[0] ?? '')}`;
}

function shortName({ name }: Definition): string {
  const [place = '', kernel = ''] = name.split(' ');
  return `${kernel} (${place.replace(/^.*\/([^/]+\/[^/]+)$/, '$1')})`;
}

function grouped<T>(items: readonly T[], keyOf: (item: T) => string): [string, T[]][] {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups].sort(([a, left], [b, right]) => right.length - left.length || (a < b ? -1 : 1));
}

/** Distinct findings: instances of a template and units that share a header show one more than once. */
function distinct(findings: readonly SampleFinding[]): SampleFinding[] {
  return [...new Map(findings.map((finding) => [`${finding.code} ${finding.severity} ${finding.lines}`, finding])).values()];
}

export function sampleTable(units: readonly SampleUnit[]): string {
  const lines: string[] = [];
  const addLine = (line = ''): void => void lines.push(line);
  const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
  const tried = units.filter(({ outcome }) => outcome !== 'not compiled' && outcome !== 'no kernels');
  addLine(`units: ${units.length}, ${tried.length} of them compile and have kernels`);
  for (const [outcome, list] of grouped(units, (unit) => unit.outcome)) {
    addLine(`  ${outcome}: ${list.length}`);
    if (outcome !== 'checked' && outcome !== 'no kernels' && outcome !== 'not compiled')
      for (const { unit, message = '' } of list) addLine(`    ${unit} ${message}`);
  }

  const definitions = definitionsOf(tried);
  const instances = tried.flatMap(({ kernels }) => kernels);
  const own = instances.filter(({ isOwn }) => isOwn);
  addLine(
    `\nkernels: ${definitions.length} defined in the checkout, ${own.length} instances; ${instances.length - own.length} instances of others`,
  );
  for (const [rank, name] of ranks.entries()) {
    const count = definitions.filter((one) => one.rank === rank).length;
    addLine(`  ${name}: ${count} (${percent(count, definitions.length)})`);
  }
  const proved = definitions.filter(({ rank }) => rank <= 1).length;
  addLine(`  fully proved, with and without preconditions: ${percent(proved, definitions.length)}`);

  addLine('\nlaunches of all kernels');
  for (const [name, list] of grouped(definitions, launchClass))
    addLine(`  ${name}: ${list.length}, ${list.filter(({ rank }) => rank <= 1).length} of them proved`);

  const told = distinct([...own.flatMap(({ findings }) => findings), ...tried.flatMap(({ diagnostics }) => diagnostics)]);
  const all = own.flatMap(({ findings }) => findings).length;
  addLine(
    `\nfindings: ${told.length} errors and warnings, ${percent(told.length, definitions.length).replace(' %', '')} per 100 kernels, ${percent(all, own.length).replace(' %', '')} per 100 instances`,
  );
  for (const { code, severity, origin, lines: places, text } of told)
    addLine(`  ${severity} ${code}${origin === undefined || origin === '' ? '' : ` (${origin})`} ${places}: ${text}`);

  const open = definitions.filter(({ rank }) => rank > 1);
  addLine(`\nlaunches of kernels that are not proved: ${open.length}`);
  for (const [name, list] of grouped(open, launchClass)) addLine(`  ${name}: ${list.length}: ${list.map(shortName).join(', ')}`);
  addLine('\nreasons');
  for (const [reason, list] of grouped(open, reasonOf)) {
    addLine(`  ${list.length}: ${reason}`);
    for (const [name, part] of grouped(list, launchClass)) addLine(`      ${name}: ${part.map(shortName).join(', ')}`);
  }

  const foreign = tried.flatMap(({ unit, kernels }) =>
    kernels.flatMap(({ name, foreign: places }) => places.map((place) => `${unit}: ${name} uses ${place}`)),
  );
  addLine(`\nlaunches of other samples that were used: ${new Set(foreign).size}`);
  for (const line of new Set(foreign)) addLine(`  ${line}`);

  const timed = tried.filter(({ cpu, nvccCpu }) => cpu !== undefined && nvccCpu !== undefined);
  const ratios = timed.map(({ cpu, nvccCpu }) => cpu! / nvccCpu!);
  const walls = timed.map(({ wall, nvccWall }) => wall! / nvccWall!);
  const figures = (list: readonly number[]): string => [0.5, 0.9, 1].map((share) => quantile(list, share).toFixed(1)).join(', ');
  addLine(`\nCPU against nvcc -ptx: median, 90th percentile, worst: ${figures(ratios)}; wall: ${figures(walls)}`);
  addLine('slowest units (seconds of CPU, of nvcc)');
  for (const { unit, cpu, nvccCpu, outcome } of timed.toSorted((a, b) => b.cpu! - a.cpu!).slice(0, dearestUnits))
    addLine(`  ${cpu!.toFixed(1)} ${nvccCpu!.toFixed(1)} ${unit}${outcome === 'checked' ? '' : ` (${outcome})`}`);
  return `${lines.join('\n')}\n`;
}
