/** Pages of `src/docs` that are made of tables of the code. */
import type { CodeEntry } from '../../src/source/code-entry.ts';
import { codes } from '../../src/source/codes.ts';
import { publishedAction, publishedTag } from '../../src/system/version.ts';
import { configurationJsonSchema, type JsonSchema } from './configuration-schema.ts';

/** Files that name the action, from the root: those that a user reads. */
export const namingFiles = ['README.md', 'src/docs/default-branch.md', 'src/docs/github.md'];

/** A text with the action by the name that it is published under. */
export function withPublishedName(text: string): string {
  const image = `ghcr.io/${publishedAction.toLowerCase()}:${publishedTag}`;
  return text
    .replaceAll(/ghcr\.io\/[\w.-]+\/selvage:[\w.-]+/g, image)
    .replaceAll(
      /(uses: )[\w.-]+\/selvage(\/post)?@[\w.-]+/g,
      (_, uses: string, folder = '') => `${uses}${publishedAction}${folder}@${publishedTag}`,
    );
}

const made = '<!-- Made by `npm run regenerate`; edits are lost. -->';

/** Path below `src/docs` and text of each page. */
export function generatedPages(): Map<string, string> {
  const pages = new Map<string, string>();
  pages.set('configuration-keys.md', configurationPage());
  for (const [code, entry] of Object.entries(codes)) pages.set(`diagnostics/${code}.md`, diagnosticPage(code, entry));
  pages.set('diagnostics/README.md', diagnosticsPage());
  return pages;
}

/** Output of `selvage explain CODE`. */
function diagnosticPage(code: string, { severity, title, explanation, example, remedy }: CodeEntry): string {
  const language = /^(?:config|suppression|cost|resource|limit)\//.test(code) ? '' : 'cuda';
  return [
    made,
    '',
    `# ${code}`,
    '',
    `${title} Severity: ${severity}.`,
    '',
    explanation,
    '',
    `\`\`\`${language}`,
    example,
    '```',
    '',
    `**Remedy.** ${remedy}`,
    '',
    `\`selvage explain ${code}\` prints this page. [All codes](../README.md).`,
    '',
  ].join('\n');
}

function diagnosticsPage(): string {
  const rows = Object.entries(codes).map(
    ([code, { severity, title }]) => `| [\`${code}\`](${code}.md) | ${severity} | ${title.replaceAll('|', '\\|')} |`,
  );
  return [made, '', '# Codes', '', '| code | severity | meaning |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

/** Every key of `.selvage.yml`. */
function configurationPage(): string {
  const rows: string[] = [];
  const visit = (schema: JsonSchema, path: string): void => {
    for (const [key, inner] of Object.entries(schema.properties ?? {})) {
      const name = path === '' ? key : `${path}.${key}`;
      const value = inner.default === undefined ? '' : `\`${plain(inner.default)}\``;
      rows.push(`| \`${name}\` | ${typeText(inner)} | ${value} | ${(inner.description ?? '').replaceAll('|', '\\|')} |`);
      visit(inner.items?.properties ? inner.items : inner, inner.items?.properties ? `${name}[]` : name);
    }
  };
  visit(configurationJsonSchema(), '');
  return [
    made,
    '',
    '# Keys of .selvage.yml',
    '',
    '[Configuration](configuration.md) explains them with examples. Editors complete them with',
    '[the JSON Schema](../settings/configuration.schema.json), if the file begins with',
    '`# yaml-language-server: $schema=…/src/settings/configuration.schema.json`; `selvage init` writes that line.',
    '',
    '| key | value | default | meaning |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function typeText({ type, enum: values, anyOf, items, const: only, minimum, maximum }: JsonSchema): string {
  if (values) return values.length > 8 ? 'a code' : values.map((value) => `\`${plain(value)}\``).join(', ');
  if (only !== undefined) return `\`${plain(only)}\``;
  if (anyOf) return [...new Set(anyOf.map(typeText))].join(' or ');
  if (items) return items.properties ? 'list of mappings' : `list of ${typeText(items)}`;
  if (type === 'integer') return minimum === undefined ? 'whole number' : `whole number from ${minimum} to ${maximum}`;
  const names: Readonly<Record<string, string>> = { string: 'text', boolean: '`true`, `false`', object: 'mapping' };
  return names[type ?? ''] ?? type ?? '';
}

/** A value other than a mapping, as YAML writes it. */
function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
