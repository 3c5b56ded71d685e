/** Launches of small host programs: many programs in one translation unit, each in a separate namespace. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { printAssumption } from '../../src/assumptions/print-assumption.ts';
import { sitesOf } from '../../src/cuda/launches/event-sites.ts';
import type { LaunchSite } from '../../src/cuda/launches/launch-site.ts';
import type { LaunchParameter } from '../../src/cuda/launches/launch-parameter.ts';
import type { HostOperation, ReadLaunch } from '../../src/host/operations/host-operation.ts';
import { openHostUnit, readHostProgram } from '../../src/host/read-host.ts';
import { hostDump } from '../../src/lowering/host-dump.ts';
import { hostStepsOf } from '../../src/lowering/host-steps.ts';
import { runProcess } from '../../src/system/child-process.ts';
import { nvcc, temporaryFolder, wrappedCompiler, writeFiles } from '../toolchain/fixture.ts';

/** A program: declarations and functions. */
export interface Snippet {
  readonly text: string;
  /** Parameters of the kernel `k`, which is then defined before the text; by default `k` takes any arguments. */
  readonly parameters?: readonly LaunchParameter[];
  /** Bytes of the parameters of kernels that are not templates, as PTX has them; by symbol without the namespace. */
  readonly kernels?: Readonly<Record<string, readonly number[]>>;
}

/** A launch and its sites. */
export interface Found {
  readonly launch: ReadLaunch;
  readonly sites: readonly LaunchSite[];
}

/** Headers, and declarations of functions and variables that are defined elsewhere. */
const common = `#include <cmath>
#include <cstdio>
#include "config.h"
template <typename... A> __global__ void k(A...) {}
template <typename... A> __global__ void other(A...) {}
int more();
bool late();
void work();
void elsewhere();
void unknown();
void take(size_t size);
`;

/** Declares constants; the line of a launch in it is a line of the header. */
const header = '#pragma once\nnamespace c { constexpr int kFromHeader = 96; }\n#define TWICE 1\n';

const limits = { milliseconds: 120_000, outputBytes: 1 << 20 };

/** The first number of a namespace: all have the same number of digits, and symbols contain `5s1017`. */
const first = 1000;

/** Parameters without types, which exclude no launch. */
const anyParameters: readonly LaunchParameter[] = Array.from({ length: 12 }, (_, at) => ({ name: `p${at}`, type: '' }));

/**
 * Compiles programs and reads their launches.
 * @param headers further headers of the unit
 * @returns for each program, its launches in order of execution
 */
export async function readSnippets(
  context: TestContext,
  snippets: readonly Snippet[],
  headers: readonly string[] = [],
): Promise<readonly (readonly Found[])[]> {
  const { launches, cutShort } = await readUnit(context, snippets, headers);
  assert.deepEqual(cutShort, []);
  return launches;
}

