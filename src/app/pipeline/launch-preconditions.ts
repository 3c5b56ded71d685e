/** Preconditions of proofs at launch sites: those that a site violates, and those that are undecided. */
import { fingerprintOf } from '../../verdict/fingerprint.ts';
import type { KernelReport, LaunchReport } from '../../report-model/report.ts';
import type { Launch } from '../../launch/launch.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { code as codeText, codeList, count, listed } from '../../messages/text/code-text.ts';
import type { CheckedKernel, LaunchedKernel } from '../build/phase-data.ts';

/** Maximum number of launch sites that a notice names. */
const maxNamed = 3;
/** Maximum number of constraints that a notice shows: one of them usually suffices. */
const maxTies = 3;

/** A finding at a launch site that never satisfies the preconditions of the proof of its kernel. */
export function violatedAt({ name, identity }: LaunchedKernel, launch: Launch, broken: readonly string[]): Diagnostic {
  const needed = new Set(broken.flatMap(wordsOf));
  const ties = (launch.ties ?? []).filter(
    ({ expression, text }) => expression.kind === 'condition' && wordsOf(text).some((word) => needed.has(word)),
  );
  const because = ties.length === 0 ? '' : `: here ${codeList(ties.slice(0, maxTies).map(({ text }) => text))}`;
  const message = `This launch of ${name.qualified} violates ${codeList(broken)}${because}. The kernel is proved free of races only under that condition.`;
  const code = 'launch/precondition';
  // Lines and surrounding code may change: the violated preconditions and their constraints identify the site.
  const fingerprint = fingerprintOf(identity, [code, launch.location?.file ?? '', ...broken, ...ties.map(({ text }) => text)]);
  return { severity: 'error', code, message, ...(launch.location && { location: launch.location }), fingerprint };
}

/** The identifiers in a text of the assumption language. */
function wordsOf(text: string): string[] {
  return text.match(/[A-Za-z_](?:[\w.]|\[\d+\])*/g) ?? [];
}

/** One notice on all launch sites for which the preconditions of a proof are undecided. */
export function undecidedPreconditions(kernels: readonly CheckedKernel[]): Diagnostic[] {
  const sites = new Map<string, { readonly place: string; readonly texts: Set<string> }>();
  for (const { entry, report } of kernels)
    for (const launch of report.launches) {
      const { location, source } = launch;
      if (source !== 'launch-site' || !location) continue;
      const place = `${entry.name.qualified} at ${location.file}:${location.line}`;
      for (const text of neededOf(launch)) sites.set(place, { place, texts: (sites.get(place)?.texts ?? new Set<string>()).add(text) });
    }
  if (sites.size === 0) return [];
  const shown = [...sites.values()].slice(0, maxNamed).map(({ place, texts }) => `${codeText(conjoined([...texts]))} for ${place}`);
  const more = sites.size > maxNamed ? [`${sites.size - maxNamed} more`] : [];
  const message = `Whether ${count(sites.size, 'launch', 'launches')} satisf${sites.size === 1 ? 'ies' : 'y'} the preconditions of a proof is not known: ${listed([...shown, ...more])}.`;
  return [{ severity: 'notice', code: 'launch/precondition', message }];
}

function conjoined(texts: readonly string[]): string {
  return texts.map((text) => (texts.length > 1 && text.includes('||') ? `(${text})` : text)).join(' && ');
}

/** Preconditions of a launch that are undecided. Violated ones are reported at the site. */
function neededOf({ race, divergence, broken = [] }: LaunchReport): string[] {
  const results: readonly KernelReport['race' | 'divergence'][] = [race, divergence];
  const all = results.flatMap(({ assumptions = [] }) => assumptions);
  return all.filter(({ kind, text }) => kind === 'precondition' && !broken.includes(text)).map(({ text }) => text);
}
