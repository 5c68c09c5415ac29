/** The command that wakes machines; packets go to the loopback of this machine. */
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { auditReport } from '#src/commands/audit.js';
import { WakeControl, wakeCommands } from '#src/commands/wake.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { ServiceError } from '#src/errors.js';
import type { BroadcastAddress } from '#src/host/wake.js';
import { createLog } from '#src/log/log.js';
import { Commands } from '#src/machine/commands.js';
import { settle } from '../helpers/fakes/clock.ts';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { SENDER } from '../helpers/fakes/sender.ts';
import { invoke } from '../helpers/invoke.ts';

const MAC = '02:00:5e:10:00:00';
const LOOPBACK: BroadcastAddress = { name: 'lo', address: '127.0.0.1', broadcast: '127.255.255.255' };
/** An address of no interface of this machine. */
const ABSENT: BroadcastAddress = { name: 'eth9', address: '192.0.2.7', broadcast: '192.0.2.255' };

class WakeRig {
  interfaces: readonly BroadcastAddress[] | Error = [LOOPBACK];
  asked = 0;
  readonly log: string[] = [];
  readonly audit: unknown[] = [];
  readonly config = new FakeConfig({ ...DEFAULT_CONFIG.features, enable_wake: true });
  readonly control: WakeControl;
  readonly #commands: Commands;

  constructor() {
    this.config.wakeable = {
      nas: { mac: MAC.toUpperCase(), port: 9 },
      here: { mac: MAC, broadcast: '127.0.0.1', port: 9 },
    };
    const log = createLog((line) => this.log.push(line.trim()));
    this.control = new WakeControl({
      host: {
        readBroadcastAddresses: async () => {
          this.asked++;
          if (this.interfaces instanceof Error) throw this.interfaces;
          return this.interfaces;
        },
      },
      config: this.config,
      log,
    });
    this.#commands = new Commands(wakeCommands(this.control), this.config);
    // As in the log, which leaves out what is undefined.
    const trail = {
      audit: (text: string, fields: unknown) => this.audit.push([text, JSON.parse(JSON.stringify(fields))]),
    };
    this.#commands.onReport((report) => auditReport(trail, report));
  }

