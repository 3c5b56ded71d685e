/** Kind of a name: a register, or something with an address (a variable). Labels and functions come later. */
type NameKind = 'register' | 'symbol';

/** The names that one `{ }` declares, nested in the enclosing scopes. */
export interface NameScope {
  readonly names: Map<string, NameKind>;
  /** `%r<10>`: by prefix, how many registers. */
  readonly ranges: Map<string, number>;
  readonly outer: NameScope | undefined;
}

/** An empty scope nested in another one. */
export function innerScope(outer: NameScope | undefined): NameScope {
  return { names: new Map(), ranges: new Map(), outer };
}

/** A declared name, spelled as its declaration spells it. */
interface ResolvedName {
  readonly kind: NameKind;
  readonly name: string;
}

/** Maximum number of digits of a range index; a longer suffix is not an index. */
const MAX_INDEX_DIGITS = 9;

/**
 * Resolves a name in a scope and the enclosing ones. ptxas accepts `%r01` for `%r1` of the range `%r<…>`; the result
 * spells it `%r1`.
 */
export function resolveName(scope: NameScope | undefined, name: string): ResolvedName | undefined {
  for (; scope; scope = scope.outer) {
    const kind = scope.names.get(name);
    if (kind) return { kind, name };
    if (scope.ranges.size === 0) continue;
    const ranged = inRange(scope.ranges, name);
    if (ranged) return { kind: 'register', name: ranged };
  }
  return undefined;
}

/** A range may end in a digit itself, so every split of the digits at the end of the name is tried. */
function inRange(ranges: ReadonlyMap<string, number>, name: string): string | undefined {
  for (let at = name.length - 1; at > 0 && name.length - at <= MAX_INDEX_DIGITS; at--) {
    const code = name.charCodeAt(at);
    if (code < 48 || code > 57) break;
    const count = ranges.get(name.slice(0, at));
    if (count === undefined) continue;
    const index = Number(name.slice(at));
    if (index < count) return name.slice(0, at) + index;
  }
  return undefined;
}
