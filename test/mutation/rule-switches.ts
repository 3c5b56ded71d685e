/** Switches in functions of `src/`: a function that is switched off returns nothing: null, undefined, false or an empty list. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { API } from 'typescript/unstable/sync';
import type { Node } from 'typescript/unstable/ast';
import { isBlock, isClassDeclaration, isFunctionDeclaration, isMethodDeclaration } from 'typescript/unstable/ast/is';

/** A function that can be switched off. */
export interface Rule {
  /** File and name. */
  readonly id: string;
  readonly file: string;
  /** Position after the brace that opens its body. */
  readonly start: number;
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
          if (nothing !== null) found.push({ id: `${file}:${owner}${name}`, file, start, nothing, lines, isExported });
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

/** The switches of rules in files that are loaded from now on. */
export class RuleSwitches {
  private readonly rules: readonly Rule[];
  /** For each rule 1 if it was reached, plus 2 if it is off. */
  private readonly states: Uint8Array;

  constructor(root: string, rules: readonly Rule[]) {
    this.rules = rules;
    this.states = new Uint8Array(rules.length);
    Object.assign(globalThis, { ruleStates: this.states });
    const numbered = rules.map((rule, index) => ({ ...rule, index }));
    registerHooks({
      load: (url, context, next) => {
        const own = url.startsWith('file:') ? numbered.filter(({ file }) => `${root}/${file}` === fileURLToPath(url)) : [];
        if (own.length === 0) return next(url, context);
        let source = readFileSync(fileURLToPath(url), 'utf8');
        for (const { start, index, nothing } of own.toSorted((a, b) => b.start - a.start))
          source = `${source.slice(0, start)} if ((globalThis.ruleStates[${index}] |= 1) === 3) return ${nothing}; ${source.slice(start)}`;
        return { format: 'module-typescript', source, shortCircuit: true };
      },
    });
  }

  /** Runs a computation with rules off. @returns its result, and the rules that it reached */
  async without<T>(off: readonly Rule[], compute: () => Promise<T>): Promise<[T, readonly string[]]> {
    this.states.fill(0);
    for (const rule of off) this.states[this.rules.indexOf(rule)] = 2;
    const result = await compute();
    return [result, this.rules.flatMap(({ id }, index) => ((this.states[index]! & 1) === 1 ? id : []))];
  }
}
