/** Machine code of ptxas for warp barriers and asynchronous copies, compared with PTX that requires something else. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { readCubin } from '../../src/sass/cubin/cubin.ts';
import { instructionsOf, type SassInstruction, versionOf, wordBits } from '../../src/sass/instruction/decode.ts';
import { type TranslationFault, validateTranslation } from '../../src/sass/translation/translation.ts';
import { translationFinding } from '../../src/app/pipeline/cost/translation-finding.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'selvage-order-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Lines of a kernel after ten others; %r3 is the thread's word of an array, %d1 one of global memory. */
function sassOf(...lines: readonly string[]): string {
  return `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
.shared .align 16 .b8 s[1024];
.reg .b32 %r<8>; .reg .b64 %d<4>;
ld.param.u64 %d1, [p]; cvta.to.global.u64 %d1, %d1;
mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; cvt.u64.u32 %d2, %r2; add.s64 %d1, %d1, %d2;
mov.u32 %r3, s; add.s32 %r3, %r3, %r2;
${lines.join('\n')}
ret;
}
`;
}
const first = 10;

function cubinOf(text: string): Uint8Array {
  const [input, output] = [join(folder, 'k.ptx'), join(folder, 'k.cubin')];
  writeFileSync(input, text);
  execFileSync('ptxas', ['-lineinfo', '-arch=sm_80', '-o', output, input], { stdio: 'pipe' });
  return new Uint8Array(readFileSync(output));
}

function faultsOf(text: string, bytes: Uint8Array): readonly TranslationFault[] {
  const cubin = readCubin(bytes);
  assert.ok(!('problem' in cubin));
  const translation = validateTranslation(lowerModule(parsePtx(text).module).kernels[0]!, cubin);
  assert.ok(translation.checked, JSON.stringify(translation));
  return translation.faults;
}

test('an access moved before a warp barrier that precedes it in the PTX is found', { skip: withoutNvcc }, () => {
  const [store, load, rest] = ['st.shared.u32 [%r3], %r1;', 'ld.shared.u32 %r4, [%r3+4];', 'st.global.u32 [%d1], %r4;'];
  const barrier = 'bar.warp.sync 0xffffffff;';
  const straight = sassOf('', store, barrier, load, rest);
  const bytes = cubinOf(straight);
  assert.deepEqual(faultsOf(straight, bytes), []);
  // The same accesses on the same lines, the load first.
  const turned = sassOf('bra LOAD;', `STORE: ${store} bra END;`, '', `LOAD: ${load} ${barrier} bra STORE;`, `END: ${rest}`);
  assert.deepEqual(
    faultsOf(turned, bytes).map((fault) => ({ ...fault, address: undefined })),
    [{ kind: 'reversed', what: 'warp barrier', earlier: first + 3, later: first + 1, address: undefined }],
  );
  // Without the barrier ptxas may exchange them.
  assert.deepEqual(faultsOf(turned.replace(barrier, ''), bytes), []);
});

test('an asynchronous copy that is dropped is found', { skip: withoutNvcc }, () => {
  const text = sassOf(
    'cp.async.ca.shared.global [%r3], [%d1], 4;',
    'cp.async.wait_all;',
    'ld.shared.u32 %r4, [%r3];',
    'st.global.u32 [%d1], %r4;',
  );
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const cubin = readCubin(bytes);
  assert.ok(!('problem' in cubin));
  const [kernel] = cubin.functions;
  const copy = instructionsOf(kernel!, versionOf(cubin.arch)).find(({ opcode }) => opcode?.mnemonic === 'LDGSTS')!;
  const at = kernel!.fileOffset + copy.address - kernel!.start;
  // A NOP with the same scheduling.
  bytes.set([0x18, 0x79], at);
  bytes.fill(0, at + 2, at + 13);
  assert.deepEqual(faultsOf(text, bytes), [{ kind: 'missing', what: 'copy', ptxLine: first }]);
});

