/** Counts of banned words by top folder: in comments and strings of code, and in documents. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bannedWords } from './banned-words.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** By top folder, `src/check` or `test/app`: by word, how often it occurs. Words that do not occur are left out. */
export type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Files that hold no prose of ours: tables of these words, and recorded texts. */
const left = /^test\/language\/|^\.github\/STYLE\.md$|^src\/docs\/diagnostics\/|\.(?:ptx|json)$|^CHANGELOG\.md$/;

/** Counts the banned words of all tracked files. */
export function countBannedWords(): Counts {
  const listed = execFileSync('git', ['ls-files', '-z', 'src', 'test', 'README.md', '.github'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const counts: Record<string, Record<string, number>> = {};
  for (const path of listed.split('\0')) {
    if (!/\.(?:ts|md|cu|cuh)$/.test(path) || left.test(path)) continue;
    if (!statSync(join(root, path), { throwIfNoEntry: false })?.isFile()) continue;
    const folder = path
      .split('/')
      .slice(0, path.includes('/') ? 2 : 1)
      .join('/');
    const counted = (counts[/\.\w+$/.test(folder) ? path.split('/')[0]! : folder] ??= {});
    const prose = proseOf(path, readFileSync(join(root, path), 'utf8'));
    for (const { name, pattern } of bannedWords) {
      const found = prose.match(pattern)?.length ?? 0;
      if (found > 0) counted[name] = (counted[name] ?? 0) + found;
    }
  }
  return counts;
}

/** Comments and strings of code without the rest; a document as it is. */
export function proseOf(path: string, text: string): string {
  if (path.endsWith('.md')) return text.replaceAll(/```[^]*?```|`[^`\n]*`/g, ' ');
  const pieces = text.match(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`|\/\*[^]*?\*\/|(?<![\\/[:])\/\/[^\n]*/g) ?? [];
  // Code within a comment, and a substitution within a template, are no prose.
  return pieces
    .map((piece) => (/^\/[/*]/.test(piece) ? piece.replaceAll(/`[^`\n]*`/g, ' ') : piece.replaceAll(/\$\{[^}]*\}/g, ' ')))
    .join('\n');
}
