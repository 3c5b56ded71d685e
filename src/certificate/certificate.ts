/**
 * The output of `check --certificates DIR`: for each proved obligation its claim, and the refutation of its negation.
 * `docs/certificates.md` defines the fields. Integers are decimal strings, since JSON has no large ones.
 */

export const certificateFormat = 'selvage-certificates';
export const certificateVersion = 1;

/** The certificates of all proved obligations of one kernel. */
export interface CertificateFile {
  readonly format: typeof certificateFormat;
  readonly version: typeof certificateVersion;
  /** Name of the kernel in reports. */
  readonly kernel: string;
  readonly symbol: string;
  readonly launches: readonly CertifiedLaunch[];
}

/** The proved obligations of a kernel under one launch; null: any size. */
interface CertifiedLaunch {
  readonly block: readonly (number | null)[];
  readonly grid: readonly (number | null)[];
  readonly obligations: readonly SealedCertificate[];
}

/** Which tier proved an obligation. */
export type CertifiedTier = 'affine' | 'coordinates' | 'enumeration' | 'order' | 'executions' | 'linear' | 'bit-vectors';

/** One proved obligation. */
export interface Certificate {
  readonly subject: CertificateSubject;
  readonly tier: CertifiedTier;
  /** The proof; null if the tier produces no evidence that can be checked again. */
  readonly proof: CertificateProof | null;
}

/** The subject of an obligation: two accesses that must not overlap, or a branch that must be uniform. */
interface CertificateSubject {
  readonly kind: 'race' | 'divergence';
  readonly scope: 'block' | 'grid';
  readonly places: readonly CertifiedPlace[];
}

/** An instruction by its index in the kernel, and its location. */
export interface CertifiedPlace {
  readonly instruction: number;
  readonly file: string;
  readonly line: number;
}

/** With the seal of the other fields: `sealOf` in `checker.ts`. */
export type SealedCertificate = Certificate & { readonly seal: string };

export interface CertificateProof {
  readonly claim: CertificateClaim;
  readonly argument: CertificateArgument;
}

type CertificateClaim = AffineClaim | ClauseClaim | ScriptClaim;
type CertificateArgument = AffineArgument | ClauseArgument | ScriptArgument;

/**
 * Claim: no integers within the bounds of all terms satisfy -behind <= constant + sum of factor * term <= ahead, with
 * different values for the names of at least one pair in `differ`; `differ` is null if that is not required.
 */
export interface AffineClaim {
  readonly kind: 'apart';
  readonly constant: string;
  readonly terms: readonly AffineTerm[];
  readonly behind: string;
  readonly ahead: string;
  readonly differ: readonly (readonly [string, string])[] | null;
  /** Terms that are products of two variables. */
  readonly products: readonly { readonly name: string; readonly of: readonly [string, string] }[];
  /** Nonnegative variables that are below others. */
  readonly below: readonly (readonly [string, string])[];
}

interface AffineTerm {
  readonly name: string;
  readonly factor: string;
  readonly least: string;
  readonly most: string;
}

export type AffineArgument =
  /** The sum is always above or always below the interval. */
  | { readonly kind: 'interval'; readonly low: string; readonly high: string }
  /** The sum minus the constant is a multiple of the divisor, and no number with that remainder is in the interval. */
  | { readonly kind: 'divisor'; readonly divisor: string; readonly rest: string }
  /**
   * Mixed radix: the factor of each pair exceeds what all smaller ones contribute, so that each pair of terms is equal.
   */
  | {
      readonly kind: 'radix';
      readonly order: readonly (readonly [string, string])[];
      readonly reach: readonly string[];
    }
  /** c*(n*b + t) with t below n, for two different b, differs by at least c. */
  | { readonly kind: 'block-size'; readonly step: string };

/** Meaning of a variable of clauses: the sum is at most the bound; null: a separate truth value. */
export type ClauseVariable = { readonly sum: readonly (readonly [string, string])[]; readonly most: string } | null;

/** Variable v as `2 * v`, its negation as `2 * v + 1`. */
type ClauseLiteral = number;

/** Claim: no integers and truth values satisfy all clauses; a clause is satisfied by at least one of its literals. */
export interface ClauseClaim {
  readonly kind: 'clauses';
  readonly variables: readonly ClauseVariable[];
  readonly clauses: readonly (readonly ClauseLiteral[])[];
}

/** Clauses, each of which follows from those of the claim and the ones before; together they are contradictory. */
export interface ClauseArgument {
  readonly kind: 'clauses';
  /** Variables other than those of the claim, numbered after them. */
  readonly variables: readonly ClauseVariable[];
  readonly steps: readonly ClauseStep[];
}

export type ClauseStep =
  /** Follows by unit propagation. */
  | { readonly learnt: readonly ClauseLiteral[] }
  /** Comparisons that contradict each other: their sum, multiplied by the factors, is 0 <= a negative number. */
  | { readonly excluded: readonly ClauseLiteral[]; readonly sum: readonly string[] }
  /**
   * Pairs of comparisons fix the values of sums; multiplied by the factors, they fix a sum that is not divisible by the
   * common divisor of its terms.
   */
  | { readonly excluded: readonly ClauseLiteral[]; readonly divisor: readonly string[] };

/** Claim: the SMT-LIB script has no model. */
interface ScriptClaim {
  readonly kind: 'script';
  readonly script: string;
}

/** The solver that answered; the answer is not checked here, a solver can be queried again. */
interface ScriptArgument {
  readonly kind: 'answer';
  readonly answer: 'unsat';
  readonly by: 'z3' | 'built-in';
}
