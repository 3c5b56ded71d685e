/** The assumptions that a check makes. Each proof lists them. */
import { type Term, isFactor24 } from '../../term/term.ts';
import type { Base } from '../../analysis/values/memory-base.ts';
import type { Location } from '../../source/location.ts';
import { parameterName, scalarText } from '../../launch/parameter-field.ts';
import { tuple, describeTerm, placeOf, baseName } from './names.ts';
import type { KernelAndLaunch, SymbolicFacts, OrderingFacts } from './facts.ts';
import type { Assumption } from '../../verdict/finding.ts';

/** The assumption that indices do not leave the object of their base pointer. */
export const inBounds = 'every index stays in its array';

/** Collects the assumptions that a check has used so far, in the words of the report. */
export class AssumedFacts {
  private readonly facts = new Map<string, Assumption>();
  private readonly given: readonly Assumption[];
  /** Whether a proof depends on assumptions about contents of memory: bounds of rows and column indices. */
  usesContents = false;
  private readonly of: KernelAndLaunch & SymbolicFacts & Pick<OrderingFacts, 'tickets'>;

  /** Facts that the launch, the user and the code state about a kernel. */
  constructor(of: KernelAndLaunch & SymbolicFacts & Pick<OrderingFacts, 'tickets'>) {
    const { request, kernel, dimensions, fields, symbolic } = of;
    const { launch, parameters } = request;
    this.of = of;
    const given: Assumption[] = [];
    for (const [name, whole, resolved] of [
      ['blockDim', launch.block, dimensions.block],
      ['gridDim', launch.grid, dimensions.grid],
    ] as const) {
      if (whole) given.push({ kind: 'launch', text: `${name} = ${tuple(whole)}` });
      else
        resolved.forEach((size, axis) => {
          if (size !== null) given.push({ kind: 'launch', text: `${name}.${'xyz'[axis]} = ${size}` });
        });
    }
    for (const [index, value] of launch.scalars) {
      const field = fields.find((candidate) => candidate.index === index);
      if (field && !field.isPointer)
        given.push({
          kind: 'launch',
          text: `${parameterName(parameters, index)} = ${scalarText(request.kernel, parameters, field, value)}`,
        });
    }
    for (const { text, location, isOfLaunch } of request.assumptions)
      given.push({ kind: isOfLaunch ? 'launch' : 'user', text, ...(location && { location }) });
    this.given = given;
    if (kernel.assumesLocalBounds) this.add('in-bounds', inBounds);
    for (const { instruction, condition } of symbolic.stated) this.add('user', describeTerm(of, condition), placeOf(kernel, instruction));
  }

  add(kind: Assumption['kind'], text: string, location?: Location): void {
    this.facts.set(`${kind}|${text}`, { kind, text, ...(location && { location }) });
  }

  /** Records memory that is 0 at first. @param isChanged whether the kernel leaves another value there */
  addZero(base: Base, isChanged: boolean): void {
    const text = `${baseName(this.of, base)} is 0 when the kernel starts`;
    const changes = isChanged && base.kind === 'parameter' && base.offset === 0 ? { changes: base.index } : {};
    this.facts.set(`initial|${text}`, { kind: 'initial', text, ...changes });
  }

  /** Whether a proof depends on more than the launch. Then vacuity has to be excluded. */
  get areRestrictive(): boolean {
    const all = [...this.given, ...this.facts.values()];
    return this.usesContents || all.some(({ kind }) => kind === 'user' || kind === 'no-wrap');
  }

  /** Records assumptions about contents of memory: bounds of rows and column indices. */
  addContents(texts: Iterable<string>): void {
    this.usesContents = true;
    for (const text of texts) this.add('contents', text);
  }

  /** Records a counter that is assumed not to wrap around. */
  addCounter(base: Base, bytes: number): void {
    this.add('no-wrap', `the counter ${baseName(this.of, base)} fits in ${8 * bytes} bits`);
  }

  /** Records terms whose arithmetic is assumed not to wrap around. */
  addNoWrap(terms: readonly Term[]): void {
    for (const term of terms) {
      const ticket = term.atom?.kind === 'havoc' || term.atom?.kind === 'phi' ? this.of.tickets.get(term.atom.value) : undefined;
      if (ticket) this.addCounter(ticket.base, term.width / 8);
      else this.add('no-wrap', `${describeTerm(this.of, term)} fits in ${isFactor24(term) ? 24 : term.width} bits`);
    }
  }

  list(): readonly Assumption[] {
    return [...this.given, ...this.facts.values()];
  }
}
