/** Every operation of the hub, like wire/operations.ts for the service. */
import { OPERATIONS, type Operation } from './operations.ts';

const host = { method: 'GET', tag: 'hosts' } as const;
const { getStatus, getOpenapi, getAsyncapi, getMetrics, openSocket } = OPERATIONS;

/** Returns the same operation of one machine of the hub. Its flag is the machine's own. */
function ofHost({ method, path, body }: Operation): Operation<never> {
  const own: Operation<never> = { method, path: `/api/hosts/*/${path.slice('/api/'.length)}`, tag: 'hosts' };
  return body === undefined ? own : { ...own, body };
}

export const HUB_OPERATIONS = {
  listHosts: { ...host, path: '/api/hosts' },
  openHostStream: { ...host, path: '/api/hosts/*/stream', staysOpen: true },
  getHostUsage: { ...host, path: '/api/hosts/*/usage' },
  getHostSystem: { ...host, path: '/api/hosts/*/system' },
  openHostSocket: { ...host, path: '/api/hosts/*/ws', staysOpen: true },

  getHostHistory: ofHost(OPERATIONS.getHistory),
  getHostProcessHistory: ofHost(OPERATIONS.getProcessHistory),
  getHostPower: ofHost(OPERATIONS.getPower),
  shutdownHost: ofHost(OPERATIONS.shutdown),
  restartHost: ofHost(OPERATIONS.restart),
  sleepHost: ofHost(OPERATIONS.sleep),
  hibernateHost: ofHost(OPERATIONS.hibernate),
  lockHost: ofHost(OPERATIONS.lock),
  cancelHostPower: ofHost(OPERATIONS.cancelPower),
  wakeFromHost: ofHost(OPERATIONS.wake),
  getHostMedia: ofHost(OPERATIONS.getMedia),
  getHostMediaArt: ofHost(OPERATIONS.getMediaArt),
  controlHostMedia: ofHost(OPERATIONS.controlMedia),
  listHostProcesses: ofHost(OPERATIONS.listProcesses),
  getHostProcess: ofHost(OPERATIONS.getProcess),
  killHostProcess: ofHost(OPERATIONS.killProcess),
  launchHostProcess: ofHost(OPERATIONS.launchProcess),

  openFleetStream: { ...host, path: '/api/fleet/stream', staysOpen: true },
  openSocket,
  /** Also in exporters/dial/proof.ts. */
  dialIn: { method: 'GET', path: '/api/agent', tag: 'hosts', staysOpen: true },
  getStatus,
  getOpenapi,
  getAsyncapi,
  getMetrics,
} as const satisfies Readonly<Record<string, Operation>>;

export type HubOperationId = keyof typeof HUB_OPERATIONS;