test('a spilled register whose store is dropped is found', { skip: withoutNvcc }, () => {
  const words = Array.from({ length: 60 }, (_, index) => index);
  const text = sassOf(
    '.reg .b32 %w<60>;',
    ...words.map((index) => `ld.global.u32 %w${index}, [%d1+${4096 * index}];`),
    'bar.sync 0;',
    ...words.map(
      (index) => `mad.lo.u32 %r5, %w${index}, %w${59 - index}, %w${(7 * index) % 60}; st.global.u32 [%d1+${4096 * index}], %r5;`,
    ),
  ).replace('(.param .u64 p)', '(.param .u64 p) .maxntid 1024, 1, 1 .maxnreg 32');
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const cubin = readCubin(bytes);
  assert.ok(!('problem' in cubin));
  const [kernel] = cubin.functions;
  const all = instructionsOf(kernel!, versionOf(cubin.arch)).filter(({ opcode }) => opcode?.mnemonic === 'STL');
  // A place that is stored twice may have been stored by the other one.
  const placeOf = (one: SassInstruction): number => wordBits(one, 40, 24);
  const stores = all.filter((one) => all.every((other) => other === one || placeOf(other) !== placeOf(one)));
  assert.ok(stores.length > 0, all.map(placeOf).join());
  for (const { address } of stores) {
    const damaged = bytes.slice();
    const at = kernel!.fileOffset + address - kernel!.start;
    damaged.set([0x18, 0x79], at);
    damaged.fill(0, at + 2, at + 13);
    assert.ok(faultsOf(text, damaged).some(({ kind }) => kind === 'unstored'));
  }
});

/** The code of the kernel with the instructions that `choose` picks overwritten by NOPs of the same scheduling. */
function without(bytes: Uint8Array, choose: (one: SassInstruction) => boolean): Uint8Array[] {
  const cubin = readCubin(bytes);
  assert.ok(!('problem' in cubin));
  const [kernel] = cubin.functions;
  const chosen = instructionsOf(kernel!, versionOf(cubin.arch)).filter(choose);
  assert.ok(chosen.length > 0);
  return chosen.map(({ address }) => {
    const copy = bytes.slice();
    const at = kernel!.fileOffset + address - kernel!.start;
    copy.set([0x18, (copy[at + 1]! & 0xf0) | 9], at);
    copy.fill(0, at + 2, at + 13);
    return copy;
  });
}
const isNamed =
  (...names: readonly string[]) =>
  ({ opcode }: SassInstruction): boolean =>
    names.includes(opcode?.mnemonic ?? '');

test('dropped waits for copies, ends of groups, and waits for fewer groups are found', { skip: withoutNvcc }, () => {
  const text = sassOf(
    'cp.async.ca.shared.global [%r3], [%d1], 4;',
    'cp.async.commit_group;',
    'cp.async.ca.shared.global [%r3+256], [%d1+256], 4;',
    'cp.async.commit_group;',
    'cp.async.wait_group 1;',
    'ld.shared.u32 %r4, [%r3];',
    'cp.async.wait_group 0;',
    'ld.shared.u32 %r5, [%r3+256];',
    'st.global.v2.u32 [%d1], {%r4, %r5};',
  );
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const isWait = (one: SassInstruction): boolean => isNamed('DEPBAR')(one) && wordBits(one, 44, 3) === 0;
  for (const [what, choose, lines] of [
    ['wait', isWait, [first + 4, first + 6]],
    ['group', isNamed('LDGDEPBAR'), [first + 1, first + 3]],
  ] as const) {
    const faults = without(bytes, choose).map((one) => faultsOf(text, one).filter(({ kind }) => kind === 'missing'));
    assert.deepEqual(
      faults,
      lines.map((ptxLine) => [{ kind: 'missing', what, ptxLine }]),
    );
  }
  // PTX that lets no group be unfinished, compared with code that lets one.
  const stricter = text.replace('wait_group 1', 'wait_group 0');
  assert.deepEqual(faultsOf(stricter, bytes), [{ kind: 'missing', what: 'wait', ptxLine: first + 4 }]);
});

test('a fence of a narrower scope than in its PTX, and that of a release, are found', { skip: withoutNvcc }, () => {
  const text = sassOf('st.global.u32 [%d1], %r1;', 'fence.acq_rel.cta;', 'ld.global.u32 %r4, [%d1+4];', 'st.global.u32 [%d1+8], %r4;');
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  for (const wider of ['fence.acq_rel.gpu', 'fence.sc.cta']) {
    const faults = faultsOf(text.replace('fence.acq_rel.cta', wider), bytes);
    assert.deepEqual(faults[0], { kind: 'missing', what: 'fence', ptxLine: first + 1 }, wider);
  }
  const released = sassOf(
    'st.global.u32 [%d1], %r1;',
    'atom.add.release.gpu.global.u32 %r4, [%d1+64], %r1;',
    'st.global.u32 [%d1+8], %r4;',
  );
  const code = cubinOf(released);
  assert.deepEqual(faultsOf(released, code), []);
  for (const one of without(code, isNamed('MEMBAR'))) assert.ok(faultsOf(released, one).some(({ what }) => what === 'fence'));
});

