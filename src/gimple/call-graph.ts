/** Which functions of a dump may lead to a launch: only these are parsed. */
import { parseFunction, splitDump } from './parser.ts';
import type { GimpleFunction } from './gimple.ts';

/** Functions that configure or make a launch, by their names in C or the beginning of those of their templates. */
const launching =
  /^(?:__cudaPushCallConfiguration|cu(?:da)?Launch\w*|cu(?:da)?GraphAdd\w*Node\w*|cu(?:da)?Graph(?:Exec)?Kernel\w*|_Z\d+cudaLaunch\w*)$/;

/** Declarations that the text of a function names: functions that it calls or takes the address of, and variables. */
function* namesIn(text: string): Iterable<string> {
  for (const [, name] of text.matchAll(/(?<![\w$.])([A-Za-z_][\w$]*)D\.\d+/g)) yield name!;
}

/**
 * Functions from which a launch can be reached by calls, or by addresses that they take, parsed on demand.
 * @param dump of one translation unit
 */
export function functionsReachingLaunches(dump: string): ReadonlyMap<string, () => GimpleFunction | null> {
  const { texts } = splitDump(dump);
  const users = new Map<string, Set<string>>();
  const reaching = new Set<string>();
  for (const [symbol, text] of texts) {
    for (const name of new Set(namesIn(text))) {
      if (launching.test(name)) reaching.add(symbol);
      if (name === symbol || !texts.has(complete(name, texts))) continue;
      const own = users.get(complete(name, texts)) ?? new Set();
      users.set(complete(name, texts), own.add(symbol));
    }
  }
  for (const one of reaching) for (const user of users.get(one) ?? []) reaching.add(user);
  return new Map([...texts].filter(([symbol]) => reaching.has(symbol)).map(([symbol, text]) => [symbol, once(() => parseFunction(symbol, text))])); // oxfmt-ignore
}

/** The symbol of a definition: constructors are called by the name of complete objects (`C1`), and defined once (`C2`). */
function complete(name: string, texts: ReadonlyMap<string, string>): string {
  if (texts.has(name)) return name;
  const base = name.replace(/^(_ZN.*)([CD])1(?=E)/, '$1$22');
  return texts.has(base) ? base : name;
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
