/**
 * What `check --certificates DIR` writes: for each proved obligation what is claimed, and what refutes its negation.
 * `docs/certificates.md` says what the fields mean. Integers are decimal texts, since JSON has no large ones.
 */

export const certificateFormat = 'selvage-certificates';
export const certificateVersion = 1;

/** All that was proved of one kernel. */
export interface CertificateFile {
  readonly format: typeof certificateFormat;
  readonly version: typeof certificateVersion;
  /** As reports show it. */
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
export type CertifiedTier =
  | 'affine'
  | 'coordinates'
  | 'enumeration'
  | 'order'
  | 'executions'
  | 'linear'
  | 'bit-vectors';

/** One proved obligation. */
export interface Certificate {
  readonly subject: CertificateSubject;
  readonly tier: CertifiedTier;
  /** What is shown; null where the tier leaves nothing behind that can be checked again. */
  readonly proof: CertificateProof | null;
}

/** What an obligation is about: two accesses that must not meet, or a branch that all threads take alike. */
interface CertificateSubject {
  readonly kind: 'race' | 'divergence';
  readonly scope: 'block' | 'grid';
  readonly places: readonly CertifiedPlace[];
}

/** An instruction by its number in the kernel, and where it stands. */
export interface CertifiedPlace {
  readonly instruction: number;
  readonly file: string;
  readonly line: number;
}

/** With the seal of all else: `sealOf` in `checker.ts`. */
export type SealedCertificate = Certificate & { readonly seal: string };

export interface CertificateProof {
  readonly claim: CertificateClaim;
  readonly argument: CertificateArgument;
}

type CertificateClaim = AffineClaim | ClauseClaim | ScriptClaim;
type CertificateArgument = AffineArgument | ClauseArgument | ScriptArgument;

/**
 * No integers are within the bounds of all terms, so that -behind <= constant + the sum of factor * term <= ahead, and
 * the names of at least one pair in `differ` stand for different numbers; `differ` is null where they need not.
 */
export interface AffineClaim {
  readonly kind: 'apart';
  readonly constant: string;
  readonly terms: readonly AffineTerm[];
  readonly behind: string;
  readonly ahead: string;
  readonly differ: readonly (readonly [string, string])[] | null;
  /** Terms that are products of two numbers. */
  readonly products: readonly { readonly name: string; readonly of: readonly [string, string] }[];
  /** Numbers from 0 on that are below others. */
  readonly below: readonly (readonly [string, string])[];
}

interface AffineTerm {
  readonly name: string;
  readonly factor: string;
  readonly least: string;
  readonly most: string;
}

export type AffineArgument =
  /** The sum is never so small, or never so large. */
  | { readonly kind: 'interval'; readonly low: string; readonly high: string }
  /** The sum less the constant is a multiple of the divisor; what the constant leaves is too far from 0 on both sides. */
  | { readonly kind: 'divisor'; readonly divisor: string; readonly rest: string }
  /** In mixed radix: each pair of terms is equal, as each next factor is above all that smaller ones reach. */
  | {
      readonly kind: 'radix';
      readonly order: readonly (readonly [string, string])[];
      readonly reach: readonly string[];
    }
  /** c*(n*b + t) with t below n, of two different b, are at least c apart. */
  | { readonly kind: 'block-size'; readonly step: string };

/** What a variable of clauses says: the sum is at most the bound; null: a truth value of its own. */
export type ClauseVariable = { readonly sum: readonly (readonly [string, string])[]; readonly most: string } | null;

/** Variable v as `2 * v`, its negation as `2 * v + 1`. */
type ClauseLiteral = number;

/** No integers and truth values meet all clauses: at least one literal of each. */
export interface ClauseClaim {
  readonly kind: 'clauses';
  readonly variables: readonly ClauseVariable[];
  readonly clauses: readonly (readonly ClauseLiteral[])[];
}

/** Clauses that follow from those of the claim and the ones before, until no assignment is left. */
export interface ClauseArgument {
  readonly kind: 'clauses';
  /** Variables beside those of the claim, numbered behind them. */
  readonly variables: readonly ClauseVariable[];
  readonly steps: readonly ClauseStep[];
}

export type ClauseStep =
  /** Follows by unit propagation. */
  | { readonly learnt: readonly ClauseLiteral[] }
  /** Comparisons that do not all hold: multiplied with the factors, their sum is 0 <= less than 0. */
  | { readonly excluded: readonly ClauseLiteral[]; readonly sum: readonly string[] }
  /** Two by two they fix the values of sums: with the factors, a sum that is no multiple of what its terms all are. */
  | { readonly excluded: readonly ClauseLiteral[]; readonly divisor: readonly string[] };

/** The script, in SMT-LIB, has no model. */
interface ScriptClaim {
  readonly kind: 'script';
  readonly script: string;
}

/** Who answered so; nothing checks it here, a solver can be asked again. */
interface ScriptArgument {
  readonly kind: 'answer';
  readonly answer: 'unsat';
  readonly by: 'z3' | 'built-in';
}
