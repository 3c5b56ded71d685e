/** Exceptions: launches in handlers and in destructors during unwinding, and launches that an exception skips. */
import { type Scope, block, rule } from './draft.ts';
import { simpleKernel } from './functions.ts';
import { type StatementRule, launchingBody } from './statements.ts';

const text = (scope: Scope, low: number, high: number): string => scope.integer(low, high).text;

/** Two blocks of launching statements, for `try` and `catch`. */
function blocks(scope: Scope): { readonly attempt: Scope; readonly handler: Scope } | null {
  if (scope.isDeep || !scope.canLaunch(2)) return null;
  // An early return out of a handler would be as good, but the launch that follows it is more interesting.
  return { attempt: scope.inner(), handler: scope.inner() };
}

/** An exception class with a number. */
function numbered(scope: Scope): string {
  scope.header('stdexcept');
  scope.header('string');
  return scope.program.once(
    'exception',
    'LaunchError',
    (name) =>
      `class ${name} : public std::runtime_error {\npublic:\n${name}(const std::string& text, int code) : std::runtime_error(text), code_(code) {}\nint code() const noexcept { return code_; }\n\nprivate:\nint code_;\n};`,
  );
}

/** A function that launches and throws if its argument is large. */
function thrower(scope: Scope): string {
  const kernel = simpleKernel(scope);
  const type = numbered(scope);
  return scope.program.once(
    'thrower',
    'mayThrow',
    (name) =>
      `static int ${name}(int n) {\nif (n > 50) throw ${type}("too large", n);\n${kernel}<<<n + 1, 32>>>(nullptr, n);\nreturn n * 2;\n}`,
  );
}

