/** Writes the production PTX beside the kernels of the corpus: `node test/idempotency/regenerate.ts [FILE…]`. */
import { writeFileSync } from 'node:fs';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { compilePortable, ptxFile } from '../kernels/portable-ptx.ts';
import { originLine, sourceOf } from '../machine/machine-kernels.ts';
import { corpusFiles } from './corpus.ts';

const names = process.argv.slice(2);
const found = await findCompiler({ env: process.env });
if ('diagnostic' in found) {
  console.error(found.diagnostic.message);
  process.exit(3);
}
const files = corpusFiles().filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
for (const file of files)
  writeFileSync(
    ptxFile(file, 'production'),
    originLine(sourceOf(file)) + (await compilePortable(found.compiler, file, 'production')),
  );
console.log(`${files.length} files, nvcc ${found.compiler.version.text}`);
