/** Seeded changes to the PTX of a kernel that keep it well-formed: other indices, guards, barriers, widths, loops. */
import type { Random } from '../../src/base/random.ts';

const instruction = /^\t(@!?%p\d+ )?[a-z][\w.:]*\s/;
const untouched = /^\t(ret|call|cvta|ld\.param|st\.param|\/\/)/;
const barrier = /^\t(bar|barrier)\.(sync|red)/;
const memory = /^\t(ld|st|atom|red)\.(?!param)/;
const comparisons = ['lt', 'le', 'gt', 'ge', 'eq', 'ne'];
const registers = /%(?:rd|rs|r|f|p|fd)\d+/g;

/** The lines of each function's body with instructions. */
function bodies(lines: readonly string[]): number[][] {
  const found: number[][] = [];
  let body: number[] | null = null;
  lines.forEach((line, i) => {
    if (/^\{/.test(line)) body = [];
    else if (/^\}/.test(line)) {
      if (body && body.length > 0) found.push(body);
      body = null;
    } else if (body && instruction.test(line) && !untouched.test(line)) body.push(i);
  });
  return found;
}

/** Applies a few changes to a PTX text. */
export function mutateKernel(text: string, random: Random): string {
  let lines = text.split('\n');
  for (let count = 1 + random.below(3); count > 0; count--) {
    const all = bodies(lines);
    if (all.length === 0) return text;
    lines = change(lines, random.pick(all), random).join('\n').split('\n');
  }
  return lines.join('\n');
}

