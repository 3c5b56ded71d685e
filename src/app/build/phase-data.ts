/**
 * Data of the phases of a check: units, their kernels, and results about kernels. Each phase extends the previous data.
 */
import { printExpression } from '../../assumptions/print-assumption.ts';
import type { CertificateFile } from '../../certificate/certificate.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { KernelIdempotency } from '../../idempotency/model/kernel-idempotency.ts';
import type { CodeProfile } from '../../sass/profile.ts';
import type { OverlappingOperations } from '../../host/operations/host-operation.ts';
import type { Launch } from '../../launch/launch.ts';
import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import type { KernelName } from '../../cuda/names/kernel-name.ts';
import type { KernelReport } from '../../report-model/report.ts';
import type { Module } from '../../ptx/ast.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Severity } from '../../source/severity.ts';
import type { Unoptimised } from '../../toolchain/device-code.ts';
import type { KernelSource } from '../workers/check-executor.ts';
import type { Unit } from '../project/input-files.ts';
import type { LaunchFacts, SiteSettings } from '../project/resolve-launches.ts';
import type { Definition } from '../project/source-facts.ts';

/** Build: the PTX of a unit for one architecture. */
export interface BuiltUnit {
  readonly unit: Unit;
  readonly arch: string;
  /** Whether only the production build was requested and is analysed. */
  readonly isProductionAlone?: boolean;
  /** Keeps every access and barrier of the source; missing if the unit does not compile. */
  readonly verification: string | undefined;
  /** Production build; missing for a unit that is PTX. */
  readonly production: string | undefined;
  /** Part of the preprocessed unit that comes from the project, host code included, with line markers. */
  readonly host: string | undefined;
  /** Why the verification build is not optimised at all; missing if it is optimised as usual. */
  readonly unoptimised?: Unoptimised;
  readonly diagnostics: readonly Diagnostic[];
}

/** Lower: a unit after reading; each later phase extends its kernels. */
export interface KernelUnit<Entry extends LoweredKernel = LaunchedKernel> {
  readonly unit: Unit;
  readonly arch: string;
  readonly kernels: readonly Entry[];
  /** Source files that contain code of the kernels. */
  readonly files: ReadonlySet<string>;
  /** Host program of the build, if nvcc preprocessed it. */
  readonly host: string | undefined;
  /** Whether the verification build was compiled and parsed. */
  readonly compiled: boolean;
  /** Kernels that third-party headers define; they are not lowered. */
  readonly foreign: readonly KernelName[];
  /** Operations of its host program that may overlap; missing before launches are found. */
  readonly unordered?: readonly OverlappingOperations[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface LoweredKernel {
  readonly unit: Unit;
  readonly arch: string;
  readonly name: KernelName;
  /** The kernel of the verification build, or of the production build without one, see {@link hasWrittenBuild}. */
  readonly kernel: Kernel;
  readonly verification: ReadModule;
  readonly production: ReadModule | undefined;
  /** Reason why the verification build of its unit is not optimised. */
  readonly unoptimised?: Unoptimised;
  /** The same kernel in the production build; its symbol differs if its linkage is internal. */
  readonly produced: Kernel | undefined;
}

/** Whether there is a verification build and not only a production build. The one build of PTX is both. */
export function hasWrittenBuild({ kernel, produced }: LoweredKernel): boolean {
  return kernel !== produced;
}

/** A build after parsing. */
export interface ReadModule {
  readonly module: Module;
  /** Input from which a worker lowers it again. */
  readonly source: KernelSource;
  readonly kernels: readonly Kernel[];
  /** Kernels of the module that are not lowered. */
  readonly foreign: readonly KernelName[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Compare builds. */
export interface ComparedKernel extends LoweredKernel {
  /** Why the production build is another program, if it is. */
  readonly differ: string | undefined;
}

/** State facts: options, configuration, comments and sources about a kernel. */
export interface StatedKernel extends ComparedKernel {
  readonly definition: Definition | undefined;
  /** Names the kernel in fingerprints; see `kernel-identity.ts`. */
  readonly identity: string;
  readonly parameters: readonly ParameterSource[];
  readonly assumptions: readonly StatedAssumption[];
  readonly launchFacts: LaunchFacts;
  readonly diagnostics: readonly Diagnostic[];
}

/** Find launches: all inputs of a check of the kernel. */
export interface LaunchedKernel extends StatedKernel {
  readonly launches: readonly Launch[];
  readonly notEvaluated: readonly SiteSettings[];
}

/** Decide, and all later phases: the report of a kernel, which grows. */
export interface CheckedKernel {
  readonly entry: LaunchedKernel;
  readonly report: KernelReport;
  /** Which launches of the production build are idempotent, with the condition that validators test. */
  readonly idempotency?: KernelIdempotency;
  /** Findings on accesses before its wait for the kernels before it, which are diagnostics. */
  readonly early?: readonly EarlyFinding[];
  /** Certificates of the proofs, with `--certificates`. */
  readonly certificates?: CertificateFile;
  /** Instructions of its machine code by line: of the production build, if it was assembled. */
  readonly code?: CodeProfile;
}

/** A finding on an access before the wait, without its text. */
export interface EarlyFinding {
  readonly fingerprint: string;
  readonly severity: Severity;
}

/** Kernels with their reports, and the diagnostics of the phases so far. */
export interface Checked {
  readonly kernels: readonly CheckedKernel[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The launches of a kernel as text, without their source locations. */
export function launchesKey({ launches, notEvaluated }: LaunchedKernel): string {
  const key = ({ location, scalars, ties = [], contents, distances = [], ...rest }: Launch): unknown => {
    void location;
    const held = contents ? [[...contents.arrays], [...contents.variables].map(([name, bytes]) => [name, [...bytes]])] : [];
    const between = distances.map(([from, to, bytes]) => [from, to, printExpression(bytes)]);
    return [rest, between, [...scalars].map(([index, value]) => [index, String(value)]), ties.map(({ text }) => text), held];
  };
  return JSON.stringify([launches.map(key), notEvaluated.map(({ text }) => text)]);
}

/** The stated assumptions of a kernel as text. */
export function statedKey({ assumptions }: LaunchedKernel): string {
  return JSON.stringify(assumptions.map(({ text }) => text));
}

/** The `// selvage:` comments of a kernel, as written. */
export function commentsOf({ definition }: LaunchedKernel): readonly string[] {
  return definition?.kernel.annotations.map(({ text }) => text) ?? [];
}
