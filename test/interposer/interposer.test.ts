/** The interposer under a driver that runs nothing: correct verdicts, unchanged calls, no leak, no crash. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after, describe, test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import type { AddressSet, Quantity, ValidatorCondition } from '../../src/idempotency/model/quantity.ts';
import { validatorSource } from '../../src/idempotency/validator/c-source.ts';
import { codeHash } from '../../src/interposer/code/code-hash.ts';
import { nvcc } from '../toolchain/fixture.ts';
import { cubin, fatBinary, firstPayload, specific, type Entry } from './images.ts';
import { hasCompiler, hasProgram, InterposerBuild, ptx, sources } from './interposer-build.ts';

const withoutCompiler = hasCompiler() ? {} : { skip: 'no C compiler on Linux' };
const parent = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-test-')));
after(() => rmSync(parent, { recursive: true, force: true }));
const build = hasCompiler() ? new InterposerBuild(parent) : undefined!;

/** Reasons of verdicts, as `selvage-idempotency.h` numbers them. */
const idempotent = '0 0';
const noValidator = '2 4';
const unknownCode = '2 6';

/** Verdict and reason of a launch of each image. */
function classifyTrace(images: Readonly<Record<string, Buffer>>, settings: Record<string, string> = {}): Map<string, string> {
  const folder = mkdtempSync(join(parent, 'images-'));
  for (const [name, image] of Object.entries(images)) writeFileSync(join(folder, name), image);
  const names = Object.keys(images).map((name) => join(folder, name));
  const { status, signal, output } = build.run(['images', ...names], settings);
  assert.deepEqual({ status, signal }, { status: 0, signal: null });
  const lines = output.trimEnd().split('\n');
  assert.equal(lines.length, names.length);
  return new Map(
    lines.map((line) => {
      const [name, verdict, reason, launched] = line.split(' ');
      assert.equal(launched, '0', `${line}: the launch reached the driver`);
      return [basename(name!), `${verdict} ${reason}`];
    }),
  );
}

const text = Buffer.from(`${ptx}\0`);
const other = Buffer.from(`${ptx.replace('add.f32', 'sub.f32')}\0`);
const ptx80: Entry = { kind: 'ptx', architecture: 80, payload: text };
const libraries = hasCompiler() ? execFileSync('sh', ['-c', '/sbin/ldconfig -p || true'], { encoding: 'utf8' }) : '';

