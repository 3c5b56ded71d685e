/** The only table of commands and options. Parsing, validation and `--help` are derived from it. */
import { optionDefaults, defaultJobs } from './defaults.ts';
import type { Dim3 } from '../base/dim3.ts';
import { parseArgs } from 'node:util';
import { nearest } from '../base/nearest.ts';
import type { BackEndName } from '../interpreter/core/run-request.ts';
import { kernelPatternProblem } from '../cuda/names/kernel-pattern.ts';
import { type Gpu, gpuOf, gpus } from '../device/gpus.ts';
import { maximumSharedBytes } from '../device/hardware-limits.ts';
import { blockNumbers, dimensions, namedValues, oneOf, scheduleNamed, wholeNumber } from './option-values.ts';
import { parseThreads, type ThreadSelection } from './run-threads.ts';
import { UsageError } from '../base/usage-error.ts';
import { withoutUndefined } from '../base/without-undefined.ts';

export const formats = ['pretty', 'json', 'sarif', 'markdown', 'html'] as const;
/** Intermediate results that `check --print` prints. */
const printable = ['ir', 'symbolic', 'intervals', 'obligations', 'smt'] as const;
export type Printed = (typeof printable)[number];
export type Format = (typeof formats)[number];
export type FailOn = 'error' | 'warning' | 'never';
export type SolverKind = 'wasm' | 'native';
type CheckName = 'race' | 'divergence' | 'repair' | 'cost' | 'idempotency';
const backEnds = ['auto', 'reference', 'javascript', 'webassembly'] as const satisfies readonly BackEndName[];

/** Path of the configuration in a repository, unless `--config` is given. */
export const configurationName = '.selvage.yml';

export const commands = {
  check: {
    synopsis: 'check PATH… [-- NVCC ARGS…]',
    summary: 'prove that kernels have no races and no barrier divergence, show the bug, or report why neither is possible',
  },
  repair: {
    synopsis: 'repair PATH… [--write] [-- NVCC ARGS…]',
    summary: 'print edits that fix races, divergence and indices that overflow, each compiled and checked; --write changes the files',
  },
  cost: {
    synopsis: 'cost PATH… [-- NVCC ARGS…]',
    summary: 'print the worst-case cost of a warp, by line, and the registers and occupancy of each kernel',
  },
  review: { synopsis: 'review --base REV --head REV', summary: 'print what the action would post for these commits' },
  compare: {
    synopsis: 'compare BASE HEAD [PATH…]',
    summary: 'compare two commits or files: findings that are new, fixed or unchanged, and higher costs',
  },
  run: {
    synopsis: 'run PATH --kernel GLOB --block … --grid … [--arg NAME=VALUE…] [-- NVCC ARGS…]',
    summary: 'run a kernel in the interpreter and report races, without a GPU',
  },
  baseline: {
    synopsis: 'baseline [PATH…] [--force] [-- NVCC ARGS…]',
    summary: 'write the findings that a repository has to a file, so that only new ones are reported; later, drop what is fixed',
  },
  init: {
    synopsis: 'init [FOLDER]',
    summary: 'write a workflow and a configuration for a repository, from its kernels, launches and build files',
  },
  demo: { synopsis: 'demo', summary: 'review the example pull request that comes with Selvage' },
  explain: { synopsis: 'explain CODE', summary: 'explain a code such as race/shared, with an example and the remedy' },
  idempotency: {
    synopsis: 'idempotency PATH… [--launches FILE] [--emit DIR] [-- NVCC ARGS…]',
    summary: 'list kernels that may be stopped and run again, classify the launches of a trace, or write validators in C',
  },
  serve: { synopsis: 'serve', summary: 'the webhook server of a GitHub App; needs Node 24' },
} as const satisfies Record<string, { readonly synopsis: string; readonly summary: string }>;

export type CommandName = keyof typeof commands;

export type OptionEntry =
  /** A flag. With `value`, it may also be given as `--NAME=VALUE`, any number of times. */
  | { readonly flag: true; readonly value?: string; readonly help: string }
  | { readonly value: string; readonly repeatable?: true; readonly help: string };

const analysing = ['check', 'repair', 'cost', 'idempotency', 'review', 'compare', 'demo', 'baseline'] as const;
const compiling: readonly string[] = [...analysing, 'run'];

