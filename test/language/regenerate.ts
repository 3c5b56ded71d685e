/** Writes the counts that `language.test.ts` compares with, after words were replaced. Run: node test/language/regenerate.ts */
import { writeFileSync } from 'node:fs';
import { format } from 'oxfmt';
import { countBannedWords } from './count.ts';

const { code } = await format('counts.json', JSON.stringify(countBannedWords()), { printWidth: 120 });
writeFileSync(new URL('counts.json', import.meta.url), code);
