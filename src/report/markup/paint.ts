import type { Severity } from '../../source/severity.ts';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan';

/** Renders text in a style. */
export type Paint = (style: Style, text: string) => string;

const escapes: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
};

export const severityStyle = {
  error: 'red',
  warning: 'yellow',
  notice: 'blue',
} as const satisfies Readonly<Record<Severity, Style>>;

/** Applies styles if colours are enabled. */
export function painter(color: boolean): Paint {
  return (style, text) => (color ? `\u001b[${escapes[style][0]}m${text}\u001b[${escapes[style][1]}m` : text);
}
