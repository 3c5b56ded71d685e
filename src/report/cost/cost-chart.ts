/** Charts of the bounds of base and head as functions of one parameter or dimension, as Mermaid and SVG. */
import { argumentsText } from '../../messages/cost/cost-messages.ts';
import type { Regression } from '../../report-model/regression.ts';
import { readBound } from '../../cost/expressions/bound-parser.ts';
import { type Expression, evaluate, namesOf } from '../../cost/expressions/expression.ts';
import { compareGrowth, growthIn } from '../../cost/expressions/growth.ts';

/** Plotted values of the name, as fractions of its reference value. */
const shares: readonly (readonly [bigint, bigint])[] = [
  [1n, 8n],
  [1n, 4n],
  [1n, 2n],
  [1n, 1n],
  [2n, 1n],
  [4n, 1n],
];
/** Maximum plotted value. Larger numbers print with exponents, which Mermaid's syntax does not have. */
const largest = 1e15;

interface Chart {
  readonly name: string;
  /** Plotted values of the name. */
  readonly sizes: readonly bigint[];
  readonly base: readonly number[];
  readonly head: readonly number[];
  readonly metric: string;
  /** Description of the chart, including which curve is which. */
  readonly legend: string;
}

/**
 * Chart of the bounds of a regression over the name in which they diverge most; undefined if no chart is possible, or
 * no plotted value is worse.
 */
export function costChart({ base, head, at = {}, metric, growsWith }: Regression): Chart | undefined {
  if (typeof base !== 'string' || typeof head !== 'string') return undefined;
  const [before, after] = [readBound(base), readBound(head)];
  if (!before || !after) return undefined;
  const names = Object.keys(at).filter((one) => (namesOf(after).has(one) || namesOf(before).has(one)) && !/^(?:block|grid)Dim\./.test(one));
  /** Ratio of head to base at a large size, divided by the ratio at a small size. */
  const change = (one: string): number => {
    const ratio = (size: bigint): number => {
      const [lower = 0, upper = 0] = [before, after].map((bound) =>
        valueAt(bound, (other) => (other === one ? size : BigInt(at[other] ?? 1))),
      );
      return (upper + 1) / (lower + 1);
    };
    const [small, large] = [ratio(BigInt(at[one]!) / 8n), ratio(BigInt(at[one]!) * 4n)];
    return Math.max(small / large, large / small);
  };
  const [name] = names.sort(
    (a, b) =>
      Number(b === growsWith) - Number(a === growsWith) || change(b) - change(a) || compareGrowth(growthIn(after, b), growthIn(after, a)),
  );
  const reference = name === undefined ? 0 : at[name]!;
  if (name === undefined || !Number.isSafeInteger(reference) || reference < 8) return undefined;
  const sizes = shares.map(([top, bottom]) => (BigInt(reference) * top) / bottom);
  const valuesOf = (bound: Expression): number[] =>
    sizes.map((size) => {
      const value = valueAt(bound, (other) => (other === name ? size : BigInt(at[other] ?? 1)));
      return Math.round(value * 100) / 100;
    });
  const [lower, upper] = [valuesOf(before), valuesOf(after)];
  // A launch can cost more although the bound of a warp is lower. A chart of the bound would then contradict the text.
  if (upper.every((value, index) => value <= lower[index]!)) return undefined;
  const most = Math.max(...lower, ...upper);
  if (most > largest || most <= 0 || Math.min(...lower, ...upper) < 0) return undefined;
  const fixed = Object.entries(at).filter(([other]) => other !== name);
  const rest = fixed.length === 0 ? '' : ` at ${argumentsText(Object.fromEntries(fixed))}`;
  return { name, sizes, base: lower, head: upper, metric, legend: `${metric} of one warp over ${name}${rest}` };
}

/** The chart as Mermaid. Labels are quoted and contain plain text only: older versions in use reject others. */
export function mermaidChart({ name, sizes, base, head, metric }: Chart): string {
  const label = (text: string): string => `"${text.replace(/[^A-Za-z0-9_. ]/g, '')}"`;
  return [
    'xychart-beta',
    `  x-axis ${label(name)} [${sizes.map((size) => label(String(size))).join(', ')}]`,
    `  y-axis ${label(`${metric} of one warp`)} 0 --> ${Math.ceil(Math.max(...base, ...head))}`,
    `  line [${base.join(', ')}]`,
    `  line [${head.join(', ')}]`,
  ].join('\n');
}

/** The chart as SVG, 480 by 160. Its text contains only numbers. */
export function svgChart({ sizes, base, head }: Chart): string {
  const [width, height, left, bottom] = [480, 160, 90, 20];
  const most = Math.max(...base, ...head);
  const x = (index: number): number => left + Math.round((index * (width - left - 40)) / (sizes.length - 1));
  const y = (value: number): number => Math.round(8 + (1 - value / most) * (height - bottom - 8));
  const line = (values: readonly number[], kind: string): string =>
    `<polyline class="${kind}" points="${values.map((value, index) => `${x(index)},${y(value)}`).join(' ')}"/>`;
  const ticks = sizes.map((size, index) => `<text x="${x(index)}" y="${height - 4}">${size}</text>`);
  return (
    `<svg class="chart" viewBox="0 0 ${width} ${height}" role="img"><text class="most" x="${left - 6}" y="14">${most}</text>` +
    `<text class="most" x="${left - 6}" y="${height - bottom}">0</text>${ticks.join('')}${line(base, 'base')}${line(head, 'head')}</svg>`
  );
}

function valueAt(bound: Expression, valueOf: (name: string) => bigint): number {
  const value = evaluate(bound, valueOf);
  return value ? Number(value.top) / Number(value.bottom) : 0;
}
