/**
 * Flags of host compilers: flags without effect on device code, and translation of clang's flags to options of nvcc.
 */

/** Flags of the host compiler that affect neither the preprocessor nor device code. */
const hostOnly =
  /^(-f(no-)?(PIC|PIE|pic|pie|strict-aliasing|omit-frame-pointer|stack-protector(-strong)?|lto|diagnostics-color(=\w+)?|color-diagnostics|plt|semantic-interposition|function-sections|data-sections|unwind-tables|asynchronous-unwind-tables|trapping-math|math-errno)|-fvisibility(-inlines-hidden)?(=\w+)?|-W(?![pal]$)[\w+-]+(=[\w+-]*)?|-O[0-3sg]?|-g[\w-]*|-pedantic(-errors)?|-pipe|-pthread|-w|-m(arch|tune|cpu)=[\w.+-]+)$/;

/** Whether a flag of the host compiler does not affect device code. */
export function isHostOnly(flag: string): boolean {
  return hostOnly.test(flag);
}

/** Safe flags of the host's preprocessor: they run nothing, and read and write no file. */
const harmlessToHost = /^-f(openmp|permissive|(no-)?exceptions|(no-)?rtti|(un)?signed-char)$/;

/** Whether an untrusted flag may be passed to the host compiler. */
export function isHarmlessToHost(flag: string): boolean {
  return harmlessToHost.test(flag);
}

const laterPhases = new Set(['-Xptxas', '-Xlinker', '-Xnvlink', '-Xarchive', '-Xfatbinary', '-l', '-L']);

/** Whether an option of nvcc concerns a phase after PTX, which the builds do not reach. */
export function isOfLaterPhase(name: string): boolean {
  return laterPhases.has(name);
}

/** Options of clang and gcc that do not affect device code and whose value is the next word. */
const valueNotNeeded = new Set([
  '-o',
  '-x',
  '-MF',
  '-MT',
  '-MQ',
  '-arch',
  '-target',
  '-isysroot',
  '-resource-dir',
  '-Xclang',
  '-Xlinker',
  '-Xassembler',
  '-Xpreprocessor',
  '-Xcuda-ptxas',
  '-Xcuda-fatbinary',
  '-Xarch_host',
  '-Xarch_device',
  '-L',
  '-l',
  '-mllvm',
  '--sysroot',
  '-gcc-toolchain',
  '-framework',
  '-z',
  '-u',
  '-T',
]);

/** Options that have a value, with their spelling in nvcc. */
const valueNeeded: ReadonlyMap<string, string> = new Map([
  ['-D', '-D'],
  ['-U', '-U'],
  ['-I', '-I'],
  ['-iquote', '-I'],
  ['-idirafter', '-isystem'],
  ['-isystem', '-isystem'],
  ['-include', '-include'],
]);

const single: ReadonlyMap<string, readonly string[]> = new Map([
  ['-ffast-math', ['-use_fast_math']],
  ['-fcuda-flush-denormals-to-zero', ['-ftz=true']],
  ['-fgpu-flush-denormals-to-zero', ['-ftz=true']],
  ['-ffp-contract=off', ['-fmad=false']],
  ['-fgpu-rdc', ['-rdc=true']],
  ['-fcuda-rdc', ['-rdc=true']],
  ['-fopenmp', ['-Xcompiler', '-fopenmp']],
]);

/** Years of C++ standards, which nvcc uses, by the names of their drafts. */
const standards: Readonly<Record<string, string>> = { '0x': '11', '1y': '14', '1z': '17', '2a': '20', '2b': '23' };

/**
 * The flags of nvcc for those of clang as a compiler of CUDA, or of a host compiler: macros, include paths, the
 * standard, architectures, and floating-point options. All others do not affect device code and are left out.
 * @param words without the program
 * @returns flags of nvcc, and the operands
 */
export function nvccFlagsOfClang(words: readonly string[]): string[] {
  const result: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (!word.startsWith('-')) {
      result.push(word);
      continue;
    }
    const [, joined, value] = /^(-D|-U|-I|-isystem|-iquote|-idirafter|-include)(.+)$/s.exec(word) ?? [];
    if (valueNeeded.has(word)) {
      const next = words[++index];
      if (next !== undefined) result.push(...withValue(valueNeeded.get(word)!, next));
    } else if (valueNotNeeded.has(word)) index++;
    else if (joined !== undefined) result.push(...withValue(valueNeeded.get(joined)!, value!));
    else result.push(...(single.get(word) ?? translated(word)));
  }
  return result;
}

/** An option of one letter joined with its value, since a separate value could begin like an option. */
function withValue(name: string, value: string): string[] {
  return name.length === 2 ? [name + value] : [name, value];
}

function translated(word: string): string[] {
  const [, standard] = /^--?std=(?:c|gnu)\+\+(\w+)$/.exec(word) ?? [];
  if (standard !== undefined) return [`-std=c++${standards[standard] ?? standard}`];
  const [, architecture] = /^--(?:cuda-gpu|offload)-arch=(sm_\w+)$/.exec(word) ?? [];
  return architecture === undefined ? [] : [`-arch=${architecture}`];
}