/** All options, in the order of `--help`. */
export const optionTable = {
  block: { value: 'X[,Y[,Z]]', help: 'threads per block' },
  grid: { value: 'X[,Y[,Z]]', help: 'blocks in the grid' },
  shared: { value: 'BYTES', help: 'dynamic shared memory per block' },
  cluster: { value: 'X[,Y[,Z]]', help: 'blocks per cluster' },
  cooperative: { flag: true, help: 'cooperative launch (grid barriers work)' },
  kernel: { value: 'GLOB', help: 'only kernels with a matching name; /…/ is a regular expression' },
  assume: { value: 'EXPR', repeatable: true, help: 'assume this about the arguments, for example "n % 32 == 0"' },
  arg: {
    value: 'NAME=VALUE',
    repeatable: true,
    help: 'value of a scalar parameter; run also takes arrays, for example A=float32[1024]:iota',
  },
  facts: {
    value: 'FILE',
    help: 'JSON with launches, arguments and assumptions of kernels by name, such as next to a .ptx',
  },
  input: { value: 'FILE[#ID]', help: 'run: replay a witness file, or a finding of a report by its fingerprint' },
  build: {
    value: 'verification|production',
    help: `run: which build to run (default ${optionDefaults.build}, the one that proofs use)`,
  },
  'no-races': { flag: true, help: 'run: turn the race detector off' },
  track: { value: 'A,B…', help: 'run: look for races only on these arrays' },
  counters: { flag: true, help: 'run: count instructions, sectors, bank conflicts and divergent branches by line' },
  trace: {
    flag: true,
    value: 'THREAD[,BLOCK]',
    help: 'run: print each instruction of these threads on standard error, for example 5 or 0-31,2 or 3:1:0,*',
  },
  dump: { value: 'NAME=FILE', repeatable: true, help: 'run: write an array to a file after the run' },
  blocks: { value: 'N,N…', help: 'run: execute only these blocks of the grid, in this order' },
  schedule: {
    value: 'NAME[:SEED]',
    help: 'run: execute blocks and warps in another order: reverse, shuffled, interleaved (threads alternate after each instruction) or store-buffer (interleaved, and other threads see stores late); a number is the schedule that a report names',
  },
  schedules: { value: 'N', help: 'run: try N orders of blocks and warps, until one shows a bug' },
  steps: {
    value: 'N',
    help: `run: stop after this many instructions of all threads together (default ${optionDefaults.steps})`,
  },
  backend: { value: backEnds.join('|'), help: `run: which interpreter to use (default ${optionDefaults.backEnd})` },
  arch: { value: 'sm_NN', repeatable: true, help: `architecture to compile for (default ${optionDefaults.arch})` },
  gpu: { value: 'NAME', help: `cost: compare launches with this GPU: ${gpus.map(({ name }) => name).join(', ')}` },
  nvcc: { value: 'PATH', help: 'the compiler (default: search PATH, CUDA_HOME and the usual folders)' },
  checks: {
    value: 'LIST',
    help: 'some of race,divergence,repair,cost,idempotency (default all except repair; for review all)',
  },
  launches: { value: 'FILE', help: 'idempotency: classify the launches in this file, one JSON object a line' },
  emit: { value: 'DIR', help: 'idempotency: write validators of launches in C to this folder' },
  certificates: {
    value: 'DIR',
    help: 'check: write what proves each obligation to this folder, in files that can be checked again',
  },
  'save-reproducer': {
    value: 'DIR',
    help: 'check: write the PTX of the kernel that --kernel selects, without names of the program, and what checks it',
  },
  print: {
    value: printable.join('|'),
    help: 'check: print this of the kernels instead of a report: their IR, or how the first launch is checked',
  },
  'dry-run': { flag: true, help: 'init: print the files instead of writing them' },
  force: { flag: true, help: 'init, baseline: replace files that are there' },
  'no-baseline': { flag: true, help: 'report the findings of the baseline too' },
  action: { value: 'OWNER/REPO@REF', help: 'init: the action that the workflow uses' },
  write: { flag: true, help: 'repair: change the files instead of only printing the edits' },
  base: { value: 'REV', help: 'review: the commit that the change starts from' },
  head: { value: 'REV', help: `review: the commit to review (default ${optionDefaults.head})` },
  shard: { value: 'I/N', help: 'review: analyse the I-th of N parts of the change, for --shards' },
  shards: {
    value: 'DIR',
    help: 'review: with --shard the folder for the results of the part, without it the folder with those of all',
  },
  format: { value: formats.join('|'), help: `format of the report (default ${optionDefaults.format})` },
  output: { value: 'FILE', help: 'write the report to this file instead of standard output' },
  timeout: {
    value: 'SECONDS',
    help: `CPU time for each kernel; 20 times that in wall-clock time (default ${optionDefaults.timeout})`,
  },
  effort: {
    value: 'N',
    help: 'multiply the budgets of each check, for kernels that the solver or the runs gave up on (default 1)',
  },
  solver: {
    value: 'wasm|native',
    help: 'use the Z3 that comes with Selvage (wasm, the default) or the z3 on PATH (native)',
  },
  jobs: {
    value: 'N',
    help: 'how many files to compile, and kernels to check, at a time (default: one per core, at most 4)',
  },
  config: { value: 'FILE', help: `configuration file (default: ${configurationName} at the root of the repository)` },
  defaults: {
    value: 'FILE',
    help: 'configuration for keys that the one of the repository does not set, such as that of an organisation',
  },
  'fail-on': {
    value: 'error|warning|never',
    help: `lowest severity that makes the exit code 1 (default ${optionDefaults.failOn})`,
  },
  timings: { flag: true, help: 'add the times of each phase to the report' },
  quiet: { flag: true, help: 'print no progress and no hints' },
  verbose: { flag: true, help: 'print all proved kernels, assumptions and compiler commands' },
  'no-color': { flag: true, help: 'print no colours' },
  'no-cache': { flag: true, help: 'take no results of earlier runs, and keep none' },
  help: { flag: true, help: 'print this text' },
  version: { flag: true, help: 'print the version' },
} as const satisfies Record<string, OptionEntry>;