test('each copy of an atomic, per warp or per lane, is required', { skip: withoutNvcc }, () => {
  const text = sassOf('atom.add.global.u32 %r4, [%d1+64], %r1;', 'st.global.u32 [%d1+8], %r4;').replaceAll('%d1, %d1, %d2', '%d1, %d1, 16');
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  for (const one of without(bytes, isNamed('ATOMG', 'ATOM', 'RED'))) assert.ok(faultsOf(text, one).length > 0);
});

test('a store in a separate block is found by the predicate that controls it', { skip: withoutNvcc }, () => {
  const text = sassOf(
    'setp.gt.u32 %p1, %r1, 31;',
    '@%p1 bra AFTER;',
    'st.shared.u32 [%r3], 0;',
    'AFTER: bar.sync 0;',
    'ld.shared.u32 %r4, [%r3+4];',
    '@%p1 add.u32 %r4, %r4, 7;',
    'st.global.u32 [%d1], %r4;',
  ).replace('.reg .b32', '.reg .pred %p<3>; .reg .b32');
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  for (const one of without(bytes, isNamed('STS'))) {
    assert.ok(faultsOf(text, one).some((fault) => fault.kind === 'missing' && fault.what === 'store'));
  }
});

test('code used only by a dropped store is found; a store that is overwritten is not missed', { skip: withoutNvcc }, () => {
  const round = (step: number): string[] => [
    `ld.global.u32 %r4, [%d1+${4096 * step}];`,
    'add.u32 %r5, %r4, %r1;',
    `st.global.u32 [%d1+${4096 * step + 128}], %r5;`,
  ];
  const text = sassOf(...round(1), ...round(2));
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  for (const one of without(bytes, isNamed('STG'))) assert.ok(faultsOf(text, one).some(({ kind }) => kind === 'unused'));
  const twice = sassOf('st.global.u32 [%d1], %r1;', 'st.global.u32 [%d1], %r2;');
  assert.deepEqual(faultsOf(twice, cubinOf(twice)), []);
  // The second one replaces the first only if no other thread may read between them.
  const looked = sassOf('st.global.u32 [%d1], %r1;', 'bar.sync 0; st.global.u32 [%d1], %r2;');
  assert.ok(faultsOf(looked, cubinOf(twice)).some(({ kind }) => kind === 'missing'));
});

test('an infeasible path around all iterations of an unrolled loop is not a fault', { skip: withoutNvcc }, () => {
  const rounds = (...body: readonly string[]): string[] => [
    'ld.param.u32 %r6, [n];',
    'mov.u32 %r7, 0; mov.f32 %f1, 0f00000000;',
    'st.shared.u32 [%r3], %r1;',
    'AGAIN:',
    ...body,
    'ld.global.f32 %f2, [%d1]; ld.global.f32 %f3, [%d1+4096];',
    'fma.rn.f32 %f1, %f2, %f3, %f1; add.s64 %d1, %d1, 4;',
    'add.s32 %r7, %r7, 1;',
    'setp.lt.s32 %p1, %r7, %r6;',
    '@%p1 bra AGAIN;',
    'ld.shared.u32 %r4, [%r3+4];',
    'st.global.u32 [%d1], %r4;',
    'st.global.f32 [%d1+4], %f1;',
  ];
  for (const step of ['bar.sync 0;', 'st.global.u32 [%d1+128], %r7;']) {
    const text = sassOf(...rounds(step))
      .replace('.u64 p)', '.u64 p, .param .u32 n)')
      .replace('.reg .b32', '.reg .pred %p<3>; .reg .f32 %f<4>; .reg .b32');
    assert.deepEqual(faultsOf(text, cubinOf(text)), [], step);
  }
});

test('parameters that a computed address reads, and those of kernels that have thousands, are not a fault', { skip: withoutNvcc }, () => {
  const kernelWith = (bytes: number, ...body: readonly string[]): string => `.version 8.6
.target sm_80
.address_size 64
.visible .entry k(.param .align 4 .b8 table[${bytes}], .param .u64 p) {
.reg .b32 %r<8>; .reg .b64 %d<4>;
ld.param.u64 %d1, [p]; cvta.to.global.u64 %d1, %d1;
${body.join('\n')}
st.global.u32 [%d1], %r3;
ret;
}
`;
  const computed = ['mov.b64 %d2, table;', 'ld.param.u32 %r1, [%d2];', 'ld.param.u32 %r2, [%d2+4];', 'add.s32 %r3, %r1, %r2;'];
  const named = ['ld.param.u32 %r1, [table];', 'ld.param.u32 %r2, [table+8000];', 'add.s32 %r3, %r1, %r2;'];
  for (const text of [kernelWith(1024, ...computed), kernelWith(16000, ...named)]) assert.deepEqual(faultsOf(text, cubinOf(text)), []);
});

