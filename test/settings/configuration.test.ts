import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfiguration } from '../../src/settings/configuration-parser.ts';
import { defaultConfiguration } from '../../src/settings/defaults.ts';

const complete = `version: 1
arch: [sm_80, sm_90a]
nvcc: { args: ["-std=c++17", "-Iinclude"], compile-commands: build/compile_commands.json, stub-missing-headers: true }
paths: { include: ["src/**/*.cu"], exclude: ["third_party/**"] }
kernels:
  - match: "reduce*"
    block: [256, 1, 1]
    grid: 64
    cluster: [2]
    shared: 4096
    cooperative: true
    assume: ["n % 32 == 0", 'n <= 1 << 24']
    args: { n: 9007199254740993, scale: 2.5, flag: true }
    limits: { registers: 64, sharedBytes: 49152, spillBytes: 0, occupancy: ">= 50%", sectors: "<= 8*ceil(n/32)" }
checks:
  race: { severity: warning, same-value-writes: allow, volatile: error, undecided: warning, warp-lockstep: true }
  divergence: { severity: notice, early-exit: error }
  memory: { overflow: allow, alignment: error }
  repair: { suggest: false, grid-level: false, remove-redundant: warning, loop-weight: 4 }
  cost: { sectors: { warn: "+5%", fail: "+25%" }, registers: { warn: 4 }, occupancy: { warn: "-10 points" } }
  idempotency: warning
suppress:
  - { code: race/global, path: "src/legacy/**", reason: "old", until: 2027-06-30 }
`;

/** Place and code of each diagnostic. */
function problems(text: string): string[] {
  return parseConfiguration(text, 'c.yml').diagnostics.map(
    ({ code, location, message }) => `${location?.line}:${location?.column} ${code} ${message}`,
  );
}

test('every key is read', () => {
  const { configuration, diagnostics } = parseConfiguration(complete, '.selvage.yml');
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(configuration.arch, ['sm_80', 'sm_90a']);
  assert.deepEqual(configuration.nvcc, {
    args: ['-std=c++17', '-Iinclude'],
    compileCommands: ['build/compile_commands.json'],
    stubsMissingHeaders: true,
  });
  assert.deepEqual(configuration.paths, { include: ['src/**/*.cu'], exclude: ['third_party/**'] });
  assert.deepEqual(configuration.checks, {
    race: {
      severity: 'warning',
      sameValueWrites: 'proved',
      volatile: 'error',
      undecided: 'warning',
      warpLockstep: true,
    },
    divergence: { severity: 'notice', earlyExit: 'error' },
    memory: { overflow: 'allow', alignment: 'error' },
    repair: { suggest: false, gridLevel: false, removeRedundant: 'warning', weights: { grid: 12, loop: 4 } },
    cost: {
      sectors: {
        warn: { text: '+5%', unit: 'percent', amount: 5 },
        fail: { text: '+25%', unit: 'percent', amount: 25 },
      },
      registers: { warn: { text: '4', unit: 'absolute', amount: 4 } },
      occupancy: { warn: { text: '-10 points', unit: 'points', amount: 10 } },
    },
    idempotency: 'warning',
  });
  const [kernel] = configuration.kernels;
  assert.ok(kernel);
  assert.deepEqual(
    [kernel.match, kernel.block, kernel.grid, kernel.cluster, kernel.sharedBytes, kernel.cooperative],
    ['reduce*', [256, 1, 1], [64, 1, 1], [2, 1, 1], 4096, true],
  );
  assert.deepEqual(kernel.location, { file: '.selvage.yml', line: 6, column: 5 });
  assert.deepEqual(
    [...kernel.args],
    [
      ['n', 9007199254740993n],
      ['scale', 2.5],
      ['flag', true],
    ],
  );
  assert.deepEqual(
    kernel.assumptions.map(({ text, location }) => [text, location?.line, location?.column]),
    [
      ['n % 32 == 0', 12, 14],
      ['n <= 1 << 24', 12, 29],
    ],
  );
  const { registers, occupancy, sectors } = kernel.limits;
  assert.deepEqual([registers?.value, occupancy?.value, occupancy?.strict], [64, 0.5, false]);
  assert.deepEqual([sectors?.text, sectors?.location.line], ['<= 8*ceil(n/32)', 14]);
  assert.deepEqual(configuration.suppressions, [
    {
      code: 'race/global',
      reason: 'old',
      path: 'src/legacy/**',
      until: '2027-06-30',
      location: { file: '.selvage.yml', line: 23, column: 5 },
    },
  ]);
});

