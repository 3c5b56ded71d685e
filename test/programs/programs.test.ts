/** Each program is checked as a repository of its own: which launches are found, and what they come to. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { selvage } from '../app/commands/in-process.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { type JudgedDiagnostic, type JudgedKernel, type JudgedReport, differences, parseVerdicts } from '../verdicts/expectation.ts'; // prettier-ignore

const folder = fileURLToPath(new URL('.', import.meta.url));
const programs = globSync('*/*/', { cwd: folder }).sort();

/** What is expected of the kernels of a program, by the file that defines them. */
function expectationsOf(program: string): ReadonlyMap<string, string> {
  const files = globSync('**/*.{cu,cuh}', { cwd: join(folder, program) }).sort();
  return new Map(files.map((file) => [file, readFileSync(join(folder, program, file), 'utf8')]));
}

/** A name without spaces and unnamed namespaces, as expectations write it. */
function plainName(name: string): string {
  return name.replaceAll('(anonymous namespace)::', '').replaceAll(' ', '');
}

/** The kernel of this name: with parameters, with template arguments, or without either. */
function isNamed({ name }: JudgedKernel, wanted: string): boolean {
  const plain = plainName(name);
  return [plain, plain.replace(/\(.*$/, ''), plain.replace(/<.*$|\(.*$/, '')].includes(wanted);
}

/** Whether a diagnostic is about a kernel: it is at one of its launches, or names it in its file. */
function isAbout({ location, message }: JudgedDiagnostic, kernel: JudgedKernel): boolean {
  const isThere = kernel.launches.some((launch) => launch.location?.file === location?.file && launch.location?.line === location?.line); // prettier-ignore
  const short = kernel.name.replaceAll('(anonymous namespace)::', '').replace(/[<(].*$/s, '');
  const isNamedThere = new RegExp(`\\b${short}\\b`).test(message);
  return isNamedThere && (isThere || location === undefined || dirname(location.file) === dirname(kernel.location?.file ?? '')); // prettier-ignore
}

for (const program of programs) {
  test(`${program} gets the verdicts and launches that it expects`, { skip: withoutNvcc }, async (context) => {
    const copy = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-program-')));
    context.after(() => rmSync(copy, { recursive: true }));
    cpSync(join(folder, program), copy, { recursive: true });
    execFileSync('git', ['init', '--quiet'], { cwd: copy });
    execFileSync('git', ['add', '--all'], { cwd: copy });
    const texts = expectationsOf(program);
    const options = [...texts.values()].flatMap((text) => /^\/\/ options: (.+)$/m.exec(text)?.[1]?.split(' ') ?? []);
    const words = ['check', '.', '--checks', 'race,divergence', '--no-cache', '--jobs', '1', '--format', 'json', ...options]; // prettier-ignore
    const { stdout, stderr } = await selvage(words, copy);
    assert.notEqual(stdout, '', stderr);
    const report = JSON.parse(stdout) as JudgedReport;
    const wrong: string[] = [];
    for (const [file, text] of texts) {
      for (const expectation of parseVerdicts(text)) {
        const { kernel: name, open } = expectation;
        const found = report.kernels.filter((kernel) => kernel.location?.file === file && isNamed(kernel, name));
        const differing = found.length === 1
            ? differences(expectation, found[0]!, report.diagnostics.filter((diagnostic) => isAbout(diagnostic, found[0]!)))
            : [`${found.length} kernels of this name`]; // prettier-ignore
        if (open === undefined) wrong.push(...differing.map((difference) => `${file} ${name}: ${difference}`));
        else if (differing.length === 0) wrong.push(`${file} ${name} is as expected: its line "open" can go`);
        else context.diagnostic(`open: ${file} ${name}: ${open}`);
      }
    }
    const all = [...texts.values()].flatMap((text) => parseVerdicts(text));
    if (all.every(({ open }) => open === undefined)) {
      const stray = report.diagnostics.filter((diagnostic) => diagnostic.severity !== 'notice' && !report.kernels.some((kernel) => isAbout(diagnostic, kernel))); // prettier-ignore
      wrong.push(...stray.map(({ code, severity, message }) => `unexpected: ${severity} ${code}: ${message}`));
      if (report.kernels.length !== all.length) wrong.push(`kernels: ${report.kernels.map(({ name }) => name).join()}`);
    }
    assert.equal(wrong.length, 0, `\n${wrong.join('\n')}`);
  });
}

test('there are 60 programs or more, a third of them wrong, and their expectations are well formed', () => {
  const kernels = programs.map((program) =>
    [...expectationsOf(program).values()].flatMap((text) => parseVerdicts(text)),
  );
  const isWrong = (list: (typeof kernels)[number]): boolean => list.some(({ findings }) => findings.some(({ severity }) => severity === 'error')); // prettier-ignore
  assert.deepEqual(programs.filter((_, index) => kernels[index]!.length === 0), []); // prettier-ignore
  assert.ok(programs.length >= 60, String(programs.length));
  assert.ok(3 * kernels.filter(isWrong).length >= programs.length);
  assert.deepEqual(readdirSync(folder).filter((construct) => globSync(`${construct}/*`, { cwd: folder }).length > 20), []); // prettier-ignore
});
