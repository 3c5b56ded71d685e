/**
 * Prints by tier how many proved obligations of the test kernels carry a certificate, and how many of those are shown
 * again: `node test/certificate/measure.ts [PART OF A FILE'S NAME]`.
 */
import { checkCertificates } from '../../src/certificate/checker.ts';
import { closeSolver } from '../check/kernel-text.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { certificatesOf } from './certified-kernels.ts';

const claims = {
  apart: 'an affine argument',
  clauses: 'clauses with Farkas multipliers',
  script: 'a script and its answer',
  none: 'no certificate',
} as const;
const wanted = process.argv[2] ?? '';
/** By tier and claim. */
const rows = new Map<string, number>();
let [proved, verified, bytes] = [0, 0, 0];
const refused: string[] = [];
for (const file of kernelFiles().filter((name) => name.includes(wanted))) {
  for (const certificates of await certificatesOf(file)) {
    for (const { tier, proof } of certificates.launches.flatMap(({ obligations }) => obligations)) {
      const row = `${tier}, ${claims[proof?.claim.kind ?? 'none']}`;
      rows.set(row, (rows.get(row) ?? 0) + 1);
      proved++;
    }
    const text = JSON.stringify(certificates);
    bytes += text.length;
    const checked = checkCertificates(text);
    verified += checked.verified;
    refused.push(...checked.refused.map((reason) => `${file}: ${certificates.kernel}: ${reason}`));
  }
}
await closeSolver();
for (const [row, count] of [...rows].sort(([, a], [, b]) => b - a)) console.log(`${String(count).padStart(7)} ${row}`);
const share = proved === 0 ? 0 : (100 * verified) / proved;
console.log(`${verified} of ${proved} proved obligations were shown again (${share.toFixed(1)} %), ${bytes} bytes`);
for (const line of refused) console.log(`refused: ${line}`);
process.exitCode = refused.length > 0 ? 1 : 0;
