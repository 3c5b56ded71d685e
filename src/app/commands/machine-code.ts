/** `selvage cost` and `selvage compare` of cubins and fat binaries: SASS of closed-source kernels, and its changes. */
import { messageOf } from '../../base/text.ts';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { kernelName } from '../../cuda/names/kernel-name.ts';
import { exitCodeOf, type ExitCode } from '../../report-model/exit-code.ts';
import type { Comparison, KernelReport, Report } from '../../report-model/report.ts';
import { type Cubin, readCubin } from '../../sass/cubin/cubin.ts';
import { cubinsIn } from '../../sass/cubin/fat-binary.ts';
import { compareCode } from '../../sass/profile-changes.ts';
import { inFile, lineDistance } from '../../sass/line-distance.ts';
import { type CodeProfile, profileOf } from '../../sass/profile.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { toolVersion } from '../../system/version.ts';
import { codeChangeText } from '../../messages/cost/code-change-phrases.ts';
import { codeLinesOf } from '../compare/code-lines.ts';
import type { LineMatch } from '../compare/line-match.ts';
import { codeReportOf } from '../pipeline/cost/code-report.ts';
import type { Command, CommandLineServices } from './services.ts';
import { writeReport } from './output.ts';

/** Contents of a file. */
interface ReadFile {
  readonly cubins: readonly Cubin[];
  readonly diagnostics: readonly Diagnostic[];
}

function readMachineCode(path: string, cwd: string): ReadFile {
  const unreadable = (why: string): ReadFile => {
    const message = `Selvage cannot read ${path}: ${why}.`;
    return { cubins: [], diagnostics: [{ severity: 'error', code: 'input/unreadable', message }] };
  };
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(readFileSync(resolve(cwd, path)));
  } catch (error) {
    return unreadable(messageOf(error));
  }
  const found = cubinsIn(bytes);
  if ('problem' in found) return unreadable(found.problem);
  const cubins: Cubin[] = [];
  for (const content of found) {
    const cubin = readCubin(content);
    if ('problem' in cubin) return unreadable(cubin.problem);
    cubins.push(cubin);
  }
  return { cubins, diagnostics: [] };
}

/** The profile of a kernel, with paths relative to the working directory if they are below it. */
function profileFrom(cubin: Cubin, symbol: string, cwd: string): CodeProfile | null {
  const profile = profileOf(cubin, symbol);
  const named = (file: string): string => (file.startsWith(`${cwd}/`) ? file.slice(cwd.length + 1) : file);
  return (
    profile && {
      ...profile,
      lines: profile.lines.map((line) => ({
        ...line,
        location: line.location && { ...line.location, file: named(line.location.file) },
      })),
    }
  );
}

function kernelsOf(cubin: Cubin, isNamed: boolean, cwd: string): KernelReport[] {
  return cubin.functions.flatMap(({ symbol, isKernel }) => {
    const profile = isKernel ? profileFrom(cubin, symbol, cwd) : null;
    if (!profile) return [];
    const code = codeReportOf(profile, { checked: false, reason: 'its PTX is not at hand' });
    return [
      {
        name: kernelName(symbol).full,
        symbol,
        ...(isNamed && { arch: cubin.arch }),
        race: { verdict: 'skipped', findings: [] },
        divergence: { verdict: 'skipped', findings: [] },
        repair: { status: 'skipped' },
        cost: { bounds: {}, code },
        launches: [],
      },
    ];
  });
}

function reportOf(files: readonly ReadFile[], cwd: string, comparison?: Comparison): Report {
  const cubins = files.flatMap((file) => file.cubins);
  const architectures = [...new Set(cubins.map(({ arch }) => arch))];
  return {
    schema: 1,
    tool: { name: 'selvage', version: toolVersion },
    toolchain: { compiler: null, arch: architectures, solver: null },
    kernels: cubins.flatMap((cubin) => kernelsOf(cubin, architectures.length > 1, cwd)),
    diagnostics: files.flatMap(({ diagnostics }) => diagnostics),
    ...(comparison && { comparison }),
  };
}

