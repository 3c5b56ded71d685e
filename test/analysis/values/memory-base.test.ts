/** What addresses point into: parameters, variables, selected and loaded pointers; and which memory loads read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Base } from '../../../src/analysis/values/memory-base.ts';
import { printTerm } from '../../../src/analysis/values/print-term.ts';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { type CheckOptions, kernelOf, requestFor } from '../../check/kernel-text.ts';

const declarations = `.global .align 8 .b8 table[64]; .const .align 4 .b8 fixed[64]; .shared .align 8 .b8 other[64];
  .extern .shared .align 16 .b8 dynamic[]; .extern .shared .align 16 .b8 dynamic2[];`;
const contextOf = (body: string, options: CheckOptions = {}) => kernelContext(requestFor(kernelOf(body, declarations), options));

const parameters = ['a', 'b', 'n', 'm'];

/** `MEMORY BASE+OFFSET if CONDITION` of each alternative of the last access of global, shared or unresolved memory. */
function targetsIn(body: string, options: CheckOptions = {}): string[] {
  const { accesses, kernel } = contextOf(body, options);
  const names = { parameter: (index: number) => parameters[index]!, object: (id: number) => kernel.objects[id]!.symbol };
  const nameOf = (base: Base): string => {
    if (base.kind === 'parameter') return parameters[base.index]!;
    if (base.kind === 'object') return base.object.symbol;
    return base.kind === 'loaded' ? `*(${nameOf(base.table)}+${printTerm(base.element, names)})` : '?';
  };
  const access = accesses.at(-1);
  return (access?.targets ?? []).map(({ base, offset, condition }) => {
    const text = printTerm(condition, names);
    return `${access!.memory} ${nameOf(base)}+${printTerm(offset, names)}${text === 'true' ? '' : ` if ${text}`}`;
  });
}

test('the base and the offset of an address', () => {
  const cases: [string, string[], CheckOptions?][] = [
    ['st.u32 [%d1+8], 1;', ['global a+8']],
    ['add.s64 %d10, %d1, %d2; st.u32 [%d10], 1;', ['generic ?+a + b']],
    ['sub.s64 %d10, %d1, %d2; st.u32 [%d10], 1;', ['global a+-b']],
    ['mul.wide.s32 %d10, %r0, 4; add.s64 %d10, %d1, %d10; st.u32 [%d10+4], 1;', ['global a+threadIdx.x * 4 + 4']],
    ['cvt.s64.s32 %d10, %r9; add.s64 %d10, %d10, %d1; st.u8 [%d10], 1;', ['global a+n']],
    // A pointer times 2 is not a pointer.
    ['shl.b64 %d10, %d1, 1; st.u32 [%d10], 1;', ['generic ?+a * 2']],
    ['mov.u64 %d10, table; st.global.u32 [%d10+4], 1;', ['global table+4']],
    ['mov.u64 %d10, table; cvta.global.u64 %d10, %d10; st.u32 [%d10+4], 1;', ['global table+4']],
    ['st.shared.u32 [s+4], 1;', ['shared s+4']],
    ['st.u32 [%d0+4], 1;', ['shared s+4']],
    ['st.u32 [%d9], 1;', ['generic ?+?']],
    // Local, constant and parameter memory is not shared.
    ['.local .b32 own; st.local.u32 [own], 1;', []],
    ['ld.const.u32 %r20, [fixed];', []],
    ['mov.u64 %d10, fixed; cvta.const.u64 %d10, %d10; ld.u32 %r20, [%d10];', []],
    // Selected pointers.
    ['setp.lt.s32 %p1, %r9, 3; selp.b64 %d10, %d1, %d2, %p1; st.u32 [%d10+4], 1;', ['global b+4 if n >= 3', 'global a+4 if n < 3']],
    [
      'setp.lt.s32 %p1, %r9, 3; add.s64 %d11, %d1, 16; selp.b64 %d10, %d11, %d1, %p1; st.u32 [%d10+4], 1;',
      ['global a+4 if n >= 3', 'global a+20 if n < 3'],
    ],
    ['setp.lt.s32 %p1, %r9, 3; selp.b64 %d10, %d1, %d0, %p1; st.u32 [%d10+4], 1;', ['generic s+4 if n >= 3', 'generic a+4 if n < 3']],
    ['setp.lt.s32 %p1, %r9, 3; selp.b64 %d10, %d1, 0, %p1; st.u32 [%d10+4], 1;', ['generic ?+(n < 3 ? a : 0) + 4']],
    // An index that is selected.
    ['setp.lt.s32 %p1, %r9, 3; selp.b64 %d10, 4, 8, %p1; add.s64 %d10, %d10, %d1; st.u32 [%d10], 1;', ['global a+(n < 3 ? 4 : 8)']],
    // Loaded pointers.
    ['ld.u64 %d10, [%d1+8]; st.u32 [%d10+4], 1;', ['global *(a+8)+4']],
    ['ld.v2.u64 {%d10, %d11}, [%d1+16]; st.u32 [%d11+4], 1;', ['global *(a+24)+4']],
    ['mul.wide.s32 %d12, %r0, 8; add.s64 %d12, %d1, %d12; ld.u64 %d10, [%d12]; st.u32 [%d10], 1;', ['global *(a+threadIdx.x * 8)+0']],
    ['ld.u64 %d10, [%d1]; mul.wide.s32 %d12, %r0, 4; add.s64 %d10, %d10, %d12; st.u32 [%d10], 1;', ['global *(a+0)+threadIdx.x * 4']],
    ['ld.u64 %d10, [%d1]; ld.u64 %d11, [%d10]; st.u32 [%d11], 1;', ['generic ?+?']],
    ['ld.u64 %d10, [%d1]; ld.u64 %d11, [%d2]; add.s64 %d10, %d10, %d11; st.u32 [%d10], 1;', ['generic ?+? + ?']],
    ['ld.u32 %r20, [%d1]; cvt.u64.u32 %d10, %r20; st.u32 [%d10], 1;', ['generic ?+?']],
    ['ld.u64 %d10, [%d0]; st.u32 [%d10], 1;', ['generic ?+?']],
    ['mov.u64 %d11, table; ld.global.u64 %d10, [%d11+8]; st.u32 [%d10], 1;', ['global *(table+8)+0']],
    // The kernel itself writes pointers there, or may do so.
    ['st.u64 [%d1], %d2; ld.u64 %d10, [%d1+8]; st.u32 [%d10+4], 1;', ['global ?+4']],
    ['st.u32 [%d9], 1; ld.u64 %d10, [%d1+8]; st.u32 [%d10+4], 1;', ['global ?+4']],
    ['st.u64 [%d2], %d2; ld.u64 %d10, [%d1+8]; st.u32 [%d10+4], 1;', ['global *(a+8)+4']],
    // A loaded pointer and a parameter that may be the index.
    ['ld.u64 %d10, [%d1]; add.s64 %d10, %d10, %d2; st.u32 [%d10], 1;', ['global b+?']],
  ];
  const wrong = cases.flatMap(([body, expected, options]) => {
    const found = targetsIn(body, options);
    return found.join() === expected.join() ? [] : [[body, found]];
  });
  assert.deepEqual(wrong, []);
});

