/** Validates documents against JSON Schemas of Selvage: only the keywords that `report.schema.json` uses. */

type Schema = boolean | { readonly [keyword: string]: unknown };

/** Keywords of a schema that do not constrain a document. */
const silent = new Set(['$schema', '$id', '$defs', 'title', 'description', 'examples', 'then']);

/**
 * The first error of a document; undefined if it is valid.
 * @param root the schema that `$defs` references refer to
 * @throws Error for an unknown keyword
 */
export function schemaFault(root: Schema, document: unknown): string | undefined {
  return faultOf(root, document, '', root);
}

function faultOf(schema: Schema, value: unknown, at: string, root: Schema): string | undefined {
  if (typeof schema === 'boolean') return schema ? undefined : `${place(at)} should not be there`;
  for (const [keyword, wanted] of Object.entries(schema)) {
    const fault = keywordFault(keyword, wanted, schema, value, at, root);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function keywordFault(
  keyword: string,
  wanted: unknown,
  schema: Exclude<Schema, boolean>,
  value: unknown,
  at: string,
  root: Schema,
): string | undefined {
  const meets = (part: unknown, inner: unknown, where = at): boolean => faultOf(part as Schema, inner, where, root) === undefined;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  switch (keyword) {
    case '$ref':
      return faultOf(definition(String(wanted), root), value, at, root);
    case 'type': {
      const types = Array.isArray(wanted) ? (wanted as string[]) : [String(wanted)];
      return types.some((type) => isOfType(type, value)) ? undefined : `${place(at)} is no ${types.join(' or ')}`;
    }
    case 'const':
      return value === wanted ? undefined : `${place(at)} is not ${JSON.stringify(wanted)}`;
    case 'enum':
      return (wanted as unknown[]).includes(value) ? undefined : `${place(at)} is not one of ${JSON.stringify(wanted)}`;
    case 'pattern':
      if (typeof value !== 'string' || new RegExp(String(wanted), 'u').test(value)) return undefined;
      return `${place(at)} does not match ${String(wanted)}`;
    case 'minimum':
      return typeof value === 'number' && value < Number(wanted) ? `${place(at)} is less than ${String(wanted)}` : undefined;
    case 'minItems':
      return Array.isArray(value) && value.length < Number(wanted) ? `${place(at)} has too few items` : undefined;
    case 'maxItems':
      return Array.isArray(value) && value.length > Number(wanted) ? `${place(at)} has too many items` : undefined;
    case 'items':
      return Array.isArray(value) ? first(value, (item, index) => faultOf(wanted as Schema, item, `${at}/${index}`, root)) : undefined;
    case 'contains':
      if (!Array.isArray(value) || value.some((item) => meets(wanted, item))) return undefined;
      return `${place(at)} lacks an item`;
    case 'required':
      if (!isObject) return undefined;
      return first(wanted as string[], (name) => (Object.hasOwn(value, name) ? undefined : `${place(at)} lacks ${name}`));
    case 'properties':
      if (!isObject) return undefined;
      return first(Object.entries(wanted as Record<string, Schema>), ([name, part]) =>
        Object.hasOwn(value, name) ? faultOf(part, (value as Record<string, unknown>)[name], `${at}/${name}`, root) : undefined,
      );
    case 'additionalProperties': {
      if (!isObject) return undefined;
      const known = new Set(Object.keys(schema['properties'] ?? {}));
      const others = Object.entries(value).filter(([name]) => !known.has(name));
      return first(others, ([name, inner]) => faultOf(wanted as Schema, inner, `${at}/${name}`, root));
    }
    case 'propertyNames':
      if (!isObject) return undefined;
      return first(Object.keys(value), (name) => (meets(wanted, name) ? undefined : `${place(at)} has the name ${JSON.stringify(name)}`));
    case 'oneOf': {
      const met = (wanted as unknown[]).filter((part) => meets(part, value)).length;
      return met === 1 ? undefined : `${place(at)} is ${met === 0 ? 'none' : 'several'} of what it may be`;
    }
    case 'if':
      return meets(wanted, value) && 'then' in schema ? faultOf(schema['then'] as Schema, value, at, root) : undefined;
    default:
      if (silent.has(keyword)) return undefined;
      throw new Error(`the schema has the keyword ${keyword}, which is not known here`);
  }
}

function first<Item>(items: readonly Item[], fault: (item: Item, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = fault(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

function definition(reference: string, root: Schema): Schema {
  const name = /^#\/\$defs\/(\w+)$/.exec(reference)?.[1];
  const definitions = typeof root === 'boolean' ? undefined : (root['$defs'] as Record<string, Schema> | undefined);
  const found = name === undefined ? undefined : definitions?.[name];
  if (found === undefined) throw new Error(`the schema refers to ${reference}, which it does not have`);
  return found;
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    default:
      return typeof value === type;
  }
}

function place(at: string): string {
  return at === '' ? 'the document' : at.slice(0, 200);
}
