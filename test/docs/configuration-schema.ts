/** The JSON Schemas of `.selvage.yml` and of files of facts, from the schemas that read them. */
import { configurationSchema, factsSchema } from '../../src/settings/configuration-schema.ts';
import { codes } from '../../src/source/codes.ts';

/** A schema or an action of valibot, as far as it is looked into. */
interface Node {
  readonly kind: 'schema' | 'validation' | 'transformation' | 'metadata';
  readonly type: string;
  readonly pipe?: readonly Node[];
  readonly wrapped?: Node;
  readonly default?: unknown;
  readonly entries?: Readonly<Record<string, Node>>;
  readonly item?: Node;
  readonly value?: Node;
  readonly options?: readonly unknown[];
  readonly literal?: unknown;
  readonly requirement?: unknown;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A JSON Schema, as far as it is made here. */
export interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly additionalProperties?: JsonSchema | false;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The JSON Schema of the configuration. */
export function configurationJsonSchema(): JsonSchema & Readonly<Record<'$schema' | '$id' | 'title', string>> {
  const schema = schemaOf(configurationSchema);
  const { suppress, ...others } = schema.properties ?? {};
  const item = suppress?.items;
  const code: JsonSchema = { ...item?.properties?.['code'], enum: Object.keys(codes) };
  const properties = {
    ...others,
    suppress: { ...suppress, items: { ...item, properties: { ...item?.properties, code } } },
  };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'configuration.schema.json',
    title: 'Configuration of Selvage',
    ...schema,
    properties,
  };
}

/** The JSON Schema of a file of facts. */
export function factsJsonSchema(): JsonSchema {
  const head = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'facts.schema.json',
    title: 'Facts on kernels for Selvage',
  };
  return { ...head, ...schemaOf(factsSchema) };
}

function schemaOf(node: Node): JsonSchema {
  if (node.type === 'optional') {
    const inner = schemaOf(node.wrapped!);
    const value = typeof node.default === 'bigint' ? Number(node.default) : node.default;
    return isPlain(value) ? { ...inner, default: value } : inner;
  }
  if (!node.pipe) return ownSchema(node);
  return node.pipe.reduce<JsonSchema>((made, step) => ({ ...made, ...stepOf(step, node) }), {});
}

/** Defaults that are lists or mappings are empty and not documented. */
function isPlain(value: unknown): boolean {
  return value !== undefined && typeof value !== 'object';
}

/** Keywords that a step of a pipe adds. */
function stepOf(step: Node, whole: Node): JsonSchema | Readonly<Record<string, unknown>> {
  if (step.kind === 'schema') return step === whole ? ownSchema(step) : schemaOf(step);
  if (step.type === 'description') return { description: step.description! };
  if (step.type === 'metadata') return step.metadata!;
  if (step.type === 'regex') return { pattern: (step.requirement as RegExp).source };
  if (step.type === 'non_empty') return { minLength: 1 };
  if (step.type === 'min_length') return { minItems: step.requirement };
  if (step.type === 'max_length') return { maxLength: step.requirement };
  return {};
}

function ownSchema(node: Node): JsonSchema {
  switch (node.type) {
    case 'strict_object': {
      const entries = Object.entries(node.entries!);
      return {
        type: 'object',
        properties: Object.fromEntries(entries.map(([key, value]) => [key, schemaOf(value)])),
        required: entries.flatMap(([key, { type }]) => (type === 'optional' ? [] : [key])),
        additionalProperties: false,
      };
    }
    case 'array':
      return { type: 'array', items: schemaOf(node.item!) };
    case 'record':
      return { type: 'object', additionalProperties: schemaOf(node.value!) };
    case 'picklist':
      return { enum: node.options! };
    case 'union':
      return { anyOf: node.options!.map((option) => schemaOf(option as Node)) };
    case 'literal':
      return { const: typeof node.literal === 'bigint' ? Number(node.literal) : node.literal };
    case 'bigint':
      return { type: 'integer' };
    case 'string':
    case 'number':
    case 'boolean':
      return { type: node.type };
    case 'custom':
      return { type: 'object' };
    default:
      throw new Error(`no JSON Schema for ${node.type}`);
  }
}
