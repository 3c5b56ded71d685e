import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Unoptimised } from '../../toolchain/device-code.ts';
import type { KeptCode } from '../../toolchain/kept-code.ts';
import type { AssembledUnit, Unassembled } from '../../toolchain/resources.ts';
import type { HostProblem } from '../../lowering/lower-host.ts';
import type { LoweredHost } from '../../lowering/unchanged-host.ts';
import type { Unit } from './input-files.ts';

export type BuildKind = 'verification' | 'production';

/** Result of compiling a unit. */
export interface BuiltText {
  /** Missing if the unit does not compile. */
  readonly ptx?: string;
  /** Part of the preprocessed unit that comes from the project, host code included, with line markers. */
  readonly host?: string;
  /** Why the verification build is not optimised at all; missing if it is optimised as usual. */
  readonly unoptimised?: Unoptimised;
  readonly diagnostics: readonly Diagnostic[];
}

/** Builds the PTX of a unit, with a compiler or from bundled files. */
export interface UnitBuilder {
  /** Name of the compiler in reports; null if no compiler is used. */
  readonly compiler: string | null;
  /** Whether the builder can compile texts that differ from the files. */
  readonly compiles: boolean;
  /**
   * @param text replaces the text of the unit's file
   * @param headers edited texts of files that the unit may include, by path
   */
  readonly build: (unit: Unit, kind: BuildKind, arch: string, text?: string, headers?: ReadonlyMap<string, string>) => Promise<BuiltText>;
  /**
   * Calls a function with the project's part of each preprocessed unit as soon as it is available, so that it can be
   * read while the compiler continues; only for units whose texts are those of their files. Missing if no compiler
   * runs.
   */
  readonly onPreprocessed?: (listener: (host: string, path: string) => void) => void;
  /** What the host compiler makes of a file, or why it makes nothing; missing without a compiler. */
  readonly lower?: (unit: Unit, arch: string) => Promise<LoweredHost | HostProblem>;
  /** Cache of what is read from results of compilers; missing if nothing is cached. */
  readonly kept?: KeptCode | undefined;
  /** Flags of a unit as text. If they change, all kernels of the unit count as changed. */
  readonly flags: (unit: Unit) => string;
  /** Macros that the compilation database defines for a file, `NAME` or `NAME=VALUE`; missing without a database. */
  readonly definitions?: (path: string) => readonly string[];
  /** The unit's file and the files of the tree that it includes; empty if they cannot be determined. */
  readonly dependencies: (unit: Unit, arch: string) => Promise<readonly string[]>;
  /**
   * Result of the assembler for a PTX text and its kernels, or why that is missing; missing without an assembler.
   * @param unit - the unit whose flags are used
   * @param mostRegisters - a lower register limit than that of the flags
   */
  readonly resources?: (ptx: string, arch: string, unit?: Unit, mostRegisters?: number) => Promise<AssembledUnit | Unassembled>;
  /**
   * Stops running compilations, whose builds then reject, and waits for their end. Called by the creator of the
   * builder.
   */
  readonly close: () => Promise<void>;
}
