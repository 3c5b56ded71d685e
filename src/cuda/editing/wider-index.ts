/**
 * Indices that are computed in 32 bits, in 64 bits: one operand of a product is cast, and local variables between the product and
 * the access get a wider type if they are only used for indices.
 */
import type { TextEdit } from '../../source/text-edit.ts';
import { integerType } from '../syntax/basic-type.ts';
import type { FunctionDefinition } from '../syntax/outline.ts';
import type { CudaSource } from '../syntax/syntax.ts';
import { type SyntaxNode, childIn, listItems, nodesWhere, pathTo } from '../syntax/syntax-tree.ts';
import { type WideStyle, castTo, wideStyle } from './wide-style.ts';

/** An edit after which an index is computed in 64 bits. */
export interface WiderIndex {
  readonly edits: readonly TextEdit[];
  /** The product with the cast, and its line. */
  readonly casts: readonly { readonly line: number; readonly text: string }[];
  /** Local variables that get another type. */
  readonly variables: readonly { readonly line: number; readonly name: string; readonly type: string }[];
}

/**
 * Why a value cannot be made wider: it is a parameter or the result of a function, it is declared together with others, or it is used
 * for more than indices.
 */
export interface NarrowValue {
  readonly kind: 'parameter' | 'result' | 'declared-together' | 'other-use';
  readonly name: string;
  readonly line: number;
}

/** The candidates for an index, those that change the fewest operations first, and the values that prevent others. */
export interface WiderIndices {
  readonly candidates: readonly WiderIndex[];
  readonly narrow: readonly NarrowValue[];
}

/** A local variable of 32 bits with its declaration. */
interface Local {
  readonly name: string;
  readonly declaration: SyntaxNode;
  readonly type: SyntaxNode;
  readonly isSigned: boolean;
}

/** A product of an index, with the local variables of 32 bits that are between it and the access. */
interface Product {
  readonly node: SyntaxNode;
  readonly variables: readonly Local[];
  /** Whether the product is divided, shifted or compared, so that its sign matters. */
  readonly needsSign: boolean;
}

const indexed = /^(?:subscript_expression|pointer_expression|call_expression)$/;
const signMatters = /^(?:\/|%|>>|<|>|<=|>=)$/;

/**
 * The edits by which the index of an access is computed in 64 bits.
 * @param line of the access
 * @param computedAt the lines on which products of its index are computed
 */
export function widerIndices(source: CudaSource, line: number, computedAt: ReadonlySet<number>): WiderIndices {
  const definition = source.functions.find(({ kind, firstLine, lastLine }) => kind !== 'host' && firstLine <= line && line <= lastLine);
  if (!definition) return { candidates: [], narrow: [] };
  return new IndexInFunction(source, definition, computedAt).of(line);
}

class IndexInFunction {
  private readonly source: CudaSource;
  private readonly definition: FunctionDefinition;
  private readonly lines: ReadonlySet<number>;
  private readonly body: readonly SyntaxNode[];
  private readonly style: WideStyle;
  private readonly products = new Map<SyntaxNode, Product>();
  private readonly narrow: NarrowValue[] = [];
  /** Declarators of variables whose values were walked: one may be computed from itself, and from others in many paths. */
  private readonly walked = new Set<SyntaxNode>();

  constructor(source: CudaSource, definition: FunctionDefinition, lines: ReadonlySet<number>) {
    this.source = source;
    this.definition = definition;
    this.lines = lines;
    this.body = nodesWhere(source.tree(), ({ start, end }) => start >= definition.bodyStart && end <= definition.end);
    this.style = wideStyle(source, definition);
  }

  of(line: number): WiderIndices {
    for (const node of this.body) if (node.line === line && indexed.test(node.type)) this.walk(node, [], false);
    const all = [...this.products.values()];
    const isPart = ({ node }: Product): boolean =>
      all.some(({ node: other }) => other !== node && other.start <= node.start && node.end <= other.end);
    const outer = all.filter((product) => !isPart(product));
    const single = [...outer, ...all.filter(isPart)].map((product) => this.candidate([product]));
    const candidates = [...single, ...(outer.length > 1 ? [this.candidate(outer)] : [])].filter((one) => one !== null);
    const narrow = [...new Map(this.narrow.map((value) => [`${value.kind} ${value.name}`, value])).values()];
    return { candidates, narrow };
  }

