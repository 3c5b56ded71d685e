/** Whether a path is machine code, by its name: a cubin, a fat binary, or an object or a library that contains one. */
export function isMachineCode(path: string): boolean {
  return /\.(?:cubin|fatbin|o|so)$/.test(path);
}
