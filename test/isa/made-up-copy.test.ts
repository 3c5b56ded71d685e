/** A made-up asynchronous copy, which only rows of the instruction table describe, is treated soundly everywhere. */
import { madeUpCopies } from './made-up-rows.ts';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { expressionText } from '../../src/cost/expressions/expression-text.ts';
import { boundKernel } from '../../src/cost/kernel-cost.ts';
import { classify } from '../../src/idempotency/classify.ts';
import { LaunchCounters } from '../../src/interpreter/counters.ts';
import { verifyKernel } from '../ir/form/verify.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { seededRandom } from '../../src/base/random.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { readCubin } from '../../src/sass/cubin/cubin.ts';
import { validateTranslation } from '../../src/sass/translation/translation.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import type { RunResult } from '../../src/interpreter/core/run-result.ts';
import { checkKernel } from '../../src/check/check-kernel.ts';
import { check, closeSolver, kernelOf, requestFor, verdicts } from '../check/kernel-text.ts';
import { kernel, launch, raceTexts, words } from '../interpreter/core/launch-text.ts';

after(closeSolver);

/** `%d11` is the thread's word of 8 bytes of `a`, `%d12` its word of shared memory, which contains 8 tid.x + 1. */
const address = 'shl.b32 %r10, %r0, 3; cvt.u64.u32 %d10, %r10; add.s64 %d11, %d1, %d10; add.s64 %d12, %d3, %d10;';
const start = `${address}
  add.s64 %d14, %d10, 1; st.shared.u64 [%d12], %d14;`;
const shared = '.shared .align 16 .b8 s[4096];';
const copy = 'haul.async.global.shared [%d11], [%d12], 8;';
const commit = 'haul.commit_group;';
const wait = 'haul.wait_group 0;';
const own = 'ld.global.u64 %d13, [%d11];';
const overwrite = 'st.shared.u64 [%d12], %d10;';
/** Reads the word of another thread of the block, possibly in the other warp. */
const other = 'xor.b32 %r11, %r10, 256; cvt.u64.u32 %d15, %r11; add.s64 %d16, %d1, %d15; ld.global.u64 %d13, [%d16];';

/** Bodies after `start`; `race`: a thread does not wait for its copy. */
const bodies: readonly (readonly [body: string, verdict: 'proved' | 'race', race?: string])[] = [
  [`${copy} ${commit} ${wait} ${own} ${overwrite}`, 'proved'],
  [`${copy} haul.wait_all; ${own}`, 'proved'],
  [`${copy} ${commit} ${wait} bar.sync 0; ${other}`, 'proved'],
  [`${copy} ${own}`, 'race', 'write-read global'],
  [`${copy} ${wait} ${own}`, 'race', 'write-read global'],
  [`${copy} ${commit} haul.wait_group 1; ${own}`, 'race', 'write-read global'],
  // Waits for copies of other groups
  [`${copy} ${commit} cp.async.wait_all; ${own}`, 'race', 'write-read global'],
  [`${copy} ${commit} cp.async.wait_all; cp.async.bulk.wait_group 0; drag.wait_all; ${own}`, 'race', 'write-read global'],
  [`${copy} ${commit} bar.sync 0; ${other}`, 'race', 'write-read global'],
  [`${copy} ${overwrite}`, 'race', 'read-write shared'],
  [`haul.async.global.shared [%d1], [%d12], 8; haul.wait_all;`, 'race', 'write-write global'],
];

test('its instructions are lowered to valid IR', () => {
  const code = kernelOf(`${start} ${copy} ${commit} ${wait} ${own}`);
  verifyKernel(code);
  const { blocks, unsupported } = code;
  assert.deepEqual(unsupported, []);
  const kinds = blocks.flatMap(({ instructions }) => instructions.map(({ operation }) => operation.effect.kind));
  assert.deepEqual(
    kinds.filter((kind) => !/^(pure|load|store)$/.test(kind)),
    ['copy', 'group', 'group'],
  );
});

test('proofs order its accesses by its waits, and by no others', async () => {
  for (const [body, verdict] of bodies) {
    if (/bulk|drag/.test(body)) continue;
    assert.equal(await verdicts(`${start} ${body}`), `${verdict}/proved`, body);
  }
});

test('proofs do not follow copies through the asynchronous proxy, nor waits for them', async () => {
  for (const body of [copy, commit, 'haul.wait_all;'].map((text) => text.replace(madeUpCopies.generic, madeUpCopies.async))) {
    const { race } = await check(`${start} ${body}`);
    assert.equal(race.verdict, 'unknown', body);
  }
});

