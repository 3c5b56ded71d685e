/**
 * Builds of a unit after random edits of files, flags, option files, search paths, the environment and the compiler itself:
 * cached builds equal fresh ones. The unit and a stub of the header that nvcc includes are so small that a step
 * takes a tenth of a second of CPU.
 *
 *     node test/app/cache/random-edits.ts [SEED [COUNT]]
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { seededRandom } from '../../../src/base/random.ts';
import { keepingBuilds } from '../../../src/app/cache/kept-builds.ts';
import { storeIn } from '../../../src/app/cache/result-store.ts';
import { compileUnit, type CompileRequest } from '../../../src/toolchain/compile.ts';
import type { Compiler } from '../../../src/toolchain/compiler.ts';
import { compilerLimits } from '../../../src/toolchain/confinement.ts';
import { wrappedCompiler, includeFolder, nvcc } from '../../toolchain/fixture.ts';

const kernel = `__attribute__((global)) void k(int* a) {
  __attribute__((shared)) int s[64];
  int t;
  asm("mov.u32 %0, %%tid.x;" : "=r"(t));
  s[t] = M0;
  if (M1) asm volatile("bar.sync 0;" ::: "memory");
  if (M2) s[t] = 2;
  a[t] = s[63 - t] + M0 + (M2 << 4) + (M3 << 8);
  ((float*)a)[t + 64] = 1.0f / s[t];
}
`;
const defaults = [0, 1, 2, 3].map((n) => `#ifndef M${n}\n#define M${n} 1\n#endif\n`).join('');

/** All inputs of a build. */
interface World {
  /** File contents by path from the folder of the world; null for a link to `in2`. */
  readonly files: Readonly<Record<string, string | null>>;
  readonly flags: readonly (readonly string[])[];
  readonly environment: Readonly<Record<string, string>>;
  /** Text that the compiler appends to its output. */
  readonly added: string;
}

const headers = ['a.h', 'b.h', 'c.h'];
const folders = ['repo', 'repo/inc', 'in1', 'in2', 'in2/sub'];
const places = folders.flatMap((folder) => headers.map((name) => `${folder}/${name}`));

type Pick = <Value>(values: readonly Value[]) => Value;

/** A line of a header or of the unit that may change the input of the compiler. */
function randomLines(pick: Pick): string {
  const [macro, value, name] = [pick([0, 1, 2, 3]), pick([0, 1, 2]), pick([...headers, 'sub/a.h', '../in1/b.h', 'made.h'])];
  return pick([
    `#undef M${macro}\n#define M${macro} ${value}\n`,
    `#undef M${macro}\n#define M${macro} ${value}\n`,
    `#ifndef M${macro}\n#define M${macro} ${value}\n#endif\n`,
    `#include "${pick(headers)}"\n`,
    `#include <${pick(headers)}>\n`,
    `#if __has_include("${name}")\n#include "${name}"\n#endif\n`,
    `#define H "${name}"\n#if __has_include(H)\n#include H\n#else\n#undef M${macro}\n#define M${macro} ${value}\n#endif\n#undef H\n`,
    `#define TEXT(x) #x\n#define NAME(x) TEXT(x.h)\n#if __has_include(NAME(${pick(['a', 'made'])}))\n#include NAME(${pick(['a', 'b'])})\n#endif\n#undef TEXT\n#undef NAME\n`,
    `#if __has_include_next("${pick(headers)}")\n#include_next "${pick(headers)}"\n#endif\n`,
    `// ${value}\n`,
    `#ifdef __SELVAGE__\n#endif\n`,
    `#undef M3\n#define M3 (sizeof(__FILE__) + __LINE__)\n`,
    `#undef M3\n#define M3 (__TIME__[7] + __DATE__[4] + sizeof(__TIMESTAMP__) + __TIMESTAMP__[18])\n`,
    `#line ${value + 7} "${pick(['repo/b.h', 'x.cu'])}"\n`,
    `extern int* __restrict__ p${macro}${value};\n`,
    `#ifdef __CUDA_ARCH__\n#undef M${macro}\n#define M${macro} ${value}\n#else\nint host${value};\n#endif\n`,
  ]);
}

function randomFlags(pick: Pick): readonly string[] {
  const [macro, value] = [pick([0, 1, 2, 3]), pick([0, 1, 2])];
  return pick([
    ['-I../in1'],
    ['-I../in2'],
    ['-Iinc'],
    ['-isystem', '../in1'],
    ['-I../in2/sub'],
    [`-DM${macro}=${value}`],
    [`-UM${macro}`],
    ['--options-file', 'o.txt'],
    ['-optf', 'o.txt,p.txt'],
    ['-Xcompiler', '@g.txt'],
    ['-Xcompiler', `-include,${pick(headers)}`],
    ['-include', pick(headers)],
    ['-Xcompiler', `-iquote,../${pick(['in1', 'in2'])}`],
    ['-Xcicc', '-O1'],
    ['-std=c++14'],
    ['-use_fast_math'],
    ['-maxrregcount=32'],
    ['-rdc=true'],
    ['-restrict'],
  ]);
}

