import { decidingText } from '../messages/finding/deciding-phrases.ts';
import { witnessPhrase } from '../messages/text/launch-text.ts';
import type { Severity } from '../source/severity.ts';
import type { Regression } from '../report-model/regression.ts';
import type { ReportedInterleaving } from '../report-model/finding.ts';
import { findingsInGroup, groupedFindings, type FindingGroup } from '../report-model/finding-group.ts';
import { findingsOf, isFailure, isFinding, violationsOf, type Finding } from '../report-model/outcome.ts';
import type { KernelReport, RepairEdit, Report } from '../report-model/report.ts';
import type { CodeEntry } from '../source/code-entry.ts';
import { codes, type Code } from '../source/codes.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';
import { alternativePhrases, marksOf, otherMarksOf, repairPhrase, standing } from '../messages/phrases.ts';
import { listed } from '../messages/text/code-text.ts';
import { otherLinesText } from '../messages/review.ts';
import { notesOf } from '../messages/cost/worse-costs.ts';
import { publishedAction, publishedTag } from '../system/version.ts';
import { stepText } from '../messages/finding/interleaving-phrases.ts';

const levels: Readonly<Record<Severity, 'error' | 'warning' | 'note'>> = {
  error: 'error',
  warning: 'warning',
  notice: 'note',
};

/**
 * The report as SARIF 2.1.0 for code scanning services. Suppressed findings are omitted: GitHub ignores suppressions, and
 * closes the alert of a result that is missing.
 */
export function renderSarif(report: Report): string {
  const costs = [...(report.comparison?.regressions ?? []), ...report.kernels.flatMap(violationsOf)];
  const used = new Set<Code>([
    ...report.kernels.flatMap((kernel) => findingsOf(kernel).map(({ code }) => code)),
    ...costs.map(({ code }) => code),
    ...report.diagnostics.map(({ code }) => code),
  ]);
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: report.tool.name, semanticVersion: report.tool.version, rules: [...used].sort().map(ruleOf) },
        },
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: { SRCROOT: { description: { text: 'the root of the repository' } } },
        invocations: [
          {
            executionSuccessful: !report.diagnostics.some(isFailure),
            toolExecutionNotifications: report.diagnostics.filter(({ code }) => !isFinding(code)).map(notificationOf),
          },
        ],
        results: [
          ...groupedFindings(report)
            .filter(({ example }) => example.finding.suppressed === undefined)
            .map(resultOf),
          ...report.diagnostics.filter(({ code }) => isFinding(code)).map(siteResult),
          ...costs.filter(({ suppressed }) => suppressed === undefined).map(costResult),
        ],
      },
    ],
  };
  return JSON.stringify(log, null, 2) + '\n';
}

function ruleOf(code: Code): object {
  const { severity, title, explanation, remedy }: CodeEntry = codes[code];
  return {
    id: code,
    shortDescription: { text: title },
    fullDescription: { text: explanation },
    help: { text: remedy },
    helpUri: `https://github.com/${publishedAction}/blob/${publishedTag}/src/docs/diagnostics/${code}.md`,
    defaultConfiguration: { level: levels[severity] },
    properties: {
      precision: code.startsWith('cost/') ? 'high' : 'very-high',
      'problem.severity': severity === 'notice' ? 'recommendation' : severity,
      tags: [code.startsWith('cost/') ? 'performance' : 'correctness', 'cuda'],
    },
  };
}

/** SARIF result for a finding, in any number of kernels. */
function resultOf(group: FindingGroup): object {
  const { kernel, finding } = group.example;
  const [primary, ...accesses] = marksOf(finding).filter(({ location }) => location !== undefined);
  const others = [...accesses, ...otherMarksOf(finding)];
  const marks = primary ? [primary, ...others] : others;
  const callers = marks.flatMap(({ location }) => callersOf(location));
  const related = [...others, ...callers];
  const witness = witnessPhrase(finding);
  return {
    ruleId: finding.code,
    level: levels[finding.severity],
    message: {
      text: `${namesText(group)}: ${[finding.message, otherLinesText(findingsInGroup(group))].filter((text) => text !== '').join(' ')} (${standing(finding)}${witness ? `: ${witness}` : ''}${finding.wouldDecide ? `; ${decidingText(finding.wouldDecide)}` : ''})`,
    },
    locations: primary?.location ? [physical(primary.location)] : [],
    ...(related.length > 0
      ? {
          relatedLocations: related.flatMap(({ location, text }, id) =>
            location ? [{ id, ...physical(location), message: { text } }] : [],
          ),
        }
      : {}),
    ...(finding.interleaving ? { codeFlows: [codeFlow(finding.interleaving)] } : {}),
    ...fixesOf(kernel, finding),
    partialFingerprints: fingerprints(finding.fingerprint),
  };
}

