/**
 * ptxas accepts the output of the printer. nvcc made the checked-in texts of the test kernels, so ptxas accepts them
 * unchanged: if the printed text has the same tokens it is accepted too, so only the others are assembled.
 * `ptxas-roundtrip.long.ts` does it for four architectures, with texts of the installed nvcc.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lex } from '../../src/ptx/lexer.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { printModule } from '../../src/ptx/printer.ts';
import { assemble, forEach, hasAssembler, inTemporaryFolder } from './assembler.ts';
import { filesBelow, readText } from './tree.ts';

const samples = filesBelow('test/ptx/language', '.ptx');
const kernels = filesBelow('test/kernels', '.ptx');

/** The tokens of a text, a line each. */
function tokens(text: string): string {
  const { count, starts, ends } = lex(text);
  return Array.from({ length: count }, (_, index) => text.slice(starts[index], ends[index])).join('\n');
}

test(
  'ptxas accepts the language samples, as they are and printed back',
  { skip: hasAssembler ? false : `no ptxas: ${samples.length} texts were not assembled` },
  () =>
    inTemporaryFolder(async (folder) => {
      await forEach(samples, async (file, index) => {
        const text = readText(file);
        const { module } = parsePtx(text, file);
        for (const candidate of [text, printModule(module)]) {
          assert.equal(await assemble(candidate, module.target[0]!, `${folder}/${index}.ptx`), null, file);
        }
      });
    }),
);

test(
  `ptxas accepts the PTX of the test kernels printed back: ${kernels.length} texts`,
  { skip: hasAssembler ? false : `no ptxas: what differs of ${kernels.length} texts was not assembled` },
  (context) =>
    inTemporaryFolder(async (folder) => {
      let assembled = 0;
      await forEach(kernels, async (file, index) => {
        const text = readText(file);
        const { module, diagnostics } = parsePtx(text, file);
        assert.deepEqual(diagnostics, [], file);
        const printed = printModule(module);
        if (tokens(printed) === tokens(text)) return;
        assembled++;
        assert.equal(await assemble(printed, module.target[0]!, `${folder}/${index}.ptx`), null, file);
      });
      context.diagnostic(`${assembled} of ${kernels.length} texts have other tokens when printed, and were assembled`);
      assert.ok(assembled > 0);
    }),
);
