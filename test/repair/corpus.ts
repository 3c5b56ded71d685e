/**
 * Racy kernels: those of `corpus/` in the classes of the GPURepair paper (barriers of the grid, loops, loops in loops,
 * divergence, calls), those of `projects/` in the styles of public projects. `node test/repair/corpus.ts [--part K/N]
 * [WORD…]` repairs them, compares each with its expectation and prints the patches. Expectations are comments of a
 * file: `// expect: KERNEL repaired`, or `// expect: KERNEL unrepairable: TEXT` with a text that the reason contains.
 * Needs nvcc.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { renderPatch } from '../../src/report/patch.ts';
import { bareName } from './mutants.ts';
import { type Workplace, inWorkplace, root } from './repair-file.ts';

interface BrokenKernel {
  /** Its name, and the folder that it is in. */
  readonly file: string;
  readonly folder: string;
  readonly kernel: string;
  readonly expected: 'repaired' | 'unrepairable';
  /** Part of the reason why it is not repaired. */
  readonly because: string;
}

const folders = ['corpus', 'projects'].map((name) => join(root, 'test/repair', name));

/** All kernels of the corpus, each once however many instances it has. */
export function brokenKernels(): BrokenKernel[] {
  const files = folders.flatMap((folder) => readdirSync(folder).map((file) => ({ folder, file })));
  return files.flatMap(({ folder, file }) => {
    const expected = [...readFileSync(join(folder, file), 'utf8').matchAll(/^\/\/ expect: ([\w:]+) (repaired|unrepairable)(?:: (.*))?$/gm)];
    return expected.map(([, kernel, status, because = '']) => ({
      file,
      folder,
      kernel: kernel!,
      expected: status as BrokenKernel['expected'],
      because,
    }));
  });
}

/** Repairs a kernel of the corpus: how its instances end, why, and the patch, which is applied and checked. */
export async function repairBroken(
  { folder, file, kernel }: BrokenKernel,
  { repairAndApply }: Workplace,
): Promise<{ readonly status: string; readonly reason: string; readonly patch: string }> {
  const original = readFileSync(join(folder, file), 'utf8');
  const { report } = await repairAndApply(original, { kernel });
  const own = report.kernels.filter(({ name }) => bareName(name) === kernel);
  assert.ok(own.length > 0, `${file} has no kernel ${kernel}`);
  const worst = own.find(({ repair }) => repair.status !== 'repaired' || repair.leaves !== undefined) ?? own[0]!;
  const { status, reason = '', leaves } = worst.repair;
  return { status: leaves ? 'in part' : status, reason, patch: renderPatch(report, () => original) };
}

async function main(): Promise<void> {
  const { values, positionals: words } = parseArgs({ allowPositionals: true, options: { part: { type: 'string' } } });
  const [index = 1, count = 1] = (values.part ?? '1/1').split('/').map(Number);
  const all = brokenKernels()
    .filter(({ folder, file, kernel }) => words.length === 0 || words.some((word) => `${folder}/${file} ${kernel}`.includes(word)))
    .filter((_, position) => position % count === index - 1);
  const ends = new Map<string, number>();
  let unexpected = 0;
  for (const broken of all) {
    const { file, kernel, expected, because } = broken;
    const name = file.replace(/\.txt$/, '');
    const { status, reason, patch } = await inWorkplace(name, (place) => repairBroken(broken, place));
    const isExpected = status === expected && (status === 'repaired' || reason.includes(because));
    if (!isExpected) unexpected++;
    ends.set(status, (ends.get(status) ?? 0) + 1);
    console.log(`${isExpected ? '' : 'UNEXPECTED '}${status} ${name} ${kernel}: ${reason}\n${patch}`);
  }
  const told = [...ends].map(([status, number]) => `${status} ${number}`).join(', ');
  console.log(`${all.length} racy kernels: ${told}; ${unexpected} not as expected`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
