/** Paths between points of a kernel, and what each thread may observe between two loads of one location. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  alwaysPasses,
  canReach,
  everyPathPasses,
  type ProgramPoint,
  pointDominates,
  pointsOf,
  reachable,
} from '../../../src/analysis/values/program-point.ts';
import { contextOf, kernelOf } from '../../check/kernel-text.ts';

const st = (name: number): string => `st.u32 [%d1+${name}], %r0;`;
const some = (body: string): string => `setp.eq.s32 %p1, %r9, 1; @%p1 bra N; ${body} N:`;
const loop = (body: string): string => `mov.u32 %r20, 0; L: ${body} add.s32 %r20, %r20, 1; setp.lt.s32 %p9, %r20, %r9; @%p9 bra L;`;

/** The relations of the stores 0 and 4: dominates, can reach, always passes, and passes a barrier on the path. */
function relations(body: string): string {
  const kernel = kernelOf(body);
  const stores = pointsOf(kernel, ({ operation }) => operation.effect.kind === 'store');
  const at = (name: number): ProgramPoint => stores.find(({ instruction }) => instruction.offset === BigInt(name))!;
  const isBarrier = ({ operation }: (typeof stores)[number]['instruction']): boolean => operation.effect.kind === 'barrier';
  return [
    pointDominates(kernel, at(0), at(4)) && 'dominates',
    canReach(kernel, at(0), at(4)) && 'reaches',
    canReach(kernel, at(0), at(0)) && 'repeats',
    alwaysPasses(kernel, at(0), at(4)) && 'always',
    everyPathPasses(kernel, at(0), at(4), isBarrier) && 'barrier',
  ]
    .filter(Boolean)
    .join(' ');
}

test('paths between two stores', () => {
  const cases: [string, string][] = [
    [`${st(0)} ${st(4)}`, 'dominates reaches always'],
    [`${st(4)} ${st(0)}`, 'barrier'],
    [`${st(0)} bar.sync 0; ${st(4)}`, 'dominates reaches always barrier'],
    [`${st(0)} ${st(4)} bar.sync 0;`, 'dominates reaches always'],
    [`${st(0)} ${some('bar.sync 0;')} ${st(4)}`, 'dominates reaches always'],
    [`${some(st(0))} ${st(4)}`, 'reaches always'],
    [`${st(0)} ${some(st(4))}`, 'dominates reaches'],
    [`setp.eq.s32 %p1, %r9, 1; @%p1 bra N; ${st(0)} bra M; N: ${st(4)} M:`, 'barrier'],
    [`${st(0)} setp.eq.s32 %p1, %r9, 1; @%p1 ret; ${st(4)}`, 'dominates reaches'],
    [loop(`${st(0)} ${st(4)}`), 'dominates reaches repeats always'],
    [loop(`${st(4)} ${st(0)}`), 'reaches repeats'],
    [loop(`${st(4)} ${st(0)} bar.sync 0;`), 'reaches repeats barrier'],
    [`${loop(st(0))} ${st(4)}`, 'dominates reaches repeats always'],
    // A loop without an end passes everything.
    [`${st(0)} setp.eq.s32 %p1, %r9, 1; @%p1 bra N; E: bra E; N: ${st(4)}`, 'dominates reaches always'],
  ];
  for (const [body, expected] of cases) assert.equal(relations(body), expected, body);
});

test('blocks reachable along edges that are allowed', () => {
  const kernel = kernelOf(`setp.eq.s32 %p1, %r9, 1; @%p1 bra N; ${st(0)} bra M; N: ${st(4)} M: ${st(8)}`);
  const all = reachable(kernel, [kernel.blocks[0]!.id]);
  assert.equal(all.size, kernel.blocks.length);
  const [one, other] = kernel.blocks[0]!.successors;
  const through = reachable(kernel, [kernel.blocks[0]!.id], (_, to) => to !== one);
  assert.ok(!through.has(one!) && through.has(other!));
  assert.equal(through.size, all.size - 1);
});

test('loads that read one version of memory', () => {
  /** Groups of loads `[%dA+N]` with equal memory, in the order of the text. */
  const groups = (body: string): string => {
    const { rereads } = contextOf(`${body} st.u32 [%d1+1024], %r40; st.u32 [%d1+1028], %r41; st.u32 [%d1+1032], %r42;`);
    const memories = [...new Set([...rereads.values()].map(({ memory }) => memory))];
    return [...rereads.values()].map(({ memory }) => memories.indexOf(memory)).join('');
  };
  const a = (register: number, offset = 0): string => `ld.u32 %r${register}, [%d1+${offset}];`;
  const cases: [string, string][] = [
    [`${a(40)} ${a(41)}`, '00'],
    [`${a(40)} ${a(41, 8)}`, '00'],
    [`${a(40)} ${a(41)} ${a(42)}`, '000'],
    [a(40), ''],
    [`${a(40)} st.u32 [%d2], 1; ${a(41)}`, ''],
    [`${a(40)} bar.sync 0; ${a(41)}`, ''],
    [`${a(40)} fence.acq_rel.gpu; ${a(41)}`, ''],
    [`${a(40)} atom.add.u32 %r42, [%d2], 1; ${a(41)}`, ''],
    [`${a(40)} ld.volatile.u32 %r42, [%d1]; ${a(41)}`, ''],
    [`${a(40)} shfl.sync.bfly.b32 %r42, %r40, 1, 31, -1; ${a(41)}`, ''],
    [`${a(40)} add.s32 %r42, %r40, 1; ${a(41)}`, '00'],
    [`${a(40)} ld.u32 %r42, [%d2]; ${a(41)}`, '00'],
    // Different sizes, several elements, strong loads.
    [`${a(40)} ld.u16 %r41, [%d1];`, ''],
    [`${a(40)} ld.v2.u32 {%r41, %r42}, [%d1];`, ''],
    [`ld.volatile.u32 %r40, [%d1]; ld.volatile.u32 %r41, [%d1];`, ''],
    // Branches: a store on one of two paths.
    [`${a(40)} ${some(a(41))} ${a(42)}`, '000'],
    [`${a(40)} ${some('st.u32 [%d2], 1;')} ${a(41)} ${a(42)}`, '00'],
    [`${some('st.u32 [%d2], 1;')} ${a(41)} ${a(42)}`, '00'],
    [loop(`${a(40)} st.u32 [%d1], %r40; ${a(41)} ${a(42)}`), '00'],
    [loop(`${a(40)} ${a(41)}`), '00'],
  ];
  const wrong = cases.flatMap(([body, expected]) => (groups(body) === expected ? [] : [[body, groups(body)]]));
  assert.deepEqual(wrong, []);
  const many = (count: number): number => {
    const loads = Array.from({ length: count }, (_, i) => `ld.u32 %r${20 + i}, [%d1+${4 * i}];`).join(' ');
    const sum = Array.from({ length: count }, (_, i) => `add.s32 %r40, %r40, %r${20 + i};`).join(' ');
    return contextOf(`mov.u32 %r40, 0; ${loads} ${sum} st.u32 [%d1+1024], %r40;`).rereads.size;
  };
  assert.equal(many(12), 12);
  assert.equal(many(13), 0);
});
