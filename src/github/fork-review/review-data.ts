/**
 * Results of a run without write permission, for the run that posts them. They are data without Markdown; the run that
 * posts generates the text of the review from them.
 */
import * as v from 'valibot';
import type { Report } from '../../report-model/report.ts';
import type { TrustChange } from '../../app/compare/trust-changes.ts';
import schema from '../../report/report.schema.json' with { type: 'json' };
import { jobNamePattern } from '../text/marker.ts';
import { RefusedArtifact } from './archive.ts';
import { schemaFault } from './json-schema.ts';

/** Name of the file, and of the artifact that contains it. */
export const reviewFile = 'selvage-review.json';
export const reviewArtifact = 'selvage-review';

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/));
const place = v.object({ file: v.string(), line: v.pipe(v.number(), v.integer(), v.minValue(1)), column: v.optional(v.number()) });
const dataSchema = v.strictObject({
  format: v.literal('selvage review 1'),
  /** `owner/name` */
  repository: v.pipe(v.string(), v.regex(/^[\w.-]+\/[\w.-]+$/)),
  pullRequest: v.pipe(v.number(), v.integer(), v.minValue(1)),
  head: sha,
  base: sha,
  /** The folder that paths of files are relative to, with a trailing slash; empty for the top of the repository. */
  folder: v.pipe(v.string(), v.regex(/^(?:[\w.+@ -]+\/)*$/)),
  /** The name of the job; empty if there is only one. */
  name: v.optional(v.pipe(v.string(), v.regex(jobNamePattern)), ''),
  trust: v.array(
    v.strictObject({
      kind: v.picklist(['assumption', 'suppression', 'flag', 'setting']),
      text: v.string(),
      location: v.optional(place),
    }),
  ),
  report: v.looseObject({}),
});

type ReadData = v.InferOutput<typeof dataSchema>;

export interface ReviewData extends Omit<ReadData, 'report' | 'trust' | 'format'> {
  readonly report: Report;
  readonly trust: readonly TrustChange[];
}

/** Limits: UTF-16 units of one text, number of values, depth of nesting, and number of trust changes. */
const limits = { text: 20_000, values: 400_000, depth: 40, trust: 200 } as const;

/** The file for the run that posts. */
export function printReviewData(data: ReviewData): string {
  return `${JSON.stringify({ format: 'selvage review 1', ...data })}\n`;
}

/**
 * Parses the results of a run as untrusted data.
 * @throws RefusedArtifact with the reason
 */
export function parseReviewData(bytes: Uint8Array): ReviewData {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new RefusedArtifact('the file is not JSON in UTF-8');
  }
  measure(value);
  const parsed = v.safeParse(dataSchema, value);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const where = (v.getDotPath(issue) ?? 'the document').slice(0, 80);
    throw new RefusedArtifact(`the file is not data of Selvage: ${where} is wrong`);
  }
  const { report, trust, ...rest } = parsed.output;
  if (trust.length > limits.trust) throw new RefusedArtifact('the file has too many statements');
  const fault = schemaFault(schema, report);
  if (fault !== undefined) throw new RefusedArtifact(`the report does not fit its schema: ${fault}`);
  checkPlaces(value);
  if (!isPlainFile(rest.folder)) throw new RefusedArtifact('the folder leads out of the repository');
  return { ...rest, report: report as unknown as Report, trust: trust as readonly TrustChange[] };
}

function measure(root: unknown): void {
  let values = 0;
  const visit = (value: unknown, depth: number): void => {
    values += 1;
    if (values > limits.values) throw new RefusedArtifact('the file has too many values');
    if (depth > limits.depth) throw new RefusedArtifact('the values of the file are nested too deeply');
    if (typeof value === 'string' && value.length > limits.text) throw new RefusedArtifact('the file has a text that is too long');
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      if (name === '__proto__' || name.length > limits.text) throw new RefusedArtifact('the file has an unknown field name');
      visit(inner, depth + 1);
    }
  };
  visit(root, 0);
}

/**
 * Checks the paths of locations: relative ones must not leave the root, and only those of the toolkit may be absolute.
 */
function checkPlaces(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'file' && typeof inner === 'string' && !isPlainFile(inner))
      throw new RefusedArtifact('the report names a file by a path that leads out of the repository');
    checkPlaces(inner);
  }
}

function isPlainFile(path: string): boolean {
  return (
    !/[\p{Cc}\\]/u.test(path) && path.split('/').every((part) => part !== '..' && part !== '.' && part !== '.git') && path.length < 1024
  );
}
