/** The surface as one table: the routes of every room, and the headers that any of them looks at. */
import type { Commands } from '../../commands/command.ts';
import type { Media } from '../../commands/media.ts';
import type { Power } from '../../commands/power.ts';
import type { ProcessQueries } from '../../processes/queries.ts';
import type { Sampler } from '../../stats/sampler.ts';
import type { SystemPayload } from '../../wire/system.ts';
import { GATE_HEADERS, type Gate } from '../gate.ts';
import type { Route } from '../routes.ts';
import type { Sockets } from '../socket/hub.ts';
import type { Fanout } from '../stream/fanout.ts';
import { DASHBOARD_HEADERS, dashboardRoutes, type WebFile } from './dashboard.ts';
import { DOCUMENT_HEADERS, documentRoutes } from './documents.ts';
import { mediaRoutes } from './media.ts';
import { mediaArtRoute } from './media-art.ts';
import { powerRoutes } from './power.ts';
import { processRoutes } from './processes.ts';
import { statsRoutes } from './stats.ts';
import { SOCKET_HEADERS, webSocketRoutes } from './websocket.ts';

export const HEADERS_READ: ReadonlySet<string> = new Set([
  ...GATE_HEADERS,
  ...DOCUMENT_HEADERS,
  ...SOCKET_HEADERS,
  ...DASHBOARD_HEADERS,
  'connection',
  'content-length',
  'transfer-encoding',
  'content-type',
]);

/** What the routes are doors to. */
export interface Rooms {
  readonly gate: Gate;
  readonly sampler: Sampler;
  readonly fanout: Fanout;
  readonly sockets: Sockets;
  readonly commands: Commands;
  readonly power: Power;
  readonly media: Media;
  readonly processQueries: ProcessQueries | undefined;
  readonly dashboard: readonly WebFile[];
  readonly readSystem: (withDetail: boolean) => Promise<SystemPayload>;
  /** Whether one more subscriber may be let in. */
  readonly hasRoom: () => boolean;
}

export function surfaceOf(rooms: Rooms): readonly Route[] {
  const { gate, sockets, commands, hasRoom } = rooms;
  const media = {
    commands,
    readStatus: (player: string | undefined, withDetail: boolean) => rooms.media.status(player, withDetail),
  };
  return [
    ...statsRoutesOf(rooms),
    ...powerRoutes({ commands, readStatus: () => rooms.power.status() }),
    ...mediaRoutes(media),
    mediaArtRoute(media),
    ...processRoutes({ commands, queries: rooms.processQueries }),
    ...documentRoutes(),
    ...webSocketRoutes({ gate, sockets, hasRoom }),
    ...dashboardRoutes({ files: rooms.dashboard, gate, latest: (view) => rooms.sampler.latest(view) }),
  ];
}

function statsRoutesOf({ gate, sampler, fanout, hasRoom, readSystem }: Rooms): readonly Route[] {
  return statsRoutes({
    gate,
    latest: (view) => sampler.latest(view),
    peek: (view) => sampler.peek(view),
    isTickNear: () => sampler.nextTickInMs < sampler.intervalMs / 2,
    fanout,
    hasRoom,
    readSystem,
  });
}
