/** How nvcc compiles the host code of a unit, and the same steps up to what GCC makes of it. */
import { basename } from 'node:path';
import { printsSearchList } from './file-inputs.ts';
import type { ProgramCall } from '../toolchain/nvcc-steps.ts';
import { shellWords } from '../toolchain/shell-words.ts';

/** The steps from a unit to host code: the host compiler preprocesses, `cudafe++` rewrites launches, the host compiler compiles. */
export interface HostSteps {
  readonly preprocess: ProgramCall;
  readonly preprocessed: string;
  /** Null for C++ without CUDA, which is compiled as it is. */
  readonly rewrite: ProgramCall | null;
  /** C++ with launches as calls. Its last line includes a file that only `cicc` writes. */
  readonly rewritten: string;
  /** Dumps what the host compiler makes of {@link source} to {@link dump}, and the assembly to {@link assembly}. */
  readonly lower: ProgramCall;
  readonly source: string;
  readonly dump: string;
  readonly assembly: string;
}

/**
 * GIMPLE in SSA form, one statement a line, without optimisation. `lineno`: the lines of the source. `asmname`: overloads
 * and instances have distinct names. `blocks`, `eh`: edges, those of exceptions too. `uid`: without it two variables of
 * one name in two scopes have the same text. `-fwrapv`: without it the front end folds `n + 100 < n`. `-dA`: the assembly
 * explains its debugging information. `-femit-class-debug-always`: also the layout of classes of which another unit
 * has the virtual functions.
 */
function lowering(dump: string): readonly string[] {
  const debugging = ['-g', '-dA', '-femit-class-debug-always', '-fno-debug-types-section'];
  return ['-O0', '-fwrapv', ...debugging, '-w', '-S', `-fdump-tree-ssa-raw-lineno-asmname-blocks-eh-uid=${dump}`];
}

/** The call that compiles the program of the self-test. */
export function selfTestCall(compiler: string, folder: string): Pick<HostSteps, 'lower' | 'source' | 'dump'> {
  const [source, dump] = [`${folder}/self-test.cpp`, `${folder}/self-test.gimple`];
  return { lower: [compiler, ...lowering(dump), source, '-o', `${folder}/self-test.s`], source, dump };
}

/** Options of the host compiler that set output files, or write further files. */
const outputs = /^(?:-c|-S|-E|-M[A-Z]*|-save-temps.*|-fdump-.*|-ftime-.*|-gsplit-dwarf|-flto.*|-fprofile-.*|--coverage)$/;
const outputsWithValue: ReadonlySet<string> = new Set(['-o', '-MF', '-MT', '-MQ', '-dumpbase', '-dumpdir']);

/**
 * Reads the steps that `nvcc -c --dryrun` prints.
 * @param folder for intermediate files
 * @returns null unless they are those of GCC, in words that a shell leaves as they are
 */
export function hostStepsOf(dryRun: string, folder: string): HostSteps | null {
  const commands = dryRun.split('\n').flatMap((line) => {
    if (!line.startsWith('#$ ') || /^#\$ \w+=/.test(line) || line.includes('$CICC_PATH')) return [];
    const words = shellWords(line.slice(3));
    return words === null || words.length === 0 ? [] : [words];
  });
  const at = commands.findIndex(([program = '']) => basename(program) === 'cudafe++');
  if (at < 0) return plainStepsOf(commands, folder);
  const [preprocess, rewrite, compile] = [commands[at - 1], commands[at], commands.findLast((words) => words.includes('-c'))];
  if (!preprocess || !rewrite || !compile || !preprocess.includes('-E')) return null;
  const [preprocessed, rewritten] = [rewrite.at(-1)!, valueOf(rewrite, '--gen_c_file_name')];
  if (rewritten === undefined || valueOf(preprocess, '-o') !== preprocessed) return null;
  const [compiler = '', ...words] = compile;
  if (!isGcc(compiler) || words.filter((word) => word === rewritten).length !== 1) return null;
  if ([preprocess, rewrite, compile].flat().some((word) => /[$`]/.test(word))) return null;
  // What cudafe++ wrote includes headers of the toolkit, and no others.
  const toolkit = shellWords(/^#\$ INCLUDES=(.*)$/m.exec(dryRun)?.[1] ?? '') ?? [];
  const own = without(words, outputs, outputsWithValue).filter((word) => word !== rewritten);
  return {
    preprocess: asCall([...preprocess, printsSearchList]),
    preprocessed,
    // nvcc finds its programs next to itself.
    rewrite: [inFolder(rewrite[0]!, /^#\$ _HERE_=(\/.*)$/m.exec(dryRun)?.[1]), ...rewrite.slice(1)],
    rewritten,
    ...lowerSteps(compiler, [...withoutHeaders(own), ...toolkit], folder),
  };
}

function lowerSteps(compiler: string, words: readonly string[], folder: string): Pick<HostSteps, 'lower' | 'source' | 'dump' | 'assembly'> {
  const [source, dump, assembly] = ['host.cpp', 'host.gimple', 'host.s'].map((name) => `${folder}/${name}`) as [string, string, string];
  return { lower: [compiler, ...words, ...lowering(dump), source, '-o', assembly], source, dump, assembly };
}

/** The steps for C++ without CUDA: one call of the host compiler. */
function plainStepsOf(commands: readonly (readonly string[])[], folder: string): HostSteps | null {
  const compiles = commands.filter((words) => words.includes('-c'));
  const [compiler = '', ...words] = compiles[0] ?? [];
  if (compiles.length !== 1 || !isGcc(compiler) || words.some((word) => /[$`]/.test(word))) return null;
  const kept = without(words, outputs, outputsWithValue);
  const input = kept.at(-1) ?? '';
  if (!/\.(?:cpp|cc|cxx|c\+\+|C)$/.test(input)) return null;
  const preprocessed = `${folder}/host.ii`;
  const steps = lowerSteps(compiler, withoutHeaders(kept.slice(0, -1)), folder);
  return {
    preprocess: [compiler, ...kept, '-E', printsSearchList, '-o', preprocessed],
    preprocessed,
    rewrite: null,
    rewritten: preprocessed,
    ...steps,
  };
}

/** The words of a call that compiles a preprocessed text: nothing is included any more. */
function withoutHeaders(words: readonly string[]): string[] {
  return without(words, /^-(?:I|isystem|iquote|idirafter)./, new Set(['-I', '-isystem', '-iquote', '-idirafter', '-include', '-imacros']));
}

function isGcc(compiler: string): boolean {
  return /^(?:.*-)?(?:gcc|g\+\+|c\+\+)(?:-\d+)?$/.test(basename(compiler));
}

function inFolder(program: string, folder: string | undefined): string {
  return folder === undefined || program.includes('/') ? program : `${folder}/${program}`;
}

function asCall([program, ...words]: readonly string[]): ProgramCall {
  return [program!, ...words];
}

function valueOf(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option);
  return at < 0 ? undefined : words[at + 1];
}

function without(words: readonly string[], options: RegExp, withValue: ReadonlySet<string>): string[] {
  return words.filter((word, at) => !options.test(word) && !withValue.has(word) && !withValue.has(words[at - 1] ?? ''));
}

/**
 * The text that `cudafe++` wrote without the file of stubs that it includes at its end: `cicc` writes that file, and GCC
 * need not wait for it.
 * @returns null if there is not one such line
 */
export function withoutStubs(text: string): string | null {
  const line = /^#include "[^"\n]*\.stub\.c"\n/gm;
  return [...text.matchAll(line)].length === 1 ? text.replace(line, '\n') : null;
}
