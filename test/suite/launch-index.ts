/**
 * `npm run suite -- launch-index [--files N] [--bytes N] [--seed N]`: time of the index of launches in a generated
 * repository of CUDA sources (by default 2,000 of 15 KB), compared with `nvcc -ptx` of one of them: cold, warm, and
 * after a file was changed. CPU time of processes and their children, less that of a process that only opens the tree.
 * The exit code is 1 if cold costs more than nvcc, warm more than a fifth of it, or an answer is wrong.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seededRandom, type Random } from '../../src/base/random.ts';
import { best, line, timed, type Cost } from '../bench/measure.ts';

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    files: { type: 'string', default: '2000' },
    bytes: { type: 'string', default: '15360' },
    seed: { type: 'string', default: '2' },
    repetitions: { type: 'string', default: '3' },
  },
});
const count = Number(values.files);
const repetitions = Number(values.repetitions);
const scratch = mkdtempSync(join(tmpdir(), 'selvage-suite-'));
const output = join(scratch, 'output');
try {
  const root = join(scratch, 'repository');
  generate(root);
  const opener = fileURLToPath(new URL('open-launch-index.ts', import.meta.url));
  const cache = join(scratch, 'cache');
  const open = (what: string): Cost => timed(output, process.execPath, [opener, root, cache, what]);
  const repeat = (run: () => Cost): Cost => best(Array.from({ length: repetitions }, run));
  const nvcc = repeat(() => timed(output, 'nvcc', ['-ptx', '-arch=sm_80', '-o', join(scratch, 'a.ptx'), join(root, sourceName(0))]));
  const tree = repeat(() => open('tree'));
  const cold = repeat(() => {
    rmSync(cache, { recursive: true, force: true });
    return open('index');
  });
  const warm = repeat(() => open('index'));
  appendFileSync(join(root, sourceName(1)), '\nvoid more() { kernel_0_0<<<1, 32>>>(nullptr, 1); }\n');
  const changed = repeat(() => open('index'));
  line('CPU, ms', 'process', 'index', '/nvcc');
  line('nvcc -ptx of one file', nvcc.cpu.toFixed(0));
  line(`the tree of ${count} files`, tree.cpu.toFixed(0));
  const shares = Object.entries({ cold, warm, changed }).map(([name, { cpu }]) => {
    const own = cpu - tree.cpu;
    line(name, cpu.toFixed(0), own.toFixed(0), (own / nvcc.cpu).toFixed(2));
    return own / nvcc.cpu;
  });
  if (shares[0]! > 1 || shares[1]! > 0.2) process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function sourceName(index: number): string {
  return `part${index % 40}/source${index}.cu`;
}

/** Writes a repository: each file defines kernels with host code that launches its own and one of another file. */
function generate(root: string): void {
  const random = seededRandom(Number(values.seed));
  for (let index = 0; index < count; index += 1) {
    const path = join(root, sourceName(index));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, sourceText(index, random));
  }
  const run = (...words: string[]): void => {
    const { status, stderr } = spawnSync('git', words, { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(`git ${words.join(' ')}: ${stderr}`);
  };
  run('init', '-q');
  run('add', '.');
  run('-c', 'user.name=suite', '-c', 'user.email=suite@example.com', 'commit', '-q', '-m', 'Generated');
}

function sourceText(index: number, random: Random): string {
  const pick = (limit: number): number => random.below(limit);
  let text = `// Generated.\n#include <cstdio>\n#include <cstdlib>\n#include <vector>\n\n`;
  for (let kernel = 0; text.length < Number(values.bytes); kernel += 1) {
    const name = `kernel_${index}_${kernel}`;
    const values_ = Array.from({ length: 4 + pick(8) }, (_, at) => `value${pick(100)}_${at}`);
    text += `/** Scales what block ${pick(99)} reads, in ${values_.length} steps. */\n`;
    text += `__global__ void ${name}(float *data, int count) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= count) return;\n`;
    for (const value of values_) text += `  float ${value} = data[i] * ${pick(1000)}.5f;\n  data[i] = ${value} + ${pick(9)};\n`;
    text += `}\n\nvoid launch_${name}(float *data, int count) {\n  const int threads = ${32 * (1 + pick(8))};\n`;
    text += `  ${name}<<<(count + threads - 1) / threads, threads>>>(data, count);\n  printf("%s\\n", "${name}");\n}\n\n`;
  }
  return text;
}
