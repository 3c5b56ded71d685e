import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { type Cubin, readCubin } from '../../src/sass/cubin/cubin.ts';
import { readElf } from '../../src/sass/cubin/elf.ts';
import { instructionsOf, type SassInstruction, versionOf } from '../../src/sass/instruction/decode.ts';
import { flowOf } from '../../src/sass/sass-flow.ts';
import { fromOutside, RegisterFlow } from '../../src/sass/translation/registers.ts';
import { profileOf } from '../../src/sass/profile.ts';
import { type TranslationFault, validateTranslation } from '../../src/sass/translation/translation.ts';

const architectures = ['sm_75', 'sm_90', 'sm_120'];
const bytesOf = (arch: string): Uint8Array => new Uint8Array(readFileSync(new URL(`cubins/${arch}.cubin`, import.meta.url)));

function read(bytes: Uint8Array): Cubin {
  const cubin = readCubin(bytes);
  assert.ok(!('problem' in cubin));
  return cubin;
}

/** The PTX that a cubin was made of: `-lineinfo` keeps it, with a zero byte at the end of each line. */
function kernelOf(bytes: Uint8Array): Kernel {
  const section = readElf(bytes).sections.find(({ name }) => name === '.nv_debug_ptx_txt')!;
  const text = new TextDecoder().decode(section.bytes).replaceAll('\0', '\n');
  // Lines are counted from the first one, which is empty.
  const { kernels } = lowerModule(parsePtx(text).module);
  return kernels.find(({ symbol }) => symbol === 'tileSum')!;
}

/** Edits the code of the kernel: `edit` gets each instruction with a view of its 16 bytes. */
function edited(
  bytes: Uint8Array,
  edit: (instructions: readonly SassInstruction[], at: (one: SassInstruction) => Uint8Array) => void,
): Cubin {
  const copy = bytes.slice();
  const cubin = read(copy);
  const kernel = cubin.functions.find(({ isKernel }) => isKernel)!;
  edit(instructionsOf(kernel, versionOf(cubin.arch)), ({ address }) =>
    copy.subarray(kernel.fileOffset + address - kernel.start, kernel.fileOffset + address - kernel.start + 16),
  );
  return read(copy);
}

/** A NOP with the same guard and the same scheduling. */
function overwrite(code: Uint8Array): void {
  code[0] = 0x18;
  code[1] = (code[1]! & 0xf0) | 0x9;
  code.fill(0, 2, 13);
}

function faultsOf(kernel: Kernel, cubin: Cubin): readonly TranslationFault[] {
  const translation = validateTranslation(kernel, cubin);
  assert.ok(translation.checked, JSON.stringify(translation));
  return translation.faults;
}

