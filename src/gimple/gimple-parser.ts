/** Reads what `gcc -fdump-tree-ssa-raw-lineno-asmname-blocks-eh-uid` prints. It never fails: unknown lines are opaque. */
import type {
  GimpleBlock,
  GimpleCase,
  GimpleForm,
  GimpleFunction,
  GimpleLocation,
  GimpleStatement,
  GimpleVariable,
  GimpleOperand,
} from './gimple.ts';
import { parseGimpleOperand, withoutLocation } from './gimple-operands.ts';

/** Functions of a dump that have not been parsed: most of them lead to no launch. */
interface GimpleDump {
  /** Text of each function, by its symbol. Functions of one symbol are left out. */
  readonly texts: ReadonlyMap<string, string>;
}

/** `;; Function dim3::dim3 (_ZN4dim3C2Ejjj, funcdef_no=1, decl_uid=2384, cgraph_uid=2, symbol_order=1)` */
const header = /^;; Function (.*?) ?\(([^\s(),]+), funcdef_no=\d+.*\)(?: \(.*\))?$/;

/** Splits a dump into its functions. */
export function splitDump(text: string): GimpleDump {
  const texts = new Map<string, string>();
  const repeated = new Set<string>();
  let symbol: string | undefined;
  let start = 0;
  const end = (at: number): void => {
    if (symbol === undefined) return;
    if (texts.has(symbol)) repeated.add(symbol);
    texts.set(symbol, text.slice(start, at));
  };
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf('\n', at);
    const next = newline < 0 ? text.length : newline + 1;
    if (text.startsWith(';; Function ', at)) {
      end(at);
      symbol = header.exec(text.slice(at, newline < 0 ? undefined : newline))?.[2];
      start = at;
    }
    at = next;
  }
  end(text.length);
  for (const one of repeated) texts.delete(one);
  return { texts };
}

/** A block that is being read. */
interface OpenBlock {
  readonly id: number;
  readonly lines: Line[];
  readonly successors: number[];
}

interface Line {
  readonly text: string;
  /** Of a label: the landing pad that begins with it. */
  readonly label: { readonly name: string; readonly landingPad: number | null } | null;
}

/**
 * Parses the text of one function.
 * @returns null if it has no body that could be read
 */
export function parseFunction(symbol: string, text: string): GimpleFunction | null {
  const lines = text.split('\n');
  const opening = lines.indexOf('{');
  const signature = signatureIn(lines.slice(1, opening));
  if (opening < 0 || signature === undefined) return null;
  const locals: GimpleVariable[] = [];
  const inResult: string[] = [];
  const blocks: OpenBlock[] = [];
  let isInSuccessors = false;
  for (const line of lines.slice(opening + 1)) {
    const begun = /^;; {3}basic block (\d+)/.exec(line);
    const block = blocks.at(-1);
    if (begun) blocks.push({ id: Number(begun[1]), lines: [], successors: [] });
    else if (line.startsWith(';;')) {
      const listed = /^;;\s+(?:(pred|succ):\s+)?(\d+|ENTRY|EXIT)\b/.exec(line);
      if (/^;;\s+(?:pred|succ):/.test(line)) isInSuccessors = /succ:/.test(line);
      if (listed && isInSuccessors && block && listed[2] !== 'EXIT') block.successors.push(Number(listed[2]));
    } else if (line === '}') break;
    else if (block) {
      const last = block.lines.at(-1);
      if (last && isOpenAssembly(last.text)) block.lines[block.lines.length - 1] = { ...last, text: `${last.text}\n${line.trim()}` };
      else if (line.trim() !== '') block.lines.push({ text: line.trim(), label: labelOf(line) });
    } else {
      const own = /^ {2}.* ([\w$]+)D\.\d+ \[value-expr: \*<retval>\];$/.exec(line)?.[1];
      if (own !== undefined) inResult.push(own);
      locals.push(...localOf(line));
    }
  }
  if (blocks.length === 0) return null;
  const name = header.exec(lines[0]!)?.[1] ?? symbol;
  const result = /^((?:[\w$]+ )*[\w$.<>:-]*?D\.\d+(?: (?:\*|&&?|const|restrict))*) /.exec(signature)?.[1] ?? '';
  const linkedBlocks = linked(blocks);
  if (linkedBlocks.some(({ statements }) => statements.some(returnsUnnamed)) && !/[*&]$/.test(result)) inResult.push('');
  return { symbol, name, result, parameters: parametersIn(signature), inResult, locals, blocks: linkedBlocks };
}

/** Whether more lines of a statement with assembly follow: brackets are opened at ends of lines, and closed in their own. */
function isOpenAssembly(text: string): boolean {
  const lines = text.split('\n');
  const depth = lines.filter((line) => line.endsWith('<')).length - lines.filter((line) => line === '>').length;
  return text.includes('gimple_asm <') && depth > 0;
}

/** Whether a statement returns an address without a name that the function was given: that of the object for the result. */
function returnsUnnamed(statement: GimpleStatement): boolean {
  return statement.kind === 'return' && statement.value?.kind === 'ssa' && statement.value.isInitial && statement.value.label === '';
}

