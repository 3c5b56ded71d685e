/** Litmus programs as PTX: one entry each, of which a few threads of the launch do something. */
import type { Dim3 } from '../../src/base/dim3.ts';
import type { LitmusProgram, Place, Scope, Statement } from './program.ts';

/** The launch that has a program's threads where they are to be. */
export interface Launch {
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly cluster: Dim3;
  /** By thread of the program. */
  readonly threads: readonly { readonly block: number; readonly thread: number }[];
}

/** Maximum number of locations of a program: each is a separate parameter. */
export const mostLocations = 4;

/** Indices of the locations, in order of first occurrence. */
function numbered(names: readonly number[]): Map<number, number> {
  const numbers = new Map<number, number>();
  for (const name of names) if (!numbers.has(name)) numbers.set(name, numbers.size);
  return numbers;
}

/**
 * The launch of a program: the fewest possible threads, whole warps if those synchronize, and clusters with the number
 * of blocks of the largest.
 */
export function launchOf({ threads, barriers }: LitmusProgram): Launch {
  const places = threads.map(({ place }) => place);
  const clusters = numbered(places.map(({ cluster }) => cluster));
  const blocksIn = (cluster: number): Map<number, number> =>
    numbered(places.filter((place) => place.cluster === cluster).map(({ block }) => block));
  const warpsIn = ({ cluster, block }: Place): Map<number, number> =>
    numbered(places.filter((place) => place.cluster === cluster && place.block === block).map(({ warp }) => warp));
  const blocks = Math.max(...[...clusters.keys()].map((cluster) => blocksIn(cluster).size));
  const lanes = new Map<string, number>();
  const located = places.map((place) => {
    const block = blocks * clusters.get(place.cluster)! + blocksIn(place.cluster).get(place.block)!;
    const warp = warpsIn(place).get(place.warp)!;
    const lane = lanes.get(`${block} ${warp}`) ?? 0;
    lanes.set(`${block} ${warp}`, lane + 1);
    return { block, thread: 32 * warp + lane };
  });
  const size = Math.max(...located.map(({ thread }) => thread)) + 1;
  return {
    block: [barriers.includes('warp') ? 32 * Math.ceil(size / 32) : size, 1, 1],
    grid: [blocks * clusters.size, 1, 1],
    cluster: [blocks, 1, 1],
    threads: located,
  };
}

function suffix(order: string, scope: Scope): string {
  if (order === 'weak') return '';
  return order === 'volatile' ? '.volatile' : `.${order}.${scope}`;
}

function statementText(statement: Statement, address: (at: number) => string, value: string): string {
  const { order, scope } = statement;
  switch (statement.kind) {
    case 'fence':
      return `fence.${order}.${scope};`;
    case 'load':
      return `ld${suffix(order, scope)}.global.u32 ${value}, ${address(statement.at)};`;
    case 'store':
      return `st${suffix(order, scope)}.global.u32 ${address(statement.at)}, ${statement.value};`;
    case 'atomic': {
      const { operation } = statement;
      const operands = operation === 'cas' ? `0, ${statement.value}` : `${statement.value}`;
      const type = operation === 'add' ? 'u32' : 'b32';
      return `atom.${order}.${scope}.global.${operation}.${type} ${value}, ${address(statement.at)}, ${operands};`;
    }
  }
}

function entryText(program: LitmusProgram, name: string, keepsReads: boolean, spacing: number): string {
  const launch = launchOf(program);
  const lines: string[] = [];
  let values = 0;
  let labels = 0;
  let kept = 0;
  for (let segment = 0; segment <= program.barriers.length; segment++) {
    for (const [index, { segments }] of program.threads.entries()) {
      const steps = segments[segment]!;
      if (steps.length === 0) continue;
      const end = `$E${labels++}`;
      const atTheEnd: string[] = [];
      const { block, thread } = launch.threads[index]!;
      lines.push(`setp.ne.u32 %p0, %r0, ${thread};`, `@%p0 bra ${end};`);
      if (launch.grid[0] > 1) lines.push(`setp.ne.u32 %p0, %r1, ${block};`, `@%p0 bra ${end};`);
      for (const statement of steps) {
        const value = `%v${values++}`;
        const text = statementText(statement, (at) => `[%d${at}]`, value);
        const test = statement.kind === 'load' || statement.kind === 'atomic' ? statement.test : undefined;
        const again = `$E${labels++}`;
        if (test?.kind === 'wait') lines.push(`${again}:`);
        lines.push(text);
        if (keepsReads && (statement.kind === 'load' || statement.kind === 'atomic'))
          (spacing > 0 ? atTheEnd : lines).push(`st.global.u32 [%d${mostLocations - 1}+${4 * kept++}], ${value};`);
        if (test) {
          lines.push(`setp.ne.u32 %p0, ${value}, ${test.value};`, `@%p0 bra ${test.kind === 'wait' ? again : end};`);
        }
      }
      lines.push(...atTheEnd, `${end}:`);
    }
    const barrier = program.barriers[segment];
    if (barrier) lines.push(barrier === 'block' ? 'bar.sync 0;' : 'bar.warp.sync 0xffffffff;');
  }
  const parameters = Array.from({ length: mostLocations }, (_, at) => `.param .u64 a${at}`);
  const pointers = Array.from({ length: mostLocations }, (_, at) => `ld.param.u64 %d${at}, [a${at}]; cvta.to.global.u64 %d${at}, %d${at};`);
  const blocks = launch.grid[0];
  const ownPart = [
    `div.u32 %r2, %r1, ${blocks}; rem.u32 %r1, %r1, ${blocks}; mul.wide.u32 %d${mostLocations}, %r2, ${spacing};`,
    ...pointers.map((_, at) => `add.s64 %d${at}, %d${at}, %d${mostLocations};`),
  ];
  return `.visible .entry ${name}(${parameters.join(', ')}) {
.reg .b32 %r<3>; .reg .b32 %v<${values + 1}>; .reg .b64 %d<${mostLocations + 1}>; .reg .pred %p<1>;
${pointers.join('\n')}
mov.u32 %r0, %tid.x;
mov.u32 %r1, %ctaid.x;
${spacing > 0 ? `${ownPart.join('\n')}\n` : ''}${lines.join('\n')}
ret;
}`;
}

/**
 * One module with an entry `k0`, `k1` … for each program.
 * @param keepsReads stores the value of each read, in the order of threads, in the last location, which programs do not
 *   use
 * @param spacing not 0: the grid has instances of the program, which has no tests, at this distance of their locations
 *   in bytes, and reads are stored at the end of their thread
 */
export function ptxOf(programs: readonly LitmusProgram[], keepsReads = false, spacing = 0): string {
  const entries = programs.map((program, index) => entryText(program, `k${index}`, keepsReads, spacing));
  return `.version 8.8\n.target sm_90\n.address_size 64\n${entries.join('\n')}\n`;
}