for (const arch of architectures) {
  const bytes = bytesOf(arch);
  const kernel = kernelOf(bytes);
  const named = (instructions: readonly SassInstruction[], mnemonic: string) =>
    instructions.filter(({ opcode }) => opcode?.mnemonic === mnemonic);

  test(`the code for ${arch} preserves the order of its PTX`, () => {
    assert.deepEqual(faultsOf(kernel, read(bytes)), []);
  });

  test(`each barrier that is overwritten in the code for ${arch} is found`, () => {
    const count = named(
      instructionsOf(
        read(bytes).functions.find(({ isKernel }) => isKernel)!,
        versionOf(arch),
      ),
      'BAR',
    ).length;
    assert.ok(count >= 2);
    for (let index = 0; index < count; index++) {
      const cubin = edited(bytes, (instructions, at) => overwrite(at(named(instructions, 'BAR')[index]!)));
      const faults = faultsOf(kernel, cubin);
      assert.ok(
        faults.some((fault) => fault.what === 'barrier'),
        `barrier ${index}`,
      );
    }
  });

  test(`a fence and an atomic that are dropped in the code for ${arch} are found`, () => {
    for (const [mnemonics, what] of [
      [['MEMBAR'], 'fence'],
      [['RED', 'REDG', 'ATOMG'], 'atomic'],
    ] as const) {
      const cubin = edited(bytes, (instructions, at) => {
        const found = mnemonics.flatMap((mnemonic) => named(instructions, mnemonic));
        assert.ok(found.length > 0);
        for (const one of found) overwrite(at(one));
      });
      assert.ok(
        faultsOf(kernel, cubin).some((fault) => fault.kind === 'missing' && fault.what === what),
        what,
      );
    }
  });

  test(`stores of the code for ${arch} that are exchanged across a barrier are found`, () => {
    const storesOf = (instructions: readonly SassInstruction[]) => named(instructions, 'STS');
    const count = storesOf(
      instructionsOf(
        read(bytes).functions.find(({ isKernel }) => isKernel)!,
        versionOf(arch),
      ),
    ).length;
    assert.ok(count >= 4);
    for (let index = 0; index + 1 < count; index++) {
      const cubin = edited(bytes, (instructions, at) => {
        const [one, other] = [at(storesOf(instructions)[index]!), at(storesOf(instructions)[index + 1]!)];
        const kept = one.slice();
        one.set(other);
        other.set(kept);
      });
      const [one, other] = storesOf(
        instructionsOf(
          read(bytes).functions.find(({ isKernel }) => isKernel)!,
          versionOf(arch),
        ),
      ).slice(index);
      // Equal code at both places makes no difference; only its position in time may differ.
      const isSame = [0, 1, 2].every((word) => one!.words[word] === other!.words[word]);
      assert.equal(
        faultsOf(kernel, cubin).some(({ kind }) => kind === 'foreign'),
        !isSame,
        `store ${index}`,
      );
    }
  });

  test(`accesses of the code for ${arch} that change places with a barrier are found`, () => {
    const code = instructionsOf(
      read(bytes).functions.find(({ isKernel }) => isKernel)!,
      versionOf(arch),
    );
    const places = [...code.keys()].filter((index) => code[index]!.opcode?.kind === 'barrier');
    for (const place of places) {
      for (const step of [-1, 1]) {
        let near = place;
        while (code[near] && !['load', 'store'].includes(code[near]!.opcode?.kind ?? '')) near += step;
        const cubin = edited(bytes, (instructions, at) => {
          const [one, other] = [at(instructions[place]!), at(instructions[near]!)];
          const kept = one.slice();
          one.set(other);
          other.set(kept);
        });
        assert.ok(
          faultsOf(kernel, cubin).some(({ kind }) => kind === 'stray'),
          `barrier ${place}, access ${near}`,
        );
      }
    }
  });

  test(`a store that is dropped in the code for ${arch} is found`, () => {
    const cubin = edited(bytes, (instructions, at) => overwrite(at(named(instructions, 'STS')[0]!)));
    assert.ok(faultsOf(kernel, cubin).some((fault) => fault.kind === 'missing' && fault.what === 'store'));
  });

  test(`registers that the code for ${arch} reads were written`, () => {
    const version = versionOf(arch);
    const flow = flowOf(
      instructionsOf(
        read(bytes).functions.find(({ isKernel }) => isKernel)!,
        version,
      ),
      version,
    );
    const registers = new RegisterFlow(flow, version);
    for (const [index, use] of registers.uses.entries()) {
      if (flow.instructions[index]!.opcode?.kind === 'call') continue;
      assert.ok(use, flow.instructions[index]!.opcode?.mnemonic);
      for (const register of use.reads) {
        const definitions = registers.definitionsOf(index, register);
        assert.ok(
          definitions?.some((at) => at !== fromOutside),
          `${flow.instructions[index]!.address}: ${register}`,
        );
      }
    }
  });

  test(`the operations of each line are counted in the code for ${arch}`, () => {
    const profile = profileOf(read(bytes), 'tileSum')!;
    const workAt = (line: number) => Object.fromEntries(profile.lines.find(({ location }) => location?.line === line)!.work);
    assert.equal(workAt(7)['load global 32'], 1);
    assert.equal(workAt(7)['store shared 32'], 1);
    assert.equal(workAt(8).barrier, 1);
    assert.equal(workAt(10)['load shared 32'], 2 * workAt(10)['store shared 32']!);
    assert.equal(workAt(15).fence, 1);
    assert.equal(workAt(16).atomic, 1);
    assert.equal(workAt(17)['store global 64'], 1);
    assert.ok(workAt(17).division! >= 1 && workAt(17).double! >= 4);
    // The loop has eight iterations, which are unrolled.
    assert.ok(workAt(11).barrier! >= 7);
    assert.ok((profile.work.get('other') ?? 0) <= 1);
  });
}
