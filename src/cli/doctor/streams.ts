/** The row on what sends events to subscribers: the engine's own sockets, or the addon's writer. */
import type { Config } from '../../config/schema.ts';
import type { EngineName } from '../../engines.ts';
import type { Finding } from '../../host/finding.ts';
import { type Obstacle, partly, works } from './rows.ts';

const ENCRYPTED = {
  reason:
    'what goes over TLS is encrypted by Node, which costs several times the time and memory per subscriber',
  remedy: 'for more than a few subscribers set server.engine to uws, or let a reverse proxy speak TLS',
} satisfies Obstacle;

/** `native`: the row of the addon, which knows only of Node's engine over plain HTTP. Pure. */
export function judgeStreams(
  native: Finding,
  engine: EngineName | undefined,
  { tls }: Pick<Config['server'], 'tls'>,
): Finding {
  const { subject } = native;
  if (engine === 'uws') return works(subject, 'uWebSockets.js');
  if (tls.cert === undefined) return native;
  if (tls.port === undefined) return partly(subject, "Node's sockets", ENCRYPTED);
  const { reason, remedy } = native;
  return partly(subject, `${native.source}; over TLS Node's sockets`, {
    reason: reason === null ? ENCRYPTED.reason : `${reason}; ${ENCRYPTED.reason}`,
    remedy: remedy === null ? ENCRYPTED.remedy : `${remedy}; ${ENCRYPTED.remedy}`,
  });
}
