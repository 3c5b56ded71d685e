/** Kernels that read textures: idempotent unless they write to memory bound to a texture among their arguments. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { classify } from '../../src/idempotency/classify.ts';
import { isKnownToHold, type InstanceArguments } from '../../src/idempotency/validator/instance-condition.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { definedKernels } from '../interpreter/machine-kernels.ts';

const folder = new URL('./classes/', import.meta.url);
const parameters = definedKernels(readFileSync(new URL('textures.cu', folder), 'utf8'));
const { module } = parsePtx(readFileSync(new URL('textures.production.ptx', folder), 'utf8'));
const { kernels } = lowerModule(module);

function classified(name: string) {
  const kernel = kernels.find(({ symbol }) => symbol.startsWith(`_Z${name.length}${name}`));
  assert.ok(kernel, name);
  const race = {
    verdict: 'proved',
    assumptions: [{ kind: 'texture-apart', text: 'no texture is bound to memory that the kernel writes' }],
  } as const;
  return classify({
    kernel,
    module,
    parameters: parameters.get(name)!,
    objectName: (symbol) => symbol,
    checked: { race, divergence: { verdict: 'proved', assumptions: [] } },
    stated: [],
  });
}

const clauses = (name: string): string[] => classified(name).overlaps.map(({ written, read }) => `${written}: ${read.join(' ')}`);

test('a texture argument is one of the arrays of the condition', () => {
  assert.equal(classified('sample').class, 'conditional');
  assert.deepEqual(clauses('sample'), ['out: image']);
  assert.equal(classified('blend').class, 'conditional');
  assert.equal(clauses('blend').length, 1);
});

test('textures without a known binding may be bound to any memory', () => {
  for (const name of ['oneOfTable', 'oneOfTwo']) {
    const { class: kind, reasons } = classified(name);
    assert.equal(kind, 'undecided', name);
    assert.deepEqual(
      reasons.map((reason) => reason.kind),
      ['unknown-texture'],
    );
  }
});

test('an element that is changed in place must not be changed again', () => {
  for (const name of ['addTexture', 'limitByTexture']) {
    const { class: kind, reasons } = classified(name);
    assert.equal(kind, 'undecided', name);
    assert.deepEqual(
      reasons.map((reason) => reason.kind),
      ['read-then-write'],
    );
  }
});

test('a launch satisfies the condition if the memory of the texture is known and disjoint', () => {
  const { condition } = classified('sample');
  const bytes = new DataView(new ArrayBuffer(24));
  bytes.setBigUint64(0, 7n, true);
  bytes.setBigUint64(8, 0x10000n, true);
  bytes.setInt32(16, 16, true);
  bytes.setInt32(20, 16, true);
  const launch: InstanceArguments = {
    arguments: new Uint8Array(bytes.buffer),
    offsets: [0, 8, 16, 20],
    block: [16, 16, 1],
    grid: [1, 1, 1],
    dynamicShared: 0,
  };
  const boundTo = (start: bigint): InstanceArguments => ({
    ...launch,
    texture: (handle) => (handle === 7n ? { start, bytes: 1024n } : undefined),
  });
  assert.equal(isKnownToHold(condition, launch), false);
  assert.equal(isKnownToHold(condition, boundTo(0x20000n)), true);
  assert.equal(isKnownToHold(condition, boundTo(0x10400n)), true);
  assert.equal(isKnownToHold(condition, boundTo(0x103ffn)), false);
  assert.equal(isKnownToHold(condition, { ...launch, allocation: () => ({ start: 0n, bytes: 64n }) }), false);
});
