import { triple } from '../messages/text/launch-text.ts';
import { place } from '../messages/text/place.ts';
import { count, sharedMemory } from '../messages/text/code-text.ts';
import { painter, severityStyle, type Paint } from './markup/paint.ts';
import type { WitnessArgument } from '../verdict/finding.ts';
import {
  isRunRace,
  type CountersReport,
  type OutputReport,
  type RunFinding,
  type RunReport,
  type ThreadPosition,
} from '../report-model/run-report.ts';
import { markLines, visible, type PrettyOptions } from './pretty.ts';
import { accessPhrase, type Mark } from '../messages/phrases.ts';

/** The document of a run for a terminal. Text of the input cannot move the cursor, colour or reorder the output. */
export function renderRunPretty(given: RunReport, { color, source: sourceOf }: PrettyOptions): string {
  const report = JSON.parse(JSON.stringify(given), (_, value: unknown) =>
    typeof value === 'string' ? visible(value) : value,
  ) as RunReport;
  const source = (file: string): string | undefined => {
    const text = sourceOf(file);
    return text === undefined ? undefined : visible(text);
  };
  const paint = painter(color);
  const { kernel, findings, counters, outputs } = report;
  const where = kernel.location ? paint('dim', `  ${place(kernel.location)}`) : '';
  const lines = [`${paint('bold', kernel.name)}${where}`, ...launchLines(report).map((line) => paint('dim', `  ${line}`))];
  for (const finding of findings) lines.push('', ...findingLines(finding, source, paint));
  if (counters) lines.push('', ...counterLines(counters, source, paint));
  const arrays = Object.entries(outputs);
  if (arrays.length > 0) lines.push('', ...arrays.flatMap(([name, output]) => outputLines(name, output, paint)));
  lines.push('', paint('bold', summary(report)));
  for (const [stage, time] of Object.entries(report.timings ?? {})) lines.push(paint('dim', `${stage} ${time} ms`));
  return lines.join('\n') + '\n';
}

function launchLines({ kernel, launch }: RunReport): string[] {
  const { block, grid, sharedBytes, cooperative, blocks, schedule, schedules, args, races } = launch;
  const parts = [
    `block ${block.join(', ')}`,
    `grid ${grid.join(', ')}`,
    ...(sharedBytes > 0 ? [sharedMemory(sharedBytes)] : []),
    ...(cooperative ? ['cooperative'] : []),
    ...(blocks ? [`only blocks ${blocks.slice(0, 8).join(', ')}${blocks.length > 8 ? ' …' : ''}`] : []),
    ...(schedule === undefined ? [] : [`schedule ${schedule}`]),
    ...(schedules === undefined ? [] : [`${count(schedules, 'schedule')} tried`]),
    ...(kernel.build === 'production' ? ['production build'] : []),
    ...(races ? [] : ['race detector off']),
  ];
  const values = Object.entries(args).map(([name, value]) => `${name} = ${argumentText(value)}`);
  return [parts.join(' · '), ...(values.length > 0 ? [values.join(' · ')] : [])];
}

function argumentText(value: WitnessArgument): string {
  if (typeof value !== 'object') return String(value);
  if ('same' in value) return `&${value.same}${value.bytes === undefined ? '' : `+${value.bytes}`}`;
  if (value.drawn !== undefined) return `${value.type}[]:${value.drawn}`;
  return `${value.type}[]${value.values ? ' of different values' : ` of ${value.fill ?? 0}`}`;
}

function summary({ findings, steps, outcome }: RunReport): string {
  const of = (severity: string): number => findings.filter((finding) => finding.severity === severity).length;
  const parts = [of('error') > 0 ? count(of('error'), 'error') : '', of('warning') > 0 ? count(of('warning'), 'warning') : ''];
  const found = parts.filter((part) => part !== '').join(', ') || 'no findings';
  const ends: Readonly<Record<RunReport['outcome'], string>> = {
    finished: 'finished',
    budget: 'out of steps',
    stuck: 'threads are stuck',
    trap: 'ended by a trap',
    fault: 'ended by a fault',
    'race-limit': 'ended after many races',
  };
  return `${ends[outcome]} after ${count(steps, 'thread-instruction')}; ${found}`;
}

