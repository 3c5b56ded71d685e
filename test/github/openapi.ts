/** GitHub's published description of its REST API, as a validator of requests and responses. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Ajv, type ValidateFunction } from 'ajv';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type JsonObject = { [key: string]: Json };

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: JsonObject;
}

interface Operation {
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, unknown>>; readonly required?: boolean };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: object }>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly examples: Readonly<Record<string, { readonly value: JsonObject }>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

export interface Api {
  /** The template that a path matches (`/repos/{owner}/{repo}/pulls/{pull_number}`), if the API has it. */
  route(method: string, path: string): string | undefined;
  /** Undefined if GitHub would accept the request, otherwise the error. */
  requestFault(method: string, template: string, query: URLSearchParams, body: unknown): string | undefined;
  /** Undefined if the description allows the response. */
  responseFault(method: string, template: string, status: number, body: unknown): string | undefined;
  /** A copy of a named example. */
  example(name: string): JsonObject;
}

let loaded: Api | undefined;

/** Loads the description, which takes about a second; later calls share it. */
export function loadApi(): Api {
  return (loaded ??= createApi());
}

function createApi(): Api {
  const file = createRequire(import.meta.url).resolve('@octokit/openapi/generated/api.github.com.json');
  const description = JSON.parse(readFileSync(file, 'utf8')) as Description;
  toJsonSchema(description as unknown as Json);
  // GitHub sends null for the line of an outdated comment, contrary to its description.
  allowNull(description, 'pull-request-review-comment', ['line', 'position', 'start_line', 'start_side']);
  const ajv = new Ajv({ strict: false, validateFormats: false, addUsedSchema: false });
  ajv.addSchema(description, 'github');
  const compiled = (pointer: string): ValidateFunction => {
    const validate = ajv.getSchema(`github#${pointer}`);
    if (!validate) throw new Error(`the description has no schema at ${pointer}`);
    return validate;
  };
  const operation = (method: string, template: string) => description.paths[template]?.[method.toLowerCase()];
  const patterns = Object.keys(description.paths)
    .filter((template) => /^\/(?:repos|app|app-manifests)\/|^\/user$/.test(template))
    .map((template) => ({ template, pattern: pathPattern(template) }));

  return {
    route(method, path) {
      return patterns.find(({ template, pattern }) => pattern.test(path) && operation(method, template))?.template;
    },
    requestFault(method, template, query, body) {
      const described = operation(method, template) as Operation;
      const parameters = (described.parameters ?? []).map((parameter) =>
        '$ref' in parameter ? (description.components.parameters[parameter.$ref.split('/').pop() as string] as Parameter) : parameter,
      );
      for (const [name, value] of query) {
        const parameter = parameters.find((one) => one.in === 'query' && one.name === name);
        if (!parameter) return `query parameter ${name} does not exist`;
        const typed = parameter.schema['type'] === 'integer' ? Number(value) : value;
        const validate = ajv.compile(parameter.schema);
        if (!validate(typed)) return `query parameter ${name}: ${ajv.errorsText(validate.errors)}`;
      }
      if (!described.requestBody?.content) {
        return body === undefined ? undefined : 'a body where the API takes none';
      }
      if (body === undefined) return described.requestBody.required === true ? 'the body is missing' : undefined;
      const pointer = `/paths/${encode(template)}/${method.toLowerCase()}/requestBody/content/application~1json/schema`;
      const validate = compiled(pointer);
      if (!validate(body)) return ajv.errorsText(validate.errors);
      const unknown = unknownProperties(pointer, description, body);
      return unknown === undefined ? undefined : `property ${unknown} does not exist`;
    },
    responseFault(method, template, status, body) {
      const response = (operation(method, template) as Operation).responses[String(status)];
      const pointer = response?.$ref?.slice(1) ?? `/paths/${encode(template)}/${method.toLowerCase()}/responses/${status}`;
      // The description lacks errors that any operation can have.
      if (!response && status >= 400) return undefined;
      if (!response) return `status ${status} is not one of ${method} ${template}`;
      if (body === undefined) return response.content ? 'the body is missing' : undefined;
      const validate = compiled(`${pointer}/content/application~1json/schema`);
      return validate(body) ? undefined : ajv.errorsText(validate.errors);
    },
    example(name) {
      const example = description.components.examples[name];
      if (!example) throw new Error(`the description has no example ${name}`);
      return structuredClone(example.value);
    },
  };
}

/** Names that no schema at the pointer has, one level deep: GitHub ignores them, so they are errors of the caller. */
function unknownProperties(pointer: string, description: Description, body: unknown): string | undefined {
  if (body === null || typeof body !== 'object') return undefined;
  const schema = pointer
    .slice(1)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((node, part) => node[part] as JsonObject, description as unknown as JsonObject);
  const known = schema['properties'];
  if (known === undefined || known === null || typeof known !== 'object') return undefined;
  return Object.keys(body).find((name) => !(name in known));
}

/** `nullable` in OpenAPI 3.0 is the type `null` in JSON Schema. */
function toJsonSchema(node: Json): void {
  if (node === null || typeof node !== 'object') return;
  if (Array.isArray(node)) {
    node.forEach(toJsonSchema);
    return;
  }
  for (const [key, value] of Object.entries(node)) if (key !== 'example' && key !== 'examples') toJsonSchema(value);
  if (node['nullable'] !== true) return;
  delete node['nullable'];
  if (typeof node['type'] === 'string') {
    node['type'] = [node['type'], 'null'];
    if (Array.isArray(node['enum'])) node['enum'] = [...node['enum'], null];
  } else {
    const rest = { ...node };
    for (const key of Object.keys(node)) delete node[key];
    node['anyOf'] = [{ type: 'null' }, rest];
  }
}

function allowNull(description: Description, schema: string, properties: readonly string[]): void {
  const components = description.components as unknown as { schemas: Record<string, { properties: JsonObject }> };
  for (const name of properties) {
    const property = components.schemas[schema]?.properties[name] as JsonObject;
    if (property['type'] === 'integer') property['type'] = ['integer', 'null'];
  }
}

function pathPattern(template: string): RegExp {
  const parts = template.split(/\{[^}]*\}/).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('([^/]+)')}$`);
}

function encode(template: string): string {
  return encodeURIComponent(template.replaceAll('~', '~0').replaceAll('/', '~1'));
}
