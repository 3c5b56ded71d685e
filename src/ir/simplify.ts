/**
 * One sweep over SSA: copies, constants and addresses propagate, `cvta` and address arithmetic fold, branches on
 * constants become jumps, phis of one value disappear.
 */
import type { Operation } from '../isa/model/operation.ts';
import { referenceDomain } from '../isa/arithmetic/reference-domain.ts';
import type { Draft, DraftInstruction } from './form/draft.ts';
import { sameOperand } from './form/draft.ts';
import type { Operand, Terminator } from './form/kernel.ts';
import { withOperands } from './ssa.ts';
import { isFunctionAddress, respectsFunctionAddresses } from './form/function-address.ts';
import { isCopy } from './form/synthetic-operation.ts';
import { type KnownBits, knownResults, noBits, knownValue, wholeValue } from './known-bits.ts';

/**
 * Simplifies to a fixed point.
 *
 * @returns whether a terminator changed; the blocks then have to be ordered again
 */
export function simplify(draft: Draft): boolean {
  const { blocks } = draft;
  const replacements: (Operand | undefined)[] = new Array<Operand | undefined>(draft.types.length);
  /** Negations and conversions by result, for `not` and `cvt` of their results. */
  const definitions: (DraftInstruction | undefined)[] = [];
  /** Known bits of values that are not fully known. */
  const parts: (KnownBits | undefined)[] = [];
  const bitsOf = (operand: Operand): KnownBits => {
    if (operand.kind === 'value') return parts[operand.id] ?? noBits;
    if (operand.kind !== 'constant' || operand.type === 'predicate' || isFunctionAddress(operand)) return noBits;
    return wholeValue(operand.type, operand.value);
  };
  const resolve = (operand: Operand): Operand => {
    let found = operand;
    while (found.kind === 'value') {
      const next = replacements[found.id];
      if (!next) break;
      found = next;
    }
    if (found !== operand && operand.kind === 'value') replacements[operand.id] = found;
    return found;
  };

  let branchesChanged = false;
  for (let changed = true; changed;) {
    for (const block of blocks) {
      let kept = 0;
      for (const instruction of block.instructions) {
        const { arguments: operands, results } = instruction;
        for (let i = 0; i < operands.length; i++) operands[i] = resolve(operands[i]!);
        absorbOffset(instruction);
        const folded = fold(instruction, draft) ?? undoWidening(instruction, definitions) ?? foldBits(instruction, bitsOf, parts);
        if (folded) {
          for (let i = 0; i < results.length; i++) if (results[i] !== null) replacements[results[i]!] = folded[i]!;
          continue;
        }
        const [only] = results;
        if (typeof only === 'number' && (isNegation(instruction) || integerConversion(instruction.operation))) {
          definitions[only] = instruction;
        }
        block.instructions[kept++] = instruction;
      }
      block.instructions.length = kept;
      const terminator = foldTerminator(withOperands(block.terminator, resolve), definitions);
      if (terminator.kind !== block.terminator.kind) branchesChanged = true;
      block.terminator = terminator;
    }
    // Whether another pass is needed: folded values reach phi inputs and, through phis, operands that the sweep has
    // already passed.
    let phisFolded = false;
    for (let again = true; again;) {
      again = false;
      for (const block of blocks) {
        if (block.phis.length === 0) continue;
        block.phis = block.phis.filter((phi) => {
          const only = onlyInput(phi.result, phi.inputs, resolve);
          if (!only) return true;
          replacements[phi.result] = only;
          again = true;
          return false;
        });
      }
      phisFolded ||= again;
    }
    changed = phisFolded;
  }
  for (const block of blocks) for (const phi of block.phis) phi.inputs = phi.inputs.map(resolve);
  return branchesChanged;
}

/** The only operand among the inputs of a phi, without the phi itself; null if there are several. */
function onlyInput(result: number, inputs: Operand[], resolve: (operand: Operand) => Operand): Operand | null {
  let only: Operand | null = null;
  for (let i = 0; i < inputs.length; i++) {
    const input = (inputs[i] = resolve(inputs[i]!));
    if (input.kind === 'value' && input.id === result) continue;
    if (only && !sameOperand(only, input)) return null;
    only = input;
  }
  return only;
}

