/** Checks a program as a separate repository, and compares the report with the expectations in its files. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { selvage } from '../app/commands/in-process.ts';
import { type JudgedDiagnostic, type JudgedKernel, type JudgedReport, differences, parseVerdicts } from '../verdicts/expectation.ts';

/** Result for the expectations of one kernel. */
interface JudgedExpectation {
  /** From the folder of the program. */
  readonly file: string;
  readonly kernel: string;
  /** Description of the current result of the check, if it is not the expected one. */
  readonly open?: string;
  /** Differences between the report and the expectations. */
  readonly differing: readonly string[];
}

interface JudgedProgram {
  readonly kernels: readonly JudgedExpectation[];
  /** Kernels, errors and warnings without an expectation. */
  readonly stray: readonly string[];
}

export const programsFolder = fileURLToPath(new URL('.', import.meta.url));

/** `CONSTRUCT/PROGRAM` */
export const programs: readonly string[] = globSync('*/*/', { cwd: programsFolder }).sort();

/** The texts of a program's files that may have expectations, by their path in it. */
export function textsOf(program: string): ReadonlyMap<string, string> {
  const files = globSync('**/*.{cu,cuh}', { cwd: join(programsFolder, program) }).sort();
  return new Map(files.map((file) => [file, readFileSync(join(programsFolder, program, file), 'utf8')]));
}

/** Checks a program. Needs nvcc. */
export async function judgedProgram(program: string): Promise<JudgedProgram> {
  const texts = textsOf(program);
  const { kernels, diagnostics } = await reportOn(program, [...texts.values()]);
  const judged = [...texts].flatMap(([file, text]) =>
    parseVerdicts(text).map((expectation): JudgedExpectation => {
      const { kernel, open } = expectation;
      const found = kernels.filter((one) => one.location?.file === file && isNamed(one, kernel));
      const differing =
        found.length === 1
          ? differences(
              expectation,
              found[0]!,
              diagnostics.filter((one) => kernelsOf(one, kernels).includes(found[0]!)),
            )
          : [`${found.length} kernels of this name`];
      return { file, kernel, ...(open !== undefined && { open }), differing };
    }),
  );
  const stray = diagnostics.filter((one) => one.severity !== 'notice' && kernelsOf(one, kernels).length === 0);
  const names = kernels.length === judged.length ? [] : [`kernels: ${kernels.map(({ name }) => name).join()}`];
  return {
    kernels: judged,
    stray: [...names, ...stray.map(({ code, severity, message }) => `unexpected: ${severity} ${code}: ${message}`)],
  };
}

async function reportOn(program: string, texts: readonly string[]): Promise<JudgedReport> {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-program-')));
  try {
    cpSync(join(programsFolder, program), copy, { recursive: true });
    // Headers that the programs of a construct share.
    const shared = join(programsFolder, dirname(program));
    for (const header of globSync('*.cuh', { cwd: shared })) cpSync(join(shared, header), join(copy, header));
    // Without the samples of hooks.
    execFileSync('git', ['init', '--quiet', '--template='], { cwd: copy });
    execFileSync('git', ['add', '--all'], { cwd: copy });
    const options = texts.flatMap((text) => /^\/\/ options: (.+)$/m.exec(text)?.[1]?.split(' ') ?? []);
    const words = ['check', '.', '--checks', 'race,divergence', '--no-cache', '--jobs', '1', '--format', 'json', ...options];
    const { stdout, stderr } = await selvage(words, copy);
    assert.notEqual(stdout, '', stderr);
    return JSON.parse(stdout) as JudgedReport;
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** The kernel of this name: with parameters, with template arguments, or without either. */
function isNamed({ name }: JudgedKernel, wanted: string): boolean {
  const plain = withoutNamespace(name).replaceAll(' ', '');
  return [plain, plain.replace(/\(.*$/, ''), plain.replace(/<.*$|\(.*$/, '')].includes(wanted);
}

function withoutNamespace(name: string): string {
  return name.replaceAll('(anonymous namespace)::', '');
}

/**
 * Kernels that a diagnostic refers to: those that it names, otherwise those launched at its place, otherwise the
 * nearest.
 */
function kernelsOf({ code, location, message }: JudgedDiagnostic, kernels: readonly JudgedKernel[]): readonly JudgedKernel[] {
  const named = kernels.filter(({ name }) => new RegExp(`\\b${withoutNamespace(name).replace(/[<(].*$/s, '')}\\b`).test(message));
  if (!location) return named;
  // Copies and accesses of the host name no kernel: they are stated at the first one of the file.
  if (named.length === 0 && code.startsWith('ordering/')) return kernels.filter((one) => one.location?.file === location.file).slice(0, 1);
  const nearer = [
    named.filter(({ launches }) =>
      launches.some((launch) => launch.location?.file === location.file && launch.location.line === location.line),
    ),
    named.filter((kernel) => kernel.location?.file === location.file),
    named.filter((kernel) => dirname(kernel.location?.file ?? '') === dirname(location.file)),
  ];
  return nearer.find((list) => list.length > 0) ?? named;
}
