/** Writes the PTX of both builds next to every kernel of these tests: `node test/interpreter/regenerate.ts [NAME…]`. */
import { writeFileSync } from 'node:fs';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { compilePortable, ptxFile } from '../kernels/portable-ptx.ts';
import { architectureOf, builds, machineFiles, originLine, sourceOf } from './machine-kernels.ts';

const names = process.argv.slice(2);
const found = await findCompiler({ env: process.env });
if ('diagnostic' in found) {
  console.error(found.diagnostic.message);
  process.exit(3);
}
const files = machineFiles().filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
for (const file of files) {
  const source = sourceOf(file);
  for (const build of builds) {
    const ptx = await compilePortable(found.compiler, file, build, architectureOf(source));
    writeFileSync(ptxFile(file, build), originLine(source) + ptx);
  }
}
console.log(`${files.length} kernels, nvcc ${found.compiler.version.text}`);
