/**
 * Prints by tier how many proved obligations of the test kernels carry a certificate, and how many of those are shown
 * again: `node test/certificate/measure.ts [PART OF A FILE'S NAME]`.
 */
import { checkCertificates } from '../../src/certificate/checker.ts';
import { closeSolver } from '../check/kernel-text.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { certificatesOf } from './certified-kernels.ts';

const wanted = process.argv[2] ?? '';
const rows = new Map<string, { proved: number; certified: number }>();
let [proved, verified, bytes] = [0, 0, 0];
const refused: string[] = [];
for (const file of kernelFiles().filter((name) => name.includes(wanted))) {
  for (const certificates of await certificatesOf(file)) {
    for (const { tier, proof } of certificates.launches.flatMap(({ obligations }) => obligations)) {
      const row = rows.get(tier) ?? { proved: 0, certified: 0 };
      rows.set(tier, { proved: row.proved + 1, certified: row.certified + (proof ? 1 : 0) });
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
for (const [tier, row] of [...rows].sort(([, a], [, b]) => b.proved - a.proved))
  console.log(`${tier.padEnd(12)} ${String(row.proved).padStart(7)} proved ${String(row.certified).padStart(7)} with a certificate`); // prettier-ignore
const share = proved === 0 ? 0 : (100 * verified) / proved;
console.log(`${verified} of ${proved} proved obligations were shown again (${share.toFixed(1)} %), ${bytes} bytes`);
for (const line of refused) console.log(`refused: ${line}`);
process.exitCode = refused.length > 0 ? 1 : 0;
