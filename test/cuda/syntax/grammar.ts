import { readFile } from 'node:fs/promises';
import { loadCudaGrammar } from '../../../src/cuda/syntax/syntax.ts';
import type { CudaParser } from '../../../src/cuda/syntax/syntax.ts';

let parser: Promise<CudaParser> | undefined;

/** The parser on the modules of the installed packages. */
export function cudaParser(): Promise<CudaParser> {
  const file = (path: string): Promise<Uint8Array> => readFile(new URL(`../../../node_modules/${path}`, import.meta.url));
  parser ??= (async () =>
    loadCudaGrammar({
      runtime: await file('web-tree-sitter/web-tree-sitter.wasm'),
      grammar: await file('tree-sitter-cuda/tree-sitter-cuda.wasm'),
    }))();
  return parser;
}

/** The line (from 1) that contains a marker. */
export function lineOf(text: string, marker: string): number {
  const index = text.split('\n').findIndex((line) => line.includes(marker));
  if (index === -1) throw new Error(`no line holds ${marker}`);
  return index + 1;
}
