/** Reads what `--input` names: a witness, or a finding of a report that has one. */
import * as v from 'valibot';
import type { Witness } from '../../verdict/finding.ts';
import { matchKernel } from '../../cuda/names/kernel-pattern.ts';
import { maximumSharedBytes } from '../../device/hardware-limits.ts';
import { dimensionsProblem } from '../../settings/dimensions.ts';
import { UsageError } from '../../base/usage-error.ts';

const dimensions = v.strictTuple([v.number(), v.number(), v.number()]);
const scalar = v.union([v.number(), v.string()]);
const argument = v.union([
  v.number(),
  v.string(),
  v.boolean(),
  v.object({ same: v.string(), bytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))) }),
  v.object({
    type: v.string(),
    length: v.number(),
    fill: v.optional(scalar),
    values: v.optional(v.record(v.string(), scalar)),
    drawn: v.optional(v.string()),
  }),
]);
const witnessSchema = v.object({
  kernel: v.string(),
  block: dimensions,
  grid: dimensions,
  cluster: v.optional(dimensions),
  sharedBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(maximumSharedBytes))),
  schedule: v.optional(
    v.object({
      blocks: v.optional(v.array(v.pipe(v.number(), v.integer(), v.minValue(0)))),
      order: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(2 ** 32 - 1))),
    }),
  ),
  args: v.record(v.string(), argument),
});

const record = v.record(v.string(), v.unknown());
const optionalText = v.fallback(v.optional(v.string()), undefined);
/** A witness by itself, which is checked later. */
const witnessDocument = v.looseObject({ args: record, block: v.unknown() });
const findingDocument = v.object({ witness: record, fingerprint: optionalText, message: optionalText });
const resultDocument = v.fallback(v.object({ findings: v.array(v.unknown()) }), { findings: [] });
const kernelDocument = v.fallback(
  v.object({ race: v.optional(resultDocument), divergence: v.optional(resultDocument) }),
  {},
);
const reportDocument = v.object({ kernels: v.array(kernelDocument) });
const named = v.object({ kernel: v.string() });

/** A witness as its file has it. */
export type RunWitness = Witness;

/**
 * The witness in a JSON text: the text itself, a finding, or a report.
 * @param file as messages name it
 * @param meant the fingerprint of the finding, and a pattern of kernels, where a report has several findings
 * @throws UsageError where the text holds none, or several
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
    throw new UsageError(`--input ${file} is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  const all = candidates(document);
  const ofKernel = all.filter(({ witness }) => kernel === undefined || matchKernel(kernel, nameIn(witness)));
  // Who names another kernel for the one witness means that one.
  const found = all.length === 1 ? all : ofKernel;
  const wanted = fingerprint === undefined ? found : found.filter((one) => one.fingerprint === fingerprint);
  const [only] = wanted;
  if (!only) {
    throw new UsageError(
      fingerprint === undefined || found.length === 0
        ? `--input ${file} contains no witness. A confirmed finding of \`selvage check --format json\` has one.`
        : `--input ${file} has no finding ${fingerprint}.\n${listed(found)}`,
    );
  }
  if (new Set(wanted.map(({ witness }) => JSON.stringify(witness))).size > 1) {
    throw new UsageError(`--input ${file} contains ${wanted.length} witnesses; name one.\n${listed(wanted)}`);
  }
  const parsed = v.safeParse(witnessSchema, only.witness);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw new UsageError(
      `--input ${file}: the witness is wrong at ${v.getDotPath(issue) ?? 'its top'}: ${issue.message}.`,
    );
  }
  const witness = parsed.output as RunWitness;
  for (const kind of ['block', 'grid'] as const) {
    const problem = dimensionsProblem(kind, witness[kind]);
    if (problem !== undefined) throw new UsageError(`--input ${file}: the ${kind} of the witness ${problem}.`);
  }
  const { grid, schedule } = witness;
  const outside = schedule?.blocks?.find((index) => index >= grid[0] * grid[1] * grid[2]);
  if (outside !== undefined) throw new UsageError(`--input ${file}: the grid has no block ${outside}.`);
  return witness;
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

/** The witnesses of a document, each finding once. */
function candidates(document: unknown): Candidate[] {
  if (v.is(witnessDocument, document)) return [{ witness: document, fingerprint: undefined, message: '' }];
  const finding = v.safeParse(findingDocument, document);
  if (finding.success) {
    const { witness, fingerprint, message = '' } = finding.output;
    return [{ witness, fingerprint, message }];
  }
  const report = v.safeParse(reportDocument, document);
  if (!report.success) return [];
  const findings = report.output.kernels.flatMap(({ race, divergence }) =>
    [race, divergence].flatMap((result) => result?.findings ?? []),
  );
  return findings.filter((one) => v.is(findingDocument, one)).flatMap(candidates);
}
