/** Records of a unit: objects that consist only of their fields are followed; others run code. */
import { childIn, nodesWhere, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { integerType, isFloatType } from '../syntax/basic-type.ts';
import { type Declarations, sourceTextOf } from './declarations.ts';

/** Code of a unit that runs without a call in the source, or by another function than the call names. */
interface ImplicitCode {
  /** Operators that the unit overloads: `<<`, `[]`, `()`. */
  readonly operators: ReadonlySet<string>;
  /** Names of methods that objects of other types may override. */
  readonly virtualMethods: ReadonlySet<string>;
  /** Whether some record has a destructor with a non-empty body. */
  readonly hasDestructors: boolean;
  /** Records by name, in any scope; false for those that are not followed. */
  readonly followed: ReadonlyMap<string, boolean>;
}

const known = new WeakMap<Declarations, ImplicitCode>();

/** The implicit code of a unit. */
export function implicitCodeOf(declarations: Declarations): ImplicitCode {
  let code = known.get(declarations);
  if (!code) known.set(declarations, (code = readImplicitCode(declarations)));
  return code;
}

/** The name of the record that a type names, without qualifiers. */
export function recordNamed(type: string): string {
  return type.replace(/<[^]*$/, '').replace(/^.*::/s, '').replace(/\b(?:const|volatile|struct|class|union|typename)\b|[&\s]/g, ''); // oxfmt-ignore
}

/** Whether only assignments change an object of a record of the unit; true for other types. */
export function isFollowedType(type: string, declarations: Declarations): boolean {
  if (/[*\]]\s*(?:const)?\s*$/.test(type)) return true;
  return implicitCodeOf(declarations).followed.get(recordNamed(type)) !== false;
}

/** Whether a type is a record with a constructor in the source. */
export function hasConstructor(type: string, { functions }: Declarations): boolean {
  const name = recordNamed(type);
  return (functions.get(name) ?? []).some(({ record }) => record === name);
}

/** Whether a type is a template of a library, such as `std::vector<int>`: its objects are not followed. */
export function isLibraryType(type: string, declarations: Declarations): boolean {
  if (/[*&\]]\s*(?:const)?\s*$/.test(type) || !/<|\bstd::/.test(type)) return false;
  const isNumber = integerType(type) !== undefined || isFloatType(type);
  return !isNumber && !implicitCodeOf(declarations).followed.has(recordNamed(type)) && !/\b(?:integral_constant|bool_constant|true_type|false_type)\b/.test(type); // oxfmt-ignore
}

function readImplicitCode(declarations: Declarations): ImplicitCode {
  const { text, root } = declarations;
  const operators = new Set([...text.matchAll(/\boperator\s*(\(\s*\)|\[\s*\]|->\*?|[-+*/%^&|~!=<>,]+)/g)].map(([, name = '']) => name.replace(/\s/g, ''))); // oxfmt-ignore
  const virtualMethods = new Set<string>();
  const records = new Map<string, boolean>();
  // Methods of types within functions are not declarations of the unit.
  const isRecord = ({ type }: SyntaxNode): boolean => /^(?:struct|class|union)_specifier$/.test(type);
  const locals = new Set<SyntaxNode>();
  const all: SyntaxNode[] = [];
  const collect = (node: SyntaxNode, isLocal: boolean): void => {
    if (isRecord(node)) all.push(node);
    if (isRecord(node) && isLocal) locals.add(node);
    for (const child of node.children) collect(child, isLocal || node.type === 'compound_statement');
  };
  collect(root, false);
  const nested: [name: string, fields: readonly string[]][] = [];
  for (const node of all) {
    const body = childIn(node, 'body');
    if (!body) continue;
    const name = recordNamed(nameOf(node, text));
    for (const member of body.children) {
      const isVirtual = member.children.some(({ type }) => type === 'virtual') || nodesWhere(member, ({ type }) => type === 'virtual_specifier').length > 0; // oxfmt-ignore
      const [called] = isVirtual ? nodesWhere(member, ({ type }) => type === 'function_declarator') : [];
      const declarator = called && childIn(called, 'declarator');
      if (declarator) virtualMethods.add(sourceTextOf(text, declarator));
    }
    if (name === '') continue;
    const isPlain = !records.has(name) && isFollowed(node, body, name, text, locals.has(node));
    records.set(name, isPlain);
    const fields = body.children.flatMap((member) => (member.type === 'field_declaration' && childIn(member, 'type') ? [recordNamed(sourceTextOf(text, childIn(member, 'type')!))] : [])); // oxfmt-ignore
    nested.push([name, fields]);
  }
  // A record with a field that is not followed is not followed either.
  for (let isChanged = true; isChanged;) {
    isChanged = false;
    for (const [name, fields] of nested)
      if (records.get(name) && fields.some((field) => records.get(field) === false)) {
        records.set(name, false);
        isChanged = true;
      }
  }
  return { operators, virtualMethods, hasDestructors: /~\s*[A-Za-z_]\w*\s*\([^)]*\)[^;{=]*\{\s*[^}\s]/.test(text), followed: records }; // oxfmt-ignore
}

function nameOf(node: SyntaxNode, text: string): string {
  const name = childIn(node, 'name');
  if (name) return sourceTextOf(text, name);
  // `typedef struct { … } Name;`
  return /^\s*([A-Za-z_]\w*)\s*;/.exec(text.slice(node.end, node.end + 200))?.[1] ?? '';
}

/** Whether objects of a record consist of their fields only, and creating one runs only constructors. */
function isFollowed(node: SyntaxNode, body: SyntaxNode, name: string, text: string, isLocal: boolean): boolean {
  if (node.type === 'union_specifier') return false;
  if (node.children.some(({ type }) => type === 'base_class_clause')) return false;
  const written = sourceTextOf(text, body);
  if (/\b(?:virtual|override|operator|union)\b/.test(written)) return false;
  const isDestroyed = new RegExp(`~\\s*${name}\\s*\\(\\s*\\)(?!\\s*(?:noexcept\\s*)?=\\s*default)`).test(written);
  if (isDestroyed || (isLocal && nodesWhere(body, ({ type }) => type === 'function_declarator').length > 0))
    return false;
  // The record has a user-defined copy constructor or assignment, which may differ from a copy of the fields.
  if (new RegExp(`\\b${name}\\s*\\(\\s*(?:const\\s+)?(?:\\w+::)*${name}\\b[^,)]*&`).test(written)) return false;
  return body.children.every((member) => {
    if (member.type !== 'field_declaration') return member.type !== 'ERROR';
    const isFunction = nodesWhere(member, ({ type }) => type === 'function_declarator').length > 0;
    const isReference = member.children.some((child) => child.field === 'declarator' && nodesWhere(child, ({ type }) => type === 'reference_declarator').length > 0); // oxfmt-ignore
    const isPart = nodesWhere(member, ({ type }) => type === 'bitfield_clause' || type === 'ERROR').length > 0;
    return isFunction || (!isReference && !isPart);
  });
}
