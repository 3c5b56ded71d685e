/**
 * Rules beyond the grammar of PTX: names are declared before they are used and once in a scope, branches have their
 * labels, entries have bodies. Requirements of an instruction on its operands are for `isa/`.
 */
import type { Code } from '../source/codes.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Function, Initializer, Module, ModuleItem, PtxOperand, PtxSpan, PtxStatement } from './ast.ts';
import { innerScope, resolveName, type NameScope } from './name-scope.ts';
import { isSpecialRegister } from './special-register-names.ts';

type ValidationCode = Extract<Code, 'ptx/undeclared' | 'ptx/duplicate' | 'ptx/undefined-label' | 'ptx/no-body'>;

const REMEDIES: Record<ValidationCode, string> = {
  'ptx/undeclared': 'Declare it before this line, in this scope or one around it',
  'ptx/duplicate': 'Rename or remove one of the two',
  'ptx/undefined-label': 'Put the label into this function, in this scope or one around it',
  'ptx/no-body': 'Give the entry a body, or remove the declaration',
};

/** Components of vectors, and the byte and half-word selectors of the video instructions. */
const SELECTOR = /^(?:[xyzwrgba]|[bh][0-7]+)$/;

/** Special registers that a range could declare. */
const NUMBERED = ['%clock64', '%pm0', '%envreg0', '%reserved_smem_offset_0'];

/** Checks a parsed module. Functions with a mistake are marked `faulty` in the module that is returned. */
export function validateModule(module: Module, file: string): { module: Module; diagnostics: Diagnostic[] } {
  const validation = new Validation(module, file);
  const items = module.items.map((item) => validation.check(item));
  const { diagnostics } = validation;
  return { module: validation.marked ? { ...module, items } : module, diagnostics };
}

/**
 * The scope of a body: in addition to registers and variables, its labels, which are visible before their definition.
 */
interface LabelScope {
  readonly labels: ReadonlySet<string>;
  readonly outer: LabelScope | undefined;
}

class Validation {
  readonly diagnostics: Diagnostic[] = [];
  /** Whether some function was marked as faulty. */
  marked = false;
  readonly #file: string;
  readonly #globals = innerScope(undefined);
  readonly #functions = new Set<string>();
  readonly #defined = new Set<string>();
  readonly #externals = new Set<string>();
  /** Whether the module contains damage: a declaration may be missing because of it. */
  readonly #damaged: boolean;
  #scope: NameScope = this.#globals;
  #labels: LabelScope | undefined;
  /** Names of the function that were reported, each once. */
  #told = new Set<string>();
  /** Names known to be registers in the current scope. */
  #known = new Set<string>();

  constructor(module: Module, file: string) {
    this.#file = file;
    this.#damaged = module.items.some((item) => item.kind === 'damage');
    const bodies = new Set<string>();
    for (const item of module.items) {
      if (item.kind !== 'entry' && item.kind !== 'func') continue;
      this.#functions.add(item.name);
      if (item.body) bodies.add(item.name);
    }
    for (const item of module.items) {
      if (item.kind === 'entry' && !item.body && !bodies.has(item.name)) {
        this.#report('ptx/no-body', item.span, `the entry \`${item.name}\` has no body`);
      }
    }
  }

  check(item: ModuleItem): ModuleItem {
    if (item.kind === 'variable') {
      if (item.initializer) this.#initializer(item.initializer, item.span);
      const external = item.linkage.includes('extern');
      const again = this.#globals.names.has(item.name) && !external && !this.#externals.has(item.name);
      if (again) this.#report('ptx/duplicate', item.span, `\`${item.name}\` is declared twice`);
      if (external) this.#externals.add(item.name);
      else this.#externals.delete(item.name);
      this.#globals.names.set(item.name, item.space === 'reg' ? 'register' : 'symbol');
      return item;
    }
    if (item.kind !== 'entry' && item.kind !== 'func') return item;
    const before = this.diagnostics.length;
    this.#function(item);
    if (this.diagnostics.length === before || item.faulty) return item;
    this.marked = true;
    return { ...item, faulty: true };
  }

