import type { AffectedUnits } from './change-request.ts';
import type { ChangeRequest, ChangeSide } from './change-request.ts';
import { resolve } from 'node:path';
import { namesLaunchedIn } from '../../cuda/launches/launch-scan.ts';
import type { FileDiff } from '../../source/diff.ts';
import { includingUnits } from '../project/include-graph.ts';
import { passes, type Unit } from '../project/input-files.ts';
import { optionDefaults } from '../../settings/defaults.ts';
import { configurationName } from '../../settings/options.ts';
import type { NotAnalysed } from '../../report-model/report.ts';
import { isHeader, isSource, isUnit } from '../project/source-tree.ts';

const deviceText = /__(?:global|device|shared)__/;

/**
 * The units whose kernels a change can affect: changed ones, those that include a changed header, those that define a
 * kernel whose launches change, and all if the configuration changes.
 */
export async function affectedUnits({ base, head, diff, paths = [] }: ChangeRequest): Promise<AffectedUnits> {
  const filter = head.settings.configuration.paths;
  const isAsked = (path: string): boolean => paths.length === 0 || paths.some((own) => path === own || path.startsWith(`${own}/`));
  const wanted = (path: string): boolean => passes(path, filter) && isAsked(path);
  const renamed = new Map(diff.flatMap(({ path, previousPath }) => (previousPath === undefined ? [] : [[path, previousPath] as const])));
  const afterPaths = diff.filter(({ status }) => status !== 'removed').map(({ path }) => path);
  const beforePaths = diff.filter(({ status }) => status !== 'added').map(({ path, previousPath }) => previousPath ?? path);

  const units = new Set(afterPaths.filter(isUnit));
  const removed = diff.filter(({ path, status }) => status === 'removed' && isUnit(path)).map(({ path }) => path);
  const notAnalysed: NotAnalysed[] = [];
  const ofConfiguration = configurationChanged(diff, base, head) ? head.project.tree.sources().filter(isUnit) : [];
  for (const path of ofConfiguration) units.add(path);

  const headers = afterPaths.filter(isHeader);
  const reached = headers.length > 0 ? includingUnits(head.project.tree, headers) : new Map<string, string[]>();
  const candidates = new Map<string, Set<string>>();
  for (const [header, including] of reached) {
    for (const unit of including) candidates.set(unit, (candidates.get(unit) ?? new Set()).add(header));
    if (including.length > 0 || !isCuda(head)(header) || !wanted(header)) continue;
    notAnalysed.push({ what: header, reason: 'no .cu file includes this header', location: { file: header, line: 1 } });
  }
  await Promise.all(
    [...candidates].map(async ([path, through]) => {
      if (units.has(path) || !wanted(path)) return;
      if (await reallyIncludes(head, path, through)) units.add(path);
    }),
  );
  const launched = launchedUnits(base, head, beforePaths, afterPaths);
  for (const path of launched) units.add(path);

  const isLeftOut = (path: string): boolean => isAsked(path) && !passes(path, filter);
  const affected = [...afterPaths.filter(isCuda(head)), ...candidates.keys(), ...launched];
  const excluded = [...new Set([...affected, ...ofConfiguration])].filter(isLeftOut).sort();
  for (const path of excluded) {
    // Of the units that only the configuration affects, those that it leaves out are not listed.
    if (!affected.includes(path) || !passes(renamed.get(path) ?? path, base.settings.configuration.paths)) continue;
    const setting = passes(path, { ...filter, include: [] }) ? 'paths.include' : 'paths.exclude';
    notAnalysed.push({
      what: path,
      reason: `${setting} of this change leaves it out`,
      location: { file: path, line: 1 },
    });
  }

  const kept = [...units].filter(wanted).sort();
  const before = [...kept.map((path) => renamed.get(path) ?? path), ...removed.filter(wanted)];
  const known = new Set(base.project.tree.sources());
  return {
    base: [...new Set(before)].filter((path) => known.has(path)).map((path) => unitOf(base, path)),
    head: kept.map((path) => unitOf(head, path)),
    renamed,
    notAnalysed,
    excluded,
  };
}

/** Whether a file is a unit, or a header with device code. */
function isCuda({ project: { tree } }: ChangeSide): (path: string) => boolean {
  return (path) => isUnit(path) || path.endsWith('.cuh') || (isHeader(path) && deviceText.test(tree.text(path) ?? ''));
}

function unitOf({ project: { tree } }: ChangeSide, path: string): Unit {
  return { kind: 'cuda', path, file: resolve(tree.root, path) };
}

/** Queries the compiler; if it fails, the text decides. */
async function reallyIncludes({ project: { builder, tree }, settings }: ChangeSide, path: string, headers: ReadonlySet<string>) {
  const unit: Unit = { kind: 'cuda', path, file: resolve(tree.root, path) };
  const files = await builder.dependencies(unit, settings.options.arch[0] ?? optionDefaults.arch);
  return files.length === 0 || files.some((file) => headers.has(file));
}

function configurationChanged(diff: readonly FileDiff[], base: ChangeSide, head: ChangeSide): boolean {
  const files = new Set([configurationName]);
  for (const { configuration } of [base.settings, head.settings]) {
    for (const database of configuration.nvcc.compileCommands) files.add(database);
  }
  const isRead = (path: string): boolean => files.has(path) || /(?:^|\/)compile_commands\.json$/.test(path);
  return (
    diff.some(({ path, previousPath }) => isRead(path) || (previousPath !== undefined && isRead(previousPath))) ||
    configurationText(base) !== configurationText(head)
  );
}

/** A configuration as text, to compare two of them: `--config` may name a different file on each side. */
function configurationText({ settings: { configuration } }: ChangeSide): string {
  return JSON.stringify(configuration, (_key, value: unknown) =>
    value instanceof Map ? [...(value as ReadonlyMap<string, unknown>)] : typeof value === 'bigint' ? `${value}n` : value,
  );
}

/** Units that define a kernel that a changed file launches, in either version. */
function launchedUnits(base: ChangeSide, head: ChangeSide, beforePaths: readonly string[], afterPaths: readonly string[]): string[] {
  const names = new Set<string>();
  const collect = ({ project: { tree } }: ChangeSide, path: string): void => {
    const text = isSource(path) ? tree.text(path) : undefined;
    if (text !== undefined) for (const name of namesLaunchedIn(text)) names.add(name);
  };
  for (const path of beforePaths) collect(base, path);
  for (const path of afterPaths) collect(head, path);
  if (names.size === 0) return [];

  const defining = head.project.tree.sources().filter((path) => {
    const text = head.project.tree.text(path);
    if (text === undefined || !text.includes('__global__')) return false;
    return [...text.matchAll(/\b([A-Za-z_]\w*)\s*\(/g)].some((match) => names.has(match[1] ?? ''));
  });
  const headers = defining.filter((path) => !isUnit(path));
  const through = headers.length > 0 ? [...includingUnits(head.project.tree, headers).values()].flat() : [];
  return [...defining.filter(isUnit), ...through];
}
