/**
 * Deletes barriers of the test kernels that are proved, one at a time and two at a time, and repairs what then races:
 * `node test/repair/mutants.ts [WORD…]` prints what became of each, and the shares. Needs nvcc.
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BarrierCandidate, markCandidates } from '../../src/cuda/barrier-candidates.ts';
import { barrierEdits } from '../../src/cuda/barrier-edit.ts';
import type { CudaSource } from '../../src/cuda/syntax.ts';
import { nodesWhere } from '../../src/cuda/syntax-tree.ts';
import { applyEdits } from '../../src/cuda/text-edit.ts';
import type { KernelReport } from '../../src/driver/report.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { parseExpectations } from '../kernels/expectation.ts';
import { cudaParser } from '../unit/cuda/grammar.ts';
import { repairText, root } from './repair-file.ts';

export interface Mutant {
  readonly file: string;
  /** Lines of the barriers that were deleted, in the original. */
  readonly deleted: readonly number[];
  readonly text: string;
  readonly source: CudaSource;
}

export interface MutantResult {
  readonly mutant: Mutant;
  readonly kernel: string;
  /** `proved`: the barrier was not needed. */
  readonly outcome: 'repaired' | 'proved' | 'not-confirmed' | 'failed';
  readonly added: number;
  /** The barriers of the repaired text stand where those of the original did, but for white space. */
  readonly sameText: boolean;
  /** Its barriers cost no more than those of the original: one in a loop as much as ten outside. */
  readonly noDearer: boolean;
  readonly detail: string;
}

/** The mutants of a file: without each barrier, and without each two of one function. */
export async function mutantsOf(file: string): Promise<Mutant[]> {
  const { parse } = await cudaParser();
  const text = readFileSync(join(root, file), 'utf8');
  const source = parse(text, file);
  const existing = markCandidates(source, { splits: false }).candidates.filter(({ kind }) => kind === 'existing');
  const without = (candidates: readonly BarrierCandidate[]): Mutant => ({
    file,
    deleted: candidates.map(({ line }) => line),
    text: applyEdits(
      text,
      barrierEdits(
        source,
        candidates.map((candidate) => ({ candidate, state: 'off' as const })),
      ),
    ),
    source,
  });
  const pairs = existing.flatMap((a, i) =>
    existing.slice(i + 1).flatMap((b) => (a.function === b.function ? [without([a, b])] : [])),
  );
  return [...existing.map((candidate) => without([candidate])), ...pairs.slice(0, 3)];
}

/** Repairs a mutant; one result for each kernel that was proved and is not any more. */
export async function repairMutant(mutant: Mutant): Promise<MutantResult[]> {
  const original = readFileSync(join(root, mutant.file), 'utf8');
  const proved = new Set(
    parseExpectations(original)
      .filter(({ race }) => race === 'proved')
      .map(({ kernel }) => kernel),
  );
  // A launch is cooperative for what it launches, not for the barriers that are left.
  const cooperative = /this_grid\(\)/.test(original);
  const { report, text } = await repairText(mutant.text, basename(mutant.file), { cooperative });
  const { parse } = await cudaParser();
  const bare = (words: string): string => words.replace(/\s+/g, '');
  return report.kernels
    .filter(({ name }) =>
      [...proved].some(
        (kernel) =>
          name.startsWith(`${kernel}(`) ||
          name.startsWith(`${kernel}<`) ||
          name.replace(/<.*>/, '').startsWith(`${kernel}(`),
      ),
    )
    .map((kernel): MutantResult => {
      const { repair } = kernel;
      return {
        mutant,
        kernel: kernel.name,
        outcome: outcomeOf(kernel),
        added: (repair.barriersAdded ?? 0) - (repair.barriersRemoved ?? 0),
        sameText: bare(text) === bare(original),
        noDearer: barrierCost(parse(text), kernel.name) <= barrierCost(mutant.source, kernel.name),
        detail: repair.reason ?? kernel.race.reason ?? '',
      };
    });
}

/** Of the barriers of a kernel and of all helpers. */
function barrierCost(source: CudaSource, kernel: string): number {
  const own = kernel.replace(/[(<].*/, '').replace(/.*::/, '');
  const loops = nodesWhere(source.tree(), ({ type }) => /^(?:for|while|do)_statement$/.test(type));
  return markCandidates(source, { splits: false })
    .candidates.filter(
      ({ kind, function: { kind: what, name } }) => kind === 'existing' && (what === 'device' || name === own),
    )
    .reduce((sum, { statement: { start, end } }) => {
      const depth = loops.filter((loop) => loop.start <= start && end <= loop.end).length;
      return sum + 10 ** depth;
    }, 0);
}

function outcomeOf({ race, divergence, repair }: KernelReport): MutantResult['outcome'] {
  if (repair.status === 'repaired') return 'repaired';
  if (race.verdict === 'proved' && divergence.verdict === 'proved') return 'proved';
  return [...race.findings, ...divergence.findings].some(({ confirmed }) => confirmed) ? 'failed' : 'not-confirmed';
}

async function main(words: readonly string[]): Promise<void> {
  const results: MutantResult[] = [];
  for (const file of kernelFiles()) {
    if (words.length > 0 && !words.some((word) => file.includes(word))) continue;
    for (const mutant of await mutantsOf(file)) {
      for (const result of await repairMutant(mutant)) {
        results.push(result);
        const same = result.sameText ? ' (as it was)' : '';
        console.log(
          `${result.outcome}${same} ${file} -${mutant.deleted.join(',-')} ${result.kernel}: ${result.detail}`,
        );
      }
    }
  }
  const count = (select: (result: MutantResult) => boolean): number => results.filter(select).length;
  const broken = count(({ outcome }) => outcome === 'repaired' || outcome === 'failed');
  const repaired = count(({ outcome }) => outcome === 'repaired');
  console.log(
    `mutants ${results.length}: racy ${broken}, repaired ${repaired}, with no more barriers than before ${count(
      (result) => result.outcome === 'repaired' && result.added <= result.mutant.deleted.length,
    )}, no dearer ${count(
      (result) => result.outcome === 'repaired' && result.noDearer,
    )}, the same text ${count((result) => result.outcome === 'repaired' && result.sameText)}; still proved ${count(
      ({ outcome }) => outcome === 'proved',
    )}, not confirmed ${count(({ outcome }) => outcome === 'not-confirmed')}`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
