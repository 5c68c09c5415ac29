/** The parameters of commands and queries against their schemas: what is wrong becomes a ServiceError. */
import { ServiceError } from './errors.ts';
import { inspect, type RequestSchema } from './wire/inspect.ts';

/** What a door was given, as values: numbers and booleans where it could tell, else the text itself. */
export type Params = Readonly<Record<string, unknown>>;

/** What `schema` makes of `params`. Throws `missing_field`, `invalid_value`, `unknown_action`. */
export function checkParams<T>(schema: RequestSchema<T>, params: Params): T {
  const inspected = inspect(schema, params);
  if (inspected.isSound) return inspected.value;
  const { code, sentence, allowed } = inspected.flaw;
  throw new ServiceError(code, sentence, allowed && { allowed });
}
