import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helpText } from '../../src/settings/help.ts';
import { commands, optionTable, parseCommandLine, type CommandName, type Options } from '../../src/settings/options.ts';
import { UsageError } from '../../src/base/usage-error.ts';

function optionsOf(...argv: string[]): Options {
  const invocation = parseCommandLine(['check', 'a.cu', ...argv]);
  assert.equal(invocation.kind, 'command');
  return invocation.kind === 'command' ? invocation.options : assert.fail();
}

function refusal(...argv: string[]): string {
  try {
    parseCommandLine(argv);
  } catch (error) {
    assert.ok(error instanceof UsageError, String(error));
    return error.message;
  }
  return assert.fail(`${argv.join(' ')} was accepted`);
}

test('missing dimensions default to 1', () => {
  assert.deepEqual(optionsOf('--block', '16,16', '--grid=64').block, [16, 16, 1]);
  assert.deepEqual(optionsOf('--grid', '64').grid, [64, 1, 1]);
});

test('dimensions out of range are rejected with the limit', () => {
  const cases: [string, string, RegExp][] = [
    ['--block', '0', /below 1/],
    ['--block', '4096', /1024/],
    ['--block', '1024,2', /2048 threads.*1024/],
    ['--block', '1,1,65', /z = 65.*64/],
    ['--block', '-1', /whole numbers/],
    ['--block', '1.5', /whole numbers/],
    ['--block', '1,2,3,4', /at most three/],
    ['--block', '99999999999999999999', /limit|below/],
    ['--grid', '0', /below 1/],
    ['--grid', '1,65536', /65535/],
    ['--grid', '2147483648', /2147483647/],
    ['--cluster', '32', /16/],
    ['--shared', '-5', /whole number/],
    ['--shared', '1000000', /232448/],
    ['--timeout', '0', /above 0/],
    ['--effort', '0', /1 to 100/],
    ['--jobs', '0', /from 1/],
    ['--jobs', '1e9', /whole number/],
  ];
  for (const [option, value, expected] of cases) assert.match(refusal('check', 'a.cu', option, value), expected);
});

test('a grid that is not a multiple of the cluster is rejected', () => {
  assert.match(refusal('check', 'a.cu', '--grid', '10', '--cluster', '4'), /multiple/);
});

test('an unknown option names the nearest', () => {
  assert.match(refusal('check', 'a.cu', '--blok', '4'), /--block/);
  assert.match(refusal('check', 'a.cu', '--fail_on', 'never'), /--fail-on/);
  assert.match(refusal('check', 'a.cu', '-O3'), /after `--`/);
});

test('an unknown command names the nearest, a file in its place `check`', () => {
  assert.match(refusal('chekc', 'a.cu'), /`check`/);
  assert.match(refusal('kernel.cu'), /selvage check kernel\.cu/);
});

test('values that are missing or specified twice are rejected', () => {
  assert.match(refusal('check', 'a.cu', '--block'), /needs a value/);
  assert.match(refusal('check', 'a.cu', '--block', '--grid', '4'), /needs a value/);
  assert.match(refusal('check', 'a.cu', '--block', '4', '--block', '8'), /twice/);
  assert.match(refusal('check', 'a.cu', '--timings=yes'), /takes no value/);
});

test('values of options with fixed choices are validated', () => {
  assert.match(refusal('check', 'a.cu', '--format', 'jsn'), /did you mean json/);
  assert.match(refusal('check', 'a.cu', '--fail-on', 'always'), /error, warning, never/);
  assert.match(refusal('check', 'a.cu', '--checks', 'rase'), /did you mean race/);
  assert.match(refusal('check', 'a.cu', '--solver', 'nativ'), /did you mean native/);
  assert.match(refusal('check', 'a.cu', '--arch', 'ampere'), /sm_80/);
  assert.match(refusal('check', 'a.cu', '--kernel', '/(/'), /regular expression/);
  assert.match(refusal('check', 'a.cu', '--arg', 'n'), /NAME=VALUE/);
});

test('repeatable options accumulate, and arguments after `--` are passed to nvcc', () => {
  const invocation = parseCommandLine(['check', 'a.cu', '--assume', 'n > 0', '--assume', 'n < 9', '--', '-DX', '--block']);
  assert.equal(invocation.kind, 'command');
  if (invocation.kind !== 'command') return;
  assert.deepEqual(invocation.options.assume, ['n > 0', 'n < 9']);
  assert.deepEqual(invocation.nvccArguments, ['-DX', '--block']);
  assert.deepEqual(invocation.paths, ['a.cu']);
});

test('schedules have names in addition to their numbers', () => {
  const number = (text: string): number | undefined => {
    const invocation = parseCommandLine(['run', 'a.cu', '--schedule', text]);
    return invocation.kind === 'command' ? invocation.options.run.schedule : undefined;
  };
  const named = ['reverse', 'shuffled', 'shuffled:7', 'interleaved', 'interleaved:3', 'store-buffer:1', '0', '1234'];
  assert.deepEqual(named.map(number), [1, 2, 9, 1000, 1003, 2001, 0, 1234]);
  for (const [text, reason] of [
    ['reversed', /choose one of reverse, .*did you mean reverse/],
    ['reverse:1', /give reverse without a seed/],
    ['interleaved:1000', /a seed from 0 to 999/],
    ['interleaved:x', /a seed from 0 to 999/],
    ['-1', /.*/],
  ] as const)
    assert.match(refusal('run', 'a.cu', `--schedule=${text}`), reason);
});

test('options of review are not those of check', () => {
  assert.match(refusal('check', 'a.cu', '--base', 'main'), /selvage review/);
});

test('help names every command, and every option at a command that takes it', () => {
  const text = helpText();
  const ofCommands = (Object.keys(commands) as CommandName[]).map((command) => helpText(command));
  for (const option of Object.keys(optionTable))
    assert.ok(
      ofCommands.some((one) => new RegExp(`^  (-\\w, )?--${option}\\b`, 'm').test(one)),
      option,
    );
  for (const one of [text, ...ofCommands]) for (const line of one.split('\n')) assert.ok(line.length <= 100, line);
  for (const [name, entry] of Object.entries(commands))
    assert.equal(
      text.includes(`  ${name} `) || text.includes(`  ${name}\n`) || text.includes(`  ${entry.synopsis}`),
      !('planned' in entry),
      name,
    );
  assert.ok(!helpText('check').includes('--base'));
  assert.deepEqual(parseCommandLine([]), { kind: 'help' });
  assert.deepEqual(parseCommandLine(['check', '--help']), { kind: 'help', command: 'check' });
});
