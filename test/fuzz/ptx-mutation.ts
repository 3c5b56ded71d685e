/** Seeded damage to PTX texts, with the known facts on each: its offset, and whether the result can be valid. */
import type { Random } from '../../src/base/random.ts';

export interface Mutation {
  readonly name: string;
  readonly text: string;
  /** Offset of the first character that differs from the original. */
  readonly offset: number;
  /** The result is certainly no valid module. */
  readonly invalid: boolean;
}

/** A lexical unit of a text: found without the lexer under test. */
interface Piece {
  readonly start: number;
  readonly end: number;
}

const GARBAGE = [
  '\u0000',
  '\u0000\u0000\u0000',
  '\ufeff',
  '\ud800',
  '\u{1f600}',
  '\u00a0',
  '\\',
  '`',
  '#',
  '"',
  "'",
  '$',
  '%',
  '.',
  '..',
  '::',
  '@',
  '@@',
  '@!',
  '<<<',
  '>',
  '|',
  '||',
  '=',
  '?',
  '/*',
  '*/',
  '//',
  '\r',
  '\n',
  '0x',
  '0f',
  '08',
  '1e',
  'ret;',
  'add.s32',
  '.reg',
  '.entry',
  '.func f()',
  '.version 8.0',
  '.loc 1 2 3',
  '.section .x {',
  '// selvage.assume',
  'lorem ipsum dolor',
];

/** Characters that PTX has no use for outside comments and quotes. */
const FOREIGN = ['\u0000', '\\', '`', '\u00e9', '\u{1f600}', "'", '\u0007'];

/** Offsets of the parts of a text, without comments and quoted strings. */
export interface Anatomy {
  readonly text: string;
  readonly tokens: readonly Piece[];
  /** Brace depth before each token. */
  readonly depths: readonly number[];
}

