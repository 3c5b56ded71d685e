/** Prints a module as PTX that ptxas accepts, and that parses to the same tree except for positions. */
import type {
  BodyDirective,
  Function,
  Initializer,
  PtxInstruction,
  LocDirective,
  Module,
  PtxOperand,
  PtxStatement,
  VariableDeclaration,
} from './ast.ts';

/** The text of a module. Damage is printed as it was read. */
export function printModule(module: Module): string {
  const lines: string[] = [];
  if (module.version !== '') lines.push(`.version ${module.version}`);
  if (module.target.length > 0) lines.push(`.target ${module.target.join(', ')}`);
  lines.push(`.address_size ${module.addressSize}`, '');
  for (const item of module.items) {
    switch (item.kind) {
      case 'variable':
        lines.push(printVariable(item));
        break;
      case 'directive':
        lines.push(printDirective(item));
        break;
      case 'raw':
      case 'damage':
        lines.push(item.text);
        break;
      case 'entry':
      case 'func':
        printFunction(item, lines);
        break;
    }
  }
  for (const [index, path] of module.files) {
    const attributes = module.fileAttributes.get(index);
    lines.push(`.file ${index} "${path}"${attributes === undefined ? '' : ` ${attributes}`}`);
  }
  return `${lines.join('\n')}\n`;
}

function printFunction(item: Function, lines: string[]): void {
  const linkage = item.linkage.map((word) => `.${word} `).join('');
  const attributes = (item.attributes ?? []).map((attribute) => `.${attribute} `).join('');
  const results = item.results.length > 0 ? `(${item.results.map(printDeclarator).join(', ')}) ` : '';
  lines.push(`${linkage}.${item.kind} ${attributes}${results}${item.name}(`);
  lines.push(item.parameters.map((parameter) => `\t${printDeclarator(parameter)}`).join(',\n'), ')');
  for (const { name, text } of item.directives) {
    if (name === 'pragma') lines.push(`.pragma ${text};`);
    else if (name === 'attribute') lines.push(`.attribute${text}`);
    else lines.push(text === '' ? `.${name}` : `.${name} ${text}`);
  }
  if (!item.body) {
    lines.push(';');
    return;
  }
  lines.push('{');
  printBody(item.body, lines, '\t');
  lines.push('}');
}

function printBody(body: readonly PtxStatement[], lines: string[], indent: string): void {
  for (const statement of body) {
    switch (statement.kind) {
      case 'instruction':
        lines.push(`${indent}${printInstruction(statement)}`);
        break;
      case 'label':
        lines.push(`${statement.name}:`);
        break;
      case 'variable':
        lines.push(`${indent}${printVariable(statement)}`);
        break;
      case 'loc':
        lines.push(`${indent}${printLoc(statement)}`);
        break;
      case 'scope':
        lines.push(`${indent}{`);
        printBody(statement.body, lines, `${indent}\t`);
        lines.push(`${indent}}`);
        break;
      case 'directive':
        lines.push(`${indent}${printDirective(statement)}`);
        break;
      case 'marker': {
        const keyword = statement.name === 'candidate' ? 'SELVAGE_CANDIDATE' : `selvage.${statement.name}`;
        lines.push(`${indent}// ${keyword} ${printOperand(statement.operand)};`);
        break;
      }
      case 'damage':
        lines.push(`${indent}${statement.text}`);
        break;
    }
  }
}

/** One instruction with its semicolon, on one line. */
function printInstruction(instruction: PtxInstruction): string {
  const { guard, opcode, modifiers, operands } = instruction;
  const predicate = guard ? `@${guard.negated ? '!' : ''}${guard.register} ` : '';
  const name = modifiers.length > 0 ? `${opcode}.${modifiers.join('.')}` : opcode;
  const list = operands.length > 0 ? ` ${operands.map(printOperand).join(', ')}` : '';
  return `${predicate}${name}${list};`;
}

/** One operand as PTX. */
function printOperand(operand: PtxOperand): string {
  switch (operand.kind) {
    case 'register':
      return operand.name;
    case 'integer':
    case 'float':
      return operand.text;
    case 'symbol': {
      const name = operand.generic ? `generic(${operand.name})` : operand.name;
      return `${name}${printOffset(operand.offset)}`;
    }
    case 'address': {
      const inside = operand.base ? `${operand.base.name}${printOffset(operand.offset)}` : `${operand.offset}`;
      return `[${inside}]${operand.unified ? '.unified' : ''}`;
    }
    case 'element':
      return `${operand.array}[${printOperand(operand.index)}${printOffset(operand.offset)}]`;
    case 'vector':
      return `{${operand.elements.map(printOperand).join(', ')}}`;
    case 'pair':
      return `${printOperand(operand.first)}|${printOperand(operand.second)}`;
    case 'not':
      return `!${printOperand(operand.operand)}`;
    case 'negative':
      return `-${printOperand(operand.operand)}`;
    case 'sink':
      return '_';
    case 'list':
      return `(${operand.elements.map(printOperand).join(', ')})`;
    case 'component':
      return `${operand.base}.${operand.selector}`;
    case 'bracketed':
      return `[${operand.elements.map(printOperand).join(', ')}]`;
  }
}

function printOffset(offset: bigint): string {
  return offset === 0n ? '' : `+${offset}`;
}

function printVariable(variable: VariableDeclaration): string {
  const linkage = variable.linkage.map((word) => `.${word} `).join('');
  const value = variable.initializer ? ` = ${printInitializer(variable.initializer)}` : '';
  return `${linkage}${printDeclarator(variable)}${value};`;
}

/** A variable without linkage and initial value, as in a list of parameters. */
function printDeclarator(variable: VariableDeclaration): string {
  const { space, attributes, alignment, vector, type, pointer, name, count, dimensions } = variable;
  let text = `.${space}`;
  for (const attribute of attributes) text += attribute.startsWith('[') ? attribute : ` .${attribute}`;
  if (alignment !== undefined) text += ` .align ${alignment}`;
  if (vector !== undefined) text += ` .v${vector}`;
  text += ` .${type}`;
  if (pointer) {
    text += ' .ptr';
    if (pointer.space !== undefined) text += ` .${pointer.space}`;
    if (pointer.alignment !== undefined) text += ` .align ${pointer.alignment}`;
  }
  text += ` ${name}`;
  if (count !== undefined) text += `<${count}>`;
  for (const extent of dimensions) text += `[${extent ?? ''}]`;
  return text;
}

function printInitializer(initializer: Initializer): string {
  switch (initializer.kind) {
    case 'aggregate':
      return `{${initializer.elements.map(printInitializer).join(', ')}}`;
    case 'field':
      return `${initializer.name} = ${initializer.value}`;
    case 'scalar': {
      const operand = printOperand(initializer.operand);
      return initializer.mask === undefined ? operand : `${initializer.mask}(${operand})`;
    }
  }
}

function printDirective(directive: BodyDirective): string {
  const label = directive.label === undefined ? '' : `${directive.label}: `;
  return `${label}.${directive.name} ${directive.text};`;
}

function printLoc(loc: LocDirective): string {
  let text = `.loc ${loc.file} ${loc.line} ${loc.column}`;
  if (loc.functionName !== undefined) text += `, function_name ${loc.functionName}`;
  if (loc.inlinedAt) text += `, inlined_at ${loc.inlinedAt.file} ${loc.inlinedAt.line} ${loc.inlinedAt.column}`;
  return text;
}
