/**
 * Rows of a pitch, indices that a condition bounds, tiles and remainders under stated comparisons of sizes: a pair that
 * the digit tier refutes overlaps in no launch that satisfies the statements, for sizes of any sign.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { sweep } from '../../run/sweep.ts';
import { kernelOf } from '../kernel-text.ts';
import { problemsOf, refutedIn } from '../problem.ts';

/** A size: its PTX, which writes to a register, its name in statements, and its value. */
interface Size {
  readonly text: string;
  readonly into: (register: string) => string;
  readonly at: (n: number, m: number) => number;
}

const sizes: readonly Size[] = [
  { text: 'n', into: (to) => `mov.u32 ${to}, %r9;`, at: (n) => n },
  { text: 'm', into: (to) => `mov.u32 ${to}, %r8;`, at: (_, m) => m },
  { text: 'n * m', into: (to) => `mul.lo.s32 ${to}, %r9, %r8;`, at: (n, m) => n * m },
  { text: 'n * n', into: (to) => `mul.lo.s32 ${to}, %r9, %r9;`, at: (n) => n * n },
  { text: '2 * n', into: (to) => `shl.b32 ${to}, %r9, 1;`, at: (n) => 2 * n },
  { text: 'n + 2', into: (to) => `add.s32 ${to}, %r9, 2;`, at: (n) => n + 2 },
  { text: '3', into: (to) => `mov.u32 ${to}, 3;`, at: () => 3 },
];

interface Layout {
  /** Rows by blocks or by iterations; tiles of four columns; or digits of a flat index, each a remainder. */
  readonly form: 'blocks' | 'loops' | 'tiles' | 'remainders';
  /** Columns of a thread: its index, or every eighth. */
  readonly isStrided: boolean;
  /** Bound of the columns, or of the flat index. */
  readonly bound: Size;
  readonly isUnsigned: boolean;
  /** Whether the bound belongs to the columns, too. */
  readonly isClosed: boolean;
  readonly pitch: Size;
  readonly rows: Size;
  /** Added to each column before it is compared, and after that. */
  readonly start: Size | null;
  readonly skipped: Size | null;
  /** Whether columns below 0 are left out. */
  readonly isNatural: boolean;
  /** Whether the comparison is one of 64 bits, to which the signs are extended. */
  readonly isWide: boolean;
  /** Whether threads return unless n is less than m. */
  readonly isOrdered: boolean;
  /** By how much a flat index advances from thread to thread, and the elements that a thread stores there. */
  readonly step: number;
  readonly statements: readonly Statement[];
}

interface Statement {
  readonly text: string;
  readonly holds: (n: number, m: number) => boolean;
}

/** What advances by two or four from thread to thread: nothing, a flat index that is divided, or a column. */
type Stepped = 'nothing' | 'flat indices' | 'columns';

function randomLayout(random: Random, stepped: Stepped): Layout {
  const isStepped = stepped !== 'nothing';
  const size = (): Size => random.pick(sizes);
  const [bound, pitch, rows] = [size(), random.chance(0.5) ? null : size(), size()];
  const compare = (): Statement => {
    const factor = sizes[random.chance(0.5) ? 0 : 1]!;
    const [a, b] = random.pick([
      [pitch ?? bound, bound],
      [size(), size()],
      [factor, factor === sizes[0] ? sizes[1]! : sizes[0]!],
    ] as const);
    const operator = random.pick(['>=', '>', '=='] as const);
    const holds = (n: number, m: number): boolean => {
      const [x, y] = [a.at(n, m), b.at(n, m)];
      return operator === '>=' ? x >= y : operator === '>' ? x > y : x === y;
    };
    return { text: `${a.text} ${operator} ${b.text}`, holds };
  };
  const multiple = (): Statement => {
    const [of, isOfFirst] = [random.pick([2, 2, 3, 4]), random.chance(0.7)];
    return { text: `${isOfFirst ? 'n' : 'm'} % ${of} == 0`, holds: (n, m) => (isOfFirst ? n : m) % of === 0 };
  };
  const positive: readonly Statement[] = [
    isStepped && random.chance(0.5) ? { text: 'n >= 4', holds: (n) => n >= 4 } : { text: 'n >= 1', holds: (n) => n >= 1 },
    { text: 'm >= 1', holds: (_, m) => m >= 1 },
  ];
  return {
    form:
      stepped === 'flat indices'
        ? 'remainders'
        : random.pick(isStepped ? (['blocks', 'loops'] as const) : (['blocks', 'blocks', 'loops', 'tiles', 'remainders'] as const)),
    isStrided: random.chance(0.5),
    bound,
    isUnsigned: random.chance(0.3),
    isClosed: random.chance(0.2),
    pitch: pitch ?? bound,
    rows,
    start: random.chance(isStepped ? 0.1 : 0.3) ? size() : null,
    skipped: !isStepped && random.chance(0.2) ? size() : null,
    isNatural: random.chance(0.5),
    isWide: random.chance(0.3),
    isOrdered: !isStepped && random.chance(0.3),
    step: isStepped ? random.pick([2, 2, 4]) : 1,
    statements: [
      ...positive.filter(() => random.chance(isStepped ? 0.9 : 0.6)),
      ...(random.chance(0.5) ? [compare()] : []),
      ...(isStepped && random.chance(0.8) ? [multiple()] : []),
    ],
  };
}

