/** Records proofs for certificates during the check of a kernel, if certificates are requested. */
import type { Access } from '../../analysis/values/access.ts';
import type { Certificate, CertificateProof, CertifiedPlace, CertifiedTier } from '../../certificate/certificate.ts';
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import { placeOf } from '../context/names.ts';
import type { TierContext } from '../obligations/instance.ts';
import { type Obligation, questionOf } from '../obligations/obligation.ts';
import type { CheapResult } from '../deciding/cheap-tiers.ts';
import type { SolverQuery } from '../deciding/solver-tier.ts';
import { LinearEncoding } from '../deciding/linear-encoding.ts';
import type { Term } from '../../term/term.ts';
import { clauseProof, solverProof } from './linear-certificate.ts';
import { affineProof } from './affine-certificate.ts';

/** Limit on failed attempts of the linear procedure per kernel; after that, no further ones are made. */
const maxFailed = 20;
/** Solver units of one attempt. */
const unitsPerTrial = 20_000;

export class CertificateLog {
  private readonly kept: Certificate[] = [];
  private readonly solved = new Map<SolverQuery, CertificateProof>();
  /** Proofs found by the attempts, by question; null if the attempt failed. */
  private readonly tried = new Map<string, CertificateProof | null>();
  private failed = 0;
  private readonly kernel: Kernel;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  /** The certificates recorded so far. */
  get certificates(): readonly Certificate[] {
    return this.kept;
  }

  /** Records an obligation that a tier without a solver has proved. */
  addCheap(context: TierContext, obligation: Obligation, { by, assumes }: Extract<CheapResult, { kind: 'proved' }>): void {
    const question = `${by}|${questionOf(obligation)}`;
    let proof = this.tried.get(question);
    if (proof === undefined) {
      proof = (by === 'digits' ? affineProof(context, obligation) : null) ?? this.triedProof(context, obligation, assumes);
      this.tried.set(question, proof);
    }
    const tier = by === 'enumeration' ? by : proof?.claim.kind === 'apart' ? 'affine' : 'coordinates';
    this.addRace(obligation, tier, proof);
  }

  /** Records that two accesses never overlap. */
  addRace({ scope, first, second }: Obligation, tier: CertifiedTier, proof: CertificateProof | null): void {
    const places = [first, second].map(({ access }) => this.place(access.instruction));
    this.kept.push({ subject: { kind: 'race', scope, places }, tier, proof });
  }

  /** Records that threads do not diverge before a barrier, or before an instruction that a warp executes together. */
  addDivergence(instruction: Instruction, tier: CertifiedTier, proof: CertificateProof | null): void {
    const places = [this.place(instruction)];
    this.kept.push({ subject: { kind: 'divergence', scope: 'block', places }, tier, proof });
  }

  /** Records that a solver has proved two accesses not to overlap. */
  addSolvedRace(obligation: Obligation, tier: 'linear' | 'bit-vectors', asked: SolverQuery | undefined): void {
    this.addRace(obligation, tier, asked ? this.proofOf(asked) : null);
  }

  /** Records that a solver has proved an access unreachable, so that it overlaps with no other. */
  addExcluded({ instruction }: Access, asked: SolverQuery | undefined): void {
    const places = [this.place(instruction)];
    this.kept.push({ subject: { kind: 'race', scope: 'grid', places }, tier: 'linear', proof: asked ? this.proofOf(asked) : null });
  }

  /** Like {@link addDivergence}, by a solver. */
  addSolvedDivergence(instruction: Instruction, tier: 'linear' | 'bit-vectors', asked: SolverQuery | undefined): void {
    this.addDivergence(instruction, tier, asked ? this.proofOf(asked) : null);
  }

  /**
   * A proof by the linear procedure of a result of enumeration; null if the procedure fails or needs further
   * assumptions.
   */
  private triedProof(
    { symbolic, instances, dimensions }: TierContext,
    obligation: Obligation,
    assumed: readonly Term[],
  ): CertificateProof | null {
    if (this.failed >= maxFailed) return null;
    const { sharedLoad } = instances;
    const encoding = new LinearEncoding(symbolic, instances, dimensions);
    const question = encoding.overlap(obligation);
    const isSaid = encoding.takeAssumptions().every((term) => assumed.includes(term)) && instances.sharedLoad === sharedLoad;
    // Restores the assumptions of the check, which the encoding may have changed.
    instances.sharedLoad = sharedLoad;
    const scripts = encoding.takePremises().map(({ text }) => text);
    const proof = isSaid ? clauseProof({ scripts, question, by: 'built-in', units: unitsPerTrial }) : null;
    if (!proof) this.failed++;
    return proof;
  }

  /** The proof of a question, cached because unrolled code asks the same questions repeatedly. */
  private proofOf(asked: SolverQuery): CertificateProof {
    let proof = this.solved.get(asked);
    if (!proof) this.solved.set(asked, (proof = solverProof(asked)));
    return proof;
  }

  private place(instruction: Instruction): CertifiedPlace {
    const { file, line } = placeOf(this.kernel, instruction);
    return { instruction: instruction.id, file, line };
  }
}
