/** Random host programs with their kernels, and units that contain many of them. */
import { type Random, seededRandom } from '../../src/base/random.ts';
import { type Grammar, Program, type Rule, RuleTable, Scope } from './grammar/draft.ts';
import { condition, expressionRules, float, integer } from './grammar/expressions.ts';
import { fileRules, wrapper } from './grammar/files.ts';
import { kernel, kernelRules } from './grammar/kernels.ts';
import { argument, launch, launchRules } from './grammar/launches.ts';
import { lambdaRules, functionRules } from './grammar/functions.ts';
import { classRules } from './grammar/classes.ts';
import { exceptionRules } from './grammar/exceptions.ts';
import { algorithmRules, containerRules } from './grammar/library.ts';
import { loopRules } from './grammar/loops.ts';
import { memoryRules } from './grammar/memory.ts';
import { assignmentRules, controlRules, declarationRules } from './grammar/statements.ts';

export interface GeneratedProgram {
  readonly seed: number;
  /** Text by name; files of the name `*.cu` are compiled. */
  readonly files: ReadonlyMap<string, string>;
  /** Arguments after the name of the program. */
  readonly arguments: readonly string[];
  /** Names of the rules that it used. */
  readonly rules: readonly string[];
}

/** Many programs in one translation unit, each in a namespace `p` and its seed. */
export interface GeneratedUnit {
  /** Name of the file. */
  readonly name: string;
  /** Its `main` runs the program with the seed that is its first argument. */
  readonly text: string;
  readonly programs: readonly GeneratedProgram[];
}

type Statements = readonly string[];

/** Rules of one category have this weight together. */
function category(name: string, weight: number, rules: readonly Rule<null, Statements>[]): Rule<null, Statements> {
  const table = new RuleTable<null, Statements>(name, rules);
  categories.push(table);
  return { name, weight, make: (scope) => table.tryMake(scope, null) };
}

const categories: RuleTable<null, Statements>[] = [];

const statements = new RuleTable<null, Statements>('statement', [
  category('declaration', 10, declarationRules),
  category('assignment', 4, assignmentRules),
  category('control', 5, controlRules),
  category('loop', 4, loopRules),
  category('function', 3.5, functionRules),
  category('lambda', 2, lambdaRules),
  category('class', 3.5, classRules),
  category('container', 2.5, containerRules),
  category('algorithm', 1.2, algorithmRules),
  category('exception', 1.5, exceptionRules),
  { name: 'launch', weight: 5, make: (scope) => (scope.canLaunch() ? launch(scope) : null) },
  {
    name: 'call of other file',
    weight: 4,
    make: (scope) => {
      const { wrappers } = scope.program;
      if (wrappers.length === 0) return null;
      const { launches, call } = scope.random.pick(wrappers);
      if (!scope.canLaunch(launches)) return null;
      scope.chargeLaunches(launches);
      return call(scope);
    },
  },
  { name: 'empty', weight: 0.1, make: () => [';'] },
]);

const grammar: Grammar = {
  integer,
  float,
  condition,
  statement: (scope) => statements.make(scope, null),
  launch,
  kernel,
  argument,
};

/** Names of all rules. */
export const rules: readonly string[] = [
  ...statements.names,
  ...categories.flatMap(({ names }) => names),
  ...expressionRules,
  ...kernelRules,
  ...memoryRules,
  ...launchRules,
  ...fileRules,
];

/** Launches of one run: a bound. */
const maxLaunches = 30;

/** Lines of `main`, without braces. */
function mainBody(program: Program, random: Random): readonly string[] {
  const scope = Scope.function(program, maxLaunches, null, true);
  const lines: string[] = [];
  if (program.arguments.length > 0 && random.chance(0.3)) {
    program.headers.add('cstdio');
    lines.push(`if (argc < ${program.arguments.length + 1}) {\nprintf("usage\\n");\nreturn 1;\n}`);
  }
  // One launch is on every path: no statement before it returns, and it is within the bound.
  scope.chargeLaunches(1);
  lines.push(...scope.statements(random.between(1, 5)));
  scope.chargeLaunches(-1);
  lines.push(...launch(scope));
  for (const { launches, call } of program.wrappers.slice(0, 1)) {
    scope.chargeLaunches(launches);
    lines.push(...call(scope));
  }
  const rest = scope.inner({ exit: random.pick(['return 1;', 'return 0;', '{\nreturn -1;\n}']), depth: 0 });
  lines.push(...rest.statements(random.between(1, 6)));
  const owned = [...scope.pointers, ...rest.pointers].filter(({ text }) => /^d\d+$/.test(text));
  if (random.chance(0.6)) lines.push(...owned.map(({ text }) => `cudaFree(${text});`));
  if (random.chance(0.4)) lines.push('cudaDeviceSynchronize();');
  return [...lines, 'return 0;'];
}