export type OptionName = keyof typeof optionTable;

export const shortOptions: Readonly<Record<string, OptionName>> = {
  h: 'help',
  o: 'output',
  k: 'kernel',
  q: 'quiet',
  v: 'verbose',
};

/** Commands that accept an option, for options that only some commands have. */
export const onlyFor: Partial<Record<OptionName, readonly CommandName[]>> = {
  base: ['review'],
  head: ['review'],
  shard: ['review'],
  shards: ['review'],
  assume: analysing,
  facts: ['check', 'repair', 'cost', 'idempotency', 'run'],
  checks: analysing.filter((name) => name !== 'cost' && name !== 'idempotency'),
  gpu: ['cost'],
  launches: ['idempotency'],
  emit: ['idempotency'],
  certificates: ['check'],
  print: ['check'],
  'save-reproducer': ['check'],
  'dry-run': ['init'],
  force: ['init', 'baseline'],
  'no-baseline': ['check', 'cost', 'review', 'compare'],
  action: ['init'],
  write: ['repair'],
  timeout: analysing,
  effort: analysing,
  solver: analysing,
  input: ['run'],
  build: ['run'],
  'no-races': ['run'],
  track: ['run'],
  counters: ['run'],
  trace: ['run'],
  dump: ['run'],
  blocks: ['run'],
  schedule: ['run'],
  schedules: ['run'],
  steps: ['run'],
  backend: ['run'],
};

/** Options of `selvage run` only. */
interface RunOptions {
  readonly input?: string;
  readonly build: 'verification' | 'production';
  readonly races: boolean;
  /** Arrays whose races are searched for; if empty, all. */
  readonly track: readonly string[];
  readonly counters: boolean;
  /** Threads to trace; empty: none. */
  readonly trace: readonly ThreadSelection[];
  /** Output file by name of the array. */
  readonly dump: ReadonlyMap<string, string>;
  /** Indices of the blocks to run; if absent, all. */
  readonly blocks?: readonly number[];
  readonly schedule?: number;
  /** Maximum number of schedules of blocks and warps; if absent, one. */
  readonly schedules?: number;
  readonly steps: number;
  readonly backEnd: BackEndName;
}

/** One of several parts of a review; parts are numbered from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** Options of `selvage init`. `selvage baseline` also has `force`. */
interface InitOptions {
  readonly dryRun: boolean;
  readonly force: boolean;
  /** The action as `OWNER/REPO@REF`. */
  readonly action?: string;
}

