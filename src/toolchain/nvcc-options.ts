/** The option syntax of nvcc: `--long=value`, `--long value`, `-short=value`, `-short value`, `-Dvalue`. */

/**
 * Treatment of an option:
 * - `keep`: it may change the device code, and has no other effect;
 * - `drop`: it selects outputs, which the builds determine, or it applies to a phase that is never run;
 * - `architecture`: dropped too, because the build determines it;
 * - `dangerous`: it can run a program, read or write a file, or is passed on to another tool.
 */
type OptionRole = 'keep' | 'drop' | 'architecture' | 'dangerous';

export interface OptionRow {
  /** Spelling of the option that is passed to nvcc. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly value: 'none' | 'text' | 'path-list' | 'file-list' | 'definitions' | 'names';
  readonly role: OptionRole;
  /** Pattern that an untrusted value has to match. */
  readonly pattern?: RegExp;
}

const boolean = /^(true|false)$/;
const number = /^\d{1,6}$/;
const messageNumbers = /^\d{1,6}(,\d{1,6})*$/;

function flag(role: OptionRole, name: string, ...aliases: string[]): OptionRow {
  return { name, aliases, value: 'none', role };
}

function text(role: OptionRole, pattern: RegExp, name: string, ...aliases: string[]): OptionRow {
  return { name, aliases, value: 'text', role, pattern };
}

function dangerous(name: string, ...aliases: string[]): OptionRow {
  return { name, aliases, value: 'text', role: 'dangerous' };
}

const rows: readonly OptionRow[] = [
  { name: '-D', aliases: ['--define-macro'], value: 'definitions', role: 'keep' },
  { name: '-U', aliases: ['--undefine-macro'], value: 'names', role: 'keep' },
  { name: '-I', aliases: ['--include-path'], value: 'path-list', role: 'keep' },
  { name: '-isystem', aliases: ['--system-include'], value: 'path-list', role: 'keep' },
  { name: '-include', aliases: ['--pre-include'], value: 'file-list', role: 'keep' },
  text('keep', /^(c|gnu)\+\+(03|11|14|17|20|23)$/, '-std', '--std'),
  text('keep', /^([0-3]|fast|s|g)$/, '-O', '--optimize'),
  text('keep', boolean, '-ftz', '--ftz'),
  text('keep', boolean, '-prec-div', '--prec-div'),
  text('keep', boolean, '-prec-sqrt', '--prec-sqrt'),
  text('keep', boolean, '-fmad', '--fmad'),
  text('keep', boolean, '-rdc', '--relocatable-device-code'),
  text('keep', number, '-maxrregcount', '--maxrregcount'),
  text('keep', /^(legacy|null|per-thread)$/, '-default-stream', '--default-stream'),
  text('keep', messageNumbers, '-diag-suppress', '--diag-suppress'),
  text('keep', messageNumbers, '-diag-warn', '--diag-warn'),
  text('keep', messageNumbers, '-diag-error', '--diag-error'),
  text('keep', number, '-ftemplate-depth', '--ftemplate-depth'),
  text('keep', number, '-ftemplate-backtrace-limit', '--ftemplate-backtrace-limit'),
  text('keep', /^64$/, '-m', '--machine'),
  flag('keep', '-m64', '--m64'),
  flag('keep', '-use_fast_math', '--use_fast_math'),
  flag('keep', '-expt-relaxed-constexpr', '--expt-relaxed-constexpr'),
  flag('keep', '-extended-lambda', '--extended-lambda', '-expt-extended-lambda', '--expt-extended-lambda'),
  flag('keep', '-extra-device-vectorization', '--extra-device-vectorization'),
  flag('keep', '-restrict', '--restrict'),
  flag('keep', '-w', '--disable-warnings'),
  flag('keep', '-Wreorder', '--Wreorder'),
  flag('keep', '-Wdefault-stream-launch', '--Wdefault-stream-launch'),
  flag('keep', '-Wmissing-launch-bounds', '--Wmissing-launch-bounds'),
  flag('keep', '-Wext-lambda-captures-this', '--Wext-lambda-captures-this'),
  flag('keep', '-Wno-deprecated-declarations', '--Wno-deprecated-declarations'),
  flag('keep', '-Wno-deprecated-gpu-targets', '--Wno-deprecated-gpu-targets'),
  flag('keep', '-nohdinitlist', '--no-host-device-initializer-list'),
  flag('keep', '-nohdmoveforward', '--no-host-device-move-forward'),
  flag('keep', '-noeh', '--no-exceptions'),
  // Omitted if untrusted, see flags.ts.
  flag('keep', '-forward-unknown-to-host-compiler', '--forward-unknown-to-host-compiler'),
  // `-dc` is equivalent to `-rdc=true -c`. Only `-rdc=true` is passed to nvcc, see flags.ts.
  flag('keep', '-dc', '--device-c'),

  text('architecture', /(?:)/, '-arch', '--gpu-architecture'),
  text('architecture', /(?:)/, '-code', '--gpu-code'),
  text('architecture', /(?:)/, '-gencode', '--generate-code'),

  flag('drop', '-c', '--compile'),
  flag('drop', '-dw', '--device-w'),
  flag('drop', '-ptx', '--ptx'),
  flag('drop', '-cubin', '--cubin'),
  flag('drop', '-fatbin', '--fatbin'),
  flag('drop', '-cuda', '--cuda'),
  flag('drop', '-M', '--generate-dependencies'),
  flag('drop', '-MM', '--generate-nonsystem-dependencies'),
  flag('drop', '-MD', '--generate-dependencies-with-compile'),
  flag('drop', '-MMD', '--generate-nonsystem-dependencies-with-compile'),
  flag('drop', '-MP', '--generate-dependency-targets'),
  text('drop', /(?:)/, '-MF', '--dependency-output'),
  text('drop', /(?:)/, '-MT', '--dependency-target-name'),
  text('drop', /(?:)/, '-o', '--output-file'),
  text('drop', /^(cu|c|c\+\+)$/, '-x', '--x'),
  flag('drop', '-lineinfo', '--generate-line-info'),
  // Host debug information, and device code compiled without optimisation: neither is part of the production build.
  flag('drop', '-g', '--debug'),
  flag('drop', '-G', '--device-debug'),
  flag('drop', '-pg', '--profile'),
  flag('drop', '-v', '--verbose'),
  flag('drop', '-src-in-ptx', '--source-in-ptx'),
  flag('drop', '-res-usage', '--resource-usage'),
  text('drop', /(?:)/, '-Ofc', '--Ofast-compile'),
  text('drop', /(?:)/, '-frandom-seed', '--frandom-seed'),
  text('drop', /(?:)/, '-Werror', '--Werror'),
  flag('drop', '-dlto', '--dlink-time-opt', '-lto', '--lto'),
  text('drop', number, '-t', '--threads'),
  text('drop', number, '-split-compile', '--split-compile'),
  text('drop', /^(none|shared|static)$/, '-cudart', '--cudart'),
  text('drop', /^(none|static)$/, '-cudadevrt', '--cudadevrt'),

  dangerous('-ccbin', '--compiler-bindir'),
  dangerous('-arbin', '--archiver-binary'),
  dangerous('-ldir', '--libdevice-directory'),
  dangerous('-target-dir', '--target-directory'),
  dangerous('-Xcompiler', '--compiler-options'),
  dangerous('-Xlinker', '--linker-options'),
  dangerous('-Xarchive', '--archive-options'),
  dangerous('-Xptxas', '--ptxas-options'),
  dangerous('-Xnvlink', '--nvlink-options'),
  dangerous('-Xcicc'),
  dangerous('-Xcudafe'),
  dangerous('-Xfatbinary'),
  dangerous('-odir', '--output-directory'),
  dangerous('-l', '--library'),
  dangerous('-L', '--library-path'),
  dangerous('-keep-dir', '--keep-dir'),
  dangerous('-time', '--time'),
  dangerous('-run-args', '--run-args'),
  dangerous('-optf', '--options-file'),
  dangerous('-dopt', '--dopt'),
];