test('dynamic shared arrays start at one address', () => {
  const { accesses } = contextOf(
    'st.shared.u32 [dynamic], 1; st.shared.u32 [dynamic2], 1; st.shared.u32 [s], 1; st.shared.u32 [other], 1;',
  );
  const keys = accesses.map(({ targets }) => targets[0]!.base.key);
  assert.equal(keys[0], keys[1]);
  assert.equal(new Set(keys).size, 3);
});

test('the memory of loads: fixed, written by the kernel, private to a thread', () => {
  const cases: [string, string][] = [
    ['ld.u32 %r20, [%d1]; st.u32 [%d2], %r20;', 'fixed'],
    ['ld.u32 %r20, [%d1]; st.u32 [%d1+64], %r20;', 'written'],
    ['ld.u32 %r20, [%d1]; atom.add.u32 %r21, [%d1+64], %r20;', 'written'],
    ['ld.u32 %r20, [%d1]; st.u32 [%d9], %r20;', 'written'],
    ['ld.const.u32 %r20, [fixed]; st.u32 [%d9], %r20;', 'fixed'],
    [
      '.local .b8 own[64]; mul.wide.u32 %d20, %r9, 4; mov.u64 %d21, own; add.s64 %d20, %d21, %d20; st.local.u32 [%d20], 1; ld.local.u32 %r20, [%d20+4]; st.u32 [%d1], %r20;',
      'private',
    ],
    ['ld.u32 %r20, [%d9]; st.u32 [%d1], %r20;', 'private'],
    ['ld.u64 %d10, [%d1]; ld.u32 %r20, [%d10]; st.u32 [%d2], %r20;', 'private'],
    ['ld.u64 %d10, [%d1]; ld.global.u32 %r20, [%d10]; st.u32 [%d2], %r20;', 'fixed'],
    ['ld.shared.u32 %r20, [s]; st.u32 [%d1], %r20;', 'fixed'],
    ['ld.shared.u32 %r20, [s]; st.shared.u32 [other], %r20;', 'fixed'],
    ['ld.shared.u32 %r20, [s]; st.shared.u32 [s+4], %r20;', 'written'],
    ['ld.u32 %r20, [%d0]; st.u32 [%d0+4], %r20;', 'written'],
  ];
  const wrong = cases.flatMap(([body, expected]) => {
    const { kernel, loaded } = contextOf(body);
    const loads = kernel.blocks
      .flatMap(({ instructions }) => instructions)
      .filter(({ operation: { effect } }) => effect.kind === 'load' && effect.space !== 'param');
    const found = loaded(loads.at(-1)!);
    return found === expected ? [] : [[body, found]];
  });
  assert.deepEqual(wrong, []);
});
