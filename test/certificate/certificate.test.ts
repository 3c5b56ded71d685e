import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Random, seededRandom } from '../../src/base/random.ts';
import { LinearProblem } from '../../src/solver/linear-problem.ts';
import type { SExpression } from '../../src/solver/s-expression.ts';
import type {
  AffineArgument,
  AffineClaim,
  CertificateFile,
  ClauseArgument,
  ClauseClaim,
  SealedCertificate,
} from '../../src/certificate/certificate.ts';
import { checkCertificates, sealOf } from '../../src/certificate/checker.ts';
import { renderJson } from '../../src/report/json.ts';
import { analyseCheckedIn } from '../kernels/checked-in.ts';
import { closeSolver } from '../check/kernel-text.ts';
import { selvage } from '../app/commands/in-process.ts';
import { kernelFiles, root } from '../kernels/portable-ptx.ts';
import { certificatesOf } from './certified-kernels.ts';

after(closeSolver);

/** Corruptions of each kind. */
const corruptions = 1000;

/** Each eighth file of test kernels, and one with blocks of any size. */
const sample = kernelFiles().filter((file, index) => index % 8 === 0 || /transpose-padded|chunk-per-thread/.test(file));
const certified: Promise<readonly CertificateFile[]> = (async () => {
  const files: CertificateFile[] = [];
  for (const file of sample) files.push(...(await certificatesOf(file)));
  return files;
})();

/** One obligation in a separate file. */
function alone(file: CertificateFile, launch: number, obligation: SealedCertificate): CertificateFile {
  return { ...file, launches: [{ ...file.launches[launch]!, obligations: [obligation] }] };
}

async function proofs(): Promise<CertificateFile[]> {
  return (await certified).flatMap((file) =>
    file.launches.flatMap(({ obligations }, launch) =>
      obligations.filter(({ proof }) => proof !== null).map((obligation) => alone(file, launch, obligation)),
    ),
  );
}

test('all certificates of the affine tier and of the linear one are verified', async () => {
  const arguments_ = new Set<string>();
  let shown = 0;
  for (const file of await certified) {
    const { refused, verified } = checkCertificates(JSON.stringify(file));
    assert.deepEqual(refused, [], file.kernel);
    shown += verified;
    for (const { tier, proof } of file.launches.flatMap(({ obligations }) => obligations)) {
      if (tier === 'affine' || tier === 'linear') assert.ok(proof, file.kernel);
      if (proof) arguments_.add(proof.argument.kind);
    }
  }
  assert.ok(shown > 100, `${shown} certificates`);
  for (const kind of ['interval', 'radix', 'clauses']) assert.ok(arguments_.has(kind), kind);
});

test('a report is the same with certificates as without', async () => {
  for (const part of ['transpose-padded', 'chunk-per-thread', 'division-index']) {
    const file = kernelFiles().find((name) => name.includes(part))!;
    const [plain, certifying] = [{}, { certificates: 'unused' }].map((options) => analyseCheckedIn(file, { options }));
    assert.equal(renderJson(await certifying!), renderJson(await plain!), file);
  }
});

