/** Writes the PTX of both builds beside every test kernel: `node test/kernels/regenerate.ts [NAME…]`. */
import { writeFileSync } from 'node:fs';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { compilePortable, kernelFiles, ptxFile } from './portable-ptx.ts';

const names = process.argv.slice(2);
const found = await findCompiler({ env: process.env });
if ('diagnostic' in found) {
  console.error(found.diagnostic.message);
  process.exit(3);
}
const files = kernelFiles().filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
for (const file of files) {
  for (const build of ['verification', 'production'] as const) {
    const ptx = await compilePortable(found.compiler, file, build);
    writeFileSync(ptxFile(file, build), ptx);
  }
}
console.log(`${files.length} kernels, nvcc ${found.compiler.version.text}`);
