/** The environment of the client library for a service of this command line. */

import { ENVIRONMENT, type Environment } from '../client/environment.ts';
import { ClientError } from '../client/errors.ts';
import type { SocketConstructor } from '../client/socket-options.ts';

/** Returns the means to connect, with a pin to a service whose certificate has that key only. Without one any WebSocket will do. */
export async function environmentFor(
  pin: string | undefined,
): Promise<{ readonly environment: Environment; readonly WebSocket: SocketConstructor | undefined }> {
  if (pin === undefined) return { environment: ENVIRONMENT, WebSocket: undefined };
  // The client would look for this module beside its own bundle.
  const { createPinned } = await import('../client/pinned.ts');
  const { WebSocket, fetch } = await createPinned(pin, ClientError);
  return { environment: { ...ENVIRONMENT, fetch }, WebSocket };
}
