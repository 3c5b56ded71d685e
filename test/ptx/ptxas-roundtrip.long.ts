/**
 * Every PTX text that nvcc produces for the test kernels, in both builds and for four architectures, is parsed, printed
 * and given to ptxas. Without a toolkit the test prints the number of missing texts.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { parsePtx } from '../../src/ptx/parser.ts';
import { printModule } from '../../src/ptx/printer.ts';
import { assemble, concurrency, forEach, hasAssembler, inTemporaryFolder, run, succeeds } from './assembler.ts';
import { absolute, filesBelow, withoutSpans } from './tree.ts';

const ARCHITECTURES = ['sm_75', 'sm_80', 'sm_90', 'sm_100'];
const PRODUCTION = ['-lineinfo'];
const VERIFICATION = ['-lineinfo', '-Ofc', 'max', '-D__restrict__='];
const OLDER_VERIFICATION = ['-lineinfo', '-Xcicc', '-O0', '-D__restrict__='];

const kernels = filesBelow('test/kernels', '.cu');
const hasCompiler = hasAssembler && (await succeeds('nvcc', ['--version']));
const expected = kernels.length * 2 * ARCHITECTURES.length;

test(
  `ptxas accepts what nvcc makes of ${kernels.length} kernels in ${2 * ARCHITECTURES.length} builds, printed back`,
  { skip: hasCompiler ? false : `no nvcc with ptxas: ${expected} texts were not made` },
  (context) =>
    inTemporaryFolder(async (folder) => {
      const probe = join(folder, 'probe.cu');
      writeFileSync(probe, '__global__ void k() {}\n');
      const builds = (architecture: string, flags: readonly string[]): Promise<boolean> =>
        succeeds('nvcc', ['-ptx', `-arch=${architecture}`, ...flags, '-o', join(folder, 'probe.ptx'), probe]);
      const verification = (await builds('sm_80', VERIFICATION)) ? VERIFICATION : OLDER_VERIFICATION;

      // nvcc takes many files at once where they go to one folder.
      const folders = [...new Set(kernels.map(dirname))];
      const texts: { path: string; architecture: string }[] = [];
      const unsupported: string[] = [];
      for (const architecture of ARCHITECTURES) {
        if (!(await builds(architecture, PRODUCTION))) {
          unsupported.push(architecture);
          continue;
        }
        for (const flags of [verification, PRODUCTION]) {
          for (const source of folders) {
            const output = mkdtempSync(join(folder, 'build-'));
            const files = kernels.filter((file) => dirname(file) === source).map(absolute);
            const threads = ['--threads', `${concurrency}`];
            await run('nvcc', ['-ptx', `-arch=${architecture}`, ...flags, ...threads, '-odir', output, ...files]);
            const made = readdirSync(output).map((name) => join(output, name));
            assert.equal(made.length, files.length, `${source} for ${architecture}`);
            texts.push(...made.map((path) => ({ path, architecture })));
          }
        }
      }
      let refused = 0;
      await forEach(texts, async ({ path, architecture }) => {
        const first = parsePtx(readFileSync(path, 'utf8'), path);
        assert.deepEqual(first.diagnostics, [], path);
        const printed = printModule(first.module);
        assert.deepEqual(withoutSpans(parsePtx(printed).module), withoutSpans(first.module), path);
        const refusal = await assemble(printed, architecture, `${path}.printed`);
        if (refusal === null) return;
        // Inline assembly may require more than the architecture has: then ptxas rejects the output of nvcc as well.
        assert.match(refusal, /requires \.target sm_\d+ or higher/u, path);
        assert.notEqual(await assemble(readFileSync(path, 'utf8'), architecture, path), null, path);
        refused++;
      });
      context.diagnostic(`${texts.length} texts printed and assembled, ${refused} of them refused like nvcc's own`);
      if (unsupported.length > 0) {
        context.diagnostic(`this nvcc lacks ${unsupported.join(', ')}: ${expected - texts.length} texts were not made`);
      }
      assert.equal(texts.length, kernels.length * 2 * (ARCHITECTURES.length - unsupported.length));
    }),
);
