import { DemangleFailure, createDemangler } from './itanium.ts';

/** A demangled symbol. */
export interface Demangled {
  /** Without return type and parameters: `ns::reduce<256, float>`; of a local entity `red(float*)::s`. */
  readonly qualified: string;
  /** With parameters: `ns::reduce<256, float>(float*, int)`; the same as `qualified` for variables. */
  readonly full: string;
  /** Types of the parameters; empty for variables and `f()`. */
  readonly parameters: readonly string[];
  /** Of an entity inside a function: that function (`full`) and the name in it. */
  readonly local?: { readonly function: string; readonly name: string };
}

/** Maximum length of a symbol that is demangled; nvcc generates no longer ones. */
const maximumLength = 16_384;

/**
 * Demangles an Itanium C++ ABI symbol as nvcc writes it. Integer template arguments have no type and no suffix,
 * and every spelling of an unnamed namespace is `(anonymous namespace)`.
 * @param symbol - for example `_Z6reduceILi256EfEvPKT0_PS0_i`; a name that is not mangled (extern "C") is returned as
 *   it is
 * @returns null if the symbol is not understood
 */
export function demangle(symbol: string): Demangled | null {
  if (!symbol.startsWith('_Z')) {
    return /^[A-Za-z_$][\w$]*$/.test(symbol) ? { qualified: symbol, full: symbol, parameters: [] } : null;
  }
  if (symbol.length > maximumLength) return null;
  try {
    const { encoding, rest } = createDemangler(symbol.slice(2)).symbol();
    if (rest !== '' && !/^[.$]/.test(rest)) return null;
    const full = encoding.parameters ? `${encoding.name}(${encoding.parameters.join(', ')})${encoding.qualifiers}` : encoding.name;
    const { local } = encoding;
    return { qualified: encoding.name, full, parameters: encoding.parameters ?? [], ...(local ? { local } : {}) };
  } catch (failure) {
    if (failure instanceof DemangleFailure) return null;
    throw failure;
  }
}

/**
 * The name of a variable in its source: `s` for a shared array of a kernel, `ns::table` for a global one.
 * @returns the symbol itself if it is not understood
 */
export function objectName(symbol: string): string {
  const name = demangle(symbol);
  return (name?.local?.name ?? name?.qualified ?? symbol).replaceAll('(anonymous namespace)::', '');
}

/** A name without its template arguments: `ns::reduce` of `ns::reduce<256, float>`. */
export function withoutTemplateArguments(name: string): string {
  if (/\boperator\s*<|\boperator\s*->/.test(name)) return name;
  let depth = 0;
  let kept = '';
  for (const character of name) {
    if (character === '<') depth++;
    if (depth === 0) kept += character;
    if (character === '>' && depth > 0) depth--;
  }
  return kept;
}
