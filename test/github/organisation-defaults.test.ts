/** The configuration of an organisation: its source, and the handling of one that is invalid or unreadable. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfiguration } from '../../src/app/build/open-project.ts';
import { openSourceTree } from '../../src/app/project/source-tree.ts';
import { organisationDefaults } from '../../src/github/api/organisation-defaults.ts';
import { BotPull } from './bot-fixture.ts';
import { testClient } from './client.ts';

const folder = mkdtempSync(join(tmpdir(), 'selvage-organisation-'));
const pull = await BotPull.open();
after(async () => {
  rmSync(folder, { recursive: true });
  await pull.server.close();
});

async function configured(own: string | null, organisation: typeof pull.server.settings.organisation) {
  const file = join(folder, '.selvage.yml');
  rmSync(file, { force: true });
  if (own !== null) writeFileSync(file, own);
  pull.server.settings.organisation = organisation;
  const defaults = await organisationDefaults(testClient(pull.server, 'secret-token', { writeInterval: 0 }), 'octo');
  return readConfiguration(openSourceTree(folder), { isConfined: true, defaults });
}

const GENERAL = `version: 1
arch: [sm_90]
nvcc: { args: [-DGENERAL] }
paths: { include: ['all/**'], exclude: ['third/**'] }
kernels: [{ match: k, block: 128, assume: [n > 0] }]
checks:
  race: { severity: warning, warp-lockstep: true }
  cost: { sectors: { warn: '+5%' }, registers: { warn: '+4' } }
suppress: [{ code: race/global, reason: everywhere, until: 2020-01-01 }]
`;

test('a repository without a configuration uses the one of its organisation', async () => {
  const { configuration, diagnostics } = await configured(null, GENERAL);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(configuration.arch, ['sm_90']);
  assert.equal(configuration.checks.race.severity, 'warning');
});

test('values of the repository override the organisation’s; lists are concatenated, its own last', async () => {
  const own = `version: 1
nvcc: { args: [-DOWN] }
paths: { include: ['src/**'], exclude: ['gen/**'] }
kernels: [{ match: k, block: 64 }]
checks: { race: { severity: error }, cost: { registers: { warn: '+9' } } }
suppress: [{ code: race/shared, reason: here }]
`;
  const { configuration } = await configured(own, GENERAL);
  const { arch, nvcc, paths, kernels, checks, suppressions } = configuration;
  assert.deepEqual([arch, nvcc.args], [['sm_90'], ['-DGENERAL', '-DOWN']]);
  assert.deepEqual(paths, { include: ['src/**'], exclude: ['third/**', 'gen/**'] });
  assert.deepEqual(
    kernels.map(({ block }) => block?.[0]),
    [128, 64],
  );
  // The earlier default is given here.
  assert.deepEqual([checks.race.severity, checks.race.warpLockstep], ['error', true]);
  assert.deepEqual([checks.cost.sectors?.warn?.text, checks.cost.registers?.warn?.text], ['+5%', '+9']);
  assert.deepEqual(
    suppressions.map(({ reason, isShared }) => [reason, isShared]),
    [
      ['everywhere', true],
      ['here', undefined],
    ],
  );
  assert.equal(suppressions[0]!.location.file, 'octo/.github/.selvage.yml');
});

test('invalid or unreadable defaults are reported, and the run continues', async () => {
  const own = 'version: 1\narch: [sm_86]\n';
  for (const [organisation, why] of [
    ['version: 1\nkernel: []\n', /octo\/\.github\/\.selvage\.yml:2:1: "kernel" is not a key/],
    ['{', /not valid YAML/],
    [{ status: 403 }, /status 403/],
    [{ status: 500 }, /status 500/],
  ] as const) {
    const { configuration, diagnostics } = await configured(own, organisation);
    assert.deepEqual(configuration.arch, ['sm_86']);
    assert.deepEqual(
      diagnostics.map(({ code, severity }) => [code, severity]),
      [['config/organisation', 'warning']],
    );
    assert.match(diagnostics[0]!.message, why);
  }
  assert.deepEqual((await configured(own, null)).diagnostics, []);
  assert.deepEqual(pull.server.faults, []);
});
