/** Identity of the code of this program: results of other versions are not reused. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The digest of all files of a bundle, in the bundle (`.github/build.ts`). */
const digestFile = 'digest.txt';

let known: string | undefined;

/** Digest of the program's code as 64 hexadecimal digits; for a bundle, it is computed when the bundle is built. */
export function codeIdentity(): string {
  known ??= import.meta.url.endsWith('.ts') ? digestOfSource() : bundleDigest();
  return known;
}

function bundleDigest(): string {
  return readFileSync(new URL(digestFile, import.meta.url), 'utf8').trim();
}

function digestOfSource(): string {
  const folder = fileURLToPath(new URL('../..', import.meta.url));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file.slice(folder.length)}\0`).update(readFileSync(file));
  return hash.digest('hex');
}
