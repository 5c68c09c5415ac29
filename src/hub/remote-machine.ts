/** A machine of the hub as viewers see it: the only file between them and the way in which the hub reaches it. */
import type { Machine } from '../machine/machine.ts';
import type { Asking } from './commands/asking.ts';
import type { Host } from './host/host.ts';

export function remoteMachine(host: Host, asking: Asking): Machine {
  const { id, labels } = host;
  return {
    id,
    labels,
    usage: async (view, client) => await host.usage(view, asking.askerOf(client)),
    // `media.`: any command of the group.
    check: (name, client) => asking.check(host, name.endsWith('.') ? `${name}*` : name, client),
    async ask({ what, params, client, follower }) {
      if (what !== 'system') return await asking.ask(host, what, params, client, follower);
      return { bytes: await host.system(params['detail'] === true, asking.askerOf(client)) };
    },
  };
}
