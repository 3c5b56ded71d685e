/** `selvage run`: its output, its findings, and its errors. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isRunRace, type RunReport } from '../../../src/report-model/run-report.ts';
import type { Report } from '../../../src/report-model/report.ts';
import reportSchema from '../../../src/report/report.schema.json' with { type: 'json' };
import schema from '../../../src/report/run.schema.json' with { type: 'json' };
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { selvage, type Ran } from './in-process.ts';
import { kernelSource, parameterKernel } from './run-kernels.ts';

const withoutNvcc = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-run-')));
after(() => rmSync(folder, { recursive: true, force: true }));
const write = (name: string, text: string | Uint8Array): void => writeFileSync(join(folder, name), text);
const run = (...words: string[]): Promise<Ran> => selvage(['run', ...words], folder);

const validate = new Ajv2020({ strict: false }).addSchema(reportSchema).compile(schema);

/** The document of a run that is expected to print one. */
async function document(...words: string[]): Promise<RunReport & { readonly status: number }> {
  const ran = await run(...words, '--format', 'json');
  assert.equal(ran.stderr, '');
  const report = JSON.parse(ran.stdout) as RunReport;
  assert.ok(validate(report), JSON.stringify(validate.errors));
  return { ...report, status: ran.status };
}

async function refused(expected: RegExp, ...words: string[]): Promise<void> {
  const ran = await run(...words);
  assert.equal(ran.status, 2, ran.stderr + ran.stdout);
  assert.match(ran.stderr, expected);
  assert.equal(ran.stdout, '');
}

const one = ['--block', '32', '--grid', '1'];
const zeros = ['--arg', 'A=int32[64]', '--arg', 'B=int32[64]', '--arg', 'n=64'];

write('copy.ptx', kernelSource(';;2 ld.global.u32 %r1, [%d3]; ;;3 st.global.u32 [%d4], %r1;'));

