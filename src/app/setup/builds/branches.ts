/**
 * Branches of build files (CMake, Make, and the scripts of Python and Meson). If the text does not decide a condition, each
 * branch that is possible runs on a copy of the variables, which are then merged.
 */

/** Items after branches of which one was taken: the common first ones, and `unknown` if more follow. */
export function mergedItems<T>(one: readonly T[], other: readonly T[], unknown: T, isSame = (a: T, b: T): boolean => a === b): T[] {
  let common = 0;
  while (common < one.length && common < other.length && isSame(one[common]!, other[common]!)) common++;
  return common === one.length && common === other.length ? [...one] : [...one.slice(0, common), unknown];
}

/** A branch of a condition. */
export interface Branch<Condition, Node> {
  /** Undefined for `else`. */
  readonly condition: Condition | undefined;
  readonly body: readonly Node[];
}

interface BranchSteps<B, Value, Ending> {
  /** Truth of the condition of a branch, which all steps for this branch follow; undefined if unknown. */
  readonly truth: (branch: B) => boolean | undefined;
  /** Notes a branch that may not be taken. `isFalse` if its own condition is the reason, not an earlier branch. */
  readonly report: (branch: B, isFalse: boolean) => void;
  /** @param isOpen whether the branch is only possible @returns why it ended early, for example by `return()` */
  readonly run: (branch: B, isOpen: boolean) => Ending | undefined;
  /** The value of a variable after one of several paths; undefined on a path at whose end it has none. */
  readonly merge: (values: readonly (Value | undefined)[]) => Value;
  /** Needed for values that a path changes in place. */
  readonly copy?: (value: Value) => Value;
}

/**
 * Executes the branch whose condition holds. If that is not known, all that may be taken are executed, each with its own
 * variables, and only what they have in common stays.
 * @returns why the branch ended early, if one branch certainly runs
 */
export function runBranches<B, Value, Ending = never>(
  branches: readonly B[],
  scope: { variables: Map<string, Value> },
  { truth, report, run, merge, copy = (value) => value }: BranchSteps<B, Value, Ending>,
): Ending | undefined {
  const before = scope.variables;
  const copied = (): Map<string, Value> => new Map([...before].map(([name, value]) => [name, copy(value)]));
  const results: Map<string, Value>[] = [];
  let isComplete = false;
  let ending: Ending | undefined;
  for (const branch of branches) {
    const holds = truth(branch);
    if (isComplete || holds === false) report(branch, !isComplete);
    else if (holds === true && results.length === 0) {
      isComplete = true;
      ending = run(branch, false);
    } else {
      report(branch, false);
      scope.variables = copied();
      // Whether it is reached that the execution ends early is not known.
      run(branch, true);
      results.push(scope.variables);
      scope.variables = before;
      isComplete = holds === true;
    }
  }
  if (results.length === 0) return ending;
  const paths = isComplete ? results : [copied(), ...results];
  const names = new Set(paths.flatMap((path) => [...path.keys()]));
  scope.variables = new Map([...names].map((name) => [name, merge(paths.map((path) => path.get(name)))]));
  return undefined;
}
