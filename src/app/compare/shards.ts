/**
 * A review that several jobs share. Each job, a shard, analyses some of the affected units and writes its results to a
 * folder. The merging job makes the whole review from these results without analysing them again, so that the review is
 * byte for byte the one that a single job makes.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareText } from '../../base/text.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Shard } from '../../settings/options.ts';
import { codeIdentity } from '../cache/code-identity.ts';
import { packResults, unpackResults } from '../cache/pack.ts';
import { openResults } from '../cache/result-store.ts';
import { mergeBase, resolveCommit } from '../project/git.ts';
import type { AffectedUnits, UnitSelection } from './change-request.ts';
import { analyseRange, type RangeAnalysis, type RangeRequest } from './review-range.ts';

/** Maximum size of the results of one shard in bytes. */
const maxBytes = 512 << 20;
/** Estimated cost in milliseconds per byte of text, for units of unknown cost. A build takes about a second. */
const costOfByte = 0.05;

/** Description of the results of a shard. */
interface Manifest {
  readonly shard: Shard;
  readonly base: string;
  readonly head: string;
  /** Identity of the program: another version has other results. */
  readonly code: string;
  /** Paths of the units that the shard analysed: in the head, or in the base for removed units. */
  readonly units: readonly string[];
}

const manifestName = /^shard-(\d{1,3})-of-(\d{1,3})\.json$/;

/**
 * Analyses the units of one shard, and writes the results to a folder.
 * @throws UsageError if a revision or the configuration is wrong
 */
export async function analyseShard(request: RangeRequest, shard: Shard, folder: string): Promise<RangeAnalysis> {
  return withResults(request, async (environment, results) => {
    const store = openResults(environment)!;
    let taken: readonly string[] = [];
    const select: UnitSelection = (units) => {
      const costOf = (path: string): number => store.costOf(path) ?? sizeOf(units, path) * costOfByte;
      taken = shares(namesOf(units), costOf, shard.count)[shard.index - 1]!;
      return { units: only(units, new Set(taken)), diagnostics: [] };
    };
    const analysis = await analyseRange({ ...request, environment, select });
    const { baseSha: base, headSha: head } = analysis;
    const manifest: Manifest = { shard, base, head, code: codeIdentity(), units: taken };
    const name = `shard-${shard.index}-of-${shard.count}`;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.results`), packResults(results, maxBytes));
    // The manifest is written last: if it exists, the results are complete.
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(manifest)}\n`);
    return analysis;
  });
}

/**
 * Makes the review of a range from the results of its shards. Units of a missing shard are left out and reported.
 * @param folder contains the files of the shards, at any depth
 * @throws UsageError if all results are missing, or a revision or the configuration is wrong
 */
export async function analyseMerged(request: RangeRequest, folder: string): Promise<RangeAnalysis> {
  return withResults(request, async (environment, results) => {
    const found = manifestsIn(folder);
    if (found.length === 0) throw new UsageError(`${folder} contains no results of shards (shard-1-of-2.json, …).`);
    const count = Math.max(...found.map(({ manifest }) => manifest.shard.count));
    const covered = new Set<string>();
    const missing = new Set(Array.from({ length: count }, (_, index) => index + 1));
    const used = new Set<string>();
    const select: UnitSelection = (units) => {
      if (missing.size === 0) return { units, diagnostics: [] };
      const left = namesOf(units).filter((path) => !covered.has(path));
      const shards = [...missing].map((index) => `${index} of ${count}`).join(', ');
      const list = left.length === 0 ? 'no file of it is known to be missing' : `not analysed: ${left.join(', ')}`;
      const message = `Shard ${shards} left no results for this commit, so nothing counts as fixed; ${list}.`;
      return {
        units: only(units, covered),
        diagnostics: [{ severity: 'error', code: 'review/shard-missing', message }],
      };
    };
    const names = await rangeOf(request);
    for (const { manifest, pack } of found) {
      const { shard, base, head, code, units } = manifest;
      const isOfRange = base === names.base && head === names.head && code === codeIdentity() && shard.count === count;
      if (!isOfRange || used.has(pack)) continue;
      used.add(pack);
      if (statSync(pack, { throwIfNoEntry: false })?.isFile() !== true) continue;
      unpackResults(results, readFileSync(pack));
      missing.delete(shard.index);
      for (const unit of units) covered.add(unit);
    }
    return analyseRange({ ...request, environment, select });
  });
}

