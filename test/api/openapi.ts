/** The OpenAPI document, for tests that hold answers against it: status, headers and body. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Test } from 'tap';
import { jsonOf, type RawAnswer, valuesOf } from '../helpers/clients/http.ts';

/** A JSON object. */
export type Part = Readonly<Record<string, unknown>>;

export interface OpenapiParameter {
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly required?: boolean;
  readonly schema: Part;
}

export interface OpenapiOperation {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly id: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly isExperimental: boolean;
  readonly feature: string | undefined;
  readonly parameters: readonly OpenapiParameter[];
  /** The schema of the body; undefined: none is looked at. */
  readonly body: Part | undefined;
  readonly responses: Readonly<Record<string, Part>>;
}

// Read off the wire; the document's own schema says the rest, and is checked against.
const partAt = (part: Part, key: string) => (part[key] ?? {}) as Part;
const pointer = (...keys: readonly string[]) =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

export class Openapi {
  readonly document: Part;
  readonly operations: readonly OpenapiOperation[];
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: Part) {
    this.document = document;
    this.#ajv.addSchema(document, 'openapi.json');
    this.operations = Object.entries(partAt(document, 'paths')).flatMap(([path, methods]) =>
      Object.entries(methods as Part).map(([method, operation]) =>
        readOperation(path, method, operation as Part),
      ),
    );
  }

  /** Every operation as `GET /api/usage`. */
  get names(): readonly string[] {
    return this.operations.map(({ method, path }) => `${method} ${path}`);
  }

  named(name: string): Part {
    return partAt(partAt(partAt(this.document, 'components'), 'schemas'), name);
  }

  /** `part`, or what it refers to. */
  resolve(part: Part): Part {
    const { $ref } = part;
    if (typeof $ref !== 'string') return part;
    return $ref
      .slice(2)
      .split('/')
      .reduce((at, key) => partAt(at, key.replaceAll('~1', '/').replaceAll('~0', '~')), this.document);
  }

  /** Whether `value` is what the schema at `where` describes; what is wrong with it, in words. */
  judge(where: string, value: unknown): string | undefined {
    let validate = this.#validators.get(where);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `openapi.json#${where}` });
      this.#validators.set(where, validate);
    }
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors, { dataVar: '' });
  }

  judgeNamed(name: string, value: unknown): string | undefined {
    return this.judge(pointer('components', 'schemas', name), value);
  }

  /** The answer has a documented status, its headers and its body. */
  checkAnswer(t: Test, operation: OpenapiOperation, what: string, answer: RawAnswer): void {
    const { path, method, responses } = operation;
    const listed = responses[String(answer.status)];
    if (listed === undefined) {
      t.fail(`${what}: ${answer.status} is not documented: ${answer.body.toString().slice(0, 300)}`);
      return;
    }
    const response = this.resolve(listed);
    this.#checkHeaders(t, what, partAt(response, 'headers'), answer);
    const content = partAt(response, 'content');
    const types = Object.keys(content);
    const [type] = valuesOf(answer, 'content-type').map((value) => value.split(';')[0]);
    t.ok(type === undefined ? types.length === 0 : types.includes(type), `${what}: ${answer.status} ${type}`);
    if (type === undefined) t.equal(answer.body.length, 0, `${what}: ${answer.status} has no body`);
    if (type !== 'application/json') return;
    const where = pointer('paths', path, method.toLowerCase(), 'responses', String(answer.status));
    const flaw = this.judge(`${where}${pointer('content', type, 'schema')}`, jsonOf(answer));
    t.equal(flaw, undefined, `${what}: ${answer.status} has the documented body`);
  }

  #checkHeaders(t: Test, what: string, headers: Part, answer: RawAnswer): void {
    for (const [name, listed] of Object.entries(headers)) {
      const { schema, required } = this.resolve(listed as Part);
      const values = valuesOf(answer, name);
      if (required === true) t.equal(values.length, 1, `${what}: ${answer.status} has ${name}`);
      for (const value of values) {
        const flaw = this.#ajv.validate(schema as Part, value) ? undefined : this.#ajv.errorsText();
        t.equal(flaw, undefined, `${what}: ${name} is as documented`);
      }
    }
  }
}

function readOperation(path: string, method: string, operation: Part): OpenapiOperation {
  const feature = operation['x-feature'];
  const body = partAt(partAt(partAt(operation, 'requestBody'), 'content'), 'application/json')['schema'];
  return {
    path,
    method: method === 'get' ? 'GET' : 'POST',
    id: String(operation['operationId']),
    tags: operation['tags'] as readonly string[],
    summary: String(operation['summary']),
    isExperimental: operation['x-experimental'] === true,
    feature: typeof feature === 'string' ? feature.replace('features.', '') : undefined,
    parameters: (operation['parameters'] ?? []) as readonly OpenapiParameter[],
    body: body as Part | undefined,
    responses: operation['responses'] as Readonly<Record<string, Part>>,
  };
}