function change(lines: readonly string[], body: readonly number[], random: Random): string[] {
  const next = lines.slice();
  const one = (accept: RegExp): number | undefined => {
    const matching = body.filter((i) => accept.test(lines[i]!));
    return matching.length > 0 ? random.pick(matching) : undefined;
  };
  const rewrite = (accept: RegExp, edit: (line: string) => string): void => {
    const at = one(accept);
    if (at !== undefined) next[at] = edit(next[at]!);
  };
  const labels = body.flatMap((i) => /bra(?:\.uni)?\s+(\S+);/.exec(lines[i]!)?.[1] ?? []);
  const used = (kind: string): string[] => [
    ...new Set(body.flatMap((i) => lines[i]!.match(registers) ?? []).filter((name) => name.replace(/\d+$/, '') === kind)),
  ];

  switch (random.below(22)) {
    case 0:
      rewrite(barrier, () => '');
      break;
    case 1:
      // A constant operand.
      rewrite(/, -?\d+[;\]]/, (line) =>
        line.replace(/, (-?\d+)(?=[;\]])/, (_, digits: string) => {
          const value = Number(digits);
          return `, ${random.pick([value + 1, value - 1, value * 2, Math.trunc(value / 2), 0, 1, value + 3, -value])}`;
        }),
      );
      break;
    case 2:
      rewrite(/^\t(add|sub)\./, (line) => line.replace(/^\t(add|sub)/, (_, name) => `\t${name === 'add' ? 'sub' : 'add'}`));
      break;
    case 3:
      rewrite(/setp\.\w+\./, (line) => line.replace(/setp\.(\w+)\./, () => `setp.${random.pick(comparisons)}.`));
      break;
    case 4:
      rewrite(/setp\.\w+\.[su]32/, (line) => line.replace(/\.([su])32/, (_, sign) => (sign === 's' ? '.u32' : '.s32')));
      break;
    case 5:
      rewrite(/%(tid|ctaid|ntid|nctaid)\.[xyz]/, (line) =>
        line.replace(
          /%(tid|ctaid|ntid|nctaid)\.[xyz]/,
          () => `%${random.pick(['tid', 'tid', 'ctaid', 'ntid'])}.${random.pick(['x', 'x', 'y', 'z'])}`,
        ),
      );
      break;
    case 6:
      rewrite(/^\tsh[lr]\.\w32/, (line) => line.replace(/^\tsh[lr]\.\w32/, () => `\t${random.pick(['shl.b32', 'shr.u32', 'shr.s32'])}`));
      break;
    case 7: {
      const from = one(barrier);
      if (from === undefined) break;
      const to = random.pick(body);
      next[to] += `\n${next[from]!}`;
      next[from] = '';
      break;
    }
    case 8:
      // Another register of the same type.
      rewrite(registers, (line) => {
        const names = line.match(registers)!;
        const old = names[names.length - 1 - random.below(Math.min(2, names.length))]!;
        const other = random.pick(used(old.replace(/\d+$/, '')));
        const at = line.lastIndexOf(old);
        return line.slice(0, at) + line.slice(at).replace(old, other);
      });
      break;
    case 9:
      // A narrower or wider access.
      rewrite(/^\t(ld|st)\.[suf]32/, (line) =>
        line.replace(/^\t(ld|st)\.([suf])32(\s+)(.*);/, (_, name, type, space, operands: string) => {
          if (type === 'f' || random.chance(0.5)) {
            const wide = name === 'st' ? operands.replace(/, (\S+)$/, ', {$1, $1}') : operands.replace(/^(\S+),/, '{$1, $1},');
            return `\t${name}.v2.${type}32${space}${wide};`;
          }
          return `\t${name}.${random.pick(['u8', 'u16', 's8', 's16'])}${space}${operands};`;
        }),
      );
      break;
    case 10:
      rewrite(/^\t@!?%p\d+ bra/, (line) =>
        random.pick([line.replace(/^\t@!?%p\d+ /, '\t'), '', line.replace(/^\t@(!?)/, (_, not) => (not ? '\t@' : '\t@!'))]),
      );
      break;
    case 11:
      // The same access a little further on.
      rewrite(memory, (line) => {
        const offset = random.pick([1, 2, 4, 4, 8, -4, 16, 32, 64, 128, 256]);
        return `${line}\n${line.replace(/\[(%rd\d+)(?:\+(-?\d+))?\]/, (_, base, old = '0') => `[${base}+${Number(old) + offset}]`)}`;
      });
      break;
    case 12:
      next[random.pick(body)] = '';
      break;
    case 13:
      rewrite(/^\t(cvt\.[su]64\.[su]32|mul\.wide\.[su]32)/, (line) =>
        /cvt/.test(line)
          ? line.replace(/cvt\.[su]64\.[su]32/, () => random.pick(['cvt.s64.s32', 'cvt.u64.u32']))
          : line.replace(/wide\.[su]32/, () => random.pick(['wide.s32', 'wide.u32'])),
      );
      break;
    case 14:
    case 15:
      // Arithmetic on a value that was just computed.
      rewrite(/^\t(?!setp|st|ld|bra|bar|@)[\w.]+\s+%r\d+,/, (line) => {
        const register = /%r\d+/.exec(line)![0];
        const amount = random.pick([1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 255]);
        const shift = random.pick([1, 2, 4, 5, 24, 27, 31]);
        return `${line}\n\t${random.pick([
          `and.b32 ${register}, ${register}, ${amount};`,
          `xor.b32 ${register}, ${register}, ${amount};`,
          `or.b32 ${register}, ${register}, ${amount};`,
          `rem.u32 ${register}, ${register}, ${amount};`,
          `rem.s32 ${register}, ${register}, ${amount};`,
          `div.s32 ${register}, ${register}, ${amount};`,
          `div.u32 ${register}, ${register}, ${amount};`,
          `mul.lo.s32 ${register}, ${register}, ${random.pick([amount, 1 << shift, -amount, 0x9e3779b1 | 0])};`,
          `shr.s32 ${register}, ${register}, ${shift};`,
          `shl.b32 ${register}, ${register}, ${shift};`,
          `cvt.u32.u8 ${register}, ${register};`,
          `cvt.s32.s8 ${register}, ${register};`,
          `cvt.u32.u16 ${register}, ${register};`,
          `neg.s32 ${register}, ${register};`,
          `not.b32 ${register}, ${register};`,
          `min.s32 ${register}, ${register}, ${amount};`,
          `max.s32 ${register}, ${register}, ${amount};`,
          `min.u32 ${register}, ${register}, ${amount};`,
          `bfe.u32 ${register}, ${register}, ${random.below(6)}, ${random.below(8)};`,
          `mad.lo.s32 ${register}, ${register}, ${register}, ${amount};`,
        ])}`;
      });
      break;
    case 16:
      if (labels.length > 0)
        rewrite(/\bbra/, (line) => line.replace(/(bra(?:\.uni)?\s+)\S+;/, (_, start) => `${start}${random.pick(labels)};`));
      break;
    case 17: {
      const from = one(memory);
      if (from === undefined) break;
      const to = random.pick(body);
      next[to] += `\n${lines[from]!}`;
      if (random.chance(0.3)) next[from] = '';
      break;
    }
    case 18:
      next[random.pick(body)] +=
        `\n\t${random.pick(['bar.sync 0;', 'bar.sync 0;', 'bar.sync 0;', 'bar.warp.sync 0xffffffff;', 'membar.cta;'])}`;
      break;
    case 19: {
      const predicates = used('%p');
      if (predicates.length === 0) break;
      const guard = `@${random.chance(0.5) ? '!' : ''}${random.pick(predicates)}`;
      if (random.chance(0.5)) next[random.pick(body)] += `\n\t${guard} ret;`;
      else rewrite(/^\t(?!@|bra)[a-z]/, (line) => `\t${guard} ${line.trimStart()}`);
      break;
    }
    case 20: {
      const first = random.pick(body);
      const second = random.pick(body);
      [next[first], next[second]] = [next[second]!, next[first]!];
      break;
    }
    default:
      // Another index: thread, block and global indices are confused.
      rewrite(/^\tmov\.u32\s+%r\d+, %r\d+;/, (line) =>
        line.replace(/(%r\d+);/, () => `${random.pick([...used('%r'), '%tid.x', '%ctaid.x'])};`),
      );
  }
  return next;
}
