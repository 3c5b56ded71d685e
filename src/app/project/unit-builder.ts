import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Unoptimised } from '../../toolchain/device-code.ts';
import type { AssembledUnit, Unassembled } from '../../toolchain/resources.ts';
import type { Unit } from './inputs.ts';

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
  /** For the report; null if no compiler runs. */
  readonly compiler: string | null;
  /** Whether it can build other texts than those of the files. */
  readonly compiles: boolean;
  /**
   * @param text instead of that of the file of the unit
   * @param headers other texts of files that it may include, by path
   */
  readonly build: (
    unit: Unit,
    kind: BuildKind,
    arch: string,
    text?: string,
    headers?: ReadonlyMap<string, string>,
  ) => Promise<BuiltText>;
  /**
   * Calls a function with the project's part of each preprocessed unit as soon as it is available, so that it can be
   * read while the compiler continues; only for units whose texts are those of their files. Missing if no compiler
   * runs.
   */
  readonly onPreprocessed?: (listener: (host: string) => void) => void;
  /** Flags of a unit as text: a change of it touches the unit's kernels. */
  readonly flags: (unit: Unit) => string;
  /** Macros that the compilation database defines for a file, `NAME` or `NAME=VALUE`; missing without a database. */
  readonly definitions?: (path: string) => readonly string[];
  /** The files of the tree that a unit includes, and its own; empty if they cannot be determined. */
  readonly dependencies: (unit: Unit, arch: string) => Promise<readonly string[]>;
  /**
   * Result of the assembler for a PTX text and its kernels, or why it has none; missing without an assembler.
   * @param unit - whose flags count
   * @param mostRegisters - fewer than those allow
   */
  readonly resources?: (
    ptx: string,
    arch: string,
    unit?: Unit,
    mostRegisters?: number,
  ) => Promise<AssembledUnit | Unassembled>;
  /** Stops running compilations, whose builds then reject, and waits for their end. Called by its creator. */
  readonly close: () => Promise<void>;
}
