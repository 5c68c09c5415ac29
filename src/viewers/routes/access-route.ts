/** The route that reports to a client what it may do. */

import type { Caller } from '../../access/caller.ts';
import { wholeSeconds } from '../../clock.ts';
import type { Gate } from '../../http/gate.ts';
import { jsonAnswer } from '../../http/reply.ts';
import type { Request, Run } from '../../http/routes.ts';
import { namesOfScopes, type Scopes } from '../../scopes.ts';
import type { ClientAccess } from '../../wire/service.ts';

function accessOf(key: Caller['key'], scopes: Scopes, expiresAtMs: number): ClientAccess {
  return {
    key: key ?? null,
    scopes: namesOfScopes(scopes),
    expires: Number.isFinite(expiresAtMs) ? wholeSeconds(expiresAtMs) : null,
  };
}

/** `scopesFor`: what a client may use of its scopes; default: all. */
export const accessRun =
  (
    gate: Pick<Gate, 'expiryOf'>,
    scopesFor: (request: Request) => Scopes = ({ client }) => client.scopes,
  ): Run =>
  (request) => {
    const { client, headers } = request;
    return jsonAnswer(accessOf(client.key, scopesFor(request), gate.expiryOf(client)), headers);
  };
