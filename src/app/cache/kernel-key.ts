/** Position-independent text of a kernel: all PTX that its verdict depends on. */
import type { Kernel } from '../../ir/form/kernel.ts';
import type { InlinedAt, LocDirective, Function as PtxFunction, Module, ModuleItem, PtxStatement } from '../../ptx/ast.ts';
import { inlinedFunction } from '../../ptx/debug-information.ts';
import { printModule } from '../../ptx/printer.ts';

/**
 * The PTX of a kernel and of everything it uses, with the names that reports may contain, and with lines of the
 * kernel's file relative to the line where it begins. Independent of labels, file numbers and other kernels of the
 * module.
 *
 * The whole module is written if the kernel calls through pointers or takes the address of a function, because the set
 * of functions with an address is a property of the module.
 */
export function canonicalKernelPtx(module: Module, kernel: Kernel): string {
  const { symbol, location } = kernel;
  const items = new Map<string, ModuleItem>();
  for (const item of module.items) {
    if (!('name' in item)) continue;
    if (!items.has(item.name) || isDefinition(item)) items.set(item.name, item);
  }
  const seen = new Set([symbol]);
  const pending = [symbol];
  const texts = [module.version, module.target.join(','), String(module.addressSize)];
  const place = (at: InlinedAt): string => {
    const file = module.files.get(at.file) ?? '';
    const line = location && file === location.file ? `+${at.line - location.line}` : String(at.line);
    return `${file}:${at.line === 0 ? 'none' : line}:${at.column}${at.inlinedAt ? ` in ${place(at.inlinedAt)}` : ''}`;
  };
  const locText = (loc: LocDirective): string => `.loc ${place(loc)} ${inlinedFunction(module, loc) ?? ''}`;
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const item = items.get(next);
    if (!item) continue;
    const labels = new Map<string, string>();
    const text = printItem(module, item, locText).replace(/[$%]?[A-Za-z_$][\w$]*/g, (word) => {
      if (items.has(word)) {
        if (!seen.has(word)) pending.push(word);
        seen.add(word);
        return word;
      }
      if (!word.startsWith('$L_') && !word.startsWith('__local_depot')) return word;
      const label = labels.get(word) ?? `$${labels.size}`;
      labels.set(word, label);
      return label;
    });
    texts.push(text);
  }
  const own = texts.join('\n');
  return usesAddresses(own, items, seen) ? `${own}\n${printModule(module)}` : own;
}

/** Whether there are calls through pointers, or function names outside of calls. */
function usesAddresses(text: string, items: ReadonlyMap<string, ModuleItem>, seen: ReadonlySet<string>): boolean {
  if (/\bcall(?:prototype|targets)\b/.test(text)) return true;
  const functions = new Set([...seen].filter((name) => items.get(name)?.kind === 'func'));
  if (functions.size === 0) return false;
  const lines = text.split('\n').filter((line) => !/\bcall\b|^(?:\.\w+ )*\.func\b/.test(line));
  return lines.some((line) => (line.match(/[\w$]+/g) ?? []).some((word) => functions.has(word)));
}

function isDefinition(item: ModuleItem): boolean {
  return 'body' in item ? item.body !== undefined : item.kind === 'variable';
}

function printItem(module: Module, item: ModuleItem, locText: (loc: LocDirective) => string): string {
  const plain = item.kind === 'entry' || item.kind === 'func' ? placed(item, locText) : item;
  return printModule({
    ...module,
    version: '',
    target: [],
    items: [plain],
    files: new Map(),
    fileAttributes: new Map(),
  });
}

function placed(item: PtxFunction, locText: (loc: LocDirective) => string): PtxFunction {
  const visit = (body: readonly PtxStatement[]): PtxStatement[] =>
    body.map((statement): PtxStatement => {
      if (statement.kind === 'loc') return { kind: 'damage', span: statement.span, text: locText(statement) };
      return statement.kind === 'scope' ? { ...statement, body: visit(statement.body) } : statement;
    });
  return item.body ? { ...item, body: visit(item.body) } : item;
}