/** `selvage cost FILE.cubin`: instructions that each kernel executes, by line if the file has line tables. */
export async function machineCodeCost({ paths, options }: Command, services: CommandLineServices): Promise<ExitCode> {
  const report = reportOf(
    paths.map((path) => readMachineCode(path, services.cwd)),
    services.cwd,
  );
  await writeReport(report, options, services, () => undefined);
  return exitCodeOf(report, options.failOn);
}

/**
 * Without sources, lines of a kernel are matched by one distance: the one at which most instructions are on the same
 * line. If both kernels have a single source file, the two files are matched even if their names differ.
 */
function sameLine(base: CodeProfile, head: CodeProfile): LineMatch['baseOf'] {
  const [were, are] = [base, head].map(({ lines }) => new Set(lines.flatMap(({ location }) => location?.file ?? [])));
  const gone = [...were!].filter((file) => !are!.has(file));
  const added = [...are!].filter((file) => !were!.has(file));
  const renamed = new Map(gone.length === 1 && added.length === 1 ? [[added[0]!, gone[0]!]] : []);
  const distances = new Map<string, number>();
  for (const file of are!) distances.set(file, lineDistance(inFile(base, renamed.get(file) ?? file), inFile(head, file)));
  return ({ file, line }) => ({ file: renamed.get(file) ?? file, line: line - (distances.get(file) ?? 0) });
}

/** `selvage compare A.cubin B.cubin`: changes of the code of kernels with the same name and architecture. */
export async function compareMachineCode(
  before: string,
  after: string,
  { options }: Command,
  services: CommandLineServices,
): Promise<ExitCode> {
  const [base, head] = [readMachineCode(before, services.cwd), readMachineCode(after, services.cwd)];
  const isSeveral = new Set(head.cubins.map(({ arch }) => arch)).size > 1;
  const compared = head.cubins.flatMap((cubin) => {
    const was = base.cubins.find(({ arch }) => arch === cubin.arch);
    return cubin.functions.flatMap(({ symbol, isKernel }) => {
      const [earlier, later] = isKernel && was ? [profileFrom(was, symbol, services.cwd), profileFrom(cubin, symbol, services.cwd)] : [];
      if (!earlier || !later) return [];
      const name = kernelName(symbol).full;
      const kernel = isSeveral ? `${name} (${cubin.arch})` : name;
      const baseOf = sameLine(earlier, later);
      const changes = compareCode(earlier, later, baseOf);
      if (changes.length === 0) return [];
      const code = changes.map((change) => ({
        kernel,
        message: codeChangeText(change),
        ...(change.location && { location: change.location }),
      }));
      return [{ code, lines: codeLinesOf(kernel, earlier, later, baseOf) }];
    });
  });
  const code = compared.flatMap((one) => one.code);
  const codeLines = compared.flatMap(({ lines }) => lines ?? []);
  const names = (file: ReadFile): string[] => [
    ...new Set(
      file.cubins.flatMap(({ functions }) => functions.filter(({ isKernel }) => isKernel).map(({ symbol }) => kernelName(symbol).full)),
    ),
  ];
  const [were, are] = [names(base), names(head)];
  const [added, removed] = [are.filter((name) => !were.includes(name)), were.filter((name) => !are.includes(name))];
  const report = reportOf([head, { cubins: [], diagnostics: base.diagnostics }], services.cwd, {
    base: before,
    head: after,
    new: [],
    fixed: [],
    unchanged: [],
    regressions: [],
    ...(code.length > 0 && { code }),
    ...(codeLines.length > 0 && { codeLines }),
    ...(added.length > 0 && { addedKernels: added }),
    ...(removed.length > 0 && { removedKernels: removed }),
  });
  await writeReport(report, options, services, () => undefined);
  return exitCodeOf(report, options.failOn);
}
