import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'node:test';
import type { CompileRequest } from '../../src/toolchain/compile.ts';
import { findCompiler, type Compiler } from '../../src/toolchain/compiler.ts';
import type { FlagGroup } from '../../src/toolchain/flags.ts';

export const includeFolder = resolve(dirname(fileURLToPath(import.meta.url)), '../../src/toolchain/include');

/** A temporary folder for a test, removed after it. */
export function temporaryFolder(test: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-test-')));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files, by path relative to the folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A program written in JavaScript. */
export function writeProgram(path: string, source: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!${process.execPath}\n${source}`);
  chmodSync(path, 0o755);
}

/** A compiler that answers as nvcc does, and runs `source` to compile. */
export function fakeCompiler(folder: string, source: string): Compiler {
  const path = join(folder, 'bin', 'nvcc');
  writeProgram(path, `${fakeAnswers}${source}`);
  return {
    path,
    version: { major: 13, minor: 0, text: '13.0.88' },
    ptxas: null,
    searchPath: [dirname(path), '/usr/bin', '/bin'],
    features: { fastCompile: true, briefDiagnostics: true, separateFrontEnd: true },
  };
}

/** Flags as specified by the configuration in `directory`. */
export function flagGroup(directory: string, ...args: string[]): FlagGroup {
  return { args, origin: '.selvage.yml', directory };
}

export const fakeAnswers = `
const args = process.argv.slice(2);
if (args[0] === '--version') { console.log('Cuda compilation tools, release 13.0, V13.0.88'); process.exit(); }
if (args[0] === '--help') { console.log('--Ofast-compile <level>'); process.exit(); }
`;

export function request(compiler: Compiler, root: string, file: string): CompileRequest {
  return {
    compiler,
    file,
    root,
    build: 'verification',
    arch: 'sm_80',
    flags: [],
    trust: 'user',
    limits: { milliseconds: 60_000, outputBytes: 1 << 20 },
    include: includeFolder,
    onLog: () => {},
  };
}

const found = await findCompiler({ env: process.env });

/** The nvcc of this machine, if it has one. */
export const nvcc: Compiler | undefined = 'compiler' in found ? found.compiler : undefined;

/** For `skip` of a test that compiles. */
export const withoutNvcc: string | false = nvcc ? false : 'no nvcc';

/** The compiler that a caching wrapper of the tests calls. */
export function wrappedCompiler(kept: Compiler): Compiler {
  const named = join(dirname(kept.path), 'compiler');
  return existsSync(named) ? { ...kept, path: readFileSync(named, 'utf8').trim() } : kept;
}

/**
 * Writes an nvcc, a ptxas and a cicc that call those of a toolkit, and append their arguments to `NAME.log` in each
 * run. The steps that this nvcc prints use this cicc.
 */
export function writeLoggedTools(folder: string, nvcc: string, logs: string): void {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, program: string, before = ''): void => {
    const text = `#!/bin/sh\n${before}\necho "$*" >> '${logs}/${name}.log'\nexec '${program}' "$@"\n`;
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  };
  const empty = join(folder, 'empty.cu');
  writeFileSync(empty, '');
  const { stderr } = spawnSync(nvcc, ['-ptx', '--dryrun', empty], { encoding: 'utf8' });
  write('cicc', join(/^#\$ CICC_PATH=(.*)$/m.exec(stderr)![1]!.trim(), 'cicc'));
  const toolkit = /^#\$ TOP=(.*)$/m.exec(stderr)![1]!.trim();
  write('ptxas', join(toolkit, 'bin/ptxas'));
  const led = `sed 's:^#[$] CICC_PATH=.*:#$ CICC_PATH=${folder}:' >&2; exit`;
  write('nvcc', nvcc, `case " $* " in *" --dryrun "*) '${nvcc}' "$@" 2>&1 | ${led} ;; esac`);
}
