import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LocDirective } from '../../src/ptx/ast.ts';
import { inlinedFunction, sourceLocation } from '../../src/ptx/debug-information.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { outermost } from '../../src/source/location.ts';
import { readText, statementsOf } from './tree.ts';

const { module } = parsePtx(readText('test/ptx/language/lines.ptx'));
const locs = statementsOf(module, 'lines').filter((statement): statement is LocDirective => statement.kind === 'loc');

test('files, lines, columns; line 0 and unknown files have no location', () => {
  assert.deepEqual(sourceLocation(module, locs[0]), { file: 'kernel.cu', line: 10, column: 1 });
  assert.equal(sourceLocation(module, locs.at(-1)), undefined);
  assert.equal(sourceLocation(module, undefined), undefined);
  assert.equal(sourceLocation({ ...module, files: new Map() }, locs[0]), undefined);
});

test('a chain of inlined calls is followed through the .loc lines before it', () => {
  const call = { file: 'kernel.cu', line: 12, column: 5 };
  const outer = { file: 'inner.cuh', line: 20, column: 3, inlinedAt: call };
  assert.deepEqual(sourceLocation(module, locs[2]), outer);
  const inner = sourceLocation(module, locs[3]);
  assert.deepEqual(inner, { file: 'inner.cuh', line: 30, column: 7, inlinedAt: outer });
  assert.deepEqual(outermost(inner), call);
});

test('the nearest preceding .loc counts, and a place that refers to itself ends the chain', () => {
  const chain = (text: string): number[] => {
    const parsed = parsePtx(
      `.version 8.0\n.target sm_80\n.file 1 "k.cu"\n.entry k() {\n${text}\nret;\n}\n.entry other() {\n` +
        '.loc 1 9 9, function_name f, inlined_at 1 1 1\nret;\n}',
    );
    const lines: number[] = [];
    const last = statementsOf(parsed.module, 'k').findLast((statement) => statement.kind === 'loc');
    for (let at = sourceLocation(parsed.module, last); at; at = at.inlinedAt) lines.push(at.line);
    return lines;
  };
  const inlined = (line: number, at: number): string => `.loc 1 ${line} 0, function_name f, inlined_at 1 ${at} 0\n`;
  assert.deepEqual(chain(`${inlined(2, 1)}${inlined(2, 5)}${inlined(3, 2)}`), [3, 2, 5]);
  assert.deepEqual(chain(`${inlined(2, 1)}.loc 1 2 0\n${inlined(3, 2)}`), [3, 2]);
  assert.deepEqual(chain(inlined(4, 4).repeat(3)), [4, 4, 4, 4]);
  assert.ok(chain(inlined(4, 4).repeat(1000)).length <= 65);
});

test('names of inlined functions come from .debug_str', () => {
  assert.equal(inlinedFunction(module, locs[2]!), 'outer');
  assert.deepEqual(Object.fromEntries(module.debugStrings), { $L__info_string0: 'outer', $L__info_string1: 'inner' });
  assert.equal(inlinedFunction(module, locs[0]!), undefined);
});