/** The commits of a range as analyses name them. */
async function rangeOf(request: RangeRequest): Promise<{ readonly base: string; readonly head: string }> {
  const repository = { root: request.root, environment: request.environment };
  const head = await resolveCommit(repository, request.head);
  const named = await resolveCommit(repository, request.base);
  return { base: request.fromMergeBase === false ? named : await mergeBase(repository, named, head), head };
}

/** Calls a function with a folder of cached results: the folder of the environment, or a temporary one. */
async function withResults(
  { environment }: RangeRequest,
  run: (environment: RangeRequest['environment'], results: string) => Promise<RangeAnalysis>,
): Promise<RangeAnalysis> {
  const stated = environment['SELVAGE_CACHE'];
  if (stated !== undefined && stated !== 'off') return run(environment, stated);
  const own = mkdtempSync(join(environment['RUNNER_TEMP'] ?? tmpdir(), 'selvage-shard-'));
  try {
    return await run({ ...environment, SELVAGE_CACHE: own }, own);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** A unique name for each unit of a change: its path in the head, or in the base if it was removed. */
function namesOf({ base, head, renamed }: AffectedUnits): string[] {
  const later = new Map([...renamed].map(([now, before]) => [before, now]));
  return [...new Set([...head.map(({ path }) => path), ...base.map(({ path }) => later.get(path) ?? path)])].sort(compareText);
}

function only(units: AffectedUnits, names: ReadonlySet<string>): AffectedUnits {
  const later = new Map([...units.renamed].map(([now, before]) => [before, now]));
  return {
    ...units,
    head: units.head.filter(({ path }) => names.has(path)),
    base: units.base.filter(({ path }) => names.has(later.get(path) ?? path)),
  };
}

/** Bytes of the text of a unit. */
function sizeOf({ head, base }: AffectedUnits, path: string): number {
  const unit = head.find((one) => one.path === path) ?? base.find((one) => one.path === path);
  return (unit && statSync(unit.file, { throwIfNoEntry: false })?.size) ?? 0;
}

/**
 * Distributes units among shards evenly: in descending order of cost, each to the shard with the lowest total.
 * @returns for each shard its units, in the order of their paths
 */
export function shares(units: readonly string[], costOf: (unit: string) => number, count: number): string[][] {
  const loads = Array.from({ length: count }, () => ({ units: [] as string[], cost: 0 }));
  const costs = new Map(units.map((unit) => [unit, Math.max(1, costOf(unit))]));
  const dearest = [...units].sort((a, b) => costs.get(b)! - costs.get(a)! || compareText(a, b));
  for (const unit of dearest) {
    const least = loads.reduce((best, load) => (load.cost < best.cost ? load : best));
    least.units.push(unit);
    least.cost += costs.get(unit)!;
  }
  return loads.map((load) => load.units.sort(compareText));
}

/** Manifests of shards in a folder, in the order of their names. */
function manifestsIn(folder: string): { readonly manifest: Manifest; readonly pack: string }[] {
  let files: string[];
  try {
    files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort(compareText);
  } catch {
    throw new UsageError(`${folder} cannot be read; it should contain the results of the shards.`);
  }
  return files.flatMap((file) => {
    const path = join(folder, file);
    if (!manifestName.test(file.split('/').at(-1)!) || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 1 << 24) return [];
    const manifest = manifestOf(readFileSync(path, 'utf8'));
    return manifest ? [{ manifest, pack: path.replace(/\.json$/, '.results') }] : [];
  });
}

function manifestOf(text: string): Manifest | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { shard, base, head, code, units } = value as Partial<Record<keyof Manifest, unknown>>;
  const { index, count } = (shard ?? {}) as Partial<Record<keyof Shard, unknown>>;
  const isShard =
    Number.isInteger(index) && Number.isInteger(count) && Number(index) >= 1 && Number(index) <= Number(count) && Number(count) <= 256;
  const areTexts = [base, head, code].every((text) => typeof text === 'string');
  const areUnits = Array.isArray(units) && units.every((unit) => typeof unit === 'string');
  return isShard && areTexts && areUnits ? (value as Manifest) : undefined;
}
