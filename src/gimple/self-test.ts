/** Whether the dumps of a compiler are understood: one small program with every form that launches depend on. */
import type { GimpleFunction, GimpleStatement, GimpleOperand } from './gimple.ts';
import { parseFunction, splitDump } from './gimple-parser.ts';

/** The program whose dump `understandsDump` checks. */
export const selfTestProgram = `struct Extent { unsigned x, y, z; Extent(unsigned x, unsigned y = 1) : x(x), y(y), z(1) {} };
extern "C" unsigned configure(Extent grid, Extent block, unsigned long bytes = 0, void *stream = nullptr);
struct Plan { int rows; virtual ~Plan(); virtual int blocks() const; };
void launched(float *a, int n, float factor);
void leave(int *n);
int chosen(float *a, int n, const Plan &plan, const int *sizes) {
  Extent grid((n + 255) / 256, plan.blocks());
  configure(grid, 256) ? (void)0 : launched(a, n, 2.5f);
  switch (n & 3) { case 0: leave(&n); break; case 1 ... 2: n -= plan.rows; break; default: n = sizes[n]; break; }
  void (*kernel)(float *, int, float) = n > 5 ? launched : nullptr;
  for (int i = 0; i < n; i++) { int size = i; leave(&size); kernel(a + i, size, -1.0f); }
  { int size = 2; leave(&size); n += size; }
  if (n < 0) throw n;
  return n;
}
`;

/** What each kind of statement is there for. */
const wanted: Readonly<Partial<Record<GimpleStatement['kind'], number>>> = {
  assign: 20,
  call: 10,
  clobber: 3,
  phi: 2,
  condition: 4,
  switch: 1,
  goto: 2,
  return: 1,
  resume: 1,
};

/** Checks the dump of the program above. */
export function understandsDump(dump: string): boolean {
  const symbol = '_Z6chosenPfiRK4PlanPKi';
  const text = splitDump(dump).texts.get(symbol);
  const parsed = text === undefined ? null : parseFunction(symbol, text);
  if (!parsed) return false;
  const statements = parsed.blocks.flatMap((block) => block.statements);
  const count = (kind: string): number => statements.filter((one) => one.kind === kind).length;
  return (
    statements.every(isRead) &&
    Object.entries(wanted).every(([kind, least]) => count(kind) >= least) &&
    hasCalls(statements) &&
    hasBranches(parsed, statements)
  );
}

function isRead(statement: GimpleStatement): boolean {
  const isKnown = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return true;
    if ('kind' in value && value.kind === 'opaque') return false;
    return Object.values(value).every(isKnown);
  };
  return isKnown(statement);
}

function nameOf(operand: GimpleOperand): string {
  return operand.kind === 'declaration' ? operand.name.replace(/D\.\d+$/, '') : operand.kind;
}

/** A constructor with default arguments, a configuration with structures by value, a virtual call, and two of pointers. */
function hasCalls(statements: readonly GimpleStatement[]): boolean {
  const calls = statements.filter((one) => one.kind === 'call');
  const to = (name: string) => calls.filter(({ callee }) => nameOf(callee) === name);
  const [configured] = to('configure');
  const [virtual] = to('virtual').map(({ callee }) => callee);
  const locals = to('_Z5leavePi').flatMap(({ arguments: [given] }) =>
    given?.kind === 'address' && given.of.kind === 'declaration' ? [given.of.name] : [],
  );
  return (
    to('_ZN6ExtentC1Ejj').length === 2 &&
    configured?.arguments.map((one) => one.kind).join() === 'declaration,declaration,integer,integer' &&
    configured.landingPad !== null &&
    to('_Z8launchedPfif').length === 1 &&
    virtual?.kind === 'virtual' &&
    virtual.slot === 2 &&
    calls.some(({ callee, arguments: given }) => callee.kind === 'ssa' && given[2]?.kind === 'real') &&
    // The parameter and two variables of one name.
    new Set(locals).size === 3
  );
}

/** Each branch leads to a block that is listed as a successor, and cases have their ranges. */
function hasBranches({ blocks }: GimpleFunction, statements: readonly GimpleStatement[]): boolean {
  const chosen = statements.find((one) => one.kind === 'switch');
  const ranges = chosen?.cases.map(({ values }) => values?.join('..') ?? 'default').sort();
  return (
    ranges?.join() === '0..0,1..2,default' &&
    blocks.every(({ statements: own, successors, next }) => {
      const last = own.at(-1);
      const targets =
        last?.kind === 'condition'
          ? [last.then, last.otherwise]
          : last?.kind === 'switch'
            ? last.cases.map(({ to }) => to)
            : last?.kind === 'goto'
              ? [last.to]
              : next === null
                ? []
                : [next];
      return (
        targets.every((to) => successors.includes(to)) &&
        (last?.landingPad ?? null) === (successors.find((one) => one === last?.landingPad) ?? null)
      );
    })
  );
}
