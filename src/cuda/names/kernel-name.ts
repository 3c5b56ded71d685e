import { demangle } from './demangle.ts';

export interface KernelName {
  /** For reports: with template arguments and parameters; the symbol if it is not mangled. */
  readonly full: string;
  /** The name that patterns match: without return type and parameters. */
  readonly qualified: string;
  /** Types of the parameters as the symbol spells them. */
  readonly parameters: readonly string[];
  /** The symbol in PTX. */
  readonly symbol: string;
}

/**
 * The names of a kernel. They contain no hash of the translation unit, so `full` is the same in every commit: the
 * demangler replaces the hash of unnamed namespaces.
 */
export function kernelName(symbol: string): KernelName {
  return { ...(demangle(symbol) ?? { full: withoutUnitHash(symbol), qualified: symbol, parameters: [] }), symbol };
}

/** A symbol without the hash of the translation unit that symbols of internal linkage contain. */
function withoutUnitHash(symbol: string): string {
  return symbol.replace(/(_GLOBAL__N__|_INTERNAL_)[0-9a-f]{8}_\d+_\w+?_[0-9a-f]{8}(?:_\d+)?/g, '$1');
}
