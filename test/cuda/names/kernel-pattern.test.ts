import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelPatternProblem, matchKernel } from '../../../src/cuda/names/kernel-pattern.ts';

const name = 'ns::reduce<256, float>';

test('a glob matches the whole name, with or without template arguments', () => {
  for (const pattern of [
    'ns::reduce',
    'ns::reduce<256, float>',
    'ns::reduce<256,float>',
    'ns::reduce<256u, *',
    '*',
    'ns::*',
    '*reduce',
    'ns::re?uce',
  ]) {
    assert.ok(matchKernel(pattern, name), pattern);
  }
  for (const pattern of ['reduce', 'ns::red', 'ns::reduce<64, *>', 'ns::reduce<25?', 'NS::reduce', 'ns::reduce?']) {
    assert.ok(!matchKernel(pattern, name), pattern);
  }
});

test('the symbol of a kernel selects it', () => {
  assert.ok(matchKernel('_ZN2ns6reduceEv', 'ns::reduce', '_ZN2ns6reduceEv'));
  assert.ok(!matchKernel('_ZN2ns6reduce*', 'ns::reduce', '_ZN2ns6reduceEv'));
});

test('characters of regular expressions are literal in a glob', () => {
  assert.ok(matchKernel('(anonymous namespace)::k', '(anonymous namespace)::k'));
  assert.ok(!matchKernel('k.', 'kx'));
  assert.ok(matchKernel('[x]', '[x]'));
});

test('a regular expression matches anywhere, on the command line only', () => {
  assert.ok(matchKernel('/reduce<(256|512)/', name));
  assert.ok(!matchKernel('/^reduce/', name));
  assert.equal(kernelPatternProblem('/x/'), undefined);
  assert.match(kernelPatternProblem('/x/', false) ?? '', /only the command line/);
  assert.match(kernelPatternProblem('/(/') ?? '', /not a valid regular expression/);
  assert.match(kernelPatternProblem(`/${'a'.repeat(300)}/`) ?? '', /longer than/);
  assert.match(kernelPatternProblem('  ') ?? '', /empty/);
});

test('a glob with many stars is matched without exponential time', () => {
  assert.ok(!matchKernel('*a'.repeat(40) + 'b', 'a'.repeat(400)));
});
