/** Reads the file of `--input`: a witness, or a finding of a report that has one. */
import { messageOf } from '../../base/text.ts';
import * as v from 'valibot';
import type { Witness } from '../../verdict/finding.ts';
import { matchKernel } from '../../cuda/names/kernel-pattern.ts';
import { maximumSharedBytes } from '../../device/hardware-limits.ts';
import { dimensionsProblem } from '../../settings/dimensions.ts';
import { UsageError } from '../../base/usage-error.ts';

const dimensions = v.strictTuple([v.number(), v.number(), v.number()]);
const wholeMessage = 'write a whole number, 0 or more';
const whole = v.pipe(v.number(wholeMessage), v.safeInteger(wholeMessage), v.minValue(0, wholeMessage));
const number = v.pipe(v.number(), v.finite('write a number that the type has'));
const scalar = v.union([number, v.string()]);
const mapping = v.custom<object>(isMapping, 'write an object');
const argument = v.lazy((value) => {
  if (!isMapping(value)) return v.union([number, v.string(), v.boolean()], 'write a number or an array');
  if ('same' in value) return v.object({ same: v.string(), bytes: v.optional(whole) });
  return v.object({
    type: v.string(),
    length: whole,
    fill: v.optional(scalar),
    values: v.optional(
      v.pipe(mapping, v.record(v.pipe(v.string(), v.regex(/^(?:0|[1-9]\d{0,14})$/, 'write the index of an element, such as 0')), scalar)),
    ),
    drawn: v.optional(v.string()),
  });
});
const witnessSchema = v.object({
  kernel: v.string(),
  block: dimensions,
  grid: dimensions,
  cluster: v.optional(dimensions),
  sharedBytes: v.optional(v.pipe(whole, v.maxValue(maximumSharedBytes))),
  schedule: v.optional(v.object({ blocks: v.optional(v.array(whole)), order: v.optional(v.pipe(whole, v.maxValue(2 ** 32 - 1))) })),
  args: v.pipe(mapping, v.record(v.string(), argument)),
});

const record = v.record(v.string(), v.unknown());
const optionalText = v.fallback(v.optional(v.string()), undefined);
/** A witness that is not part of a finding; it is validated later. */
const witnessDocument = v.looseObject({ args: record, block: v.unknown() });
const findingDocument = v.object({ witness: record, fingerprint: optionalText, message: optionalText });
const resultDocument = v.fallback(v.object({ findings: v.array(v.unknown()) }), { findings: [] });
const kernelDocument = v.fallback(v.object({ race: v.optional(resultDocument), divergence: v.optional(resultDocument) }), {});
const reportDocument = v.object({ kernels: v.array(kernelDocument) });
const named = v.object({ kernel: v.string() });

/** A witness as stored in a file. */
export type RunWitness = Witness;

/**
 * The witness in a JSON text: the text itself, a finding, or a report.
 * @param file name of the file in messages
 * @param meant the fingerprint of the finding, and a pattern of kernels, if a report has several findings
 * @throws UsageError if the text contains none, or several
 */
export function readWitness(
  text: string,
  file: string,
  { fingerprint, kernel }: { readonly fingerprint: string | undefined; readonly kernel: string | undefined },
): RunWitness {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--input ${file} is not JSON: ${messageOf(error)}.`);
  }
  const all = candidates(document);
  const ofKernel = all.filter(({ witness }) => kernel === undefined || matchKernel(kernel, nameIn(witness)));
  // If the document contains a single witness, it is used even if the user names another kernel.
  const found = all.length === 1 ? all : ofKernel;
  const wanted = fingerprint === undefined ? found : found.filter((one) => one.fingerprint === fingerprint);
  if (wanted.length === 0) {
    throw new UsageError(
      fingerprint === undefined || found.length === 0
        ? `--input ${file} contains no witness. A confirmed finding of \`selvage check --format json\` has one.`
        : `--input ${file} has no finding ${fingerprint}.\n${listed(found)}`,
    );
  }
  // The nesting of the result is bounded, regardless of the nesting in the file.
  const read = wanted.map((one) => witnessIn(one, file));
  if (new Set(read.map((one) => JSON.stringify(one))).size > 1) {
    throw new UsageError(`--input ${file} contains ${wanted.length} witnesses; name one.\n${listed(wanted)}`);
  }
  const witness = read[0]!;
  for (const kind of ['block', 'grid', 'cluster'] as const) {
    const problem = witness[kind] && dimensionsProblem(kind, witness[kind]);
    if (problem !== undefined) throw new UsageError(`--input ${file}: the ${kind} of the witness ${problem}.`);
  }
  const { grid, schedule } = witness;
  const outside = schedule?.blocks?.find((index) => index >= grid[0] * grid[1] * grid[2]);
  if (outside !== undefined) throw new UsageError(`--input ${file}: the grid has no block ${outside}.`);
  return witness;
}

function witnessIn({ witness }: Candidate, file: string): RunWitness {
  const parsed = v.safeParse(witnessSchema, witness);
  if (parsed.success) return parsed.output as RunWitness;
  const [issue] = parsed.issues;
  throw new UsageError(`--input ${file}: the witness is wrong at ${v.getDotPath(issue) ?? 'its top'}: ${issue.message}.`);
}

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameIn(witness: unknown): string {
  return v.is(named, witness) ? witness.kernel : '';
}

interface Candidate {
  readonly witness: unknown;
  readonly fingerprint: string | undefined;
  readonly message: string;
}

function listed(found: readonly Candidate[]): string {
  return found.map(({ fingerprint, message }) => `  #${fingerprint ?? '?'}  ${message}`).join('\n');
}

/** The witnesses of a document; a finding that occurs several times contributes one. */
function candidates(document: unknown): Candidate[] {
  if (v.is(witnessDocument, document)) return [{ witness: document, fingerprint: undefined, message: '' }];
  const finding = v.safeParse(findingDocument, document);
  if (finding.success) {
    const { witness, fingerprint, message = '' } = finding.output;
    return [{ witness, fingerprint, message }];
  }
  const report = v.safeParse(reportDocument, document);
  if (!report.success) return [];
  const findings = report.output.kernels.flatMap(({ race, divergence }) => [race, divergence].flatMap((result) => result?.findings ?? []));
  return findings.filter((one) => v.is(findingDocument, one)).flatMap(candidates);
}
