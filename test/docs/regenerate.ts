/** Writes the schemas in src/settings, the pages of src/docs that are made, and the name of the action. Run: node test/docs/regenerate.ts */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'oxfmt';
import { configurationJsonSchema, factsJsonSchema } from './configuration-schema.ts';
import { generatedPages, namingFiles, withPublishedName } from './pages.ts';

const source = fileURLToPath(new URL('../../src/', import.meta.url));
for (const [name, schema] of [
  ['configuration', configurationJsonSchema()],
  ['facts', factsJsonSchema()],
] as const) {
  const file = `${name}.schema.json`;
  const { code } = await format(file, JSON.stringify(schema, null, 2), { printWidth: 120 });
  writeFileSync(`${source}settings/${file}`, code);
}
rmSync(`${source}docs/diagnostics`, { recursive: true, force: true });
for (const [path, text] of generatedPages()) {
  mkdirSync(dirname(`${source}docs/${path}`), { recursive: true });
  writeFileSync(`${source}docs/${path}`, text);
}
for (const path of namingFiles) writeFileSync(`${source}../${path}`, withPublishedName(readFileSync(`${source}../${path}`, 'utf8')));
