import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildUnits } from '../../../src/app/build/build-units.ts';
import type { Unit } from '../../../src/app/project/input-files.ts';
import type { UnitBuilder } from '../../../src/app/project/unit-builder.ts';
import type { Diagnostic } from '../../../src/source/diagnostic.ts';

const unit: Unit = { kind: 'cuda', path: 'a.cu', file: '/repo/a.cu' };
const failure: Diagnostic = { severity: 'error', code: 'compile/failed', message: 'It does not compile.' };
const note: Diagnostic = { severity: 'notice', code: 'compile/flag-dropped', message: 'Left out.' };
const build: UnitBuilder['build'] = async () => ({ diagnostics: [failure, note] });

async function messagesOf(architectures: readonly string[]): Promise<string[][]> {
  const built = await Promise.all(buildUnits([unit], architectures, { build }));
  return built.map(({ diagnostics }) => diagnostics.map(({ message }) => message));
}

test('if a unit has several architectures, an error names those affected, once for both builds', async () => {
  assert.deepEqual(await messagesOf(['sm_80', 'sm_90']), [
    ['It does not compile. (sm_80)', 'Left out.'],
    ['It does not compile. (sm_90)', 'Left out.'],
  ]);
});

test('if a unit has one architecture, errors do not name it', async () => {
  assert.deepEqual(await messagesOf(['sm_80']), [['It does not compile.', 'Left out.']]);
});
