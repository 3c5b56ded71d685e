/** Random structured kernels as PTX: branches, loops with breaks, barriers, shared and global accesses, returns. */
import type { Random } from '../../src/base/random.ts';

/** Variables of the program, in registers `%r20`, …. */
const variables = 5;
/** Elements of the shared array. */
export const sharedElements = 128;

class Writer {
  readonly lines: string[] = [];
  private readonly random: Random;
  private labels = 0;
  private scratch = 40;
  private predicates = 0;
  private wide = 20;
  /** Statements that may still be written. */
  private budget: number;
  /** Whether some accesses are strong or volatile. */
  private readonly hasStrong: boolean;
  /** The counters of the loops around. */
  private readonly counters: string[] = [];

  constructor(random: Random, budget: number, hasStrong: boolean) {
    this.random = random;
    this.budget = budget;
    this.hasStrong = hasStrong;
  }

  private fresh(): string {
    return `%r${this.scratch++}`;
  }

  private variable(): string {
    return `%r${20 + this.random.below(variables)}`;
  }

  private atom(): string {
    const { random } = this;
    const choices = ['%r0', '%r0', '%r0', '%r4', '%r6', '%r7', '%r9', '%r8', this.variable(), this.variable()];
    if (this.counters.length > 0 && random.chance(0.4)) return random.pick(this.counters);
    if (random.chance(0.25)) return String(random.pick([0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, -1]));
    return random.pick(choices);
  }

  /** Writes an expression and returns the register or number with its value. */
  private expression(depth: number): string {
    const { random } = this;
    if (depth === 0 || random.chance(0.3)) return this.atom();
    const a = this.expression(depth - 1);
    const result = this.fresh();
    const amount = random.pick([1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 63]);
    const shift = random.pick([1, 1, 2, 3, 5]);
    switch (random.below(14)) {
      case 0:
      case 1:
      case 2:
        this.lines.push(`add.s32 ${result}, ${a}, ${this.expression(depth - 1)};`);
        break;
      case 3:
        this.lines.push(`sub.s32 ${result}, ${a}, ${this.expression(depth - 1)};`);
        break;
      case 4:
      case 5:
        this.lines.push(`mul.lo.s32 ${result}, ${a}, ${random.chance(0.8) ? amount : this.atom()};`);
        break;
      case 6:
        this.lines.push(`and.b32 ${result}, ${a}, ${amount};`);
        break;
      case 7:
        this.lines.push(`xor.b32 ${result}, ${a}, ${random.chance(0.7) ? amount : this.atom()};`);
        break;
      case 8:
        this.lines.push(`shr.${random.pick(['s32', 'u32'])} ${result}, ${a}, ${shift};`);
        break;
      case 9:
        this.lines.push(`shl.b32 ${result}, ${a}, ${shift};`);
        break;
      case 10:
        this.lines.push(`rem.${random.pick(['s32', 'u32'])} ${result}, ${a}, ${amount};`);
        break;
      case 11:
        this.lines.push(`div.${random.pick(['s32', 'u32'])} ${result}, ${a}, ${amount};`);
        break;
      case 12:
        this.lines.push(`${random.pick(['min', 'max'])}.${random.pick(['s32', 'u32'])} ${result}, ${a}, ${amount};`);
        break;
      default: {
        const condition = this.condition(depth - 1);
        this.lines.push(`selp.b32 ${result}, ${a}, ${this.expression(depth - 1)}, ${condition};`);
      }
    }
    return result;
  }

  private condition(depth: number): string {
    const { random } = this;
    const result = `%p${this.predicates++}`;
    if (depth > 0 && random.chance(0.2)) {
      const a = this.condition(depth - 1);
      const b = this.condition(depth - 1);
      this.lines.push(`${random.pick(['and', 'or', 'xor'])}.pred ${result}, ${a}, ${b};`);
      return result;
    }
    const comparison = random.pick(['lt', 'le', 'gt', 'ge', 'eq', 'ne']);
    const left = this.expression(Math.max(0, depth));
    this.lines.push(`setp.${comparison}.${random.pick(['s32', 's32', 'u32'])} ${result}, ${left}, ${this.atom()};`);
    return result;
  }

  private address(array: 's' | 'a' | 'b'): string {
    const { random } = this;
    let index = this.expression(2);
    if (array === 's' ? random.chance(0.85) : random.chance(0.2)) {
      const masked = this.fresh();
      this.lines.push(
        random.chance(0.8) || array !== 's'
          ? `and.b32 ${masked}, ${index}, ${random.pick([31, 63, 127])};`
          : `rem.u32 ${masked}, ${index}, ${random.pick([32, 61, 64, 96, 128])};`,
      );
      index = masked;
    }
    const offset = `%d${this.wide++}`;
    const address = `%d${this.wide++}`;
    this.lines.push(`mul.wide.${random.chance(0.8) ? 's32' : 'u32'} ${offset}, ${index}, ${random.chance(0.95) ? 4 : 2};`);
    this.lines.push(`add.s64 ${address}, ${{ s: '%d0', a: '%d1', b: '%d2' }[array]}, ${offset};`);
    return address;
  }

