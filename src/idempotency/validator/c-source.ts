/**
 * Writes validators as C, with the same results as `instance-condition.ts`. Their common procedures are in `selvage-validator.h`.
 */
import { invariant } from '../../base/assert.ts';
import type { WrittenMemory } from '../model/kernel-idempotency.ts';
import type { ValidatorCondition } from '../model/quantity.ts';
import { CFunction, textLiteral, type ParameterPlace } from './c-function.ts';

/** A kernel whose launches a validator is to judge. */
export interface ValidatedKernel {
  /** Name of the entry in PTX. Any text. */
  readonly kernel: string;
  /** SHA-256 of the PTX text, 64 digits in lower case. */
  readonly codeHash: string;
  /** Offset of each parameter in the buffer of the arguments. */
  readonly parameters: readonly ParameterPlace[];
  readonly condition: ValidatorCondition;
  /** Offsets of the arguments that the kernel uses as addresses; absent: not known. */
  readonly pointers?: readonly number[];
  /** Global memory that a launch may write, or a superset; absent: not known. */
  readonly written?: WrittenMemory;
}

/** Files that the text of validators includes. */
const validatorHeaders = ['selvage-idempotency.h', 'selvage-validator.h'] as const;

/** Bytes of the buffer of a kernel's arguments. */
export function argumentBufferBytes(parameters: readonly ParameterPlace[]): number {
  return Math.max(0, ...parameters.map(({ offset, bytes }) => offset + bytes));
}

/**
 * The C source of a shared object of validators: a function for each kernel, and the table `selvage_validators`. The
 * kernels' names occur only in strings, with other characters than letters, digits and underscores escaped.
 */
export function validatorSource(kernels: readonly ValidatedKernel[]): string {
  const functions = kernels.map((kernel, index) => validator(kernel, index));
  const steps = Math.max(1, ...functions.map(({ mostSteps }) => mostSteps));
  return [
    '/* Validators of launches, written by `selvage idempotency --emit`. */',
    `#define SELVAGE_STEPS ${steps}`,
    ...validatorHeaders.map((name) => `#include "${name}"`),
    // Folding by bounds leaves unused variables, and comparisons that are always true.
    ...['unused-variable', 'type-limits', 'tautological-compare', 'overlength-strings'].map(
      (warning) => `#pragma GCC diagnostic ignored "-W${warning}"`,
    ),
    '',
    ...functions.flatMap(({ lines }) => [...lines, '']),
    'const uint32_t selvage_validators_version = SELVAGE_VALIDATORS_VERSION;',
    'const struct selvage_validator selvage_validators[] = {',
    ...functions.map(({ entry }) => `  ${entry},`),
    '  {0},',
    '};',
    '',
  ].join('\n');
}

interface WrittenValidator {
  readonly lines: readonly string[];
  /** The line of the validator in the table. */
  readonly entry: string;
  readonly mostSteps: number;
}

function validator(kernel: ValidatedKernel, index: number): WrittenValidator {
  const { parameters, condition, pointers, written } = kernel;
  const bytes = argumentBufferBytes(parameters);
  // Only letters and digits: a name may be any text, also the end of a comment.
  const name = `${index}_${kernel.kernel.replaceAll(/\W/g, '_').slice(0, 60)}`;
  const test = new CFunction(parameters);
  test.decide(condition);
  const lines = [
    `bool selvage_is_idempotent_${name}(const struct selvage_launch *launch) {`,
    `  if (!selvage_is_legal(launch, ${bytes})) return false;`,
    ...test.lines,
    '}',
  ];
  let mostSteps = test.mostSteps;
  const table = (type: string, what: string, entries: readonly string[]): [string, number] => {
    if (entries.length === 0) return ['0', 0];
    lines.push(`static const ${type} selvage_${what}_${name}[] = {${entries.join(', ')}};`);
    return [`selvage_${what}_${name}`, entries.length];
  };
  const places = table('struct selvage_parameter', 'parameters', parameters.map(placeText));
  const addresses = table('uint32_t', 'pointers', (pointers ?? []).map(String));
  let ranges = '0';
  if (written) {
    ranges = `selvage_written_${name}`;
    const list = new CFunction(parameters);
    list.listRanges(written.sets, written.needs);
    mostSteps = Math.max(mostSteps, list.mostSteps);
    lines.push(
      `static size_t ${ranges}(const struct selvage_launch *launch, struct selvage_range *ranges, size_t capacity) {`,
      `  if (!selvage_is_legal(launch, ${bytes})) return SIZE_MAX;`,
      ...list.lines,
      '}',
    );
  }
  const texts = [textLiteral(kernel.kernel), textLiteral(kernel.codeHash)];
  const entry = `{${[...texts, bytes, `selvage_is_idempotent_${name}`, ...places, ...addresses, ranges].join(', ')}}`;
  return { lines, entry, mostSteps };
}

function placeText({ offset, bytes }: ParameterPlace): string {
  invariant(Number.isSafeInteger(offset) && Number.isSafeInteger(bytes), 'a place that is no number');
  return `{${offset}, ${bytes}}`;
}