/** Moves the displacement of an access into its address if that is constant. */
function absorbOffset(instruction: DraftInstruction): void {
  const [address] = instruction.arguments;
  if (instruction.offset === 0n || address?.kind !== 'address') return;
  instruction.arguments[0] = { ...address, offset: address.offset + instruction.offset };
  instruction.offset = 0n;
}

function isNegation({ operation, results }: DraftInstruction): boolean {
  return operation.opcode === 'not' && operation.effect.kind === 'pure' && operation.results[0] === 'predicate' && results[0] !== null;
}

function foldTerminator(terminator: Terminator, definitions: readonly (DraftInstruction | undefined)[]): Terminator {
  if (terminator.kind === 'switch' && terminator.index.kind === 'constant') {
    const target = terminator.targets[Number(terminator.index.value)];
    return target === undefined ? terminator : { kind: 'jump', target };
  }
  if (terminator.kind !== 'branch') return terminator;
  const { condition, then, otherwise } = terminator;
  if (condition.kind === 'constant') return { kind: 'jump', target: condition.value !== 0n ? then : otherwise };
  const definition = condition.kind === 'value' ? definitions[condition.id] : undefined;
  return definition && isNegation(definition)
    ? foldTerminator({ ...terminator, condition: definition.arguments[0]!, then: otherwise, otherwise: then }, definitions)
    : terminator;
}

/** The source and result widths of an integer `cvt` that only widens or narrows, or null. */
function integerConversion({ opcode, effect, mnemonic, results, sources }: Operation): { from: number; to: number } | null {
  if (opcode !== 'cvt' || effect.kind !== 'pure') return null;
  const match = /^cvt\.[us](\d+)\.[us](\d+)$/.exec(mnemonic);
  if (!match || results[0] !== Number(match[1]) || sources[0] !== Number(match[2])) return null;
  return { from: Number(match[2]), to: Number(match[1]) };
}

/** `x`, if it was widened and is narrowed back to its own width. */
function undoWidening(
  { operation, arguments: operands }: DraftInstruction,
  definitions: readonly (DraftInstruction | undefined)[],
): readonly Operand[] | null {
  const [operand] = operands;
  if (operation.opcode !== 'cvt' || operand?.kind !== 'value') return null;
  const inner = definitions[operand.id];
  const narrowing = inner ? integerConversion(operation) : null;
  const widening = narrowing && integerConversion(inner!.operation);
  if (!narrowing || !widening) return null;
  return widening.from === narrowing.to && widening.to === narrowing.from && widening.from < widening.to ? inner!.arguments : null;
}

/** The results if all their bits are known, or null; records the known bits of others. */
function foldBits(
  instruction: DraftInstruction,
  bitsOf: (operand: Operand) => KnownBits,
  parts: (KnownBits | undefined)[],
): readonly Operand[] | null {
  const known = knownResults(instruction, bitsOf);
  if (!known) return null;
  const constants = known.map((bits, index): Operand | null => {
    const type = instruction.operation.results[index]!;
    if (type === 'predicate') return typeof bits === 'boolean' ? { kind: 'constant', type, value: bits ? 1n : 0n } : null;
    const value = typeof bits === 'object' && bits ? knownValue(bits, type) : null;
    return value === null ? null : { kind: 'constant', type, value };
  });
  if (constants.every((constant) => constant !== null)) return constants;
  for (const [index, id] of instruction.results.entries()) {
    const bits = known[index];
    if (id !== null && typeof bits === 'object' && bits && bits.known !== 0n) parts[id] = bits;
  }
  return null;
}

