/**
 * Generated host programs, and a model of which of their operations are ordered: a graph of operations and points of the host, in
 * which an operation is ordered before another one if a path leads to it. It shares no code with the product.
 */
import { type Random, seededRandom } from '../../../src/base/random.ts';

/** A program, and the pairs of its operations without an order, as `readUnit` in `../fixture.ts` shows them. */
export interface GeneratedProgram {
  readonly text: string;
  readonly pairs: readonly string[];
}

/** An operation, or a point of the host, in the order in which they are issued. */
interface Node {
  readonly line: number;
  /** Arrays, and whether they may be written; empty for points of the host, records and waits. */
  readonly touches: ReadonlyMap<string, boolean>;
  readonly isOfHost: boolean;
  readonly after: readonly Node[];
}

interface Stream {
  readonly name: string;
  readonly kind: 'legacy' | 'waiting' | 'separate';
  nodes: Node[];
}

const declared = `float *a, *b, *m, *h; cudaMalloc(&a, 4096); cudaMalloc(&b, 4096); cudaMallocManaged(&m, 4096); cudaMallocHost(&h, 4096);
cudaStream_t s, t, u; cudaStreamCreate(&s); cudaStreamCreate(&t); cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking);
cudaEvent_t e, f; cudaEventCreate(&e); cudaEventCreateWithFlags(&f, cudaEventDisableTiming); float v = 0;`;

/** Lines of {@link declared} and of the head of the function. */
export const linesBefore = 4;

/** The order of operations of the streams `0`, `s`, `t` and `u`, of which the last one does not wait for the default stream. */
export class OrderModel {
  readonly #streams: readonly Stream[] = [
    { name: '0', kind: 'legacy', nodes: [] },
    { name: 's', kind: 'waiting', nodes: [] },
    { name: 't', kind: 'waiting', nodes: [] },
    { name: 'u', kind: 'separate', nodes: [] },
  ];
  readonly #events = new Map<string, Node>();
  readonly #nodes: Node[] = [];
  #host: Node = this.#node(0, [], true, new Map());

  #node(line: number, after: readonly Node[], isOfHost: boolean, touches: ReadonlyMap<string, boolean>): Node {
    const node = { line, after, isOfHost, touches };
    this.#nodes.push(node);
    return node;
  }

  #of(name: string): Stream {
    return this.#streams.find((one) => one.name === name)!;
  }

  /** All that a new operation of a stream waits for. */
  #before({ kind, nodes }: Stream): Node[] {
    const others = this.#streams.filter(
      (other) => (kind === 'legacy' && other.kind === 'waiting') || (kind === 'waiting' && other.kind === 'legacy'),
    );
    return [this.#host, ...nodes, ...others.flatMap((other) => other.nodes)];
  }

  issue(line: number, stream: string, touches: ReadonlyMap<string, boolean>, after: readonly Node[] = []): Node {
    const own = this.#of(stream);
    const node = this.#node(line, [...this.#before(own), ...after], false, touches);
    own.nodes.push(node);
    return node;
  }

  host(line: number, after: readonly Node[], touches: ReadonlyMap<string, boolean> = new Map()): void {
    this.#host = this.#node(line, [this.#host, ...after], true, touches);
  }

  waitForStream(line: number, stream: string): void {
    this.host(line, this.#before(this.#of(stream)));
  }

  waitForDevice(line: number): void {
    this.host(
      line,
      this.#streams.flatMap(({ nodes }) => nodes),
    );
  }

  record(line: number, event: string, stream: string): void {
    this.#events.set(event, this.issue(line, stream, new Map()));
  }

  wait(line: number, stream: string, event: string): void {
    const recorded = this.#events.get(event);
    this.issue(line, stream, new Map(), recorded ? [recorded] : []);
  }

  waitForEvent(line: number, event: string): void {
    const recorded = this.#events.get(event);
    this.host(line, recorded ? [recorded] : []);
  }

  pairs(): string[] {
    const reached = new Map<Node, Set<Node>>();
    for (const node of this.#nodes) reached.set(node, new Set(node.after.flatMap((one) => [one, ...reached.get(one)!])));
    const found = this.#nodes.flatMap((second, at) =>
      this.#nodes.slice(0, at).flatMap((first) => {
        const isShared = [...first.touches].some(([name, isWrite]) => {
          const other = second.touches.get(name);
          return other !== undefined && (isWrite || other);
        });
        if (!isShared || reached.get(second)!.has(first)) return [];
        return [`${first.isOfHost || second.isOfHost ? 'host' : 'streams'} ${first.line} ${second.line}`];
      }),
    );
    return [...new Set(found)].sort();
  }
}

