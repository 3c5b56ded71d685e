/** The fact that would decide the open obligations of a check, and whether the check succeeds if it is stated. */
import { arePassedTogether } from '../context/aliasing.ts';
import { fieldAt, givenScalar } from '../context/scalars.ts';
import { baseName, describeTerm } from '../context/names.ts';
import type { KernelContext } from '../context/facts.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Unmodelled } from '../../interpreter/core/run-result.ts';
import type { OpenPair } from '../obligations/obligation.ts';
import type { Steps } from '../../base/coroutine.ts';
import { parseAssumption } from '../../assumptions/assumption-parser.ts';
import type { Base } from '../../analysis/values/memory-base.ts';
import { threadLimit } from '../../analysis/values/launch-bounds.ts';
import type { Term } from '../../term/term.ts';
import { isWritten } from '../context/kernel-facts.ts';
import { fieldName, isFloat, parameterName, scalarText } from '../../launch/parameter-field.ts';
import { budgetOfTrial } from '../request/check-budget.ts';
import type { CheckRequest, CheckResult } from '../request/check-request.ts';
import { chooseScalars } from '../representative/scalar-choice.ts';
import type { DecidingFact, OpenLaunch, Statement } from '../../verdict/deciding-fact.ts';
import type { DivergenceResult, RaceResult } from '../../verdict/finding.ts';

/**
 * The fact that would decide whether a pair of accesses races.
 * @param ordered operations that may order the two accesses, although a run shows a race
 */
export function factOfPair(context: KernelContext, { pair }: OpenPair, ordered: readonly Unmodelled[]): DecidingFact {
  if (ordered.length > 0) return { question: { kind: 'order', by: ordered } };
  const sides = pair.obligations.flatMap(({ first, second }) => [first, second]);
  const bases = sides.map(({ target }) => target.base);
  if (pair.obligations.some(({ resolved }) => !resolved)) return factOfPointers(context, bases);
  const offsets = sides.map(({ target }) => target.offset);
  const arrays = indexArrays(context, offsets);
  if (arrays.length > 0) return factOfElements(context, arrays);
  const unfollowed = offsets.find((offset) => offset.leaves.some(({ atom }) => atom?.kind === 'havoc'));
  if (unfollowed) return { question: { kind: 'index', index: describeTerm(context, unfollowed) } };
  const terms = [...offsets, ...sides.flatMap(({ conditions }) => conditions.map(({ term }) => term))];
  const open = openLaunch(context, terms);
  if (!open) return { question: { kind: 'overlap' } };
  return { question: { kind: 'launch', launch: open.launch }, ...open.stated };
}

/** The fact that would decide whether the threads agree on a condition. */
export function factOfCondition(context: KernelContext, condition: Term): DecidingFact {
  const open = openLaunch(context, [condition]);
  const question = { kind: 'condition', condition: describeTerm(context, condition) } as const;
  return open ? { question: { ...question, launch: open.launch }, ...open.stated } : { question };
}

function factOfPointers(context: KernelContext, bases: readonly Base[]): DecidingFact {
  if (bases.some(({ kind }) => kind === 'unknown')) return { question: { kind: 'pointer' } };
  const { aliases } = context.request.launch;
  const order = (base: Base): number => (base.kind === 'parameter' ? base.index : Infinity);
  const distinct = [...new Map(bases.map((base) => [base.key, base])).values()].sort((a, b) => order(a) - order(b));
  const pairs = distinct.flatMap((a, at) =>
    distinct.slice(at + 1).flatMap((b) => (arePassedTogether(aliases, a, b) ? [[a, b] as const] : [])),
  );
  const [first] = pairs;
  if (!first) return { question: { kind: 'distance' } };
  return {
    question: { kind: 'apart', arrays: first.map((base) => baseName(context, base)) },
    ...statement(context, {
      assume: pairs.map(([a, b]) => `apart(${nameOf(context, a)}, ${nameOf(context, b)})`),
      scalars: new Map(),
    }),
  };
}

function factOfElements(context: KernelContext, arrays: readonly Base[]): DecidingFact {
  // Statements on elements are invalid for an array that the kernel writes.
  const written = arrays.filter((base) => isWritten(context, base));
  if (written.length > 0) return { question: { kind: 'written', arrays: written.map((base) => baseName(context, base)) } };
  const open = arrays.filter((base) => nameOf(context, base) !== undefined);
  return {
    question: { kind: 'distinct', arrays: arrays.map((base) => baseName(context, base)) },
    ...statement(context, { assume: open.map((base) => `distinct(${nameOf(context, base)})`), scalars: new Map() }),
  };
}

