/**
 * Removes the lines `open` of kernels for which the check now reports the expectation: `node test/programs/close.ts
 * [WORD…]`, for the programs whose path has one of the words. Prints lines that stay open, and differences that are not
 * open, with an exit code of 1.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { judgedProgram, programs, programsFolder } from './program.ts';

const words = process.argv.slice(2);
for (const program of programs.filter((path) => words.length === 0 || words.some((word) => path.includes(word)))) {
  const { kernels } = await judgedProgram(program);
  for (const { file, kernel, open, differing } of kernels) {
    const name = `${program}/${file} ${kernel}`;
    if (differing.length > 0) {
      console.log(`${open === undefined ? 'DIFFERS' : 'open'}: ${name}: ${differing.join('; ')}`);
      if (open === undefined) process.exitCode = 1;
    } else if (open !== undefined) {
      const path = join(programsFolder, program, file);
      const lines = readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => !line.startsWith(`// open: ${kernel} `));
      writeFileSync(path, `${lines.join('\n').trimEnd()}\n`);
      console.log(`closed: ${name}`);
    }
  }
}
