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

const TEXT = { type: 'string' } as const;

const NAMED: Readonly<Record<ParameterName, Omit<Parameter, 'name'>>> = {
  fields: {
    in: 'query',
    description:
      'The sections to send, separated by commas; all of them when absent or empty. Case does not matter; unknown names are ignored and listed in `X-Ignored-Fields`.',
    style: 'form',
    explode: false,
    schema: { type: 'array', items: { ...TEXT, enum: [...SECTIONS] } },
  },
  detail: inQuery(
    'On for `1` and `true`: every key that is known, with null for values that cannot be read.',
    { ...FLAG, default: '0' },
  ),
  name: inPath('The name, percent-encoded; or a pid, unless a process has that number as its name.', 255),
  id: inPath(
    'The id of the machine, or its name, percent-encoded, where no other machine has that name or id.',
    253,
  ),
  label: inQuery('Only machines with this label, `NAME:VALUE`; several: with all of them, at most 16.', {
    type: 'array',
    items: TEXT,
  }),
  state: inQuery('Only machines in this state; several: in one of them.', {
    type: 'array',
    items: { ...TEXT, enum: [...HOST_STATES] },
  }),
  host: inQuery('Only the machine with this id; several: these, at most 16.', { type: 'array', items: TEXT }),
  limit: inQuery('At most this many machines; all of them when absent.', {
    type: 'integer',
    minimum: 1,
    maximum: 10_000,
  }),
  after: inQuery('Only machines whose ids come after this one: the `next` of the page before.', {
    ...TEXT,
    pattern: '^[A-Za-z0-9_-]{1,64}$',
  }),
};

function inQuery(description: string, schema: Json) {
  return { in: 'query', description, schema } as const;
}

function inPath(description: string, maxLength: number) {
  return {
    in: 'path',
    required: true,
    description,
    schema: { type: 'string', minLength: 1, maxLength },
  } as const;
}

/** All parameters of an operation. */
export function parametersOf(
  { parameters = [], query }: DocumentedOperation,
  writer: SchemaWriter,
): readonly Parameter[] {
  return [
    ...parameters.map((name) => ({ name, ...NAMED[name] })),
    ...(query === undefined ? [] : queryOf(query, writer)),
  ];
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