function findingLines(finding: RunFinding, source: PrettyOptions['source'], paint: Paint): string[] {
  const { severity, code, message } = finding;
  const style = severityStyle[severity];
  const marks = marksOf(finding);
  const gutter = Math.max(1, ...marks.map(({ location }) => String(location?.line ?? 0).length));
  return [`${paint(style, paint('bold', `${severity}[${code}]`))}: ${message}`, ...markLines(marks, source, gutter, paint, style)];
}

function marksOf(finding: RunFinding): Mark[] {
  if (isRunRace(finding)) {
    const { first, second, array } = finding;
    const [a, b] = [first.location, second.location];
    const ordered = a && b && a.file === b.file && a.line > b.line ? [second, first] : [first, second];
    return ordered.map((access) => ({
      location: access.location,
      text: accessPhrase(access, array),
      expression: access.expression,
    }));
  }
  const { location, positions, thread, block, expression } = finding;
  if (positions) return positions.map((position) => ({ location: position.location, text: positionText(position) }));
  const who = thread && block ? `thread ${triple(thread)} of block ${triple(block)}` : 'here';
  return location ? [{ location, text: who, expression }] : [];
}

function positionText({ state, threads, count: all }: ThreadPosition): string {
  const verbs = { waiting: 'waiting here', exited: 'returned', running: 'still running here' };
  const more = all === threads.length ? '' : `, ${all} threads in all`;
  return `${threads.length === 1 ? 'thread' : 'threads'} ${threads.map(triple).join(' ')}${more}: ${verbs[state]}`;
}

function counterLines({ lines, totals, warpCount, warps }: CountersReport, source: PrettyOptions['source'], paint: Paint): string[] {
  const heads = ['steps', 'lanes', 'sectors', 'accesses', 'conflicts', 'accesses', 'divergent', 'branches'];
  const cells = (counts: CountersReport['totals']): string[] => [
    String(counts.steps),
    counts.steps === 0 ? '-' : (counts.threadSteps / counts.steps).toFixed(1),
    String(counts.sectors),
    String(counts.globalAccesses),
    String(counts.conflicts),
    String(counts.sharedAccesses),
    String(counts.divergentBranches),
    String(counts.branches),
  ];
  const rows = lines.map((line) => ({
    cells: cells(line),
    text: `${place({ file: line.file, line: line.line })}  ${(source(line.file)?.split('\n')[line.line - 1] ?? '').trim()}`,
  }));
  const all = [heads, ...rows.map((row) => row.cells), cells(totals)];
  const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
  const line = (row: readonly string[], text: string): string =>
    `  ${row.map((cell, column) => cell.padStart(widths[column]!)).join('  ')}  ${text}`.trimEnd();
  const steps = warps.map((warp) => warp.steps);
  const range = steps.length > 0 ? `, ${Math.min(...steps)} to ${Math.max(...steps)} steps each` : '';
  return [
    paint('bold', `counters of ${count(warpCount, 'warp')}${range}`),
    paint('dim', line(heads, '')),
    ...rows.map((row) => line(row.cells, row.text)),
    paint('bold', line(cells(totals), 'in all')),
  ];
}

function outputLines(name: string, output: OutputReport, paint: Paint): string[] {
  const { type, length, sha256, changed, first, aliases, file } = output;
  const more = length === null || length > first.length ? ', …' : '';
  const facts = [
    ...(sha256 === null ? [] : [`sha256 ${sha256}`]),
    ...(changed === false ? ['unchanged'] : []),
    ...(aliases ? [`also ${aliases.join(', ')}`] : []),
    ...(file === undefined ? [] : [`written to ${file}`]),
  ];
  const note = facts.length > 0 ? paint('dim', `  ${facts.join(' · ')}`) : '';
  return [`${paint('bold', name)} ${type}[${length ?? ''}] = ${first.join(', ')}${more}${note}`];
}
