/** Writes the PTX of both builds next to the kernels of this folder: `node test/cost/regenerate.ts`. */
import { writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { compilePortable, kernelFiles, ptxFile, root } from '../kernels/portable-ptx.ts';

const found = await findCompiler({ env: process.env });
if ('diagnostic' in found) {
  console.error(found.diagnostic.message);
  process.exit(3);
}
const folder = dirname(fileURLToPath(import.meta.url));
// The kernels of subfolders are compiled by their tests.
const files = kernelFiles(folder).filter((file) => dirname(file) === relative(root, folder));
for (const file of files) {
  for (const build of ['verification', 'production'] as const)
    writeFileSync(ptxFile(file, build), await compilePortable(found.compiler, file, build));
}
