/** The first workflow and configuration of a repository, from a survey of it. */
import type { Survey } from './survey.ts';

export interface InitialFile {
  /** Path of the file from the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** Maximum number of kernels without a launch that the configuration names. */
const maxNamed = 10;
/** Path of the generated unit that includes headers which no `.cu` file includes. */
const headerUnit = 'selvage/kernels.cu';

/**
 * The files that a repository needs for its first review.
 * @param action as `uses` names it
 */
export function initialFiles(found: Survey, action: string): InitialFile[] {
  const files = [
    { path: '.github/workflows/selvage.yml', text: workflowText(found, action) },
    { path: '.selvage.yml', text: configurationText(found, action) },
  ];
  return found.units.length === 0 && found.loneHeaders.length > 0
    ? [...files, { path: headerUnit, text: unitText(found) }]
    : files;
}

function workflowText({ systems, needsTorch, defaultBranch }: Survey, action: string): string {
  const cmake = systems[0] === 'cmake' ? cmakeSteps : '';
  const torch = needsTorch ? torchSteps : '';
  const inputs = needsTorch ? '\n        with:\n          nvcc-args: ${{ steps.torch.outputs.flags }}' : '';
  return `# Selvage checks the CUDA kernels that a pull request affects. It needs no GPU. \`selvage init\` wrote this file.
name: selvage

on:
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
          cuda: '13.2.0'
          method: network
          sub-packages: '["nvcc", "cudart"]'
${cmake}${torch}      - uses: ${action}${inputs}
`;
}

const cmakeSteps = `      # Writes build/compile_commands.json, which has the flags of each file; nothing is built. Without it Selvage takes
      # the flags of .selvage.yml.
      - run: cmake -S . -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
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
  const { flags, architectures, foreign, unlaunched, units, loneHeaders } = found;
  const [repository, version] = action.split('@');
  const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
  const list = (items: readonly string[]): string => items.map((item) => `    - ${quote(item)}\n`).join('');
  const arch = chosenArchitecture(architectures);
  const named = unlaunched.slice(0, maxNamed);
  const more = unlaunched.length - named.length;
  return [
    `# yaml-language-server: $schema=https://raw.githubusercontent.com/${repository}/${version}/src/settings/configuration.schema.json\n`,
    '# Configuration of Selvage for this repository. `selvage init` wrote this file from its kernels and build files.\n',
    'version: 1\n',
    arch === undefined ? '' : `arch: [${arch}] # of ${architectures.join(', ')} in the build files\n`,
    flags.length === 0 ? '' : `nvcc:\n  args:\n${list(flags)}`,
    foreign.length === 0 ? '' : `paths:\n  exclude:\n${list(foreign.map((folder) => `${folder}/**`))}`,
    named.length === 0
      ? ''
      : `# No launch names these kernels. Where Selvage finds none either, it checks them for all values of the dimensions. State\n# what is known, here or in a comment above the kernel: // selvage: block=256 grid=64\n#kernels:\n${named.map((name) => `#  - { match: ${quote(name)}, block: 256 }\n`).join('')}${more > 0 ? `#  # and ${more} more\n` : ''}`,
    units.length > 0 && loneHeaders.length > 0
      ? `# No .cu file includes these headers, so their kernels are not checked:\n${loneHeaders.map((path) => `#   ${path}\n`).join('')}`
      : '',
  ].join('');
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