test('all back ends execute it, and find its races', () => {
  for (const [body, verdict, race] of bodies) {
    const code = kernel(`mov.u64 %d3, s; ${start} ${body}`, shared);
    for (const backend of ['reference', 'javascript', 'webassembly'] as const) {
      const result = launch(code, { backend, block: [64, 1, 1] });
      assert.deepEqual(result.faults, [], body);
      const races = raceTexts(result);
      assert.equal(races.length > 0, verdict === 'race', `${backend}: ${body}`);
      if (race === undefined) assert.deepEqual(words(result, 0, 6), [1, 0, 9, 0, 17, 0], `${backend}: ${body}`);
      else assert.ok(races[0]!.startsWith(race), `${races[0]} by ${backend}: ${body}`);
    }
  }
});

test('one that completes at an mbarrier is executed, and not followed by proofs', async () => {
  const lift = (wait: string): string => `mov.u64 %d17, m; setp.ne.u32 %p1, %r0, 0; @%p1 bra READY;
    mbarrier.init.shared.b64 [%d17], 1; mbarrier.arrive.expect_tx.shared.b64 %d18, [%d17], 8;
    lift.async.shared.global [%d3], [%d2], 8, [%d17]; READY: bar.sync 0; ${wait} ld.shared.u64 %d13, [%d3]; st.global.u64 [%d11], %d13;`;
  const wait = 'WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [%d17], 0; @!%p2 bra WAIT;';
  const declarations = `${shared} .shared .align 8 .b64 m;`;
  for (const backend of ['reference', 'javascript', 'webassembly'] as const) {
    const b = { initial: Uint8Array.of(7) };
    const run = (text: string): RunResult => launch(kernel(`mov.u64 %d3, s; ${address} ${lift(text)}`, declarations), { backend, b });
    assert.deepEqual(raceTexts(run(wait)), [], backend);
    assert.deepEqual(words(run(wait), 0, 4), [7, 0, 7, 0], backend);
    assert.deepEqual(raceTexts(run('')), ['write-read shared s+0'], backend);
  }
  const { race } = await checkKernel(requestFor(kernelOf(`${address} ${lift(wait)}`, '.shared .align 8 .b64 m;')));
  assert.equal(race.verdict, 'unknown');
});

/** A random loop of three iterations over copies, waits, barriers and other accesses; at random, two stages of memory. */
function randomBody(random: (below: number) => number): string {
  const choose = (...alternatives: readonly string[]): string => alternatives[random(alternatives.length)]!;
  const stages = choose('0', '1');
  /** The word of the thread, or of one in the other warp, in the stage of this iteration or of the next one. */
  const addressIn = (base: string): string =>
    `add.s32 %r13, %r12, ${random(2)}; and.b32 %r13, %r13, ${stages}; shl.b32 %r13, %r13, 9; xor.b32 %r14, %r10, ${choose('0', '0', '256')};
     add.s32 %r13, %r13, %r14; cvt.u64.u32 %d20, %r13; add.s64 %d21, ${base}, %d20;`;
  const statement = (): string =>
    choose(
      `${addressIn('%d3')} mov.u64 %d22, %d21; ${addressIn('%d1')} haul.async.global.shared [%d21], [%d22], 8;`,
      `${addressIn('%d1')} ld.global.u64 %d13, [%d21];`,
      `${addressIn('%d3')} st.shared.u64 [%d21], %d10;`,
      commit,
      choose(wait, 'haul.wait_group 1;', 'haul.wait_all;'),
      'bar.sync 0;',
      'haul.wait_all; bar.sync 0;',
    );
  const statements = (count: number): string => Array.from({ length: count }, statement).join('\n');
  return `mov.u32 %r12, 0; ${statements(random(3))} L: ${statements(2 + random(5))}
    add.s32 %r12, %r12, 1; setp.lt.s32 %p1, %r12, 3; @%p1 bra L; ${statements(random(3))}`;
}

test('proofs on random loops of copies agree with runs', async () => {
  const seeded = seededRandom(7);
  let proved = 0;
  let racy = 0;
  for (let i = 0; i < 60; i++) {
    const body = randomBody((below) => seeded.below(below));
    const { race } = await check(`${start} ${body}`);
    const code = kernel(`mov.u64 %d3, s; ${start} ${body}`, shared);
    const races = ([undefined, 1, 2] as const).flatMap((seed) => raceTexts(launch(code, { block: [64, 1, 1], ...(seed && { seed }) })));
    if (race.verdict === 'proved') assert.deepEqual(races, [], body);
    if (race.verdict === 'race') assert.notDeepEqual(races, [], body);
    proved += Number(race.verdict === 'proved');
    racy += Number(race.verdict === 'race');
  }
  assert.ok(proved > 5 && racy > 20, `${proved} proved, ${racy} racy`);
});

