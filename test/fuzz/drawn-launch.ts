/** Launches of a kernel drawn within what its verdict takes for granted, and what the machine sees in them. */
import type { Dim3 } from '../../src/base/dim3.ts';
import type { DivergenceEvent, RaceEvent } from '../../src/machine/core/run-result.ts';
import type { Argument, GlobalBuffer } from '../../src/machine/core/arguments.ts';
import type { Random } from '../../src/base/random.ts';
import { kernelContext } from '../../src/check/context/kernel-facts.ts';
import type { ParameterField } from '../../src/launch/parameter-field.ts';
import type { CheckRequest } from '../../src/check/question/request.ts';
import type { RunRequest } from '../../src/machine/core/run-request.ts';
import { runKernel } from '../../src/machine/machine.ts';
import type { StatedScalar } from './cuda-setting.ts';
import { breaksAssumptions, isInBounds } from './soundness-run.ts';

/** What one run showed; null: it breaks an assumption, and shows nothing. */
export interface Seen {
  readonly race: RaceEvent | undefined;
  readonly divergence: DivergenceEvent | undefined;
  /** The launch, in words. */
  readonly launch: string;
}

const elements = 2048;
const steps = 300_000;

type Draw = (element: number) => number;

/** What an array holds: small numbers, as indices, bounds and flags are. */
function contents(random: Random): Draw {
  const most = random.pick([1, 2, 4, 64]);
  const fixed = random.below(4);
  return random.pick<Draw>([
    () => random.below(most + 1),
    () => random.below(most + 1),
    () => random.below(64),
    () => fixed,
    (element) => element,
    (element) => elements - element,
    (element) => element & 3,
    () => 0,
  ]);
}

function bits(value: number, type: string): { bytes: number; pattern: bigint } {
  if (/\bfloat\b/.test(type))
    return { bytes: 4, pattern: BigInt(new Uint32Array(new Float32Array([value]).buffer)[0]!) };
  return { bytes: 4, pattern: BigInt.asUintN(32, BigInt(value)) };
}

/**
 * Runs a kernel once, with dimensions, scalars, contents and order of threads drawn at random.
 * @param zeroed parameters whose arrays hold zeros at the start
 * @param stated what scalars are
 */
export function runDrawn(
  request: CheckRequest,
  { zeroed, stated }: { readonly zeroed: readonly string[]; readonly stated: readonly StatedScalar[] },
  random: Random,
): Seen | null {
  const context = kernelContext(request);
  const { kernel, parameters, launch } = request;
  const width = random.pick([1, 2, 31, 32, 33, 64, 96, 128, 200, 256]);
  const block: Dim3 = launch.block ?? [width, 1, 1];
  const grid: Dim3 = launch.grid ?? [random.between(1, 5), 1, 1];
  const threads = block[0] * block[1] * block[2];
  const all = threads * grid[0] * grid[1] * grid[2];
  const buffers: GlobalBuffer[] = [];
  const scalars: Record<string, string> = {};
  const fieldOf = new Map<number, ParameterField>(context.fields.map((field) => [field.index, field]));
  const values = kernel.parameters.map(({ index, bytes }): Argument => {
    const { name, type } = parameters[index]!;
    if (type.includes('*')) {
      const draw = zeroed.includes(name) ? (): number => 0 : contents(random);
      const drawn = Array.from({ length: elements }, (_, element) => [element, bits(draw(element), type).pattern] as const); // prettier-ignore
      buffers.push({ name: `${index}.0`, bytes: null, elementBytes: 4, fill: bits(draw(0), type).pattern, values: new Map(drawn) }); // prettier-ignore
      return { kind: 'pointer', buffer: buffers.length - 1, offset: 0n };
    }
    const choices = [0, 1, 2, 3, 4, 5, 7, 8, 16, 20, 33, 64, 100, threads, all, all - 1, all + 7, -3];
    const { least = -Infinity, multiple = 1 } = stated.find((one) => one.name === name) ?? {};
    const chosen = Math.ceil(Math.max(random.pick(choices), least) / multiple) * multiple;
    const value = launch.scalars.get(index) ?? BigInt.asUintN(8 * bytes, BigInt(chosen));
    if (fieldOf.has(index)) scalars[name] = String(value);
    return { kind: 'scalar', value };
  });
  const seed = random.chance(0.3) ? undefined : random.below(1_000_000);
  const run: RunRequest = {
    kernel,
    block,
    grid,
    sharedBytes: 0,
    buffers,
    arguments: values,
    steps,
    detectRaces: true,
    ...(seed === undefined ? {} : { seed }),
  };
  const result = runKernel(run);
  if (breaksAssumptions(result)) return null;
  return {
    race: result.races.find((event) => event.unmodelled.length === 0 && isInBounds(context, event)),
    divergence: result.divergences.find(({ kind }) => kind !== 'early-exit'),
    launch: JSON.stringify({ block, grid, scalars, seed, outcome: result.outcome }),
  };
}
