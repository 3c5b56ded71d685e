import { nearest } from '../../base/nearest.ts';
import { codes } from '../../source/codes.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Location } from '../../source/location.ts';
import { parseAssumption } from '../../assumptions/assumption-parser.ts';
import type { AssumptionExpression } from '../../assumptions/expression.ts';
import { printAssumption } from '../../assumptions/print-assumption.ts';
import type { Comment, CudaSource } from '../syntax/syntax.ts';

type Extents = readonly [x: number, y: number, z: number];

/** Contents of the `// selvage:` comments of a kernel. Undefined if absent. */
export interface KernelAnnotation {
  readonly block?: Extents;
  readonly grid?: Extents;
  readonly cluster?: Extents;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes?: number;
  readonly cooperative?: boolean;
  /** Values of scalar parameters as written, by name. */
  readonly args: ReadonlyMap<string, string>;
  readonly assumptions: readonly {
    readonly expression: AssumptionExpression;
    /** Assumptions as canonical text. */
    readonly text: string;
    readonly location: Location;
  }[];
  /** Location of the first comment. */
  readonly location: Location;
  /** Locations of the extents and `shared`. */
  readonly places: ReadonlyMap<'block' | 'grid' | 'cluster' | 'sharedBytes', Location>;
}

const dimensionKeys = ['block', 'grid', 'cluster'] as const;
const words = [...dimensionKeys, 'shared', 'cooperative', 'assume', 'arg'];
/** `key=value`, `word(…)` up to its closing parenthesis (found by hand), or a bare word. */
const item = /([^\s=()]+)\s*(?:(=)\s*([^\s()]*(?:,\s*\d+)*)|(\()|)/y;

/**
 * Reads the annotations of a kernel: `// selvage: block=16,16 grid=64 shared=4096 cluster=2 cooperative assume(n % 32
 * == 0) arg(n=4096)`. Unreadable parts are left out, with a diagnostic.
 * @param comments - of one kernel
 * @param file - that contains them
 * @returns undefined for `annotation` without comments
 */
export function readAnnotations(
  comments: readonly Comment[],
  file: string,
): { annotation: KernelAnnotation | undefined; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const first = comments[0];
  if (!first) return { annotation: undefined, diagnostics };
  const values: {
    -readonly [Key in 'block' | 'grid' | 'cluster' | 'sharedBytes' | 'cooperative']?: KernelAnnotation[Key];
  } = {};
  const args = new Map<string, string>();
  const assumptions: KernelAnnotation['assumptions'][number][] = [];
  const places = new Map<'block' | 'grid' | 'cluster' | 'sharedBytes', Location>();
  for (const comment of comments) {
    const locate = (offset: number): Location => ({ file, ...placeIn(comment, offset) });
    const refuse = (offset: number, message: string): void => {
      diagnostics.push({ severity: 'error', code: 'annotation/syntax', message, location: locate(offset) });
    };
    const text = comment.text.replace(/\s*\*\/$/, '');
    item.lastIndex = text.indexOf(':') + 1;
    for (;;) {
      item.lastIndex += /^[\s,;]*/.exec(text.slice(item.lastIndex))?.[0].length ?? 0;
      const start = item.lastIndex;
      if (start >= text.length) break;
      const match = item.exec(text);
      if (!match) {
        refuse(start, `"${text.slice(start)}" is not an annotation; write block=16,16 or assume(n % 32 == 0).`);
        break;
      }
      const [whole, word = '', equals, value = '', open] = match;
      const end = start + whole.length;
      let inside = '';
      if (open !== undefined) {
        const close = closingParenthesis(text, end - 1);
        if (close === -1) {
          refuse(end - 1, `The parenthesis of ${word}( is not closed; end it with ).`);
          break;
        }
        inside = text.slice(end, close);
        item.lastIndex = close + 1;
      }
      const valueAt = start + whole.length - value.length;
      const given = (key: keyof typeof values): boolean => {
        if (values[key] !== undefined) refuse(start, `${word} is given twice; give it once.`);
        return values[key] !== undefined;
      };
      const dimension = dimensionKeys.find((key) => key === word);
      if (dimension && equals) {
        const extents = readExtents(value);
        if (!extents) refuse(valueAt, `${word}=${value}: write one to three positive whole numbers, for example ${word}=16,16.`);
        else if (!given(dimension)) {
          values[dimension] = extents;
          places.set(dimension, locate(start));
        }
      } else if (word === 'shared' && equals) {
        if (!/^\d{1,9}$/.test(value)) refuse(valueAt, `shared=${value}: write a number of bytes, for example shared=4096.`);
        else if (!given('sharedBytes')) {
          values.sharedBytes = Number(value);
          places.set('sharedBytes', locate(start));
        }
      } else if (word === 'cooperative' && !equals && open === undefined) values.cooperative = true;
      else if (word === 'assume' && open !== undefined) {
        const parsed = parseAssumption(inside);
        if ('error' in parsed) {
          const location = locate(end + parsed.column - 1);
          const message = `In assume(${inside}): ${parsed.error}.`;
          diagnostics.push({ severity: 'error', code: 'assumption/syntax', message, location });
        } else {
          const canonical = printAssumption(parsed.expression);
          assumptions.push({ expression: parsed.expression, text: canonical, location: locate(start) });
        }
      } else if (word === 'arg' && open !== undefined) {
        const argument = /^\s*([A-Za-z_]\w*(?:\.\w+|\[\d+\])*)\s*=\s*([^\s=,]+)\s*$/.exec(inside);
        if (!argument) refuse(end, `arg(${inside}): write the name of a scalar parameter and its value, for example arg(n=4096).`);
        else if (args.has(argument[1] ?? '')) refuse(end, `The argument ${argument[1]} is given twice; give it once.`);
        else args.set(argument[1] ?? '', argument[2] ?? '');
      } else {
        const known = words.includes(word) ? word : nearest(word, words);
        const form = known === 'assume' || known === 'arg' ? `${known}(…)` : known === 'cooperative' ? known : `${known}=…`;
        const hint =
          known === undefined ? ` The words are ${words.join(', ')}.` : words.includes(word) ? ` Write ${form}.` : ` Did you mean ${form}?`;
        refuse(start, `Selvage cannot read the annotation "${word}".${hint}`);
      }
    }
  }
  const location: Location = { file, line: first.line, column: first.column };
  return { annotation: { ...values, args, assumptions, location, places }, diagnostics };
}

/** Problems of `// selvage` comments that are not annotations of a kernel. */
export function commentProblems(source: CudaSource): Diagnostic[] {
  const { file } = source;
  const stray = source.strayAnnotations.map(({ line, column }): Diagnostic => {
    const message = 'This annotation is not above a kernel; move it to the line above the kernel definition.';
    return { severity: 'warning', code: 'annotation/stray', message, location: { file, line, column } };
  });
  const suppressions = source.suppressions.flatMap(({ code, reason, line, column }): Diagnostic[] => {
    const refuse = (message: string): Diagnostic[] => [
      { severity: 'error', code: 'suppression/malformed', message, location: { file, line, column } },
    ];
    if (code === '') return refuse('Name the code of the finding and the reason: // selvage-ignore race/shared: reason.');
    if (!Object.hasOwn(codes, code)) {
      const known = nearest(code, Object.keys(codes));
      return refuse(`"${code}" is not a code.${known === undefined ? '' : ` Did you mean ${known}?`}`);
    }
    return reason === '' ? refuse(`Give a reason: // selvage-ignore ${code}: reason.`) : [];
  });
  return [...stray, ...suppressions];
}

function readExtents(text: string): Extents | undefined {
  const parts = text.split(/\s*,\s*/);
  if (parts.length > 3 || parts.some((part) => !/^[1-9]\d{0,9}$/.test(part))) return undefined;
  const [x = 1, y = 1, z = 1] = parts.map(Number);
  return [x, y, z];
}

function closingParenthesis(text: string, open: number): number {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return i;
  }
  return -1;
}

function placeIn({ text, line, column }: Comment, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const newline = before.lastIndexOf('\n');
  if (newline === -1) return { line, column: column + offset };
  return { line: line + before.split('\n').length - 1, column: offset - newline };
}
