/** Writes the PTX of both builds next to the kernels of the corpus: `node test/idempotency/regenerate.ts [FILE…]`. */
import { writeFileSync } from 'node:fs';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { compilePortable, ptxFile } from '../kernels/portable-ptx.ts';
import { builds, originLine, sourceOf } from '../interpreter/machine-kernels.ts';
import { corpusFiles } from './corpus.ts';

const names = process.argv.slice(2);
const found = await findCompiler({ env: process.env });
if ('diagnostic' in found) {
  console.error(found.diagnostic.message);
  process.exit(3);
}
const files = corpusFiles().filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
for (const file of files) {
  const origin = originLine(sourceOf(file));
  for (const build of builds) writeFileSync(ptxFile(file, build), origin + (await compilePortable(found.compiler, file, build)));
}
for (const classes of ['classes', 'elsewhere', 'split', 'textures'].map((name) => `test/idempotency/classes/${name}.cu`))
  writeFileSync(ptxFile(classes, 'production'), await compilePortable(found.compiler, classes, 'production'));
console.log(`${files.length} files, nvcc ${found.compiler.version.text}`);