/** Threads of a block in the launches that are tried. */
const threads = 8;
const blocks = 3;

function ptxOf({
  form,
  isStrided,
  bound,
  isUnsigned,
  isClosed,
  pitch,
  rows,
  start,
  skipped,
  isNatural,
  isWide,
  isOrdered,
  step,
}: Layout): string {
  const comparison = isClosed ? (isUnsigned ? 'hi.u' : 'gt.s') : isUnsigned ? 'hs.u' : 'ge.s';
  const flag = isWide
    ? `cvt.s64.s32 %d20, %r20; cvt.s64.s32 %d21, %r30; setp.${comparison}64 %p1, %d20, %d21;`
    : `setp.${comparison}32 %p1, %r20, %r30;`;
  const sizesOf = `${bound.into('%r30')} ${pitch.into('%r31')} ${rows.into('%r32')} ${skipped?.into('%r33') ?? ''} ${start?.into('%r34') ?? 'mov.u32 %r34, 0;'} ${isOrdered ? 'setp.ge.s32 %p4, %r9, %r8; @%p4 ret;' : ''}`;
  const values = ['', 'st.u32 [%d10], %r0;', 'st.v2.u32 [%d10], {%r0, %r0};', '', 'st.v4.u32 [%d10], {%r0, %r0, %r0, %r0};'];
  const store = `mul.wide.s32 %d10, %r40, 4; add.s64 %d10, %d1, %d10; ${values[step]}`;
  const add = skipped ? 'add.s32 %r40, %r40, %r33;' : '';
  if (form === 'remainders')
    return `${sizesOf} mul.lo.s32 %r20, %r7, ${step}; add.s32 %r20, %r20, %r34; ${flag} @%p1 ret;
      rem.s32 %r21, %r20, %r9; div.s32 %r22, %r20, %r9; rem.s32 %r23, %r22, %r8; div.s32 %r24, %r22, %r8; rem.s32 %r25, %r24, %r32;
      mad.lo.s32 %r40, %r25, %r8, %r23; mad.lo.s32 %r40, %r40, ${step > 1 ? '%r31' : '%r9'}, %r21; ${add} ${store}`;
  const index =
    form === 'tiles'
      ? `and.b32 %r41, %r20, -4; and.b32 %r42, %r20, 3; mul.lo.s32 %r40, %r41, %r31; shl.b32 %r43, %r6, 2; add.s32 %r40, %r40, %r43; add.s32 %r40, %r40, %r42;`
      : `mad.lo.s32 %r40, ${form === 'blocks' ? '%r6' : '%r26'}, %r31, %r20;`;
  const skip = isNatural ? 'setp.lt.s32 %p3, %r20, 0; @%p3 bra BELOW;' : '';
  const body = `${skip} ${index} ${add} ${store}\nBELOW:`;
  const row =
    form === 'loops'
      ? `mov.u32 %r26, 0;\nROW: setp.ge.s32 %p2, %r26, %r32; @%p2 bra NEXT;\n${body}\nadd.s32 %r26, %r26, 1; bra ROW;\nNEXT:`
      : body;
  if (!isStrided) return `${sizesOf} mad.lo.s32 %r20, %r0, ${step}, %r34; ${flag} @%p1 ret;\n${row}`;
  return `${sizesOf} mad.lo.s32 %r20, %r0, ${step}, %r34;\nCOLUMN: ${flag} @%p1 bra END;\n${row}\nadd.s32 %r20, %r20, ${threads * step}; bra COLUMN;\nEND:`;
}