  #function(item: Function): void {
    if (item.body) {
      if (this.#defined.has(item.name)) {
        this.#report('ptx/duplicate', item.span, `\`${item.name}\` has a second body`);
      }
      this.#defined.add(item.name);
    }
    // Missing text may be part of the damage, and an error is reported once.
    if (item.faulty) return;
    this.#scope = innerScope(this.#globals);
    this.#told = new Set();
    this.#known = new Set();
    for (const variable of [...item.results, ...item.parameters]) this.#declare(variable.name, 'symbol', variable.span);
    for (const variable of [...item.results, ...item.parameters]) {
      if (variable.space === 'reg') this.#scope.names.set(variable.name, 'register');
    }
    this.#labels = undefined;
    if (item.body) this.#statements(item.body);
    this.#scope = this.#globals;
  }

  #statements(body: readonly PtxStatement[]): void {
    this.#labels = { labels: this.#labelsOf(body), outer: this.#labels };
    for (const statement of body) {
      switch (statement.kind) {
        case 'instruction': {
          const { span, guard, opcode } = statement;
          if (guard) this.#register(guard.register, span);
          for (const operand of statement.operands) this.#operand(operand, span, opcode);
          break;
        }
        case 'variable':
          if (statement.initializer) this.#initializer(statement.initializer, statement.span);
          if (statement.count === undefined) {
            this.#declare(statement.name, statement.space === 'reg' ? 'register' : 'symbol', statement.span);
          } else {
            if (this.#scope.ranges.has(statement.name)) {
              this.#report('ptx/duplicate', statement.span, `\`${statement.name}<>\` is declared twice in this scope`);
            }
            this.#scope.ranges.set(statement.name, statement.count);
            this.#forbidSpecial(statement.name, statement.span);
          }
          break;
        case 'scope': {
          const known = this.#known;
          // Known names of the enclosing scope are not copied: in inline assembly, scopes are many and short.
          this.#known = new Set();
          this.#scope = innerScope(this.#scope);
          this.#statements(statement.body);
          this.#scope = this.#scope.outer!;
          this.#known = known;
          break;
        }
        case 'marker':
          this.#operand(statement.operand, statement.span, '');
          break;
        case 'directive':
          if (statement.name === 'branchtargets') {
            for (const name of statement.names) {
              if (!this.#isLabel(name)) this.#undefinedLabel(name, statement.span);
            }
          } else if (statement.name === 'calltargets') {
            for (const name of statement.names) this.#symbol(name, statement.span, '');
          }
          break;
        case 'label':
        case 'loc':
        case 'damage':
          break;
      }
    }
    this.#labels = this.#labels.outer;
  }

  #labelsOf(body: readonly PtxStatement[]): Set<string> {
    const labels = new Set<string>();
    for (const statement of body) {
      const name = statement.kind === 'label' ? statement.name : statement.kind === 'directive' ? statement.label : undefined;
      if (name === undefined) continue;
      if (labels.has(name)) {
        this.#report('ptx/duplicate', statement.span, `the label \`${name}\` stands twice in this scope`);
      }
      labels.add(name);
    }
    return labels;
  }

  #declare(name: string, kind: 'register' | 'symbol', span: PtxSpan): void {
    if (name === '_') return;
    const again = this.#scope.names.has(name) || this.#labels?.labels.has(name);
    // A register of a range is declared once as well.
    if (again || (this.#scope.ranges.size > 0 && resolveName({ ...this.#scope, outer: undefined }, name))) {
      this.#report('ptx/duplicate', span, `\`${name}\` is declared twice in this scope`);
    }
    this.#scope.names.set(name, kind);
    this.#known.delete(name);
    this.#forbidSpecial(name, span);
  }

  /**
   * Reports a declaration of the name of a special register: ptxas accepts it, but other readers cannot know which of
   * the two is meant.
   */
  #forbidSpecial(name: string, span: PtxSpan): void {
    const own = { ...this.#scope, outer: undefined };
    if (own.ranges.has(name) ? NUMBERED.some((special) => resolveName(own, special)) : isSpecialRegister(name)) {
      this.#report('ptx/duplicate', span, `\`${name}\` hides a special register`);
    }
  }

  #operand(operand: PtxOperand, span: PtxSpan, opcode: string): void {
    switch (operand.kind) {
      case 'register':
        this.#register(operand.name, span);
        break;
      case 'symbol':
        this.#symbol(operand.name, span, opcode);
        break;
      case 'address':
        if (operand.base?.kind === 'register') this.#register(operand.base.name, span);
        else if (operand.base) this.#symbol(operand.base.name, span, opcode);
        break;
      case 'element':
        this.#symbol(operand.array, span, opcode);
        this.#operand(operand.index, span, opcode);
        break;
      case 'vector':
      case 'list':
      case 'bracketed':
        for (const element of operand.elements) this.#operand(element, span, opcode);
        break;
      case 'pair':
        this.#operand(operand.first, span, opcode);
        this.#operand(operand.second, span, opcode);
        break;
      case 'not':
      case 'negative':
        this.#operand(operand.operand, span, opcode);
        break;
      case 'component':
        this.#register(operand.base, span);
        if (!SELECTOR.test(operand.selector)) {
          this.#undeclared(`${operand.base}.${operand.selector}`, span, 'is no component of a register');
        }
        break;
      case 'integer':
      case 'float':
      case 'sink':
        break;
    }
  }

  #register(name: string, span: PtxSpan): void {
    if (this.#known.has(name)) return;
    if (isSpecialRegister(name) || resolveName(this.#scope, name)?.kind === 'register') {
      this.#known.add(name);
    } else {
      this.#undeclared(name, span, 'is not declared as a register here');
    }
  }

  #symbol(name: string, span: PtxSpan, opcode: string): void {
    if (this.#functions.has(name) || this.#isLabel(name) || resolveName(this.#scope, name)) return;
    if (opcode === 'bra' || opcode === 'brx') this.#undefinedLabel(name, span);
    // The declaration may be in damaged text.
    else if (!this.#damaged) this.#undeclared(name, span, 'is not declared');
  }

  #isLabel(name: string): boolean {
    for (let scope = this.#labels; scope; scope = scope.outer) if (scope.labels.has(name)) return true;
    return false;
  }

  #initializer(initializer: Initializer, span: PtxSpan): void {
    if (initializer.kind === 'aggregate') {
      for (const element of initializer.elements) this.#initializer(element, span);
    } else if (initializer.kind === 'scalar' && initializer.operand.kind === 'symbol') {
      this.#told = new Set();
      this.#symbol(initializer.operand.name, span, '');
    }
  }

  #undefinedLabel(name: string, span: PtxSpan): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    this.#report('ptx/undefined-label', span, `no label \`${name}\` is in reach of this branch`);
  }

  #undeclared(name: string, span: PtxSpan, what: string): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    this.#report('ptx/undeclared', span, `\`${name}\` ${what}`);
  }

  #report(code: ValidationCode, span: PtxSpan, message: string): void {
    const sentence = message[0]!.toUpperCase() + message.slice(1);
    this.diagnostics.push({
      severity: 'error',
      code,
      message: `${sentence}. ${REMEDIES[code]}`,
      location: { file: this.#file, line: span.line, column: span.column },
    });
  }
}