test('missing keys have their defaults', () => {
  const { configuration, diagnostics } = parseConfiguration('version: 1\nkernels: [{ match: k }]\n', 'c.yml');
  assert.deepEqual(diagnostics, []);
  const { kernels, ...rest } = configuration;
  const { kernels: none, ...empty } = defaultConfiguration;
  assert.deepEqual(rest, empty);
  assert.deepEqual(none, []);
  assert.equal(kernels[0]?.block, undefined);
  assert.equal(kernels[0]?.sharedBytes, undefined);
  const { race } = rest.checks;
  assert.deepEqual(race, {
    severity: 'error',
    sameValueWrites: 'warning',
    volatile: 'warning',
    undecided: 'notice',
    warpLockstep: false,
  });
  assert.deepEqual(rest.checks.divergence, { severity: 'error', earlyExit: 'warning' });
});

test('unknown keys are refused with the nearest valid one, at any depth', () => {
  assert.deepEqual(problems('version: 1\nkernel: []\n'), [
    '2:1 config/unknown-key "kernel" is not a key of the configuration; did you mean "kernels"?',
  ]);
  assert.deepEqual(problems('version: 1\nkernels:\n  - match: a\n    blok: [1]\n'), [
    '4:5 config/unknown-key "blok" is not a key of kernels[0]; did you mean "block"?',
  ]);
  assert.deepEqual(problems('version: 1\nchecks: { race: { same-value-write: error } }\n'), [
    '2:19 config/unknown-key "same-value-write" is not a key of checks.race; did you mean "same-value-writes"?',
  ]);
  assert.deepEqual(problems('version: 1\nchecks: { repair: { grid-weigth: 3 } }\n'), [
    '2:21 config/unknown-key "grid-weigth" is not a key of checks.repair; did you mean "grid-weight"?',
  ]);
  assert.match(
    problems('version: 1\nchecks: { xyzzyxyzzy: 1 }')[0] ?? '',
    /there are race, divergence, memory, repair, cost, idempotency\.$/,
  );
});

test('wrong types and values are rejected at their position', () => {
  for (const [text, expected] of [
    ['arch: sm_80', /^2:7 config\/wrong-type arch is sm_80; it must be a list/],
    ['arch: [80]', /^2:8 config\/wrong-type arch\[0\] is 80; it must be text/],
    ['arch: [turing]', /^2:8 .*must be an architecture such as sm_80/],
    ['nvcc: [-O3]', /^2:7 .*nvcc must be a mapping/],
    ['paths: null', /^2:8 .*paths is null; it must be a mapping/],
    ['kernels: [{ match: k, block: x }]', /^2:30 .*block is x; it must be one to three positive whole numbers/],
    ['kernels: [{ match: k, block: [0, 1] }]', /^2:31 .*block\[0\] is 0; it must be from 1/],
    ['kernels: [{ match: k, block: [1, 2, 3, 4] }]', /^2:30 .*one to three numbers/],
    ['kernels: [{ match: k, block: 4096 }]', /^2:30 .*x = 4096; the limit of a block in x is 1024/],
    ['kernels: [{ match: k, block: [64, 64] }]', /^2:30 .*4096 threads/],
    ['kernels: [{ match: k, grid: 1.5 }]', /^2:29 .*grid is 1\.5/],
    ['kernels: [{ match: k, shared: -1 }]', /^2:31 .*shared is -1; it must be from 0/],
    ['kernels: [{ match: k, cooperative: yes }]', /^2:36 .*cooperative is yes; it must be true or false/],
    ['kernels: [{ match: k, args: { n: [1] } }]', /^2:34 .*args\.n must be a number/],
    ['kernels: [{ match: k, args: [] }]', /^2:29 .*args must be a mapping/],
    ['kernels: [{ match: k, assume: ["n % 0 == 5"] }]', /^2:37 assumption\/syntax .*no value for the divisor 0/],
    ['kernels: [{ match: k, args: { "n m": 1 } }]', /^2:38 .*is not a parameter name/],
    ['checks: { repair: { loop-weight: 0 } }', /^2:34 .*loop-weight is 0; it must be from 1 to 100/],
    ['kernels: [{ match: /re/ }]', /^2:20 .*regular expression; only the command line/],
    ['kernels: [{ match: k, limits: { occupancy: 50 } }]', /^2:44 .*occupancy is 50; it must be text/],
    ['kernels: [{ block: 1 }]', /^2:11 config\/missing-key The key "match" of kernels\[0\] is missing/],
    ['checks: { race: { severity: fatal } }', /^2:29 .*severity is fatal; it must be one of error, warning, notice/],
    ['checks: { cost: { sectors: { warn: lots } } }', /^2:36 .*\+5%/],
    [`checks: { cost: { sectors: { warn: "+${'9'.repeat(400)}" } } }`, /^2:36 .*more than any cost; write a smaller change/],
    ['checks: { cost: { sectors: { warn: "+50%", fail: "+25%" } } }', /^2:36 .*warn is \+50% and is looser than .*\+25%/],
    ['checks: { cost: { occupancy: { warn: "-20%", fail: -10% } } }', /^2:38 .*looser/],
    ['checks: { cost: { sectors: { fail: -5% } } }', /^2:36 .*an increase of sectors/],
    ['checks: { cost: { occupancy: { fail: +5% } } }', /^2:38 .*a decrease of occupancy/],
    ['checks: { cost: { occupancy: { fail: -5 } } }', /^2:38 .*needs a unit/],
    ['checks: { cost: { registers: { warn: "+4 points" } } }', /^2:38 .*only occupancy/],
    ['checks: { cost: { sector: { warn: "+4" } } }', /^2:19 .*did you mean "sectors"\?/],
    ['kernels: [{ match: k, limits: { sectors: ">= 4" } }]', /^2:43 .*upper bound/],
    ['kernels: [{ match: k, limits: { sectors: "<= 8*ceil(n/32" } }]', /^2:57 .*"\)" is missing/],
    ['kernels: [{ match: k, limits: { steps: "<= n/m" } }]', /^2:44 .*must be rounded/],
    ['kernels: [{ match: k, limits: { occupancy: ">= 150%" } }]', /^2:48 .*at most 100%/],
    ['kernels: [{ match: k, limits: { occupancy: "<= 50%" } }]', /^2:45 .*lower bound/],
    ['kernels: [{ match: k, limits: { conflict: "<= 4" } }]', /^2:33 .*did you mean "conflicts"\?/],
    ['suppress: [{ code: race/global }]', /^2:12 config\/missing-key The key "reason"/],
    ['suppress: [{ code: race/globl, reason: x }]', /^2:20 .*did you mean race\/global\?/],
    ['suppress: [{ code: race/global, reason: x, until: soon }]', /^2:51 .*must be a date/],
    ['suppress: [{ code: race/global, reason: x, until: 2027-02-30 }]', /^2:51 .*must be a date/],
  ] as const) {
    const found = problems(`version: 1\n${text}\n`);
    assert.equal(found.length, 1, `${text}: ${found.join('; ')}`);
    assert.match(found[0] ?? '', expected);
  }
});

