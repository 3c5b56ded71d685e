/** From the syntax tree of a PTX module to the IR of its kernels. */
import { canStartEarly } from '../device/architecture.ts';
import type * as ptx from '../ptx/ast.ts';
import { sourceLocation } from '../ptx/debug-information.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { buildBlocks, orderBlocks } from './control-flow.ts';
import { removeDeadCode } from './dead-code.ts';
import type { Draft } from './form/draft.ts';
import { freeze } from './freeze.ts';
import { settleFunctionPointers } from './form/function-address.ts';
import type { KernelHead } from './freeze.ts';
import type { InlineOptions } from './inline.ts';
import { entryParameters, inlineKernel, maximumSteps, TooLarge } from './inline.ts';
import type { Kernel } from './form/kernel.ts';
import { convertedParameters } from './converted-parameters.ts';
import { promoteSlots } from './promote.ts';
import type { ModuleSymbols } from './name-bindings.ts';
import { type Expansion, moduleSymbols } from './name-bindings.ts';
import { simplify } from './simplify.ts';
import { toSsa } from './ssa.ts';

/** Iterations of promotion: each can make addresses constant that were kept in slots promoted by the one before. */
const maximumRounds = 12;

/**
 * Lowers every kernel of a module, in the order of the module. Never throws on parser output: constructs that cannot be
 * lowered are listed in the kernel's `unsupported`.
 *
 * @param options `abstractMathematics` (default true): long functions of the mathematics library without effects become
 *   one unknown value; the interpreter needs them computed
 * @param wanted which kernels; all unless given
 */
export function lowerModule(
  module: ptx.Module,
  options: Partial<InlineOptions> = {},
  wanted: (symbol: string) => boolean = () => true,
): { kernels: Kernel[]; diagnostics: Diagnostic[] } {
  const symbols = moduleSymbols(module);
  const kernels: Kernel[] = [];
  for (const item of module.items) {
    if (item.kind === 'entry' && item.body && wanted(item.name)) {
      kernels.push(lowerEntry(symbols, item, { abstractMathematics: true, ...options }));
    }
  }
  return { kernels, diagnostics: symbols.diagnostics };
}

function lowerEntry(symbols: ModuleSymbols, entry: ptx.Function, options: InlineOptions): Kernel {
  const draft: Draft = { types: [], registers: [], objects: [], parts: new Set(), blocks: [] };
  const { objects, bytes } = entryParameters(draft, entry);
  let expansion: Pick<Expansion, 'steps' | 'labels'>;
  try {
    expansion = inlineKernel(symbols, draft, entry, objects, options);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return tooLarge(symbols, entry);
  }
  buildBlocks(draft, expansion.steps, expansion.labels);
  orderBlocks(draft);
  const canOverlap = symbols.module.target.every(canStartEarly);
  const overlapsOthers =
    canOverlap && draft.blocks.some(({ instructions }) => instructions.some(({ operation }) => operation.opcode === 'griddepcontrol'));
  promoteSlots(draft);
  const addresses = new Map<number, readonly number[]>();
  let variables = 0;
  for (let round = 0; round < maximumRounds; round++) {
    toSsa(draft, variables);
    // The sweep folds conversions of addresses, which are read before.
    if (round === 0) for (const [index, offsets] of convertedParameters(draft)) addresses.set(index, offsets);
    const branchesChanged = simplify(draft);
    orderBlocks(draft);
    removeDeadCode(draft);
    variables = draft.types.length;
    if (!promoteSlots(draft) && !branchesChanged) break;
  }
  if (symbols.functionAddresses && settleFunctionPointers(draft)) orderBlocks(draft);
  const head = headOf(symbols, entry, bytes, addresses);
  return freeze(draft, overlapsOthers ? { ...head, overlapsOthers } : head);
}

/** The IR of a kernel that is too large: its properties without its code. */
function tooLarge(symbols: ModuleSymbols, entry: ptx.Function): Kernel {
  const draft: Draft = { types: [], registers: [], objects: [], parts: new Set(), blocks: [] };
  const { bytes } = entryParameters(draft, entry);
  const reason = `more than ${maximumSteps} instructions with those of the functions that it calls`;
  const terminator = { kind: 'unknown', reason, ptxLine: entry.span.line } as const;
  buildBlocks(draft, [{ kind: 'end', terminator }], 0);
  return { ...freeze(draft, headOf(symbols, entry, bytes, new Map())), isTooLarge: true };
}

function headOf(
  { module }: ModuleSymbols,
  entry: ptx.Function,
  bytes: readonly number[],
  converted: ReadonlyMap<number, readonly number[]>,
): KernelHead {
  const first = entry.body?.find((statement) => statement.kind === 'loc');
  const location = sourceLocation(module, first);
  const required = threeDimensions(entry, 'reqntid');
  const maximum = threeDimensions(entry, 'maxntid');
  const cluster = threeDimensions(entry, 'reqnctapercluster');
  return {
    symbol: entry.name,
    ...(location && { location }),
    parameters: entry.parameters.map((parameter, index) => {
      const addresses = parameter.pointer ? [0] : converted.get(index);
      return {
        index,
        symbol: parameter.name,
        type: parameter.type,
        bytes: bytes[index]!,
        alignment: parameter.alignment ?? Math.min(bytes[index]!, 8),
        ...(addresses && { addresses }),
      };
    }),
    ...(required && { requiredThreads: required }),
    ...(maximum && { maximumThreads: maximum }),
    ...(cluster && { requiredCluster: cluster }),
    ...(entry.directives.some(({ name }) => name === 'explicitcluster') && { needsCluster: true }),
  };
}

function threeDimensions(entry: ptx.Function, directive: string): readonly [number, number, number] | null {
  const values = entry.directives.find((candidate) => candidate.name === directive)?.values;
  const [x, y = 1, z = 1] = values ?? [];
  return x === undefined ? null : [x, y, z];
}
