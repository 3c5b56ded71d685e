/** Groups instances of a template whose reports are identical, so that they are reported once. */
import { grouped } from '../base/grouped.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { DivergenceReport, RaceReport } from './finding.ts';
import type { KernelFindingGroups } from './finding-group.ts';
import type { KernelReport, LaunchReport } from './report.ts';

/** Maximum number of instances of a template that are still reported separately. */
const fewInstances = 2;

/** Kernels that are reported together. */
export interface InstanceGroup {
  readonly kernels: readonly [KernelReport, ...KernelReport[]];
  /** Name of the template, `reduce`, if there are several kernels; otherwise the name of the kernel. */
  readonly name: string;
  /** Distinct template arguments of the kernels: `<float, 128>`; empty for a single kernel. */
  readonly instances: readonly string[];
}

/** The parts of the full name of an instance of a template. */
interface InstanceName {
  /** Qualified name of the template: `ns::reduce`. */
  readonly template: string;
  /** Template arguments: `<float, 128>`. */
  readonly instance: string;
  /** Qualified name of the instance: `ns::reduce<float, 128>`. */
  readonly qualified: string;
}

/** Splits the full name of a kernel; undefined if it is not an instance of a template. */
export function instanceName(name: string): InstanceName | undefined {
  const qualified = withoutParameters(name);
  const open = openingBracket(qualified);
  if (open <= 0) return undefined;
  return { template: qualified.slice(0, open), instance: qualified.slice(open), qualified };
}

/** A kernel name without the parameter list at its end. */
function withoutParameters(name: string): string {
  if (!name.endsWith(')')) return name;
  let depth = 0;
  for (let at = name.length - 1; at >= 0; at -= 1) {
    if (name[at] === ')') depth += 1;
    if (name[at] === '(') depth -= 1;
    if (depth === 0) return name.slice(0, at);
  }
  return name;
}

/** Offset of the template arguments at the end of a name; -1 if none exist. */
function openingBracket(name: string): number {
  if (!name.endsWith('>')) return -1;
  let depth = 0;
  for (let at = name.length - 1; at >= 0; at -= 1) {
    // A `>` after `-` is an arrow operator in an expression, not a bracket.
    if (name[at] === '>' && name[at - 1] !== '-') depth += 1;
    if (name[at] === '<') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

/**
 * Groups instances of one template with the same verdicts and reasons, launches, assumptions, repairs, and findings. A
 * small number of instances is not merged.
 * @param toldOf - finding groups of each kernel
 * @returns groups in the order of their first kernels
 */
export function instanceGroups(kernels: readonly KernelReport[], toldOf: (kernel: KernelReport) => KernelFindingGroups): InstanceGroup[] {
  const groups = grouped(kernels, (kernel, index) => {
    // Reports of costs only are not merged: they list the costs of each instance.
    const name = kernel.race.verdict === 'skipped' && kernel.cost ? undefined : instanceName(kernel.name);
    return name ? sameness(kernel, name, toldOf(kernel)) : String(index);
  });
  const result = [...groups.values()].flatMap((members): { group: InstanceGroup; first: number }[] => {
    if (members.length <= fewInstances) return members.map((kernel) => ({ group: aloneInGroup(kernel), first: kernels.indexOf(kernel) }));
    const names = members.map(({ name }) => instanceName(name)!);
    const group = { kernels: members, name: names[0]!.template, instances: names.map(({ instance }) => instance) };
    return [{ group, first: kernels.indexOf(members[0]) }];
  });
  return result.sort((a, b) => a.first - b.first).map(({ group }) => group);
}

/** One kernel, reported separately. */
export function aloneInGroup(kernel: KernelReport): InstanceGroup {
  return { kernels: [kernel], name: kernel.name, instances: [] };
}

/**
 * Findings of the instances of a group, separated into those reported at its kernels and those reported at other
 * kernels.
 */
export function findingsOfInstances(
  { kernels }: InstanceGroup,
  toldOf: (kernel: KernelReport) => KernelFindingGroups,
): KernelFindingGroups {
  const all = kernels.map(toldOf);
  const here = all.flatMap((told) => told.here);
  const outside = all.flatMap((told) => told.elsewhere).filter((group) => !here.includes(group));
  return { here, elsewhere: [...new Set(outside)] };
}

function sameness(kernel: KernelReport, { template }: InstanceName, { here, elsewhere }: KernelFindingGroups): string {
  const { location, arch, race, divergence, repair, launches } = kernel;
  const verdictOf = ({ verdict, reason, wouldDecide, assumptions }: RaceReport | DivergenceReport): unknown => [
    verdict,
    reason,
    wouldDecide,
    assumptions?.map(({ kind, text }) => [kind, text]),
  ];
  const launchOf = ({ source, block, grid, cluster, sharedBytes, cooperative, location: at }: LaunchReport): unknown => [
    source,
    block,
    grid,
    cluster,
    sharedBytes,
    cooperative,
    at,
  ];
  const told = [...here, ...elsewhere].map(({ fingerprints }) => fingerprints.join()).sort();
  return JSON.stringify([
    template,
    location?.file,
    location?.line,
    arch,
    verdictOf(race),
    verdictOf(divergence),
    repair,
    launches.map(launchOf),
    told,
  ]);
}

/** Merges diagnostics that differ only in the instance names of a template. */
export function dedupeByTemplate(diagnostics: readonly Diagnostic[], kernels: readonly Pick<KernelReport, 'name'>[]): Diagnostic[] {
  const names = new Map<string, InstanceName>();
  for (const { name } of kernels) {
    const instance = instanceName(name);
    if (instance) names.set(instance.qualified, instance);
  }
  if (names.size <= fewInstances) return [...diagnostics];
  const longest = [...names.values()].sort((a, b) => b.qualified.length - a.qualified.length);
  const groups = grouped(diagnostics, (diagnostic, index) => {
    const named = longest.find(({ qualified }) => diagnostic.message.includes(qualified));
    const text = named && diagnostic.message.replaceAll(named.qualified, `${named.template}<…>`);
    const { fingerprint: _, ...rest } = diagnostic;
    return text === undefined ? String(index) : JSON.stringify({ ...rest, message: text });
  });
  return [...groups].flatMap(([key, members]) => {
    if (members.length <= fewInstances) return members;
    const told = JSON.parse(key) as Diagnostic;
    const fingerprint = members.find((one) => one.fingerprint !== undefined)?.fingerprint;
    const named = fingerprint === undefined ? told : { ...told, fingerprint };
    return [{ ...named, message: `${told.message} This applies to ${members.length} instances of the template.` }];
  });
}