export interface Options {
  readonly block?: Dim3;
  readonly grid?: Dim3;
  readonly shared?: number;
  readonly cluster?: Dim3;
  readonly cooperative: boolean;
  readonly kernel?: string;
  readonly assume: readonly string[];
  readonly args: ReadonlyMap<string, string>;
  readonly arch: readonly string[];
  /** The GPU whose roofline launches are compared with. */
  readonly gpu?: Gpu;
  readonly nvcc?: string;
  readonly checks: readonly CheckName[];
  /** Whether the checks are the defaults of the command, and were not requested individually. */
  readonly hasImpliedChecks?: true;
  readonly base?: string;
  readonly head?: string;
  readonly shard?: Shard;
  /** `review`: the folder of the results of shards. */
  readonly shards?: string;
  readonly format: Format;
  readonly output?: string;
  /** Time limit in milliseconds for each kernel. */
  readonly timeout: number;
  /** Factor of the budgets of each check. */
  readonly effort: number;
  readonly jobs: number;
  readonly solver: SolverKind;
  readonly config?: string;
  /** The file of facts on kernels. */
  readonly facts?: string;
  /** File with defaults for keys that the repository's configuration does not set. */
  readonly defaults?: string;
  readonly failOn: FailOn;
  readonly timings: boolean;
  /** `repair`: edit the files. */
  readonly write: boolean;
  /** `idempotency`: the trace of launches to classify. */
  readonly launches?: string;
  /** `idempotency`: the folder for validators. */
  readonly emit?: string;
  /** `check`: the folder for certificates. */
  readonly certificates?: string;
  /** `check`: the folder of a reproducer of one kernel, without names of the program. */
  readonly saveReproducer?: string;
  /** `check`: intermediate result that is printed instead of a report. */
  readonly print?: Printed;
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly color: boolean;
  /** Whether cached results of earlier runs may be used, and results of this run are cached. */
  readonly cache: boolean;
  /** Whether the baseline is applied, so that its findings are omitted from reports. */
  readonly baseline: boolean;
  readonly run: RunOptions;
  readonly init: InitOptions;
}

export type Invocation =
  | { readonly kind: 'help'; readonly command?: CommandName }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'command';
      readonly command: CommandName;
      readonly paths: readonly string[];
      readonly nvccArguments: readonly string[];
      readonly options: Options;
    };

/** The values of all options if none is given. */
export function defaultOptions(): Options {
  return readOptions(new Map());
}

/**
 * Parses the command line (without the name of the program).
 * @throws UsageError for unknown or invalid options
 */
export function parseCommandLine(argv: readonly string[]): Invocation {
  const separator = argv.indexOf('--');
  const own = separator === -1 ? argv : argv.slice(0, separator);
  const nvccArguments = separator === -1 ? [] : argv.slice(separator + 1);

  const { tokens } = parseArgs({
    args: own.map(expandShort),
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(optionTable).map(([name, entry]) => [name, { type: 'flag' in entry ? ('boolean' as const) : ('string' as const) }]),
    ),
  });
  const words: string[] = [];
  const values = new Map<OptionName, string[]>();
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value);
    else if (token.kind === 'option') {
      const name = optionName(token.rawName);
      const entry: OptionEntry = optionTable[name];
      if ('flag' in entry) {
        if (token.value !== undefined && entry.value === undefined) throw new UsageError(`--${name} takes no value.`);
        values.set(name, [...(values.get(name) ?? []), token.value ?? '']);
        continue;
      }
      if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))) {
        throw new UsageError(`--${name} needs a value: --${name} ${entry.value}.`);
      }
      const earlier = values.get(name);
      if (earlier && !entry.repeatable) throw new UsageError(`--${name} appears twice; give it once.`);
      values.set(name, [...(earlier ?? []), token.value]);
    }
  }
  if (values.has('version')) return { kind: 'version' };
  const [word, ...paths] = words;
  if (word === undefined) {
    if (values.has('help') || argv.length === 0) return { kind: 'help' };
    throw new UsageError('No command given. Try `selvage check PATH`; `selvage --help` lists all commands.');
  }
  if (!Object.hasOwn(commands, word)) {
    const close = nearest(word, Object.keys(commands));
    const hint = /[./]/.test(word) ? ` Did you mean \`selvage check ${word}\`?` : close ? ` Did you mean \`${close}\`?` : '';
    throw new UsageError(`\`${word}\` is not a command.${hint} \`selvage --help\` lists the commands.`);
  }
  const command = word as CommandName;
  if (values.has('help')) return { kind: 'help', command };
  for (const [name, owners] of Object.entries(onlyFor)) {
    if (values.has(name as OptionName) && !owners.includes(command)) {
      throw new UsageError(`--${name} belongs to \`selvage ${owners.join('`, `selvage ')}\`, not to \`selvage ${command}\`.`);
    }
  }
  if (separator !== -1 && !compiling.includes(command)) {
    throw new UsageError(`\`selvage ${command}\` does not run the compiler, so it takes nothing after \`--\`.`);
  }
  const options = readOptions(values);
  const checks = values.has('checks') && command !== 'repair' ? options.checks : (impliedChecks[command] ?? options.checks);
  const implied = values.has('checks') ? {} : { hasImpliedChecks: true as const };
  return { kind: 'command', command, paths, nvccArguments, options: { ...options, checks, ...implied } };
}

