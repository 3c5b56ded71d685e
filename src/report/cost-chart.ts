/** A bound over one of its names, base against head, as Mermaid draws it. */
import { parseBound } from '../cost/bound-parser.ts';
import { type Expression, evaluate, namesOf } from '../cost/expression.ts';
import { compareGrowth, growthIn } from '../cost/growth.ts';
import type { Regression } from '../driver/report.ts';

/** What the name is of its reference value. */
const shares: readonly (readonly [bigint, bigint])[] = [[1n, 8n], [1n, 4n], [1n, 2n], [1n, 1n], [2n, 1n], [4n, 1n]]; // prettier-ignore
/** Above that numbers print with exponents, which the syntax does not have. */
const largest = 1e15;

export interface Chart {
  readonly text: string;
  /** What its lines are: nothing in the drawing says it. */
  readonly legend: string;
}

/**
 * The bounds of a regression over the name with which the head grows most; undefined where there is none to draw.
 * Labels are quoted and plain: others are errors of syntax in the versions that are in use.
 */
export function costChart({ base, head, at = {}, metric }: Regression): Chart | undefined {
  if (typeof base !== 'string' || typeof head !== 'string') return undefined;
  const [before, after] = [read(base), read(head)];
  if (!before || !after) return undefined;
  const names = Object.keys(at).filter((name) => namesOf(after).has(name) || namesOf(before).has(name));
  const growing = names
    .filter((name) => !/^(?:block|grid)Dim\./.test(name))
    .sort((a, b) => compareGrowth(growthIn(after, b), growthIn(after, a)));
  const [name] = growing;
  const reference = name === undefined ? undefined : BigInt(at[name]!);
  if (name === undefined || reference === undefined || reference < 8n) return undefined;
  const sizes = shares.map(([top, bottom]) => (reference * top) / bottom);
  const valuesOf = (bound: Expression): number[] =>
    sizes.map((size) => {
      const value = evaluate(bound, (other) => (other === name ? size : BigInt(at[other] ?? 1)));
      return value ? Math.round((Number(value.top) / Number(value.bottom)) * 100) / 100 : 0;
    });
  const [lower, upper] = [valuesOf(before), valuesOf(after)];
  const most = Math.max(...lower, ...upper);
  if (most > largest || most <= 0) return undefined;
  const label = (text: string): string => `"${text.replace(/[^A-Za-z0-9_. ]/g, '')}"`;
  const text = [
    'xychart-beta',
    `  x-axis ${label(name)} [${sizes.map((size) => label(String(size))).join(', ')}]`,
    `  y-axis ${label(`${metric} of one warp`)} 0 --> ${Math.ceil(most)}`,
    `  line [${lower.join(', ')}]`,
    `  line [${upper.join(', ')}]`,
  ].join('\n');
  const fixed = Object.entries(at).filter(([other]) => other !== name);
  const rest = fixed.length === 0 ? '' : ` at ${fixed.map(([other, value]) => `${other} = ${value}`).join(', ')}`;
  return { text, legend: `${metric} of one warp over ${name}${rest}; the first line is the base, the second the head` };
}

function read(text: string): Expression | null {
  const parsed = parseBound(text);
  return 'expression' in parsed ? parsed.expression : null;
}
