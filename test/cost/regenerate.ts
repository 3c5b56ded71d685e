/** Writes the PTX of both builds beside the kernels of this folder: `node test/cost/regenerate.ts`. */
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { compilePortable, kernelFiles, ptxFile } from '../kernels/portable-ptx.ts';

const found = await findCompiler({ env: process.env });
if ('diagnostic' in found) {
  console.error(found.diagnostic.message);
  process.exit(3);
}
for (const file of kernelFiles(dirname(fileURLToPath(import.meta.url)))) {
  for (const build of ['verification', 'production'] as const)
    writeFileSync(ptxFile(file, build), await compilePortable(found.compiler, file, build));
}
