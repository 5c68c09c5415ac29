/** Every operation of the hub, as wire/operations.ts has those of the service. */
import { OPERATIONS, type Operation } from './operations.ts';

const host = { method: 'GET', tag: 'hosts' } as const;
const { getStatus, getOpenapi, getMetrics } = OPERATIONS;

export const HUB_OPERATIONS = {
  listHosts: { ...host, path: '/api/hosts' },
  openHostStream: { ...host, path: '/api/hosts/*/stream', staysOpen: true },
  getHostUsage: { ...host, path: '/api/hosts/*/usage' },
  getHostSystem: { ...host, path: '/api/hosts/*/system' },
  openFleetStream: { ...host, path: '/api/fleet/stream', staysOpen: true },
  getStatus,
  getOpenapi,
  getMetrics,
} as const satisfies Readonly<Record<string, Operation>>;

export type HubOperationId = keyof typeof HUB_OPERATIONS;