test('--certificates writes a file for each kernel, which is verified', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  try {
    const words = ['check', 'test/kernels/race/transpose-padded.ptx', '--block', '32,8', '--grid', '4,4', '--no-cache'];
    const run = await selvage([...words, '--checks', 'race,divergence', '--certificates', join(folder, 'new')], root);
    assert.equal(run.status, 0, run.stderr);
    const [name, ...others] = readdirSync(join(folder, 'new'));
    assert.deepEqual(others, []);
    const { verified, refused } = checkCertificates(readFileSync(join(folder, 'new', name!), 'utf8'));
    assert.ok(verified > 0);
    assert.deepEqual(refused, []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a certificate with any damaged byte is rejected', async () => {
  const random = seededRandom(23);
  const all = await proofs();
  const accepted: string[] = [];
  for (let count = 0; count < corruptions; count++) {
    const file = random.pick(all);
    const damaged = structuredClone(file);
    const where = damage(damaged, random);
    assert.notDeepEqual(damaged, file, where);
    const { refused, verified, unchecked } = checkCertificates(JSON.stringify(damaged));
    if (refused.length === 0 || verified + unchecked > 0) accepted.push(`${where}: ${JSON.stringify(damaged)}`);
  }
  assert.deepEqual(accepted, []);
});

test('a false claim is rejected, regardless of its seal and its argument', async () => {
  const random = seededRandom(5);
  const affine = (await proofs()).filter((file) => file.launches[0]!.obligations[0]!.proof!.claim.kind === 'apart');
  const accepted: string[] = [];
  for (let count = 0; count < corruptions;) {
    const falsified = madeFalse(random.pick(affine), random);
    if (!falsified) continue;
    count++;
    const { refused } = checkCertificates(JSON.stringify(falsified));
    if (refused.length === 0) accepted.push(JSON.stringify(falsified));
  }
  assert.deepEqual(accepted, []);
});

test('satisfiable clauses are rejected, regardless of the claimed consequences', async () => {
  const random = seededRandom(7);
  const all = (await proofs()).filter((file) => file.launches[0]!.obligations[0]!.proof!.claim.kind === 'clauses');
  const accepted: string[] = [];
  let falsified = 0;
  for (let count = 0; count < corruptions; count++) {
    const file = madePossible(random.pick(all), random);
    if (!file) continue;
    falsified++;
    const { refused } = checkCertificates(JSON.stringify(file));
    if (refused.length === 0) accepted.push(JSON.stringify(file));
  }
  assert.ok(falsified > corruptions / 4, `${falsified} claims have a model`);
  assert.deepEqual(accepted, []);
});

test('a file without certificates is rejected', () => {
  const texts = ['', '{', 'null', '[]', '{}', '{"format":"selvage-certificates","version":2,"kernel":"k","symbol":"k","launches":[]}'];
  for (const text of texts) assert.equal(checkCertificates(text).refused.length, 1, text);
});

test('a file that is nested too deeply is rejected, at any place', () => {
  const launch = {
    block: [1, 1, 1],
    grid: [1, 1, 1],
    obligations: [{ subject: { kind: 'race', scope: 'block', places: [] }, tier: 'affine', proof: 'DEEP', seal: 'x' }],
  };
  const file = { format: 'selvage-certificates', version: 1, kernel: 'k', symbol: 'k', launches: [launch] };
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const)
    for (const text of ['"DEEP"', JSON.stringify({ ...file, version: 'DEEP' }), JSON.stringify(file)]) {
      const deep = text.replace('"DEEP"', `${open.repeat(20_000)}1${close.repeat(20_000)}`);
      assert.deepEqual(checkCertificates(deep).refused, ['the file is nested too deeply']);
    }
});

test('a block or grid without threads is rejected', () => {
  const file = { format: 'selvage-certificates', version: 1, kernel: 'k', symbol: 'k' };
  const launch = { block: [32, 1, 1], grid: [null, 1, 1], obligations: [] };
  const refusedAt = (one: object): number => checkCertificates(JSON.stringify({ ...file, launches: [one] })).refused.length;
  assert.equal(refusedAt(launch), 0);
  for (const size of [0, -1, 1.5, '1']) assert.equal(refusedAt({ ...launch, block: [32, size, 1] }), 1, `${size}`);
});

/** Changes one number, text, list or key. @returns where */
function damage(file: CertificateFile, random: Random): string {
  const places: { readonly holder: Record<string, unknown>; readonly key: string; readonly path: string }[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) {
      places.push({ holder: value as Record<string, unknown>, key, path: `${path}.${key}` });
      visit((value as Record<string, unknown>)[key], `${path}.${key}`);
    }
  };
  // Data outside of the only obligation is covered by its seal too.
  visit(file, '');
  const { holder, key, path } = random.pick(places.filter((place) => !/^\.launches(?:\.0(?:\.obligations)?)?$/.test(place.path)));
  const value = holder[key];
  const isRemoved = !Array.isArray(holder) && random.next() < 0.1;
  if (isRemoved) delete holder[key];
  else if (typeof value === 'number') holder[key] = value + 1 + random.below(7);
  else if (typeof value === 'string' && /^-?\d+$/.test(value))
    holder[key] = String(BigInt(value) + BigInt(random.pick([-64, -4, -1, 1, 4, 1024])));
  else if (typeof value === 'string') holder[key] = random.next() < 0.5 ? `${value}_` : value.slice(1);
  else if (value === null) holder[key] = 0;
  else if (Array.isArray(value) && value.length > 0 && random.next() < 0.5) value.splice(random.below(value.length), 1);
  else if (Array.isArray(value)) value.push(value[0] ?? 'x');
  else holder[key] = null;
  return path;
}

