/** The text of `--help`: options by group, in lines of at most 100 columns. */
import { capitalised } from '../base/text.ts';
import { serverVariables } from './server-variables.ts';
import {
  commands,
  type CommandName,
  onlyFor,
  type OptionEntry,
  type OptionName,
  optionTable,
  runFormats,
  shortOptions,
} from './options.ts';

/** Options by topic; each option is in exactly one group. */
const groups: readonly (readonly [string, readonly OptionName[]])[] = [
  ['Launch', ['block', 'grid', 'shared', 'cluster', 'cooperative']],
  ['Kernels and their arguments', ['kernel', 'assume', 'arg', 'facts', 'input']],
  ['Compiler', ['arch', 'nvcc', 'build']],
  ['Analysis', ['checks', 'timeout', 'effort', 'solver', 'jobs', 'gpu', 'config', 'defaults', 'no-baseline', 'no-cache']],
  ['Commits', ['base', 'head', 'shard', 'shards']],
  ['Run', ['schedule', 'schedules', 'blocks', 'steps', 'backend', 'no-races', 'track', 'counters', 'trace', 'dump']],
  ['Files', ['write', 'launches', 'emit', 'certificates', 'save-reproducer', 'action', 'dry-run', 'force']],
  ['Output', ['format', 'output', 'print', 'fail-on', 'timings', 'quiet', 'verbose', 'no-color', 'help', 'version']],
];

const widest = 100;
/** Maximum width of the left column. A longer entry is on a separate line. */
const widestLeft = 34;

/** The text of `--help`, of one command or of the program. The program lists the options that most commands have. */
export function helpText(command?: CommandName): string {
  const lines: string[] = [];
  if (command) {
    const { synopsis, summary } = commands[command];
    lines.push(...wrapped(`selvage ${synopsis}`, 4), '', ...wrapped(`${capitalised(summary)}.`, 0));
  } else {
    lines.push('selvage COMMAND [OPTIONS]', '', 'Checks CUDA kernels for data races and barrier divergence.', '');
    lines.push('Commands', ...columns(Object.values(commands).map(({ synopsis, summary }) => [synopsis, summary])));
  }
  if (command === 'serve') {
    for (const [title, variables] of Object.entries(serverVariables))
      lines.push('', `Environment variables: ${title}`, ...columns(Object.entries(variables)));
  }
  for (const [title, names] of groups) {
    const rows = names.filter((name) => isListed(name, command)).map((name) => optionRow(name, command));
    if (rows.length > 0) lines.push('', title, ...columns(rows));
  }
  if (!command) lines.push('', '`selvage COMMAND --help` lists the options of a command.');
  lines.push('', ...(command === 'run' ? runNotes : command === 'serve' ? serveNotes : checkNotes));
  return `${lines.join('\n')}\n`;
}

/** Whether the help of the program, without a command, lists an option: if more than half of the commands have it. */
function isListed(name: OptionName, command: CommandName | undefined): boolean {
  const owners = onlyFor[name];
  if (command === 'serve') return name === 'help' || name === 'version';
  if (!owners) return true;
  return command ? owners.includes(command) : 2 * owners.length >= Object.keys(commands).length;
}

function optionRow(name: OptionName, command: CommandName | undefined): readonly [string, string] {
  const entry: OptionEntry = optionTable[name];
  const [letter] = Object.entries(shortOptions).find(([, long]) => long === name) ?? [];
  const value = name === 'format' && command === 'run' ? runFormats.join('|') : (entry.value ?? '');
  const shown = value === '' ? '' : 'flag' in entry ? `[=${value}]` : ` ${value}`;
  const help = command ? entry.help.replace(/^(?:[a-z]+, )*[a-z]+: /, (owners) => (owners.includes(command) ? '' : owners)) : entry.help;
  return [`${letter === undefined ? '' : `-${letter}, `}--${name}${shown}`, help];
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(widestLeft, Math.max(...rows.map(([left]) => left.length)));
  return rows.flatMap(([left, right]) => {
    const [first = '', ...more] = wrapped(right, 0, widest - width - 4);
    const indented = more.map((line) => `${' '.repeat(width + 4)}${line}`);
    const head = `  ${left.padEnd(width)}  ${first}`;
    return left.length <= width ? [head, ...indented] : [...wrapped(`  ${left}`, 6), `${' '.repeat(width + 4)}${first}`, ...indented];
  });
}

/** Text wrapped to lines. All lines but the first are indented. */
function wrapped(text: string, indent: number, width = widest): string[] {
  const lines: string[] = [];
  let line = /^ */.exec(text)![0];
  let isEmpty = true;
  for (const word of text.trim().split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = ' '.repeat(indent);
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}

const checkNotes = [
  'Everything after `--` goes to nvcc. Exit codes: 0 no findings, 1 findings, 2 wrong usage or',
  'configuration, 3 no compiler, or a file that cannot be read or compiled, 4 an internal error.',
];

const serveNotes = [
  'It takes no other options. Exit codes: 0 ended by SIGTERM or SIGINT, 2 a wrong setting, a port in',
  'use or a folder that cannot be written, 4 an internal error. The log is one JSON object a line, on',
  'standard error.',
];

const runNotes = [
  'Arguments',
  '  n=4096  x=0x1f  alpha=2.5  p.n=3   a scalar, a field of a struct (also param0, param1 …)',
  '  A=float32[1024]:iota               0, 1, 2 …; also zeros, ones, fill(3), iota(start,step),',
  '                                     random(seed), random(seed,low,high), [1,2,3], uninitialised',
  '  A=float32:@file.bin  p=@file.bin   the contents of a file, little-endian',
  '  B=&A  B=&A+16  B=&A[4]  B=null     a pointer to A, 16 bytes into it, to an element; a null pointer',
  '  Types: int8 … int64, uint8 … uint64, float16, bfloat16, float32, float64. int32[]: no upper bound.',
  '',
  'Everything after `--` goes to nvcc. Exit codes: 0 no findings, 1 a race, divergence, deadlock, bad',
  'access or trap, 2 wrong usage or configuration, 3 no compiler, a file that cannot be read or',
  'compiled, an instruction that is not supported, or out of steps, 4 an internal error.',
];
