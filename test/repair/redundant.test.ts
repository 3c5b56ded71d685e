/** Barriers that are put where no pair needs them are found, and the kernel is proved without them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { markCandidates } from '../../src/cuda/barrier-candidates.ts';
import { barrierEdits } from '../../src/cuda/barrier-edit.ts';
import { applyEdits } from '../../src/cuda/text-edit.ts';
import { cudaParser } from '../unit/cuda/grammar.ts';
import { withoutNvcc } from '../unit/toolchain/fixture.ts';
import { repairText, root } from './repair-file.ts';

const files = ['reduction-halving', 'stencil-halo', 'matmul-tiled', 'scan-hillis-steele', 'shared-reverse'];
const barriers = (text: string): number => text.split('__syncthreads()').length - 1;

for (const name of files) {
  test(`a barrier too many in ${name} is found`, { skip: withoutNvcc }, async () => {
    const file = `test/kernels/race/${name}.cu`;
    const text = readFileSync(join(root, file), 'utf8');
    const source = (await cudaParser()).parse(text, file);
    const places = markCandidates(source, { splits: false }).candidates.filter(
      ({ kind, conditions }) => (kind === 'before' || kind === 'after') && conditions.length === 0,
    );
    const candidate = seededRandom(name.length).pick(places);
    const more = applyEdits(text, barrierEdits(source, [{ candidate, state: 'block' }]));
    const { report, text: less } = await repairText(more, basename(file));
    const [kernel] = report.kernels;
    assert.equal(kernel?.race.verdict, 'proved', `a barrier at line ${candidate.line}`);
    assert.equal(kernel?.repair.status, 'optimised', `a barrier at line ${candidate.line}`);
    assert.ok(barriers(less) <= barriers(text));
    const after = await repairText(less, basename(file), { checks: ['race', 'divergence'] });
    assert.equal(after.report.kernels[0]!.race.verdict, 'proved');
    assert.equal(after.report.kernels[0]!.divergence.verdict, 'proved');
  });
}
