/** The user's part of a preprocessed unit: headers of the toolkit are left out. */
import { withWholeChevrons } from '../syntax/chevrons.ts';
import type { Location } from '../../source/location.ts';

/** A text that maps each place to its file and line. */
export interface HostText {
  readonly text: string;
  /** Location of an offset. */
  readonly locate: (offset: number) => Location;
  /** The files of which the text contains lines. */
  readonly files: ReadonlySet<string>;
}

/** CUDA's specifiers in the form that nvcc gives them in preprocessed text (`crt/host_defines.h`). */
const attributes = /__attribute__\s*\(\(\s*(global|device|host|shared|constant|managed|noinline|grid_constant)\s*\)\)/g;

/**
 * Reads a text with line markers, `# 12 "file"`.
 * @param own - result of `ownText` in `toolchain/preprocessed.ts`
 */
export function readHostText(own: string): HostText {
  const pieces: { start: number; file: string; line: number }[] = [];
  const files = new Set<string>();
  let text = '';
  let [file, line] = ['', 1];
  let isFresh = true;
  for (const written of own.split('\n')) {
    const marker = /^# (\d+) "((?:[^"\\]|\\.)*)"/.exec(written);
    if (marker) {
      line = Number(marker[1]);
      file = (marker[2] ?? '').replace(/\\(.)/g, '$1');
      isFresh = true;
      continue;
    }
    if (written.trim() !== '') {
      if (isFresh) pieces.push({ start: text.length, file, line });
      isFresh = false;
      files.add(file);
      text += `${written.replace(attributes, '__$1__')}\n`;
    } else isFresh = true;
    line++;
  }
  const locate = (offset: number): Location => {
    let [low, high] = [0, pieces.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pieces[middle]!.start <= offset) low = middle;
      else high = middle - 1;
    }
    const piece = pieces[low];
    if (!piece) return { file: '', line: 1 };
    let at = piece.line;
    for (let end = text.indexOf('\n', piece.start); end !== -1 && end < offset; end = text.indexOf('\n', end + 1)) at++;
    return { file: piece.file, line: at };
  };
  return { text: withWholeChevrons(text), locate, files };
}
