/** The route that reports to a client what it may do. */
import { wholeSeconds } from '../../clock.ts';
import type { Caller } from '../../http/clients/caller.ts';
import type { Gate } from '../../http/gate.ts';
import { jsonAnswer } from '../../http/reply.ts';
import type { Run } from '../../http/routes.ts';
import { namesOfScopes } from '../../scopes.ts';
import type { ClientAccess } from '../../wire/service.ts';

function accessOf({ key, scopes }: Caller, expiresAtMs: number): ClientAccess {
  return {
    key: key ?? null,
    scopes: namesOfScopes(scopes),
    expires: Number.isFinite(expiresAtMs) ? wholeSeconds(expiresAtMs) : null,
  };
}

export const accessRun =
  (gate: Pick<Gate, 'expiryOf'>): Run =>
  ({ client, headers }) =>
    jsonAnswer(accessOf(client, gate.expiryOf(client)), headers);
