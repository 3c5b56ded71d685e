/** How a file writes the wait of programmatic dependent launch: `cudaGridDependencySynchronize();`, a wrapper or a macro of its project, or PTX. */
import type { CudaSource } from '../syntax/syntax.ts';
import { type SyntaxNode, nodesWhere } from '../syntax/syntax-tree.ts';

const usual = 'cudaGridDependencySynchronize();';

/** A call without arguments, a macro, or inline assembly. */
const waiting = /^(?:(?:\w+::)*\w+\s*(?:\(\s*\))?|asm\b[^;]*"\s*griddepcontrol\.wait\s*;[^]*)\s*;$/;

/** A macro that waits, with its parentheses if it has some. */
const definition = /^[ \t]*#[ \t]*define[ \t]+(\w+(?:\(\s*\))?)[ \t]+[^\n]*(?:cudaGridDependencySynchronize|griddepcontrol\.wait)/gm;

/**
 * The statements that may be a wait, those first that the file uses most often: one of them waits in the build of the kernel.
 * @param lines on which kernels wait
 */
export function waitSpellings(source: CudaSource, lines: readonly number[]): readonly string[] {
  const isInKernel = ({ start, end }: SyntaxNode): boolean =>
    source.functions.some((one) => one.kind === 'kernel' && one.start <= start && end <= one.end);
  const nodes = waitStatements(source, new Set(lines)).map((node) => ({ words: source.text.slice(node.start, node.end), node }));
  const used = nodes.map(({ words }) => words);
  // A function of the file that waits is called by kernels.
  const count = (words: string): number => nodes.filter((one) => one.words === words && isInKernel(one.node)).length;
  const defined = [...source.text.matchAll(definition)].map(([, name]) => `${name!};`);
  return [...new Set([...used.toSorted((a, b) => count(b) - count(a)), ...defined, usual])];
}

/** The statements on some lines that can only be waits. */
export function waitStatements(source: CudaSource, lines: ReadonlySet<number>): readonly SyntaxNode[] {
  const isStatement = ({ type, line, start, end }: SyntaxNode): boolean =>
    type === 'expression_statement' && lines.has(line) && waiting.test(source.text.slice(start, end));
  return nodesWhere(source.tree(), isStatement);
}
