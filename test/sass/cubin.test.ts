import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as zlib from 'node:zlib';
import { readCubin, type Cubin } from '../../src/sass/cubin/cubin.ts';
import { cubinsIn } from '../../src/sass/cubin/fat-binary.ts';
import {
  accessBits,
  barrierForm,
  fenceScope,
  SassInstruction,
  sassGuard,
  instructionsOf,
  targetOf,
  versionOf,
} from '../../src/sass/instruction/decode.ts';
import { opcodesOf } from '../../src/sass/instruction/opcode-table.ts';
import { fatBinary, readDamaged } from './damaged-cubins.ts';

const architectures = ['sm_75', 'sm_90', 'sm_120'];
const bytesOf = (arch: string): Uint8Array => new Uint8Array(readFileSync(new URL(`cubins/${arch}.cubin`, import.meta.url)));

function read(bytes: Uint8Array): Cubin {
  const cubin = readCubin(bytes);
  assert.ok(!('problem' in cubin), JSON.stringify(cubin));
  return cubin;
}

// Output of ptxas 13.0 for `cp.async` with 4, 8 and 16 bytes and for atomics on 32 and 64 bits, for sm_100.
const widthsOnBlackwell: readonly (readonly [bits: number, words: SassInstruction['words']])[] = [
  [32, [33914798, 0, 194646022, 5236736]],
  [64, [33914798, 65552, 194647046, 1042432]],
  [128, [33914798, 131104, 194648070, 1042432]],
  [32, [34408872, 2147483655, 136245510, 958976]],
  [64, [67766696, 4294965258, 136246534, 958976]],
  [64, [33847690, 2147483664, 152106758, 483840]],
];

test('the Blackwell encodings of the widths of copies and atomics are decoded', () => {
  for (const version of [100, 120])
    for (const [bits, words] of widthsOnBlackwell) {
      const opcode = opcodesOf(version)[words[0] & 0xfff];
      assert.equal(accessBits(new SassInstruction(0, opcode, Int32Array.from(words), 0), version), bits);
    }
});

for (const arch of architectures) {
  test(`a cubin for ${arch} has its kernel, the division that ptxas appends, and lines with callers`, () => {
    const cubin = read(bytesOf(arch));
    assert.equal(cubin.arch, arch);
    const kernels = cubin.functions.filter(({ isKernel }) => isKernel);
    assert.deepEqual(
      kernels.map(({ symbol }) => symbol),
      ['tileSum'],
    );
    assert.ok(cubin.functions.some(({ symbol }) => symbol.includes('div_rn_f64')));
    assert.ok(cubin.registers.get('tileSum')! >= 8);
    const [kernel] = kernels;
    const version = versionOf(arch);
    const instructions = instructionsOf(kernel!, version);
    assert.deepEqual(
      instructions.filter(({ opcode }) => !opcode),
      [],
    );
    const named = (mnemonic: string) => instructions.filter(({ opcode }) => opcode?.mnemonic === mnemonic);
    const linesOf = (mnemonic: string) => [...new Set(named(mnemonic).map(({ address }) => kernel!.sourceAt(address)?.line))];
    assert.deepEqual(linesOf('BAR'), [8, 11]);
    assert.ok(named('BAR').every((one) => barrierForm(one) === 'sync'));
    assert.deepEqual(named('MEMBAR').map(fenceScope), ['gpu']);
    assert.deepEqual(linesOf('LDG'), [7]);
    assert.deepEqual(
      [...new Set(named('STG').map((one) => accessBits(one, version)))].sort((a, b) => a! - b!),
      [32, 64],
    );
    // `twice` is inlined at line 7.
    const doubled = [...named('FADD'), ...named('FMUL')].map(({ address }) => kernel!.sourceAt(address)!);
    assert.ok(doubled.some((place) => place.line === 2 && place.inlinedAt?.line === 7));
    const branches = named('BRA').map((one) => targetOf(one, version)!);
    assert.ok(branches.every((target) => target >= 0 && target < kernel!.code.length + kernel!.start && target % 16 === 0));
    assert.ok(named('EXIT').some((one) => sassGuard(one)));
    assert.ok(instructions.every(({ address }) => kernel!.ptxLineAt(address)! > 0));
  });
}

test('a fat binary contains cubins, uncompressed and compressed', () => {
  const all = architectures.map(bytesOf);
  const found = cubinsIn(fatBinary(all));
  assert.ok(Array.isArray(found));
  assert.deepEqual(
    found.map((bytes: Uint8Array) => read(bytes).arch),
    architectures,
  );
  assert.deepEqual(cubinsIn(all[0]!), [all[0]]);
  const packed = cubinsIn(compressed(all[0]!, 0x2000, lz4Literals(all[0]!)));
  assert.deepEqual(plain(packed), plain([all[0]!]));
  const { zstdCompressSync } = zlib as { zstdCompressSync?: (bytes: Uint8Array) => Uint8Array };
  if (zstdCompressSync) {
    const own = cubinsIn(compressed(all[0]!, 0x8000, zstdCompressSync(all[0]!)));
    assert.deepEqual(plain(own), plain([all[0]!]));
  }
});

const plain = (found: ReturnType<typeof cubinsIn>): unknown => ('problem' in found ? found : found.map((bytes) => [...bytes]));

/** A container whose one entry is compressed. */
function compressed(original: Uint8Array, flag: number, data: Uint8Array): Uint8Array {
  const bytes = fatBinary([data]);
  const view = new DataView(bytes.buffer);
  view.setUint32(16 + 16, data.length, true);
  view.setUint32(16 + 40, flag, true);
  view.setBigUint64(16 + 56, BigInt(original.length), true);
  return bytes;
}

/** A block of LZ4 that contains only literals. */
function lz4Literals(bytes: Uint8Array): Uint8Array {
  const lengthBytes = (left: number): number[] => (left < 255 ? [left] : [255, ...lengthBytes(left - 255)]);
  return Uint8Array.from([0xf0, ...lengthBytes(bytes.length - 15), ...bytes]);
}

test('a file that is not a cubin is reported', () => {
  const problemOf = (bytes: Uint8Array) => {
    const answer = readCubin(bytes);
    return 'problem' in answer ? answer.problem : undefined;
  };
  assert.match(problemOf(new TextEncoder().encode('#include <cuda.h>'))!, /does not begin as an ELF file/);
  assert.match(problemOf(bytesOf('sm_90').slice(0, 50))!, /header is cut off/);
  assert.match(problemOf(bytesOf('sm_90').slice(0, 5000))!, /lies outside of it|cut off/);
  const foreign = bytesOf('sm_90').slice();
  foreign[18] = 62;
  assert.match(problemOf(foreign)!, /for machine 62, not for a GPU/);
  assert.deepEqual(cubinsIn(new Uint8Array(100)), { problem: 'it is neither a cubin nor a fat binary' });
});

test('reading damaged cubins returns a result or a problem', () => {
  const { read: whole, refused } = readDamaged(7, 1500);
  const total = [...refused.values()].reduce((sum, one) => sum + one, 0);
  assert.equal(whole + total, 1500);
  assert.ok(total > 300, `${total} were refused`);
  assert.ok(refused.size > 8);
});
