/**
 * Cubins with damage: cut off, bits flipped, sizes and offsets that are too large, tables that name themselves. Reading
 * each returns a result or a problem, in bounded time and memory.
 *
 *     node test/sass/damaged-cubins.ts [SEED [COUNT]]
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { seededRandom } from '../../src/base/random.ts';
import { readCubin } from '../../src/sass/cubin/cubin.ts';
import { cubinsIn } from '../../src/sass/cubin/fat-binary.ts';
import { accessBits, instructionsOf, targetOf, versionOf } from '../../src/sass/instruction/decode.ts';

const folder = fileURLToPath(new URL('cubins/', import.meta.url));
const originals = ['sm_75', 'sm_90', 'sm_120'].map((name) => new Uint8Array(readFileSync(`${folder}${name}.cubin`)));

/** Reads all contents of a file. */
function readWhole(bytes: Uint8Array): string | undefined {
  const cubins = cubinsIn(bytes);
  if ('problem' in cubins) return cubins.problem;
  for (const content of cubins) {
    const cubin = readCubin(content);
    if ('problem' in cubin) return cubin.problem;
    const version = versionOf(cubin.arch);
    for (const one of cubin.functions) {
      for (const instruction of instructionsOf(one, version)) {
        targetOf(instruction, version);
        accessBits(instruction, version);
        let depth = 0;
        for (let place = one.sourceAt(instruction.address); place; place = place.inlinedAt) depth++;
        if (depth > content.length) throw new Error('a chain of callers is longer than the file');
        one.ptxLineAt(instruction.address);
      }
    }
  }
  return undefined;
}

/** A container with an entry for each cubin. */
export function fatBinary(cubins: readonly Uint8Array[]): Uint8Array {
  const size = cubins.reduce((sum, { length }) => sum + 64 + length, 0);
  const bytes = new Uint8Array(16 + size);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 0xba55ed50, true);
  view.setUint16(4, 1, true);
  view.setUint16(6, 16, true);
  view.setBigUint64(8, BigInt(size), true);
  let at = 16;
  for (const cubin of cubins) {
    view.setUint16(at, 2, true);
    view.setUint32(at + 4, 64, true);
    view.setBigUint64(at + 8, BigInt(cubin.length), true);
    bytes.set(cubin, at + 64);
    at += 64 + cubin.length;
  }
  return bytes;
}

/** Results for damaged files. */
interface Outcome {
  readonly read: number;
  readonly refused: ReadonlyMap<string, number>;
  readonly slowest: number;
}

/** Damages files and reads them. Any exception is a failure and goes on to the caller. */
export function readDamaged(seed: number, count: number): Outcome {
  const random = seededRandom(seed);
  const sources = [...originals, fatBinary(originals)];
  const refused = new Map<string, number>();
  let [read, slowest] = [0, 0];
  for (let index = 0; index < count; index++) {
    let bytes = sources[random.below(sources.length)]!.slice();
    const view = new DataView(bytes.buffer);
    const kind = random.below(6);
    if (kind === 0) bytes = bytes.slice(0, random.below(bytes.length));
    else if (kind === 1) {
      for (let left = 1 + random.below(24); left > 0; left--) {
        const at = random.below(bytes.length);
        bytes[at] = bytes[at]! ^ (1 << random.below(8));
      }
    } else if (kind === 2) {
      // Extreme values for the offsets and sizes in headers and tables.
      const at = random.below(bytes.length - 8);
      view.setBigUint64(at, [2n ** 64n - 1n, 2n ** 63n, 2n ** 32n, 2n ** 53n, BigInt(bytes.length)][random.below(5)]!, true);
    } else if (kind === 3) {
      const [from, to] = [random.below(bytes.length), random.below(bytes.length)];
      bytes.copyWithin(to, from, from + 1 + random.below(256));
    } else if (kind === 4) {
      // A field of the table of sections, or of another table of eight bytes an entry.
      const table = Number(view.getBigUint64(40, true));
      const start = table < bytes.length - 64 ? table : 0;
      const at = Math.min(bytes.length - 4, start + 4 * random.below(64 * 5));
      view.setUint32(at, [0, 1, 0xffffffff, 0x7fffffff, random.below(bytes.length)][random.below(5)]!, true);
    } else bytes.fill(random.below(256), random.below(bytes.length), random.below(bytes.length));
    // CPU time: other processes do not count.
    const before = process.cpuUsage();
    const problem = readWhole(bytes);
    const { user, system } = process.cpuUsage(before);
    slowest = Math.max(slowest, (user + system) / 1000);
    if (problem === undefined) read++;
    else {
      const shape = problem
        .replaceAll(/\d+/g, 'N')
        .replaceAll(/[^ -~]|\.(?:text|debug)\S*|function \S*/g, '…')
        .slice(0, 100);
      refused.set(shape, (refused.get(shape) ?? 0) + 1);
    }
  }
  return { read, refused, slowest };
}

if (import.meta.url === pathToFileURL(process.argv[1]!).href) {
  const [seed = '1', count = '100000'] = process.argv.slice(2);
  const { read, refused, slowest } = readDamaged(Number(seed), Number(count));
  const total = [...refused.values()].reduce((sum, one) => sum + one, 0);
  const memory = Math.round(process.resourceUsage().maxRSS / 1024);
  console.log(`${count} damaged files: ${read} read, ${total} refused, slowest ${slowest.toFixed(1)} ms of CPU, ${memory} MiB`);
  for (const [problem, times] of [...refused].sort(([, a], [, b]) => b - a)) console.log(`${times}\t${problem}`);
}
