/** The documentation agrees with the code: generated pages are current, links have targets. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { validatorsBuildCommand } from '../../src/app/idempotency/emitted-readme.ts';
import { interposerBuildCommand } from '../../src/interposer/build-command.ts';
import { parseConfiguration } from '../../src/settings/configuration-parser.ts';
import { configurationJsonSchema, factsJsonSchema, type JsonSchema } from './configuration-schema.ts';
import { generatedPages, namingFiles, withPublishedName } from './pages.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const docs = join(root, 'src/docs');
const read = (path: string): string => readFileSync(path, 'utf8');

test('the JSON Schema of the configuration is current (npm run regenerate)', () => {
  const written: unknown = JSON.parse(read(join(root, 'src/settings/configuration.schema.json')));
  assert.deepEqual(written, JSON.parse(JSON.stringify(configurationJsonSchema())));
});

test('the JSON Schema of files of facts is current (npm run regenerate)', () => {
  const written: unknown = JSON.parse(read(join(root, 'src/settings/facts.schema.json')));
  assert.deepEqual(written, JSON.parse(JSON.stringify(factsJsonSchema())));
});

test('pages generated from tables of the code are current and complete (npm run regenerate)', () => {
  const pages = generatedPages();
  for (const [path, text] of pages) assert.equal(existsSync(join(docs, path)) && read(join(docs, path)), text, path);
  const there = readdirSync(join(docs, 'diagnostics'), { recursive: true, encoding: 'utf8' });
  for (const path of there.filter((name) => name.endsWith('.md'))) assert.ok(pages.has(`diagnostics/${path.replaceAll('\\', '/')}`), path);
});

test('the action has its published name (npm run regenerate)', () => {
  const pages = [
    'README.md',
    ...readdirSync(docs)
      .filter((name) => name.endsWith('.md'))
      .map((name) => `src/docs/${name}`),
  ];
  const naming = pages.filter((path) => / uses: \S*selvage\S*@/.test(read(join(root, path))));
  assert.deepEqual(naming, namingFiles);
  for (const path of naming) assert.equal(read(join(root, path)), withPublishedName(read(join(root, path))), path);
});

test('every key of the configuration is described', () => {
  const missing: string[] = [];
  const visit = (schema: JsonSchema, path: string): void => {
    for (const [key, inner] of Object.entries(schema.properties ?? {})) {
      if (!/\.$/.test(inner.description ?? '')) missing.push(path + key);
      visit(inner.items ?? inner, `${path}${key}.`);
    }
  };
  visit(configurationJsonSchema(), '');
  assert.deepEqual(missing, []);
});

test('the JSON Schema accepts and refuses the same as the parser', () => {
  const validate = new Ajv({ strict: false }).compile(configurationJsonSchema());
  const right = [
    'version: 1',
    'version: 1\nkernels: [{ match: "a*", block: 256, grid: [1, 2, 3], args: { n: 4, f: 1.5, g: true } }]',
    'version: 1\nchecks: { race: { same-value-writes: allow }, cost: { sectors: { warn: "+5%", fail: 4 } } }',
    'version: 1\nsuppress: [{ code: race/global, reason: old, until: 2027-06-30 }]',
    'version: 1\nkernels: [{ match: k, limits: { registers: 64, occupancy: ">= 50%", sectors: "<= 8*n" } }]',
  ];
  const wrong = [
    '{}',
    'version: 2',
    'version: 1\nunknown: 3',
    'version: 1\narch: sm_80',
    'version: 1\narch: [compute_80]',
    'version: 1\nkernels: [{ block: 256 }]',
    'version: 1\nkernels: [{ match: k, block: [] }]',
    'version: 1\nkernels: [{ match: k, block: [1, 2, 3, 4] }]',
    'version: 1\nkernels: [{ match: k, shared: -1 }]',
    'version: 1\nchecks: { race: { severity: loud } }',
    'version: 1\nchecks: { repair: { loop-weight: 101 } }',
    'version: 1\nsuppress: [{ code: race/nowhere, reason: old }]',
    'version: 1\nkernels: [{ match: k, limits: { occupancy: 50 } }]',
  ];
  const isTaken = (text: string): boolean => parseConfiguration(text, 'c.yml').diagnostics.length === 0;
  for (const text of right) {
    assert.ok(validate(parse(text)), `${text}: ${JSON.stringify(validate.errors)}`);
    assert.ok(isTaken(text), text);
  }
  for (const text of wrong) {
    assert.ok(!validate(parse(text)), text);
    assert.ok(!isTaken(text), text);
  }
});

test('links of the documentation point to existing files and headings', () => {
  const anchorsOf = (text: string): Set<string> =>
    new Set(
      [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
        heading!
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
          .replaceAll(' ', '-'),
      ),
    );
  const broken: string[] = [];
  const pages = [
    'README.md',
    'CHANGELOG.md',
    ...readdirSync(docs, { recursive: true, encoding: 'utf8' }).map((path) => `src/docs/${path}`),
  ].filter((path) => path.endsWith('.md') && existsSync(join(root, path)));
  for (const page of pages) {
    const text = read(join(root, page)).replaceAll(/^```[^]*?^```$/gm, '');
    for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target!)) continue;
      const [path = '', anchor] = target!.split('#');
      const file = path === '' ? join(root, page) : join(root, dirname(page), path);
      if (!existsSync(file)) broken.push(`${page}: ${target}`);
      else if (anchor !== undefined && !anchorsOf(read(file)).has(anchor)) broken.push(`${page}: ${target}`);
    }
  }
  assert.deepEqual(broken, []);
});

test('the commands that build the interposer and validators are those that work', () => {
  for (const [page, folder] of [
    ['src/docs/idempotency.md', 'DIR/interposer'],
    ['src/docs/command-line.md', 'interposer'],
  ] as const)
    assert.ok(read(join(root, page)).includes(interposerBuildCommand(folder)), page);
  assert.ok(read(join(root, 'src/docs/command-line.md')).includes(validatorsBuildCommand));
});