test('a guarded store that all paths of the PTX execute is found', { skip: withoutNvcc }, () => {
  const text = sassOf(
    'st.shared.u32 [%r3], %r1;',
    'bar.sync 0;',
    'setp.gt.u32 %p1, %r1, 31;',
    '@%p1 bra AFTER;',
    'ld.shared.u32 %r4, [%r3+4];',
    'st.shared.u32 [%r3], %r4;',
    'AFTER: bar.sync 0;',
    'ld.shared.u32 %r5, [%r3+8];',
    'st.global.u32 [%d1], %r5;',
  ).replace('.reg .b32', '.reg .pred %p<3>; .reg .b32');
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  // PTX in which both stores are executed on all paths.
  const always = text.replace('@%p1 bra AFTER;', '');
  assert.ok(faultsOf(always, bytes).some((fault) => fault.kind === 'skipped' && fault.ptxLine === first + 5));
});

test('an arrival at an mbarrier, and the fence before it, are required', { skip: withoutNvcc }, () => {
  const text = sassOf(
    'mbarrier.init.shared.b64 [%r3], 64;',
    'bar.sync 0;',
    'st.shared.u32 [%r3+512], %r1;',
    'mbarrier.arrive.shared.b64 %d3, [%r3];',
    'ld.shared.u32 %r4, [%r3+516];',
    'st.global.u32 [%d1], %r4;',
    'st.global.u64 [%d1+64], %d3;',
  );
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  for (const one of without(bytes, isNamed('MEMBAR'))) assert.ok(faultsOf(text, one).some(({ what }) => what === 'fence'));
  for (const [index, one] of without(bytes, ({ opcode }) => opcode?.kind === 'atomic').entries()) {
    assert.ok(
      faultsOf(text, one).some(({ what }) => what === 'mbarrier'),
      String(index),
    );
  }
});

test('stores of one address that differ in their guards, or in their widths, are distinguished', { skip: withoutNvcc }, () => {
  const header = '.reg .pred %p<3>; .reg .b32';
  const guarded = sassOf(
    'st.shared.u32 [%r3], %r1; bar.sync 0;',
    'setp.gt.u32 %p1, %r1, 31;',
    '@%p1 bra SECOND;',
    'ld.shared.u32 %r4, [%r3+4];',
    'st.shared.u32 [%r3], %r4;',
    'SECOND: bar.sync 0;',
    'setp.gt.u32 %p2, %r1, 63;',
    '@%p2 bra AFTER;',
    'ld.shared.u32 %r4, [%r3+8];',
    'st.shared.u32 [%r3], %r4;',
    'AFTER: bar.sync 0;',
    'ld.shared.u32 %r5, [%r3+8];',
    'st.global.u32 [%d1], %r5;',
  ).replace('.reg .b32', header);
  const wide = sassOf(
    'st.shared.u32 [%r3], %r1;',
    'bar.sync 0;',
    'st.shared.u8 [%r3+4], %r1;',
    'bar.sync 0; ld.shared.u32 %r5, [%r3+8]; st.global.u32 [%d1], %r5;',
  );
  for (const [text, count] of [
    [guarded, 3],
    [wide, 2],
  ] as const) {
    const bytes = cubinOf(text);
    assert.deepEqual(faultsOf(text, bytes), []);
    const cubin = readCubin(bytes);
    assert.ok(!('problem' in cubin));
    const [kernel] = cubin.functions;
    const stores = instructionsOf(kernel!, versionOf(cubin.arch)).filter(isNamed('STS'));
    assert.equal(stores.length, count);
    const [one, other] = stores.slice(-2).map(({ address }) => kernel!.fileOffset + address - kernel!.start);
    const copy = bytes.slice();
    copy.set(bytes.subarray(one, one! + 16), other);
    copy.set(bytes.subarray(other, other! + 16), one);
    assert.ok(faultsOf(text, copy).some(({ kind }) => kind === 'foreign'));
  }
});

test('a load of another word is found by its address, however that is computed', { skip: withoutNvcc }, () => {
  const text = sassOf(
    'xor.b32 %r6, %r2, 64; mov.u32 %r7, s; add.s32 %r6, %r6, %r7;',
    'st.shared.u32 [%r3], %r1;',
    'bar.sync 0;',
    'ld.shared.u32 %r4, [%r6];',
    'bar.sync 0;',
    'st.shared.u32 [%r3], %r4;',
    'bar.sync 0;',
    'xor.b32 %r6, %r2, 128; add.s32 %r6, %r6, %r7; ld.shared.u32 %r4, [%r6];',
    'st.global.u32 [%d1], %r4;',
  );
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  // The same code, compared with PTX with other words.
  for (const [word, other] of [
    ['64', '32'],
    ['128', '96'],
    ['%r1, 2', '%r1, 3'],
  ] as const) {
    const changed = faultsOf(text.replace(`, ${word};`, `, ${other};`), bytes);
    assert.ok(
      changed.some((fault) => fault.kind === 'foreign' && fault.what === 'address'),
      word,
    );
  }
});

