/**
 * The environment of every compiler: nothing is inherited, so that no token, workflow input or `NVCC_APPEND_FLAGS`
 * reaches it.
 * @param searchPath folders of the compiler and of its host compiler
 * @param temporary folder for intermediate files
 */
export function confinedEnvironment(searchPath: readonly string[], temporary: string): Record<string, string> {
  return {
    PATH: searchPath.join(':'),
    HOME: temporary,
    TMPDIR: temporary,
    // Messages are in English, and `__DATE__` is the same every day.
    LC_ALL: 'C',
    SOURCE_DATE_EPOCH: '0',
    // cudafe++ fills some 200 MB that it never reads: with large pages it takes a third of the time. Other C libraries ignore it.
    GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
  };
}
