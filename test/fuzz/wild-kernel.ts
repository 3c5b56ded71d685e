/** Bodies of CUDA kernels made of random statements, known only to terminate and to stay in bounds. */
import type { Random } from '../../src/base/random.ts';
import type { Phase, Setting } from './cuda-setting.ts';

interface WildArray {
  readonly name: string;
  readonly elements: number;
  readonly isShared: boolean;
}

class WildWriter {
  readonly lines: string[] = [];
  readonly #random: Random;
  readonly #arrays: readonly WildArray[];
  readonly #input: string;
  readonly #counters: string[] = [];
  #budget = 14;
  #names = 0;

  constructor(setting: Setting, arrays: readonly WildArray[], input: string) {
    this.#random = setting.random;
    this.#arrays = arrays;
    this.#input = input;
  }

  #atom(): string {
    const random = this.#random;
    if (this.#counters.length > 0 && random.chance(0.35)) return random.pick(this.#counters);
    return random.pick([
      'tid',
      'tid',
      'tid',
      'tid',
      'x',
      'y',
      'n',
      'T',
      '1',
      '2',
      String(random.below(70)),
      'blockIdx.x',
      `${this.#input}[gid]`,
    ]);
  }

  #expression(depth: number): string {
    const random = this.#random;
    if (depth === 0 || random.chance(0.3)) return this.#atom();
    const a = this.#expression(depth - 1);
    const b = this.#expression(depth - 1);
    const constant = random.pick([1, 2, 3, 4, 7, 8, 16, 31, 32]);
    return random.pick([
      `(${a} + ${b})`,
      `(${a} + ${constant})`,
      `(${a} - ${b})`,
      `(${a} * ${constant})`,
      `(${a} / ${constant})`,
      `(${a} % ${constant})`,
      `(${a} & ${constant})`,
      `(${a} ^ ${constant})`,
      `(${a} << ${constant % 5})`,
      `((int)${a} >> ${constant % 5})`,
      `((int)${this.#atom()} < (int)${this.#atom()} ? ${a} : ${b})`,
      `min((int)${a}, (int)${b})`,
      `(T - 1 - ${a})`,
      `(${a} | ${constant})`,
    ]);
  }

  #condition(depth: number): string {
    const random = this.#random;
    if (depth > 0 && random.chance(0.25)) return `(${this.#condition(0)} ${random.pick(['&&', '||'])} ${this.#condition(0)})`;
    return `(int)${this.#expression(1)} ${random.pick(['<', '<=', '==', '!=', '>', '>='])} (int)${this.#expression(1)}`;
  }

  /** The same for all threads of a block. */
  #uniformCondition(): string {
    const random = this.#random;
    return random.pick([
      'n > 3',
      'blockIdx.x == 0',
      'n & 1',
      `${this.#input}[blockIdx.x] > 1`,
      'T > 40',
      ...this.#counters.map((k) => `${k} & 1`),
    ]);
  }

  #element(): string {
    const random = this.#random;
    const { name, elements, isShared } = random.pick(this.#arrays);
    const near = random.pick([
      'tid',
      'tid',
      `(tid + ${random.below(4)})`,
      'T - 1 - tid',
      `(tid ^ ${1 << random.below(5)})`,
      '2 * tid',
      'tid / 2',
      '(tid + 1) % T',
      '0',
    ]);
    if (random.chance(0.65)) return `${name}[${isShared ? near : `${random.chance(0.8) ? `blockIdx.x * ${elements} + ` : ''}(${near})`}]`;
    const any = this.#expression(2);
    return `${name}[${random.chance(0.5) ? `(unsigned)(${any}) % ${elements}u` : `(${any}) & ${elements - 1}`}]`;
  }

  statements(depth: number, isUniform: boolean): void {
    const random = this.#random;
    const count = random.between(1, 4);
    for (let k = 0; k < count && this.#budget > 0; k++) {
      this.#budget--;
      this.#statement(depth, isUniform);
    }
  }

  #statement(depth: number, isUniform: boolean): void {
    const random = this.#random;
    const kind = random.below(depth === 0 ? 10 : 14);
    if (kind < 2) this.lines.push(`${random.pick(['x', 'y'])} = ${this.#expression(2)};`);
    else if (kind < 4) this.lines.push(`${this.#element()} = ${this.#expression(1)};`);
    else if (kind < 6) this.lines.push(`${random.pick(['x', 'y', 'acc'])} += ${this.#element()};`);
    else if (kind < 9 && isUniform) this.lines.push('__syncthreads();');
    else if (kind < 9) this.lines.push(`acc += ${this.#element()};`);
    else if (kind === 9)
      this.lines.push(random.chance(0.6) ? `atomicAdd(&${this.#element()}, 1);` : isUniform ? '__syncwarp();' : 'acc++;');
    else if (kind < 12) {
      const uniform = isUniform && random.chance(0.4);
      this.lines.push(`if (${uniform ? this.#uniformCondition() : this.#condition(1)}) {`);
      this.statements(depth - 1, uniform);
      if (random.chance(0.3)) {
        this.lines.push('} else {');
        this.statements(depth - 1, uniform);
      }
      this.lines.push('}');
    } else {
      const counter = `k${this.#names++}`;
      const uniform = isUniform && random.chance(0.75);
      const [start, test, step] = random.pick([
        ['0', `${counter} < ${random.between(2, 6)}`, `${counter}++`],
        ['0', `${counter} < min(n, 9)`, `${counter}++`],
        ['T / 2', `${counter} > 0`, `${counter} /= 2`],
        ['1', `${counter} < T`, `${counter} *= 2`],
        ['T', `${counter} >= 8`, `${counter} -= 24`],
        ['0', `${counter} < (${this.#input}[blockIdx.x] & 3)`, `${counter}++`],
        ...(uniform
          ? []
          : [
              ['tid & 3', `${counter} < 5`, `${counter}++`],
              ['0', `${counter} < (${this.#input}[gid] & 3)`, `${counter} += 1`],
              ['tid', `${counter} < 2 * T`, `${counter} += T`],
            ]),
      ]) as [string, string, string];
      this.lines.push(`for (int ${counter} = ${start}; ${test}; ${step}) {`);
      this.#counters.push(counter);
      this.statements(depth - 1, uniform);
      if (random.chance(0.2))
        this.lines.push(`if (${uniform ? this.#uniformCondition() : this.#condition(0)}) ${random.pick(['break', 'continue'])};`);
      if (uniform && random.chance(0.6)) this.lines.push('__syncthreads();');
      this.#counters.pop();
      this.lines.push('}');
    }
  }
}

/** A phase of random statements. */
export function wildPhase(setting: Setting): Phase {
  const { random } = setting;
  const few = setting.isSymbolic ? 2048 : 512;
  const [s, t, g, input] = [setting.name('s'), setting.name('s'), setting.name('g'), setting.name('in')];
  const all = [
    { name: s, elements: few, isShared: true },
    { name: t, elements: few, isShared: true },
    { name: g, elements: few, isShared: false },
  ];
  const writer = new WildWriter(setting, random.chance(0.5) ? all : all.slice(0, 1), input);
  writer.statements(3, true);
  return {
    name: 'random statements',
    parameters: [`int *${g}`, `const int *${input}`],
    shared: [`int ${s}[${few}]`, `int ${t}[${few}]`],
    body: ['{ int x = tid, y = n;', ...writer.lines, 'acc += x + y; }'],
    isOpen: true,
  };
}
