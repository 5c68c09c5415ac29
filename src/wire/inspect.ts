/** Checks data from a client against its schema, and describes the first error in one sentence. */
import * as v from 'valibot';
import { MISSING_APP, MISSING_TARGET } from './requests.ts';

/** A schema of a request. `T`: its data with defaults filled in. */
export type RequestSchema<T> = v.GenericSchema<unknown, T>;

export interface Flaw {
  readonly code: 'missing_field' | 'invalid_value' | 'unknown_action';
  readonly sentence: string;
  /** The known actions, with `unknown_action`. */
  readonly allowed?: readonly string[];
}

/** The data without unknown keys, or its first error. */
export type Inspected<T> =
  | { readonly isSound: true; readonly value: T }
  | { readonly isSound: false; readonly flaw: Flaw };

export function inspect<T>(schema: RequestSchema<T>, value: unknown): Inspected<T> {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return { isSound: true, value: result.output };
  return { isSound: false, flaw: flawOf(result.issues[0], schema) };
}

function flawOf(issue: v.BaseIssue<unknown>, schema: unknown): Flaw {
  const place = v.getDotPath(issue);
  // valibot reports a missing key as an issue of the object, which expected the name in quotes.
  if (issue.type === 'object' && issue.expected?.startsWith('"') === true)
    return {
      code: 'missing_field',
      sentence: issue.message === MISSING_APP ? MISSING_APP : `The field ${place} is missing.`,
    };
  if (issue.message === MISSING_TARGET) return { code: 'missing_field', sentence: issue.message };
  if (issue.type === 'picklist' && place === 'action' && typeof issue.input === 'string')
    return { code: 'unknown_action', sentence: issue.message, allowed: actionsOf(schema) };
  return { code: 'invalid_value', sentence: issue.message };
}

const WITH_ACTIONS = v.object({
  entries: v.object({ action: v.object({ options: v.array(v.string()) }) }),
});

// An issue does not list the valid values, but its schema does.
function actionsOf(schema: unknown): readonly string[] {
  const found = v.safeParse(WITH_ACTIONS, schema);
  return found.success ? found.output.entries.action.options : [];
}
