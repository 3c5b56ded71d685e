import type { Function as PtxFunction, Module, ModuleItem, PtxStatement } from '../../ptx/ast.ts';
import { printModule } from '../../ptx/printer.ts';

/**
 * The PTX of a kernel and of everything it uses, without parts that depend on unrelated code: line numbers, labels,
 * hashes of the unit, and numbers in the names of other symbols. Two kernels with the same normal form are equivalent.
 */
export function normalForm(module: Module, symbol: string): string {
  const items = new Map<string, ModuleItem>();
  for (const item of module.items) {
    if (item.kind === 'raw' || item.kind === 'damage' || item.kind === 'directive') continue;
    // A definition replaces an earlier declaration.
    if (!items.has(item.name) || isDefinition(item)) items.set(item.name, item);
  }
  const renamed = new Map<string, string>([[symbol, '@kernel']]);
  const pending = [symbol];
  const texts: string[] = [`.target ${module.target.join(', ')}`];
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    const item = items.get(next);
    if (!item) continue;
    const text = printItem(module, item).replace(/[$%]?[A-Za-z_$][\w$]*/g, (word) => {
      const parameter = /^(.*)_param_(\d+)$/.exec(word);
      if (parameter?.[1] === next) return `@param${parameter[2]}`;
      if (!items.has(word) && !word.startsWith('$') && !word.startsWith('__local_depot')) return word;
      let name = renamed.get(word);
      if (name === undefined) {
        name = `@${renamed.size}`;
        renamed.set(word, name);
        if (items.has(word)) pending.push(word);
      }
      return name;
    });
    texts.push(text);
  }
  return texts.join('\n');
}

function isDefinition(item: ModuleItem): boolean {
  return 'body' in item ? item.body !== undefined : item.kind === 'variable';
}

function printItem(module: Module, item: ModuleItem): string {
  const plain = item.kind === 'entry' || item.kind === 'func' ? withoutLines(item) : item;
  const text = printModule({
    ...module,
    items: [plain],
    files: new Map(),
    fileAttributes: new Map(),
    debugStrings: new Map(),
  });
  return text.replace(/^\.(?:version|target|address_size)\b.*$/gm, '').trim();
}

function withoutLines(item: PtxFunction): PtxFunction {
  return item.body ? { ...item, body: strip(item.body) } : item;
}

function strip(body: readonly PtxStatement[]): PtxStatement[] {
  return body.flatMap((statement): PtxStatement[] => {
    if (statement.kind === 'loc') return [];
    return statement.kind === 'scope' ? [{ ...statement, body: strip(statement.body) }] : [statement];
  });
}