  wake = async (params: Record<string, unknown>) =>
    (await invoke(this.#commands, 'wake.wake', params, SENDER)).result;

  async refusal(params: Record<string, unknown>) {
    try {
      await this.wake(params);
    } catch (error) {
      if (error instanceof ServiceError)
        return { code: error.code, text: error.message, details: error.details };
      throw error;
    }
    throw new Error('it was not refused');
  }
}

const CLIENT = { address: SENDER.address, keyed: false };

t.test(
  '[3.wake] a name of the configuration: the answer says where packets went, the log who asked',
  async (t) => {
    const rig = new WakeRig();
    const target = { interface: 'lo', address: '127.255.255.255', port: 9, packets: 3, error: null };
    t.strictSame(await rig.wake({ host: 'nas' }), {
      success: true,
      action: 'wake',
      message: 'Sent packets for nas to 127.255.255.255 (lo).',
      final: true,
      name: 'nas',
      mac: MAC,
      targets: [target],
    });
    t.match(await rig.wake({ host: 'here' }), { targets: [{ interface: null, address: '127.0.0.1' }] });
    t.equal(rig.asked, 1, 'an entry with an address needs no interface');
    t.strictSame(rig.log, [
      `hostwire info: wake: packets for nas (${MAC}) to 127.255.255.255 (lo)`,
      `hostwire info: wake: packets for here (${MAC}) to 127.0.0.1`,
    ]);
    t.strictSame(rig.audit, [
      ['wake: wake done', { ...CLIENT, name: 'nas' }],
      ['wake: wake done', { ...CLIENT, name: 'here' }],
    ]);
  },
);

t.test(
  '[3.wake-unknown] an unknown name is answered with the known ones, while the flag is on',
  async (t) => {
    const rig = new WakeRig();
    for (const host of ['tv', 'constructor', MAC])
      t.strictSame(await rig.refusal({ host }), {
        code: 'not_found',
        text: 'Unknown machine; wake.hosts of the configuration: it has nas, here.',
        details: { allowed: ['nas', 'here'] },
      });
    for (const [params, code] of [
      [{}, 'missing_field'],
      [{ host: '' }, 'invalid_value'],
      [{ host: 7 }, 'invalid_value'],
      [{ host: 'x'.repeat(65) }, 'invalid_value'],
    ] as const)
      t.match(await rig.refusal(params), { code });
    t.same(rig.control.capability(), {
      enabled: true,
      supported: true,
      reason: null,
      hosts: ['nas', 'here'],
    });
    rig.config.features = DEFAULT_CONFIG.features;
    t.strictSame(await rig.refusal({ host: 'tv' }), {
      code: 'feature_disabled',
      text: 'wake is disabled in the configuration.',
      details: undefined,
    });
    t.same(rig.control.capability().hosts, [], 'their names are shown only while the flag is on');
    rig.config.features = { ...DEFAULT_CONFIG.features, enable_wake: true };
    rig.config.wakeable = {};
    t.match(await rig.refusal({ host: 'tv' }), { text: /: it is empty\.$/ });
    t.equal(rig.asked, 0);
  },
);

t.test('[3.wake-failed] no interface, no packet, no list of interfaces: each with its reason', async (t) => {
  const rig = new WakeRig();
  rig.interfaces = [];
  t.match(await rig.refusal({ host: 'nas' }), {
    code: 'not_possible_now',
    text: 'nas cannot be woken from here: no interface has a link and an IPv4 broadcast address.',
  });
  rig.interfaces = [ABSENT];
  const reason = '192.0.2.255 (eth9): EADDRNOTAVAIL: the interface no longer has an address';
  t.match(await rig.refusal({ host: 'nas' }), {
    code: 'action_failed',
    text: `No packets for nas were sent: ${reason}.`,
    details: { reason, targets: [{ interface: 'eth9', packets: 0 }] },
  });
  rig.interfaces = new Error('list the network interfaces: no memory');
  t.match(await rig.refusal({ host: 'nas' }), { code: 'action_failed', details: { reason: /no memory/ } });
  rig.interfaces = Object.assign(new Error('no'), { code: 'ENOTSUP' });
  t.match(await rig.refusal({ host: 'nas' }), { code: 'not_supported' });
  rig.interfaces = [ABSENT, LOOPBACK];
  t.match(await rig.wake({ host: 'nas' }), {
    success: true,
    targets: [{ packets: 0, error: /^EADDRNOTAVAIL/ }, { packets: 3 }],
  });
  t.strictSame(rig.audit[1], ['wake: wake refused: action_failed', { ...CLIENT, name: 'nas', reason }]);
});

t.test('[3.wake-shared] requests while packets are under way share them', async (t) => {
  const rig = new WakeRig();
  const first = Array.from({ length: 50 }, () => rig.wake({ host: 'nas' }));
  await sleep(20);
  const answers = await Promise.all([...first, rig.wake({ host: 'nas' })]);
  t.equal(rig.asked, 1);
  for (const answer of answers) t.match(answer, { success: true, name: 'nas' });
  await rig.wake({ host: 'nas' });
  t.equal(rig.asked, 2, 'and later ones send again');
});

t.test('[3.wake-shared] eight machines are woken at a time, others wait and none is refused', async (t) => {
  const rig = new WakeRig();
  const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
  rig.config.wakeable = Object.fromEntries(names.map((name) => [name, { mac: MAC, port: 9 }]));
  const asked = names.map((host) => rig.wake({ host }));
  // Again, by another client: it costs no further turn.
  const again = names.map((host) => rig.wake({ host }));
  await settle();
  t.equal(rig.asked, 8);
  for (const answer of await Promise.all([...asked, ...again])) t.match(answer, { success: true });
  t.equal(rig.asked, 20);
});