/** Checks that each command runs if `--checks` is not given. */
const impliedChecks: Readonly<Partial<Record<CommandName, readonly CheckName[]>>> = {
  check: ['race', 'divergence', 'cost', 'idempotency'],
  repair: ['race', 'divergence', 'repair'],
  baseline: ['race', 'divergence', 'cost'],
  cost: ['cost'],
  idempotency: ['idempotency'],
  compare: ['race', 'divergence', 'cost', 'idempotency'],
  review: ['race', 'divergence', 'repair', 'cost', 'idempotency'],
  demo: ['race', 'divergence', 'repair', 'cost'],
};

function expandShort(word: string): string {
  const match = /^-([a-z])(=.*)?$/.exec(word);
  const name = match?.[1] === undefined ? undefined : shortOptions[match[1]];
  return name === undefined ? word : `--${name}${match?.[2] ?? ''}`;
}

function optionName(raw: string): OptionName {
  const name = raw.replace(/^--?/, '');
  if (raw.startsWith('--') && Object.hasOwn(optionTable, name)) return name as OptionName;
  const close = nearest(name, Object.keys(optionTable));
  throw new UsageError(
    `${raw} is not an option.${close ? ` Did you mean --${close}?` : ''} \`selvage --help\` lists them; ` +
      'put options for nvcc after `--`.',
  );
}

function readOptions(values: ReadonlyMap<OptionName, readonly string[]>): Options {
  const one = (name: OptionName): string | undefined => values.get(name)?.[0];
  const block = dimensions('block', one('block'));
  const grid = dimensions('grid', one('grid'));
  const cluster = dimensions('cluster', one('cluster'));
  const shared = wholeNumber('shared', one('shared'), 0, maximumSharedBytes, 'bytes of dynamic shared memory');
  if (grid && cluster && grid.some((extent, axis) => extent % (cluster[axis] ?? 1) !== 0)) {
    throw new UsageError(`--grid ${grid.join(',')} is not a multiple of --cluster ${cluster.join(',')}.`);
  }
  const seconds = one('timeout');
  if (seconds !== undefined && !(Number(seconds) > 0 && Number(seconds) <= 86_400)) {
    throw new UsageError(`--timeout ${seconds}: give a number of seconds above 0, at most 86400.`);
  }
  const kernel = one('kernel');
  const problem = kernel === undefined ? undefined : kernelPatternProblem(kernel);
  if (problem !== undefined) throw new UsageError(`--kernel ${kernel} ${problem}.`);
  if (values.has('trace') && values.has('counters')) {
    throw new UsageError('--trace and --counters need two runs; give one of them.');
  }
  const shard = shardOf(one('shard'));
  if (shard && !values.has('shards')) throw new UsageError('--shard needs --shards DIR, the folder for its results.');
  const action = one('action');
  if (action !== undefined && !/^[\w.-]+\/[\w.-]+(?:\/[\w./-]+)?@[\w./-]+$/.test(action))
    throw new UsageError(`--action ${action}: give a repository and a tag, branch or commit of it: OWNER/REPO@v0.`);
  return withoutUndefined({
    block,
    grid,
    cluster,
    shared,
    cooperative: values.has('cooperative'),
    kernel,
    assume: values.get('assume') ?? [],
    args: namedValues('arg', values.get('arg') ?? [], 'NAME=VALUE, for example --arg n=4096'),
    arch: architectures(values.get('arch') ?? []),
    gpu: gpuNamed(one('gpu')),
    nvcc: one('nvcc'),
    checks: checkNames(one('checks')),
    base: one('base'),
    head: one('head'),
    shard,
    shards: one('shards'),
    format: oneOf('format', one('format'), formats, optionDefaults.format),
    output: one('output'),
    timeout: Number(seconds ?? optionDefaults.timeout) * 1000,
    effort: wholeNumber('effort', one('effort'), 1, 100, 'as the factor of the budgets') ?? 1,
    jobs: wholeNumber('jobs', one('jobs'), 1, 256, 'jobs') ?? defaultJobs(),
    solver: oneOf('solver', one('solver'), ['wasm', 'native'], optionDefaults.solver),
    config: one('config'),
    facts: one('facts'),
    defaults: one('defaults'),
    failOn: oneOf('fail-on', one('fail-on'), ['error', 'warning', 'never'], optionDefaults.failOn),
    timings: values.has('timings'),
    write: values.has('write'),
    launches: one('launches'),
    emit: one('emit'),
    certificates: one('certificates'),
    saveReproducer: one('save-reproducer'),
    print: values.has('print') ? oneOf('print', one('print'), printable, 'ir') : undefined,
    quiet: values.has('quiet'),
    verbose: values.has('verbose'),
    color: !values.has('no-color'),
    baseline: !values.has('no-baseline'),
    cache: !values.has('no-cache'),
    init: withoutUndefined({ dryRun: values.has('dry-run'), force: values.has('force'), action }),
    run: runOptions(values),
  });
}

