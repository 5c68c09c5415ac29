/** The route that reports to a client what it may do. */

import { wholeSeconds } from '../../clock.ts';
import type { Gate } from '../../http/gate.ts';
import { jsonAnswer } from '../../http/reply.ts';
import type { Request, Run } from '../../http/routes.ts';
import { namesOfScopes, type Scopes } from '../../scopes.ts';
import type { ClientAccess } from '../../wire/service.ts';

/** `scopesFor`: what a client may use of its scopes; default: all. */
export const accessRun =
  (
    gate: Pick<Gate, 'expiryOf'>,
    scopesFor: (request: Request) => Scopes = ({ client }) => client.scopes,
  ): Run =>
  (request) => {
    const { client, headers } = request;
    const expiresAtMs = gate.expiryOf(client);
    const access: ClientAccess = {
      key: client.key ?? null,
      scopes: namesOfScopes(scopesFor(request)),
      expires: Number.isFinite(expiresAtMs) ? wholeSeconds(expiresAtMs) : null,
    };
    return jsonAnswer(access, headers);
  };