const byName = new Map(rows.flatMap((row) => [row.name, ...row.aliases].map((name) => [name, row] as const)));

/** One option or other argument of a command line of nvcc. */
export type OptionWord =
  | { readonly kind: 'option'; readonly row: OptionRow; readonly value: string; readonly words: readonly string[] }
  /** An option whose value is missing. */
  | { readonly kind: 'incomplete'; readonly row: OptionRow; readonly words: readonly string[] }
  | { readonly kind: 'unknown-option'; readonly words: readonly string[] }
  /** An input file or another argument that is not an option. */
  | { readonly kind: 'operand'; readonly words: readonly string[] };

/** Splits a command line of nvcc (without the program) into options with their values. */
export function parseOptions(args: readonly string[]): OptionWord[] {
  const result: OptionWord[] = [];
  for (let index = 0; index < args.length; index++) {
    const word = args[index]!;
    if (!word.startsWith('-') || word === '-') {
      result.push({ kind: 'operand', words: [word] });
      continue;
    }
    const equals = word.indexOf('=');
    const row = byName.get(equals < 0 ? word : word.slice(0, equals));
    if (row && equals >= 0 && row.value !== 'none') {
      result.push({ kind: 'option', row, value: word.slice(equals + 1), words: [word] });
    } else if (row && equals < 0 && row.value === 'none') {
      result.push({ kind: 'option', row, value: '', words: [word] });
    } else if (row && equals < 0) {
      const value = args[++index];
      // Some versions of nvcc would use the next option as the value, which is not intended. Only options that are
      // passed on to another tool may have a value that is an option.
      if (value === undefined || (value.startsWith('-') && row.role !== 'dangerous')) {
        result.push({ kind: 'incomplete', row, words: [word] });
        if (value !== undefined) index--;
      } else result.push({ kind: 'option', row, value, words: [word, value] });
    } else {
      const joined = /^-[DUIOlLxt](?=.)/s.exec(word)?.[0];
      const letter = joined && !row ? byName.get(joined) : undefined;
      if (joined && letter) result.push({ kind: 'option', row: letter, value: word.slice(2), words: [word] });
      else result.push({ kind: 'unknown-option', words: [word] });
    }
  }
  return result;
}
