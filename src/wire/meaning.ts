/** Documentation in schemas: the meaning of a value, and its unit. */
import * as v from 'valibot';

/**
 * Returns a schema with its meaning: a description in the API documents, a cell of a table in docs/api.md. It is a new
 * schema, so one that the documents refer to by name is written out in full if it is given a meaning.
 */
export const means = <const S extends v.GenericSchema>(schema: S, meaning: string) =>
  v.pipe(schema, v.description(meaning));

/** The key of a unit in JSON Schema: docs/api.md has it behind the type, the API documents end the description with it. */
export const UNIT_KEY = 'x-unit';

/** Sets the unit of a number. */
export const unit = (name: string) =>
  v.metadata<number, { readonly [UNIT_KEY]: string }>({ [UNIT_KEY]: name });
