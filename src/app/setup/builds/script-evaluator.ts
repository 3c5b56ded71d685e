/** Executes scripts of Python, Starlark and Meson, as far as lists of flags depend on them. */
import { runBranches } from './branches.ts';
import { parseScript, type ScriptLanguage, type ScriptLine, type ScriptStatement } from './script-syntax.ts';
import {
  copiedValue,
  evaluateScript,
  mergedValue,
  ScriptReference,
  scriptTruth,
  textOf,
  type ScriptCall,
  type ScriptContext,
  type ScriptValue,
} from './script-values.ts';

const mostStatements = 20_000;

/**
 * An execution. A statement that is not on the list has no effect; all branches of an undecided condition are executed,
 * and only what they have in common counts.
 */
export abstract class ScriptEvaluator {
  protected readonly scope = { variables: new Map<string, ScriptValue>() };
  protected abstract readonly language: ScriptLanguage;
  private count = 0;

  protected abstract statementsOf(lines: readonly ScriptLine[]): Iterable<ScriptStatement>;
  /** The value of a call of a function that is not defined by the language. */
  protected abstract call(call: ScriptCall): ScriptValue;
  /** Adds to a variable: `a += b`. */
  protected abstract sum(old: ScriptValue, more: ScriptValue): ScriptValue;

  /** The value of a name that is not a variable. */
  protected reference(name: string): ScriptValue {
    return new ScriptReference(name);
  }

  /** Notes the lines of a branch that may not be taken. */
  protected report(_lines: readonly ScriptLine[], _reason: string): void {
    // Meson reports the flags that are added.
  }

  /** Executes a branch that may not be taken, with its own variables. */
  protected runOpen(body: readonly ScriptLine[], _reason: string, _line: number): boolean {
    return this.run(body);
  }

  /**
   * Executes a statement that only one language has.
   * @returns whether the function ends; undefined if it is a statement of all languages
   */
  protected runSpecial(_statement: Extract<ScriptStatement, { kind: 'other' }>): boolean | undefined {
    return undefined;
  }

  /** @returns whether a `return` was reached for certain */
  protected run(lines: readonly ScriptLine[]): boolean {
    for (const statement of this.statementsOf(lines)) {
      if (++this.count > mostStatements) return true;
      if (this.runStatement(statement)) return true;
    }
    return false;
  }

  protected value(text: string, line: number): ScriptValue {
    const context: ScriptContext = {
      language: this.language,
      variables: this.scope.variables,
      call: (call) => this.call(call),
      reference: (name) => this.reference(name),
    };
    return evaluateScript(parseScript(text, this.language, line), context);
  }

  private runStatement(statement: ScriptStatement): boolean {
    if (statement.kind === 'if') return this.runCondition(statement);
    if (statement.kind === 'loop') return this.runLoop(statement);
    const isEnd = this.runSpecial(statement);
    if (isEnd === undefined) this.assign(statement.head);
    return isEnd ?? false;
  }

  private runCondition({ branches }: Extract<ScriptStatement, { kind: 'if' }>): boolean {
    const first = branches[0]?.condition?.text ?? '';
    const reasonOf = ({ condition }: (typeof branches)[number]): string => `if ${condition?.text ?? `not ${first}`}`;
    const isEnd = runBranches<(typeof branches)[number], ScriptValue, boolean>(branches, this.scope, {
      truth: ({ condition }) => condition === undefined || scriptTruth(this.value(condition.text, condition.line)),
      report: (branch) => this.report(branch.body, reasonOf(branch)),
      run: (branch, isOpen) => (isOpen ? this.runOpen(branch.body, reasonOf(branch), branch.line) : this.run(branch.body)),
      copy: copiedValue,
      merge: (values) => values.reduce(mergedValue),
    });
    return isEnd ?? false;
  }

  private runLoop({ names, over, body }: Extract<ScriptStatement, { kind: 'loop' }>): boolean {
    const items = this.value(over.text, over.line);
    for (const item of Array.isArray(items) ? items : [undefined]) {
      names.forEach((name, at) => this.scope.variables.set(name, names.length === 1 ? item : Array.isArray(item) ? item[at] : undefined));
      if (this.run(body)) return true;
    }
    return false;
  }

  private assign({ text, line }: ScriptLine): void {
    const [, name, operator, right] =
      /^([A-Za-z_][\w.]*(?:\[[^\]]*\])?|\w+(?:\s*,\s*\w+)+)\s*(?::\s*[\w.[\], ]+)?(\+|\||-|\/)?=(?!=)\s*([^]*)$/.exec(text) ?? [];
    if (name === undefined || right === undefined) return void this.value(text, line);
    const assigned = this.value(right, line);
    const { variables } = this.scope;
    const [, owner, key] = /^(\w+)\[([^]*)\]$/.exec(name) ?? [];
    if (owner !== undefined && key !== undefined) {
      const object = variables.get(owner);
      const index = textOf(this.value(key, line));
      if (object instanceof Map) object.set(index, operator === '+' ? this.sum(object.get(index), assigned) : assigned);
    } else if (name.includes(',')) {
      name.split(',').forEach((one, at) => variables.set(one.trim(), Array.isArray(assigned) ? assigned[at] : undefined));
    } else if (operator === '+') variables.set(name, this.sum(variables.get(name), assigned));
    else variables.set(name, operator === undefined ? assigned : undefined);
  }
}
