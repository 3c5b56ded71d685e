/** The data that grows from phase to phase of a check: units, the kernels in them, and what is found about those. */
import type { CertificateFile } from '../../certificate/certificate.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { KernelIdempotency } from '../../idempotency/model/kernel-idempotency.ts';
import type { CodeProfile } from '../../sass/profile.ts';
import type { Launch } from '../../launch/launch.ts';
import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import type { KernelName } from '../../cuda/names/kernel-name.ts';
import type { KernelReport } from '../../report-model/report.ts';
import type { Module } from '../../ptx/ast.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Unoptimised } from '../../toolchain/device-code.ts';
import type { KernelSource } from '../workers/check-executor.ts';
import type { Unit } from '../project/inputs.ts';
import type { LaunchFacts, SiteSettings } from '../project/launches.ts';
import type { Definition } from '../project/source-facts.ts';

/** Build: the PTX of a unit for one architecture. */
export interface BuiltUnit {
  readonly unit: Unit;
  readonly arch: string;
  /** Nobody asked for the verification build: what runs is all that is looked at. */
  readonly isProductionAlone?: boolean;
  /** Keeps every access and barrier of the source; missing where the unit does not compile. */
  readonly verification: string | undefined;
  /** What runs; missing for a unit that is PTX. */
  readonly production: string | undefined;
  /** The project's own part of the preprocessed unit, host code included, with line markers. */
  readonly host: string | undefined;
  /** Why the verification build is not optimised at all; missing where it is the usual one. */
  readonly unoptimised?: Unoptimised;
  readonly diagnostics: readonly Diagnostic[];
}

/** Lower: a unit as it is read; with each later phase its kernels grow. */
export interface KernelUnit<Entry extends LoweredKernel = LaunchedKernel> {
  readonly unit: Unit;
  readonly arch: string;
  readonly kernels: readonly Entry[];
  /** Source files that the kernels have code from. */
  readonly files: ReadonlySet<string>;
  /** Of the build: the host program, where nvcc preprocessed it. */
  readonly host: string | undefined;
  /** Whether the verification build could be made and read. */
  readonly compiled: boolean;
  /** Kernels that somebody else's header defines, which are not lowered. */
  readonly foreign: readonly KernelName[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface LoweredKernel {
  readonly unit: Unit;
  readonly arch: string;
  readonly name: KernelName;
  /** Of the verification build; what runs where there is no other, see {@link hasWrittenBuild}. */
  readonly kernel: Kernel;
  readonly verification: ReadModule;
  readonly production: ReadModule | undefined;
  /** Of the unit that it is in. */
  readonly unoptimised?: Unoptimised;
  /** The same kernel in the production build; its symbol differs where linkage is internal. */
  readonly produced: Kernel | undefined;
}

/** Whether there is a build of what was written, and not only of what runs. Of PTX there is one, which is both. */
export function hasWrittenBuild({ kernel, produced }: LoweredKernel): boolean {
  return kernel !== produced;
}

/** A build as it is read. */
export interface ReadModule {
  readonly module: Module;
  /** What a worker lowers again. */
  readonly source: KernelSource;
  readonly kernels: readonly Kernel[];
  /** Those of its kernels that are not among them. */
  readonly foreign: readonly KernelName[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Compare builds. */
export interface ComparedKernel extends LoweredKernel {
  /** Why the production build is another program, if it is. */
  readonly differ: string | undefined;
}

/** State facts: what options, configuration, comments and sources say of a kernel. */
export interface StatedKernel extends ComparedKernel {
  readonly definition: Definition | undefined;
  /** Names the kernel in fingerprints; see `kernel-identity.ts`. */
  readonly identity: string;
  readonly parameters: readonly ParameterSource[];
  readonly assumptions: readonly StatedAssumption[];
  readonly launchFacts: LaunchFacts;
  readonly diagnostics: readonly Diagnostic[];
}

/** Find launches: all that a check of the kernel needs. */
export interface LaunchedKernel extends StatedKernel {
  readonly launches: readonly Launch[];
  readonly notEvaluated: readonly SiteSettings[];
}

/** Decide, and all later phases: the report of a kernel, which grows. */
export interface CheckedKernel {
  readonly entry: LaunchedKernel;
  readonly report: KernelReport;
  /** Which launches of what runs are idempotent, with the condition that validators test. */
  readonly idempotency?: KernelIdempotency;
  /** What was proved, with `--certificates`. */
  readonly certificates?: CertificateFile;
  /** What its code executes, by line: of the production build, where it was assembled. */
  readonly code?: CodeProfile;
}

/** Kernels with their reports, and what the phases up to now say of them. */
export interface Checked {
  readonly kernels: readonly CheckedKernel[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The launches of a kernel as text, without the places that state them. */
export function launchesKey({ launches, notEvaluated }: LaunchedKernel): string {
  const key = ({ location, scalars, ties = [], contents, ...rest }: Launch): unknown => {
    void location;
    const held = contents ? [[...contents.arrays], [...contents.variables].map(([name, bytes]) => [name, [...bytes]])] : []; // oxfmt-ignore
    return [rest, [...scalars].map(([index, value]) => [index, String(value)]), ties.map(({ text }) => text), held];
  };
  return JSON.stringify([launches.map(key), notEvaluated.map(({ text }) => text)]);
}

/** The assumptions that are stated of a kernel, as text. */
export function statedKey({ assumptions }: LaunchedKernel): string {
  return JSON.stringify(assumptions.map(({ text }) => text));
}

/** The `// selvage:` comments of a kernel, as written. */
export function commentsOf({ definition }: LaunchedKernel): readonly string[] {
  return definition?.kernel.annotations.map(({ text }) => text) ?? [];
}
