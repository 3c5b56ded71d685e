/**
 * Deletes barriers of the test kernels that are proved, one at a time and two at a time, and repairs the resulting
 * races: `node test/repair/mutants.ts [--part I/N] [WORD…]` prints the outcome of each mutant, and shares, among them
 * that of restored texts. Each patch is applied by git, and the resulting file is checked. Needs nvcc.
 *
 * A mutant is one kernel without one of its barriers, or without two of one function; a barrier of a helper counts for
 * each kernel of the file that is not proved without it. Only mutants that a run refutes are counted. Those that are
 * still proved need no repair; for unproved ones that is unknown.
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type BarrierCandidate, markCandidates } from '../../src/cuda/editing/barrier-candidates.ts';
import { barrierEdits } from '../../src/cuda/editing/barrier-edit.ts';
import type { CudaSource } from '../../src/cuda/syntax/syntax.ts';
import { nodesWhere } from '../../src/cuda/syntax/syntax-tree.ts';
import { applyEdits } from '../../src/source/text-edit.ts';
import type { KernelReport } from '../../src/report-model/report.ts';
import { kernelFiles, ptxFile } from '../kernels/portable-ptx.ts';
import { type Expectation, parseExpectations } from '../kernels/expectation.ts';
import { cudaParser } from '../cuda/syntax/grammar.ts';
import { type Workplace, inWorkplace, root } from './repair-file.ts';

export interface Mutant {
  readonly file: string;
  /** Kernel of the deleted barriers; null for a helper, which all kernels may call. */
  readonly kernel: string | null;
  /** Lines of the barriers that were deleted, in the original. */
  readonly deleted: readonly number[];
  readonly text: string;
  readonly source: CudaSource;
}

export interface MutantResult {
  readonly mutant: Mutant;
  readonly kernel: string;
  /** `proved`: the barrier was not needed; `possible`: neither that nor a race is shown. */
  readonly outcome: 'repaired' | 'proved' | 'possible' | 'failed';
  /** Barriers added, less those removed. */
  readonly added: number;
  /** The barriers of the repaired kernel are between the same accesses and branches as those of the original. */
  readonly samePlace: boolean;
  /** The text that the repair leaves is that of the original, except for blank lines. */
  readonly sameText: boolean;
  /** Cost of its barriers compared with the original: one in a loop counts as ten outside. */
  readonly cost: 'less' | 'same' | 'more';
  readonly detail: string;
}

/** Kernels of a file that are proved, by name without template arguments. */
export function provedKernels(expectations: readonly Expectation[]): ReadonlySet<string> {
  const isProved = ({ race, divergence, open }: Expectation): boolean => race === 'proved' && divergence === 'proved' && open === undefined;
  const bare = ({ kernel }: Expectation): string => kernel.replace(/<.*/, '');
  const others = new Set(expectations.filter((expectation) => !isProved(expectation)).map(bare));
  return new Set(
    expectations
      .filter(isProved)
      .map(bare)
      .filter((name) => !others.has(name)),
  );
}

/** The name of a kernel of a report, without parameters and template arguments. */
export function bareName(name: string): string {
  return name.replace(/\(.*/, '').replace(/<.*/, '');
}

/** The mutants of a file: without each barrier, and without each two of one function. */
export async function mutantsOf(file: string): Promise<Mutant[]> {
  const { parse } = await cudaParser();
  const text = readFileSync(join(root, file), 'utf8');
  const proved = provedKernels(parseExpectations(text));
  const source = parse(text, file);
  const existing = markCandidates(source, { splits: false }).candidates.filter(
    ({ kind, function: { kind: what, name } }) => kind === 'existing' && (what === 'kernel' ? proved.has(name) : proved.size > 0),
  );
  const without = (candidates: readonly BarrierCandidate[]): Mutant => {
    const { kind, name } = candidates[0]!.function;
    const placed = candidates.map((candidate) => ({ candidate, state: 'off' as const }));
    return {
      file,
      kernel: kind === 'kernel' ? name : null,
      deleted: candidates.map(({ line }) => line),
      text: applyEdits(text, barrierEdits(source, placed)),
      source,
    };
  };
  const pairs = existing.flatMap((a, i) => existing.slice(i + 1).flatMap((b) => (a.function === b.function ? [without([a, b])] : [])));
  return [...existing.map((candidate) => without([candidate])), ...pairs];
}

/** Repairs a mutant; one result for each kernel that was proved. Instances of a template are one kernel. */
export async function repairMutant(mutant: Mutant, { repairAndApply }: Workplace): Promise<MutantResult[]> {
  const original = readFileSync(join(root, mutant.file), 'utf8');
  const proved = provedKernels(parseExpectations(original));
  // Whether a launch is cooperative depends on the original kernel, not on the remaining barriers.
  const cooperative = /this_grid\(\)/.test(original);
  const { report, text, verification } = await repairAndApply(mutant.text, {
    cooperative,
    ...(mutant.kernel !== null && { kernel: mutant.kernel }),
  });
  const { parse } = await cudaParser();
  const repaired = parse(text);
  const before = readFileSync(ptxFile(mutant.file, 'verification'), 'utf8');
  const after = verification ?? '';
  const names = new Set(report.kernels.map(({ name }) => bareName(name)).filter((name) => proved.has(name)));
  return [...names].map((name): MutantResult => {
    const instances = report.kernels.filter((kernel) => bareName(kernel.name) === name);
    const outcomes = instances.map(outcomeOf);
    const order = ['failed', 'possible', 'repaired', 'proved'] as const;
    const outcome = order.find((worst) => outcomes.includes(worst))!;
    const { repair, race, divergence } = instances[outcomes.indexOf(outcome)]!;
    const [now, then] = [barrierCost(repaired, name), barrierCost(mutant.source, name)];
    return {
      mutant,
      kernel: name,
      outcome,
      added: (repair.barriersAdded ?? 0) - (repair.barriersRemoved ?? 0),
      samePlace: instances.every(({ symbol }) => skeleton(before, symbol) === skeleton(after, symbol)),
      sameText: withoutBlankLines(text) === withoutBlankLines(original),
      cost: now < then ? 'less' : now === then ? 'same' : 'more',
      detail: outcome === 'possible' ? (race.reason ?? divergence.reason ?? '') : outcome === 'proved' ? '' : (repair.reason ?? ''),
    };
  });
}

function withoutBlankLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  return lines.filter((line) => line !== '').join('\n');
}