/** The line with the result and the parameters. Lines of attributes and of regions of exceptions are around it. */
function signatureIn(lines: readonly string[]): string | undefined {
  return lines.find((line) => /\)$/.test(line) && !/^\s|^;;|^__attribute__/.test(line));
}

/** The parameters of a function whose text is not parsed further. */
export function parseGimpleParameters(text: string): readonly GimpleVariable[] {
  const opening = text.indexOf('\n{\n');
  const signature = opening < 0 ? undefined : signatureIn(text.slice(0, opening).split('\n').slice(1));
  return signature === undefined ? [] : parametersIn(signature);
}

/** Notes of the compiler's branch predictor, and empty statements. */
const isNoStatement = /^(?:\[[^\]]*\] )?(?:\/\/ predicted .* predictor\.|GIMPLE_NOP)$/;

function labelOf(line: string): Line['label'] {
  const label = /gimple_label <<?([^<>]+)>>?(?: \[LP (\d+)\])?$/.exec(line.trim());
  return label && { name: label[1]!, landingPad: label[2] === undefined ? null : Number(label[2]) };
}

/** Blocks with their statements, in which labels are the blocks that begin with them. */
function linked(blocks: readonly OpenBlock[]): GimpleBlock[] {
  const labels = new Map<string, number>();
  const pads = new Map<number, number>();
  for (const { id, lines } of blocks)
    for (const { label } of lines) {
      if (label) labels.set(label.name, id);
      if (label && label.landingPad !== null) pads.set(label.landingPad, id);
    }
  return blocks.map(({ id, lines, successors }) => {
    const statements = statementsOf(lines, labels, pads);
    const last = statements.at(-1);
    const isBranch = last !== undefined && /^(?:condition|switch|goto|return|dispatch|resume)$/.test(last.kind);
    const others = successors.filter((one) => one !== last?.landingPad);
    return { id, statements, successors, next: isBranch || others.length !== 1 ? null : others[0]! };
  });
}

function statementsOf(lines: readonly Line[], labels: ReadonlyMap<string, number>, pads: ReadonlyMap<number, number>): GimpleStatement[] {
  const statements: GimpleStatement[] = [];
  for (let at = 0; at < lines.length; at++) {
    const { text, label } = lines[at]!;
    if (label || isNoStatement.test(text)) continue;
    const pad = /\[LP (-?\d+)\] (?=gimple_)/.exec(text)?.[1];
    const branches = lines.slice(at + 1, at + 4).map((line) => line.text);
    const form = conditionOf(text, branches) ?? formOf(text, labels);
    if (form.kind === 'condition') at += 3;
    const landingPad = pad === undefined ? null : (pads.get(Number(pad)) ?? null);
    // A pad below 0 ends the program. One without a label would be taken for none: where the exception goes is unknown.
    const isUnknown = landingPad === null && Number(pad) > 0;
    statements.push({ location: locationOf(text), landingPad, ...(isUnknown ? { kind: 'opaque', text } : form) });
  }
  return statements;
}

function locationOf(text: string): GimpleLocation | null {
  const match = /^\[([^\]]+):(\d+):\d+(?: discrim \d+)?\]/.exec(text.replace(/^# /, ''));
  return match && { file: match[1]!, line: Number(match[2]) };
}

/** A condition with the three lines after it: `goto <bb 6>; [INV]`, `else`, `goto <bb 5>; [INV]`. */
function conditionOf(text: string, branches: readonly string[]): GimpleForm | null {
  const parts = partsOf(text, 'gimple_cond');
  if (!parts) return null;
  const [operator = '', left, right] = parts;
  const [then, otherwise] = [targetOf(branches[0] ?? ''), targetOf(branches[2] ?? '')];
  if (left === undefined || right === undefined || then === null || otherwise === null || branches[1] !== 'else') return null;
  return {
    kind: 'condition',
    operator,
    left: parseGimpleOperand(left),
    right: parseGimpleOperand(right),
    then,
    otherwise,
  };
}

function targetOf(text: string): number | null {
  const match = /^(?:\[[^\]]*\] )?goto <bb (\d+)>;/.exec(text);
  return match && Number(match[1]);
}

function formOf(text: string, labels: ReadonlyMap<string, number>): GimpleForm {
  const opaque: GimpleForm = { kind: 'opaque', text };
  const to = targetOf(text);
  if (to !== null) return { kind: 'goto', to };
  const assigned = partsOf(text, 'gimple_assign');
  if (assigned) return assignmentOf(assigned) ?? opaque;
  const called = partsOf(text, 'gimple_call');
  if (called) {
    const [callee, target, ...given] = called;
    if (callee === undefined || target === undefined) return opaque;
    return {
      kind: 'call',
      callee: parseGimpleOperand(callee),
      target: target === 'NULL' ? null : parseGimpleOperand(target),
      arguments: given.map(parseGimpleOperand),
    };
  }
  const joined = partsOf(text, 'gimple_phi');
  if (joined) return phiOf(joined) ?? opaque;
  const chosen = partsOf(text, 'gimple_switch');
  if (chosen) return switchOf(chosen, labels) ?? opaque;
  const [returned, ...more] = partsOf(text, 'gimple_return') ?? [];
  if (returned !== undefined && more.length === 0)
    return { kind: 'return', value: returned === 'NULL' ? null : parseGimpleOperand(returned) };
  if (partsOf(text, 'gimple_eh_dispatch')) return { kind: 'dispatch' };
  if (partsOf(text, 'gimple_resx')) return { kind: 'resume' };
  return opaque;
}

