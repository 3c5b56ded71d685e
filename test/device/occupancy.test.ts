import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { seededRandom } from '../../src/base/random.ts';
import { architectureOf, architectures, type Architecture } from '../../src/device/architecture.ts';
import { occupancyOf, type BlockDemand, type OccupancyLimiter } from '../../src/device/occupancy.ts';

const run = promisify(execFile);

/** The folder of the toolkit's `cuda_occupancy.h`; null if it is not installed. */
async function headerFolder(): Promise<string | null> {
  const installed = (await readdir('/usr/local').catch(() => [])).filter((name) => name.startsWith('cuda'));
  const roots = [process.env['CUDA_HOME'], process.env['CUDA_PATH'], ...installed.map((name) => `/usr/local/${name}`)];
  for (const root of roots) {
    if (root === undefined) continue;
    const folder = join(root, 'include');
    const isThere = await access(join(folder, 'cuda_occupancy.h')).then(
      () => true,
      () => false,
    );
    if (isThere) return folder;
  }
  return null;
}

interface Combination extends BlockDemand {
  readonly architecture: Architecture;
}

/** Combinations of all architectures; each limit is the limiting one for some of them. */
function combinations(count: number): Combination[] {
  const random = seededRandom(7);
  return Array.from({ length: count }, (_, index) => {
    const architecture = architectures[index % architectures.length]!;
    const shared = [0, random.below(3000), random.below(50_000), random.below(240_000)];
    return {
      architecture,
      registers: random.below(258),
      sharedBytes: random.pick(shared),
      threads: 1 + random.below(random.below(4) === 0 ? 1100 : 512),
      barriers: random.below(17),
    };
  });
}

const program = String.raw`
#include <stdio.h>
#include <cuda_occupancy.h>
int main(void) {
  int major, minor, threads, sm, block, registers, barriers; size_t shared, reserved, multi, optin;
  while (scanf("%d %d %d %d %d %d %d %zu %zu %zu %zu", &major, &minor, &threads, &sm, &block, &registers, &barriers,
               &shared, &reserved, &multi, &optin) == 11) {
    cudaOccDeviceProp device; cudaOccFuncAttributes kernel; cudaOccDeviceState state; cudaOccResult result;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
    device.computeMajor = major; device.computeMinor = minor; device.maxThreadsPerBlock = 1024;
    device.maxThreadsPerMultiprocessor = sm; device.regsPerBlock = 65536; device.regsPerMultiprocessor = 65536;
    device.warpSize = 32; device.sharedMemPerBlock = 49152; device.sharedMemPerMultiprocessor = multi; device.numSms = 1;
    device.sharedMemPerBlockOptin = optin; device.reservedSharedMemPerBlock = reserved;
    kernel.maxThreadsPerBlock = 1024; kernel.numRegs = registers; kernel.sharedSizeBytes = 0;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; kernel.maxDynamicSharedSizeBytes = 1 << 20;
    kernel.numBlockBarriers = barriers;
    int error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, shared);
    printf("%d %d %u\n", error, result.activeBlocksPerMultiprocessor, result.limitingFactors);
  }
  return 0;
}`;

/** Factors for the bits of the header. */
const factors: Readonly<Record<OccupancyLimiter, number>> = {
  threads: 1,
  registers: 2,
  shared: 4,
  blocks: 8 | 16,
  none: -1,
};

test("occupancy agrees with the toolkit's header", { timeout: 60_000 }, async (t) => {
  const folder = await headerFolder();
  if (folder === null) return t.skip('there is no cuda_occupancy.h');
  const temporary = await mkdtemp(join(tmpdir(), 'selvage-occupancy-'));
  try {
    const source = join(temporary, 'occupancy.cpp');
    const executable = join(temporary, 'occupancy');
    await writeFile(source, program);
    await run('g++', ['-w', `-I${folder}`, source, '-o', executable]);
    // The header counts 256 registers of a thread as possible; no instruction can name the last one.
    const list = combinations(4000).filter(({ registers }) => registers !== 256);
    const input = list.map(({ architecture, threads, registers, sharedBytes, barriers }) => {
      const [, major, minor] = /sm_(\d+)(\d)/.exec(architecture.name)!;
      const { threadsPerMultiprocessor, sharedReserved, sharedPerMultiprocessor, sharedPerBlockOptIn } = architecture;
      const numbers = [major, minor, threads, threadsPerMultiprocessor, 0, registers, barriers, sharedBytes];
      return [...numbers, sharedReserved, sharedPerMultiprocessor, sharedPerBlockOptIn].join(' ');
    });
    const child = run(executable);
    child.child.stdin!.end(input.join('\n'));
    const lines = (await child).stdout.trim().split('\n');
    assert.equal(lines.length, list.length);
    const limiters = new Set<OccupancyLimiter>();
    for (const [index, combination] of list.entries()) {
      const [error, blocks, limiting] = lines[index]!.split(' ').map(Number);
      const told = JSON.stringify(combination);
      assert.equal(error, 0, told);
      const { blocks: ours, limiter } = occupancyOf(combination.architecture, combination);
      assert.equal(ours, blocks, told);
      assert.ok((limiting! & factors[limiter]) !== 0, `${limiter} of ${limiting}: ${told}`);
      limiters.add(limiter);
    }
    assert.equal(limiters.size, 5, 'every limit is reached');
  } finally {
    await rm(temporary, { recursive: true });
  }
});

test('occupancy agrees with recorded values of the header', () => {
  const of = (name: string, registers: number, sharedBytes: number, threads: number, barriers = 1) => {
    const { blocks, fraction, limiter } = occupancyOf(architectureOf(name)!, {
      registers,
      sharedBytes,
      threads,
      barriers,
    });
    return [blocks, fraction, limiter];
  };
  assert.deepEqual(of('sm_80', 32, 0, 256), [8, 1, 'none']);
  assert.deepEqual(of('sm_80', 40, 0, 256), [6, 0.75, 'registers']);
  assert.deepEqual(of('sm_80', 128, 0, 256), [2, 0.25, 'registers']);
  assert.deepEqual(of('sm_80', 32, 48 * 1024, 256), [3, 0.375, 'shared']);
  assert.deepEqual(of('sm_75', 32, 0, 32), [16, 0.5, 'blocks']);
  assert.deepEqual(of('sm_86', 16, 0, 1024), [1, 32 / 48, 'threads']);
  assert.deepEqual(of('sm_90', 16, 0, 64, 16), [4, 8 / 64, 'blocks'], 'barriers');
  assert.deepEqual(of('sm_80', 16, 164 * 1024, 64), [0, 0, 'shared'], 'refused');
});

test('architectures are named', () => {
  assert.equal(architectureOf('sm_90a')?.name, 'sm_90');
  assert.equal(architectureOf('compute_120')?.name, 'sm_120');
  assert.equal(architectureOf('sm_61'), undefined);
});