test('a store is reported as missing if a later load may read the same word', { skip: withoutNvcc }, () => {
  const lines = [
    'ld.global.u32 %r5, [%d1+4096]; mul.wide.u32 %d3, %r5, 4; add.s64 %d3, %d1, %d3;',
    'st.global.u32 [%d1], %r1;',
    'ld.global.u32 %r4, [%d3];',
    'st.global.u32 [%d1], %r4;',
  ];
  const text = sassOf(...lines);
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const found = without(bytes, isNamed('STG')).map((one) =>
    faultsOf(text, one).flatMap((fault) => (fault.kind === 'missing' ? [fault.ptxLine] : [])),
  );
  assert.deepEqual(found, [[first + 1], [first + 3]]);
  // If some path does not store again, the first store is required; ptxas removes it if all do.
  const guarded = sassOf('setp.lt.u32 %p1, %r1, 5;', lines[1]!, '@%p1 st.global.u32 [%d1], %r2;').replace(
    '.reg .b32',
    '.reg .pred %p<3>; .reg .b32',
  );
  const code = cubinOf(guarded);
  assert.deepEqual(faultsOf(guarded, code), []);
  const [one] = without(code, isNamed('STG'));
  assert.ok(faultsOf(guarded, one!).some((fault) => fault.kind === 'missing' && fault.ptxLine === first + 1));
});

test('a store at a join is required if a block before it left code', { skip: withoutNvcc }, () => {
  const text = sassOf(
    'setp.lt.u32 %p1, %r1, 40;',
    '@!%p1 bra END;',
    'setp.eq.u32 %p2, %r1, 7;',
    '@%p2 bra JOIN;',
    'st.global.u32 [%d1+512], %r1;',
    'JOIN: st.shared.u32 [%r3], 0;',
    'END: bar.sync 0;',
    'ld.shared.u32 %r4, [%r3+4];',
    'st.global.u32 [%d1], %r4;',
  ).replace('.reg .b32', '.reg .pred %p<3>; .reg .b32');
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  for (const one of without(bytes, isNamed('STS'))) assert.ok(faultsOf(text, one).some(({ kind }) => kind === 'missing'));
});

test('the arrival of asynchronous copies is in the pending count before it occurs', { skip: withoutNvcc }, () => {
  const text = sassOf(
    'mbarrier.init.shared.b64 [%r3], 64;',
    'bar.sync 0;',
    'cp.async.ca.shared.global [%r3+512], [%d1], 4;',
    'cp.async.mbarrier.arrive.shared.b64 [%r3];',
    'mbarrier.arrive.shared.b64 %d3, [%r3];',
    'st.global.u64 [%d1+64], %d3;',
  );
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const ofArrival = without(bytes, (one) => isNamed('ARRIVES')(one) || (isNamed('ATOMS')(one) && one.code === 0x38c));
  assert.equal(ofArrival.length, 2);
  for (const one of ofArrival)
    assert.deepEqual(
      faultsOf(text, one).filter(({ what }) => what === 'mbarrier'),
      [{ kind: 'missing', what: 'mbarrier', ptxLine: first + 3 }],
    );
});

test('findings that depend on observed behaviour of ptxas are notices', () => {
  const kernel = lowerModule(parsePtx(sassOf('st.global.u32 [%d1], %r1;')).module).kernels[0]!;
  const severityOf = (fault: TranslationFault): string =>
    translationFinding({ kernel: 'k', file: 'k.cu', arch: 'sm_80' }, kernel, fault).severity;
  assert.equal(severityOf({ kind: 'missing', what: 'store', ptxLine: first }), 'error');
  assert.equal(severityOf({ kind: 'skipped', what: 'effect', ptxLine: first }), 'notice');
  assert.equal(severityOf({ kind: 'unused', what: 'result', ptxLine: first, address: 0 }), 'notice');
  assert.equal(severityOf({ kind: 'foreign', what: 'data', isCertain: true, ptxLine: first, address: 0 }), 'error');
  assert.equal(severityOf({ kind: 'foreign', what: 'data', isCertain: false, ptxLine: first, address: 0 }), 'notice');
});

