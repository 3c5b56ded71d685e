/** Small changes of TypeScript code: comparisons, connectives, negations, guards, quantifiers and signs. */
import { API } from 'typescript/unstable/sync';
import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isIfStatement,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isStringLiteral,
  isTemplateExpression,
} from 'typescript/unstable/ast/is';

/** A change of a text: `from` at `start` becomes `to`. */
export interface CodeMutant {
  readonly file: string;
  readonly line: number;
  readonly kind: 'comparison' | 'connective' | 'negation' | 'guard' | 'quantifier' | 'sign' | 'branches';
  readonly start: number;
  readonly from: string;
  readonly to: string;
}

const operators: ReadonlyMap<SyntaxKind, readonly [CodeMutant['kind'], string]> = new Map<
  SyntaxKind,
  readonly [CodeMutant['kind'], string]
>([
  [SyntaxKind.LessThanToken, ['comparison', '<=']],
  [SyntaxKind.LessThanEqualsToken, ['comparison', '<']],
  [SyntaxKind.GreaterThanToken, ['comparison', '>=']],
  [SyntaxKind.GreaterThanEqualsToken, ['comparison', '>']],
  [SyntaxKind.EqualsEqualsEqualsToken, ['comparison', '!==']],
  [SyntaxKind.ExclamationEqualsEqualsToken, ['comparison', '===']],
  [SyntaxKind.AmpersandAmpersandToken, ['connective', '||']],
  [SyntaxKind.BarBarToken, ['connective', '&&']],
  [SyntaxKind.PlusToken, ['sign', '-']],
  [SyntaxKind.MinusToken, ['sign', '+']],
]);

const quantifiers: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
]);

/** The mutants of files of a project. @param root folder of its `tsconfig.json` @param files relative to the root */
export function codeMutants(root: string, files: readonly string[]): CodeMutant[] {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${root}/tsconfig.json`] }).getProjects();
    return files.flatMap((file) => {
      const source = project?.program.getSourceFile(`${root}/${file}`);
      if (!source) throw new Error(`${file}: not in ${root}/tsconfig.json`);
      return mutantsOf(file, source, source.text);
    });
  } finally {
    api.close();
  }
}

function mutantsOf(file: string, source: Node, text: string): CodeMutant[] {
  const found: CodeMutant[] = [];
  const add = (kind: CodeMutant['kind'], start: number, end: number, to: string): void => {
    const line = text.slice(0, start).split('\n').length;
    found.push({ file, line, kind, start, from: text.slice(start, end), to });
  };
  /** Positions without the white space and comments before a node. */
  const startOf = (node: Node): number => node.getStart();
  const visit = (node: Node): void => {
    if (isBinaryExpression(node)) {
      const { operatorToken, left, right } = node;
      const [kind, to] = operators.get(operatorToken.kind) ?? [];
      const isText = [left, right].some((one) => isStringLiteral(one) || isTemplateExpression(one));
      if (kind && to !== undefined && !(kind === 'sign' && isText)) add(kind, startOf(operatorToken), operatorToken.end, to);
    } else if (isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
      add('negation', startOf(node), startOf(node.operand), '');
    else if (isIfStatement(node) && !node.elseStatement) add('guard', startOf(node.expression), node.expression.end, 'false');
    else if (isConditionalExpression(node)) {
      const { whenTrue, whenFalse } = node;
      const [a, b] = [whenTrue, whenFalse].map((one) => text.slice(startOf(one), one.end)) as [string, string];
      const between = text.slice(whenTrue.end, startOf(whenFalse));
      if (a !== b) add('branches', startOf(whenTrue), whenFalse.end, `${b}${between}${a}`);
    } else if (isCallExpression(node) && isPropertyAccessExpression(node.expression)) {
      const { name } = node.expression;
      const to = quantifiers.get(name.text);
      if (to !== undefined) add('quantifier', startOf(name), name.end, to);
    }
    node.forEachChild(visit);
  };
  visit(source);
  return found;
}

/** A text with a mutant in it. */
export function mutatedCode(text: string, { start, from, to }: CodeMutant): string {
  if (!text.startsWith(from, start)) throw new Error(`the text has no ${from} at ${start}`);
  return text.slice(0, start) + to + text.slice(start + from.length);
}
