/**
 * The solver tiers of one kernel. Each tier has a session for pairs within a block and one for pairs between blocks.
 */
import type { KernelAndLaunch, SymbolicFacts, ElementFacts, OrderingFacts } from '../context/facts.ts';
import { namedTerm } from '../context/named-term.ts';
import { givenScalar, integerField, namedField } from '../context/scalars.ts';
import { type Deciding, type ObligationResult, SolverTier } from './solver-tier.ts';
import type { UniformityResult } from '../../analysis/values/uniformity.ts';
import type { Steps } from '../../base/coroutine.ts';
import { bitVectorFactor, maxExhausted } from '../../solver/limits.ts';
import { isLaunchName } from '../../assumptions/expression.ts';
import { evaluateCondition } from '../../assumptions/evaluate.ts';
import { Answers } from '../../solver/answers.ts';
import type { Term } from '../../term/term.ts';
import { type BitVocabulary, encodeBitComparison } from './bit-premises.ts';
import { BitVectorEncoding } from './bit-vector-encoding.ts';
import { Instances, type PairScope } from '../obligations/instance.ts';
import { LinearEncoding } from './linear-encoding.ts';
import type { Obligation } from '../obligations/obligation.ts';
import type { ContentsFact } from '../premises/contents-fact.ts';
import {
  type Vocabulary,
  conditionsOf,
  encodeComparison,
  encodeCondition,
  encodeExpression,
  isUnsignedType,
  multipleOf,
  namedScalar,
  powerOfTwo,
} from '../premises/premises.ts';

interface OpenTier {
  readonly tier: SolverTier;
  readonly encoding: LinearEncoding;
}

interface OpenBitTier {
  readonly encoding: BitVectorEncoding;
  readonly decide: (formula: string) => Steps<ObligationResult>;
  /**
   * Decides whether the accesses of an obligation may overlap. If only arithmetic that wraps around makes them overlap,
   * decides it again under the assumption that values used as indices elsewhere do not wrap around.
   */
  readonly decideOverlap: (obligation: Obligation) => Steps<ObligationResult>;
}

/** The facts from which queries are built. */
type SolverFacts = KernelAndLaunch & SymbolicFacts & ElementFacts & Pick<OrderingFacts, 'tickets'>;

export class SolverTiers {
  private readonly open = new Map<PairScope, OpenTier>();
  private readonly openBits = new Map<PairScope, OpenBitTier & { readonly tier: SolverTier }>();
  /** Queries over bit-vectors that the solver gave up on. */
  private exhausted = 0;
  private readonly context: SolverFacts;
  private readonly answers: Answers;
  /** Assumptions about loaded values, by value id. */
  readonly contents: ReadonlyMap<number, ContentsFact>;

  /** @param contents assumptions about loaded values, by value id */
  constructor(context: SolverFacts, contents: ReadonlyMap<number, ContentsFact>) {
    this.context = context;
    this.contents = contents;
    this.answers = context.request.answers ?? new Answers();
  }

  /** The session of a scope over linear integers, started on first use. */
  linear(scope: PairScope, uniformity: UniformityResult): OpenTier {
    let entry = this.open.get(scope);
    if (!entry) {
      const { request, symbolic, dimensions, tickets, elements, rereads } = this.context;
      const instances = new Instances(symbolic, uniformity, scope);
      const stated = divisors(this.context);
      const values = { tickets, elements, rereads, contents: this.contents };
      const encoding = new LinearEncoding(symbolic, instances, dimensions, values, stated);
      const vocabulary = vocabularyOf(this.context, encoding);
      encoding.rangeOf = (fact, name) =>
        fact.ranges.flatMap(({ low, high }) => {
          const [least, most] = [low, high].map((bound) => encodeExpression(bound, vocabulary, request.parameters));
          return [...(least ? [`(<= ${least} ${name})`] : []), ...(most ? [`(<= ${name} ${most})`] : [])];
        });
      const premises = premisesOf(this.context, encoding, vocabulary);
      entry = {
        encoding,
        tier: new SolverTier(encoding, premises, this.deciding(request.budget.solverUnits)),
      };
      this.open.set(scope, entry);
    }
    return entry;
  }

