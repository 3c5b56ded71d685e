/**
 * The part of the WebAssembly JavaScript interface that the interpreter uses; TypeScript declares it only for browsers.
 */
declare namespace WebAssembly {
  type Value = number | bigint;
  type ImportedFunction = (...values: never[]) => Value | void;
  type Imports = Readonly<Record<string, Readonly<Record<string, ImportedFunction | Memory | Global>>>>;

  class Module {
    static exports(module: Module): readonly { readonly name: string; readonly kind: string }[];
    constructor(bytes: Uint8Array);
  }

  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Readonly<Record<string, unknown>>;
  }

  class Memory {
    constructor(description: { readonly initial: number; readonly maximum?: number; readonly shared?: boolean });
    readonly buffer: ArrayBuffer;
    /** By pages of 64 KiB; returns the former number of pages. */
    grow(pages: number): number;
  }

  class Global {
    constructor(description: { readonly value: string; readonly mutable?: boolean }, value?: Value);
    value: Value;
  }

  /** Thrown for a module that cannot be loaded. */
  class CompileError extends Error {}
  class RuntimeError extends Error {}

  function validate(bytes: Uint8Array): boolean;
}