/** The edits of a world, with equal probabilities. */
const edits: readonly ((world: World, pick: Pick) => World)[] = [
  (world, pick) => ({ ...world, files: { ...world.files, [pick(places)]: `#pragma once\n${randomLines(pick)}` } }),
  (world, pick) => ({ ...world, files: { ...world.files, [pick(places)]: `#pragma once\n${randomLines(pick)}${randomLines(pick)}` } }),
  (world, pick) => {
    const { [pick(places)]: removed, ...files } = world.files;
    void removed;
    return { ...world, files };
  },
  (world, pick) => ({ ...world, files: { ...world.files, 'repo/u.cu': `${randomLines(pick)}${randomLines(pick)}${defaults}${kernel}` } }),
  (world, pick) => {
    const text = world.files['repo/u.cu']!;
    return { ...world, files: { ...world.files, 'repo/u.cu': `${randomLines(pick)}${text}` } };
  },
  (world, pick) => ({ ...world, flags: [...world.flags, randomFlags(pick)].slice(-4) }),
  (world, pick) => ({ ...world, flags: world.flags.filter(() => pick([true, false])) }),
  (world) => ({ ...world, flags: world.flags.toReversed() }),
  (world, pick) => ({
    ...world,
    files: { ...world.files, [`repo/${pick(['o', 'p', 'g'])}.txt`]: pick(['-DM0=2', '-DM1=0 -I../in2', '-DM2=0', '-I../in1']) },
  }),
  (world, pick) => ({
    ...world,
    files: { ...world.files, in3: pick([null, 'text']), 'repo/made.h': randomLines(pick) },
  }),
  (world, pick) => ({
    ...world,
    environment: {
      ...world.environment,
      [pick(['NVCC_APPEND_FLAGS', 'NVCC_PREPEND_FLAGS', 'CPATH', 'CPLUS_INCLUDE_PATH', 'SOURCE_DATE_EPOCH'])]: pick(['-DM1=0', '7', '/']),
    },
  }),
  (world, pick) => ({ ...world, added: pick(['', '-DM1=0', '-I../in2', '-use_fast_math']) }),
];

/** Writes the files of a world; their times are the time of the edit. */
function writeWorld(folder: string, { files, added }: World, compiler: Compiler, step: number): void {
  for (const name of ['repo', 'in1', 'in2', 'in3']) rmSync(join(folder, name), { recursive: true, force: true });
  for (const name of folders) mkdirSync(join(folder, name), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    if (text === null) symlinkSync('in2', file);
    else {
      writeFileSync(file, text);
      utimesSync(file, 1e9 + step, 1e9 + step);
    }
  }
  writeFileSync(join(folder, 'repo/cuda_runtime.h'), '');
  writeFileSync(join(folder, 'tools/nvcc'), `#!/bin/sh\nexec '${compiler.path}' "$@" ${added}\n`);
  chmodSync(join(folder, 'tools/nvcc'), 0o755);
}

interface Tally {
  readonly steps: number;
  /** Steps with a cache hit. */
  readonly kept: number;
  /** Steps whose unit did not compile. */
  readonly refused: number;
}

/**
 * Applies random edits.
 * @throws AssertionError if a cached build differs from a fresh one
 */
export async function checkRandomEdits(seed: number, count: number): Promise<Tally> {
  assert.ok(nvcc);
  const real = wrappedCompiler(nvcc);
  const random = seededRandom(seed);
  const pick: Pick = (values) => random.pick(values);
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-edits-')));
  const before = { ...process.env };
  let [kept, refused] = [0, 0];
  try {
    mkdirSync(join(folder, 'tools'));
    const compiler: Compiler = { ...real, path: join(folder, 'tools/nvcc') };
    const { code } = keepingBuilds(storeIn(join(folder, 'results')), compiler);
    let world: World = { files: { 'repo/u.cu': `${defaults}${kernel}` }, flags: [], environment: {}, added: '' };
    const past = [world];
    let isRefused = false;
    for (let step = 0; step < count; step += 1) {
      // Users often revert, most of all edits that do not compile.
      world = random.chance(isRefused ? 0.7 : 0.1) ? pick(past) : pick(edits)(world, pick);
      writeWorld(folder, world, real, step);
      Object.assign(process.env, world.environment);
      let isMade = false;
      const root = join(folder, 'repo');
      const request: CompileRequest = {
        compiler,
        file: 'u.cu',
        root,
        build: pick(['production', 'production', 'verification']),
        withVerification: true,
        arch: pick(['sm_75', 'sm_80', 'sm_90']),
        flags: [{ args: world.flags.flat(), origin: 'the command line', directory: root }],
        trust: 'user',
        limits: compilerLimits,
        include: includeFolder,
        onLog: () => undefined,
      };
      const words: string[][] = [[], []];
      const logged = (into: string[]) => (text: string) => void into.push(text.replaceAll(/selvage-\w{6}/g, ''));
      const found = await compileUnit({ ...request, kept: code, onLog: logged(words[0]!), onCompiled: () => void (isMade = true) });
      const fresh = await compileUnit({ ...request, onLog: logged(words[1]!) });
      assert.deepEqual(found, fresh, `seed ${seed}, step ${step}: ${JSON.stringify(world, null, 1)}`);
      assert.deepEqual(words[0], words[1], `seed ${seed}, step ${step}: the words of the compiler`);
      isRefused = found.ptx === undefined;
      if (isRefused) refused += 1;
      else past.push(world);
      if (!isRefused && !isMade) kept += 1;
    }
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
    rmSync(folder, { recursive: true });
  }
  return { steps: count, kept, refused };
}

if (process.argv[1] === import.meta.filename) {
  const [seed = 2, count = 1000] = process.argv.slice(2).map(Number);
  const { steps, kept, refused } = await checkRandomEdits(seed, count);
  console.log(`${steps} edits, the same with what was kept: ${kept} kept, ${steps - kept - refused} made, ${refused} do not compile`);
}
