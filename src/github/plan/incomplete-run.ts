/** The post of a run that ends without a result. Results of earlier commits must not be attributed to this commit. */
import { hashText } from '../../base/hash.ts';
import { exitCodes } from '../../report-model/exit-code.ts';
import { escapeText, fencedBlock } from '../../report/markup/inert-markdown.ts';
import { CHECK_SUMMARY_BUDGET, fitMarkdown } from '../text/fit-markdown.ts';
import { cutNote, logOf, type RunHost } from '../text/run-host.ts';
import { printMarker } from '../text/marker.ts';
import type { CheckPlan, ReviewPlan } from './review-plan.ts';
import { shortSha, toolName } from './summary.ts';

/** Why a run ended early. */
export interface EarlyEnd {
  readonly exitCode: number;
  readonly kind: 'usage' | 'defect' | 'cancelled' | 'limit';
  /** The error message if the usage was wrong, or the limit that was exceeded. */
  readonly message: string;
  /** What ran Selvage, and has the log; a job by default. */
  readonly host?: RunHost | undefined;
}

const titles: Readonly<Record<EarlyEnd['kind'], string>> = {
  usage: 'Not analysed: wrong usage or configuration',
  defect: 'Not analysed: an internal error of Selvage',
  cancelled: 'Not analysed: the run was cancelled',
  limit: 'Not analysed: the analysis passed its limits',
};

/** Maximum length of a message: a message about a configuration may quote many lines. */
const MAX_MESSAGE = 4000;

/**
 * The plan of a run without a result. It neither reports findings nor marks earlier ones as fixed.
 * @param secrets texts that must not leave the log, where they are masked
 * @param name the name of the job
 */
export function planEarlyEnd(end: EarlyEnd, headSha: string, secrets: readonly string[], name = ''): ReviewPlan {
  const { exitCode, kind } = end;
  const title = titles[kind];
  const conclusion: CheckPlan['conclusion'] = kind === 'cancelled' ? 'cancelled' : 'failure';
  const body = `### ${escapeText(toolName(name))}: ${title}\n\n${explanation(end, headSha, secrets)}`;
  const earlier = `What Selvage commented on earlier commits may be out of date.\n\n<sub>${shortSha(headSha)}</sub>`;
  const summary = `${printMarker('summary', { name })}${body}\n\n${earlier}`;
  const exitCodeKnown = Object.values(exitCodes).find((code) => code === exitCode) ?? exitCodes.incomplete;
  return {
    name,
    headSha,
    isWhole: true,
    verdicts: hashText(JSON.stringify([title, conclusion, body])),
    exitCode: exitCodeKnown,
    findings: [],
    reviewIntroduction: '',
    review: null,
    summary: { body: summary, withSettled: () => summary, createIfMissing: false },
    check: {
      name: toolName(name),
      title,
      summary: fitMarkdown(body, CHECK_SUMMARY_BUDGET, cutNote(end.host)),
      conclusion,
      annotations: [],
    },
    jobSummary: `${body}\n`,
    workflowCommands: { commands: [], leftOver: 0 },
    log: [],
    outputs: { conclusion, 'exit-code': String(exitCode) },
    settle: () => ({ kind: 'open' }),
  };
}

function explanation({ kind, message, host }: EarlyEnd, headSha: string, secrets: readonly string[]): string {
  const commit = shortSha(headSha);
  switch (kind) {
    case 'usage': {
      const safe = secrets.reduce((text, secret) => (secret === '' ? text : text.replaceAll(secret, '***')), message);
      return `Selvage did not analyse ${commit}:\n\n${fencedBlock(safe.slice(0, MAX_MESSAGE))}`;
    }
    case 'defect':
      return `Selvage did not analyse ${commit}: an internal error ended the run. The ${logOf(host)} has the details.`;
    case 'limit':
      return `Selvage did not analyse ${commit}: ${escapeText(message)}. \`/selvage recheck\` tries again.`;
    case 'cancelled':
      return `Selvage did not analyse ${commit}: the run was cancelled.`;
  }
}
