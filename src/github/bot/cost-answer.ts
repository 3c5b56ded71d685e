/** Answers `/selvage cost KERNEL`. */
import { kernelName } from '../../cuda/names/kernel-name.ts';
import { kernelPatternProblem, matchKernel } from '../../cuda/names/kernel-pattern.ts';
import { costTable } from '../../report/cost/cost-markdown.ts';
import { codeSpan } from '../../report/markup/inert-markdown.ts';
import type { KernelReport, Report } from '../../report-model/report.ts';
import { COMMENT_BUDGET, fitMarkdown } from '../text/fit-markdown.ts';

/** Maximum number of kernels whose costs are in one answer; the names of others are listed. */
const maxTables = 8;
/** Maximum number of names in a list. */
const maxNames = 30;
/** Bytes of a comment for the marker and the cut. */
const reserve = 1000;

/**
 * The costs of the kernels with a name: `reduce` is also `ns::reduce` and each `ns::reduce<256, float>`.
 * @param pattern a name or glob, written by a user
 */
export function costAnswer(pattern: string, { kernels }: Report): string {
  const problem = kernelPatternProblem(pattern, false);
  if (problem !== undefined) return `The name ${codeSpan(pattern)} ${problem}.`;
  const costly = kernels.filter(({ cost }) => cost);
  const found = costly.filter((kernel) => isNamed(kernel, pattern));
  if (found.length === 0) {
    const others = costly.length === 0 ? '' : ` Those with costs: ${nameList(costly)}.`;
    return `No kernel that this pull request changes has costs and the name ${codeSpan(pattern)}.${others}`;
  }
  const tables = found.slice(0, maxTables).map(({ name, cost }) => `${codeSpan(name)}\n\n${costTable(cost!).join('\n')}`);
  const left = found.slice(maxTables);
  const more = left.length === 0 ? [] : [`Also named so: ${nameList(left)}. Give more of a name to see its costs.`];
  const note = '*Shortened: give more of a name to see the costs of one kernel.*';
  return fitMarkdown([...tables, ...more].join('\n\n'), COMMENT_BUDGET - reserve, note);
}

function nameList(kernels: readonly KernelReport[]): string {
  const names = [...new Set(kernels.map(({ name }) => name))];
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return `${names.slice(0, maxNames).map(codeSpan).join(', ')}${more}`;
}

/** Whether a pattern selects a kernel by its full name, or by the end of its qualified name. */
function isNamed({ name, symbol }: KernelReport, pattern: string): boolean {
  const { qualified } = kernelName(symbol);
  return [name, ...endsOf(qualified)].some((text) => matchKernel(pattern, text, symbol));
}

/** A qualified name and its ends after each `::` that is not inside brackets. */
function endsOf(qualified: string): string[] {
  const ends = [qualified];
  let depth = 0;
  for (const [at, character] of [...qualified].entries()) {
    if ('<({'.includes(character)) depth += 1;
    else if ('>)}'.includes(character)) depth -= 1;
    else if (depth === 0 && qualified.startsWith('::', at)) ends.push(qualified.slice(at + 2));
  }
  return ends;
}
