import type { BlockId, Instruction, InstructionId, Kernel } from '../../../src/ir/form/kernel.ts';
import type { Effect } from '../../../src/isa/model/operation.ts';
import type { Location } from '../../../src/source/location.ts';

const bytesOf: Readonly<Record<string, number>> = { u8: 1, u32: 4, s32: 4, f32: 4, u64: 8, f64: 8 };

/** A kernel of one block for tests that use only its interface or its effects. */
export function kernelOf({
  symbol = 'k',
  parameters = [],
  effects = [],
  ...rest
}: Partial<Pick<Kernel, 'requiredThreads' | 'maximumThreads' | 'unsupported' | 'location'>> & {
  readonly symbol?: string;
  readonly parameters?: readonly string[];
  readonly effects?: readonly { readonly effect: Effect; readonly location?: Location }[];
} = {}): Kernel {
  const entry = 0 as BlockId;
  const instructions = effects.map(({ effect, location }, index): Instruction => ({
    id: index as InstructionId,
    operation: {
      mnemonic: effect.kind,
      opcode: effect.kind,
      results: [],
      sources: [],
      effect,
      cost: 'memory',
      section: '',
    },
    results: [],
    arguments: [],
    offset: 0n,
    ptxLine: index + 1,
    ...(location ? { location } : {}),
  }));
  return {
    symbol,
    parameters: parameters.map((type, index) => {
      const bytes = bytesOf[type] ?? 4;
      return { index, symbol: `${symbol}_param_${index}`, type, bytes, alignment: bytes };
    }),
    objects: [],
    blocks: [{ id: entry, phis: [], instructions, terminator: { kind: 'exit', ptxLine: 1 }, predecessors: [], successors: [] }],
    values: [],
    dominators: [entry],
    postdominators: [null],
    loops: [],
    loopOf: [null],
    unsupported: [],
    assumesLocalBounds: false,
    ...rest,
  };
}
