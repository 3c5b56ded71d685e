/** Representative shapes of thread blocks for a kernel. */
import type { Dim3 } from '../../base/dim3.ts';
import { maximumBlock, maximumThreads } from '../../device/hardware-limits.ts';
import { type Dimensions, threadLimit } from '../../analysis/values/launch-bounds.ts';
import type { KernelAndLaunch } from '../context/facts.ts';
import { type AxisHints, isBoundByLaunch, isThread } from '../shape/axis-hints.ts';
import type { IndexShape } from '../shape/index-shape.ts';

const warpSize = 32;

/** Numbers among the template arguments of a kernel that may be extents: `reduce<256, float>`, not `(Operation)0`. */
function templateNumbers(name: string): number[] {
  const list = /<(.*)>/.exec(name)?.[1] ?? '';
  const numbers = [...list.matchAll(/(?<![\w.])(\d+)(?![\w.])/g)].map(([, digits]) => Number(digits));
  return numbers.filter((number) => number > 0);
}

/**
 * Representative shapes of the thread block, in the order in which the kernel suggests them. Specified dimensions are
 * kept.
 * @param isLarge whether the launch instance is large; for small ones, blocks of one warp come first
 */
export function blockShapes(context: KernelAndLaunch, shape: IndexShape, isLarge: boolean): BlockShapes {
  const { dimensions, kernel, request } = context;
  const limit = threadLimit(kernel);
  const open = ([0, 1, 2] as const).filter((axis) => dimensions.block[axis] === null && shape.rankOnly[axis] !== true);
  const fixed = ([0, 1, 2] as const).map((axis) => dimensions.block[axis] ?? 1) as [number, number, number];
  if (open.length === 0) return { wanted: 1, shapes: [fixed] };
  const hints = shape.axes;
  const others = fixed[0] * fixed[1] * fixed[2];
  const shapes: Dim3[] = [];
  const add = (...extents: readonly number[]): void => {
    const shape = [...fixed] as [number, number, number];
    open.forEach((axis, at) => (shape[axis] = extents[at] ?? 1));
    const threads = shape[0] * shape[1] * shape[2];
    const fits = open.every((axis) => shape[axis] <= hints[axis]!.most && shape[axis] <= maximumBlock[axis]);
    if (fits && threads <= limit && threads % warpSize === 0 && !shapes.some((other) => other.join() === shape.join())) shapes.push(shape);
  };
  const named = templateNumbers(request.name);
  const bound = kernel.maximumThreads ? [limit] : [];
  if (open.length === 1) {
    const axis = open[0]!;
    const multiples = [...shape.constants].map(Number).filter((value) => value > warpSize && value % warpSize === 0);
    const suggested = [...hints[axis]!.suggested, ...sharedExtents(context.dimensions, shape, axis), ...named, ...bound].filter(
      (size) => size * others >= warpSize,
    );
    const small = [warpSize, 2 * warpSize, 1].map((size) => Math.ceil(size / others));
    const usual = [256, 192, 1024, 512, 128, 96, 64, 32].map((size) => Math.max(1, Math.floor(size / others)));
    if (!isLarge) small.forEach((size) => add(size));
    for (const size of suggested) add(size);
    if (suggested.length === 0 || shapes.length === 0) for (const size of multiples) add(size);
    // Large instances use a suggested shape, unless its indices leave their arrays.
    const wanted = shapes.length;
    usual.forEach((size) => add(size));
    return { wanted: wanted > 0 && isLarge ? wanted : shapes.length, shapes };
  }
  const [first, second, third] = open.map((axis) => hints[axis]!);
  const candidates = (hint: AxisHints, usual: readonly number[]): readonly number[] => [
    ...(hint.suggested.length > 0 ? hint.suggested : new Set([...named.filter((size) => size <= 64), ...usual])),
  ];
  if (open.length === 2) {
    if (!isLarge)
      for (const [x, y] of [
        [8, 4],
        [16, 2],
        [32, 1],
        [4, 8],
        [16, 4],
        [8, 8],
      ] as const)
        add(x, y);
    const [xs, ys] = [candidates(first!, [16, 32, 8]), candidates(second!, [16, 8, 32, 4])];
    // Square shapes, rows of a warp and columns of a warp come first, since large launch instances use the first three.
    for (const [at, x] of xs.entries()) if (ys[at]) add(x, ys[at]);
    for (const x of xs) for (const y of ys) add(x, y);
    return { wanted: shapes.length, shapes };
  }
  if (!isLarge) add(4, 4, 2);
  const [xs, ys, zs] = [candidates(first!, [8, 16, 32]), candidates(second!, [8, 4, 2]), candidates(third!, [4, 2, 1])];
  for (const x of xs) for (const y of ys) for (const z of zs) add(x, y, z);
  return { wanted: shapes.length, shapes };
}

/** Shapes of the thread block, best match first. */
interface BlockShapes {
  /**
   * Number of suggested shapes; if none is suggested, the number of all. The others are used if no suggested shape
   * fits.
   */
  readonly wanted: number;
  readonly shapes: readonly Dim3[];
}

/** Extents of shared arrays with one element per thread, without the constant offsets of other accesses. */
function sharedExtents(dimensions: Dimensions, { forms }: IndexShape, axis: 0 | 1 | 2): number[] {
  const extents = new Map<string, number>();
  for (const { access, target, offset, guards } of forms) {
    const { base } = target;
    if (base.kind !== 'object' || base.object.space !== 'shared' || base.object.bytes === null) continue;
    const isOwn = offset.some(
      (part) => isThread(part, axis) && part.coefficient === BigInt(access.bytes) && isBoundByLaunch(part, guards, dimensions),
    );
    if (!isOwn) continue;
    const added = Number(offset.find(({ factors }) => factors.length === 0)?.coefficient ?? 0n);
    const elements = Math.floor((base.object.bytes - Math.max(0, added)) / access.bytes);
    extents.set(base.key, Math.min(elements, extents.get(base.key) ?? Infinity));
  }
  const usable = [...extents.values()].filter((size) => size > 0 && size % warpSize === 0 && size <= maximumThreads);
  return [...new Set(usable)].sort((a, b) => b - a);
}
