/** Tokens of the project's part of a preprocessed unit. */
import { matchBrackets } from '../../cuda/syntax/bracket-match.ts';
import { tokenize, type Token } from '../../cuda/syntax/token.ts';

/** A preprocessed text without its markers and comments. */
export interface OwnCode {
  readonly tokens: readonly Token[];
  /** For each token the index of the bracket that matches it, or -1. */
  readonly partner: Int32Array;
  /** File and line of a token, as the markers of the text state. */
  readonly placeOf: (index: number) => { readonly file: string; readonly line: number };
}

/** @param text with markers `# LINE "FILE"` */
export function readOwnCode(text: string): OwnCode {
  const tokens: Token[] = [];
  const markers: { readonly at: number; readonly file: string; readonly shift: number }[] = [];
  for (const token of tokenize(text)) {
    if (token.kind === 'comment') continue;
    if (token.kind !== 'directive') {
      tokens.push(token);
      continue;
    }
    const [, line, file] = /^# (\d+) "((?:[^"\\]|\\.)*)"/.exec(token.text) ?? [];
    if (file !== undefined) markers.push({ at: tokens.length, file, shift: Number(line) - token.line - 1 });
  }
  return {
    tokens,
    partner: matchBrackets(tokens),
    placeOf(index) {
      let [low, high] = [0, markers.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (markers[middle]!.at <= index) low = middle + 1;
        else high = middle;
      }
      const marker = markers[low - 1];
      const line = tokens[index]?.line ?? 1;
      return { file: marker?.file ?? '', line: line + (marker?.shift ?? 0) };
    },
  };
}

/**
 * The index of the `>` that closes a template argument list, or -1 if `<` at this index is an operator. Brackets are
 * passed over.
 */
export function closingAngle({ tokens, partner }: Pick<OwnCode, 'tokens' | 'partner'>, open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length && at < open + 400; at++) {
    const { text } = tokens[at]!;
    if (text === '<') depth += 1;
    else if (text === '>') {
      depth -= 1;
      if (depth === 0) return at;
    } else if (text === '(' || text === '[') {
      if (partner[at]! < 0) return -1;
      at = partner[at]!;
    } else if (/^(?:[;{}|?]|\)|\])$/.test(text) || (text === '&' && tokens[at + 1]?.text === '&' && tokens[at + 2]?.kind !== 'punctuation'))
      return -1;
  }
  return -1;
}

/** Keywords of C++, and names that only a compiler declares. */
const keywords = new Set(
  'alignas alignof asm auto bool break case catch char char16_t char32_t class const const_cast constexpr continue decltype default delete do double dynamic_cast else enum explicit export extern false final float for friend goto if inline int long mutable namespace new noexcept nullptr operator override private protected public register reinterpret_cast return short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while and or not xor bitand bitor compl'.split(
    ' ',
  ),
);

/** Extensions of compilers. */
const ofCompilers =
  /^__(?:attribute|extension|inline|restrict|typeof|asm|volatile|builtin|declspec|const|signed|align|is_|has_|func|FUNC|PRETTY|null|label|real|imag|complex|thread|int128|float128|global|device|host|shared|managed|launch|grid|cluster|maxnreg|forceinline|noinline|nv_|location|annotate|selvage|SELVAGE)/;

/** Whether a word can be the name of something that a header declares. */
export function isDeclarable(word: string): boolean {
  return /^[A-Za-z_]\w*$/.test(word) && word.length <= 128 && !keywords.has(word) && !ofCompilers.test(word);
}

/** Keywords of types, and of what precedes a type in a declaration. */
export const declarationWords: ReadonlySet<string> = new Set(
  'auto bool char class double enum explicit extern float inline int long register short signed static struct template thread_local typedef typename union unsigned using virtual void'.split(
    ' ',
  ),
);

/** A set of strings that grows. @returns whether something was added */
export function addAll(set: Set<string>, names: Iterable<string>): boolean {
  const before = set.size;
  for (const name of names) set.add(name);
  return set.size > before;
}