describe('interposer', withoutCompiler, () => {
  test('each rule of the interposer gives the expected verdict', () => {
    const { status, output, errors } = build.run(['cases', build.text]);
    assert.deepEqual(
      output.split('\n').filter((line) => line.startsWith('not ok')),
      [],
    );
    const warning = 'selvage-idempotency: this cuMemFree of the driver is not known, its calls are not seen\n';
    assert.deepEqual({ status, errors }, { status: 0, errors: warning });
    assert.ok(output.split('\n').length > 100, 'the program has run its cases');
  });

  test('validators treat allocations as unknown without recorded extents', () => {
    const { status, output } = build.run(['cases', build.text], { SELVAGE_IDEMPOTENCY_EXTENTS: 'off' });
    assert.equal(status, 0, output);
  });

  test('100,000 launches from 4 threads through three entry points', () => {
    const { status, output } = build.run(['many', build.text, '100000', '4']);
    assert.equal(output, '100000 launches from 4 threads: 16668 idempotent, 50004 not, 33328 undecided; 0 wrong, 0 sums differ\n');
    assert.equal(status, 0);
  });

  test('generated validators give the same verdicts', () => {
    const argument = (index: number, bytes: 4 | 8): Quantity => {
      return { kind: 'argument', index, offset: 0, bytes, signed: bytes === 4 };
    };
    const constant = (value: bigint): Quantity => ({ kind: 'constant', value });
    const array = (index: number): AddressSet => {
      return { base: argument(index, 8), steps: [{ stride: constant(4n), count: argument(3, 4) }], bytes: 4 };
    };
    const disjoint = (index: number): ValidatorCondition => ({ kind: 'disjoint', left: array(2), right: array(index) });
    const pointer = { offset: 0, bytes: 8 };
    const codeHashOfText = codeHash(ptx);
    const source = validatorSource([
      {
        kernel: 'vectorAdd',
        codeHash: codeHashOfText,
        parameters: [pointer, { offset: 8, bytes: 8 }, { offset: 16, bytes: 8 }, { offset: 24, bytes: 4 }],
        condition: { kind: 'all', conditions: [disjoint(0), disjoint(1)] },
        pointers: [0, 8, 16],
        written: { sets: [array(2)], needs: { kind: 'always' } },
      },
      {
        kernel: 'vectorInc',
        codeHash: codeHashOfText,
        parameters: [pointer, { offset: 8, bytes: 4 }],
        condition: { kind: 'never' },
      },
    ]);
    const validators = build.path('generated.so');
    writeFileSync(build.path('generated.c'), source);
    const headers = ['-I', sources, '-I', join(sources, '../idempotency/validator')];
    execFileSync('cc', ['-O2', '-shared', '-fPIC', ...headers, '-o', validators, build.path('generated.c')]);
    const settings = { SELVAGE_IDEMPOTENCY_VALIDATORS: validators };
    const { status, output } = build.run(['many', build.text, '60000', '4'], settings);
    assert.equal(status, 0, output);
  });

  test('the interposer has no leak and no invalid access', (context) => {
    const tool = leakTool();
    context.diagnostic(`checked with ${tool.name}`);
    const many = tool.run(['many', build.text, '12000', '4']);
    assert.equal(many.status, 0, many.output + many.errors);
    const cases = tool.run(['cases', build.text]);
    assert.equal(cases.status, 0, cases.output + cases.errors);
    if (!tool.reachable) return;
    // The allocated memory does not grow with the launches, nor with modules and allocations that are freed.
    const few = tool.run(['many', build.text, '1200', '4']);
    assert.ok(tool.reachable(many.errors) <= tool.reachable(few.errors) + 4096, many.errors + few.errors);
  });

  test('the code of an image is that of the PTX that runs', () => {
    const cubin80: Entry = { kind: 'cubin', architecture: 80, payload: cubin(80) };
    const images: Record<string, [Buffer, string]> = {
      text: [text, idempotent],
      'text-without-end': [text.subarray(0, -1), unknownCode],
      'embedded-text': [Buffer.from(`\n\n${ptx.replaceAll(/\/\/.*|\t/g, ' ')}\0`), idempotent],
      'other-text': [other, noValidator],
      ptx: [fatBinary([ptx80]), idempotent],
      'ptx.wrapped': [fatBinary([ptx80]), idempotent],
      'ptx-lz4': [fatBinary([{ ...ptx80, compression: 'lz4' }]), idempotent],
      'ptx-unknown-compression': [fatBinary([{ ...ptx80, compression: 'lz4' }]).fill(0, 16 + 41, 16 + 42), unknownCode],
      'cubin-and-ptx': [fatBinary([cubin80, ptx80]), idempotent],
      'cubin-lz4-and-ptx': [fatBinary([{ ...cubin80, compression: 'lz4' }, ptx80]), idempotent],
      'cubin-of-other-ptx': [fatBinary([{ ...cubin80, payload: cubin(75) }, ptx80]), noValidator],
      'cubin-with-flags': [fatBinary([{ ...cubin80, payload: cubin(80, 'flags') }, ptx80]), idempotent],
      'cubin-with-other-flags': [fatBinary([{ ...cubin80, payload: cubin(75, 'flags') }, ptx80]), noValidator],
      'cubin-that-is-not-linked': [fatBinary([{ ...cubin80, payload: cubin(80, 'note', false) }, ptx80]), noValidator],
      'cubin-that-does-not-run': [fatBinary([{ ...cubin80, architecture: 86 }, ptx80]), idempotent],
      'only-cubin': [fatBinary([cubin80]), noValidator],
      'bare-cubin': [cubin(80), noValidator],
      'newest-ptx': [fatBinary([{ kind: 'ptx', architecture: 75, payload: other }, ptx80]), idempotent],
      'older-ptx': [
        fatBinary([
          { ...ptx80, architecture: 75 },
          { ...ptx80, payload: other },
        ]),
        noValidator,
      ],
      'ptx-twice': [fatBinary([ptx80, { ...ptx80, payload: other }]), unknownCode],
      'ptx-that-does-not-run': [fatBinary([{ ...ptx80, architecture: 90 }]), unknownCode],
      'only-ptx-for-another': [fatBinary([{ ...ptx80, architecture: 75, flags: specific }]), unknownCode],
      empty: [Buffer.alloc(0), unknownCode],
      nothing: [fatBinary([]), unknownCode],
    };
    if (libraries.includes('libzstd.so.1')) images['ptx-zstd'] = [fatBinary([{ ...ptx80, compression: 'zstd' }]), idempotent];
    const found = classifyTrace(Object.fromEntries(Object.entries(images).map(([name, [image]]) => [name, image])));
    assert.deepEqual(found, new Map(Object.entries(images).map(([name, [, verdict]]) => [name, verdict])));
  });

  test('with forced PTX cubins are ignored', () => {
    const image = fatBinary([{ kind: 'cubin', architecture: 80, payload: cubin(75) }, ptx80]);
    assert.deepEqual(classifyTrace({ image }, { CUDA_FORCE_PTX_JIT: '1' }), new Map([['image', idempotent]]));
  });

  test('for a cubin of an older device and other PTX either may run', () => {
    const cubin80: Entry = { kind: 'cubin', architecture: 80, payload: cubin(80) };
    const images = {
      same: fatBinary([cubin80, ptx80]),
      newer: fatBinary([cubin80, ptx80, { ...ptx80, architecture: 86, payload: other }]),
      exact: fatBinary([cubin80, { ...cubin80, architecture: 86, payload: cubin(80) }, ptx80, { ...ptx80, architecture: 86 }]),
      'second-version.wrapped2': fatBinary([ptx80]),
    };
    const expected = new Map(Object.keys(images).map((name) => [name, idempotent]));
    assert.deepEqual(
      classifyTrace(images, { STUB_ARCHITECTURE: '86' }),
      expected.set('newer', unknownCode).set('second-version.wrapped2', unknownCode),
    );
  });

  test('truncated images are classified as unknown', () => {
    const images: Record<string, Buffer> = {};
    const entries: Entry[] = [{ kind: 'cubin', architecture: 80, payload: cubin(80) }, ptx80];
    for (const [name, whole] of [
      ['raw', fatBinary(entries)],
      ['lz4', fatBinary([{ ...ptx80, compression: 'lz4' }])],
      ['zstd', fatBinary([{ ...ptx80, compression: 'zstd' }])],
      ['cubin', cubin(80)],
      ['text', text],
    ] as const) {
      for (let bytes = 0; bytes < whole.length; bytes += bytes < 160 ? 1 : 7) {
        images[`${name}-${bytes}`] = whole.subarray(0, bytes);
      }
    }
    const found = classifyTrace(images);
    assert.ok(found.size > 400);
    for (const [name, verdict] of found) assert.equal(verdict, unknownCode, name);
  });

  test('images with overflowing lengths are classified as unknown', () => {
    const images: Record<string, Buffer> = {};
    const whole = fatBinary([{ ...ptx80, compression: 'lz4' }]);
    // The lengths of the image, header, payload, compressed and decompressed data.
    for (const [at, bytes] of [
      [8, 8],
      [6, 2],
      [16 + 4, 4],
      [16 + 8, 8],
      [16 + 16, 4],
      [16 + 56, 8],
    ] as const) {
      for (const value of [0n, 1n, 2n ** 31n - 1n, 2n ** 32n - 1n, 2n ** 63n, 2n ** 64n - 16n, 2n ** 64n - 1n]) {
        const changed = Buffer.from(whole);
        const field = Buffer.alloc(8);
        field.writeBigUInt64LE(value);
        field.copy(changed, at, 0, bytes);
        images[`${at}-${value}`] = changed;
      }
    }
    for (const [name, verdict] of classifyTrace(images)) assert.equal(verdict, unknownCode, name);
  });

  test('damaged images are never accepted as intact', () => {
    const random = seededRandom(17);
    const images: Record<string, Buffer> = {};
    const wholes = [[ptx80], [{ ...ptx80, compression: 'lz4' }], [{ kind: 'cubin', architecture: 80, payload: cubin(80) }, ptx80]] as const;
    for (let i = 0; i < 600; i++) {
      const image = Buffer.from(fatBinary(random.pick(wholes)));
      for (let j = random.between(1, 3); j > 0; j--) image[random.below(image.length)] = random.below(256);
      images[`${i}`] = image;
    }
    const found = classifyTrace(images);
    const hash = codeHash(ptx);
    for (const [name, verdict] of found) {
      const image = images[name]!;
      if (verdict !== idempotent || image.readUInt16LE(16) !== 1 || (image.readUInt16LE(16 + 40) & 0x2000) !== 0) continue;
      const payload = image.subarray(firstPayload, image.length).toString('latin1');
      assert.equal(codeHash(payload.slice(0, payload.indexOf('\0'))), hash, name);
    }
    const count = (wanted: string): number => [...found.values()].filter((verdict) => verdict === wanted).length;
    assert.ok(count(unknownCode) > 50 && count(noValidator) > 50, 'damage is of several kinds');
  });

  test('a launch of unknown machine code is recorded under the hash of the code', () => {
    const folder = build.makeFolder('record');
    const settings = { SELVAGE_IDEMPOTENCY_RECORD: folder };
    classifyTrace({ a: text, b: other, c: fatBinary([{ ...ptx80, payload: other }]), d: cubin(80), e: Buffer.from('no PTX\0') }, settings);
    const files = readdirSync(folder).sort();
    assert.equal(files.length, 2, files.join(' '));
    const recorded = readFileSync(
      join(
        folder,
        files.find((file) => file.endsWith('.ptx'))!,
      ),
      'utf8',
    );
    assert.equal(recorded, other.subarray(0, -1).toString());
    assert.ok(files.includes(`${codeHash(recorded)}.ptx`));
    assert.deepEqual(
      readFileSync(
        join(
          folder,
          files.find((file) => file.endsWith('.cubin'))!,
        ),
      ),
      cubin(80),
    );
    assert.equal(build.run(['cases', build.text], { SELVAGE_IDEMPOTENCY_RECORD: '/dev/null/none' }).status, 0);
  });

  test('the log counts launches by kernel and reason', () => {
    const log = build.path('log.jsonl');
    assert.equal(build.run(['many', build.text, '6000', '1'], { SELVAGE_IDEMPOTENCY_LOG: log }).status, 0);
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    const code = codeHash(ptx);
    const line = (kernel: string, idempotentOnes: number, reasons: Record<string, number>): object => {
      const sum = (of: readonly string[]): number => of.reduce((total, reason) => total + (reasons[reason] ?? 0), 0);
      const [notIdempotent, undecided] = [sum(['validator']), sum(['no-validator', 'dimensions'])];
      const launches = idempotentOnes + notIdempotent + undecided;
      const head = kernel === '*' ? { kernel } : { kernel, code };
      return { ...head, launches, idempotent: idempotentOnes, notIdempotent, undecided, reasons };
    };
    const parsed = lines.map((each) => JSON.parse(each) as { kernel: string });
    assert.deepEqual(
      new Map(parsed.map((each) => [each.kernel, each])),
      new Map<string, object>([
        ['vectorAdd', line('vectorAdd', 1000, { validator: 2000, dimensions: 1000 })],
        ['vectorInc', line('vectorInc', 0, { validator: 1000 })],
        ['unjudged', line('unjudged', 0, { 'no-validator': 1000 })],
        ['*', line('*', 1000, { validator: 3000, 'no-validator': 1000, dimensions: 1000 })],
      ]),
    );
  });

  test('validators that cannot be loaded are named, and the program continues', () => {
    const strange = build.path('strange.so');
    const old = build.path('old.so');
    execFileSync('cc', ['-shared', '-fPIC', '-x', 'c', '-o', strange, '-'], { input: 'int nothing;' });
    execFileSync('cc', ['-shared', '-fPIC', '-x', 'c', '-o', old, '-'], {
      input: 'const unsigned selvage_validators_version = 0; const char selvage_validators[64];',
    });
    const validators = [build.path('none.so'), '', strange, old, build.path('validators.so')].join(':');
    const { status, errors } = build.run(['cases', build.text], { SELVAGE_IDEMPOTENCY_VALIDATORS: validators });
    assert.equal(status, 0);
    assert.match(errors, /none\.so: .*\n.*strange\.so: it holds no validators\n.*old\.so: its validators have another version\n/);
  });

  test('the types of the driver are those of cuda.h', (context) => {
    const check = fileURLToPath(new URL('driver-types-check.c', import.meta.url));
    // The host compiler of nvcc finds cuda.h. The node type of graphs is longer since CUDA 12.2.
    if (!nvcc || nvcc.version.major < 13) return context.skip('no nvcc of CUDA 13');
    execFileSync(nvcc.path, ['-c', '-Xcompiler', '-std=c11', '-I', sources, '-o', build.path('check.o'), check]);
  });

  test('the PTX that nvcc embeds has the hash of the PTX that it writes', (context) => {
    if (!nvcc) return context.skip('no nvcc');
    const source = build.path('kernel.cu');
    writeFileSync(source, 'extern "C" __global__ void vectorAdd(float *a) { a[threadIdx.x] = a[blockIdx.x] + 1; }\n');
    execFileSync(nvcc.path, ['-arch=sm_80', '-ptx', '-o', build.path('kernel.ptx'), source]);
    const folder = build.makeFolder('record-of-nvcc');
    const images: Record<string, Buffer> = {};
    for (const [name, flags] of Object.entries({
      none: ['--compress-mode=none'],
      default: [],
      ptx: ['-gencode', 'arch=compute_80,code=compute_80'],
      several: ['-gencode=arch=compute_80,code=[sm_80,compute_80]', '-gencode=arch=compute_90,code=[sm_90,compute_90]'],
    })) {
      const target = name === 'ptx' || name === 'several' ? flags : ['-arch=sm_80', ...flags];
      if (name !== 'none' && !libraries.includes('libzstd.so.1')) continue;
      execFileSync(nvcc.path, [...target, '-fatbin', '-o', build.path(`${name}.fatbin`), source]);
      images[name] = readFileSync(build.path(`${name}.fatbin`));
    }
    classifyTrace(images, { SELVAGE_IDEMPOTENCY_RECORD: folder });
    assert.deepEqual(readdirSync(folder), [`${codeHash(readFileSync(build.path('kernel.ptx'), 'utf8'))}.ptx`]);
  });
});

interface LeakTool {
  readonly name: string;
  run(args: readonly string[]): { status: number | null; output: string; errors: string };
  /** Bytes still in use at the end, according to the tool. */
  readonly reachable?: (errors: string) => number;
}

/** valgrind, or gcc's sanitizers if it is missing. */
function leakTool(): LeakTool {
  if (hasProgram('valgrind')) {
    const flags = ['--leak-check=full', '--errors-for-leak-kinds=definite,indirect,possible', '--error-exitcode=9'];
    return {
      name: 'valgrind',
      run: (args) => build.run(args, {}, ['valgrind', ...flags, build.path('program')]),
      reachable: (errors) => Number(/still reachable: ([\d,]+)/.exec(errors)![1]!.replaceAll(',', '')),
    };
  }
  build.buildProgram('sanitized', '-fsanitize=address,undefined');
  const preload = execFileSync('cc', ['-print-file-name=libasan.so'], { encoding: 'utf8' }).trim();
  return {
    name: 'AddressSanitizer and LeakSanitizer of the compiler, without valgrind',
    run: (args) => build.run(args, { preload }, [build.path('sanitized')]),
  };
}
