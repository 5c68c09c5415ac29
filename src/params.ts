/** Checks the parameters of commands and queries against their schemas; throws a ServiceError for a wrong one. */
import { ServiceError } from './errors.ts';
import { inspect, type RequestSchema } from './wire/inspect.ts';

/** Parameters as received: numbers and booleans where the transport has them, otherwise texts. */
export type Params = Readonly<Record<string, unknown>>;

/** The value that `schema` parses from `params`. Throws `missing_field`, `invalid_value`, `unknown_action`. */
export function checkParams<T>(schema: RequestSchema<T>, params: Params): T {
  const inspected = inspect(schema, params);
  if (inspected.isSound) return inspected.value;
  const { code, sentence, allowed } = inspected.flaw;
  throw new ServiceError(code, sentence, allowed && { allowed });
}