/** The arrays from which values in the offsets are loaded, except those already stated to have distinct elements. */
function indexArrays({ kernel, accesses, elements }: KernelContext, offsets: readonly Term[]): Base[] {
  const arrays = new Map<string, Base>();
  for (const { atom } of offsets.flatMap(({ leaves }) => leaves)) {
    if (atom?.kind !== 'havoc' || atom.value < 0) continue;
    const { definition } = kernel.values[atom.value]!;
    // If the elements are already stated to be distinct, another fact is missing.
    if (elements.get(atom.value)?.distinct) continue;
    if (definition.kind !== 'instruction' || definition.instruction.operation.effect.kind !== 'load') continue;
    const source = accesses.find(({ instruction }) => instruction === definition.instruction);
    const base = source?.targets[0]?.base;
    if (base) arrays.set(base.key, base);
  }
  return [...arrays.values()];
}

/** The unspecified dimensions and scalars that terms depend on, with a statement of values; null if all are given. */
function openLaunch(
  context: KernelContext,
  terms: readonly Term[],
): { readonly launch: OpenLaunch; readonly stated: Pick<DecidingFact, 'statement' | 'change'> } | null {
  const { dimensions, request, kernel } = context;
  const block = dimensions.block.includes(null) ? usualBlock(context) : undefined;
  const grid = dimensions.grid.includes(null) ? usualGrid(context) : undefined;
  const atoms = terms.flatMap(({ leaves }) => leaves.flatMap(({ atom }) => (atom ? [atom] : [])));
  const fields = atoms.flatMap((atom) => {
    if (atom.kind !== 'parameter') return [];
    const field = fieldAt(context, atom.index, atom.offset);
    const isOpen = givenScalar(request.launch, atom.index, atom.offset, atom.bytes) === undefined;
    return field && !field.isPointer && isOpen && !isFloat(kernel, request.parameters, field) ? [field] : [];
  });
  const open = [...new Map(fields.map((field) => [`${field.index}.${field.offset}`, field])).values()];
  if (!block && !grid && open.length === 0) return null;
  // Sizes are often multiplied by each other, and the product should fit in 32 bits.
  const values = chooseScalars(context, block, grid, open.length > 2 ? 1n << BigInt(Math.floor(30 / open.length)) : undefined);
  const whole = open.filter(({ index, bytes, offset }) => offset === 0 && kernel.parameters[index]?.bytes === bytes);
  return {
    launch: {
      dimensions: [...(block ? (['block'] as const) : []), ...(grid ? (['grid'] as const) : [])],
      scalars: open.map((field) => fieldName(request.parameters, field, kernel)),
    },
    stated: statement(context, {
      ...(block && { block }),
      ...(grid && { grid }),
      assume: [],
      scalars: new Map(values && whole.length === open.length ? whole.map((field) => [field.index, values(field)]) : []),
    }),
  };
}

/** A block with usual extents along the unspecified axes. */
function usualBlock({ dimensions, kernel }: KernelContext): Dim3 {
  const open = dimensions.block.filter((size) => size === null).length;
  const limit = threadLimit(kernel);
  for (let size = open <= 1 ? 256 : open === 2 ? 16 : 8; size >= 1; size >>= 1) {
    const [x, y, z] = dimensions.block.map((along) => along ?? size);
    if (x! * y! * z! <= Math.min(limit, 512)) return [x!, y!, z!];
  }
  return [1, 1, 1];
}

function usualGrid({ dimensions }: KernelContext): Dim3 {
  const open = dimensions.grid.filter((size) => size === null).length;
  const [x, y, z] = dimensions.grid.map((along) => along ?? (open <= 1 ? 64 : 8));
  return [x!, y!, z!];
}

/** The name of an array parameter in the language of assumptions; undefined if it has none. */
function nameOf(context: KernelContext, base: Base): string | undefined {
  if (base.kind !== 'parameter') return undefined;
  const name = baseName(context, base);
  return name.includes('+') ? undefined : name;
}

/** A statement with its text; empty if nothing is to be stated. */
function statement({ request, fields, kernel }: KernelContext, change: Statement): Pick<DecidingFact, 'statement' | 'change'> {
  const { block, grid, assume, scalars } = change;
  if (!block && !grid && assume.length === 0 && scalars.size === 0) return {};
  const values = [...scalars].map(([index, value]) => {
    const field = fields.find((candidate) => candidate.index === index)!;
    return `${parameterName(request.parameters, index)}=${scalarText(kernel, request.parameters, field, value)}`;
  });
  const extents = (dim: Dim3): string => dim.join(',').replace(/(,1){1,2}$/, '');
  const annotation = [
    ...(block ? [`block=${extents(block)}`] : []),
    ...(grid ? [`grid=${extents(grid)}`] : []),
    ...assume.map((text) => `assume(${text})`),
    ...values.map((text) => `arg(${text})`),
  ];
  const options = [
    ...(block ? [`--block ${extents(block)}`] : []),
    ...(grid ? [`--grid ${extents(grid)}`] : []),
    ...assume.map((text) => `--assume '${text}'`),
    ...values.map((text) => `--arg ${text}`),
  ];
  const hasSource = request.parameters.length > 0;
  return { statement: hasSource ? `// selvage: ${annotation.join(' ')}` : options.join(' '), change };
}

