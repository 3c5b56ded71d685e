/** Caches results of nvcc and ptxas. */
import type { Compiler } from '../../toolchain/compiler.ts';
import { identityOf, type KeptCode } from '../../toolchain/kept-code.ts';
import type { AssembledUnit, Unassembled } from '../../toolchain/resources.ts';
import type { ResultStore } from './result-store.ts';

interface KeptBuilds {
  /** Results of compilers for preprocessed texts. */
  readonly code: KeptCode;
  readonly resources: (
    question: readonly [ptx: string, arch: string, mostRegisters: number | undefined],
    assemble: () => Promise<AssembledUnit | Unassembled>,
  ) => Promise<AssembledUnit | Unassembled>;
}

/** Caches results of compilers in a store. Rejected inputs are not cached. */
export function keepingBuilds(store: ResultStore, compiler: Compiler): KeptBuilds {
  const code: KeptCode = {
    read: (parts) => store.read(store.keyOf('build', parts)),
    write: (parts, value) => store.write(store.keyOf('build', parts), value),
  };
  let assembler: Promise<string | null> | undefined;
  return {
    code,
    async resources(question, assemble) {
      const { ptxas, version } = compiler;
      assembler ??= ptxas === null ? Promise.resolve(null) : identityOf(ptxas, code);
      const key = store.keyOf('resources', [...question, version.text, await assembler]);
      const kept = store.read(key);
      if (isAssembled(kept)) return kept;
      const found = await assemble();
      if (isAssembled(found)) store.write(key, found);
      return found;
    },
  };
}

function isAssembled(value: unknown): value is AssembledUnit {
  if (typeof value !== 'object' || value === null) return false;
  const { kernels, cubin } = value as Partial<Record<keyof AssembledUnit, unknown>>;
  return kernels instanceof Map && cubin instanceof Uint8Array;
}
