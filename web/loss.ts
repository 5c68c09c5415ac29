/** What the end of the stream means for the page. Pure. */
import type { ClientError } from '../src/client/client.ts';

/** `hostId`: the machine of a hub that the page shows. Its hub answers 404 for one that it does not have. */
export const lossOf = ({ code }: Pick<ClientError, 'code'>, hostId: string | undefined) =>
  hostId !== undefined && code === 'not_found' ? 'missing' : 'lost';