/** Also returns the symbols of the functions whose interpretation reached the work limit. */
export async function readUnit(
  context: TestContext,
  snippets: readonly Snippet[],
  headers: readonly string[] = [],
): Promise<{
  readonly launches: readonly (readonly Found[])[];
  /** For each program its pairs of operations without an order: `streams 3 4`, with their lines in the program. */
  readonly unordered: readonly (readonly string[])[];
  /** The same for launches of one kernel that are given the same memory again: `3 4 x`. */
  readonly repeated: readonly (readonly string[])[];
  readonly cutShort: readonly string[];
}> {
  const [root, folder] = [temporaryFolder(context), temporaryFolder(context)];
  const texts = snippets.map(({ text, parameters }, at) => {
    const kernel = parameters ? `__global__ void k(${parameters.map(({ name, type }) => `${type} ${name}`).join(', ')}) {}\n` : '';
    const macros = [...text.matchAll(/^#define (\w+)/gm)].map(([, name]) => `#undef ${name}\n`).join('');
    return `namespace s${first + at} {\n${kernel}${text}\n}\n${macros}`;
  });
  const unit = `${headers.map((one) => `#include <${one}>\n`).join('')}${common}${texts.join('')}`;
  writeFiles(root, { 'unit.cu': unit, 'config.h': header });
  const { path } = wrappedCompiler(nvcc!);
  const { stderr } = spawnSync(path, ['-c', '--dryrun', '-std=c++17', '-arch=sm_90', 'unit.cu', '-o', `${folder}/unit.o`], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: folder },
  });
  const steps = hostStepsOf(stderr, folder);
  assert.ok(steps, stderr);
  const dump = await hostDump(steps, limits, ([executable, ...args]) =>
    runProcess({ executable, args, cwd: root, env: { PATH: process.env['PATH'] ?? '' }, limits }),
  );
  if (!('gimple' in dump)) assert.fail('result' in dump ? `${dump.result.stdout}${dump.result.stderr}` : 'it was refused');
  const parameters = new Map(
    snippets.flatMap(({ kernels = {} }, at) =>
      Object.entries(kernels).map(([symbol, sizes]) => [`_ZN5s${first + at}${symbol}`, sizes] as const),
    ),
  );
  const reading = readHostProgram({
    units: [openHostUnit('unit.cu', dump, parameters)],
    parameters,
    constants: new Set(),
    startsAt: (symbol) => /^_ZN5s\d{4}5beginE/.test(symbol),
    isOwn: (file) => file === 'unit.cu',
  });
  const launches = snippets.map((): Found[] => []);
  const lines = unit.split('\n');
  const startOf = (at: number): number =>
    lines.findIndex((one) => one === `namespace s${first + at} {`) + 1 + (snippets[at]!.parameters ? 1 : 0);
  const unordered = snippets.map((): string[] => []);
  const repeated = snippets.map((): string[] => []);
  for (const { kind, first: earlier, second, memories = [] } of reading.unordered) {
    const line = second.location?.line ?? 0;
    const at = snippets.findLastIndex((_, index) => startOf(index) < line);
    const lineOf = (one: HostOperation | null): string => (one ? String((one.location?.line ?? 0) - startOf(at)) : '?');
    const names = memories.map((id) => id.replace(/[@#].*/, ''));
    if (kind === 'again') repeated[at]!.push([lineOf(earlier), lineOf(second), ...names].join(' '));
    else unordered[at]!.push(`${kind} ${lineOf(earlier)} ${lineOf(second)}`);
  }
  for (const launch of reading.launches) {
    const at = Number(/5s(\d{4})/.exec(launch.entry.symbol)?.[1] ?? 0) - first;
    assert.ok(launches[at], `${launch.entry.symbol} belongs to an unknown program`);
    const line = launch.location?.line ?? 0;
    const location = { file: launch.location?.file ?? '', line: line - startOf(at) };
    launches[at].push({ launch, sites: sitesOf({ ...launch, text: 'k' }, location, snippets[at]!.parameters ?? anyParameters) });
  }
  const distinct = (pairs: readonly string[]): string[] => [...new Set(pairs)];
  return {
    launches,
    unordered: unordered.map(distinct),
    repeated: repeated.map(distinct),
    cutShort: reading.cutShort.map(({ symbol }) => symbol),
  };
}

/** Whether a launch is of the kernel `k`. */
export function isOfK({ launch }: Found): boolean {
  return /^_ZN?(?:5s\d{4})?1k(?:I|E|v)/.test(launch.kernel);
}

/** Grids of the sites of launches of `k`, in the order of the launches; null if one is not constant. */
export function gridsOf(found: readonly Found[]): (readonly number[] | null)[] {
  return found.filter(isOfK).flatMap(({ sites }) => sites.map(({ grid }) => grid ?? null));
}

/** The first extents of grids, sorted, without repetition. */
export function extentsOf(found: readonly Found[]): (number | null)[] {
  const all = gridsOf(found).map((grid) => grid?.[0] ?? null);
  return [...new Set(all)].sort((a, b) => (a ?? -1) - (b ?? -1));
}

/** The constraints of a site, as text. */
export function tiesOf(site: LaunchSite | undefined): string[] {
  return (site?.ties ?? []).map(printAssumption);
}

/** A program with one function `run`, of which a body is given. */
export function snippetOf(body: string, before = '', parameters?: readonly LaunchParameter[]): Snippet {
  return { text: `${before}\nvoid run(int parameter) {\n${body}\n}`, ...(parameters && { parameters }) };
}
