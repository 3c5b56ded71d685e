/** The hash by which validators and the interposer know code. */
import { createHash } from 'node:crypto';

/**
 * Hash of a PTX text that does not depend on comments and blanks: nvcc embeds PTX without the comments and the indentation
 * that `nvcc -ptx` writes. `code-hash.c` computes the same.
 *
 * @param ptx text of a PTX module
 * @returns SHA-256 of its normal form, 64 digits in lower case. In the normal form each run of blanks, line ends and
 *   comments is one blank, and none is at the beginning or the end. Strings end at a quote or a line end.
 */
export function codeHash(ptx: string): string {
  const normal = ptx
    .replaceAll(/("[^"\n]*"?)|(?:[ \t\n\r\v\f]|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))+/g, (_, kept?: string) => kept ?? ' ')
    .replace(/^ /, '')
    .replace(/ $/, '');
  return createHash('sha256').update(normal).digest('hex');
}
