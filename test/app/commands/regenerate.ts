/** Writes the PTX that the demo reads without a compiler: `node test/app/commands/regenerate.ts`. */
import { writeFileSync } from 'node:fs';
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { bundledFiles, compileBundled } from './bundled-ptx.ts';

const found = await findCompiler({ env: process.env });
if ('diagnostic' in found) {
  console.error(found.diagnostic.message);
  process.exit(3);
}
const files = bundledFiles();
for (const file of files) writeFileSync(file.file, await compileBundled(found.compiler, file));
console.log(`${files.length} files, nvcc ${found.compiler.version.text}`);