/** A claim with the values of two different threads whose accesses overlap; null if none was found. */
function madeFalse(file: CertificateFile, random: Random): CertificateFile | null {
  const [launch] = file.launches;
  const [obligation] = launch!.obligations;
  const { claim, argument } = obligation!.proof!;
  const { terms, differ, behind, ahead, products } = claim as AffineClaim;
  if (products.length > 0) return null;
  const values = new Map<string, bigint>();
  for (const { name, least, most } of terms) {
    const count = BigInt(most) - BigInt(least) + 1n;
    values.set(name, BigInt(least) + BigInt(random.below(Number(count > 1000n ? 1000n : count))));
  }
  // Two threads that differ only in a value that is not a term are different for any values of the terms.
  const isMet = differ === null || differ.some(([a, b]) => !values.has(a) || !values.has(b) || values.get(a) !== values.get(b));
  if (!isMet) return null;
  const sum = terms.reduce((total, { name, factor }) => total + BigInt(factor) * values.get(name)!, 0n);
  const within = BigInt(random.below(Number(BigInt(behind) + BigInt(ahead)) + 1)) - BigInt(behind);
  const falseClaim: AffineClaim = { ...(claim as AffineClaim), constant: String(within - sum) };
  const { subject, tier } = obligation!;
  const { kernel, symbol } = file;
  const { block, grid } = launch!;
  const proof = { claim: falseClaim, argument: recomputed(argument as AffineArgument, claim as AffineClaim, falseClaim) };
  const seal = sealOf({ kernel, symbol, block, grid, subject, tier, proof });
  return alone(file, 0, { ...obligation!, proof, seal });
}

/** A claim without some of its clauses, if that has a model; null if none was found. */
function madePossible(file: CertificateFile, random: Random): CertificateFile | null {
  const [launch] = file.launches;
  const [obligation] = launch!.obligations;
  const { claim, argument } = obligation!.proof! as { claim: ClauseClaim; argument: ClauseArgument };
  const dropped = 1 / random.pick([2, 8, 32, 128]);
  const falseClaim: ClauseClaim = { ...claim, clauses: claim.clauses.filter(() => !random.chance(dropped)) };
  if (!hasModel(falseClaim)) return null;
  const { subject, tier } = obligation!;
  const { kernel, symbol } = file;
  const { block, grid } = launch!;
  const proof = { claim: falseClaim, argument };
  const seal = sealOf({ kernel, symbol, block, grid, subject, tier, proof });
  return alone(file, 0, { ...obligation!, proof, seal });
}

/** Whether the built-in procedure finds a model of all clauses, which are encoded for it here. */
function hasModel({ variables, clauses }: ClauseClaim): boolean {
  const problem = new LinearProblem();
  const names = [...new Set(variables.flatMap((variable) => variable?.sum.map(([name]) => name) ?? []))];
  for (const [index] of names.entries()) problem.declare(`n${index}`, 'Int');
  for (const [index] of variables.entries()) problem.declare(`b${index}`, 'Bool');
  const written = (literal: number): SExpression => {
    const variable = variables[literal >> 1]!;
    const terms = variable?.sum.map(([name, factor]) => ['*', numeralOf(factor), `n${names.indexOf(name)}`]);
    const positive: SExpression = terms ? ['<=', ['+', ...terms], numeralOf(variable.most)] : `b${literal >> 1}`;
    return literal % 2 === 0 ? positive : ['not', positive];
  };
  for (const clause of clauses) problem.assert(['or', ...clause.map(written)]);
  const answer = problem.solve(5_000, []);
  if (answer.kind !== 'sat') return false;
  const number = (name: string): bigint => answer.model.get(`n${names.indexOf(name)}`) as bigint;
  const isTrue = (literal: number): boolean => {
    const variable = variables[literal >> 1]!;
    const holds = variable
      ? variable.sum.reduce((sum, [name, factor]) => sum + BigInt(factor) * number(name), 0n) <= BigInt(variable.most)
      : answer.model.get(`b${literal >> 1}`) === true;
    return holds === (literal % 2 === 0);
  };
  return clauses.every((clause) => clause.some(isTrue));
}

function numeralOf(text: string): SExpression {
  return text.startsWith('-') ? ['-', text.slice(1)] : text;
}

/** The argument with the numbers that it has for another constant, as a prover would write them that looks no further. */
function recomputed(argument: AffineArgument, { constant }: AffineClaim, other: AffineClaim): AffineArgument {
  const by = BigInt(other.constant) - BigInt(constant);
  const size = (value: string): bigint => (value.startsWith('-') ? -BigInt(value) : BigInt(value));
  switch (argument.kind) {
    case 'interval':
      return { ...argument, low: String(BigInt(argument.low) + by), high: String(BigInt(argument.high) + by) };
    case 'divisor': {
      const divisor = BigInt(argument.divisor);
      return { ...argument, rest: String((((BigInt(argument.rest) + by) % divisor) + divisor) % divisor) };
    }
    case 'radix': {
      const more = size(other.constant) - size(constant);
      return { ...argument, reach: argument.reach.map((reach) => String(BigInt(reach) + more)) };
    }
    case 'block-size':
      return argument;
  }
}