export const exceptionRules: readonly StatementRule[] = [
  rule('value', 2, (scope) => {
    const made = blocks(scope);
    if (!made) return null;
    const { attempt, handler } = made;
    const name = scope.name('code');
    handler.declare(name, 'int', 1, 64);
    const thrown = `if (${attempt.grammar.condition(attempt, 1)}) throw (int)${text(attempt, 1, 64)};`;
    return [
      `try ${block([thrown, ...launchingBody(attempt)])} catch (${scope.random.pick(['int', 'const int&', 'int&'])} ${name}) ${block(launchingBody(handler))}`,
    ];
  }),
  rule('from callee', 2.5, (scope) => {
    const made = blocks(scope);
    if (!made) return null;
    const [function_, type, name] = [thrower(scope), numbered(scope), scope.name('error')];
    const { attempt, handler } = made;
    attempt.chargeLaunches(1);
    handler.declare(`${name}.code()`, 'int', 51, 100);
    const calls = [
      `${function_}(${text(attempt, 0, 100)});`,
      ...(scope.random.chance(0.5) && scope.canLaunch(2) ? launchingBody(attempt) : []),
    ];
    return [`try ${block(calls)} catch (const ${type}& ${name}) ${block(launchingBody(handler))}`];
  }),
  rule('caught by base', 1.5, (scope) => {
    const made = blocks(scope);
    if (!made) return null;
    scope.header('exception');
    const [function_, name] = [thrower(scope), scope.name('error')];
    const { attempt, handler } = made;
    attempt.chargeLaunches(1);
    const base = scope.random.pick(['std::exception', 'std::runtime_error']);
    return [`try ${block([`${function_}(${text(attempt, 0, 100)});`])} catch (const ${base}& ${name}) ${block(launchingBody(handler))}`];
  }),
  rule('several handlers', 1.5, (scope) => {
    const made = blocks(scope);
    if (!made || !scope.canLaunch(3)) return null;
    scope.header('stdexcept');
    const { attempt, handler } = made;
    const kernel = simpleKernel(scope);
    scope.chargeLaunches(1);
    const which = text(attempt, 0, 3);
    return [
      `try ${block([`switch (${which}) {\ncase 0: throw std::invalid_argument("zero");\ncase 1: throw std::out_of_range("one");\ncase 2: throw 2.5;\n}`, ...launchingBody(attempt)])} catch (const std::out_of_range&) ${block([`${kernel}<<<1, 32>>>(nullptr, 1);`])} catch (const std::logic_error& error) ${block([`${kernel}<<<2, 32>>>(nullptr, error.what()[0]);`])} catch (...) ${block(launchingBody(handler))}`,
    ];
  }),
  rule('any', 1, (scope) => {
    const made = blocks(scope);
    if (!made) return null;
    const { attempt, handler } = made;
    const value = scope.random.pick(['1', '"text"', '2.5f', 'nullptr', "'c'", '4u']);
    return [
      `try ${block([...launchingBody(attempt), `if (${attempt.grammar.condition(attempt, 1)}) throw ${value};`])} catch (...) ${block(launchingBody(handler))}`,
    ];
  }),
  rule('nested', 1.2, (scope) => {
    const made = blocks(scope);
    if (!made || !scope.canLaunch(4)) return null;
    const { attempt, handler } = made;
    const kernel = simpleKernel(scope);
    scope.chargeLaunches(2);
    const value = text(attempt, 0, 100);
    const thrown = scope.random.pick([`throw (int)${value};`, `throw 1.5;`, `if (${value} > 40) throw 3L;`, 'throw 7;']);
    return [
      `try {\ntry ${block([...launchingBody(attempt), thrown])} catch (int n) {\n${kernel}<<<1, 32>>>(nullptr, n);\n}\n${kernel}<<<2, 32>>>(nullptr, 0);\n} catch (...) ${block(launchingBody(handler))}`,
    ];
  }),
  rule('rethrown', 1.2, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    const [function_, type] = [thrower(scope), numbered(scope)];
    const name = scope.program.once(
      'rethrow',
      'forwarding',
      (called) =>
        `static void ${called}(int n) {\ntry {\n${function_}(n);\n} catch (${type}& error) {\n${kernel}<<<error.code(), 32>>>(nullptr, 1);\n${scope.random.pick(['throw;', 'throw error;', `throw ${type}("again", error.code() + 1);`])}\n}\n}`,
    );
    const error = scope.name('error');
    scope.chargeLaunches(2);
    return [
      `try ${block([`${name}(${text(scope, 0, 100)});`])} catch (const ${type}& ${error}) ${block([`${kernel}<<<1, ${error}.code()>>>(nullptr, 2);`])}`,
    ];
  }),
  rule('destructor during unwinding', 1.5, (scope) => {
    if (!scope.canLaunch(3)) return null;
    const kernel = simpleKernel(scope);
    const function_ = thrower(scope);
    const type = scope.program.once(
      'unwinding guard',
      'Restore',
      (name) => `struct ${name} {\nint n;\n~${name}() { ${kernel}<<<1, 32 + n>>>(nullptr, n); }\n};`,
    );
    scope.chargeLaunches(3);
    const names = [scope.name('restore'), scope.name('restore')];
    return [
      `try ${block([`${type} ${names[0]}{(int)${text(scope, 0, 64)}};`, `${function_}(${text(scope, 0, 100)});`, `${type} ${names[1]}{2};`])} catch (const std::exception&) {\n}`,
    ];
  }),
  rule('from constructor', 1, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const kernel = simpleKernel(scope);
    const type = scope.program.once(
      'throwing constructor',
      'Checked',
      (name) =>
        `struct ${name}Part {\n~${name}Part() { ${kernel}<<<1, 32>>>(nullptr, 1); }\n};\nstruct ${name} {\n${name}Part part;\nexplicit ${name}(int n) {\nif (n % 2 == 1) throw n;\n}\n~${name}() { ${kernel}<<<2, 32>>>(nullptr, 2); }\n};`,
    );
    scope.chargeLaunches(2);
    return [`try ${block([`${type} ${scope.name('checked')}(${text(scope, 0, 9)});`])} catch (int) {\n}`];
  }),
  rule('in loop', 1.2, (scope) => {
    if (!scope.canLaunch(6) || scope.isDeep) return null;
    const kernel = simpleKernel(scope);
    const [function_, at] = [thrower(scope), scope.name('i')];
    scope.chargeLaunches(6);
    const inside = scope.random.chance(0.5);
    const call = `${function_}(${at} * ${text(scope, 1, 30)});`;
    const handler = `catch (const std::exception&) {\n${kernel}<<<3, 32>>>(nullptr, 3);\n}`;
    const loop = `for (int ${at} = 0; ${at} < 3; ${at}++)`;
    return [inside ? `${loop} {\ntry {\n${call}\n} ${handler}\n}` : `try {\n${loop} ${call}\n} ${handler}`];
  }),
  rule('function try block', 0.7, (scope) => {
    if (!scope.canLaunch(2)) return null;
    const [kernel, function_] = [simpleKernel(scope), thrower(scope)];
    const name = scope.program.once(
      'function try',
      'guardedCall',
      (called) =>
        `static void ${called}(int n) try {\n${function_}(n);\n} catch (const std::exception&) {\n${kernel}<<<4, n>>>(nullptr, n);\n}`,
    );
    scope.chargeLaunches(1);
    return [`${name}(${text(scope, 0, 100)});`];
  }),
  rule('of the library', 1.2, (scope) => {
    const made = blocks(scope);
    if (!made) return null;
    const { attempt, handler } = made;
    for (const header of ['vector', 'string', 'stdexcept']) scope.header(header);
    const statement = scope.random.pick([
      `(void)std::vector<int>(3).at(${text(attempt, 0, 6)});`,
      `(void)std::stoi(${scope.random.pick(['"12"', '"none"', '""'])});`,
      `(void)std::string("abc").substr(${text(attempt, 0, 6)});`,
    ]);
    return [`try ${block([statement, ...launchingBody(attempt)])} catch (const std::logic_error&) ${block(launchingBody(handler))}`];
  }),
  rule('result of try', 1, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const [function_, result] = [thrower(scope), scope.name('result')];
    scope.chargeLaunches(1);
    const argument = text(scope, 0, 100);
    scope.declare(result, 'int', -1, 100);
    return [`int ${result} = 0;`, `try ${block([`${result} = ${function_}(${argument});`])} catch (...) ${block([`${result} = -1;`])}`];
  }),
  rule('return from handler', 0.8, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const function_ = thrower(scope);
    const name = scope.program.once(
      'handler return',
      'attempt',
      (called) =>
        `static bool ${called}(int n) {\ntry {\nreturn ${function_}(n) > 10;\n} catch (const std::exception&) {\nreturn false;\n}\n}`,
    );
    scope.chargeLaunches(1);
    return [
      `if (${scope.random.pick(['', '!'])}${name}(${text(scope, 0, 100)})) ${block(scope.isDeep ? [] : launchingBody(scope.inner()))}`,
    ];
  }),
  rule('conditional throw', 0.8, (scope) => {
    if (!scope.canLaunch(1)) return null;
    const kernel = simpleKernel(scope);
    scope.chargeLaunches(1);
    const value = text(scope, 0, 100);
    return [`try ${block([`${kernel}<<<1, (${value} < 80 ? 32 : throw 5)>>>(nullptr, 0);`])} catch (int) {\n}`];
  }),
];