/** A program before its text is put together. */
interface Parts {
  readonly program: Program;
  readonly main: readonly string[];
  /** Definitions in another file, and the header that declares them; null if there is one file. */
  readonly other: { readonly program: Program; readonly header: string } | null;
}

/** Probability of a second file. */
const secondFile = 0.1;

function drawParts(seed: number): Parts {
  const random = seededRandom(seed);
  const args = Array.from({ length: random.pick([0, 0, 1, 2, 3]) }, () => random.pick([1, 2, 3, 8, 17, 32, 100, 256, 1000]));
  const program = new Program(seed, random, grammar, args);
  if (!random.chance(secondFile)) return { program, main: mainBody(program, random), other: null };
  const other = new Program(seed, random, grammar, args, 1000);
  for (let i = random.between(1, 3); i > 0; i--) program.wrappers.push(wrapper(Scope.function(other, 4)));
  const header = ['#include <memory>', ...program.wrappers.map(({ declaration }) => declaration)].join('\n\n');
  return { program, main: mainBody(program, random), other: { program: other, header } };
}

/** Headers that each program includes. */
const commonHeaders = ['cstddef', 'cstdint'];

function includes(programs: readonly Program[]): string {
  const names = new Set([...commonHeaders, ...programs.flatMap(({ headers }) => [...headers])]);
  return [...names]
    .sort()
    .map((name) => `#include <${name}>\n`)
    .join('');
}

/** Indents by braces. Continued lines of macros keep their text. */
function indented(text: string): string {
  let depth = 0;
  return text
    .split('\n')
    .map((line) => {
      const closing = /^[})\]]*/.exec(line)![0].length;
      const own = '  '.repeat(Math.max(0, depth - closing));
      const code = line.replaceAll(/"(?:[^"\\]|\\.)*"|'.'/g, '');
      depth += code.split('{').length - code.split('}').length;
      return line === '' || line.startsWith('#') ? line : own + line;
    })
    .join('\n');
}

function functionText(name: string, main: readonly string[]): string {
  return `int ${name}(int argc, char** argv) {\n${main.join('\n')}\n}`;
}

function fileText(program: Program, parts: readonly string[], header = ''): string {
  return `${includes([program])}${header}\n${indented([...program.definitions, ...parts].join('\n\n'))}\n`;
}

const headerName = 'wrapper.h';

function generated({ program, main, other }: Parts): GeneratedProgram {
  const include = other ? `\n#include "${headerName}"\n` : '';
  const files = new Map([['program.cu', fileText(program, [functionText('main', main)], include)]]);
  if (other) {
    files.set(headerName, `#pragma once\n\n${indented(other.header)}\n`);
    files.set('wrapper.cu', fileText(other.program, [], include));
  }
  const used = new Set([...program.used, ...(other?.program.used ?? [])]);
  return { seed: program.seed, files, arguments: program.arguments.map(String), rules: [...used] };
}

/** The program of that seed, always the same. */
export function drawProgram(seed: number): GeneratedProgram {
  return generated(drawParts(seed));
}

/** All files of a program in its namespace, as one text. */
function namespaceText({ program, main, other }: Parts): string {
  const header = other ? other.header.replaceAll(/^#include .*\n/gm, '') : '';
  const parts = [header, ...(other?.program.definitions ?? []), ...program.definitions, functionText('entry', main)];
  const macros = [...program.macros, ...(other?.program.macros ?? [])];
  return `namespace p${program.seed} {\n${parts.join('\n\n')}\n}\n${macros.map((name) => `#undef ${name}\n`).join('')}`;
}

/** The programs of `count` successive seeds in one translation unit. */
export function drawUnit(firstSeed: number, count: number): GeneratedUnit {
  const drawn = Array.from({ length: count }, (_, at) => drawParts(firstSeed + at));
  const calls = drawn.map(({ program: { seed } }) => `case ${seed}: return p${seed}::entry(argc - 1, argv + 1);\n`);
  const main = `int main(int argc, char** argv) {\nswitch (atoi(argv[1])) {\n${calls.join('')}}\nreturn 99;\n}`;
  const programs = drawn.flatMap(({ program, other }) => [program, ...(other ? [other.program] : [])]);
  const text = indented([...drawn.map(namespaceText), main].join('\n'));
  return {
    name: `unit-${firstSeed}.cu`,
    text: `#include <cstdlib>\n#include <memory>\n${includes(programs)}\n${text}\n`,
    programs: drawn.map(generated),
  };
}