/** Operands that the results of an instruction are known to equal, or null. */
function fold(instruction: DraftInstruction, draft: Draft): readonly Operand[] | null {
  const { operation, arguments: operands, marker } = instruction;
  if (operation.effect.kind !== 'pure' || marker) return null;
  if (isCopy(operation)) return operands;
  if (operation.opcode === 'selp' && operands[2]?.kind === 'constant') return [operands[operands[2].value !== 0n ? 0 : 1]!];
  const address = foldAddress(operation, operands, draft);
  if (address) return [address];
  const inSpace = foldSpaceTest(operation, operands, draft);
  if (inSpace !== null) return [{ kind: 'constant', type: 'predicate', value: inSpace ? 1n : 0n }];
  if (operands.some(isFunctionAddress) && !respectsFunctionAddresses(instruction)) return null;
  const { evaluate } = operation;
  // Approximations depend on the hardware; the reference result is only close to them.
  if (!evaluate || /\.(approx|full)\b/.test(operation.mnemonic)) return null;
  if (!operands.every((operand) => operand.kind === 'constant')) return null;
  const sources = operands.map((operand) => (operand.type === 'predicate' ? operand.value !== 0n : operand.value));
  const values = evaluate<bigint, boolean>(referenceDomain, sources);
  return values.map((value, index) => ({
    kind: 'constant',
    type: operation.results[index]!,
    value: typeof value === 'bigint' ? value : value ? 1n : 0n,
  }));
}

/** `isspacep` of the generic address of a variable; null if the space is not known. */
function foldSpaceTest(operation: Operation, [operand]: readonly Operand[], draft: Draft): boolean | null {
  if (operation.opcode !== 'isspacep' || operand?.kind !== 'address' || !operand.generic) return null;
  const space = operation.mnemonic.slice('isspacep.'.length).replace(/::.*/, '');
  const object = draft.objects[operand.object]!;
  // The domain decides whether constant memory counts as global.
  if (object.space === 'const' || object.space === 'param') return null;
  return object.space === space;
}

/** `cvta`, conversions of address width, and address plus or minus a constant. */
function foldAddress(operation: Operation, operands: readonly Operand[], draft: Draft): Operand | null {
  const [a, b] = operands;
  if (!a) return null;
  switch (operation.opcode) {
    case 'cvta': {
      // `cvta.to.global` of a pointer and back: global addresses are their own generic addresses.
      const toSpace = operation.mnemonic.startsWith('cvta.to.');
      const space = operation.mnemonic.slice(toSpace ? 8 : 5).split('.', 1)[0]!;
      if (a.kind === 'address') {
        const fits = draft.objects[a.object]!.space === space.replace(/::.*/, '') && a.generic === toSpace;
        const width = operation.results[0] === 32 ? 32 : 64;
        return fits ? { ...a, width, generic: !toSpace } : null;
      }
      return space === 'global' && operation.sources[0] === operation.results[0] ? a : null;
    }
    case 'cvt':
      // A window of a state space other than global fits 32 bits; generic addresses do not.
      if (a.kind !== 'address' || a.generic || !/^cvt\.[usb](32|64)\.[usb](32|64)$/.test(operation.mnemonic)) return null;
      if (a.width === 64 && operation.results[0] === 32 && draft.objects[a.object]!.space === 'global') return null;
      return { ...a, width: operation.results[0] === 32 ? 32 : 64 };
    case 'add':
      if (operation.results.length !== 1 || !isInteger(operation)) return null;
      if (a.kind === 'address' && b?.kind === 'constant') return displace(a, signed(b));
      if (a.kind === 'constant' && b?.kind === 'address') return displace(b, signed(a));
      return null;
    case 'sub':
      if (operation.results.length !== 1 || !isInteger(operation)) return null;
      return a.kind === 'address' && b?.kind === 'constant' ? displace(a, -signed(b)) : null;
    default:
      return null;
  }
}

function isInteger(operation: Operation): boolean {
  return /^(add|sub)\.[usb](32|64)$/.test(operation.mnemonic);
}

function signed(constant: Extract<Operand, { kind: 'constant' }>): bigint {
  return BigInt.asIntN(constant.type === 32 ? 32 : 64, constant.value);
}

function displace(address: Extract<Operand, { kind: 'address' }>, bytes: bigint): Operand {
  return { ...address, offset: address.offset + bytes };
}
