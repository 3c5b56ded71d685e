/** The first workflow and configuration of a repository, from a survey of it. */
import { knownKeys } from '../../settings/configuration-schema.ts';
import { isTorchHeader } from './toolkit-headers.ts';
import { headerUnit, workflowToolkit, writtenDatabase, type Survey } from './survey.ts';

export interface InitialFile {
  /** Path of the file from the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** Maximum number of kernels without a launch that the configuration names. */
const maxNamed = 10;
/** Maximum number of definitions that are left out and named. */
const maxLeftOut = 20;

/**
 * The files that a repository needs for its first review.
 * @param action as `uses` names it
 */
export function initialFiles(found: Survey, action: string): InitialFile[] {
  const files = [
    { path: '.github/workflows/selvage.yml', text: workflowText(found, action) },
    { path: '.selvage.yml', text: configurationText(found, action) },
  ];
  if (found.units.length === 0 && found.loneHeaders.length > 0) files.push({ path: headerUnit, text: unitText(found) });
  if (found.unitFlags.size > 0 && found.databases.length === 0) files.push({ path: writtenDatabase, text: databaseText(found) });
  return files;
}

function workflowText(found: Survey, action: string): string {
  const { hasTopCMake, generatedHeaders, unitFlags, switches, databases, packages, needsTorch, defaultBranch } = found;
  // The step does not write a database that the configuration names, but perhaps headers.
  const isUseful = generatedHeaders.size > 0 || (unitFlags.size === 0 && databases.length === 0);
  const cmake = hasTopCMake && isUseful ? cmakeSteps(switches.get('cmake') ?? []) : '';
  const quoteList = (names: readonly string[]): string => `'${JSON.stringify(names).replaceAll('","', '", "')}'`;
  const libraries = packages.plain.length === 0 ? '' : `\n          non-cuda-sub-packages: ${quoteList(packages.plain)}`;
  const torch = needsTorch ? torchSteps : '';
  const inputs = needsTorch ? '\n        with:\n          nvcc-args: ${{ steps.torch.outputs.flags }}' : '';
  return `# Selvage checks the CUDA kernels that a pull request affects. It needs no GPU. \`selvage init\` wrote this file.
name: selvage

on:
  # The token cannot write for a fork: src/docs/github.md of Selvage has a second workflow that posts those reviews.
  pull_request:
    types: [opened, synchronize, reopened, ready_for_review]
  # A push to the default branch gets a check run, and its results are kept for pull requests: what they do not change is
  # not compiled again. Started by hand, the workflow checks every kernel; once fills the cache.
  push:
    branches: ['${defaultBranch}']
  workflow_dispatch:
  # A merge queue waits for the check run of each group, whose pull requests were reviewed one by one.
  merge_group:

permissions: {}

concurrency:
  group: selvage-\${{ github.ref }}
  cancel-in-progress: \${{ github.event_name == 'pull_request' }}

jobs:
  selvage:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    permissions:
      contents: read # read the change
      pull-requests: write # post the review and the summary comment
      checks: write # create the check run with its annotations
    steps:
      - uses: actions/checkout@v7
        with:
          # The commit that the review is about, with the history down to its base.
          ref: \${{ github.event.pull_request.head.sha || github.sha }}
          fetch-depth: 0
          submodules: recursive
          persist-credentials: false
      # Any step that puts nvcc on PATH will do, and a container image that has it saves this step.
      - uses: Jimver/cuda-toolkit@v0.2.35
        with:
          cuda: '${workflowToolkit}'
          method: network
          sub-packages: ${quoteList(packages.prefixed)}${libraries}
${cmake}${torch}      - uses: ${action}${inputs}
`;
}

const cmakeSteps = (
  switches: readonly string[],
): string => `      # Writes build/compile_commands.json, which has the flags of each file; nothing is built. Without it Selvage takes
      # the flags of .selvage.yml. It runs code of the pull request, as a build does.
      - run: cmake -S . -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON${switches.map((setting) => ` -D${setting}`).join('')}
        continue-on-error: true
`;

const torchSteps = `      # Headers of PyTorch, which the kernels include.
      - uses: actions/setup-python@v6
        with:
          python-version: '3.12'
      - run: pip install torch --index-url https://download.pytorch.org/whl/cpu
      - id: torch
        run: |
          python - <<'END' >> "$GITHUB_OUTPUT"
          import sysconfig, torch.utils.cpp_extension as extension
          folders = extension.include_paths() + [sysconfig.get_paths()['include']]
          print('flags=' + ' '.join('-isystem=' + folder for folder in folders))
          END
`;

function configurationText(found: Survey, action: string): string {
  const { architectures, foreign, unlaunched, units, loneHeaders } = found;
  const [repository, version] = action.split('@');
  const arch = chosenArchitecture(architectures);
  const named = unlaunched.slice(0, maxNamed);
  const more = unlaunched.length - named.length;
  return [
    `# yaml-language-server: $schema=https://raw.githubusercontent.com/${repository}/${version}/src/settings/configuration.schema.json\n`,
    '# Configuration of Selvage for this repository. `selvage init` wrote this file from its kernels and build files.\n',
    'version: 1\n',
    arch === undefined ? '' : `arch: [${arch}] # of ${architectures.join(', ')} in the build files\n`,
    compilerText(found),
    leftOutText(found),
    foreign.length === 0 ? '' : `paths:\n  exclude:\n${listText(foreign.map((folder) => `${folder}/**`))}`,
    named.length === 0
      ? ''
      : `# No launch names these kernels. Where Selvage finds none either, it checks them for all values of the dimensions. State\n# what is known, here or in a comment above the kernel: // selvage: block=256 grid=64\n#kernels:\n${named.map((name) => `#  - { match: ${quoted(name)}, block: 256 }\n`).join('')}${more > 0 ? `#  # and ${more} more\n` : ''}`,
    units.length > 0 && loneHeaders.length > 0
      ? `# No .cu file includes these headers, so their kernels are not checked:\n${loneHeaders.map((path) => `#   ${path}\n`).join('')}`
      : '',
  ].join('');
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const listText = (items: readonly string[]): string => items.map((item) => `    - ${quoted(item)}\n`).join('');
/** Names of files in a comment cannot begin a new line. */
const inComment = (text: string): string => text.replaceAll(/[^\x20-\x7e\u2026]/g, '?');

/** The key `nvcc`. */
function compilerText(found: Survey): string {
  const { flags, unitFlags, databases, areAllInDatabases } = found;
  const args = areAllInDatabases ? [] : flags;
  const keys = [
    args.length === 0 ? '' : `  args:\n${listText(args)}`,
    databases.length > 0
      ? `  # Flags of each file. A workflow has these files only if git or an earlier step provides them.\n  compile-commands:\n${listText(databases)}`
      : unitFlags.size > 0
        ? `  # Flags that only some files have, from the targets of the build. \`selvage init --force\` writes that file again.\n  compile-commands: ${writtenDatabase}\n`
        : '',
  ].join('');
  const { remark, key } = stubsText(found);
  // A key without a value does not parse.
  return keys + key === '' ? remark : `nvcc:\n${keys}${remark.replaceAll(/^/gm, '  ').trimEnd()}${remark === '' ? '' : '\n'}${key}`;
}

/** Headers of libraries that are not installed, and the key with which they are replaced. */
function stubsText({ foreignHeaders, needsTorch, absentSubmodules }: Survey): { remark: string; key: string } {
  const headers = [...new Set([...foreignHeaders.values()].flat())].filter((name) => !needsTorch || !isTorchHeader(name));
  if (headers.length === 0) return { remark: '', key: '' };
  const more = headers.length > maxNamed ? ` and ${headers.length - maxNamed} more` : '';
  const key = stubKey();
  const lines = [
    `Neither the repository nor the toolkit has ${headers.sort().slice(0, maxNamed).map(inComment).join(', ')}${more}.`,
    ...(absentSubmodules.length === 0
      ? []
      : [`Submodules that are not checked out here may have them: ${absentSubmodules.map(inComment).join(', ')}.`]),
    key === undefined
      ? 'Install them in the workflow, or name their folder in nvcc.args.'
      : 'Those that only host code uses are replaced by generated ones.',
  ];
  return { remark: lines.map((line) => `# ${line}\n`).join(''), key: key === undefined ? '' : `  ${key}: true\n` };
}

/** The key of the configuration for generated headers; undefined if the schema does not have it. */
function stubKey(): string | undefined {
  return knownKeys(['nvcc']).find((key) => key === 'stub-missing-headers');
}

/** Definitions of the build files that do not apply to all files. */
function leftOutText({ leftOut, switches, areAllInDatabases }: Survey): string {
  if (areAllInDatabases) return '';
  const shown = leftOut
    .slice(0, maxLeftOut)
    .map(({ place, flags, reason }) => `#   ${inComment(`${place}: ${flags.join(' ')} (${reason})`)}\n`);
  const more = leftOut.length - shown.length;
  const needed = new Set([...switches.values()].flat());
  return [
    needed.size === 0
      ? ''
      : `# Some CUDA files are compiled only with these settings of the build: ${[...needed].map(inComment).join(' ')}\n`,
    shown.length === 0
      ? ''
      : `# Definitions of the build files that apply only under a condition or for one target, and are left out:\n${shown.join('')}${more > 0 ? `#   and ${more} more\n` : ''}`,
  ].join('');
}

/** A compilation database with the flags that not all units have. */
function databaseText({ unitFlags }: Survey): string {
  const entries = [...unitFlags].map(
    ([unit, flags]) => `  ${JSON.stringify({ directory: '..', file: unit, arguments: ['nvcc', ...flags, '-c', unit] })}`,
  );
  return `[\n${entries.join(',\n')}\n]\n`;
}

/** Architecture to compile for: sm_80 unless all architectures of the build are later or earlier. */
function chosenArchitecture(architectures: readonly string[]): string | undefined {
  if (architectures.length === 0 || architectures.includes('sm_80')) return undefined;
  const numbers = architectures.map((name) => Number(name.slice(3)));
  // The oldest architecture that the toolkit of the workflow supports is sm_75.
  const usable = numbers.filter((number) => number >= 75);
  return usable.length === 0 ? undefined : `sm_${usable.find((number) => number >= 80) ?? usable.at(-1)}`;
}

/** A unit for headers that no unit includes. */
function unitText({ loneHeaders }: Survey): string {
  return [
    '// Includes the headers that define kernels, so that Selvage can compile them. Instantiate templates here:\n',
    '// template __global__ void scale<float>(float*, int);\n',
    ...loneHeaders.map((path) => `#include "../${path}"\n`),
  ].join('');
}