/** Finds the words, numbers and signs of a PTX text by one regular expression. */
export function anatomyOf(text: string): Anatomy {
  const tokens: Piece[] = [];
  const depths: number[] = [];
  let depth = 0;
  for (const match of text.matchAll(/\/\/[^\n]*|\/\*[^]*?\*\/|^\s*#[^\n]*|"[^"\n]*"|[\w$%.]+(?:::[\w.]+)*|\S/gm)) {
    const part = match[0];
    if (part.startsWith('//') || part.startsWith('/*') || part.startsWith('"') || part.trim().startsWith('#')) continue;
    if (part === '}') depth--;
    tokens.push({ start: match.index, end: match.index + part.length });
    depths.push(depth);
    if (part === '{') depth++;
  }
  return { text, tokens, depths };
}

/** Damages a text with one of the mutations, chosen by the random source. */
export function mutate(anatomy: Anatomy, random: Random): Mutation {
  const { text, tokens, depths } = anatomy;
  const wordOf = ({ start, end }: Piece): string => text.slice(start, end);
  const replace = (name: string, { start, end }: Piece, by: string, invalid = false): Mutation => ({
    name,
    text: text.slice(0, start) + by + text.slice(end),
    offset: start,
    invalid,
  });
  const insert = (name: string, at: number, what: string, invalid = false): Mutation =>
    replace(name, { start: at, end: at }, what, invalid);
  // An earlier mutation may have removed almost all tokens.
  if (tokens.length < 2) return insert('insert garbage', random.below(text.length + 1), random.pick(GARBAGE));
  const index = random.below(tokens.length - 1);
  const token = tokens[index]!;
  const next = tokens[index + 1]!;
  const one = (accept: (word: string, at: number) => boolean): Piece | undefined => {
    for (let tries = 0; tries < 200; tries++) {
      const at = random.below(tokens.length);
      if (accept(wordOf(tokens[at]!), at)) return tokens[at];
    }
    return undefined;
  };
  const lineStart = text.lastIndexOf('\n', random.below(text.length)) + 1;
  const lineEnd = (text.indexOf('\n', lineStart) + 1 || text.length + 1) - 1;
  const line: Piece = { start: lineStart, end: Math.min(text.length, lineEnd + 1) };

  switch (random.below(24)) {
    case 0: {
      const offset = random.below(text.length);
      // The last token that begins before the cut determines whether a brace is open there.
      const last = tokens.findLastIndex(({ start }) => start < offset);
      const open = last < 0 ? 0 : depths[last]! + (wordOf(tokens[last]!) === '{' ? 1 : 0);
      return { name: 'cut', text: text.slice(0, offset), offset, invalid: open > 0 || last < 3 };
    }
    case 1:
      return replace('delete a token', token, ' ');
    case 2:
      return insert('repeat a token', token.end, ` ${wordOf(token)} `);
    case 3:
      return replace('swap two tokens', { start: token.start, end: next.end }, `${wordOf(next)} ${wordOf(token)}`);
    case 4:
      return replace('delete a line', line, '');
    case 5:
      return insert('repeat a line', line.end, text.slice(line.start, line.end));
    case 6: {
      const end = Math.min(text.length, (text.indexOf('\n', line.end) + 1 || text.length + 1) - 1);
      const second = text.slice(line.end, end);
      return replace('swap two lines', { start: line.start, end }, `${second}\n${text.slice(line.start, line.end - 1)}`);
    }
    case 7: {
      const at = random.below(text.length);
      return replace('change a character', { start: at, end: at + 1 }, String.fromCharCode(random.between(32, 126)));
    }
    case 8: {
      const at = random.below(text.length);
      const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << random.below(16)));
      return replace('flip a bit', { start: at, end: at + 1 }, flipped);
    }
    case 9:
      return insert('insert garbage', random.below(text.length), random.pick(GARBAGE));
    case 10: {
      const brace = one((word) => word === '{' || word === '}');
      return brace ? replace('delete a brace', brace, ' ', true) : insert('add a brace', token.start, ' } ', true);
    }
    case 11:
      return insert('add a bracket', token.start, random.pick([' { ', ' } ', ' ( ', ' ) ', ' [ ', ' ] ']), true);
    case 12: {
      const number = one((word) => /^\d+$/.test(word)) ?? token;
      return replace('enlarge a number', number, '9'.repeat(random.pick([10, 20, 30, 5000])));
    }
    case 13: {
      const count = random.pick([100, 300, 20_000]);
      const open = random.pick(['{', '(', '[', '-', '~', '@', '.', '%r1,', '1?', '{\n', '[{', '%r.', '<', '/* ']);
      return insert('nest', token.start, ` ${open.repeat(count)} `);
    }
    case 14:
      return insert('foreign character', token.start, ` ${random.pick(FOREIGN)} `, true);
    case 15: {
      const semicolon = one((word) => word === ';');
      return semicolon ? replace('delete a semicolon', semicolon, ' ', true) : insert('add', token.start, ';;', true);
    }
    case 16: {
      // An exponent may begin with 0.
      const isExponent = (at: number): boolean => /[\d.]e[-+]$/i.test(text.slice(0, tokens[at]!.start));
      const number = one((word, at) => /^\d+$/.test(word) && depths[at]! > 0 && !isExponent(at));
      const wrong = random.pick(['08', '0xg', '0b2', '0f12', '0d34', '12abc', '1.5f', '0x']);
      return number ? replace('malform a number', number, wrong, true) : insert('add', token.start, ' 0x ; ', true);
    }
    case 17: {
      const label = one((word, at) => /^\$L_*BB/.test(word) && wordOf(tokens[at + 1] ?? token) === ';');
      return label
        ? replace('branch to nowhere', label, '$L_nowhere', true)
        : insert('branch to nowhere', token.start, ' ; bra $L_nowhere; ', true);
    }
    case 18: {
      const register = one((word, at) => /^%r\d+$/.test(word) && depths[at]! > 0 && wordOf(tokens[at + 1] ?? token) !== '<');
      return register
        ? replace('undeclared register', register, '%undeclared7', true)
        : insert('undeclared register', token.start, ' ; mov.u32 %undeclared7, 1; ', true);
    }
    case 19: {
      const directive = one((word) => word === '.version' || word === '.target') ?? tokens[0]!;
      return replace('damage the header', directive, random.pick(['', '.versoin', '// ']), true);
    }
    case 20: {
      const comma = one((word) => word === ',');
      return comma ? replace('change a comma', comma, random.pick(['', ';', '.', ', ,'])) : replace('drop', token, '');
    }
    case 21: {
      const other = random.pick(tokens);
      return replace('replace a token', token, wordOf(other));
    }
    case 22: {
      const start = random.below(text.length);
      const end = Math.min(text.length, start + random.below(400));
      return replace('delete a stretch', { start, end }, '');
    }
    default: {
      const start = random.below(text.length);
      const end = Math.min(text.length, start + random.below(400));
      return insert('move a stretch', random.below(start + 1), text.slice(start, end));
    }
  }
}
