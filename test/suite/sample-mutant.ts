/**
 * Checks and runs one mutant of a sample, in a separate process that `sample-mutants.ts` can end: `node
 * sample-mutant.ts FOLDER UNIT COMMON KERNEL ORIGINAL`. ORIGINAL is the file with the PTX of the unmodified unit; if it
 * does not exist, the unit is built into it, and nothing is checked. Prints the result as JSON: a judgement, or null if
 * the mutant does not compile, or compiles to the same PTX.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { optionDefaults } from '../../src/settings/defaults.ts';
import { checkMutant, judgementOf, withoutPlaces } from '../kernels/judged-mutant.ts';

/** Blocks of samples have up to 1024 threads with some hundred instructions each. */
const steps = 3_000_000;

const [folder, path, common, kernel, original] = process.argv.slice(2) as [string, string, string, string, string];
const unit = { folder, path, arch: optionDefaults.arch, nvccArguments: ['-std=c++17', `-I${common}`], kernel };
const known = existsSync(original) ? readFileSync(original, 'utf8') : undefined;
const checked = await checkMutant(unit, (ptx) => {
  if (known === undefined) writeFileSync(original, withoutPlaces(ptx));
  return known !== undefined && withoutPlaces(ptx) !== known;
});
process.stdout.write(JSON.stringify(checked && judgementOf(checked.requests, checked.reports, steps)));