test('the version must be specified and known', () => {
  assert.deepEqual(problems(''), ['1:1 config/missing-key The key "version" is missing; write version: 1.']);
  assert.deepEqual(problems('version: 2\n'), ['1:10 config/version version is 2; it must be 1.']);
  assert.deepEqual(problems('version: "1"\n'), ['1:10 config/version version is "1"; it must be 1.']);
  assert.deepEqual(problems('- a\n'), ['1:1 config/wrong-type The configuration must be a mapping: { key: value }.']);
});

test('malformed YAML is rejected with its position', () => {
  for (const [text, place] of [
    ['version: 1\nkernels: [ {\n', /^\d:\d+ config\/yaml/],
    ['version: 1\nversion: 1\n', /^2:1 config\/yaml .*unique/],
    ['version: 1\n\tarch: []\n', /^2:1 config\/yaml .*Tabs/],
    ['version: 1\n---\nversion: 1\n', /config\/yaml/],
    [
      'a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c, *c]\n',
      /config\/yaml .*Aliases/,
    ],
  ] as const) {
    assert.match(problems(text)[0] ?? 'nothing', place, text);
  }
});

test('a file that is nested too deeply is rejected, at any place', () => {
  for (const form of ['DEEP', 'version: DEEP', 'version: 1\nkernels: DEEP', 'version: 1\nkernels: [{ match: k, args: { n: DEEP } }]'])
    for (const [open, close] of [
      ['[', ']'],
      ['{ a: ', '}'],
    ] as const)
      for (const depth of [100, 1000, 3000, 6000, 20_000]) {
        const [found = 'nothing'] = problems(form.replace('DEEP', `${open.repeat(depth)}1${close.repeat(depth)}`));
        assert.match(found, depth > 10_000 ? /config\/yaml .*nested too deeply; write them flat/ : /^\d:\d+ config\//);
        assert.doesNotMatch(found, /Aliases|call stack/);
      }
});

test('errors inside an assumption are at their column', () => {
  const found = problems('version: 1\nkernels:\n- match: k\n  assume: ["n % 32 = 0", n & 1 == 0, \'m > > 2\']\n');
  assert.deepEqual(
    found.map((text) => text.split(' ').slice(0, 2).join(' ')),
    ['4:20 assumption/syntax', '4:26 assumption/syntax', '4:43 assumption/syntax'],
  );
});

test('an erroneous configuration has no effect', () => {
  const { configuration, diagnostics } = parseConfiguration('version: 1\narch: [sm_80]\npath: {}\n', 'c.yml');
  assert.equal(diagnostics.length, 1);
  assert.deepEqual(configuration, defaultConfiguration);
});
