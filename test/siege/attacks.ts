/** All attacks of the siege. */
import { BODIES } from './attacks/bodies.ts';
import { CONNECTIONS } from './attacks/connections.ts';
import { ENDLESS } from './attacks/endless.ts';
import { HEADS } from './attacks/heads.ts';
import { HUB_CONNECTED } from './attacks/hub-connected.ts';
import { HUB_DIALLED } from './attacks/hub-dialled.ts';
import { HUB_VIEWERS } from './attacks/hub-viewers.ts';
import { KEYS } from './attacks/keys.ts';
import { MACHINE } from './attacks/machine.ts';
import { PATTERNS } from './attacks/patterns.ts';
import { PIECES } from './attacks/pieces.ts';
import { REQUESTS } from './attacks/requests.ts';
import { SOCKET_ATTACKS } from './attacks/sockets.ts';
import type { Attack } from './target.ts';

export const ATTACKS: readonly Attack[] = [
  ...REQUESTS,
  ...SOCKET_ATTACKS,
  ...HEADS,
  ...CONNECTIONS,
  ...BODIES,
  ...PATTERNS,
  ...ENDLESS,
  ...PIECES,
  ...KEYS,
  ...HUB_VIEWERS,
  ...HUB_CONNECTED,
  ...HUB_DIALLED,
  ...MACHINE,
];
