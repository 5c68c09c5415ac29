/** Brokers with the shipped rights of packaging/mqtt, for a thousand agents and two hubs. */
import { type Broker, natsKind, startBroker } from '../../exporters/mqtt/broker.ts';
import type { Scope } from '../../helpers/scope.ts';
import { findFreePort } from '../../helpers/service/free-port.ts';
import { shipped } from '../cluster/shipped.ts';
import { passwordOf } from './crowd/passwords.ts';

/** The second hub has the lines of the first with its own name, as the file says. */
export const HUBS = ['hub1', 'hub2'] as const;

/** mosquitto.acl, whose patterns are for all agents. */
function aclFor(hubs: readonly string[]): string {
  const acl = shipped('mqtt/mosquitto.acl');
  const start = acl.indexOf('user hub1');
  const section = acl.slice(start);
  return acl.slice(0, start) + hubs.map((hub) => section.replaceAll('hub1', hub)).join('\n');
}

/** Returns the settings of mosquitto.conf other than the listener and its files. */
const settings = () =>
  shipped('mqtt/mosquitto.conf')
    .split('\n')
    .filter((line) => line !== '' && !/^(?:#|listener |\w+file )/.test(line));

/** nats-users.conf, whose block of one agent is repeated for each. */
function natsUsersFor(agents: readonly string[], hubs: readonly string[]): string {
  const blocks = shipped('mqtt/nats-users.conf').split(/^(?= {4}\{$)/m);
  const blockOf = (user: string) => blocks.find((block) => block.includes(`user: ${user}\n`)) ?? '';
  // The last one has the end of the list.
  const [begin = ''] = blocks;
  const [hub = '', end = ''] = blockOf('hub1').split(/(?<=^ {4}\}\n)/m);
  const withPassword = (block: string, user: string) =>
    block.replace(/password: \S+/, `password: "${passwordOf(user)}"`);
  return [
    begin,
    ...agents.map((id) =>
      withPassword(blockOf('pc').replace('user: pc', `user: ${id}`).replaceAll('.pc.', `.${id}.`), id),
    ),
    ...hubs.map((name) => withPassword(hub.replaceAll('hub1', name), name)),
    end,
  ].join('');
}

const START = {
  mosquitto: async (t: Scope, agents: readonly string[]) =>
    await startBroker(t, [...settings(), 'password_file @/users', 'acl_file @/acl'], (broker) => {
      broker.users(Object.fromEntries([...agents, ...HUBS].map((user) => [user, passwordOf(user)])));
      broker.file('acl', aclFor(HUBS));
    }),
  'nats-server': async (t: Scope, agents: readonly string[]) =>
    await startBroker(
      t,
      ['include "nats-users.conf"'],
      (broker) => broker.file('nats-users.conf', natsUsersFor(agents, HUBS)),
      natsKind(await findFreePort()),
    ),
};

export type BrokerName = keyof typeof START;

export const startFleetBroker = async (
  t: Scope,
  name: BrokerName,
  agents: readonly string[],
): Promise<Broker> => await START[name](t, agents);

/** Keys of `mqtt` and of an entry of `hub.brokers`, for a file. */
export function loginOf(broker: Broker, username: string) {
  const file = broker.file(`${username}.key`, passwordOf(username));
  const password = { path: file, secret: passwordOf(username), toJSON: () => file };
  return { url: broker.url, username, password_file: password };
}