  private words({ start, end }: SyntaxNode): string {
    return this.source.text.slice(start, end);
  }

  /** Finds the products that the value of an expression depends on, through local variables. */
  private walk(node: SyntaxNode, variables: readonly Local[], needsSign: boolean): void {
    if (/^(?:sizeof_expression|decltype|lambda_expression|template_argument_list)$/.test(node.type)) return;
    if (node.type === 'identifier') return this.walkDefinitions(node, variables, needsSign);
    if (node.type === 'binary_expression') {
      const operator = childIn(node, 'operator')?.type ?? '';
      const isProduct = (operator === '*' || operator === '<<') && this.isOnLine(node) && !this.isWide(node);
      if (isProduct && !this.products.has(node)) this.products.set(node, { node, variables, needsSign });
      const signed = needsSign || signMatters.test(operator);
      for (const side of ['left', 'right']) {
        const operand = childIn(node, side);
        if (operand) this.walk(operand, variables, signed);
      }
      return;
    }
    if (node.type === 'call_expression') {
      const called = childIn(node, 'function');
      const name = called?.type === 'identifier' ? this.words(called) : undefined;
      const callee = this.source.functions.find((other) => other.kind === 'device' && other.name === name);
      if (name !== undefined && callee && [...this.lines].some((line) => callee.firstLine <= line && line <= callee.lastLine))
        this.narrow.push({ kind: 'result', name, line: callee.signatureLine });
      const list = childIn(node, 'arguments');
      for (const item of list ? listItems(list) : []) this.walk(item, variables, needsSign);
      return;
    }
    for (const child of node.children) this.walk(child, variables, needsSign);
  }

  private isOnLine({ line, endLine }: SyntaxNode): boolean {
    return [...this.lines].some((one) => line <= one && one <= endLine);
  }

  private walkDefinitions(node: SyntaxNode, variables: readonly Local[], needsSign: boolean): void {
    const name = this.words(node);
    const declaration = this.declarationOf(node);
    if (!declaration) {
      const parameter = this.definition.parameters.find((one) => one.name === name);
      const isNarrow = integerType(parameter?.type ?? '')?.bytes === 4;
      const isOwn = [...this.lines].some((line) => this.definition.firstLine <= line && line <= this.definition.lastLine);
      if (isNarrow && !isOwn && this.definition.kind === 'device')
        this.narrow.push({ kind: 'parameter', name, line: this.definition.signatureLine });
      return;
    }
    const declarator = declaratorOf(declaration, name, (one) => this.words(one))!;
    if (this.walked.has(declarator)) return;
    this.walked.add(declarator);
    const local = this.localOf(name, declaration);
    const through = local ? [...variables, local] : variables;
    for (const value of this.valuesOf(name, declaration)) this.walk(value, through, needsSign);
  }

  /** The last declaration of a name in a block around a use. */
  private declarationOf({ start, end }: SyntaxNode): SyntaxNode | undefined {
    const name = this.source.text.slice(start, end);
    return this.body.findLast((node) => {
      if (node.type !== 'declaration' || node.start > start || !declaratorOf(node, name, (one) => this.words(one))) return false;
      const around = pathTo(this.source.tree(), node.start, node.end).findLast(({ type }) =>
        /^(?:compound|for|if|while)_statement$/.test(type),
      );
      return around !== undefined && around.start <= start && end <= around.end;
    });
  }