test('a run: only the document on standard output, arrays with their digests', async () => {
  const report = await document('copy.ptx', ...one, '--arg', 'A=int32[32]:iota', '--arg', 'B=int32[32]');
  assert.equal(report.status, 0);
  assert.equal(report.outcome, 'finished');
  assert.deepEqual(report.findings, []);
  assert.equal(report.counters, null);
  assert.deepEqual(report.kernel, { name: 'k', symbol: 'k', location: report.kernel.location, build: 'ptx' });
  assert.deepEqual(report.launch.args, { param0: 'int32[32]', param1: 'int32[32]' });
  const { param0: a, param1: b } = report.outputs;
  assert.equal(a?.changed, false);
  assert.equal(b?.changed, true);
  assert.equal(b.sha256, a.sha256);
  assert.deepEqual(b.first, [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(await document('copy.ptx', ...one, '--arg', 'A=int32[32]:iota', '--arg', 'B=int32[32]'), report, 'the same twice');
});

test('pretty: kernel, launch, arrays', async () => {
  const { stdout, status } = await run('copy.ptx', ...one, '--arg', 'param0=int32[32]:iota', '--arg', 'param1=&param0+64');
  assert.equal(status, 1);
  assert.match(stdout, /^k {2}k\.cu:1:1\n {2}block 32, 1, 1 · grid 1, 1, 1\n {2}param0 = int32\[32\] · param1 = &param0\+64\n/);
});

/** The value of an array literal: element type, length and first elements. */
const literals: readonly (readonly [string, string, number | null, readonly (number | string)[]])[] = [
  ['int32[4]', 'int32', 4, [0, 0, 0, 0]],
  ['int32[4]:zeros', 'int32', 4, [0, 0, 0, 0]],
  ['float32[3]:ones', 'float32', 3, [1, 1, 1]],
  ['int32[5]:iota', 'int32', 5, [0, 1, 2, 3, 4]],
  ['int16[4]:iota(-2)', 'int16', 4, [-2, -1, 0, 1]],
  ['float[4]:iota(1,0.5)', 'float32', 4, [1, 1.5, 2, 2.5]],
  ['uint8[3]:fill(255)', 'uint8', 3, [255, 255, 255]],
  ['double[2]:fill(-0.25)', 'float64', 2, [-0.25, -0.25]],
  ['half[3]:[1.5,-2,inf]', 'float16', 3, [1.5, -2, 'inf']],
  ['bfloat16[2]:fill(3)', 'bfloat16', 2, [3, 3]],
  ['float32[3]:[nan,-inf,1e3]', 'float32', 3, ['nan', '-inf', 1000]],
  ['int64[2]:[0x7fffffffffffffff,-1]', 'int64', 2, ['9223372036854775807', -1]],
  ['int32:[1,2,3]', 'int32', 3, [1, 2, 3]],
  ['uint32[4]:[7,8]', 'uint32', 4, [7, 8, 0, 0]],
  ['int8[2]:uninitialised', 'int8', 2, [0, 0]],
  ['int32[0]', 'int32', 0, []],
  ['uint16[]:fill(9)', 'uint16', null, [9, 9, 9, 9, 9, 9, 9, 9]],
];
write('unused.ptx', parameterKernel(['.param .u64 A'], []));

test('array literals', async () => {
  for (const [literal, type, length, first] of literals) {
    const { outputs } = await document('unused.ptx', ...one, '--arg', `param0=${literal}`);
    const { param0: array } = outputs;
    assert.deepEqual([array?.type, array?.length, array?.first], [type, length, first], literal);
  }
});

test('random arrays: the seed decides, within the bounds', async () => {
  const digest = async (literal: string): Promise<string> => {
    const { outputs } = await document('unused.ptx', ...one, '--arg', `param0=${literal}`);
    for (const value of outputs['param0']!.first) {
      if (literal.includes(',')) assert.ok(Number(value) >= -3 && Number(value) <= 5, `${literal}: ${value}`);
      else if (literal.startsWith('float')) assert.ok(Number(value) >= 0 && Number(value) < 1, `${literal}: ${value}`);
    }
    return outputs['param0']!.sha256!;
  };
  for (const type of ['int32', 'int64', 'float32', 'float64', 'int8']) {
    assert.equal(await digest(`${type}[100]:random(1)`), await digest(`${type}[100]:random(1)`), type);
    assert.notEqual(await digest(`${type}[100]:random(1)`), await digest(`${type}[100]:random(2)`), type);
    assert.notEqual(await digest(`${type}[100]:random(1,-3,5)`), await digest(`${type}[100]:random(2,-3,5)`), type);
  }
});

test('arrays from files and to files, little-endian', async () => {
  write('in.bin', new Uint8Array(new Float32Array([1.5, -2, 3.25, 0]).buffer));
  const words = ['copy.ptx', '--block', '4', '--grid', '1', '--arg', 'A=float32:@in.bin', '--arg', 'B=float32[4]'];
  const report = await document(...words, '--dump', 'B=out.bin');
  assert.deepEqual(report.outputs['param0']?.first, [1.5, -2, 3.25, 0]);
  assert.equal(report.outputs['param1']?.file, 'out.bin');
  assert.deepEqual(readFileSync(join(folder, 'out.bin')), readFileSync(join(folder, 'in.bin')));
});

test('aliased arguments: the same array, with byte offset, with element offset', async () => {
  for (const alias of ['&A+64', '&A[16]', '&param0 + 0x40']) {
    const { outputs, launch } = await document(
      'copy.ptx',
      '--block',
      '16',
      '--grid',
      '1',
      '--arg',
      `B=${alias}`,
      '--arg',
      'A=int32[32]:iota',
    );
    assert.equal(launch.args['param1'], '&param0+64');
    assert.deepEqual(Object.keys(outputs), ['param0']);
    assert.deepEqual(outputs['param0']?.aliases, ['param1']);
  }
});

test('structs without a known definition: members by offset, floats by their text, the whole from a file', async () => {
  const reads = [
    'ld.param.u64 %d1, [p]; ld.param.u32 %r1, [p+8]; ld.param.f32 %f1, [p+12]; ld.param.u16 %h1, [p+16];',
    'cvta.to.global.u64 %d1, %d1; st.global.u32 [%d1], %r1; st.global.f32 [%d1+4], %f1; st.global.u16 [%d1+8], %h1;',
  ];
  write('struct.ptx', parameterKernel(['.param .align 8 .b8 p[24]'], reads));
  const thread = ['struct.ptx', '--block', '1', '--grid', '1'];
  const members = ['--arg', 'param0+0=uint8[12]', '--arg', 'param0+8=0x01020304', '--arg', 'param0+12=1.0', '--arg', 'param0+16=-1'];
  const { outputs } = await document(...thread, ...members);
  assert.deepEqual(outputs['param0+0']?.first, [4, 3, 2, 1, 0, 0, 0x80, 0x3f]);
  await refused(/k needs more arguments:\n {2}param0\+0 .*\n {2}param0\+8 .*32 bits.*\n {2}param0\+12 /, ...thread);
  await refused(/param0 is a struct of 24 bytes; give its members, such as param0\+0/, ...thread, '--arg', 'param0=3');
  write('p.bin', new Uint8Array(20));
  await refused(/param0 has 24 bytes, and the file 20/, ...thread, '--arg', 'param0=@p.bin');
});

test('scalars with literals of their type', async () => {
  const reads = [
    'ld.param.u64 %d1, [A]; cvta.to.global.u64 %d1, %d1; ld.param.u32 %r1, [i]; ld.param.f32 %f1, [f];',
    'ld.param.u64 %d2, [l]; ld.param.u16 %h1, [s];',
    'st.global.u32 [%d1], %r1; st.global.f32 [%d1+4], %f1; st.global.u64 [%d1+8], %d2; st.global.u16 [%d1+16], %h1;',
  ];
  const parameters = ['.param .u64 A', '.param .u32 i', '.param .f32 f', '.param .u64 l', '.param .u16 s'];
  write('scalars.ptx', parameterKernel(parameters, reads));
  const words = (...values: string[]): string[] => [
    'scalars.ptx',
    '--block',
    '1',
    '--grid',
    '1',
    '--arg',
    'param0=uint32[5]',
    ...values.flatMap((value, index) => ['--arg', `param${index + 1}=${value}`]),
  ];
  const { outputs } = await document(...words('-2', '-1.5e1', '0xffffffffffffffff', '0x7f'));
  assert.deepEqual(outputs['param0']?.first, [0xfffffffe, 0xc1700000, 0xffffffff, 0xffffffff, 0x7f]);
  assert.deepEqual(
    (await document(...words('4000000000u', '3', '-5', '65535'))).outputs['param0']?.first,
    [4_000_000_000, 0x40400000, 0xfffffffb, 0xffffffff, 65535],
  );
  assert.deepEqual((await document(...words('true', 'inf', '1', '0'))).outputs['param0']?.first.slice(0, 2), [1, 0x7f800000]);
  await refused(/param1 cannot be 1\.5: 1\.5 is not a whole number/, ...words('1.5', '1', '1', '1'));
  await refused(/param1 cannot be 4294967296: .* does not fit in 32 bits/, ...words('4294967296', '1', '1', '1'));
  await refused(/param4 cannot be 65536/, ...words('1', '1', '1', '65536'));
  await refused(/param2 cannot be true: true is not a number/, ...words('1', 'true', '1', '1'));
});

test('missing, unknown or invalid arguments are rejected', async () => {
  const rest = ['--arg', 'B=int32[32]'];
  const a = (value: string): string[] => ['copy.ptx', ...one, '--arg', `A=${value}`, ...rest];
  await refused(/k needs more arguments:\n {2}param0 {2}.*--arg param0=float32\[1024\]/, 'copy.ptx', ...one, ...rest);
  await refused(/--arg C: k has no such parameter/, 'copy.ptx', ...one, ...zeros, '--arg', 'C=1');
  await refused(/did you mean param1\?/i, 'copy.ptx', ...one, ...zeros, '--arg', 'parm1=1');
  await refused(/--arg A has 2 elements, and 3 are given/, ...a('int32[2]:[1,2,3]'));
  await refused(/--arg A has elements of type flaot32, which is not known; did you mean float32\?/, ...a('flaot32[3]'));
  await refused(/--arg A holds itoa; did you mean iota\?/, ...a('int32[3]:itoa'));
  await refused(/--arg A contains random; write random\(SEED\)/, ...a('int32[3]:random'));
  await refused(/--arg A asks for random numbers from 5 to 2, but 2 is less than 5/, ...a('int32[3]:random(1,5,2)'));
  await refused(/--arg A contains fill\(\); write fill\(VALUE\)/, ...a('int32[3]:fill()'));
  await refused(/--arg A is filled with a value that is wrong: 300 does not fit in 8 bits/, ...a('uint8[3]:fill(300)'));
  await refused(/--arg A has an element 1 that is wrong: x is not a whole number/, ...a('int32:[1,x]'));
  await refused(/--arg A has no length; write int32\[1024\]/, ...a('int32:iota'));
  await refused(/--arg A has no bounds, so it can contain only zeros/, ...a('int32[]:iota'));
  await refused(/--arg A has 8000000000 bytes; an array may have 1073741824/, ...a('float64[1000000000]'));
  await refused(/--arg A does not specify the type of its elements; write param0=float32/, ...a('[1,2]'));
  await refused(/--arg A cannot be read from .*the file does not exist/, ...a('int32:@none.bin'));
  write('seven.bin', new Uint8Array(7));
  await refused(/--arg A has 7 bytes, which is not a multiple of the 4 bytes of int32/, ...a('int32:@seven.bin'));
  write('eight.bin', new Uint8Array(8));
  await refused(/--arg A has 3 elements, and the file has 2/, ...a('int32[3]:@eight.bin'));
  await refused(
    /--arg param1 points into C, which is not given as an array; the arrays are: param0/,
    'copy.ptx',
    ...one,
    '--arg',
    'A=int32[32]',
    '--arg',
    'B=&C',
  );
  await refused(
    /--arg param1 points to byte 200 of param0, past its end: it has 128 bytes/,
    'copy.ptx',
    ...one,
    '--arg',
    'A=int32[32]',
    '--arg',
    'B=&A[50]',
  );
  await refused(/--arg B is &1; an alias is &A/, 'copy.ptx', ...one, '--arg', 'A=int32[32]', '--arg', 'B=&1');
  await refused(/--arg param0 is given twice, under two names/, 'copy.ptx', ...one, ...zeros, '--arg', 'param0=int32[2]');
  await refused(
    /--arg n has 4 bytes, so it takes a number; for example --arg param2=1024/,
    'copy.ptx',
    ...one,
    '--arg',
    'A=int32[2]',
    '--arg',
    'B=int32[2]',
    '--arg',
    'n=int32[4]',
  );
});

test('arguments that do not describe a launch of one kernel are rejected', async () => {
  write(
    'two.ptx',
    kernelSource('', { name: 'first' }) +
      kernelSource('', { name: 'second' })
        .replace(/^[^]*?(?=\.visible)/, '')
        .replace(/\.file.*/, ''),
  );
  await refused(/needs one file/);
  await refused(/needs one file/, 'copy.ptx', 'two.ptx');
  await refused(/needs one file/, '.');
  await refused(/does not exist/, 'none.ptx');
  await refused(/prints pretty or json, not sarif/, 'copy.ptx', '--format', 'sarif');
  await refused(/The file has several kernels; name one with --kernel:\n {2}first .*\n {2}second /, 'two.ptx', ...one);
  await refused(/--kernel \*s\* matches 2 kernels; name one:/, 'two.ptx', '--kernel', '*s*', ...one);
  await refused(/--kernel third matches no kernel. The kernels are:\n {2}first/, 'two.ptx', '--kernel', 'third', ...one);
  await refused(/Selvage does not know the launch of k; give --block .* and --grid/, 'copy.ptx');
  await refused(/give --grid/, 'copy.ptx', '--block', '32');
  await refused(/1024/, 'copy.ptx', '--block', '4096', '--grid', '1');
  await refused(/--steps 0/, 'copy.ptx', '--steps', '0');
  await refused(/--trace=x does not name threads/, 'copy.ptx', '--trace=x');
  await refused(/--backend wasm: choose one of .*/, 'copy.ptx', '--backend', 'wasm');
  await refused(/--assume belongs to/, 'copy.ptx', '--assume', 'n > 0');
  await refused(/two runs/, 'copy.ptx', '--trace', '--counters');
  await refused(/--dump C: no array has this name/, 'copy.ptx', ...one, ...zeros, '--dump', 'C=c.bin');
  await refused(/--track C: no array has this name/, 'copy.ptx', ...one, ...zeros, '--track', 'C');
  await refused(/cannot be written/, 'copy.ptx', ...one, ...zeros, '--dump', 'A=none/a.bin');
  write('bounds.ptx', kernelSource('').replace('n) {', 'n) .maxntid 64, 1, 1 {'));
  await refused(/k allows 64 threads per block; a launch with 128 fails/, 'bounds.ptx', '--block', '128', '--grid', '1', ...zeros);
  write('required.ptx', kernelSource('').replace('n) {', 'n) .reqntid 64, 1, 1 {'));
  await refused(/requires a block of 64,1,1/, 'required.ptx', ...one, ...zeros);
  const elsewhere = await selvage(['check', 'copy.ptx', '--counters'], folder);
  assert.equal(elsewhere.status, 2);
  assert.match(elsewhere.stderr, /--counters belongs to `selvage run`/);
});

test('a race: both accesses with lines, threads, blocks, kind and scope', async () => {
  const declarations = '.shared .align 4 .b8 s[256];';
  const body = `mov.u64 %d6, s; add.s64 %d6, %d6, %d5; ;;5 st.shared.u32 [%d6], %r0;
    xor.b64 %d7, %d5, 128; mov.u64 %d8, s; add.s64 %d7, %d7, %d8; ;;7 ld.shared.u32 %r1, [%d7]; ;;8 st.global.u32 [%d3], %r1;`;
  write('race.ptx', kernelSource(body, { declarations }));
  const words = ['race.ptx', '--block', '64', '--grid', '1', ...zeros];
  const report = await document(...words);
  assert.equal(report.status, 1);
  const [race, ...others] = report.findings.filter(isRunRace);
  assert.ok(race);
  assert.deepEqual(others, []);
  assert.deepEqual(
    [race.code, race.severity, race.kind, race.memory, race.scope, race.array, race.bytes],
    ['race/shared', 'error', 'read-write', 'shared', 'block', 's', 4],
  );
  const sides = [race.first, race.second].map(({ operation, location, thread, block }) => ({
    operation,
    line: location?.line,
    thread,
    block,
  }));
  sides.sort((a, b) => a.line! - b.line!);
  assert.deepEqual(
    sides.map(({ operation, line }) => [operation, line]),
    [
      ['write', 5],
      ['read', 7],
    ],
  );
  assert.equal(Math.abs(sides[0]!.thread![0] - sides[1]!.thread![0]), 32);
  assert.match(race.message, / on line 5 while .* on line 7; no `__syncthreads\(\)` separates the two accesses\./);
  assert.equal((await document(...words, '--fail-on', 'never')).status, 0);
  const off = await document(...words, '--no-races');
  assert.deepEqual([off.status, off.findings.filter(isRunRace)], [0, []]);
  assert.deepEqual((await document(...words, '--track', 'A')).findings.filter(isRunRace), []);
  assert.equal((await document(...words, '--track', 's,A')).findings.filter(isRunRace).length, 1);
});

test('a race between blocks, and writes of one value as a warning', async () => {
  write('blocks.ptx', kernelSource(';;3 st.global.u32 [%d3], %r0;'));
  const report = await document('blocks.ptx', '--block', '32', '--grid', '2', ...zeros);
  const [race] = report.findings;
  assert.ok(race && isRunRace(race));
  assert.deepEqual([race.scope, race.severity, race.sameValue, race.array], ['grid', 'warning', true, 'param0']);
  assert.equal(report.status, 0);
  assert.equal((await document('blocks.ptx', '--block', '32', '--grid', '2', ...zeros, '--fail-on', 'warning')).status, 1);
});

test('volatile accesses race, unless they are a flag that one thread sets and others wait for', async () => {
  const set = 'mov.u32 %r2, 1; setp.ne.u32 %p1, %r0, 0; @%p1 bra R; ;;3 st.volatile.global.u32 [%d1], %r2; bra X; R:';
  const look = ';;5 ld.volatile.global.u32 %r1, [%d1];';
  write('volatile.ptx', kernelSource(`${set} ${look} X: ;;7 st.global.u32 [%d4], %r1;`));
  const report = await document('volatile.ptx', ...one, ...zeros);
  const [race, ...others] = report.findings;
  assert.ok(race && isRunRace(race));
  assert.deepEqual([race.code, race.severity, race.kind, report.status], ['race/volatile', 'warning', 'read-write', 0]);
  assert.match(race.message, /`volatile` does not make an access atomic/);
  assert.deepEqual(others, []);
  const wait = `R: ${look} setp.eq.u32 %p2, %r1, 0; @%p2 bra R;`;
  write('flag.ptx', kernelSource(`${set.replace(/R:$/, '')} ${wait} X: ;;7 st.global.u32 [%d4], %r2;`));
  assert.deepEqual((await document('flag.ptx', ...one, ...zeros)).findings, []);
});

/** Other errors of a run: the body, options, the code, line, message and exit code. */
const endings: readonly {
  readonly name: string;
  readonly body: string;
  readonly words?: readonly string[];
  readonly code: string;
  readonly line: number;
  readonly message: RegExp;
  readonly status: number;
}[] = [
  {
    name: 'a pointer past its array',
    body: ';;2 ld.global.u32 %r1, [%d3]; ;;3 st.global.u32 [%d4+4], %r1;',
    words: ['--arg', 'B=int32[32]'],
    code: 'memory/out-of-bounds',
    line: 3,
    message: /^Thread \(31, 0, 0\) of block \(0, 0, 0\) writes 4 bytes out of bounds on line 3: byte 128 of 128 in param1\.$/,
    status: 1,
  },
  {
    name: 'a pointer before its array',
    body: ';;4 ld.global.u32 %r1, [%d3+-4];',
    code: 'memory/out-of-bounds',
    line: 4,
    message: /^Thread \(0, 0, 0\) of block \(0, 0, 0\) reads 4 bytes out of bounds on line 4: /,
    status: 1,
  },
  {
    name: 'shared memory past its end',
    body: 'mov.u64 %d6, s; add.s64 %d6, %d6, %d5; ;;6 st.shared.u32 [%d6], %r0;',
    code: 'memory/out-of-bounds',
    line: 6,
    message: /^Thread \(16, 0, 0\) .* byte 64 of 64 in s\.$/,
    status: 1,
  },
  {
    name: 'an address that is not aligned',
    body: ';;2 ld.global.u32 %r1, [%d1+2];',
    code: 'memory/misaligned',
    line: 2,
    message: /^Thread \(0, 0, 0\) of block \(0, 0, 0\) reads 4 bytes at an address that is not aligned on line 2/,
    status: 1,
  },
  {
    name: 'memory that no thread has written',
    body: 'mov.u64 %d6, s; ;;5 st.shared.u32 [%d6], %r0; ;;6 ld.shared.u32 %r1, [%d6+4]; ;;7 st.global.u32 [%d3], %r1;',
    words: ['--block=1'],
    code: 'memory/uninitialised',
    line: 6,
    message: /^Thread \(0, 0, 0\) of block \(0, 0, 0\) reads 4 bytes in uninitialised memory on line 6/,
    status: 0,
  },
  {
    name: 'an array that is not initialised',
    body: ';;5 st.global.u32 [%d3], %r0; ;;6 ld.global.u32 %r1, [%d3]; ;;7 ld.global.u32 %r1, [%d3+4];',
    words: ['--block=1', '--arg', 'B=int32[2]', '--arg', 'A=int32[2]:uninitialised'],
    code: 'memory/uninitialised',
    line: 7,
    message: /^Thread \(0, 0, 0\) of block \(0, 0, 0\) reads 4 bytes in uninitialised memory on line 7.* param0/,
    status: 0,
  },
  {
    name: 'an endless loop',
    body: ';;2 SPIN: ld.volatile.global.u32 %r1, [%d1]; ;;3 setp.eq.u32 %p1, %r1, 0; @%p1 bra SPIN;',
    words: ['--steps', '100000'],
    code: 'run/budget',
    line: 2,
    message: /^The run ended after 100000 thread instructions, .* was at line 2\. .*`--steps`\.$/,
    status: 3,
  },
  {
    name: 'threads that wait at different barriers',
    body: 'setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW; ;;4 barrier.sync 1; bra END; LOW: ;;6 barrier.sync 2; END:',
    code: 'barrier/deadlock',
    line: 6,
    message:
      /^16 threads of block \(0, 0, 0\) wait at the barrier on line 6 while thread \(16, 0, 0\) waits at the barrier on line 4\. No thread can continue\.$/,
    status: 1,
  },
  {
    name: 'a barrier for more threads than arrive',
    body: ';;4 barrier.sync 1, 64;',
    code: 'barrier/divergent',
    line: 4,
    message: /^32 threads of block \(0, 0, 0\) wait at the barrier on line 4 .*Fewer threads arrive/,
    status: 1,
  },
  {
    name: 'threads that have returned before a barrier',
    body: 'setp.ge.u32 %p1, %r0, 16; @%p1 bra END; ;;4 bar.sync 0; END:',
    code: 'barrier/early-exit',
    line: 4,
    message: /^16 threads .* wait at the barrier on line 4 while thread \(16, 0, 0\) has returned/,
    status: 0,
  },
  {
    name: 'a trap',
    body: 'setp.ne.u32 %p1, %r0, 5; @%p1 bra END; ;;4 trap; END:',
    code: 'run/trap',
    line: 4,
    message: /^Thread \(5, 0, 0\) of block \(0, 0, 0\) executes a trap on line 4/,
    status: 1,
  },
  {
    name: 'an instruction that is not supported',
    body: 'setp.ne.u32 %p1, %r0, 5; @%p1 bra END; ;;4 frobnicate.b32 %r1, %r0; END:',
    code: 'run/unsupported',
    line: 4,
    message: /^Thread \(5, 0, 0\) of block \(0, 0, 0\) reaches the instruction `frobnicate.b32` on line 4, which Selvage cannot execute/,
    status: 3,
  },
];

for (const { name, body, words = [], code, line, message, status } of endings) {
  test(`the run finds: ${name}`, async () => {
    write('end.ptx', kernelSource(body, { declarations: '.shared .align 4 .b8 s[64];' }));
    const isGiven = (option: string): boolean => words.some((word) => word.startsWith(option));
    const given = ['A=int32[64]', 'B=int32[64]', 'n=64'].filter((text) => !isGiven(text.slice(0, 2)));
    const launch = ['--grid=1', ...(isGiven('--block') ? [] : ['--block=32'])];
    const options = [...launch, ...given.flatMap((text) => ['--arg', text]), ...words];
    const ran = await run('end.ptx', ...options, '--format', 'json');
    const report = JSON.parse(ran.stdout) as RunReport;
    assert.ok(validate(report), JSON.stringify(validate.errors));
    const finding = report.findings.find((one) => one.code === code);
    assert.ok(finding && !isRunRace(finding), JSON.stringify(report.findings));
    assert.equal(finding.location?.line, line);
    assert.match(finding.message, message);
    assert.equal(ran.status, status);
    if (finding.positions)
      assert.equal(
        finding.positions.reduce((sum, { count }) => sum + count, 0),
        32,
      );
    const pretty = await run('end.ptx', ...options);
    assert.equal(pretty.status, status);
    assert.ok(pretty.stdout.includes(`[${code}]: ${finding.message}`));
  });
}

test('all back ends give the same findings', async () => {
  const body = `;;2 mov.u32 %r1, 0; LOOP: ;;3 add.u32 %r1, %r1, %r0; sub.u32 %r9, %r9, 1; setp.gt.s32 %p1, %r9, 0; @%p1 bra LOOP;
    ;;4 st.shared.u32 [s], %r1; ;;5 bar.sync 0; ;;6 ld.shared.u32 %r2, [s]; ;;7 atom.global.add.u32 %r3, [%d1], %r2; ;;8 st.global.u32 [%d4], %r3;`;
  write('same.ptx', kernelSource(body, { declarations: '.shared .align 4 .b8 s[64];' }));
  const words = ['same.ptx', '--block', '64', '--grid', '3', '--arg', 'A=int32[1]', '--arg', 'B=int32[64]', '--arg', 'n=9'];
  const [first, ...others] = await Promise.all(
    ['reference', 'javascript', 'webassembly', 'auto'].map(async (name) => {
      const { launch, ...report } = await document(...words, '--backend', name);
      assert.equal(launch.backend, name);
      return report;
    }),
  );
  assert.deepEqual(first!.findings.filter(isRunRace).map(linesOf), [
    [4, 4],
    [8, 8],
  ]);
  for (const other of others) assert.deepEqual(other, first);
});

test('--schedule: the seed determines the order of blocks and warps', async () => {
  write(
    'order.ptx',
    kernelSource(
      ';;2 atom.global.add.u32 %r1, [%d1], 1; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r0; mul.wide.u32 %d6, %r3, 4; add.s64 %d6, %d2, %d6; ;;3 st.global.u32 [%d6], %r1;',
    ),
  );
  const words = ['order.ptx', '--block', '64', '--grid', '4', '--arg', 'A=int32[1]', '--arg', 'B=int32[256]', '--arg', 'n=0'];
  const digest = async (...schedule: string[]): Promise<string> => (await document(...words, ...schedule)).outputs['param1']!.sha256!;
  const plain = await digest();
  assert.equal(await digest('--schedule', '7'), await digest('--schedule', '7'));
  const digests = new Set([plain, await digest('--schedule', '1'), await digest('--schedule', '2'), await digest('--schedule', '3')]);
  assert.ok(digests.size > 2);
});

test('several schedules: the first that reproduces a bug is reported, and can be rerun separately', async () => {
  // Blocks that get their own index as the ticket write their own element; in any other order all write the tenth.
  write(
    'drawn.ptx',
    kernelSource(
      ';;2 atom.global.add.u32 %r1, [%d1], 1; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r1, %r2; selp.u32 %r3, %r2, 9, %p1; mul.wide.u32 %d6, %r3, 4; add.s64 %d6, %d2, %d6; ;;3 st.global.u32 [%d6], %r1;',
    ),
  );
  const of = (grid: string): string[] => ['drawn.ptx', '--block', '1', '--grid', grid, '--arg', 'A=int32[1]', '--arg', 'B=int32[16]'];
  const words = of('2');
  const plain = await document(...words);
  assert.deepEqual([plain.status, plain.launch.schedule, plain.launch.schedules], [0, undefined, undefined]);
  const tried = await document(...words, '--schedules', '5');
  assert.deepEqual([tried.status, tried.launch.schedule, tried.launch.schedules], [1, 1, 2]);
  assert.deepEqual(tried.findings.filter(isRunRace).map(linesOf), [[3, 3]]);
  const again = await document(...words, '--schedule', '1');
  assert.deepEqual(again.findings, tried.findings);
  const none = await document(...of('1'), '--schedules', '5');
  assert.deepEqual([none.status, none.launch.schedule, none.launch.schedules], [0, undefined, 5]);
  await refused(/--schedules and --schedule cannot be given together/, ...words, '--schedules', '2', '--schedule', '3');
  await refused(/--schedules and --trace cannot be given together/, ...words, '--schedules', '2', '--trace');
});

test('an unsupported instruction that no thread reaches is harmless', async () => {
  write('skipped.ptx', kernelSource('setp.lt.u32 %p1, %r0, 99; @%p1 bra END; ;;4 frobnicate.b32 %r1, %r0; END:'));
  const ran = await run('skipped.ptx', ...one, ...zeros, '--format', 'json');
  assert.deepEqual((JSON.parse(ran.stdout) as RunReport).findings, []);
});

test('counters by line', async () => {
  const body = `;;2 mul.wide.u32 %d6, %r0, 32; add.s64 %d6, %d1, %d6; ;;3 ld.global.u32 %r1, [%d6];
    ;;4 and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra END; ;;5 st.global.u32 [%d4], %r1; END:`;
  write('counted.ptx', kernelSource(body));
  const words = ['counted.ptx', '--block', '64', '--grid', '2', '--arg', 'A=int32[512]', '--arg', 'B=int32[64]', '--no-races'];
  const { counters, steps } = await document(...words, '--counters');
  assert.ok(counters);
  assert.equal(counters.warpCount, 4);
  assert.equal(counters.totals.threadSteps, steps);
  const byLine = new Map(counters.lines.map((line) => [line.line, line]));
  assert.deepEqual([byLine.get(3)?.sectors, byLine.get(3)?.globalAccesses], [4 * 32, 4]);
  assert.deepEqual([byLine.get(4)?.branches, byLine.get(4)?.divergentBranches], [4, 4]);
  assert.deepEqual([byLine.get(5)?.sectors, byLine.get(5)?.globalAccesses], [4 * 4, 4]);
  assert.equal(counters.totals.sectors, 4 * 36);
  assert.equal(counters.warps[3]?.sectors, 36);
  const pretty = await run(...words, '--counters');
  assert.match(pretty.stdout, /counters of 4 warps/);
  assert.match(pretty.stdout, /k\.cu:3/);
});

test('a trace: one line for each instruction of the requested threads, on standard error', async () => {
  write(
    'traced.ptx',
    kernelSource(
      ';;2 ld.global.u32 %r1, [%d3]; ;;3 add.s32 %r2, %r1, 5; setp.gt.s32 %p1, %r2, 9; @%p1 bra END; ;;4 st.global.u32 [%d4+4], %r2; END: bar.sync 0;',
    ),
  );
  const words = ['traced.ptx', '--block', '8', '--grid', '2', '--arg', 'A=int32[8]:iota', '--arg', 'B=int32[9]', '--arg', 'n=1'];
  const ran = await run(...words, '--no-races', '--trace=4,1', '--format', 'json');
  assert.equal(ran.status, 0);
  assert.ok(validate(JSON.parse(ran.stdout)));
  const lines = ran.stderr.trimEnd().split('\n');
  assert.ok(
    lines.every((line) => line.startsWith('(1,0,0) (4,0,0) k.cu:')),
    ran.stderr,
  );
  const at = (place: string): string[] =>
    lines.filter((line) => line.includes(` k.cu:${place} `)).map((line) => line.replace(/^.*? {2}/, ''));
  assert.match(at('2')[0]!, /^ld\.global\.u32 {2}%r1 = 4 {2}from %d3 = 0x[0-9a-f]+ {2}reads 4 at param0\+16$/);
  assert.deepEqual(at('3').slice(0, 2), ['add.s32  %r2 = 9  from %r1 = 4, 5', 'setp.gt.s32  %p1 = false  from %r2 = 9, 9']);
  assert.match(at('4')[0]!, /^st\.global\.u32 {2}from %d4 = 0x[0-9a-f]+, %r2 = 9 {2}writes 4 at param1\+20$/);
  assert.equal(lines.filter((line) => line.includes('bar.sync')).length, 1);
  const plain = JSON.parse((await run(...words, '--no-races', '--format', 'json')).stdout) as RunReport;
  assert.equal((JSON.parse(ran.stdout) as RunReport).steps, plain.steps);
  assert.deepEqual((JSON.parse(ran.stdout) as RunReport).outputs, plain.outputs);
  const several = await run(...words, '--no-races', '--trace=0-1', '--trace=7:0:0,*');
  const who = new Set(
    several.stderr
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ').slice(0, 2).join(' ')),
  );
  assert.deepEqual([...who].sort(), ['(0,0,0) (0,0,0)', '(0,0,0) (1,0,0)', '(0,0,0) (7,0,0)', '(1,0,0) (7,0,0)']);
});

test('the trace of a memory error ends with the faulting access', async () => {
  const ran = await run('copy.ptx', ...one, '--arg', 'A=int32[2]', '--arg', 'B=int32[32]', '--trace=2');
  assert.match(ran.stderr, /reads 4 at param0\+8\n$/);
});

test('only the help of run describes arguments and its options', async () => {
  const help = (await selvage(['run', '--help'], folder)).stdout;
  assert.match(help, /^selvage run PATH --kernel GLOB/);
  for (const word of ['--input', '--counters', '--trace[=THREAD[,BLOCK]]', 'random(seed)', 'out of steps'])
    assert.ok(help.includes(word), word);
  assert.ok(!help.includes('--assume'));
  assert.ok(!(await selvage(['check', '--help'], folder)).stdout.includes('--counters'));
  for (const code of ['barrier/deadlock', 'memory/out-of-bounds', 'run/budget', 'run/unsupported']) {
    assert.equal((await selvage(['explain', code], folder)).status, 0);
  }
});

const kernels = fileURLToPath(new URL('../../kernels/race/', import.meta.url));
const demo = fileURLToPath(new URL('../../../src/app/commands/demo/head/', import.meta.url));

/** The lines of both accesses, the smaller first. */
function linesOf({
  first,
  second,
}: {
  readonly first: { readonly location?: { readonly line: number } };
  readonly second: { readonly location?: { readonly line: number } };
}): number[] {
  return [first.location?.line ?? 0, second.location?.line ?? 0].sort((a, b) => a - b);
}

const replayed = [
  [demo, 'reduce.verification'],
  [kernels, 'stencil-2d-in-place'],
  [kernels, 'struct-with-pointers'],
  [kernels, 'vector-int2-overlap'],
  [kernels, 'butterfly-missing-barrier'],
  [kernels, 'atomic-and-plain-read'],
  [kernels, 'double-buffer-wrong-parity'],
  [kernels, 'bytes-packed-into-words'],
  [kernels, 'device-globals'],
] as const;

for (const [from, name] of replayed) {
  test(`the witness of each race of ${name} reproduces the same two lines`, async () => {
    cpSync(join(from, `${name}.ptx`), join(folder, 'witness.ptx'));
    const checked = await selvage(['check', 'witness.ptx', '--format', 'json', '--output', 'report.json'], folder);
    assert.equal(checked.stderr, '');
    const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as Report;
    const races = report.kernels.flatMap(({ race }) => race.findings).filter(({ confirmed }) => confirmed);
    assert.ok(races.length > 0);
    for (const race of races) {
      const { findings } = await document('witness.ptx', '--input', `report.json#${race.fingerprint}`);
      const shown = findings.filter(isRunRace).filter(({ code }) => code === race.code);
      const same = shown.filter((one) => String(linesOf(one)) === String(linesOf(race)));
      assert.ok(same.length > 0, `${race.message}\n${JSON.stringify(findings, null, 2)}`);
      assert.equal(same[0]!.array, race.array);
      write('witness.json', JSON.stringify(race.witness));
      assert.deepEqual((await document('witness.ptx', '--input', 'witness.json')).findings, findings);
    }
  });
}

test('invalid witnesses are rejected', async () => {
  const input = (text: string): string[] => {
    write('bad.json', text);
    return ['copy.ptx', '--input', 'bad.json'];
  };
  const witness = {
    kernel: 'k',
    block: [32, 1, 1],
    grid: [1, 1, 1],
    args: { param0: { type: 'int32', length: 32 }, param1: { same: 'param0' } },
  };
  await refused(/--input none\.json .*the file does not exist/, 'copy.ptx', '--input', 'none.json');
  await refused(/is not JSON/, ...input('{'));
  await refused(/contains no witness/, ...input('{ "kernels": [] }'));
  await refused(/the witness is wrong at grid/, ...input(JSON.stringify({ ...witness, grid: 3 })));
  await refused(/the block of the witness has 2048 threads/, ...input(JSON.stringify({ ...witness, block: [1024, 2, 1] })));
  await refused(/the grid has no block 7/, ...input(JSON.stringify({ ...witness, schedule: { blocks: [7] } })));
  await refused(/The witness names q, but k has no such parameter/, ...input(JSON.stringify({ ...witness, args: { q: 1 } })));
  await refused(/elements of type int33/, ...input(JSON.stringify({ ...witness, args: { param0: { type: 'int33', length: 1 } } })));
  await refused(/--kernel m?atches|matches no kernel/, ...input(JSON.stringify({ ...witness, kernel: 'other' })));
  const array = { type: 'int32', length: 32 };
  const withArgument = (param0: unknown): string => JSON.stringify({ ...witness, args: { param0 } });
  for (const [wrong, message] of [
    [{ ...array, length: -5 }, /wrong at args\.param0\.length: write a whole number, 0 or more\./],
    [{ ...array, length: 1.5 }, /wrong at args\.param0\.length/],
    [{ ...array, values: { '-1': 3 } }, /wrong at args\.param0\.values\.-1: write the index of an element/],
    [{ ...array, values: { x: 3 } }, /wrong at args\.param0\.values\.x: write the index of an element/],
    [{ ...array, values: [] }, /wrong at args\.param0\.values: write an object/],
    [{ ...array, drawn: 'lots' }, /param0 has an unknown generator "lots"; write for example mixed\(1,64\)/],
    [{ type: 'int64', length: 4, fill: 2 ** 53 }, /param0 holds 9007199254740992, .*write it in quotes/],
    [{ same: 'param0', bytes: -4 }, /wrong at args\.param0\.bytes: write a whole number, 0 or more/],
    [null, /wrong at args\.param0: write a number or an array/],
  ] as const)
    await refused(message, ...input(withArgument(wrong)));
  await refused(/the cluster of the witness has a dimension below 1/, ...input(JSON.stringify({ ...witness, cluster: [-1, 1, 1] })));
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  await refused(/wrong at args\.param0: write a number or an array/, ...input(withArgument('DEEP').replace('"DEEP"', deep)));
  const report = await document(...input(JSON.stringify(witness)));
  assert.deepEqual(report.launch.args, { param0: { type: 'int32', length: 32 }, param1: '&param0' });
  assert.equal((await document(...input(JSON.stringify(witness)), '--block', '8')).launch.block[0], 8);
});

test('CUDA: names and types of parameters, members of structs, launches of comments, both builds', { skip: withoutNvcc }, async () => {
  const source = [
    '#include <cuda_fp16.h>',
    'struct Range { float* data; int n; float scale; long long unused; };',
    '// selvage: block=32 grid=2 arg(shift=3)',
    '__global__ void scale(Range r, const double* table, __half h, unsigned char shift, const float4* quads) {',
    '  int i = blockIdx.x * blockDim.x + threadIdx.x;',
    '  if (i < r.n) r.data[i] = r.data[i] * r.scale + (float)table[i % 4] + __half2float(h) + shift + quads[0].y;',
    '}',
  ];
  write('scale.cu', source.join('\n'));
  const given = ['r.data=float[60]:iota', 'r.n=60', 'r.scale=2', 'table=double:[0.5,0,0,0]', 'h=-1.5', 'quads=float32[4]:[0,10,0,0]'];
  const words = ['scale.cu', ...given.flatMap((text) => ['--arg', text])];
  for (const build of ['verification', 'production']) {
    const report = await document(...words, '--build', build);
    assert.deepEqual([report.status, report.kernel.build], [0, build]);
    assert.deepEqual(
      [report.launch.block, report.launch.grid],
      [
        [32, 1, 1],
        [2, 1, 1],
      ],
    );
    assert.deepEqual(report.launch.args, {
      'r.data': 'float32[60]',
      'r.n': 60,
      'r.scale': 2,
      table: 'float64[4]',
      h: -1.5,
      shift: 3,
      quads: 'float32[4]',
    });
    assert.deepEqual(report.outputs['r.data']?.first.slice(0, 3), [12, 13.5, 15.5]);
  }
  const short = await run(...words.map((word) => word.replace('[60]', '[59]')));
  assert.equal(short.status, 1);
  assert.match(
    short.stdout,
    /error\[memory\/out-of-bounds\]: Thread \(27, 0, 0\) of block \(1, 0, 0\) .* on line 6: byte 236 of 236 in r\.data\.\n +--> scale\.cu:6/,
  );
  const wrong = (argument: string): string[] => [
    ...words
      .filter((word) => !word.startsWith(argument.replace(/=.*/, '=')))
      .flatMap((word, index, all) => (word === '--arg' && (all[index + 1] ?? '--').startsWith('--') ? [] : [word])),
    '--arg',
    argument,
  ];
  await refused(/scale needs more arguments:\n {2}r\.scale {2}float; for example --arg r\.scale=1\.5/, ...wrong('r.scale=2').slice(0, -2));
  await refused(/--arg table is declared const double ?\*, so its elements are float64, not float32/, ...wrong('table=float32[4]'));
  await refused(
    /--arg table is declared const double ?\*, so it takes an array; for example --arg table=float64\[1024\]/,
    ...wrong('table=4'),
  );
  await refused(/--arg r\.n is declared int, so it takes a number/, ...wrong('r.n=int32[4]'));
  await refused(/--arg r is a struct of 24 bytes; give its members, such as r\.data/, ...words, '--arg', 'r=3');
  await refused(/--arg shift cannot be 256: 256 does not fit in 8 bits/, ...words, '--arg', 'shift=256');
  assert.equal((await run('scale.cu', ...words.slice(1), '--arg', 'r.unused=5')).status, 0);
});

test('the source decides whether exited threads returned or skipped a barrier', { skip: withoutNvcc }, async () => {
  const kernel = (first: string, last: string): string =>
    `__global__ void guard(float *a, int n) {\n  int i = threadIdx.x;\n  ${first}\n  a[i] = 1.0f;\n  __syncthreads();\n  a[i] += 1.0f;\n  ${last}\n}\n`;
  const words = ['--block', '64', '--grid', '1', '--arg', 'a=float32[64]', '--arg', 'n=36'];
  write('passed.cu', kernel('if (i < n) {', '}'));
  write('returned.cu', kernel('if (i >= n) return;', ''));
  const [passed, returned] = [await document('passed.cu', ...words), await document('returned.cu', ...words)];
  assert.deepEqual([passed.status, passed.findings.map(({ code }) => code)], [1, ['barrier/divergent']]);
  assert.deepEqual([returned.status, returned.findings.map(({ code }) => code)], [0, ['barrier/early-exit']]);
});

test('a block that needs more shared memory than any device has is rejected', async () => {
  const kernel = '.visible .entry k() { .shared .align 4 .b8 s[SIZE]; st.shared.u32 [s], 1; ret; }';
  const head = '.version 8.0\n.target sm_80\n.address_size 64\n';
  write('huge.ptx', head + kernel.replace('SIZE', '2147483647'));
  const ran = await run('huge.ptx', ...one);
  assert.equal(ran.status, 3);
  assert.equal(ran.stdout, '');
  assert.match(ran.stderr, /^selvage: huge\.ptx:4: k: no device runs the launch: .* not 2147483648\n$/);
  write('most.ptx', head + kernel.replace('SIZE', '232448'));
  assert.equal((await run('most.ptx', ...one)).status, 0);
  assert.equal((await run('most.ptx', ...one, '--shared', '4')).status, 3);
});

test('CUDA that does not compile: the message, exit code 3, no document', { skip: withoutNvcc }, async () => {
  write('broken.cu', '__global__ void k() {\n  int i = ;\n}\n');
  const ran = await run('broken.cu', ...one);
  assert.equal(ran.status, 3);
  assert.equal(ran.stdout, '');
  assert.match(ran.stderr, /^selvage: broken\.cu:2: .*expected an expression/);
});

test('a progress bar with rate and remaining time, only on a terminal', async () => {
  const { progressBar, progressText } = await import('../../../src/app/run/run-progress.ts');
  assert.equal(
    progressText({ steps: 50_000_000, endedBlocks: 250, blocks: 1000 }, 2000),
    '[######..................] 25 % of 1000 blocks, 25 M instructions a second, 6 s left',
  );
  assert.match(progressText({ steps: 100, endedBlocks: 0, blocks: 1 }, 10), / 0 % of 1 blocks, 10 k instructions a second$/);
  let now = 0;
  let shown = '';
  const bar = progressBar(
    (text) => void (shown += text),
    () => now,
  );
  const progress = { steps: 1000, endedBlocks: 1, blocks: 2 };
  bar.update(progress);
  assert.equal(shown, '', 'no bar for a short run');
  now = 1000;
  bar.update(progress);
  bar.update(progress);
  bar.end();
  assert.deepEqual(
    shown.split('\r').map((part) => part.length > 20),
    [false, true, false],
  );
  const quiet = await selvage(['run', 'copy.ptx', ...one, ...zeros], folder, { terminal: true });
  assert.equal(quiet.stderr, '');
});
