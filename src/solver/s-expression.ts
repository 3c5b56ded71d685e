/** Reads SMT-LIB text. */

export type SExpression = string | readonly SExpression[];

/** Thrown if our own procedures cannot decide a question. */
export class Undecided extends Error {
  override name = 'Undecided';
}

/** The commands of a script, in order. @throws Undecided if it is not a list of commands in plain names and numbers */
export function readCommands(script: string): readonly SExpression[] {
  const stack: SExpression[][] = [[]];
  for (const [token] of script.matchAll(/[()]|[^\s()]+/g)) {
    if (token === '(') stack.push([]);
    else if (token === ')') {
      const list = stack.pop();
      if (!list || stack.length === 0) throw new Undecided('unbalanced');
      stack[stack.length - 1]!.push(list);
    } else if (/^[|";:#]/.test(token)) throw new Undecided(token);
    else stack[stack.length - 1]!.push(token);
  }
  if (stack.length !== 1) throw new Undecided('unbalanced');
  return stack[0]!;
}

/** An integer in SMT-LIB, which has no negative numerals. */
export function numeral(value: bigint): string {
  return value < 0n ? `(- ${-value})` : `${value}`;
}

/** A multiple of a term in SMT-LIB. */
export function productText(factor: bigint, text: string): string {
  return factor === 1n ? text : `(* ${numeral(factor)} ${text})`;
}

/** A sum in SMT-LIB. */
export function sumText(parts: readonly string[]): string {
  return parts.length > 1 ? `(+ ${parts.join(' ')})` : (parts[0] ?? '0');
}