  /** The session of a scope over bit-vectors, started on first use. */
  bits(scope: PairScope, uniformity: UniformityResult): OpenBitTier {
    let entry = this.openBits.get(scope);
    if (!entry) {
      const { request, symbolic, dimensions } = this.context;
      const instances = new Instances(symbolic, uniformity, scope);
      const encoding = new BitVectorEncoding(symbolic, instances, dimensions, powersOfTwo(this.context));
      const vocabulary = bitVocabularyOf(this.context, encoding);
      const premises = conditionsOf(request.assumptions).flatMap(
        (condition) => encodeCondition(condition, (one) => encodeBitComparison(one, vocabulary)) ?? [],
      );
      encoding.takeAssumptions();
      const tier = new SolverTier(encoding, premises, this.deciding(bitVectorFactor * request.budget.solverUnits));
      const decide = (formula: string): Steps<ObligationResult> => this.decideBits(tier, formula, encoding.modes);
      const indices = indicesOf(this.context);
      const decideOverlap = function* (obligation: Obligation): Steps<ObligationResult> {
        const exact = yield* decide(encoding.overlap(obligation));
        const fits = exact.kind === 'proved' ? [] : encoding.fit(obligation, indices);
        if (fits.length === 0) return exact;
        const usual = yield* decide(`(and ${[encoding.overlap(obligation), ...fits].join(' ')})`);
        return usual.kind === 'budget' ? exact : usual;
      };
      entry = { encoding, tier, decide, decideOverlap };
      this.openBits.set(scope, entry);
    }
    return entry;
  }

  private deciding(units: number): Deciding {
    const { solver, budget, certificates } = this.context.request;
    return { solver, answers: this.answers, units, effort: budget.effort, keeps: certificates };
  }

  private *decideBits(tier: SolverTier, formula: string, modes: readonly string[]): Steps<ObligationResult> {
    if (this.exhausted >= maxExhausted) return { kind: 'budget', reason: { kind: 'solver-gave-up-often' } };
    const result = yield* tier.decide(formula, modes);
    if (result.kind === 'budget') this.exhausted++;
    return result;
  }

  /** Discards the encodings, since values that were private to a thread may be uniform now. */
  forget(): void {
    this.open.clear();
    this.openBits.clear();
  }
}

/** SMT-LIB names of the unknowns that names in assumptions denote. */
function vocabularyOf(context: KernelAndLaunch & SymbolicFacts, encoding: LinearEncoding): Vocabulary {
  const { request, symbolic, dimensions } = context;
  const { store, view } = symbolic;
  const reading = { side: 1 as const, rounds: [] };
  return {
    parameter: (named) => {
      const field = integerField(context, named);
      if (!field) return null;
      const { index, offset, type } = named;
      const given = givenScalar(request.launch, index, offset, field.bytes);
      if (given === undefined && !namedField(context, named)) return encoding.unread(field, isUnsignedType(type));
      const width = field.bytes * 8;
      const term =
        given !== undefined ? store.constant(width, given) : store.atom(width, { kind: 'parameter', index, offset, bytes: field.bytes });
      return encoding.linear(isUnsignedType(type) ? view.unsigned(term) : view.signed(term), reading);
    },
    dimension: (name, axis) => {
      const size = (name === 'blockDim' ? dimensions.block : dimensions.grid)[axis];
      if (size !== null) return String(size);
      const kind = name === 'blockDim' ? 'block-size' : 'grid-size';
      return encoding.linear(view.unsigned(store.atom(32, { kind, axis })), reading);
    },
    product: (a, b) => encoding.product(a, b),
  };
}

