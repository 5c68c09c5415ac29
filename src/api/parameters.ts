/** Parameters of requests: those that only HTTP has, and those that a request's schema names. */
import type * as v from 'valibot';
import { SECTIONS } from '../host/host.ts';
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

export const FIELDS: Parameter = {
  name: 'fields',
  in: 'query',
  description:
    'The sections wanted, separated by commas; without it all. Names in any case; unknown ones are ignored, and named in X-Ignored-Fields.',
  style: 'form',
  explode: false,
  schema: { type: 'array', items: { type: 'string', enum: [...SECTIONS] } },
};

export const DETAIL: Parameter = {
  name: 'detail',
  in: 'query',
  description: 'On for `1` and `true`: all that is known, with null for what is not.',
  schema: { ...FLAG, default: '0' },
};

export const PROCESS_NAME: Parameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'The name, percent-encoded; or a process number, unless something is called that.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** A parameter of the query for each entry of a request's schema; flags are spelt as the query spells them. */
export function queryOf(
  schema: { readonly entries: v.ObjectEntries },
  { write }: SchemaWriter,
): readonly Parameter[] {
  return Object.entries(schema.entries).map(([name, entry]) => {
    // A schema with asynchronous checks can't be in what a request is checked with.
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