/** The elements that a thread stores. */
function elementsOf(layout: Layout, thread: number, block: number, n: number, m: number): readonly number[] {
  const { form, isStrided, bound, isUnsigned, isClosed, pitch, rows, start, skipped, isNatural, isOrdered, step } = layout;
  if (isOrdered && n >= m) return [];
  /** Comparisons of unsigned numbers: a negative one is above all others. */
  const wide = (value: number): number => (isUnsigned && value < 0 ? value + 2 ** 32 : value);
  const isWithin = (index: number): boolean => (isClosed ? wide(index) <= wide(bound.at(n, m)) : wide(index) < wide(bound.at(n, m)));
  const more = skipped?.at(n, m) ?? 0;
  if (form === 'remainders') {
    const i = (block * threads + thread) * step + (start?.at(n, m) ?? 0);
    const [x, y, z] = [i % n, Math.trunc(i / n) % m, Math.trunc(Math.trunc(i / n) / m) % rows.at(n, m)];
    return isWithin(i) && ![x, y, z].some(Number.isNaN)
      ? Array.from({ length: step }, (_, at) => x + (step > 1 ? pitch.at(n, m) : n) * (y + m * z) + more + at)
      : [];
  }
  const found: number[] = [];
  const first = thread * step + (start?.at(n, m) ?? 0);
  for (let column = first; isWithin(column) && column < 64; column += isStrided ? threads * step : 256) {
    if (isNatural && column < 0) continue;
    const [tile, rest] = [Math.floor(column / 4) * 4, column - Math.floor(column / 4) * 4];
    const at = (row: number): number => (form === 'tiles' ? tile * pitch.at(n, m) + 4 * block + rest : row * pitch.at(n, m) + column);
    for (let element = 0; element < step; element++)
      if (form === 'loops') for (let row = 0; row < rows.at(n, m); row++) found.push(at(row) + more + element);
      else found.push(at(block) + more + element);
  }
  return found;
}

/** Whether two threads of the scope store to a common element. */
function overlap(layout: Layout, scope: 'block' | 'grid'): boolean {
  for (let n = -3; n <= 5; n++)
    for (let m = -3; m <= 5; m++) {
      if (!layout.statements.every(({ holds }) => holds(n, m))) continue;
      const owners = new Map<number, number>();
      for (let i = 0; i < threads * blocks; i++) {
        const block = Math.floor(i / threads);
        for (const element of elementsOf(layout, i % threads, block, n, m)) {
          const other = owners.get(element);
          const isOverlap = other !== undefined && other !== i;
          if (isOverlap && (Math.floor(other / threads) === block) === (scope === 'block')) return true;
          owners.set(element, i);
        }
      }
    }
  return false;
}

const forms = { nothing: ['blocks', 'loops', 'tiles', 'remainders'], 'flat indices': ['remainders'], columns: ['blocks', 'loops'] };

for (const stepped of ['nothing', 'flat indices', 'columns'] as const)
  test(`${stepped === 'nothing' ? 'rows, tiles and remainders' : `${stepped} in steps`} that the digit tier refutes do not overlap`, () => {
    const counts: Record<string, number> = { disjoint: 0, overlapping: 0 };
    for (let seed = 0; seed < sweep(900, 30_000); seed++) {
      const layout = randomLayout(seededRandom(seed), stepped);
      const assume = layout.statements.map(({ text }) => text);
      const problems = problemsOf(kernelOf(ptxOf(layout)), { block: [threads, 1, 1], grid: [blocks, 1, 1], assume });
      for (const [at, problem] of problems.entries()) {
        const { obligations } = problem;
        const isRefuted = obligations.length > 0 && obligations.every((one) => refutedIn(problem, one) !== null);
        const isOverlap = overlap(layout, at === 0 ? 'block' : 'grid');
        const shown = {
          ...layout,
          bound: layout.bound.text,
          pitch: layout.pitch.text,
          rows: layout.rows.text,
          skipped: layout.skipped?.text,
          start: layout.start?.text,
          assume,
        };
        assert.ok(!(isRefuted && isOverlap), `seed ${seed}, ${at === 0 ? 'block' : 'grid'}: ${JSON.stringify(shown)}`);
        if (isRefuted) counts[layout.form] = (counts[layout.form] ?? 0) + 1;
        counts[isOverlap ? 'overlapping' : 'disjoint']!++;
      }
    }
    for (const form of forms[stepped]) assert.ok((counts[form] ?? 0) > 4, JSON.stringify(counts));
  });