test('each copy of a store that an unrolled loop lost is found', { skip: withoutNvcc }, () => {
  const text = sassOf(
    '.reg .f32 %f<4>; .reg .pred %p<2>;',
    'mov.f32 %f1, 0f3F800000; ld.param.u64 %d3, [p]; cvt.u32.u64 %r5, %d3;',
    'LOOP: ld.global.f32 %f2, [%d1+4];',
    'add.f32 %f1, %f1, %f2;',
    'st.global.f32 [%d1], %f1;',
    'mul.f32 %f1, %f1, 0f3F000000;',
    'st.global.f32 [%d1+4096], %f1;',
    'add.s32 %r5, %r5, -1;',
    'setp.gt.s32 %p1, %r5, 0;',
    '@%p1 bra LOOP;',
  );
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const edited = without(bytes, ({ opcode }) => opcode?.mnemonic === 'STG');
  assert.ok(edited.length > 4);
  for (const one of edited) assert.ok(faultsOf(text, one).length > 0);
});

test('a store without its guard is found, and one of a value that its PTX does not load', { skip: withoutNvcc }, () => {
  const text = sassOf(
    '.reg .pred %p<2>;',
    'ld.global.u32 %r4, [%d1];',
    'setp.gt.u32 %p1, %r1, 15;',
    '@%p1 bra NEXT;',
    'st.shared.u32 [%r3], %r4;',
    'NEXT: bar.sync 0;',
    'ld.shared.u32 %r5, [%r3+4];',
    'st.global.u32 [%d1], %r5;',
  );
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const cubin = readCubin(bytes);
  assert.ok(!('problem' in cubin));
  const [kernel] = cubin.functions;
  const store = instructionsOf(kernel!, versionOf(cubin.arch)).find(({ opcode }) => opcode?.mnemonic === 'STS')!;
  const at = kernel!.fileOffset + store.address - kernel!.start;
  assert.notEqual(wordBits(store, 12, 4), 7);
  const always = bytes.slice();
  always[at + 1] = (always[at + 1]! & 0x0f) | 0x70;
  assert.deepEqual(
    faultsOf(text, always).map(({ kind, what }) => ({ kind, what })),
    [{ kind: 'foreign', what: 'guard' }],
  );
  // It stores the thread's address instead: bits 32 to 39 name the register.
  const other = bytes.slice();
  other[at + 4] = wordBits(store, 24, 8);
  assert.ok(faultsOf(text, other).some(({ kind, what }) => kind === 'foreign' && what === 'data'));
  // The load after the barrier is executed under `@!PT`: never.
  const load = instructionsOf(kernel!, versionOf(cubin.arch)).find(({ opcode }) => opcode?.mnemonic === 'LDS')!;
  const idle = bytes.slice();
  idle[kernel!.fileOffset + load.address - kernel!.start + 1]! |= 0xf0;
  assert.ok(faultsOf(text, idle).some((fault) => fault.kind === 'foreign' && fault.ptxLine === first + 6));
});

test('a dropped store is found if other threads read it after a warp barrier, or if a flag controls it', { skip: withoutNvcc }, () => {
  const beforeWarp = sassOf(
    'st.shared.u32 [%r3], %r1;',
    'bar.warp.sync 0xffffffff;',
    'ld.shared.u32 %r4, [%r3+4];',
    'bar.warp.sync 0xffffffff;',
    'st.shared.u32 [%r3], %r4;',
    'bar.sync 0;',
    'ld.shared.u32 %r5, [%r3+8];',
    'st.global.u32 [%d1], %r5;',
  );
  const byFlag = sassOf(
    '.reg .pred %p<4>;',
    'mov.u32 %r4, 0; mov.pred %p2, 0;',
    'setp.gt.u32 %p1, %r1, 15;',
    '@%p1 bra JOIN;',
    'ld.shared.u32 %r4, [%r3+4];',
    'setp.eq.u32 %p3, %r4, 0;',
    '@%p3 bra JOIN;',
    'mov.pred %p2, -1;',
    'JOIN: bar.sync 0;',
    '@!%p2 bra LAST;',
    'st.shared.u32 [%r3], %r4;',
    'LAST: bar.sync 0;',
    'ld.shared.u32 %r5, [%r3+8];',
    'st.global.u32 [%d1], %r5;',
  );
  for (const text of [beforeWarp, byFlag]) {
    const bytes = cubinOf(text);
    assert.deepEqual(faultsOf(text, bytes), []);
    const edited = without(bytes, ({ opcode }) => opcode?.mnemonic === 'STS');
    for (const one of edited) assert.ok(faultsOf(text, one).length > 0);
  }
});

