/** Each program is checked as a separate repository: the launches that are found, and the verdicts. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { parseVerdicts } from '../verdicts/expectation.ts';
import { judgedProgram, programs, programsFolder, textsOf } from './program.ts';

for (const program of programs) {
  test(`${program} gets the verdicts and launches that it expects`, { skip: withoutNvcc }, async (context) => {
    const { kernels, stray } = await judgedProgram(program);
    const wrong = kernels.flatMap(({ file, kernel, open, differing }) => {
      if (open === undefined) return differing.map((difference) => `${file} ${kernel}: ${difference}`);
      context.diagnostic(`open: ${file} ${kernel}: ${open}`);
      return differing.length > 0 ? [] : [`${file} ${kernel} is as expected: its line "open" can go`];
    });
    if (kernels.every(({ open }) => open === undefined)) wrong.push(...stray);
    assert.equal(wrong.length, 0, `\n${wrong.join('\n')}`);
  });
}

test('there are 60 programs or more, a third of them incorrect, and their expectations are well formed', () => {
  const kernels = programs.map((program) => [...textsOf(program).values()].flatMap((text) => parseVerdicts(text)));
  const isWrong = (list: (typeof kernels)[number]): boolean =>
    list.some(({ findings }) => findings.some(({ severity }) => severity === 'error'));
  assert.deepEqual(
    programs.filter((_, index) => kernels[index]!.length === 0),
    [],
  );
  assert.ok(programs.length >= 60, String(programs.length));
  assert.ok(3 * kernels.filter(isWrong).length >= programs.length);
  const folders = new Set(programs.map((program) => program.split('/')[0]!));
  assert.deepEqual(
    [...folders].filter((folder) => readdirSync(join(programsFolder, folder)).length > 20),
    [],
  );
});