  /** The variable of a declaration if its type is an integer of 32 bits. */
  private localOf(name: string, declaration: SyntaxNode): Local | null {
    const type = childIn(declaration, 'type');
    const declarator = declaratorOf(declaration, name, (one) => this.words(one));
    const isPlain =
      declarator?.type === 'identifier' ||
      (declarator?.type === 'init_declarator' && childIn(declarator, 'declarator')?.type === 'identifier');
    const integer = type && isPlain ? integerType(this.words(type)) : undefined;
    return integer?.bytes === 4 ? { name, declaration, type: type!, isSigned: integer.signed } : null;
  }

  /** The values that a variable gets. */
  private valuesOf(name: string, declaration: SyntaxNode): readonly SyntaxNode[] {
    const declarator = declaratorOf(declaration, name, (one) => this.words(one));
    const initial = declarator?.type === 'init_declarator' ? childIn(declarator, 'value') : undefined;
    const assigned = this.body.flatMap((node) => {
      const left = node.type === 'assignment_expression' ? childIn(node, 'left') : undefined;
      const right = left?.type === 'identifier' && this.words(left) === name ? childIn(node, 'right') : undefined;
      return right ? [right] : [];
    });
    return [...(initial ? [initial] : []), ...assigned];
  }

  /** Whether a product has an operand of 64 bits. */
  private isWide(node: SyntaxNode): boolean {
    switch (node.type) {
      case 'cast_expression':
        return this.isWideType(childIn(node, 'type'));
      case 'call_expression': {
        const called = childIn(node, 'function');
        const types = called?.type === 'template_function' ? nodesWhere(called, ({ type }) => type === 'type_descriptor') : [];
        return this.isWideType(types[0] ?? called);
      }
      case 'identifier': {
        const declaration = this.declarationOf(node);
        const parameter = this.definition.parameters.find(({ name }) => name === this.words(node));
        return declaration ? this.isWideType(childIn(declaration, 'type')) : integerType(parameter?.type ?? '')?.bytes === 8;
      }
      case 'number_literal':
        return /l$/i.test(this.words(node));
      case 'sizeof_expression':
        return true;
      case 'parenthesized_expression':
        return listItems(node).some((item) => this.isWide(item));
      case 'binary_expression':
        return ['left', 'right'].some((side) => this.isWide(childIn(node, side) ?? node.children[0]!));
      default:
        return false;
    }
  }

  private isWideType(type: SyntaxNode | undefined): boolean {
    return type !== undefined && integerType(this.words(type))?.bytes === 8;
  }

  /** The edit that casts an operand of each product; null if a variable on the path to the access cannot be made wider. */
  private candidate(products: readonly Product[]): WiderIndex | null {
    const variables = [...new Map(products.flatMap((product) => product.variables.map((one) => [one.name, one]))).values()];
    for (const local of variables) {
      const obstacle = this.obstacleTo(local, variables);
      if (!obstacle) continue;
      this.narrow.push(obstacle);
      return null;
    }
    const isSigned = variables.some((one) => one.isSigned) || products.some(({ needsSign }) => needsSign);
    const type = isSigned ? this.style.signed : this.style.usual;
    const edits: TextEdit[] = [];
    const casts: { line: number; text: string }[] = [];
    for (const { node } of products) {
      const operand = this.operandOf(node);
      if (!operand) return null;
      const edit = {
        start: operand.start,
        end: operand.end,
        text: castTo(type, this.words(operand), this.style, operand.type === 'parenthesized_expression'),
      };
      const { text } = this.source;
      edits.push(edit);
      casts.push({ line: node.line, text: `${text.slice(node.start, edit.start)}${edit.text}${text.slice(edit.end, node.end)}` });
    }
    const changed = variables.map(({ name, declaration, type: { start, end }, isSigned: signed }) => {
      const wide = signed ? this.style.signed : this.style.unsigned;
      edits.push({ start, end, text: wide });
      return { line: declaration.line, name, type: wide };
    });
    return { edits, casts, variables: changed };
  }

