import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import type { Random } from '../../src/base/random.ts';
import { seededRandom } from '../../src/base/random.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { verifyKernel } from './form/verify.ts';
import { parsePtx } from '../../src/ptx/parser.ts';

const folders = [new URL('golden/', import.meta.url), new URL('../ptx/language/', import.meta.url)];

const tokens = [
  '%r1',
  '%rd1',
  '%p1',
  '%SP',
  '[%SP+4]',
  '_',
  '{',
  '}',
  ';',
  ',',
  '@%p1',
  '@!%p2',
  'bra $L;',
  'ret;',
  'exit;',
  '0',
  '-1',
  '.b8',
  '.v4',
  '.pred',
  'call.uni',
  '(param0)',
  '0f3F800000',
  'bar.sync 0;',
  '%tid.x',
  '%clock64',
  'ld.param.u64',
  '',
];

function mutate(text: string, random: Random): string {
  const words = text.split(/(\s+|[,;{}[\]()])/);
  for (let edits = random.between(1, 4); edits > 0; edits--) {
    const at = random.below(words.length);
    const other = random.below(words.length);
    switch (random.below(4)) {
      case 0:
        words[at] = random.pick(tokens);
        break;
      case 1:
        words[at] = words[other]!;
        break;
      case 2:
        [words[at], words[other]] = [words[other]!, words[at]!];
        break;
      default:
        words.splice(at, random.between(1, 6));
    }
  }
  return words.join('');
}

for (const folder of folders) {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.ptx'))) {
    test(`damaged variants of ${name} lower to kernels that verify`, () => {
      const text = readFileSync(new URL(name, folder), 'utf8');
      for (let seed = 1; seed <= 150; seed++) {
        const variant = mutate(text, seededRandom(seed));
        const { module } = parsePtx(variant);
        try {
          lowerModule(module).kernels.forEach(verifyKernel);
        } catch (error) {
          assert.fail(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`);
        }
      }
    });
  }
}
