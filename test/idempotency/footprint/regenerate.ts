/** Writes the production PTX next to the kernels of this folder: `node test/idempotency/footprint/regenerate.ts`. */
import { writeFileSync } from 'node:fs';
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { compilePortable, ptxFile } from '../../kernels/portable-ptx.ts';

const found = await findCompiler({ env: process.env });
if ('diagnostic' in found) {
  console.error(found.diagnostic.message);
  process.exit(3);
}
const file = 'test/idempotency/footprint/kernels.cu';
writeFileSync(ptxFile(file, 'production'), await compilePortable(found.compiler, file, 'production'));
