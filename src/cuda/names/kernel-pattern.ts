import { compileGlob } from '../../base/glob.ts';
import { withoutTemplateArguments } from './demangle.ts';

/** Longer regular expressions and names are rejected: matching can take exponential time. */
const maximumExpression = 200;
const maximumName = 500;

/**
 * Whether a kernel pattern selects a kernel. A glob (`*` any text, `?` one character) is matched whole against the
 * qualified name, otherwise against that without template arguments; `/…/` is a regular expression, matched anywhere in
 * it. The symbol of the kernel in PTX selects it too.
 * @param pattern - one for which {@link kernelPatternProblem} finds nothing
 * @param name - qualified, for example `ns::reduce<256, float>`
 * @param symbol - of the kernel in PTX, if known
 */
export function matchKernel(pattern: string, name: string, symbol?: string): boolean {
  if (pattern === symbol) return true;
  const expression = /^\/(.+)\/$/s.exec(pattern)?.[1];
  if (expression !== undefined) {
    if (kernelPatternProblem(pattern) !== undefined || name.length > maximumName) return false;
    return new RegExp(expression, 'u').test(name);
  }
  // Brackets are part of names: `data[4]`, `{lambda(int)#1}`.
  const glob = compileGlob(canonical(pattern), { separator: null, hasChoices: false });
  return glob.test(canonical(name)) || glob.test(canonical(withoutTemplateArguments(name)));
}

/** The error in a kernel pattern, as the end of a sentence; undefined if it is valid. */
export function kernelPatternProblem(pattern: string, allowExpression = true): string | undefined {
  if (pattern.trim() === '') return 'is empty; give the name of a kernel or a glob such as reduce*';
  const expression = /^\/(.+)\/$/s.exec(pattern)?.[1];
  if (expression === undefined) return undefined;
  if (!allowExpression) return 'is a regular expression; only the command line takes one, write a glob such as reduce*';
  if (expression.length > maximumExpression) return `is longer than ${maximumExpression} characters`;
  try {
    new RegExp(expression, 'u');
    return undefined;
  } catch {
    return 'is not a valid regular expression';
  }
}

/** Spaces and the suffixes of integers carry no meaning: `reduce<256u,float>` is `reduce<256, float>`. */
function canonical(name: string): string {
  return name
    .trim()
    .replace(/\s*([<>,*&():?])\s*/g, '$1')
    .replace(/(?<![\w.])(\d+)[uUlL]+(?=[,>])/g, '$1');
}