test('stores whose addresses are equal only in the first warp are distinguished', { skip: withoutNvcc }, () => {
  const text = sassOf(
    'and.b32 %r4, %r1, 31; sub.s32 %r4, %r2, %r4; mov.u32 %r6, s; add.s32 %r4, %r4, %r6;',
    'and.b32 %r5, %r1, 127; sub.s32 %r5, %r2, %r5; add.s32 %r5, %r5, %r6;',
    'st.shared.u8 [%r4], %r1;',
    'bar.sync 0;',
    'st.shared.u8 [%r5], %r1;',
    'bar.sync 0;',
    'ld.shared.u32 %r7, [%r3+8];',
    'st.global.u32 [%d1], %r7;',
  );
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const cubin = readCubin(bytes);
  assert.ok(!('problem' in cubin));
  const [kernel] = cubin.functions;
  const stores = instructionsOf(kernel!, versionOf(cubin.arch)).filter(isNamed('STS'));
  assert.equal(stores.length, 2);
  const [one, other] = stores.map(({ address }) => kernel!.fileOffset + address - kernel!.start);
  const exchanged = bytes.slice();
  exchanged.set(bytes.subarray(other, other! + 16), one);
  exchanged.set(bytes.subarray(one, one! + 16), other);
  assert.ok(faultsOf(text, exchanged).some(({ kind, what }) => kind === 'foreign' && what === 'address'));
});

/** The code with two instructions exchanged. */
function exchanged(bytes: Uint8Array, choose: (one: SassInstruction) => boolean, left: number, right: number): Uint8Array {
  const cubin = readCubin(bytes);
  assert.ok(!('problem' in cubin));
  const [kernel] = cubin.functions;
  const places = instructionsOf(kernel!, versionOf(cubin.arch))
    .filter(choose)
    .map(({ address }) => kernel!.fileOffset + address - kernel!.start);
  const copy = bytes.slice();
  copy.set(bytes.subarray(places[left], places[left]! + 16), places[right]);
  copy.set(bytes.subarray(places[right], places[right]! + 16), places[left]);
  return copy;
}

test('an access weaker than in its PTX, or of a narrower scope, is found', { skip: withoutNvcc }, () => {
  const text = sassOf('st.global.u32 [%d1], %r1;', 'bar.sync 0;', 'st.volatile.global.u32 [%d1+4], %r1;');
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const weaker = (changed: string, code = bytes): readonly number[] =>
    faultsOf(changed, code).flatMap((fault) => (fault.kind === 'weaker' ? [fault.ptxLine] : []));
  // The same code, compared with PTX that has the two exchanged.
  assert.deepEqual(weaker(text.replace('st.volatile', 'st').replace('st.global', 'st.volatile.global')), [first]);
  for (const [made, asked] of [
    ['ld.relaxed.cta', 'ld.relaxed.gpu'],
    ['ld.relaxed.gpu', 'ld.acquire.sys'],
  ] as const) {
    const loading = sassOf(`${made}.global.u32 %r4, [%d1];`, 'st.global.u32 [%d1+4], %r4;');
    const code = cubinOf(loading);
    assert.deepEqual(faultsOf(loading, code), [], made);
    assert.deepEqual(weaker(loading.replace(made, asked), code), [first], asked);
  }
  const counting = sassOf('red.relaxed.cta.global.add.u32 [%d1], %r1;', 'st.global.u32 [%d1+64], %r1;');
  const code = cubinOf(counting);
  assert.deepEqual(faultsOf(counting, code), []);
  assert.deepEqual(weaker(counting.replace('relaxed.cta', 'relaxed.gpu'), code), [first]);
});

test('a partially stored matrix fragment is found', { skip: withoutNvcc }, () => {
  const words = Array.from({ length: 8 }, (_, index) => `%w${index}`);
  const text = sassOf(
    '.reg .b32 %w<8>;',
    ...words.map((word, index) => `ld.global.u32 ${word}, [%d1+${64 * index}];`),
    'mov.u32 %r4, s;',
    `wmma.store.d.sync.aligned.row.m16n16k16.shared.s32 [%r4], {${words.join(', ')}};`,
    'bar.sync 0;',
    'ld.shared.u32 %r5, [%r3+4];',
    'st.global.u32 [%d1], %r5;',
  );
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const parts = without(bytes, isNamed('STS'));
  assert.ok(parts.length > 1);
  const missing = { kind: 'missing', what: 'store', ptxLine: first + 10 };
  for (const one of parts)
    assert.deepEqual(
      faultsOf(text, one).find(({ kind }) => kind === 'missing'),
      missing,
    );
  // One that is exchanged with the barrier after it.
  const isEither = (one: SassInstruction): boolean => isNamed('STS', 'BAR')(one);
  assert.ok(faultsOf(text, exchanged(bytes, isEither, parts.length - 1, parts.length)).length > 0);
});

