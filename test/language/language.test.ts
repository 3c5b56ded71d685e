/** The words of the field: old ones may only become fewer, and a new folder starts without any. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bannedWords } from './banned-words.ts';
import { countBannedWords, proseOf } from './count.ts';
import counts from './counts.json' with { type: 'json' };

test('no folder has more banned words than before', () => {
  const allowed: Readonly<Record<string, Readonly<Record<string, number>>>> = counts;
  const more: string[] = [];
  for (const [folder, words] of Object.entries(countBannedWords()))
    for (const [name, count] of Object.entries(words)) {
      const most = allowed[folder]?.[name] ?? 0;
      const { instead } = bannedWords.find((word) => word.name === name)!;
      if (count > most) more.push(`${folder}: "${name}" ${count} times, ${most} are allowed; write: ${instead}`);
    }
  assert.equal(more.length, 0, `\n${more.join('\n')}\nFewer are recorded by node test/language/regenerate.ts`);
});

test('words are counted in comments and strings, not in code', () => {
  const prose = proseOf('a.ts', "const rounds = 1; // rounds of `rounds`\nsay('a round', `so ${rounds} rounds`);\n");
  assert.equal(prose.match(bannedWords[0]!.pattern)?.length, 3);
  assert.equal(proseOf('a.md', 'rounds `rounds`\n```\nrounds\n```\n').match(bannedWords[0]!.pattern)?.length, 1);
});
