/** Refusals over HTTP: the body of every error, and the codes of refusals without a body. */
import * as v from 'valibot';
import { means } from './meaning.ts';

/** The table of codes and their statuses is STATUS_BY_CODE in src/errors.ts. */
export const errorPayload = v.strictObject({
  error: means(v.string(), 'A sentence for people.'),
  code: means(v.string(), 'A name for programs: see the table of errors.'),
  details: means(
    v.exactOptional(v.record(v.string(), v.unknown())),
    'Details, where they help: the allowed actions, the reason.',
  ),
});

/** In `X-Error-Code` of a 403. A 403 of the address lists has no code. */
export const refusalCode = v.picklist([
  'origin_not_allowed',
  'host_not_allowed',
  'feature_disabled',
  'command_not_allowed',
  'scope_required',
]);
