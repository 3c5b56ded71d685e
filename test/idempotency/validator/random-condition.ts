/** Random quantities, conditions and launches, many of them at the limits of validators. */
import type { Random } from '../../../src/base/random.ts';
import type { AddressSet, Axis, Quantity, ValidatorCondition } from '../../../src/idempotency/model/quantity.ts';
import type { InstanceArguments } from '../../../src/idempotency/validator/instance-condition.ts';

/** Three pointers, an `int`, a `short`, a `long long` and a byte. */
export const parameters = [
  { offset: 0, bytes: 8 },
  { offset: 8, bytes: 8 },
  { offset: 16, bytes: 8 },
  { offset: 24, bytes: 4 },
  { offset: 28, bytes: 2 },
  { offset: 32, bytes: 8 },
  { offset: 40, bytes: 1 },
] as const;
const argumentBytes = 41;

const constant = (value: bigint): Quantity => ({ kind: 'constant', value });

function randomConstant(random: Random): Quantity {
  const small = BigInt(random.between(-4, 40));
  if (random.chance(0.85)) return constant(small);
  return constant(random.pick([1n, -1n]) * (1n << BigInt(random.pick([31, 32, 62, 63, 64, 100, 126, 127, 130]))) + small);
}

function argumentQuantity(random: Random): Quantity {
  const index = random.chance(0.03) ? 7 : random.below(parameters.length);
  const bytes = random.chance(0.1) ? random.pick([1, 2, 4, 8] as const) : (parameters[index]?.bytes ?? 4);
  const offset = random.chance(0.05) ? random.between(-1, 3) : 0;
  return { kind: 'argument', index, offset, bytes, signed: index > 2 && random.chance(0.8) };
}

function leaf(random: Random): Quantity {
  const axis = random.below(3) as Axis;
  return random.pick<() => Quantity>([
    () => randomConstant(random),
    () => argumentQuantity(random),
    () => argumentQuantity(random),
    () => ({ kind: 'block-size', axis }),
    () => ({ kind: 'grid-size', axis }),
    () => ({ kind: 'dynamic-shared' }),
    () => ({ kind: 'symbol', name: random.chance(0.8) ? 'table' : '"*/ \\ ??/' }),
    () => ({ kind: random.chance(0.5) ? 'allocation-start' : 'allocation-bytes', pointer: argumentQuantity(random) }),
    () => ({ kind: random.chance(0.5) ? 'texture-start' : 'texture-bytes', texture: argumentQuantity(random) }),
  ])();
}

function randomQuantity(random: Random, depth: number): Quantity {
  if (depth === 0 || random.chance(0.25)) return leaf(random);
  const next = (): Quantity => randomQuantity(random, depth - 1);
  const operands = (): Quantity[] => Array.from({ length: random.chance(0.03) ? 0 : random.between(1, 3) }, next);
  return random.pick<() => Quantity>([
    () => ({ kind: 'sum', operands: operands() }),
    () => ({ kind: 'sum', operands: operands() }),
    () => ({ kind: 'product', operands: operands() }),
    () => ({ kind: random.chance(0.5) ? 'min' : 'max', operands: operands() }),
    () => ({ kind: random.chance(0.5) ? 'quotient' : 'remainder', dividend: next(), divisor: next() }),
    () => ({ kind: random.pick(['and', 'or', 'xor', 'shift-left', 'shift-right']), left: next(), right: next() }),
    () => ({ kind: 'choice', test: randomCondition(random, depth - 1), yes: next(), no: next() }),
  ])();
}

/** Some are sets as kernels have them, and others are not. */
function randomSet(random: Random): AddressSet {
  const pointer: Quantity = { kind: 'argument', index: random.below(3), offset: 0, bytes: 8, signed: false };
  const count = (): Quantity =>
    random.pick<Quantity>([
      { kind: 'block-size', axis: 0 },
      { kind: 'argument', index: 3, offset: 0, bytes: 4, signed: true },
      constant(BigInt(random.between(0, 9))),
    ]);
  const plain = random.chance(0.8);
  const base = plain ? { kind: 'sum' as const, operands: [pointer, constant(BigInt(random.between(0, 24)))] } : randomQuantity(random, 2);
  const steps = Array.from({ length: random.below(4) }, () => ({
    stride: plain ? constant(BigInt(random.pick([1, 2, 4, 8, 12, 16, 20, 24, 64, -4, -8, 1000]))) : randomQuantity(random, 1),
    count: plain ? count() : randomQuantity(random, 1),
  }));
  return { base, steps, bytes: random.pick([1, 2, 4, 8, 16]) };
}

export function randomCondition(random: Random, depth: number): ValidatorCondition {
  const next = (): ValidatorCondition => randomCondition(random, depth - 1);
  const parts = (): ValidatorCondition[] => Array.from({ length: random.below(5) }, next);
  const compare = (): ValidatorCondition => ({
    kind: 'compare',
    comparison: random.pick(['=', '!=', '<', '<=']),
    left: randomQuantity(random, 2),
    right: randomQuantity(random, 1),
  });
  if (depth <= 0) return compare();
  return random.pick<() => ValidatorCondition>([
    compare,
    () => ({ kind: random.pick(['always', 'never']) }),
    () => ({ kind: 'all', conditions: parts() }),
    () => ({ kind: 'any', conditions: parts() }),
    () => ({ kind: 'disjoint', left: randomSet(random), right: randomSet(random) }),
    () => ({ kind: 'disjoint', left: randomSet(random), right: randomSet(random) }),
    () => ({ kind: 'within', inner: randomSet(random), outer: randomSet(random) }),
  ])();
}

export function randomLaunch(random: Random): InstanceArguments & { readonly dynamicShared: number } {
  const bytes = new Uint8Array(argumentBytes);
  const view = new DataView(bytes.buffer);
  for (const { offset } of parameters.slice(0, 3)) {
    const edge = random.chance(0.1);
    const address = edge ? random.pick([0n, (1n << 64n) - 16n, 1n << 63n, 0x18000n]) : 0x10000n + BigInt(random.below(200));
    view.setBigUint64(offset, address, true);
  }
  const n = random.chance(0.1) ? random.pick([-1, 2 ** 31 - 1, -(2 ** 31)]) : random.between(0, 40);
  view.setInt32(24, n, true);
  view.setInt16(28, random.between(-3, 20), true);
  view.setBigInt64(32, random.chance(0.2) ? (1n << 63n) - 1n : BigInt(random.between(-20, 20)), true);
  view.setInt8(40, random.between(-128, 127));
  const block = [random.between(1, 32), random.between(1, 4), random.between(1, 2)] as const;
  const grid = [random.chance(0.05) ? 2 ** 31 - 1 : random.between(1, 9), random.between(1, 3), random.chance(0.05) ? 0 : 1] as const;
  return {
    arguments: bytes,
    offsets: parameters.map(({ offset }) => offset),
    block,
    grid,
    dynamicShared: random.pick([0, 128, 49152]),
    allocation: (address) => (address & 0x8000n ? undefined : { start: address & ~0xffffn, bytes: 0x100n }),
    symbol: (name) => (name === 'table' ? 0x10080n : undefined),
  };
}
