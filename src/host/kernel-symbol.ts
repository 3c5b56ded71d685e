/**
 * The symbol of a kernel as PTX has it: host code marks functions of internal linkage with `L` (Itanium C++ ABI,
 * 5.1.4), and nvcc makes stubs of kernels internal.
 */
export function kernelSymbol(symbol: string): string {
  if (/^_ZL\d/.test(symbol)) return `_Z${symbol.slice(3)}`;
  if (!symbol.startsWith('_ZN')) return symbol;
  let [kept, at] = ['_ZN', 3];
  for (;;) {
    const name = /^(L?)(\d+)/.exec(symbol.slice(at));
    if (!name) return kept + symbol.slice(at);
    const end = at + name[0].length + Number(name[2]);
    kept += symbol.slice(at + name[1]!.length, end);
    at = end;
  }
}
