import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Unoptimised } from '../../toolchain/device-code.ts';
import type { AssembledUnit, Unassembled } from '../../toolchain/resources.ts';
import type { Unit } from './inputs.ts';

export type BuildKind = 'verification' | 'production';

/** What a compiler makes of a unit. */
export interface BuiltText {
  /** Missing where the unit does not compile. */
  readonly ptx?: string;
  /** The project's own part of the preprocessed unit, host code included, with line markers. */
  readonly host?: string;
  /** Why the verification build is not optimised at all; missing where it is the usual one. */
  readonly unoptimised?: Unoptimised;
  readonly diagnostics: readonly Diagnostic[];
}

/** Makes the PTX of a unit, with a compiler or from what is bundled. */
export interface UnitBuilder {
  /** For the report; null where no compiler runs. */
  readonly compiler: string | null;
  /** Whether it can build other texts than those of the files. */
  readonly compiles: boolean;
  /**
   * @param text in place of what the file of the unit holds
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
   * Calls a function with the project's own part of each preprocessed unit as soon as that is there, so that it can be read
   * while the compiler goes on; for units whose texts are those of their files. Missing where no compiler runs.
   */
  readonly onPreprocessed?: (listener: (host: string) => void) => void;
  /** What the flags of a unit come to, as text: a change of it touches the unit's kernels. */
  readonly flags: (unit: Unit) => string;
  /** Macros that the compilation database defines for a file, `NAME` or `NAME=VALUE`; missing where there is none. */
  readonly definitions?: (path: string) => readonly string[];
  /** The files of the tree that a unit includes, with its own; empty where that cannot be found out. */
  readonly dependencies: (unit: Unit, arch: string) => Promise<readonly string[]>;
  /**
   * What the assembler makes of a PTX text, and says of its kernels, or why it does not; missing where there is none.
   * @param unit - whose flags count
   * @param mostRegisters - fewer than those allow
   */
  readonly resources?: (
    ptx: string,
    arch: string,
    unit?: Unit,
    mostRegisters?: number,
  ) => Promise<AssembledUnit | Unassembled>;
  /** Stops what is running, whose builds then reject, and waits for its end. Whoever made the builder calls it. */
  readonly close: () => Promise<void>;
}