/** A program of 4 to 12 statements, some of them in loops of two iterations or in functions. */
export function generateProgram(seed: number): GeneratedProgram {
  const random = seededRandom(seed);
  const model = new OrderModel();
  const lines: string[] = [];
  const count = 4 + random.below(9);
  for (let at = 0; at < count; at++) {
    const line = linesBefore + lines.length + 1;
    const { text, run } = statement(random, line);
    const times = random.below(8) === 0 ? 2 : 1;
    const form = random.below(8);
    lines.push(times === 2 ? `for (int i = 0; i < 2; i++) { ${text} }` : form === 0 ? `{ auto g = [&] { ${text} }; g(); }` : text);
    for (let time = 0; time < times; time++) run(model);
  }
  // A function is read if it launches.
  return { text: `void run() {\n${declared}\n${lines.join('\n')}\nk<<<1, 1>>>();\n}`, pairs: model.pairs() };
}

function statement(random: Random, line: number): { readonly text: string; readonly run: (model: OrderModel) => void } {
  const pick = <Value>(all: readonly Value[]): Value => random.pick(all);
  const [stream, event] = [pick(['0', 's', 't', 'u']), pick(['e', 'f'])];
  const kind = random.below(16);
  switch (kind) {
    case 0:
    case 1:
      return { text: `cudaEventRecord(${event}, ${stream});`, run: (model) => model.record(line, event, stream) };
    case 2:
    case 3:
      return { text: `cudaStreamWaitEvent(${stream}, ${event}, 0);`, run: (model) => model.wait(line, stream, event) };
    case 4: {
      const form = random.below(3);
      if (form === 0) return { text: 'cudaDeviceSynchronize();', run: (model) => model.waitForDevice(line) };
      if (form === 1) return { text: `cudaEventSynchronize(${event});`, run: (model) => model.waitForEvent(line, event) };
      return { text: `cudaStreamSynchronize(${stream});`, run: (model) => model.waitForStream(line, stream) };
    }
    case 5: {
      const array = pick(['a', 'b', 'm']);
      const isWrite = random.below(2) === 0;
      if (array !== 'm') return { text: 'v += 1;', run: () => undefined };
      return { text: isWrite ? 'm[3] = v;' : 'v = m[3];', run: (model) => model.host(line, [], new Map([['m', isWrite]])) };
    }
    case 6:
      return { text: 'h[1] = v;', run: (model) => model.host(line, [], new Map([['h', true]])) };
    case 7: {
      const array = pick(['a', 'b']);
      const text = `cudaMemset(${array}, 0, 4096);`;
      return { text, run: (model) => void model.issue(line, '0', new Map([[array, true]])) };
    }
    case 8: {
      const array = pick(['a', 'b', 'm']);
      const run = (model: OrderModel): void => {
        model.issue(
          line,
          '0',
          new Map([
            [array, false],
            ['h', true],
          ]),
        );
        model.waitForStream(line, '0');
      };
      return { text: `cudaMemcpy(h, ${array}, 4096, cudaMemcpyDefault);`, run };
    }
    case 9:
    case 10: {
      const [to, from] = pick([
        ['a', 'h'],
        ['h', 'a'],
        ['b', 'a'],
        ['m', 'b'],
        ['h', 'b'],
      ] as const);
      const text = `cudaMemcpyAsync(${to}, ${from}, 4096, cudaMemcpyDefault, ${stream});`;
      return {
        text,
        run: (model) =>
          void model.issue(
            line,
            stream,
            new Map([
              [from, false],
              [to, true],
            ]),
          ),
      };
    }
    default: {
      const arrays = pick([['a'], ['b'], ['m'], ['a', 'b'], ['b', 'm'], ['h']]);
      const text = `k<<<4, 256, 0, ${stream}>>>(${arrays.join(', ')});`;
      return { text, run: (model) => void model.issue(line, stream, new Map(arrays.map((one) => [one, true]))) };
    }
  }
}
