/** Random launches of a kernel within the assumptions of its verdict, and findings of the interpreter in them. */
import type { Dim3 } from '../../src/base/dim3.ts';
import type { DivergenceEvent, RaceEvent } from '../../src/interpreter/core/run-result.ts';
import type { Argument, GlobalBuffer } from '../../src/interpreter/core/arguments.ts';
import type { Random } from '../../src/base/random.ts';
import { recognised } from '../../src/app/run/run-findings.ts';
import type { KernelContext } from '../../src/check/context/facts.ts';
import { chooseScalars } from '../../src/check/representative/scalar-choice.ts';
import { satisfiesAssumptions } from '../../src/check/representative/representative-launches.ts';
import { clusterOf } from '../../src/launch/launch.ts';
import type { ParameterField } from '../../src/launch/parameter-field.ts';
import type { RunRequest } from '../../src/interpreter/core/run-request.ts';
import { runKernel } from '../../src/interpreter/machine.ts';
import type { StatedScalar } from './cuda-setting.ts';
import { breaksAssumptions, isInBounds } from './soundness-run.ts';

/** Findings of one run. */
export interface Seen {
  readonly race: RaceEvent | undefined;
  readonly divergence: DivergenceEvent | undefined;
  /** The launch, in words. */
  readonly launch: string;
}

/** Why a run cannot be evidence on a proof. */
export type Discarded =
  /** No launch was found that satisfies the preconditions of the proof. */
  | 'unmet'
  /** An index left an object of known extent. */
  | 'out of bounds'
  /** An assumption in the code was violated. */
  | 'broken';

const elements = 2048;
const steps = 300_000;
/** Maximum number of random launches until one satisfies the preconditions of a proof. */
const mostTries = 40;

type Draw = (element: number) => number;

/** The contents of an array: small numbers, as indices, bounds and flags are. */
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
  if (/\bfloat\b/.test(type)) return { bytes: 4, pattern: BigInt(new Uint32Array(new Float32Array([value]).buffer)[0]!) };
  return { bytes: 4, pattern: BigInt.asUintN(32, BigInt(value)) };
}

interface DrawnSetting {
  readonly block: Dim3;
  readonly grid: Dim3;
  /** The bits of a parameter. */
  readonly scalar: (field: Pick<ParameterField, 'index' | 'bytes'>) => bigint;
}

function drawSetting(context: KernelContext, stated: readonly StatedScalar[], random: Random): DrawnSetting {
  const { launch, parameters, kernel } = context.request;
  const width = random.pick([1, 2, 31, 32, 33, 64, 96, 128, 200, 256]);
  const block: Dim3 = launch.block ?? [width, 1, 1];
  const blocks = random.between(1, 5);
  const grid: Dim3 = launch.grid ?? [blocks * (launch.cluster?.[0] ?? 1), 1, 1];
  const threads = block[0] * block[1] * block[2];
  const all = threads * grid[0] * grid[1] * grid[2];
  const chosen = new Map<number, bigint>();
  for (const { index } of kernel.parameters) {
    const { name, type } = parameters[index]!;
    if (type.includes('*')) continue;
    const choices = [0, 1, 2, 3, 4, 5, 7, 8, 16, 20, 33, 64, 100, threads, all, all - 1, all + 7, -3];
    const { least = -Infinity, multiple = 1 } = stated.find((one) => one.name === name) ?? {};
    chosen.set(index, BigInt(Math.ceil(Math.max(random.pick(choices), least) / multiple) * multiple));
  }
  return {
    block,
    grid,
    scalar: ({ index, bytes }) => launch.scalars.get(index) ?? BigInt.asUintN(8 * bytes, chosen.get(index)!),
  };
}

/** A launch and scalars that satisfy all assumptions of the request; null if none was found. */
function settingWithin(context: KernelContext, stated: readonly StatedScalar[], random: Random): DrawnSetting | null {
  let setting = drawSetting(context, stated, random);
  for (let tries = 0; tries < mostTries; tries++) {
    if (satisfiesAssumptions(context, setting)) return setting;
    setting = drawSetting(context, stated, random);
  }
  const chosen = chooseScalars(context, setting.block, setting.grid);
  return chosen && { ...setting, scalar: ({ index, bytes }) => chosen({ index, offset: 0, bytes, isPointer: false }) };
}

/**
 * Executes a kernel once, with random dimensions, scalars, contents and schedule.
 * @param context of the request, the preconditions of a proof among its assumptions
 * @param zeroed parameters whose arrays are zero at the start
 * @param stated constraints on scalars
 */
export function runDrawn(
  context: KernelContext,
  { zeroed, stated }: { readonly zeroed: readonly string[]; readonly stated: readonly StatedScalar[] },
  random: Random,
): Seen | Discarded {
  const { kernel, parameters, launch, policy } = context.request;
  const setting = settingWithin(context, stated, random);
  if (!setting) return 'unmet';
  const { block, grid } = setting;
  const buffers: GlobalBuffer[] = [];
  const scalars: Record<string, string> = {};
  const fieldOf = new Map<number, ParameterField>(context.fields.map((field) => [field.index, field]));
  const values = kernel.parameters.map(({ index, bytes }): Argument => {
    const { name, type } = parameters[index]!;
    if (type.includes('*')) {
      const draw = zeroed.includes(name) ? (): number => 0 : contents(random);
      const drawn = Array.from({ length: elements }, (_, element) => [element, bits(draw(element), type).pattern] as const);
      buffers.push({ name: `${index}.0`, bytes: null, elementBytes: 4, fill: bits(draw(0), type).pattern, values: new Map(drawn) });
      return { kind: 'pointer', buffer: buffers.length - 1, offset: 0n };
    }
    const value = setting.scalar({ index, bytes });
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
    volatileRaces: policy.volatile !== 'allow',
    cluster: clusterOf({ ...launch, grid }, kernel),
    ...(seed === undefined ? {} : { seed }),
  };
  const result = runKernel(run);
  if (result.faults.some(({ left }) => left)) return 'out of bounds';
  if (breaksAssumptions(result)) return 'broken';
  const isRecognised = recognised(context, result.races);
  return {
    race: result.races.find((event) => event.unmodelled.length === 0 && isInBounds(context, event) && !isRecognised(event)),
    divergence: result.divergences.find(({ kind }) => kind !== 'early-exit'),
    launch: JSON.stringify({ block, grid, scalars, seed, outcome: result.outcome }),
  };
}
