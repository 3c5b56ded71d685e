/** Keeps what is proved while a kernel is checked, for certificates. Nothing is kept unless somebody asked for them. */
import type { Certificate, CertificateProof, CertifiedPlace, CertifiedTier } from '../../certificate/certificate.ts';
import type { Instruction, Kernel } from '../../ir/form/kernel.ts';
import { placeOf } from '../context/names.ts';
import type { TierContext } from '../obligations/instance.ts';
import type { Obligation } from '../obligations/obligation.ts';
import type { CheapResult } from '../deciding/cheap-tiers.ts';
import type { Asked } from '../deciding/solver-tier.ts';
import { solverProof } from './linear-certificate.ts';
import { affineProof } from './affine-certificate.ts';

export class CertificateLog {
  private readonly kept: Certificate[] = [];
  private readonly solved = new Map<Asked, CertificateProof>();
  private readonly kernel: Kernel;

  constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  /** What is proved so far. */
  get certificates(): readonly Certificate[] {
    return this.kept;
  }

  /** An obligation that a tier without a solver has proved. */
  addCheap(context: TierContext, obligation: Obligation, { by }: Extract<CheapResult, { kind: 'proved' }>): void {
    if (by === 'coordinates' || by === 'enumeration') this.addRace(obligation, by, null);
    else this.addRace(obligation, 'affine', affineProof(context, obligation, by));
  }

  /** Two accesses that never meet. */
  addRace({ scope, first, second }: Obligation, tier: CertifiedTier, proof: CertificateProof | null): void {
    const places = [first, second].map(({ access }) => this.place(access.instruction));
    this.kept.push({ subject: { kind: 'race', scope, places }, tier, proof });
  }

  /** Threads that never part before a barrier, or a warp that executes something together. */
  addDivergence(instruction: Instruction, tier: CertifiedTier, proof: CertificateProof | null): void {
    const places = [this.place(instruction)];
    this.kept.push({ subject: { kind: 'divergence', scope: 'block', places }, tier, proof });
  }

  /** Two accesses that a solver has shown not to meet. */
  addSolvedRace(obligation: Obligation, tier: 'linear' | 'bit-vectors', asked: Asked | undefined): void {
    this.addRace(obligation, tier, asked ? this.proofOf(asked) : null);
  }

  /** As {@link addDivergence}, by a solver. */
  addSolvedDivergence(instruction: Instruction, tier: 'linear' | 'bit-vectors', asked: Asked | undefined): void {
    this.addDivergence(instruction, tier, asked ? this.proofOf(asked) : null);
  }

  /** Code that is written out many times asks the same many times. */
  private proofOf(asked: Asked): CertificateProof {
    let proof = this.solved.get(asked);
    if (!proof) this.solved.set(asked, (proof = solverProof(asked)));
    return proof;
  }

  private place(instruction: Instruction): CertifiedPlace {
    const { file, line } = placeOf(this.kernel, instruction);
    return { instruction: instruction.id, file, line };
  }
}
