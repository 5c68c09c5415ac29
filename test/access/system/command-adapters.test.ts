/**
 * Every command with every flag and in several states of the machine, over HTTP, over MQTT and through a hub: the outcome and
 * what it did are the same, and no secret is in any answer, topic, payload, line of the log or metric.
 */
import t, { type Test } from 'tap';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { mqttPart, NO_BROKER, startBroker, Witness } from '../../exporters/mqtt/broker.ts';
import { snapshotOf } from '../../helpers/fakes/media.ts';
import type { ConfigPart } from '../../helpers/service/service.ts';
import { until } from '../../helpers/until.ts';
import { allFlags, type Commanded, startCommanded } from '../../hub/commanded.ts';
import { ADAPTER_CASES, type Features } from '../command-cases.ts';
import { Adapters, differenceOf, messagesOf } from './command-adapters.ts';

const skip = NO_BROKER;
const KEY = 'canary-key-0123456789abcdef0123456789abcdef';
const PASSWORD = 'canary-password-1';
const CANARY = /canary/i;
const APP = {
  command: '/opt/canary-program',
  args: ['--token', 'canary-argument'],
  env: { TOKEN: 'canary-variable' },
  cwd: '/opt/canary-folder',
  allow_args: false,
};

const FLAGS = Object.keys(DEFAULT_CONFIG.features) as readonly (keyof Features)[];
const ON = allFlags(true);
const OFF = allFlags(false);
const EACH = FLAGS.flatMap((flag) => [
  { ...ON, [flag]: false },
  { ...OFF, [flag]: true },
]);

const PART: ConfigPart = {
  host: { id: 'pc' },
  auth: { enabled: true, api_key: KEY },
  log: { level: 'debug' },
  hub: { scopes: ['admin'] },
};

const THERE: ConfigPart = {
  wake: { hosts: { nas: { mac: '02:00:5e:10:ab:cd', broadcast: '127.0.0.1', port: 9 } } },
  processes: { launch: { app: APP } },
};

interface State {
  readonly name: string;
  readonly features: readonly Features[];
  readonly more: ConfigPart;
  readonly prepare: (machine: Commanded) => void;
}

const FEW = [ON, OFF, DEFAULT_CONFIG.features];
/** The other conditions of an outcome: the power backend, players, processes, and what the configuration names. */
const STATES: readonly State[] = [
  { name: 'everything is there', features: [...FEW, ...EACH], more: THERE, prepare: () => undefined },
  {
    name: 'no player, no rights, nothing to wake or launch',
    features: FEW,
    more: { wake: { hosts: {} }, processes: { launch: {} } },
    prepare({ media, processes }) {
      media.snapshot = snapshotOf();
      for (const { pid } of processes.processes) processes.denied.add(pid);
    },
  },
  {
    name: 'no power manager, and no control of processes',
    features: FEW,
    // The fixture has no power manager that could be reached.
    more: { ...THERE, power: { backend: 'system' } },
    prepare({ processes, media }) {
      processes.reason = 'not on this machine';
      media.reply = { outcome: 'failed', reason: 'the player refuses' };
    },
  },
];

t.setTimeout(560_000);

t.test(
  '[1.matrix-commands] [3.mqtt-commands] [3.mqtt-hub-matrix] [8.secrets-mqtt] HTTP, MQTT and hubs: one outcome, and no secret',
  { skip },
  async (t) => {
    const broker = await startBroker(
      t,
      ['allow_anonymous false', 'password_file @/users', 'set_tcp_nodelay true'],
      (each) => {
        each.users({ pc: PASSWORD, home: 'home-password-1' });
      },
    );
    const witness = await Witness.open(t, broker.url, { username: 'home', password: 'home-password-1' });
    const user = { username: 'pc', password_file: { path: 'canary-file', secret: PASSWORD } };
    const adapters = new Adapters(witness, KEY);
    const count = { outcomes: 0, done: 0, acts: 0 };
    for (const state of STATES) {
      const here = await startCommanded(t, { ...PART, ...state.more });
      const { service } = here;
      state.prepare(here);
      adapters.use(service);
      for (const [at, features] of state.features.entries()) {
        const topic = `s${STATES.indexOf(state)}x${at}`;
        const mqtt = mqttPart(broker.url, { ...user, topic, publish: 'both' });
        // The document has names of its own; once is enough.
        here.configure(features, { mqtt: at === 0 ? mqtt : { ...mqtt, discovery_prefix: '' } });
        await until(() => witness.on(`${topic}/pc/power`).length > 0, 'the exporter');
        const http = await adapters.http();
        const actsOverHttp = here.acts();
        const messages = messagesOf(`${topic}/pc`, features);
        const answers = await adapters.mqtt(messages);
        const differences = messages.flatMap((sent) => {
          const outcome = http[sent.index];
          const feedback = answers.get(sent.id);
          const what = outcome === undefined ? 'no outcome' : differenceOf(sent, outcome, feedback, features);
          count.outcomes++;
          count.done += outcome?.isDone === true ? 1 : 0;
          return what === undefined ? [] : [{ what, sent: sent.payload, http: outcome, mqtt: feedback }];
        });
        t.same(differences, [], `${state.name}: flags ${at}`);
        t.same(here.acts(), actsOverHttp, `${state.name}: what was done with flags ${at}`);
        count.acts += actsOverHttp.length;
        await until(() => witness.on(`${topic}/pc/status`).length > 0, 'its status for hubs');
        const throughHub = await adapters.hub(`${topic}/pc`);
        const otherwise = ADAPTER_CASES.flatMap((each, index) => {
          const outcome = http[index];
          const sent = { ...each, isExpected: true };
          const feedback = throughHub[index];
          const what = outcome === undefined ? 'no outcome' : differenceOf(sent, outcome, feedback, features);
          count.outcomes++;
          return what === undefined ? [] : [{ what, sent: each.params, http: outcome, hub: feedback }];
        });
        t.same(otherwise, [], `${state.name}: flags ${at}, through a hub`);
        t.same(here.acts(), actsOverHttp, `${state.name}: what a hub did with flags ${at}`);
      }
      await checkMetrics(t, here);
      await service.stop();
      t.notMatch(service.stderr(), CANARY, 'no secret in the log');
    }
    t.same(adapters.unexpected, [], 'nothing else is answered');
    t.notOk(
      adapters.texts.find((text) => CANARY.test(text)),
      'no secret in an answer',
    );
    t.notOk(
      witness.heard.find(({ topic, text }) => CANARY.test(`${topic} ${text}`)),
      'no secret in a message',
    );
    t.comment(`${count.outcomes} outcomes, ${count.done} done, ${count.acts} acts`);
  },
);

/** The metrics have no secret. */
async function checkMetrics(t: Test, { service, configure }: Commanded): Promise<void> {
  configure(ON);
  const headers = { authorization: `Bearer ${KEY}` };
  const metrics = await (await fetch(`${service.baseUrl}/metrics`, { headers })).text();
  t.match(metrics, /^hostwire_build_info/m);
  t.notMatch(metrics, CANARY, 'no secret in a metric');
}
