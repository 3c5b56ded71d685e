/**
 * Rows of a made-up asynchronous copy, added to the instruction table: a real one would be these rows in `isa/copy.ts`, and
 * nothing else. To be imported before any module that imports the table.
 *
 * `haul` copies 4, 8 or 16 bytes between global and shared memory; `drag` is the same through the asynchronous proxy, and
 * `lift` completes at an mbarrier, its last operand.
 */
import { copyRows } from '../../src/isa/copy.ts';
import type { AsyncGroup, CopyEffect, ValueType } from '../../src/isa/model/operation.ts';
import { type Row, addressWidth, groupRow } from '../../src/isa/model/row.ts';

function copyRow(opcode: string, completion: CopyEffect['completion']): Row {
  return {
    opcode,
    section: '0.0',
    forms: `${opcode}.async.to.from [dst], [src], size`,
    treatment: 'exact',
    readsLiterals: true,
    decode(modifiers, shape) {
      const to = modifiers.flag('async') && modifiers.oneOf('global', 'shared');
      const from = modifiers.oneOf('global', 'shared');
      const target = addressWidth(shape, 0);
      const source = addressWidth(shape, 1);
      if (!to || !from || !target || !source) return null;
      const bytes = Number(shape?.[2]?.literal ?? 8n);
      const sources: ValueType[] = [target, source, 32, ...(completion === 'mbarrier' ? [addressWidth(shape, 3) ?? 64] : [])];
      return { results: [], sources, effect: { kind: 'copy', to, from, bytes, completion }, cost: 'memory' };
    },
  };
}

function rowsOf(opcode: string, proxy: AsyncGroup['proxy']): Row[] {
  const group: AsyncGroup = { name: opcode, proxy, participants: 'thread' };
  return [copyRow(opcode, group), groupRow('0.0', `${opcode}.commit_group; ${opcode}.wait_group N; ${opcode}.wait_all`, group)];
}

/** The opcodes of both copies, by the proxy. */
export const madeUpCopies = { generic: 'haul', async: 'drag' } as const;

for (const proxy of ['generic', 'async'] as const) (copyRows as Row[]).push(...rowsOf(madeUpCopies[proxy], proxy));
(copyRows as Row[]).push(copyRow('lift', 'mbarrier'));
