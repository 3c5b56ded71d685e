/** The steps of nvcc for a unit, as `nvcc --dryrun` prints them. */
import { basename } from 'node:path';
import { shellWords } from './shell-words.ts';

/** A program and its arguments. */
export type ProgramCall = readonly [executable: string, ...args: string[]];

/**
 * Steps from a unit to PTX: the host compiler preprocesses, `cicc` compiles, and from sm_90 on `ptxas` validates the
 * PTX.
 */
export interface NvccSteps {
  readonly preprocess: ProgramCall;
  /** Path of the preprocessed text that the step writes. */
  readonly preprocessed: string;
  readonly compile: ProgramCall;
  /** Call that rejects invalid PTX and writes no file. Its last argument is the PTX file. */
  readonly validate: ProgramCall | null;
  /** Folder of the toolkit's libraries of device code, if nvcc prints it. */
  readonly libraries: string | null;
  /** Arguments of the two halves of `cicc`; null if some argument of `cicc` is unknown. */
  readonly halves: Halves | null;
}

/** Arguments of the front end and of the back end of `cicc`, without those that only the verification build has. */
interface Halves {
  readonly frontEnd: readonly string[];
  readonly backEnd: readonly string[];
}

/** Arguments of `cicc` that are passed to its front end unchanged. */
const ofFrontEnd =
  /^(?:--c\+\+(?:11|14|17|20)|--gnu_version=\d+|--static-host-stub|--device-hidden-visibility|--display_error_number|--brief_diagnostics|--allow_managed|--extended-lambda|--no-version-ident|-tused|--gen_module_id_file|--device-c|-w|--gen_div_approx_ftz)$/;

/** Arguments of the front end of `cicc` that are followed by a value. */
const ofFrontEndWithValue: ReadonlySet<string> = new Set([
  '--orig_src_file_name',
  '--orig_src_path_name',
  '--include_file_name',
  '--module_id_file_name',
  '--diag_suppress',
]);

/** Arguments of the back end of `cicc`, with their different spelling there. */
const ofBackEnd: readonly (readonly [RegExp, string])[] = [
  [/^-ftz=([01])$/, '-ftz='],
  [/^-prec_div=([01])$/, '-prec-div='],
  [/^-prec_sqrt=([01])$/, '-prec-sqrt='],
  [/^-fmad=([01])$/, '-fma='],
  [/^-fast-math()$/, '-fast-math'],
];

/** `-Ofc max` in the syntax of `cicc`. */
export const leastOptimised = '--Ofast-compile=max';

/**
 * Parses the steps that `nvcc -ptx --dryrun` prints: the variables that it sets, then its commands.
 * @param ptxas the assembler of the same toolkit, which nvcc names without its folder
 * @returns null if the commands are not the expected ones, or contain words that a shell would expand
 */
export function stepsOf(dryRun: string, ptxas: string | null): NvccSteps | null {
  const lines = dryRun.split('\n').flatMap((line) => (line.startsWith('#$ ') ? [line.slice(3)] : []));
  const isVariable = (line: string): boolean => /^\w+=/.test(line);
  const variable = (name: string): string | undefined =>
    lines
      .find((line) => line.startsWith(`${name}=`))
      ?.slice(name.length + 1)
      .trim();
  const folder = variable('CICC_PATH') ?? '$';
  const commands = lines.filter((line) => !isVariable(line)).map((line) => shellWords(line.replace('$CICC_PATH', () => folder)));
  const [preprocess, compile, validate] = commands;
  if (!preprocess || !compile || validate === null || commands.length > 3) return null;
  const [program, ...args] = preprocess;
  const preprocessed = args.at(-1);
  if (program === undefined || preprocessed === undefined || !args.includes('-E') || args.at(-2) !== '-o') return null;
  const [cicc, ...words] = compile;
  if (cicc === undefined || basename(cicc) !== 'cicc' || [...preprocess, ...compile].some((word) => /[$`]/.test(word))) return null;
  if (!words.includes(preprocessed) || words.at(-2) !== '-o') return null;
  const [assembler, ...options] = validate ?? [];
  const isValid = ptxas !== null && options.at(-1) === words.at(-1) && !options.some((word) => /[$`]|^-o$/.test(word));
  if (validate && (assembler === undefined || basename(assembler) !== 'ptxas' || !isValid)) return null;
  return {
    preprocess: [program, ...args],
    preprocessed,
    compile: [cicc, ...words],
    validate: assembler === undefined || ptxas === null ? null : [ptxas, ...options],
    libraries: variable('NVVMIR_LIBRARY_DIR') ?? null,
    halves: halvesOf(words, preprocessed),
  };
}

function halvesOf(words: readonly string[], preprocessed: string): Halves | null {
  const frontEnd: string[] = [];
  const backEnd: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    const next = words[index + 1] ?? '';
    const spelling = ofBackEnd.find(([form]) => form.test(word));
    if (ofFrontEnd.test(word)) frontEnd.push(word);
    else if (spelling) backEnd.push(spelling[1] + (spelling[0].exec(word)?.[1] ?? ''));
    else if (word === '-m64') frontEnd.push('--m64');
    else if (word === '-generate-line-info') {
      frontEnd.push('--generate-line-info');
      backEnd.push(word);
    } else if (word !== preprocessed && word !== leastOptimised) {
      // All other arguments have a value.
      index++;
      if (ofFrontEndWithValue.has(word)) frontEnd.push(word, next);
      else if (word === '-arch' && /^compute_\d+[af]?$/.test(next)) {
        frontEnd.push('--nv_arch', next);
        backEnd.push(`-arch=${next}`);
      } else if (word === '-maxreg' && /^\d+$/.test(next)) backEnd.push(`-maxreg=${next}`);
      else if (word !== '-o') return null;
    }
  }
  return { frontEnd, backEnd };
}
