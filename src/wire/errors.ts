/** How HTTP says no: the body of every error, and the codes of refusals that have no body. */
import * as v from 'valibot';

/** Which code goes with which status is the table of `src/errors.ts`. */
export const errorPayload = v.strictObject({
  error: v.pipe(v.string(), v.description('A sentence for people.')),
  code: v.pipe(v.string(), v.description('For programs.')),
  details: v.exactOptional(v.record(v.string(), v.unknown())),
});

/** In `X-Error-Code` of a 403. The lists of addresses add none. */
export const refusalCode = v.picklist(['origin_not_allowed', 'host_not_allowed', 'feature_disabled']);

/** What /api/status answers: nothing of the machine. */
export const healthCheck = v.strictObject({ status: v.literal('ok') });
