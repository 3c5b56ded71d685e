/**
 * What each phase of a check may rely on: a verified IR before the check, no open obligation of what is proved, findings
 * that agree with their verdict, witnesses that are launches of the kernel, and reports that agree with the checks.
 */
import { verifyKernel } from '../ir/form/verify.ts';
import type { DivergenceFinding, RaceFinding, Witness } from '../../src/verdict/finding.ts';
import type { Checked, CheckedFile } from './checked-file.ts';

/** The invariants that a checked file breaks, in words. */
export function brokenInvariants({ report, checks }: CheckedFile): string[] {
  const broken = checks.flatMap((check) => brokenBy(check).map((text) => `${check.request.kernel.symbol}: ${text}`));
  for (const { name, symbol, race, divergence } of report.kernels) {
    const own = checks.filter(({ request }) => request.kernel.symbol === symbol).map(({ result }) => result);
    const note = (isBroken: boolean, text: string): void => void (isBroken && broken.push(`report of ${name}: ${text}`));
    note(race.verdict === 'proved' && own.some((one) => one.race.verdict !== 'proved'), 'proved, though a launch is not');
    note(divergence.verdict === 'proved' && own.some((one) => one.divergence.verdict !== 'proved'), 'no divergence, though a launch has');
    note(race.verdict === 'race' && !own.some((one) => one.race.verdict === 'race'), 'a race under no launch');
    note(divergence.verdict === 'divergent' && !own.some((one) => one.divergence.verdict === 'divergent'), 'divergent under no launch');
    const prints = [...race.findings, ...divergence.findings].map(({ fingerprint }) => fingerprint);
    note(new Set(prints).size < prints.length, 'two findings with one fingerprint');
  }
  return broken;
}

function brokenBy({ request, result }: Checked): string[] {
  const { race, divergence, open } = result;
  const broken: string[] = [];
  const note = (isBroken: boolean, text: string): void => void (isBroken && broken.push(text));
  try {
    verifyKernel(request.kernel);
  } catch (error) {
    broken.push(`IR: ${(error as Error).message}`);
  }
  // Equal values stored at once are a notice, and the proof assumes it; an early return before a barrier is a warning of style.
  const equalWrites = race.assumptions?.some(({ kind }) => kind === 'equal-value-writes') === true;
  const isOpen = open.races.length > 0 || open.beside !== null;
  note(race.verdict === 'proved' && isOpen && !equalWrites, 'no race is proved, though obligations are open');
  note(race.verdict === 'proved' && divergence.verdict !== 'proved', 'no race is proved, though barriers may diverge');
  note(
    divergence.verdict === 'proved' && open.barriers.length + open.warps.length > 0,
    'no divergence is proved, though obligations are open',
  );
  for (const [verdict, refuted, findings, reason] of [
    [race.verdict, 'race', race.findings, race.reason],
    [divergence.verdict, 'divergent', divergence.findings, divergence.reason],
  ] as const) {
    const confirmed = findings.filter((one) => one.confirmed);
    note(verdict === refuted && confirmed.length === 0, `${verdict} without a confirmed finding`);
    note(verdict === 'proved' && !findings.every(isCompatible), 'proved with findings');
    note(/^(?:possible|unknown)$/.test(verdict) && reason === undefined && findings.length === 0, `${verdict} without a reason`);
    note(result.contradiction === true && verdict === 'proved', 'proved under contradictory assumptions');
    for (const finding of findings) broken.push(...brokenFinding(finding));
  }
  return broken;
}

/** Whether a kernel may be proved in spite of a finding. */
function isCompatible(finding: RaceFinding | DivergenceFinding): boolean {
  const isCode = /^(?:barrier\/early-exit|memory\/(?:out-of-bounds|index-overflow|misaligned|uninitialised)|warp\/undefined-value)$/.test(
    finding.code,
  );
  return isCode || ('sameValue' in finding && finding.sameValue);
}

function brokenFinding(finding: RaceFinding | DivergenceFinding): string[] {
  const { code, confirmed, witness, witnessOrigin, severity, interleaving, wouldDecide } = finding;
  const broken: string[] = [];
  const note = (isBroken: boolean, text: string): void => void (isBroken && broken.push(`${code}: ${text}`));
  note(confirmed !== (witness !== undefined) || confirmed !== (witnessOrigin !== undefined), 'a witness belongs to what is confirmed');
  note(!confirmed && severity === 'error', 'an error that is not confirmed');
  note(!confirmed && interleaving !== undefined, 'steps of a run that did not confirm it');
  note(confirmed && wouldDecide !== undefined, 'a deciding fact of what is confirmed');
  if (witness) note(!isLaunch(witness), 'a witness that is not a launch');
  if (!witness || !('first' in finding)) return broken;
  for (const { thread, block } of [finding.first, finding.second]) {
    note(thread !== undefined && thread.some((index, axis) => index >= witness.block[axis]!), 'a thread outside of its block');
    note(block !== undefined && block.some((index, axis) => index >= witness.grid[axis]!), 'a block outside of its grid');
  }
  return broken;
}

function isLaunch({ block, grid, schedule }: Witness): boolean {
  const blocks = grid.reduce((all, extent) => all * extent, 1);
  const isSize = [...block, ...grid].every((extent) => Number.isInteger(extent) && extent >= 1);
  return isSize && block.reduce((all, extent) => all * extent, 1) <= 1024 && (schedule?.blocks ?? []).every((index) => index < blocks);
}
