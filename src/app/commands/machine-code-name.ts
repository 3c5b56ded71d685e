/** Whether a path is machine code, by its name. */
export function isMachineCode(path: string): boolean {
  return /\.(?:cubin|fatbin)$/.test(path);
}