test('copies of stores whose address is the same in each iteration are distinguished', { skip: withoutNvcc }, () => {
  const text = sassOf(
    '.reg .f32 %f<4>; .reg .pred %p<2>;',
    'ld.param.u64 %d3, [p]; cvt.u32.u64 %r5, %d3; xor.b32 %r6, %r2, 64; mov.u32 %r7, s; add.s32 %r6, %r6, %r7;',
    'LOOP: ld.global.f32 %f1, [%d1+4096];',
    'st.shared.f32 [%r3], %f1;',
    'bar.sync 0;',
    'st.shared.f32 [%r6+512], %f1;',
    'add.s64 %d1, %d1, 4;',
    'add.s32 %r5, %r5, -1;',
    'setp.gt.s32 %p1, %r5, 0;',
    '@%p1 bra LOOP;',
    'bar.sync 0;',
    'ld.shared.u32 %r4, [%r3+4]; st.global.u32 [%d1], %r4;',
  );
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  const [stores] = [without(bytes, isNamed('STS')).length];
  assert.ok(stores > 2 && stores % 2 === 0, String(stores));
  for (let at = 0; at + 1 < stores; at++) {
    const faults = faultsOf(text, exchanged(bytes, isNamed('STS'), at, at + 1));
    assert.ok(
      faults.some(({ kind, what }) => kind === 'foreign' && what === 'address'),
      String(at),
    );
  }
});

test('paths after a call of vprintf keep their stores', { skip: withoutNvcc }, () => {
  const printing = (callee: string): string =>
    sassOf(
      '.reg .pred %p<2>;',
      'setp.gt.u32 %p1, %r1, 15;',
      '@%p1 bra NEXT;',
      '{ .param .b64 a; st.param.b64 [a], %d1; .param .b64 b; st.param.b64 [b], %d2; .param .b32 c;',
      `call.uni (c), ${callee}, (a, b); }`,
      'NEXT: st.shared.u32 [%r3], %r1;',
      'bar.sync 0;',
      'ld.shared.u32 %r5, [%r3+4];',
      'st.global.u32 [%d1], %r5;',
    ).replace('.visible', `.extern .func (.param .b32 r) ${callee} (.param .b64 x, .param .b64 y);\n.visible`);
  // The declaration is one more line.
  const text = printing('vprintf');
  const bytes = cubinOf(text);
  assert.deepEqual(faultsOf(text, bytes), []);
  // PTX in which the store has a copy on each path is compared with code in which one path omits it.
  const guarded = text.replace('bra NEXT;', 'bra SYNC;').replace('bar.sync', 'SYNC: bar.sync');
  const code = cubinOf(guarded);
  assert.deepEqual(faultsOf(guarded, code), []);
  assert.ok(faultsOf(text, code).some((fault) => fault.kind === 'skipped' && fault.ptxLine === first + 6));
});

test('an address that lacks the thread index added in the PTX is found', { skip: withoutNvcc }, () => {
  const textWith = (added: string, threads = ''): string =>
    sassOf(
      '.reg .pred %p<2>;',
      'ld.param.u32 %r5, [n]; ld.global.u32 %r4, [%d1]; setp.gt.u32 %p1, %r4, 15;',
      'and.b32 %r6, %r5, 60;',
      '@%p1 bra JOIN;',
      'and.b32 %r6, %r5, 124; st.shared.u32 [%r3+512], %r1;',
      'JOIN: mov.u32 %r7, s; add.s32 %r7, %r7, %r6;',
      `add.s32 %r7, %r7, ${added};`,
      'st.shared.u32 [%r7], %r4;',
      'bar.sync 0;',
      'ld.shared.u32 %r5, [%r3+4]; st.global.u32 [%d1], %r5;',
    ).replace('.u64 p)', `.u64 p, .param .u32 n) ${threads}`);
  for (const text of [textWith('%r2'), textWith('0'), textWith('%r2', '.reqntid 1, 1, 1')])
    assert.deepEqual(faultsOf(text, cubinOf(text)), [], text);
  const faults = faultsOf(textWith('%r2'), cubinOf(textWith('0')));
  assert.deepEqual(
    faults.map((fault) => ({ kind: fault.kind, what: fault.what, at: 'ptxLine' in fault ? fault.ptxLine : 0 })),
    [{ kind: 'foreign', what: 'address', at: first + 7 }],
  );
});
