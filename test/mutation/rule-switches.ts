/** Switches in functions of `src/`: a function that is switched off returns nothing: null, undefined, false or an empty list. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { API } from 'typescript/unstable/sync';
import type { Node } from 'typescript/unstable/ast';
import {
  isArrowFunction,
  isBlock,
  isClassDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isMethodDeclaration,
  isReturnStatement,
} from 'typescript/unstable/ast/is';

/** A function that can be switched off. */
export interface Rule {
  /** File and name. */
  readonly id: string;
  readonly file: string;
  /** Position after the brace that opens its body. */
  readonly start: number;
  /** The expressions that it returns. */
  readonly returns: readonly (readonly [start: number, end: number])[];
  /** What it returns if it is switched off. */
  readonly nothing: string;
  readonly lines: number;
  readonly isExported: boolean;
}

/** The value of a type that means "nothing"; null if it has none. */
export function nothingOf(type: string): string | null {
  const [, result] = /^Steps<(.*)>$/s.exec(type) ?? [];
  if (result !== undefined) return nothingOf(result);
  if (/\| null$/.test(type)) return 'null';
  if (/\| undefined$/.test(type)) return 'undefined';
  if (type === 'boolean' || /^\w+ is /.test(type)) return 'false';
  if (/\[\]$/.test(type) && !type.includes('|')) return '[]';
  const [, collection] = /^(?:Readonly)?(Set|Map)<[^|]*>$/.exec(type) ?? [];
  return collection === undefined ? null : `new ${collection}()`;
}

/** The functions and methods of files that can be switched off. @param root folder of `tsconfig.json` */
export function rulesIn(root: string, files: readonly string[]): Rule[] {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}/tsconfig.json`] }).getProjects();
    return files.flatMap((file) => {
      const source = project?.program.getSourceFile(`${root}/${file}`);
      if (!source) throw new Error(`${file}: not in ${root}/tsconfig.json`);
      const found: Rule[] = [];
      const visit = (node: Node, owner: string): void => {
        if (isClassDeclaration(node)) owner = `${node.name?.text ?? ''}.`;
        if ((isFunctionDeclaration(node) || isMethodDeclaration(node)) && node.body && isBlock(node.body) && node.type) {
          const nothing = nothingOf(source.text.slice(node.type.getStart(), node.type.end));
          const start = node.body.getStart() + 1;
          const lines = source.text.slice(node.getStart(), node.end).split('\n').length;
          const name = node.name?.getText() ?? '';
          const isExported = source.text.startsWith('export ', node.getStart());
          if (nothing !== null)
            found.push({ id: `${file}:${owner}${name}`, file, start, returns: returnsOf(node.body), nothing, lines, isExported });
        }
        node.forEachChild((child) => visit(child, owner));
      };
      visit(source, '');
      return found;
    });
  } finally {
    api.close();
  }
}

/** The expressions that a function returns, without those of functions within it. */
function returnsOf(body: Node): [number, number][] {
  const found: [number, number][] = [];
  const visit = (node: Node): void => {
    if (isArrowFunction(node) || isFunctionExpression(node) || isFunctionDeclaration(node) || isMethodDeclaration(node)) return;
    if (isReturnStatement(node) && node.expression) found.push([node.expression.getStart(), node.expression.end]);
    node.forEachChild(visit);
  };
  body.forEachChild(visit);
  return found;
}

function isNothing(value: unknown): boolean {
  if (value instanceof Set || value instanceof Map) return value.size === 0;
  return Array.isArray(value) ? value.length === 0 : value === null || value === undefined || value === false;
}

/** The switches of rules in files that are loaded from now on. */
export class RuleSwitches {
  private readonly rules: readonly Rule[];
  /** For each rule 1 if it returned something, plus 2 if it is off. */
  private readonly states: Uint8Array;

  constructor(root: string, rules: readonly Rule[]) {
    this.rules = rules;
    this.states = new Uint8Array(rules.length);
    const { states } = this;
    const noteRule = (index: number, value: unknown): unknown => {
      if (!isNothing(value)) states[index]! |= 1;
      return value;
    };
    Object.assign(globalThis, { ruleStates: states, noteRule });
    const numbered = rules.map((rule, index) => ({ ...rule, index }));
    registerHooks({
      load: (url, context, next) => {
        const own = url.startsWith('file:') ? numbered.filter(({ file }) => `${root}/${file}` === fileURLToPath(url)) : [];
        if (own.length === 0) return next(url, context);
        let source = readFileSync(fileURLToPath(url), 'utf8');
        const insertions = own.flatMap(({ start, returns, index, nothing }) => [
          { at: start, text: ` if (globalThis.ruleStates[${index}] === 2) return ${nothing}; ` },
          ...returns.flatMap(([from, to]) => [
            { at: from, text: `globalThis.noteRule(${index}, (` },
            { at: to, text: '))' },
          ]),
        ]);
        for (const { at, text } of insertions.toSorted((a, b) => b.at - a.at)) source = source.slice(0, at) + text + source.slice(at);
        return { format: 'module-typescript', source, shortCircuit: true };
      },
    });
  }

  /** Runs a computation with rules off. @returns its result, and the rules that returned something: no other one decides */
  async without<T>(off: readonly Rule[], compute: () => Promise<T>): Promise<[T, readonly string[]]> {
    this.states.fill(0);
    for (const rule of off) this.states[this.rules.indexOf(rule)] = 2;
    const result = await compute();
    return [result, this.rules.flatMap(({ id }, index) => ((this.states[index]! & 1) === 1 ? id : []))];
  }
}