function assignmentOf(parts: readonly string[]): GimpleForm | null {
  const [operator, target, ...values] = parts;
  if (operator === undefined || target === undefined || values.length !== 3) return null;
  const [value] = values;
  if (operator === 'constructor' && /^\{CLOBBER(?:\(\w+\))?\}$/.test(value!))
    return { kind: 'clobber', target: parseGimpleOperand(target) };
  const operands = values.filter((one) => one !== 'NULL').map(parseGimpleOperand);
  return { kind: 'assign', operator, target: parseGimpleOperand(target), operands };
}

/** `iftmp.3_19, [a.cu:13:42] iftmp.3_75(23), 0(24)`: each value with the block that it comes from. */
function phiOf([target, ...values]: readonly string[]): GimpleForm | null {
  const sources: { value: GimpleOperand; from: number }[] = [];
  for (const text of values) {
    const match = /^(.*)\((\d+)\)$/s.exec(text);
    if (!match) return null;
    sources.push({ value: parseGimpleOperand(match[1]!), from: Number(match[2]) });
  }
  return target === undefined ? null : { kind: 'phi', target: parseGimpleOperand(target), sources };
}

/** `_11, default: <L17> [INV], case 1 ... 3: <L9> [INV]` */
function switchOf([value, ...listed]: readonly string[], labels: ReadonlyMap<string, number>): GimpleForm | null {
  const cases: GimpleCase[] = [];
  for (const text of listed) {
    const match = /^(?:default|case (-?\d+)(?: \.\.\. (-?\d+))?): <([^<>]+)>(?: \[[^\]]*\])?$/.exec(withoutLocation(text));
    const to = match && labels.get(match[3]!);
    if (!match || to === undefined || to === null) return null;
    const least = match[1];
    cases.push({ values: least === undefined ? null : [BigInt(least), BigInt(match[2] ?? least)], to });
  }
  return value === undefined ? null : { kind: 'switch', value: parseGimpleOperand(value), cases };
}

/** Parts of a statement of a kind; null if the line is another statement. */
function partsOf(text: string, kind: string): string[] | null {
  const start = text.indexOf(`${kind} <`);
  if (start < 0 || !/^(?:# |\[[^\]]*\] )*$/.test(text.slice(0, start))) return null;
  const rest = text.slice(start + kind.length + 2);
  // These suffixes do not affect values. Any other one, such as `[static-chain: …]`, makes the statement opaque.
  const end = rest.replace(/(?: \[(?:return slot optimization|tail call|LP -?\d+)\])+$/, '');
  return end.endsWith('>') ? splitAtCommas(end.slice(0, -1)) : null;
}

/** Parts between commas that no bracket or string encloses. */
function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  let types = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') {
      for (at++; at < text.length && text[at] !== '"'; at++) if (text[at] === '\\') at++;
    } else if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) depth--;
    // Angle brackets enclose the type of a memory access.
    else if (character === '<' && (types > 0 || /(?:MEM|BIT_FIELD_REF) $/.test(text.slice(Math.max(0, at - 14), at)))) types++;
    else if (character === '>' && types > 0) types--;
    else if (character === ',' && depth === 0 && types === 0) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  parts.push(text.slice(start).trim());
  return parts;
}

/** `  struct dim3D.312 gridD.4501;`, `  static intD.9 _ZZ1fiE1tD.2382;`, `  intD.9 vD.2419[3];` */
function localOf(line: string): GimpleVariable[] {
  const match = /^ {2}(static )?(.+?) ?([\w$.]*?(?:D\.\d+|_\d+))((?:\[[^\]]*\])*);$/.exec(line);
  return match ? [{ name: match[3]!, type: `${match[2]}${match[4]}`, isStatic: match[1] !== undefined }] : [];
}

function parametersIn(signature: string): GimpleVariable[] {
  const list = signature.slice(openingOf(signature) + 1, -1);
  return splitAtCommas(list).flatMap((text) => {
    const match = /^(.*?) ?([\w$.#]*D\.\d+)$/.exec(text);
    return match ? [{ name: match[2]!, type: match[1]!, isStatic: false }] : [];
  });
}

/** Where the list of parameters begins: the bracket that the last one closes. */
function openingOf(signature: string): number {
  let depth = 0;
  for (let at = signature.length - 1; at >= 0; at--) {
    if (signature[at] === ')') depth++;
    else if (signature[at] === '(' && --depth === 0) return at;
  }
  return signature.length;
}
