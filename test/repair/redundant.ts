/**
 * Adds a barrier to the test kernels that are proved, at one candidate place after another, and tests that it is found
 * redundant: `node test/repair/redundant.ts [--places N] [--part I/N] [WORD…]` tries N random places of each kernel
 * (all by default), and prints the outcome of each; of all files, or of every Nth one. Each patch is applied by git,
 * and the resulting file is checked and searched again. Needs nvcc.
 *
 * Removed means that the number of barriers is at most that of the original, and that the kernel is still proved. A
 * barrier that is kept is tried again with the other assumptions stated by the user: that pointers do not alias, and
 * the arguments. Between atomics or fences a barrier is redundant only next to another one: such are kept.
 */
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../src/base/random.ts';
import { readAnnotations } from '../../src/cuda/reading/annotation.ts';
import { type BarrierCandidate, markCandidates } from '../../src/cuda/editing/barrier-candidates.ts';
import { barrierEdits } from '../../src/cuda/editing/barrier-edit.ts';
import type { CudaSource } from '../../src/cuda/syntax/syntax.ts';
import { applyEdits } from '../../src/source/text-edit.ts';
import type { Options } from '../../src/settings/options.ts';
import { parseExpectations } from '../kernels/expectation.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { cudaParser } from '../cuda/syntax/grammar.ts';
import { bareName, provedKernels } from './mutants.ts';
import { type Workplace, inWorkplace, root } from './repair-file.ts';

export interface AddedBarrier {
  readonly file: string;
  readonly kernel: string;
  readonly source: CudaSource;
  readonly candidate: BarrierCandidate;
}

/**
 * - `removed`: no more barriers are left than before, and no further one is removed from the result;
 * - `stated`: the same once the user states that the pointers of the kernel do not alias, and its arguments;
 * - `kept`: it stays, or one that it made redundant does;
 * - `divergent`: only some threads reach the place, or the kernel is not proved with it.
 */
export type RemovalOutcome = 'removed' | 'stated' | 'kept' | 'divergent';

/** The statement boundaries of the kernels of a file that are proved. */
export async function placesOf(file: string): Promise<AddedBarrier[]> {
  const { parse } = await cudaParser();
  const text = readFileSync(join(root, file), 'utf8');
  const proved = provedKernels(parseExpectations(text));
  const source = parse(text, file);
  return markCandidates(source, { splits: false }).candidates.flatMap((candidate) => {
    const { kind, name } = candidate.function;
    const isPlace = candidate.kind === 'before' || candidate.kind === 'after';
    return isPlace && kind === 'kernel' && proved.has(name) ? [{ file, kernel: name, source, candidate }] : [];
  });
}

/** Adds the barrier and runs removal, twice. */
export async function removeAdded(added: AddedBarrier, workplace: Workplace): Promise<RemovalOutcome> {
  const { kernel, source, candidate } = added;
  const more = applyEdits(source.text, barrierEdits(source, [{ candidate, state: 'block' }]));
  const options = { kernel, cooperative: /this_grid\(\)/.test(source.text) };
  const { report: before } = await workplace.repair(more, { ...options, checks: ['race', 'divergence'] });
  const own = before.kernels.filter(({ name }) => bareName(name) === kernel);
  if (own.some(({ race, divergence }) => race.verdict !== 'proved' || divergence.verdict !== 'proved')) return 'divergent';
  if (await isRemoved(added, more, workplace, options)) return 'removed';
  const assume = takenForGranted(added);
  return (await isRemoved(added, more, workplace, { ...options, assume })) ? 'stated' : 'kept';
}

async function isRemoved(
  { file, source, candidate }: AddedBarrier,
  more: string,
  { repair, repairAndApply }: Workplace,
  options: Partial<Options>,
): Promise<boolean> {
  const { text } = await repairAndApply(more, options);
  if ((await barriersOf(text)) > (await barriersOf(source.text))) return false;
  const again = await repair(text, options);
  // The file may have redundant ones already, and without one the compiler may drop accesses that another one orders.
  const isOwn = again.text !== text && (await repair(source.text, options)).text !== source.text;
  if (again.text !== text && !isOwn) throw new Error(`${file}, line ${candidate.line}: removal left a barrier that it removes`);
  return true;
}

/** Assumptions: pointers are pairwise disjoint, and integers have the values of the kernel's comments. */
function takenForGranted({ file, kernel, source }: AddedBarrier): string[] {
  const { parameters, annotations } = source.kernels.find(({ name }) => name === kernel)!;
  const pointers = parameters.flatMap(({ name, type }) => (name !== undefined && type.includes('*') ? [name] : []));
  const pairs = pointers.flatMap((one, at) => pointers.slice(at + 1).map((other) => `apart(${one}, ${other})`));
  const args = [...(readAnnotations(annotations, file).annotation?.args ?? [])];
  return [...pairs, ...args.flatMap(([name, value]) => (/^\d+$/.test(value) ? [`${name} == ${value}`] : []))];
}

async function barriersOf(text: string): Promise<number> {
  const { parse } = await cudaParser();
  return markCandidates(parse(text), { splits: false }).candidates.filter(({ kind }) => kind === 'existing').length;
}

async function main(): Promise<void> {
  const { values, positionals: words } = parseArgs({
    allowPositionals: true,
    options: { places: { type: 'string' }, part: { type: 'string' } },
  });
  const most = Number(values.places ?? Infinity);
  const [part = 1, parts = 1] = (values.part ?? '1/1').split('/').map(Number);
  const counts: Record<RemovalOutcome, number> = { removed: 0, stated: 0, kept: 0, divergent: 0 };
  for (const [index, file] of kernelFiles().entries()) {
    if (index % parts !== part - 1) continue;
    if (words.length > 0 && !words.some((word) => file.includes(word))) continue;
    const random = seededRandom(file.length);
    const inFile = await placesOf(file);
    await inWorkplace(basename(file), async (workplace) => {
      for (const kernel of new Set(inFile.map((place) => place.kernel))) {
        const places = inFile.filter((place) => place.kernel === kernel);
        for (let tried = 0; tried < most && places.length > 0; tried++) {
          const [place] = places.splice(random.below(places.length), 1);
          const outcome = await removeAdded(place!, workplace);
          counts[outcome]++;
          console.log(`${outcome} ${file} ${kernel}, line ${place!.candidate.line}`);
        }
      }
    });
  }
  const { removed, stated, kept, divergent } = counts;
  console.log(
    `redundant barriers added: ${removed + stated + kept}, removed ${removed}, removed under stated assumptions ${stated}, kept ${kept}; not counted, since not all threads come to them: ${divergent}`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