/** Parses a shard: `2/4`. @throws UsageError for any other text */
function shardOf(text: string | undefined): Shard | undefined {
  if (text === undefined) return undefined;
  const [, index, count] = (/^(\d{1,3})\/(\d{1,3})$/.exec(text) ?? []).map(Number);
  if (!index || !count || index > count || count > 256)
    throw new UsageError(`--shard ${text}: give a number and how many there are, such as 2/4, at most 256.`);
  return { index, count };
}

function runOptions(values: ReadonlyMap<OptionName, readonly string[]>): RunOptions {
  const one = (name: OptionName): string | undefined => values.get(name)?.[0];
  const blocks = one('blocks');
  const schedules = wholeNumber('schedules', one('schedules'), 1, 10_000, 'orders');
  for (const other of ['schedule', 'trace'] as const)
    if (schedules !== undefined && values.has(other)) throw new UsageError(`--schedules and --${other} cannot be given together.`);
  const trace = (values.get('trace') ?? []).map((text) => {
    const read = parseThreads(text === '' ? '0' : text);
    if ('problem' in read) throw new UsageError(`--trace=${text} ${read.problem}.`);
    return read;
  });
  return withoutUndefined({
    input: one('input'),
    build: oneOf('build', one('build'), ['verification', 'production'], optionDefaults.build),
    races: !values.has('no-races'),
    track: (one('track') ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    counters: values.has('counters'),
    trace,
    dump: namedValues('dump', values.get('dump') ?? [], 'NAME=FILE, for example --dump A=a.bin'),
    blocks: blocks === undefined ? undefined : blockNumbers(blocks),
    schedule: scheduleNamed(one('schedule')),
    schedules,
    steps: wholeNumber('steps', one('steps'), 1, Number.MAX_SAFE_INTEGER, 'thread-instructions') ?? optionDefaults.steps,
    backEnd: oneOf('backend', one('backend'), backEnds, optionDefaults.backEnd),
  });
}

function checkNames(text: string | undefined): CheckName[] {
  if (text === undefined) return ['race', 'divergence'];
  const known = ['race', 'divergence', 'repair', 'cost', 'idempotency'] as const;
  const names = text.split(',').map((word) => oneOf('checks', word.trim(), known, 'race'));
  // A repair requires the findings of the race and divergence checks.
  const needed: readonly CheckName[] = names.includes('repair') ? ['race', 'divergence', 'repair'] : [];
  return known.filter((name) => needed.includes(name) || names.includes(name));
}

function gpuNamed(name: string | undefined): Gpu | undefined {
  const gpu = name === undefined ? undefined : gpuOf(name);
  if (name !== undefined && !gpu) throw new UsageError(`--gpu ${name}: give one of ${gpus.map((one) => one.name).join(', ')}.`);
  return gpu;
}

function architectures(given: readonly string[]): string[] {
  const names = given.flatMap((text) => text.split(','));
  for (const name of names) {
    if (!/^sm_\d{2,3}[af]?$/.test(name)) {
      throw new UsageError(`--arch ${name}: write an architecture as nvcc does, for example sm_80.`);
    }
  }
  return [...new Set(names)];
}

/** Report formats of `run`. */
export const runFormats = ['pretty', 'json'] as const;
export type RunFormat = (typeof runFormats)[number];
