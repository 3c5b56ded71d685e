/** Source locations from `.loc`, `.file` and `.debug_str`. */
import type { Location } from '../source/location.ts';
import type { InlinedAt, LocDirective, Module } from './ast.ts';
import { DIRECTIVE, NAME, NUMBER, type TokenStream } from './lexer.ts';

/**
 * The source place of a `.loc`, with the calls it was inlined through, in the compiler's spelling of the paths.
 *
 * Undefined without `.loc`, if its line is 0 (compiler-generated code) or if no `.file` has its index. A frame that
 * cannot be resolved ends the chain.
 */
export function sourceLocation(module: Module, loc: LocDirective | undefined): Location | undefined {
  return loc && frameOf(module, loc);
}

function frameOf(module: Module, place: InlinedAt): Location | undefined {
  const file = module.files.get(place.file);
  if (file === undefined || place.line === 0) return undefined;
  // The parser bounds the length of the chain.
  const inlinedAt = place.inlinedAt && frameOf(module, place.inlinedAt);
  return {
    file,
    line: place.line,
    ...(place.column > 0 && { column: place.column }),
    ...(inlinedAt && { inlinedAt }),
  };
}

/** The mangled name of the inlined function whose body contains a `.loc`. */
export function inlinedFunction(module: Module, loc: LocDirective): string | undefined {
  return loc.functionName === undefined ? undefined : module.debugStrings.get(loc.functionName);
}

const decoder = new TextDecoder();

/**
 * The path in a `.file` directive: the compiler escapes bytes outside of ASCII in octal, and a backslash or a quotation
 * mark with a backslash.
 */
export function pathOfFile(spelling: string): string {
  if (!spelling.includes('\\')) return spelling;
  const bytes = Buffer.from(spelling, 'utf8').toString('latin1');
  const plain = bytes.replaceAll(/\\([0-7]{3}|[\\"])/g, (_, escaped: string) =>
    escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8) & 0xff) : escaped,
  );
  return decoder.decode(Buffer.from(plain, 'latin1'));
}

/** A path in the spelling that {@link pathOfFile} reads. */
export function spellingOfPath(path: string): string {
  const octal = (byte: string): string => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`;
  return Buffer.from(path.replaceAll(/[\\"]/g, '\\$&'), 'utf8')
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e]/g, octal);
}

/**
 * Reads the texts of a `.debug_str` section into `strings`, by label: labels and lists of `.b8`, each text ended by 0.
 * `from` and `to` are token indices inside the braces of a section that is well formed.
 */
export function readDebugStrings(tokens: TokenStream, from: number, to: number, strings: Map<string, string>): void {
  const { text, kinds, starts, ends } = tokens;
  let label: string | undefined;
  let bytes: number[] = [];
  for (let at = from; at < to; at++) {
    const kind = kinds[at];
    if (kind === DIRECTIVE && text.slice(starts[at], ends[at]) !== '.b8') label = undefined;
    if (kind === NAME) {
      label = text.slice(starts[at], ends[at]);
      bytes = [];
    }
    if (kind !== NUMBER || label === undefined) continue;
    const byte = Number(text.slice(starts[at], ends[at]));
    if (byte !== 0) {
      bytes.push(byte);
      continue;
    }
    strings.set(label, decoder.decode(Uint8Array.from(bytes)));
    label = undefined;
  }
}
