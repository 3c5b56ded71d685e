/**
 * Classifies the kernels of a checkout of NVIDIA/cuda-samples, and the launches that the samples make: `npm run suite
 * -- idempotency CHECKOUT [FILTER…] [--out FILE] [--limit SECONDS]`. Each file `.cu` that `nvcc -ptx -std=c++17
 * -ICommon` compiles for the default architecture is a unit; the whole checkout is the repository.
 *
 * The results are lines of JSON in FILE; units in that file are not classified again, so an interrupted run is resumed.
 * A unit that takes more CPU time than the limit, by default 300 s, is reported. The table (`idempotency-table.ts`)
 * covers all units in FILE. A FILTER that matches no unit only prints the table. The exit code is 1 if a unit ends with
 * an internal error.
 */
import { appendFileSync, existsSync, globSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { withoutTemplateArguments } from '../../src/cuda/names/demangle.ts';
import type { Report } from '../../src/report-model/report.ts';
import { optionDefaults } from '../../src/settings/defaults.ts';
import { type ClassifiedKernel, type ClassifiedUnit, idempotencyTable } from './idempotency-table.ts';
import { endedByLimit, runLimited } from './limited-run.ts';

const commandLine = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: 'idempotency.jsonl' }, limit: { type: 'string', default: '300' } },
  allowPositionals: true,
});
const [, given, ...words] = positionals;
if (given === undefined) {
  process.stderr.write('usage: npm run suite -- idempotency CHECKOUT [FILTER…] [--out FILE] [--limit SECONDS]\n');
  process.exit(2);
}
const checkout = realpathSync(given);
const out = resolve(values.out);
const limit = Number(values.limit);

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-idempotency-')));
try {
  const known = new Set(unitsOf().map(({ unit }) => unit));
  const all = globSync('**/*.cu', { cwd: join(checkout, 'Samples') })
    .map((path) => join('Samples', path))
    .sort();
  const asked = all.filter((path) => words.length === 0 || words.some((word) => path.includes(word)));
  for (const path of asked) {
    if (known.has(path)) continue;
    const unit = await classified(path);
    appendFileSync(out, `${JSON.stringify(unit)}\n`);
    process.stderr.write(`${unit.unit}: ${unit.outcome}${unit.cpu === undefined ? '' : `, ${unit.cpu.toFixed(1)} s`}\n`);
  }
  const units = unitsOf();
  process.stdout.write(idempotencyTable(units));
  if (units.some(({ outcome }) => outcome === 'defect')) process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function unitsOf(): ClassifiedUnit[] {
  const lines = existsSync(out) ? readFileSync(out, 'utf8').split('\n') : [];
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ClassifiedUnit);
}

/** Compiles a unit, and classifies its kernels where it has some. */
async function classified(path: string): Promise<ClassifiedUnit> {
  const compilerWords = ['-std=c++17', `-I${join(checkout, 'Common')}`];
  const ptx = join(scratch, 'unit.ptx');
  const compiled = await runLimited(
    limit,
    'nvcc',
    ['-ptx', `-arch=${optionDefaults.arch}`, ...compilerWords, join(checkout, path), '-o', ptx],
    checkout,
  );
  const unit = { unit: path, kernels: [] };
  if (compiled.status !== 0) return { ...unit, outcome: 'not compiled' };
  if (!/\.entry\b/.test(readFileSync(ptx, 'utf8'))) return { ...unit, outcome: 'no kernels' };
  const ended = await runLimited(
    limit,
    process.execPath,
    [commandLine, 'idempotency', path, '--format', 'json', '--', ...compilerWords],
    checkout,
  );
  const { cpu } = ended;
  if (endedByLimit.includes(ended.status)) return { ...unit, cpu, outcome: 'out of time' };
  const report = ended.stdout === '' ? null : (JSON.parse(ended.stdout) as Report);
  const outcome = ended.status === 4 ? 'defect' : report === null || ended.status === 3 ? 'failed' : 'classified';
  return { ...unit, cpu, outcome, kernels: (report?.kernels ?? []).map(kernelOf) };
}

function kernelOf({ name, location, idempotency }: Report['kernels'][number]): ClassifiedKernel {
  const file = location?.file ?? '';
  const place = ({ file: of, line }: { readonly file: string; readonly line: number }): string => `${of}:${line}`;
  return {
    name,
    definition: `${file}:${location?.line ?? 0} ${withoutTemplateArguments(name.replace(/\(.*$/s, ''))}`,
    isOwn: file !== '' && !file.startsWith('/') && !file.startsWith('..'),
    class: idempotency?.kernel ?? 'unknown',
    ...(idempotency?.condition === undefined ? {} : { condition: idempotency.condition }),
    reasons: (idempotency?.details ?? []).map(({ kind, text, locations }) => ({ kind, text, lines: locations.map(place) })),
    launches: (idempotency?.launches ?? []).map(({ location: site, ...launch }) => ({ ...launch, site: place(site) })),
  };
}
