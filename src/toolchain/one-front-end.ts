/**
 * Both builds of a unit from one pass of nvcc's front end, which is nearly all of what nvcc takes for most files.
 *
 * nvcc preprocesses a unit and gives it to `cicc`: a front end that makes a module of LLVM of it, and a back end that makes
 * PTX of that. The two halves of `cicc` can be run by themselves, and the second twice: as nvcc would, and with
 * `-Ofast-compile=max`. No manual of NVIDIA tells that. So it is done with the versions for which both texts were compared
 * with those of nvcc, byte by byte, and with words that were compared too; everything else is compiled twice.
 */
import { basename, join } from 'node:path';
import { exitedWell, type ProcessResult } from '../system/child-process.ts';
import { shellWords } from './shell-words.ts';

/** What the steps of nvcc are, as `nvcc --dryrun` prints them, with `cicc` taken apart. */
interface NvccSteps {
  /** Program and arguments. */
  readonly preprocess: readonly [string, ...string[]];
  /** The text that it writes. */
  readonly preprocessed: string;
  readonly cicc: string;
  readonly frontEnd: readonly string[];
  readonly backEnd: readonly string[];
}

/** What one front end made of a unit. */
export interface MadeOfOne {
  /** What preprocessor and front end said. */
  readonly result: ProcessResult;
  /** The file with the PTX of the verification build, where the result is a good one. */
  readonly verification: string;
}

/** Words of `cicc` that its front end takes as they are. */
const ofFrontEnd =
  /^(?:--c\+\+(?:11|14|17|20)|--gnu_version=\d+|--static-host-stub|--device-hidden-visibility|--display_error_number|--brief_diagnostics|--allow_managed|--extended-lambda|--no-version-ident|-tused|--gen_module_id_file|--device-c|-w|--gen_div_approx_ftz)$/;

/** Words of its front end that have another behind them. */
const ofFrontEndWithValue: ReadonlySet<string> = new Set([
  '--orig_src_file_name',
  '--orig_src_path_name',
  '--include_file_name',
  '--module_id_file_name',
  '--diag_suppress',
]);

/** Words of its back end, which spells them in its own way. */
const ofBackEnd: readonly (readonly [RegExp, string])[] = [
  [/^-ftz=([01])$/, '-ftz='],
  [/^-prec_div=([01])$/, '-prec-div='],
  [/^-prec_sqrt=([01])$/, '-prec-sqrt='],
  [/^-fmad=([01])$/, '-fma='],
  [/^-fast-math()$/, '-fast-math'],
];

/**
 * Makes both builds of a unit.
 * @param dryRun runs nvcc with `--dryrun` and the words of the production build
 * @param run runs a program in the environment of nvcc
 * @param output where the PTX of the production build is to stand
 * @param temporary folder for what lies between the steps
 * @param onPreprocessed is called when the preprocessed text is there, before it is compiled
 * @returns null where the steps are not those that are known, or one fails: nvcc is to be run then, and tells why. What
 *   passed a limit, or was stopped, is the result
 */
export async function buildFromOneFrontEnd(
  dryRun: () => Promise<ProcessResult>,
  run: (executable: string, args: readonly string[]) => Promise<ProcessResult>,
  output: string,
  temporary: string,
  onPreprocessed: () => void,
): Promise<MadeOfOne | null> {
  const told = await dryRun();
  const steps = exitedWell(told) ? stepsOf(`${told.stdout}\n${told.stderr}`) : null;
  if (steps === null) return null;
  const [program, ...args] = steps.preprocess;
  const text = await run(program, args);
  if (!exitedWell(text)) return stopped(text);
  onPreprocessed();
  const module = join(temporary, 'unit.bc');
  const front = await run(steps.cicc, ['-lgenfe', ...steps.frontEnd, '--emit-llvm-bc', steps.preprocessed, '-o', module]); // prettier-ignore
  if (!exitedWell(front)) return stopped(front);
  const verification = join(temporary, 'verification.ptx');
  const made = await Promise.all([
    run(steps.cicc, ['-libnvvm', ...steps.backEnd, module, '-o', output]),
    run(steps.cicc, ['-libnvvm', ...steps.backEnd, '-Ofast-compile=max', module, '-o', verification]),
  ]);
  const strange = made.find((one) => !exitedWell(one) || one.stdout !== '' || one.stderr !== '');
  if (strange) return stopped(strange);
  const result = { end: front.end, stdout: text.stdout + front.stdout, stderr: text.stderr + front.stderr };
  return { result, verification };
}

/** A step that nvcc would not bring to its end either. */
function stopped(result: ProcessResult): MadeOfOne | null {
  return ['time-limit', 'output-limit', 'aborted'].includes(result.end.kind) ? { result, verification: '' } : null;
}

/**
 * Reads the steps that `nvcc -ptx --dryrun` prints: the variables that it sets, then its commands.
 * @returns null unless they are a preprocessor and a `cicc` all of whose words are known
 */
export function stepsOf(dryRun: string): NvccSteps | null {
  const lines = dryRun.split('\n').flatMap((line) => (line.startsWith('#$ ') ? [line.slice(3)] : []));
  const isVariable = (line: string): boolean => /^\w+=/.test(line);
  const folder = lines
    .find((line) => line.startsWith('CICC_PATH='))
    ?.slice('CICC_PATH='.length)
    .trim();
  const commands = lines.filter((line) => !isVariable(line)).map((line) => shellWords(line.replace('$CICC_PATH', folder ?? '$'))); // prettier-ignore
  const [preprocess, compile] = commands;
  if (!preprocess || !compile || commands.length !== 2) return null;
  const [program, ...args] = preprocess;
  const preprocessed = args.at(-1);
  if (program === undefined || preprocessed === undefined || !args.includes('-E') || args.at(-2) !== '-o') return null;
  const [cicc, ...words] = compile;
  if (cicc === undefined || basename(cicc) !== 'cicc' || [...preprocess, ...compile].some((word) => /[$`]/.test(word))) return null; // prettier-ignore
  const frontEnd: string[] = [];
  const backEnd: string[] = [];
  let reads = false;
  let writes = false;
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
    } else if (word === preprocessed) reads = true;
    else {
      // The others have a value.
      index++;
      if (ofFrontEndWithValue.has(word)) frontEnd.push(word, next);
      else if (word === '-arch' && /^compute_\d+[af]?$/.test(next)) {
        frontEnd.push('--nv_arch', next);
        backEnd.push(`-arch=${next}`);
      } else if (word === '-maxreg' && /^\d+$/.test(next)) backEnd.push(`-maxreg=${next}`);
      else if (word === '-o') writes = true;
      else return null;
    }
  }
  return reads && writes ? { preprocess: [program, ...args], preprocessed, cicc, frontEnd, backEnd } : null;
}
