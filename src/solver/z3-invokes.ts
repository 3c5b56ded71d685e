/**
 * Calls within Z3 that may throw, as WebAssembly. The build of z3-solver makes them in JavaScript: each call by a
 * pointer in a `try` block calls an imported `invoke_…` function, which looks up the pointer, checks the result again,
 * and calls back into WebAssembly. Two thirds of Z3's time went there. WebAssembly has native exceptions, so a module
 * of such functions, assembled here, does the same without leaving.
 *
 * https://emscripten.org/docs/porting/exceptions.html, "JavaScript-based exception support", has the protocol: if the
 * callee threw, the stack pointer is restored, `setThrew(1, 0)` called, and the result is 0. Opcodes are those of
 * https://github.com/WebAssembly/exception-handling, "legacy exceptions", which Node has without a flag since version
 * 17.
 */

/** Imports that Z3's JavaScript passes to its WebAssembly. */
export interface Z3Imports {
  readonly env: Readonly<Record<string, WebAssembly.ImportedFunction>>;
}

interface Table {
  readonly length: number;
  grow(by: number): number;
  set(index: number, value: () => number): void;
}

/** Exports of Z3 that are used here. */
interface Exports {
  readonly __indirect_function_table: Table;
  readonly emscripten_stack_get_current: () => number;
  readonly _emscripten_stack_restore: (stack: number) => void;
  readonly setThrew: (threw: number, value: number) => void;
}

/** Exports of the module of `invoke_…` functions, in addition to these. */
interface InvokeExports extends Readonly<Record<`invoke_${string}`, WebAssembly.ImportedFunction>> {
  readonly functions: Table;
  readonly stack: Table;
}

/** The letters in the names of the functions, as value types. */
const valueTypes: Readonly<Record<string, number>> = { i: 0x7f, j: 0x7e, f: 0x7d, d: 0x7c };
/** For each type, the instruction that pushes zero. */
const zeros: Readonly<Record<string, readonly number[]>> = {
  i: [0x41, 0],
  j: [0x42, 0],
  f: [0x43, 0, 0, 0, 0],
  d: [0x44, 0, 0, 0, 0, 0, 0, 0, 0],
};
const functionReference = 0x70;
const noValue = 0x40;
/** Functions of Z3's JavaScript that throw what `invoke_…` catches. */
const throwers = ['__cxa_throw', '__cxa_rethrow', '__resumeException'];

/**
 * Instantiates Z3 with `invoke_…` functions in WebAssembly.
 * @param imports the imports from Z3's JavaScript
 * @returns null if this version of Node lacks such exceptions, or Z3's functions differ from the expected ones
 */
export function instantiateWithInvokes(module: WebAssembly.Module, imports: Z3Imports): WebAssembly.Instance | null {
  const names = Object.keys(imports.env).filter((name) => /^invoke_[vijfd][ijfd]*$/.test(name));
  const binary = invokeModule(names);
  if (names.length === 0 || !WebAssembly.validate(binary)) return null;
  let threw = false;
  /** Whether Z3 continues after the call that threw. Exceptions not thrown by its JavaScript are not its own. */
  const caught = (stack: number): number => {
    if (!threw) return 0;
    threw = false;
    z3._emscripten_stack_restore(stack);
    z3.setThrew(1, 0);
    return 1;
  };
  const noting = (name: string): [string, WebAssembly.ImportedFunction] => {
    const thrower = imports.env[name]!;
    const notes = (...values: Parameters<typeof thrower>): ReturnType<typeof thrower> => {
      try {
        return thrower(...values);
      } catch (error) {
        threw = error instanceof Error && 'excPtr' in error;
        throw error;
      }
    };
    return [name, notes];
  };
  const own = new WebAssembly.Instance(new WebAssembly.Module(binary), { env: { caught } });
  const { functions, stack, ...invokes } = own.exports as unknown as InvokeExports;
  const known = throwers.filter((name) => name in imports.env).map(noting);
  const env = { ...imports.env, ...invokes, ...Object.fromEntries(known) };
  const instance = new WebAssembly.Instance(module, { ...imports, env });
  const z3 = instance.exports as unknown as Exports;
  const table = z3.__indirect_function_table;
  functions.grow(table.length);
  stack.set(0, z3.emscripten_stack_get_current);
  // The start function of another module copies the entries: JavaScript would need an object for each.
  const tables = { from: table, to: functions } as unknown as Record<string, WebAssembly.ImportedFunction>;
  void new WebAssembly.Instance(new WebAssembly.Module(copyModule(table.length)), { env: tables });
  return instance;
}

