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

/** Whether a symbol names something that only its unit can name. */
export function isOfUnit(symbol: string): boolean {
  return /_GLOBAL__N_|_INTERNAL_/.test(symbol);
}

/**
 * Whether a symbol of host code names a kernel. nvcc gives functions of internal linkage among the template arguments of a kernel
 * names with a hash of the unit; host code has their names as written.
 */
export function isKernelInHost(symbol: string, kernel: string): boolean {
  if (symbol === kernel || !isOfUnit(kernel)) return symbol === kernel;
  const plain = (of: string): string | undefined => demangle(of)?.full.replaceAll('(anonymous namespace)::', '');
  return plain(symbol) !== undefined && plain(symbol) === plain(kernel);
}