  /** The operand to cast: the first factor that is not a literal, or the other one if the first is a sum. */
  private operandOf(product: SyntaxNode): SyntaxNode | null {
    const left = childIn(product, 'left');
    const right = childIn(product, 'right');
    if (!left || !right) return null;
    const isShift = childIn(product, 'operator')?.type === '<<';
    if (left.type === 'binary_expression' && childIn(left, 'operator')?.type === '*') return this.operandOf(left);
    const isSimple = ({ type }: SyntaxNode): boolean => /^(?:identifier|field_expression|subscript_expression|call_expression)$/.test(type);
    if (isShift || isSimple(left)) return left;
    return isSimple(right) ? right : left;
  }

  /** Why a local variable cannot get a wider type; null if it can. */
  private obstacleTo({ name, declaration }: Local, variables: readonly Local[]): NarrowValue | null {
    const declarators = declaration.children.filter(({ field }) => field === 'declarator');
    if (declarators.length > 1) return { kind: 'declared-together', name, line: declaration.line };
    for (const node of this.body) {
      if (node.type !== 'identifier' || this.words(node) !== name || this.declarationOf(node) !== declaration) continue;
      if (!this.isOfIndex(node, declaration, variables)) return { kind: 'other-use', name, line: node.line };
    }
    return null;
  }

  /** Whether a use of a variable is as an index, in a comparison, or for another variable that becomes wider. */
  private isOfIndex(use: SyntaxNode, declaration: SyntaxNode, variables: readonly Local[]): boolean {
    const path = pathTo(this.source.tree(), use.start, use.end).toReversed().slice(1);
    let isPointer = false;
    for (const node of path) {
      switch (node.type) {
        case 'identifier':
        case 'parenthesized_expression':
        case 'comma_expression':
          continue;
        case 'binary_expression': {
          const operator = childIn(node, 'operator')?.type ?? '';
          if (/^(?:[<>]=?|[!=]=|&&|\|\|)$/.test(operator)) return true;
          if (!/^[-+*/%]$/.test(operator)) return false;
          isPointer ||= ['left', 'right'].some((side) => this.isPointer(childIn(node, side)));
          continue;
        }
        case 'subscript_argument_list':
        case 'subscript_expression':
        case 'pointer_expression':
        case 'update_expression':
          return true;
        case 'cast_expression':
          return this.isWideType(childIn(node, 'type'));
        case 'assignment_expression': {
          const left = childIn(node, 'left');
          const isOwn =
            left?.type === 'identifier' &&
            (this.words(left) === this.words(use) || variables.some(({ name }) => name === this.words(left)));
          return isPointer || isOwn || this.isPointer(left);
        }
        case 'init_declarator': {
          const outer = this.body.findLast(({ type, children }) => type === 'declaration' && children.includes(node));
          if (outer === declaration) return true;
          const type = outer && childIn(outer, 'type');
          const isWider =
            variables.some((one) => one.declaration === outer) || this.isWideType(type) || type?.type === 'placeholder_type_specifier';
          return isPointer || isWider || childIn(node, 'declarator')?.type === 'pointer_declarator';
        }
        case 'argument_list':
          return isPointer;
        default:
          return node === declaration;
      }
    }
    return false;
  }

  private isPointer(node: SyntaxNode | undefined): boolean {
    if (node?.type !== 'identifier') return false;
    const declaration = this.declarationOf(node);
    if (declaration) return declaratorOf(declaration, this.words(node), (one) => this.words(one), true) !== undefined;
    return /\*/.test(this.definition.parameters.find(({ name }) => name === this.words(node))?.type ?? '');
  }
}

/** The declarator of a name in a declaration. @param isPointer of a pointer or an array only */
function declaratorOf(
  declaration: SyntaxNode,
  name: string,
  words: (node: SyntaxNode) => string,
  isPointer = false,
): SyntaxNode | undefined {
  return declaration.children.find((child) => {
    if (child.field !== 'declarator') return false;
    const declarator = child.type === 'init_declarator' ? childIn(child, 'declarator') : child;
    if (!declarator || (isPointer && !/^(?:pointer|array)_declarator$/.test(declarator.type))) return false;
    const named = nodesWhere(declarator, ({ type }) => type === 'identifier')[0];
    return named !== undefined && words(named) === name;
  });
}
