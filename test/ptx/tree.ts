/** Shared by the tests of the PTX layer: trees without positions, and texts by name. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Module, PtxStatement } from '../../src/ptx/ast.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The tree as plain data without the positions of statements, to compare the meaning of two texts. */
export function withoutSpans(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSpans);
  if (value instanceof Map) return [...value].map(withoutSpans);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== 'span')
      .map(([key, field]) => [key, withoutSpans(field)]),
  );
}

/** The statements of a function of the module, those of its scopes in their places. */
export function statementsOf(module: Module, name: string): readonly PtxStatement[] {
  const flatten = (body: readonly PtxStatement[]): readonly PtxStatement[] =>
    body.flatMap((statement) => (statement.kind === 'scope' ? flatten(statement.body) : [statement]));
  for (const item of module.items) {
    if ((item.kind === 'entry' || item.kind === 'func') && item.name === name && item.body) return flatten(item.body);
  }
  throw new Error(`no body of ${name}`);
}

/** Paths below the repository of the files with an ending in a folder of it and in the folders in it, sorted. */
export function filesBelow(folder: string, ending: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .toSorted();
}

/** The text of a file of the repository. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The absolute path of a file of the repository. */
export function absolute(path: string): string {
  return join(root, path);
}
