import type { Severity } from '../../source/severity.ts';
/** Annotations by workflow commands on standard output, for runs that cannot write to GitHub. */

export interface Annotation {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly severity: Severity;
  /** Plain text, at most 255 characters. */
  readonly title: string;
  /** Plain text, at most 64 KB. */
  readonly message: string;
}

/** Maximum number of annotations per level and step; GitHub silently drops further ones. */
const ANNOTATIONS_PER_LEVEL = 10;

/** The annotation commands within the limit, in order, and the number of remaining annotations. */
export function annotationCommands(annotations: readonly Annotation[]): { commands: string[]; leftOver: number } {
  const used: Record<Severity, number> = { error: 0, warning: 0, notice: 0 };
  const commands: string[] = [];
  for (const annotation of annotations) {
    if (used[annotation.severity] >= ANNOTATIONS_PER_LEVEL) continue;
    used[annotation.severity] += 1;
    commands.push(printAnnotation(annotation));
  }
  return { commands, leftOver: annotations.length - commands.length };
}

function printAnnotation({ path, startLine, endLine, severity, title, message }: Annotation): string {
  const properties = [`file=${escapeProperty(path)}`, `line=${startLine}`, `endLine=${endLine}`, `title=${escapeProperty(title)}`];
  return `::${severity} ${properties.join(',')}::${escapeData(message)}`;
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/**
 * Text for the log that cannot begin a workflow command: the runner acts on lines that begin with `::` (after white
 * space) or contain `##[`.
 */
export function logText(text: string): string {
  return text.replace(/^(\s*)::/gm, '$1: :').replaceAll('##[', '# #[');
}