test('its cost is that of its accesses', () => {
  const boundsOf = (body: string): (string | null)[] => {
    const code = kernel(`mov.u64 %d3, s; ${start} ${body}`, shared);
    const bounds = boundKernel({
      kernel: code,
      dimensions: { block: [64, 1, 1], grid: [1, 1, 1] },
      sharedBytes: 0,
      declaredAs: (index) => (index < 2 ? 'pointer' : 'scalar'),
      parameterName: () => null,
    });
    const counters = new LaunchCounters();
    launch(code, { block: [64, 1, 1], observer: counters, detectRaces: false });
    return (['sectors', 'conflicts'] as const).map((metric) => {
      const { bound } = bounds[metric];
      const text = bound && expressionText(bound);
      assert.equal(text, String(Math.max(...counters.warps.map((warp) => warp[metric]))), `${metric}: ${body}`);
      return text;
    });
  };
  assert.deepEqual(boundsOf(copy), boundsOf('ld.shared.u64 %d13, [%d12]; st.global.u64 [%d11], %d13;'));
  assert.deepEqual(boundsOf('haul.async.global.shared [%d1], [%d12], 8;'), ['1', '0']);
});

test('a kernel whose copies write global memory is not classified as idempotent', () => {
  const kindsOf = (body: string): string[] => {
    const code = kernelOf(`${start} ${body}`);
    const proved = { verdict: 'proved', assumptions: [] } as const;
    const { reasons } = classify({
      kernel: code,
      module: parsePtx('').module,
      parameters: [],
      objectName: (symbol) => symbol,
      checked: { race: proved, divergence: proved },
      stated: [],
    });
    return reasons.map(({ kind, what }) => `${kind} ${what}`);
  };
  assert.ok(kindsOf(`${copy} haul.wait_all;`).includes('effect haul.async.global.shared'));
  assert.ok(kindsOf('drag.wait_all;').includes('effect drag.wait_all'));
  const [made, known] = ['haul', 'cp'].map((opcode) =>
    kindsOf(
      `${opcode}.async${opcode === 'cp' ? '.ca' : ''}.shared.global [%d12], [%d11], 8; ${opcode}.async.wait_all;`.replace(
        'haul.async.wait',
        'haul.wait',
      ),
    ),
  );
  assert.deepEqual(made, known);
});

test('its SASS must have copies and waits on its lines', { skip: withoutNvcc }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-copy-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const textOf = (...lines: readonly string[]): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
.shared .align 16 .b8 s[1024];
.reg .b32 %r<8>; .reg .b64 %d<4>;
ld.param.u64 %d1, [p]; cvta.to.global.u64 %d1, %d1;
mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 3; cvt.u64.u32 %d2, %r2; add.s64 %d1, %d1, %d2;
mov.u32 %r3, s; add.s32 %r3, %r3, %r2;
${lines.join('\n')}
st.global.u32 [%d1], %r4;
ret;
}
`;
  const [start, load] = ['cp.async.ca.shared.global [%r3], [%d1], 8;', 'ld.shared.u32 %r4, [%r3];'];
  const waits = ['cp.async.commit_group;', 'cp.async.wait_group 0;'];
  const [input, output] = [join(folder, 'k.ptx'), join(folder, 'k.cubin')];
  writeFileSync(input, textOf(start, ...waits, load));
  execFileSync('ptxas', ['-lineinfo', '-arch=sm_80', '-o', output, input], { stdio: 'pipe' });
  const cubin = readCubin(new Uint8Array(readFileSync(output)));
  assert.ok(!('problem' in cubin));
  const faultsOf = (...lines: readonly string[]): unknown => {
    const translation = validateTranslation(lowerModule(parsePtx(textOf(...lines)).module).kernels[0]!, cubin);
    return translation.checked && translation.faults;
  };
  const made = [start, ...waits].map((line) => line.replace('cp.async', 'haul').replace('haul.ca', 'haul.async'));
  assert.deepEqual(faultsOf(...made, load), []);
  // Copies that the SASS lacks: instead of the load
  const lost = { kind: 'missing', what: 'copy', ptxLine: 13 };
  assert.deepEqual(faultsOf(...made, made[0]!), [lost]);
});