/** Bit-vectors of the unknowns that names in assumptions denote. */
function bitVocabularyOf(context: KernelAndLaunch & SymbolicFacts, encoding: BitVectorEncoding): BitVocabulary {
  const { request } = context;
  const { view } = context.symbolic;
  const reading = { side: 1 as const, rounds: [] };
  return (name) => {
    const found = namedTerm(context, name);
    if (!found) return null;
    const { term, isSigned } = found;
    const named = name.kind === 'parameter' ? namedScalar(request.parameters, name.path) : null;
    if (named && term.atom && !namedField(context, named)) return encoding.unread(integerField(context, named)!, !isSigned);
    return encoding.linear(isSigned ? view.signed(term) : view.unsigned(term), reading);
  };
}

/**
 * Whether the atoms of a model satisfy the user's statements, by exact evaluation. Statements that contain none of
 * these atoms can be satisfied independently, as the question contains all statements on its atoms.
 */
export function meetsStated(context: KernelAndLaunch & SymbolicFacts, patternOf: (leaf: Term) => bigint | undefined): boolean {
  return conditionsOf(context.request.assumptions).every((condition) => {
    let isOfModel = false;
    const holds = evaluateCondition(condition, (name) => {
      const found = namedTerm(context, name);
      const pattern = found?.term.operator === 'constant' ? found.term.value : found ? patternOf(found.term) : undefined;
      if (!found || pattern === undefined) return undefined;
      isOfModel ||= found.term.operator !== 'constant';
      return found.isSigned ? BigInt.asIntN(found.term.width, pattern) : pattern;
    });
    return holds ?? !isOfModel;
  });
}

/** Terms that are addresses of accesses, whose arithmetic is assumed not to wrap around. */
function indicesOf({ accesses, symbolic }: SymbolicFacts): ReadonlySet<Term> {
  const offsets = accesses.flatMap(({ targets }) => targets.map(({ offset }) => offset));
  return new Set(offsets.flatMap((offset) => symbolic.view.offset(offset).assumes));
}

/** Stated divisors of atoms. */
function divisors(context: KernelAndLaunch & SymbolicFacts): ReadonlyMap<Term, bigint> {
  const known = new Map<Term, bigint>();
  for (const condition of conditionsOf(context.request.assumptions)) {
    const { expression, divisor } = multipleOf(condition) ?? {};
    if (!expression || !isLaunchName(expression)) continue;
    const term = namedTerm(context, expression)?.term;
    if (term?.atom) known.set(term, divisor!);
  }
  return known;
}

/** Recognises the atoms that the user or the code states to be powers of two, or zero. */
function powersOfTwo(context: KernelAndLaunch & SymbolicFacts): (leaf: Term) => boolean {
  const { request, kernel, symbolic } = context;
  const known = new Set<Term>();
  for (const condition of conditionsOf(request.assumptions)) {
    const name = powerOfTwo(condition);
    const term = name && isLaunchName(name) ? namedTerm(context, name)?.term : null;
    if (term?.atom) known.add(term);
  }
  for (const { instruction, condition } of symbolic.stated) {
    if (!kernel.blocks[0]!.instructions.includes(instruction)) continue;
    for (const part of condition.operator === 'all' ? condition.arguments : [condition]) {
      const mask = part.operator === 'equal' ? part.arguments.find(({ operator }) => operator === 'and') : undefined;
      const isZero = part.arguments.some(({ operator, value }) => operator === 'constant' && value === 0n);
      for (const number of isZero ? (mask?.arguments ?? []) : [])
        if (number.atom && mask!.arguments.includes(symbolic.store.sum(number.width, -1n, [[number, 1n]]))) known.add(number);
    }
  }
  return (leaf) => known.has(leaf);
}

/** The stated conditions as SMT-LIB formulas. */
function premisesOf({ request }: KernelAndLaunch, encoding: LinearEncoding, vocabulary: Vocabulary): string[] {
  const texts = conditionsOf(request.assumptions).flatMap(
    (condition) => encodeCondition(condition, (one) => encodeComparison(one, vocabulary, request.parameters)) ?? [],
  );
  encoding.takeAssumptions();
  return texts;
}
