import { defaultConfiguration } from '../../../src/settings/defaults.ts';
import type { ParameterSource } from '../../../src/launch/parameter-source.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAnnotations } from '../../../src/cuda/reading/annotation.ts';
import { kernelName } from '../../../src/cuda/names/kernel-name.ts';
import { defaultOptions } from '../../../src/settings/options.ts';
import type { SourceFacts } from '../../../src/app/project/source-facts.ts';
import { statedFacts } from '../../../src/app/project/stated-facts.ts';
import { kernelOf } from '../../ir/form/kernel-fixture.ts';

const parameters: ParameterSource[] = [
  {
    name: 'v',
    type: 'View',
    fields: [
      { name: 'data', offset: 0, type: 'float *' },
      { name: 'width', offset: 8, type: 'int' },
    ],
  },
  { name: 'other', type: 'Other' },
  { name: 'n', type: 'int' },
];

function stated(comment: string, assume: readonly string[] = []) {
  const settings = { options: { ...defaultOptions(), assume }, configuration: defaultConfiguration };
  const facts = {
    annotationOf: () => readAnnotations([{ text: comment, line: 7, column: 1 }], 'a.cu'),
  };
  return statedFacts(
    settings,
    kernelOf({ parameters: ['b8', 'b8', 'u32'] }),
    kernelName('k'),
    parameters,
    undefined,
    facts as unknown as SourceFacts,
    [],
  );
}

test('a launch in a comment is checked against the limits of devices, with its place', () => {
  const { annotation, diagnostics } = stated('// selvage: grid=4 block=64,64 cluster=32 shared=300000 arg(n=3)');
  assert.deepEqual(
    diagnostics.map(({ severity, code, location }) => [severity, code, location?.line, location?.column]),
    [20, 32, 43].map((column) => ['error', 'annotation/out-of-range', 7, column]),
  );
  assert.match(diagnostics[0]?.message ?? '', /block in the comment at k has 4096 threads/);
  assert.match(diagnostics[2]?.message ?? '', /232448/);
  assert.deepEqual(annotation?.grid, [4, 1, 1]);
  assert.equal(annotation.block ?? annotation.cluster ?? annotation.sharedBytes, undefined);
  assert.deepEqual([...(annotation.args ?? [])], [['n', '3']]);
  assert.deepEqual(stated('// selvage: block=32,32 shared=1024').diagnostics, []);
});

test('an assumption about a missing member is reported, not dropped silently', () => {
  const { assumptions, diagnostics } = stated(
    '// selvage: assume(v.width == 64) assume(v.widht == 64) assume(other.n == 1) assume(param0.width > n) assume(m == 1)',
    ['v.height == 4'],
  );
  assert.deepEqual(
    assumptions.map(({ text }) => text),
    ['v.width == 64', 'param0.width > n'],
  );
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    Array(4).fill('assumption/unknown-name'),
  );
  const messages = diagnostics.map(({ message }) => message);
  assert.match(messages[0] ?? '', /v has no member height\. It has: data, width\.$/);
  assert.match(messages[1] ?? '', /v has no member widht/);
  assert.match(messages[2] ?? '', /does not know the members of other/);
  assert.match(messages[3] ?? '', /k has no parameter m\. It has: v, param0, other/);
  assert.equal(diagnostics[1]?.location?.line, 7);
});