  /** Qualifiers of a strong access, or none. */
  private strength(operation: 'ld' | 'st' | 'red'): string {
    const { random } = this;
    if (!this.hasStrong || random.chance(0.3)) return '';
    if (operation !== 'red' && random.chance(0.3)) return '.volatile';
    const semantics = random.pick(['.relaxed', '.relaxed', operation === 'ld' ? '.acquire' : '.release']);
    return `${semantics}${random.pick(['.cta', '.cluster', '.gpu', '.gpu', '.sys'])}`;
  }

  private access(operation: 'ld' | 'st', array: 's' | 'a' | 'b'): void {
    const { random } = this;
    const address = this.address(array);
    const offset = random.chance(0.8) ? '' : `+${random.pick([1, 2, 4, 8, 128, 256])}`;
    const kind = random.chance(0.8) ? 'u32' : random.pick(operation === 'ld' ? ['u8', 's8', 'u16', 's16'] : ['u8', 'u16', 'v2.u32']);
    const strength = this.strength(operation);
    if (operation === 'ld') this.lines.push(`ld${strength}.${kind} ${this.variable()}, [${address}${offset}];`);
    else {
      const value = this.atomInRegister();
      this.lines.push(`st${strength}.${kind} [${address}${offset}], ${kind.startsWith('v2') ? `{${value}, ${this.variable()}}` : value};`);
    }
  }

  private branch(condition: string, sense: boolean, label: string): void {
    this.lines.push(`@${sense ? '' : '!'}${condition} bra ${label};`);
  }

  private label(): string {
    return `L${this.labels++}`;
  }

  private bound(): string {
    const { random } = this;
    if (random.chance(0.6)) return String(random.pick([1, 2, 3, 4, 5, 8]));
    const limited = this.fresh();
    this.lines.push(`and.b32 ${limited}, ${this.atom()}, ${random.pick([1, 3, 7])};`);
    return limited;
  }

  /** Statements with where `break` and `continue` lead. */
  block(depth: number, exits: { readonly leave: string; readonly again: string } | null): void {
    const { random } = this;
    for (let count = 1 + random.below(4); count > 0 && this.budget > 0; count--) this.statement(depth, exits);
  }