/** A module that exports a function of each name, the table `functions` that they call in, and the table `stack`. */
function invokeModule(names: readonly string[]): Uint8Array<ArrayBuffer> {
  // Types 0 and 1: `emscripten_stack_get_current` and `caught`. Then two of each name: the callee's and its own.
  const callees = names.map((name) => name.slice('invoke_'.length));
  const types = [
    functionType('i'),
    functionType('ii'),
    ...callees.flatMap((letters) => [functionType(letters), functionType(`${letters[0]}i${letters.slice(1)}`)]),
  ];
  const exported = [
    [...text('functions'), 1, ...unsigned(0)],
    [...text('stack'), 1, ...unsigned(1)],
    ...names.map((name, index) => [...text(name), 0, ...unsigned(index + 1)]),
  ];
  return moduleOf([
    section(1, types),
    section(2, [[...text('env'), ...text('caught'), 0, 1]]),
    section(
      3,
      names.map((_, index) => unsigned(2 * index + 3)),
    ),
    section(4, [
      [functionReference, 0, 0],
      [functionReference, 0, 1],
    ]),
    section(7, exported),
    section(
      10,
      callees.map((letters, index) => body(letters, 2 * index + 2)),
    ),
  ]);
}

/** The function that calls the function pointer in its first argument, with the other arguments. */
function body(letters: string, calleeType: number): number[] {
  const result = letters[0]!;
  const count = letters.length - 1;
  const stack = count + 1;
  const resultType = result === 'v' ? noValue : valueTypes[result]!;
  const values = Array.from({ length: count }, (_, index) => [0x20, ...unsigned(index + 1)]);
  const call = [0x20, 0, 0x11, ...unsigned(calleeType), 0];
  const stackBefore = [0x41, 0, 0x11, 0, 1, 0x21, ...unsigned(stack)];
  // catch_all: if not (caught stack) then rethrow
  const handler = [0x19, 0x20, ...unsigned(stack), 0x10, 0, 0x45, 0x04, noValue, 0x09, 1, 0x0b];
  const zero = result === 'v' ? [] : zeros[result]!;
  const locals = [1, 1, valueTypes['i']!];
  const code = [...locals, ...stackBefore, 0x06, resultType, ...values.flat(), ...call, ...handler, ...zero, 0x0b, 0x0b];
  return [...unsigned(code.length), ...code];
}

/** A module that copies the table `from` to the table `to` when it starts. */
function copyModule(length: number): Uint8Array<ArrayBuffer> {
  const table = [1, functionReference, 0, 0];
  const code = [0, 0x41, 0, 0x41, 0, 0x41, ...signed(length), 0xfc, 14, 1, 0, 0x0b];
  return moduleOf([
    section(1, [functionType('v')]),
    section(2, [
      [...text('env'), ...text('from'), ...table],
      [...text('env'), ...text('to'), ...table],
    ]),
    section(3, [[0]]),
    [8, 1, 0],
    section(10, [[...unsigned(code.length), ...code]]),
  ]);
}

/** The type of a function, from the letter of its result and those of its parameters. */
function functionType(letters: string): number[] {
  const [result, ...parameters] = letters;
  const of = (letter: string): number => valueTypes[letter]!;
  return [0x60, ...unsigned(parameters.length), ...parameters.map(of), ...(result === 'v' ? [0] : [1, of(result!)])];
}

function moduleOf(sections: readonly (readonly number[])[]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...sections.flat()]);
}

function section(id: number, entries: readonly (readonly number[])[]): number[] {
  const content = [...unsigned(entries.length), ...entries.flat()];
  return [id, ...unsigned(content.length), ...content];
}

function text(name: string): number[] {
  const bytes = [...new TextEncoder().encode(name)];
  return [...unsigned(bytes.length), ...bytes];
}

/** A number from 0 in LEB128. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...unsigned(Math.floor(value / 128))];
}

/** A number from 0 in signed LEB128. */
function signed(value: number): number[] {
  return value < 64 ? [value] : [(value % 128) + 128, ...signed(Math.floor(value / 128))];
}
