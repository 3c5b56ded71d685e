/**
 * Splits a command like a POSIX shell (Shell Command Language, 2.2 Quoting, 2.3 Token Recognition), without expanding
 * anything.
 * @returns the words, or null if a quote is not closed
 */
export function shellWords(command: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let index = 0; index < command.length; index++) {
    const character = command[index]!;
    if (/[ \t\r\n]/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (character === "'") {
      const close = command.indexOf("'", index + 1);
      if (close < 0) return null;
      word = (word ?? '') + command.slice(index + 1, close);
      index = close;
    } else if (character === '"') {
      word ??= '';
      index++;
      while (command[index] !== '"') {
        if (index >= command.length) return null;
        const next = command[index] === '\\' ? command[index + 1] : undefined;
        if (next !== undefined && /[$`"\\\n]/.test(next)) {
          if (next !== '\n') word += next;
          index += 2;
        } else word += command[index++];
      }
    } else if (character === '\\') {
      const next = command[++index];
      if (next === undefined) return null;
      if (next !== '\n') word = (word ?? '') + next;
    } else {
      word = (word ?? '') + character;
    }
  }
  if (word !== null) words.push(word);
  return words;
}
