/** The `selvage run` command that reproduces a finding. */
import { endlessElements, type Witness, type WitnessArgument } from '../../verdict/finding.ts';

/**
 * Renders the launch of a witness as a command line for a shell.
 * @param file the CUDA or PTX file, relative to the working directory of the command
 * @param compilerArguments arguments of the user for nvcc
 * @returns undefined if the command line cannot express the contents of the arrays
 */
export function reproduceCommand(
  file: string,
  { kernel, block, grid, sharedBytes, schedule, args }: Witness,
  cooperative: boolean,
  compilerArguments: readonly string[],
): string | undefined {
  const words = ['selvage', 'run', file, '--kernel', kernel, '--block', block.join(','), '--grid', grid.join(',')];
  const { blocks, order } = schedule ?? {};
  const count = grid[0] * grid[1] * grid[2];
  const isUsual = blocks?.length === count && blocks.every((block, at) => block === at);
  if (blocks && !isUsual) words.push('--blocks', blocks.join(','));
  if (order !== undefined) words.push('--schedule', String(order));
  if (sharedBytes !== undefined) words.push('--shared', String(sharedBytes));
  if (cooperative) words.push('--cooperative');
  for (const [name, argument] of Object.entries(args)) {
    const text = argumentText(argument);
    if (text === undefined) return undefined;
    words.push('--arg', `${name}=${text}`);
  }
  if (compilerArguments.length > 0) words.push('--', ...compilerArguments);
  return words.map(quoted).join(' ');
}

function argumentText(argument: WitnessArgument): string | undefined {
  if (typeof argument !== 'object') return String(argument);
  if ('same' in argument) return `&${argument.same}${argument.bytes === undefined ? '' : `+${argument.bytes}`}`;
  const { fill = 0, values = {} } = argument;
  const type = `${argument.type}[${argument.length === endlessElements ? '' : argument.length}]`;
  const entries = Object.entries(values);
  if (argument.drawn !== undefined) return `${type}:${argument.drawn}`;
  if (entries.length === 0) return `${type}:fill(${fill})`;
  // Array contents that the witness search generates: integers that rise or fall with the index, then stay constant.
  const [first, second] = [Number(values['0']), Number(values['1'])];
  const step = second - first;
  const isRamp =
    entries.every(([index, value]) => Number(value) === first + step * Number(index)) && Number(fill) === first + step * entries.length;
  return isRamp ? `${type}:iota(${first},${step},${entries.length})` : undefined;
}

/** An argument quoted for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