/** Accesses, barriers, labels and branches of a kernel and of device functions, in their order. */
function skeleton(ptx: string, symbol: string): string {
  const kept: string[] = [];
  let isOwn = false;
  for (const line of ptx.split('\n')) {
    const header = /^(?:\.\w+ )*\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)/.exec(line);
    if (header) isOwn = header[1] === 'func' || header[2] === symbol;
    const [, operation] =
      /^\s*(?:@!?%\w+\s+)?((?:ld|st|atom|red|bar|barrier|membar|fence|bra|cp|mbarrier|call|ret)\b[\w.:]*)/.exec(line) ?? [];
    if (isOwn && operation !== undefined && !/\.(?:param|local)\b/.test(operation)) kept.push(operation);
    if (isOwn && /^\s*\$\w+:/.test(line)) kept.push('label');
  }
  return kept.join(' ');
}

/** Cost of the barriers of a kernel and of all helpers. */
function barrierCost(source: CudaSource, kernel: string): number {
  const own = kernel.replace(/.*::/, '');
  const loops = nodesWhere(source.tree(), ({ type }) => /^(?:for|while|do)_statement$/.test(type));
  return markCandidates(source, { splits: false }).candidates.reduce((sum, candidate) => {
    const {
      statement,
      function: { kind, name },
    } = candidate;
    if (candidate.kind !== 'existing' || (kind !== 'device' && name !== own)) return sum;
    const depth = loops.filter((loop) => loop.start <= statement.start && statement.end <= loop.end).length;
    return sum + 10 ** depth * (candidate.level === 'grid' ? 12 : 1);
  }, 0);
}

function outcomeOf({ race, divergence, repair }: KernelReport): MutantResult['outcome'] {
  if (repair.status === 'repaired') return 'repaired';
  if (race.verdict === 'proved' && divergence.verdict === 'proved') return 'proved';
  return [...race.findings, ...divergence.findings].some(({ confirmed }) => confirmed) ? 'failed' : 'possible';
}

/** The required shares, over the mutants that were refuted. */
export function summary(results: readonly MutantResult[]): string {
  const ofSize = (size: number): string => {
    const own = results.filter(({ mutant }) => mutant.deleted.length === size);
    const refuted = own.filter(({ outcome }) => outcome === 'repaired' || outcome === 'failed');
    const repaired = refuted.filter(({ outcome }) => outcome === 'repaired');
    const share = (select: (result: MutantResult) => boolean): string => {
      const count = repaired.filter(select).length;
      return `${count} (${((100 * count) / Math.max(1, refuted.length)).toFixed(1)} %)`;
    };
    const only = (outcome: string): number => own.filter((result) => result.outcome === outcome).length;
    return [
      `${size === 1 ? 'one barrier' : 'two barriers'} deleted: ${refuted.length} mutants refuted`,
      `repaired and verified ${share(() => true)}`,
      `no more barriers than the original ${share(({ added, mutant }) => added <= mutant.deleted.length)}`,
      `placed as in the original or cheaper ${share(({ samePlace, cost }) => samePlace || cost === 'less')}`,
      `the text of the original up to blank lines ${share(({ sameText }) => sameText)}`,
      `elsewhere at the same cost ${share(({ samePlace, cost }) => !samePlace && cost === 'same')}`,
      `costlier ${share(({ cost }) => cost === 'more')}`,
      `not counted: still proved ${only('proved')}, not confirmed ${only('possible')}`,
    ].join('; ');
  };
  return [1, 2].map(ofSize).join('\n');
}

async function main(): Promise<void> {
  const { values, positionals: words } = parseArgs({ allowPositionals: true, options: { part: { type: 'string' } } });
  const [index = 1, count = 1] = (values.part ?? '1/1').split('/').map(Number);
  const results: MutantResult[] = [];
  let position = 0;
  for (const file of kernelFiles()) {
    if (words.length > 0 && !words.some((word) => file.includes(word))) continue;
    const mutants = (await mutantsOf(file)).filter(() => position++ % count === index - 1);
    await inWorkplace(basename(file), async (place) => {
      for (const mutant of mutants) {
        for (const result of await repairMutant(mutant, place)) {
          results.push(result);
          const { outcome, samePlace, sameText, cost, kernel, detail } = result;
          const where = outcome === 'repaired' ? ` (${sameText ? 'same text' : samePlace ? 'same place' : `elsewhere, cost ${cost}`})` : '';
          console.log(`${outcome}${where} ${file} -${mutant.deleted.join(',-')} ${kernel}: ${detail}`);
        }
      }
    });
  }
  console.log(summary(results));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