/**
 * Repeats a check with all facts stated that would decide its open findings, and records the result.
 * @param check a check that does not try further facts
 */
export function* tryStatements(
  context: KernelContext,
  result: CheckResult,
  check: (request: CheckRequest) => Steps<CheckResult>,
): Steps<CheckResult> {
  const { request } = context;
  // Only undecided parts are tried; a result with a confirmed finding is decided.
  const undecided = [result.race, result.divergence].filter(({ verdict }) => /^(possible|unknown)$/.test(verdict));
  const facts = undecided.flatMap(({ wouldDecide, findings }) =>
    [wouldDecide, ...findings.map((finding) => finding.wouldDecide)].flatMap((fact) => fact?.change ?? []),
  );
  const change = facts.length > 0 ? together(facts) : null;
  const asked = change && requestWith(request, change);
  if (!change || !asked || request.budget.expired()) return noted(result, () => ({}));
  const tried = yield* check(asked);
  const { statement: text } = statement(context, change);
  return noted(result, (of, array) =>
    undecided.includes(result[of]) ? { ...(text !== undefined && { statement: text }), tried: outcomeOf(tried, of, array) } : {},
  );
}

function together(changes: readonly Statement[]): Statement {
  const block = changes.find((change) => change.block)?.block;
  const grid = changes.find((change) => change.grid)?.grid;
  return {
    ...(block && { block }),
    ...(grid && { grid }),
    assume: [...new Set(changes.flatMap(({ assume }) => assume))],
    scalars: new Map(changes.flatMap(({ scalars }) => [...scalars])),
  };
}

function requestWith(request: CheckRequest, { block, grid, assume, scalars }: Statement): CheckRequest | null {
  const { launch, budget } = request;
  const stated = assume.flatMap((text) => {
    const parsed = parseAssumption(text);
    return 'expression' in parsed ? [{ expression: parsed.expression, text }] : [];
  });
  if (stated.length < assume.length) return null;
  return {
    ...request,
    launch: {
      ...launch,
      block: block ?? launch.block,
      grid: grid ?? launch.grid,
      scalars: new Map([...scalars, ...launch.scalars]),
    },
    assumptions: [...request.assumptions, ...stated],
    budget: budgetOfTrial(budget),
  };
}

type Outcome = NonNullable<DecidingFact['tried']>;

function outcomeOf(tried: CheckResult, of: 'race' | 'divergence', array: string | undefined): Outcome {
  const { verdict } = tried[of];
  if (tried.contradiction !== undefined) return 'open';
  if (verdict === 'proved') return 'proved';
  if (of === 'divergence' || array === undefined || verdict === 'unknown') return 'open';
  // Identical findings are counted, not listed. So a finding is certain to be gone only if none on its array remains.
  return tried.race.findings.every((finding) => finding.array !== array) ? 'settled' : 'open';
}

/** The results with the outcome of the repeated check added to each deciding fact. */
function noted(
  { race, divergence, ...rest }: CheckResult,
  outcome: (of: 'race' | 'divergence', array?: string) => Partial<DecidingFact>,
): CheckResult {
  const fact = (
    wouldDecide: DecidingFact | undefined,
    of: 'race' | 'divergence',
    array?: string,
  ): { readonly wouldDecide?: DecidingFact } => {
    if (!wouldDecide) return {};
    return { wouldDecide: wouldDecide.change ? { ...wouldDecide, ...outcome(of, array) } : wouldDecide };
  };
  const racing: RaceResult = {
    ...race,
    ...fact(race.wouldDecide, 'race'),
    findings: race.findings.map((finding) => ({ ...finding, ...fact(finding.wouldDecide, 'race', finding.array) })),
  };
  const diverging: DivergenceResult = {
    ...divergence,
    ...fact(divergence.wouldDecide, 'divergence'),
    findings: divergence.findings.map((finding) => ({ ...finding, ...fact(finding.wouldDecide, 'divergence') })),
  };
  return { ...rest, race: racing, divergence: diverging };
}
