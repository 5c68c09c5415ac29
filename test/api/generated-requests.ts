/** Requests made from the OpenAPI document: sound ones, and for each parameter and field those that are not. */
import type { Openapi, OpenapiOperation, OpenapiParameter, Part } from './openapi.ts';

export interface GeneratedRequest {
  /** For messages. */
  readonly what: string;
  /** In the place of each parameter of the path. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: string;
  readonly body: unknown;
  /** The parameter or field that is out of place; undefined: none is. */
  readonly wrong: string | undefined;
}

/** Values by the name of a parameter or field, where any value of the right type would not do. */
export type Known = Readonly<Record<string, unknown>>;

interface Values {
  readonly sound: readonly unknown[];
  readonly wrong: readonly unknown[];
}

const numberOr = (value: unknown, fallback: number) => (typeof value === 'number' ? value : fallback);

function valuesOf(schema: Part): Values {
  if ('const' in schema) return { sound: [schema['const']], wrong: ['nonsense', 7, null] };
  if (Array.isArray(schema['anyOf'])) {
    const each = (schema['anyOf'] as readonly Part[]).map(valuesOf);
    const sound = each.flatMap((values) => values.sound);
    return { sound, wrong: each.flatMap(({ wrong }) => wrong).filter((value) => !sound.includes(value)) };
  }
  if (Array.isArray(schema['enum'])) return { sound: schema['enum'], wrong: ['nonsense', '', 7, null] };
  switch (schema['type']) {
    case 'boolean':
      return { sound: [true, false], wrong: ['true', 1, null] };
    case 'integer':
    case 'number': {
      const [min, max] = [numberOr(schema['minimum'], 0), numberOr(schema['maximum'], 1e6)];
      const isBounded = 'maximum' in schema;
      const beyond = isBounded ? [min - 1, max + 1] : [];
      const broken = schema['type'] === 'integer' ? [min + 0.5] : [];
      return { sound: [min, max], wrong: ['x', null, ...beyond, ...broken] };
    }
    case 'string': {
      const empty = 'minLength' in schema ? [''] : [];
      const long = 'maxLength' in schema ? ['x'.repeat(numberOr(schema['maxLength'], 0) + 1)] : [];
      return { sound: ['some'], wrong: [7, null, ...empty, ...long] };
    }
    case 'array':
      return { sound: [[], ['some']], wrong: ['some', [7], null, Array(1000).fill('some')] };
    default:
      throw new Error(`no way to fill ${JSON.stringify(schema)}`);
  }
}

function parameterValues({ name, schema }: OpenapiParameter, known: Known): Values {
  if (schema['type'] === 'array') {
    const { sound } = valuesOf(schema['items'] as Part);
    return { sound: [...sound, sound.join(',')], wrong: ['nonsense', `${sound[0]},nonsense`] };
  }
  const { sound, wrong } = valuesOf(schema);
  const isText = schema['type'] === 'string' && !('enum' in schema);
  return {
    sound: name in known ? [known[name]] : sound,
    // As text null and 7 are words like any others.
    wrong: wrong.filter((value) => value !== null && !(isText && value === 7)),
  };
}

function parameterRequests({ parameters }: OpenapiOperation, known: Known): readonly GeneratedRequest[] {
  const path = Object.fromEntries(
    parameters.filter((each) => each.in === 'path').map(({ name }) => [name, String(known[name])]),
  );
  const base = { path, query: '', body: undefined };
  const requests: GeneratedRequest[] = [{ ...base, what: 'bare', wrong: undefined }];
  for (const parameter of parameters) {
    const { name } = parameter;
    const { sound, wrong } = parameterValues(parameter, known);
    const add = (value: unknown, isWrong: boolean) => {
      const text = encodeURIComponent(String(value));
      const place =
        parameter.in === 'path' ? { path: { ...path, [name]: text } } : { query: `?${name}=${text}` };
      const what = `${name}=${text.slice(0, 40)}`;
      requests.push({ ...base, ...place, what, wrong: isWrong ? name : undefined });
    };
    // An empty last part is another path.
    for (const value of wrong) if (parameter.in === 'query' || value !== '') add(value, true);
    for (const value of sound) add(value, false);
  }
  return requests;
}

/** Each way in which `schema` may be met: properties, and those that must be there. */
function shapesOf(
  schema: Part,
): readonly { readonly properties: Part; readonly required: readonly string[] }[] {
  const properties = (schema['properties'] ?? {}) as Part;
  const required = (schema['required'] ?? []) as readonly string[];
  if (!Array.isArray(schema['oneOf'])) return [{ properties, required }];
  return (schema['oneOf'] as readonly Part[]).flatMap((choice) => {
    // A choice may be a whole description, not only a subset of the properties.
    if ('type' in choice) return shapesOf(choice);
    const forbidden = (choice['properties'] ?? {}) as Part;
    const allowed = Object.entries(properties).filter(([name]) => forbidden[name] !== false);
    const chosen = (choice['required'] ?? []) as readonly string[];
    return [{ properties: Object.fromEntries(allowed), required: [...required, ...chosen] }];
  });
}

/** Objects that `schema` describes, and such as it does not. */
export function bodyRequests(schema: Part, known: Known): readonly GeneratedRequest[] {
  const requests: GeneratedRequest[] = [];
  const add = (what: string, body: unknown, wrong?: string) =>
    requests.push({ what, path: {}, query: '', body, wrong });
  for (const { properties, required } of shapesOf(schema)) {
    const soundOf = (name: string) =>
      name in known ? [known[name]] : valuesOf(properties[name] as Part).sound;
    const least = Object.fromEntries(required.map((name) => [name, soundOf(name)[0]]));
    for (const name of required) {
      const { [name]: _, ...without } = least;
      add(`without ${name}`, without, name);
    }
    for (const name of Object.keys(properties)) {
      for (const value of valuesOf(properties[name] as Part).wrong)
        add(`${name}: ${String(value).slice(0, 40)}`, { ...least, [name]: value }, name);
      for (const value of soundOf(name)) {
        const body = { ...least, [name]: value };
        add(JSON.stringify(body), body);
      }
    }
  }
  for (const value of [[], 'text', 7, null]) add(JSON.stringify(value), value, 'body');
  return requests;
}

export function generateRequests(
  openapi: Openapi,
  operation: OpenapiOperation,
  known: Known,
): readonly GeneratedRequest[] {
  const { body } = operation;
  if (body === undefined) return parameterRequests(operation, known);
  const bodies = bodyRequests(openapi.resolve(body), known);
  const sound = bodies.find(({ wrong }) => wrong === undefined)?.body;
  const [, ...ofParameters] = parameterRequests(operation, known);
  return [...bodies, ...ofParameters.map((request) => ({ ...request, body: sound }))];
}
