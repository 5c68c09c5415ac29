/** Parameters of requests: those of HTTP only, and those of a request's schema. */
import type * as v from 'valibot';
import { SECTIONS } from '../host/host.ts';
import { HOST_STATES } from '../wire/host-states.ts';
import type { ParameterName } from '../wire/operation-docs.ts';
import type { DocumentedOperation } from './operations.ts';
import type { Json, SchemaWriter } from './schemas.ts';

const FLAG = { type: 'string', enum: ['1', 'true', '0', 'false'] };

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required?: true;
  readonly description: string;
  readonly schema: Json;
  /** `fields=cpu,memory`, not one parameter each. */
  readonly explode?: false;
  readonly style?: 'form';
}

const NAMED: Readonly<Record<ParameterName, Parameter>> = {
  fields: {
    name: 'fields',
    in: 'query',
    description:
      'The sections to send, separated by commas; all of them when absent or empty. Case does not matter; unknown names are ignored and listed in `X-Ignored-Fields`.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { type: 'string', enum: [...SECTIONS] } },
  },
  detail: {
    name: 'detail',
    in: 'query',
    description: 'On for `1` and `true`: every key that is known, with null for values that cannot be read.',
    schema: { ...FLAG, default: '0' },
  },
  name: {
    name: 'name',
    in: 'path',
    required: true,
    description: 'The name, percent-encoded; or a pid, unless a process has that number as its name.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description:
      'The id of the machine, or its name, percent-encoded, where no other machine has that name or id.',
    schema: { type: 'string', minLength: 1, maxLength: 253 },
  },
  label: {
    name: 'label',
    in: 'query',
    description: 'Only machines with this label, `NAME:VALUE`; several: with all of them, at most 16.',
    schema: { type: 'array', items: { type: 'string' } },
  },
  state: {
    name: 'state',
    in: 'query',
    description: 'Only machines in this state; several: in one of them.',
    schema: { type: 'array', items: { type: 'string', enum: [...HOST_STATES] } },
  },
  host: {
    name: 'host',
    in: 'query',
    description: 'Only the machine with this id; several: these, at most 16.',
    schema: { type: 'array', items: { type: 'string' } },
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'At most this many machines; all of them when absent.',
    schema: { type: 'integer', minimum: 1, maximum: 10_000 },
  },
  after: {
    name: 'after',
    in: 'query',
    description: 'Only machines whose ids come after this one: the `next` of the page before.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
};

/** All parameters of an operation. */
export function parametersOf(
  { parameters = [], query }: DocumentedOperation,
  writer: SchemaWriter,
): readonly Parameter[] {
  return [...parameters.map((name) => NAMED[name]), ...(query === undefined ? [] : queryOf(query, writer))];
}

/** Returns one parameter of the query per entry of a request's schema; flags are written as in a query. */
function queryOf(
  schema: { readonly entries: v.ObjectEntries },
  { write }: SchemaWriter,
): readonly Parameter[] {
  return Object.entries(schema.entries).map(([name, entry]) => {
    // Asynchronous schemas are never used for requests.
    const { description, ...written } = write(entry as v.GenericSchema);
    const isFlag = written['type'] === 'boolean';
    return {
      name,
      in: 'query',
      description: String(description),
      schema: isFlag ? { ...FLAG, default: written['default'] === true ? '1' : '0' } : written,
    };
  });
}