  private statement(depth: number, exits: { readonly leave: string; readonly again: string } | null): void {
    const { random } = this;
    this.budget--;
    const kind = random.below(depth > 0 ? 20 : 12);
    switch (kind) {
      case 0:
      case 1:
        this.lines.push(`mov.u32 ${this.variable()}, ${this.expression(3)};`);
        break;
      case 2:
      case 3:
        this.access('st', 's');
        break;
      case 4:
      case 5:
        this.access('ld', 's');
        break;
      case 6:
        this.access('st', 'a');
        break;
      case 7:
        this.access('ld', random.chance(0.7) ? 'b' : 'a');
        break;
      case 8:
        if (this.hasStrong && random.chance(0.4)) {
          const address = this.address(random.pick(['s', 'a']));
          this.lines.push(`atom${this.strength('red')}.add.u32 ${this.variable()}, [${address}], ${random.pick([0, 1, 1, 2])};`);
        } else if (random.chance(0.3)) this.lines.push(`red${this.strength('red')}.add.u32 [${this.address(random.pick(['s', 'a']))}], 1;`);
        else this.lines.push(`bar.sync 0;`);
        break;
      case 9:
      case 10:
        this.lines.push('bar.sync 0;');
        break;
      case 11:
        if (exits && random.chance(0.7)) {
          const condition = this.condition(1);
          this.branch(condition, true, random.chance(0.6) ? exits.leave : exits.again);
        } else if (random.chance(0.3)) {
          const condition = this.condition(1);
          this.lines.push(`@${condition} ret;`);
        } else this.lines.push(`mov.u32 ${this.variable()}, ${this.expression(2)};`);
        break;
      case 12:
      case 13:
      case 14: {
        const [otherwise, join] = [this.label(), this.label()];
        this.branch(this.condition(2), false, otherwise);
        this.block(depth - 1, exits);
        this.lines.push(`bra ${join};`, `${otherwise}:`);
        if (random.chance(0.5)) this.block(depth - 1, exits);
        this.lines.push(`${join}:`);
        break;
      }
      case 15: {
        // do … while, at most a few iterations.
        const counter = this.fresh();
        const [top, again, leave] = [this.label(), this.label(), this.label()];
        const bound = this.bound();
        this.lines.push(`mov.u32 ${counter}, 0;`, `${top}:`);
        this.counters.push(counter);
        this.block(depth - 1, { leave, again });
        this.counters.pop();
        const condition = `%p${this.predicates++}`;
        this.lines.push(`${again}:`, `add.s32 ${counter}, ${counter}, 1;`);
        this.lines.push(`setp.lt.s32 ${condition}, ${counter}, ${bound};`);
        this.branch(condition, true, top);
        this.lines.push(`${leave}:`);
        break;
      }
      case 16: {
        // Halving or doubling.
        const counter = this.fresh();
        const [top, again, leave] = [this.label(), this.label(), this.label()];
        const doubling = random.chance(0.5);
        const limit = random.pick([1, 4, 8, 16, 32]);
        this.lines.push(`mov.u32 ${counter}, ${doubling ? 1 : limit};`, `${top}:`);
        const condition = `%p${this.predicates++}`;
        this.lines.push(doubling ? `setp.lt.s32 ${condition}, ${counter}, ${limit};` : `setp.gt.s32 ${condition}, ${counter}, 0;`);
        this.branch(condition, false, leave);
        this.counters.push(counter);
        this.block(depth - 1, { leave, again });
        this.counters.pop();
        this.lines.push(`${again}:`, `${doubling ? 'shl.b32' : 'shr.s32'} ${counter}, ${counter}, 1;`, `bra ${top};`, `${leave}:`);
        break;
      }
      default: {
        const counter = this.fresh();
        const [top, again, leave] = [this.label(), this.label(), this.label()];
        const bound = this.bound();
        const down = random.chance(0.2);
        const step = random.pick([1, 1, 1, 2]);
        const start = random.chance(0.8) ? '0' : random.pick(['%r0', '1', '2']);
        if (down) this.lines.push(`mov.u32 ${counter}, ${bound};`);
        else this.lines.push(`mov.u32 ${counter}, ${start};`);
        this.lines.push(`${top}:`);
        const condition = `%p${this.predicates++}`;
        this.lines.push(`setp.${down ? 'gt' : 'lt'}.s32 ${condition}, ${counter}, ${down ? 0 : bound};`);
        this.branch(condition, false, leave);
        this.counters.push(counter);
        this.block(depth - 1, { leave, again });
        this.counters.pop();
        this.lines.push(`${again}:`, `add.s32 ${counter}, ${counter}, ${down ? -step : step};`, `bra ${top};`, `${leave}:`);
      }
    }
  }

  private atomInRegister(): string {
    const value = this.atom();
    if (value.startsWith('%')) return value;
    const register = this.fresh();
    this.lines.push(`mov.u32 ${register}, ${value};`);
    return register;
  }
}

/** Keeps the variables live, and adds code to the end of every path. */
const useOfVariables = [
  ...Array.from({ length: variables - 1 }, (_, i) => `xor.b32 %r20, %r20, %r${21 + i};`),
  'mul.wide.s32 %d4, %r7, 4;',
  'add.s64 %d4, %d1, %d4;',
  'st.u32 [%d4+1000000], %r20;',
].join('\n');

/**
 * A random kernel `k(int *a, int *b, int n, int m)` as a PTX module.
 * @param hasStrong whether some accesses are strong or volatile, of any scope
 */
export function randomKernel(random: Random, hasStrong = false): string {
  const writer = new Writer(random, 6 + random.below(16), hasStrong);
  for (let i = 0; i < variables; i++) writer.lines.push(`mov.u32 %r${20 + i}, ${random.pick(['0', '%r0', '%r9', '%r7', '3'])};`);
  while (writer.lines.length < 12) writer.block(3, null);
  writer.block(3, null);
  return `.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 m) {
.reg .b32 %r<2000>; .reg .b64 %d<2000>; .reg .pred %p<1000>;
.shared .align 4 .b8 s[${4 * sharedElements}];
ld.param.u64 %d1, [a];
ld.param.u64 %d2, [b];
ld.param.u32 %r9, [n];
ld.param.u32 %r8, [m];
mov.u32 %r0, %tid.x;
mov.u32 %r4, %tid.y;
mov.u32 %r6, %ctaid.x;
mov.u32 %r5, %ntid.x;
mad.lo.s32 %r7, %r6, %r5, %r0;
mov.u64 %d3, s;
cvta.shared.u64 %d0, %d3;
${writer.lines.join('\n')}
${useOfVariables}
ret;
}
`;
}
