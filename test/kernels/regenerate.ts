/** Writes the PTX of both builds of every test kernel, and the record: `node test/kernels/regenerate.ts [NAME…]`. */
import { writeFileSync } from 'node:fs';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { type BuildRecord, commandOf, hashesOf, headerHash, readRecord, recordFile } from './build-record.ts';
import { compilePortable, kernelFiles, ptxFile } from './portable-ptx.ts';

const names = process.argv.slice(2);
const found = await findCompiler({ env: process.env });
if ('diagnostic' in found) {
  console.error(found.diagnostic.message);
  process.exit(3);
}
const all = kernelFiles();
const files = all.filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
for (const file of files) {
  for (const build of ['verification', 'production'] as const) {
    const ptx = await compilePortable(found.compiler, file, build);
    writeFileSync(ptxFile(file, build), ptx);
  }
}
// Entries of files that were not compiled now are preserved.
const before: BuildRecord['files'] = files.length === all.length ? {} : readRecord().files;
const record: BuildRecord = {
  compiler: found.compiler.version.text,
  commands: { verification: await commandOf('verification'), production: await commandOf('production') },
  header: headerHash(),
  files: Object.fromEntries(all.map((file) => [file, files.includes(file) ? hashesOf(file) : (before[file] ?? '')])),
};
writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`);
console.log(`${files.length} kernels, nvcc ${found.compiler.version.text}`);