/** Names of kernels with their architectures: `reduce<128>, reduce<256> (sm_80 and sm_90)`. */
function namesText({ kernels, archs }: FindingGroup): string {
  return kernels.join(', ') + (archs.length === 0 ? '' : ` (${listed(archs)})`);
}

/** SARIF result for a finding about a launch site. */
function siteResult({ code, severity, message, location, fingerprint }: Diagnostic): object {
  return {
    ruleId: code,
    level: levels[severity],
    message: { text: message },
    locations: location ? [physical(location)] : [],
    ...(fingerprint !== undefined && { partialFingerprints: fingerprints(fingerprint) }),
  };
}

/** SARIF result for a cost that is higher than in the base, or above a limit. */
function costResult(cost: Regression): object {
  const { code, severity, kernel, message, location, fingerprint } = cost;
  const notes = notesOf(cost);
  return {
    ruleId: code,
    level: levels[severity],
    message: { text: `${kernel}: ${message}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}` },
    locations: location ? [physical(location)] : [],
    partialFingerprints: fingerprints(fingerprint),
  };
}

/** Identifies a result in later uploads. GitHub reads only the second name, whose value usually depends on the line. */
function fingerprints(fingerprint: string): Readonly<Record<string, string>> {
  return { 'selvage/v1': fingerprint, primaryLocationLineHash: `${fingerprint}:1` };
}

/**
 * The repair that removes a finding, and its alternatives. The edits of each, which are all in one file, are one fix.
 */
function fixesOf({ repair }: KernelReport, { fingerprint }: Finding): { readonly fixes?: readonly object[] } {
  const { edits = [], fixes = [], alternatives = [], status } = repair;
  if (status !== 'repaired' || edits.length === 0 || !fixes.includes(fingerprint)) return {};
  const fix = (words: string, own: readonly RepairEdit[]): object => ({
    description: {
      text: `Compiled and ${repair.leaves ? 'checked' : 'proved'} with this change${words === '' ? '' : `: ${words}`}.`,
    },
    artifactChanges: [{ artifactLocation: artifact(own[0]!.file), replacements: own.map(replacementOf) }],
  });
  const others = alternativePhrases(repair).map(({ detail }, index) => fix(detail, alternatives[index]!.edits));
  return { fixes: [fix(repairPhrase(repair)?.detail ?? '', edits), ...others] };
}

/** SARIF region of whole lines: from the start of the first line to the start of the line after the last. */
function replacementOf({ startLine, endLine, replacement }: RepairEdit): object {
  // If the replacement does not end with a line end, the last line of the file is replaced, and no line follows.
  const isLast = replacement !== '' && !replacement.endsWith('\n');
  const deletedRegion = isLast ? { startLine, startColumn: 1, endLine } : { startLine, startColumn: 1, endLine: endLine + 1, endColumn: 1 };
  return { deletedRegion, ...(replacement === '' ? {} : { insertedContent: { text: replacement } }) };
}

/** The interleaving as a SARIF code flow, with a thread flow for each thread. */
function codeFlow(interleaving: ReportedInterleaving): object {
  return {
    ...(interleaving.missing ? { message: { text: interleaving.missing.text } } : {}),
    threadFlows: interleaving.threads.map(({ name }, index) => ({
      id: name,
      locations: interleaving.steps
        .filter(({ threads }) => threads.includes(index))
        .map((step) => ({
          location: {
            ...(step.location ? physical(step.location) : {}),
            message: { text: `${name}: ${stepText(step, interleaving)}` },
          },
        })),
    })),
  };
}

function callersOf(location: Location | undefined): { location: Location; text: string }[] {
  const caller = location?.inlinedAt;
  return caller ? [{ location: caller, text: 'inlined here' }, ...callersOf(caller)] : [];
}

function notificationOf({ severity, code, message, location }: Diagnostic): object {
  return {
    level: levels[severity],
    message: { text: message },
    associatedRule: { id: code },
    ...(location ? { locations: [physical(location)] } : {}),
  };
}

function physical({ file, line, column }: Location): object {
  return {
    physicalLocation: {
      artifactLocation: artifact(file),
      region: { startLine: line, ...(column === undefined ? {} : { startColumn: column }) },
    },
  };
}

function artifact(file: string): object {
  const relative = !file.startsWith('/');
  const uri = (relative ? '' : 'file://') + file.split('/').map(encodeURIComponent).join('/');
  return { uri, ...(relative ? { uriBaseId: 'SRCROOT' } : {}) };
}
