/** Decides the state of the page after the end of the stream. Pure. */
import type { ClientError } from '../src/client/client.ts';

/** `hostId`: the machine of a hub that the page shows. The hub answers 404 for an unknown machine. */
export const lossOf = ({ code }: Pick<ClientError, 'code'>, hostId: string | undefined) =>
  hostId !== undefined && code === 'not_found' ? 'missing' : 'lost';
