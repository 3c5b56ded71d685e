/** The baseline of a repository: findings that existed when its file was written. They are not reported again. */
import { compareText, messageOf } from '../base/text.ts';
import * as v from 'valibot';
import { UsageError } from '../base/usage-error.ts';

/** Path of the baseline in a repository. */
export const baselineName = '.selvage-baseline.json';

/** Why a finding of the baseline is a notice, in the words of reports. */
export const baselineReason = 'it is in the baseline';

/** Maximum number of characters of a baseline file. */
const maximumLength = 16 << 20;

const text = v.pipe(v.string(), v.maxLength(4000));
const entrySchema = v.strictObject({
  /** Fingerprint of the finding, which does not depend on its lines. */
  fingerprint: v.pipe(v.string(), v.regex(/^[0-9a-f]{8,64}$/)),
  /** The remaining fields are for readers, and identify the code in which the finding is expected. */
  code: text,
  kernel: text,
  file: text,
});
const schema = v.strictObject({ version: v.literal(1), findings: v.array(entrySchema) });

export type BaselineEntry = v.InferOutput<typeof entrySchema>;

/**
 * Parses a baseline.
 * @param file its path, for the message
 * @throws UsageError if it is invalid
 */
export function parseBaseline(json: string, file: string): readonly BaselineEntry[] {
  const wrong = (why: string): UsageError =>
    new UsageError(`The baseline ${file} is wrong: ${why}. Write it again with \`selvage baseline --force\`.`);
  if (json.length > maximumLength) throw wrong(`it has more than ${maximumLength} characters`);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw wrong(messageOf(error));
  }
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output.findings;
  const [issue] = parsed.issues;
  throw wrong(`${v.getDotPath(issue) ?? 'the document'}: ${issue.message}`);
}

/** The text of a baseline: one line per finding, in an order that does not depend on lines of the source. */
export function printBaseline(entries: readonly BaselineEntry[]): string {
  const keys = ['file', 'kernel', 'code', 'fingerprint'] as const;
  const sorted = [...entries].sort((a, b) => keys.map((key) => compareText(a[key], b[key])).find((one) => one !== 0) ?? 0);
  const lines = sorted.map(({ fingerprint, code, kernel, file }) => `    ${JSON.stringify({ fingerprint, code, kernel, file })}`);
  return `{\n  "version": 1,\n  "findings": [\n${lines.join(',\n')}\n  ]\n}\n`;
}
