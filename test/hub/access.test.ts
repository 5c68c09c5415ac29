/** Every route of the hub, with every way in, and every rule for commands: who is answered what, and what is done. */
import process from 'node:process';
import t from 'tap';
import type { CommandRule } from '#src/config/rows/hub-rows.js';
import { ADAPTER_CASES } from '../access/command-cases.ts';
import { ask, valuesOf } from '../helpers/clients/http.ts';
import { Many } from '../helpers/many.ts';
import type { ConfigPart } from '../helpers/service/service.ts';
import { allFlags, startCommanded } from './commanded.ts';
import { done, PlayedMachine } from './played-machine.ts';
import { routeCases } from './scope-cases.ts';
import { isUp, startHub } from './setup.ts';
import { upgradeStatus } from './socket-setup.ts';

t.setTimeout(280_000);

/** Answers of the machine where an empty object is not enough. */
const ANSWERS: Readonly<Record<string, object>> = {
  usage: done({ timestamp: 1, uptime: 1 }),
  art: { type: 'image/png', base64: '' },
};
const KEY = 'k'.repeat(40);
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });

/** A way in, what a request through it is answered with where the gate refuses it, and whether it has the key. */
interface Way {
  readonly name: string;
  readonly config: ConfigPart;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the sockets, which alone take a key there. */
  readonly query?: string;
  readonly refused?: 401 | 403;
  readonly isKeyed?: true;
}

const ENABLED: ConfigPart = { auth: { enabled: true, api_key: KEY } };
const WAYS: readonly Way[] = [
  { name: 'open', config: {}, headers: {} },
  { name: 'no key', config: ENABLED, headers: {}, refused: 401 },
  { name: 'a wrong key', config: ENABLED, headers: bearer('x'.repeat(40)), refused: 401 },
  { name: 'the key', config: ENABLED, headers: bearer(KEY), isKeyed: true },
  { name: 'the key in the query', config: ENABLED, headers: {}, query: `?api_key=${KEY}`, refused: 401 },
  { name: 'a listed address', config: { auth: { enabled: true, allowed_ips: ['127.0.0.1'] } }, headers: {} },
  {
    name: 'another address',
    config: { auth: { ...ENABLED.auth, allowed_ips: ['192.0.2.1'] } },
    headers: bearer(KEY),
    refused: 403,
  },
  { name: 'a blocked address', config: { auth: { blocked_ips: ['127.0.0.1'] } }, headers: {}, refused: 403 },
  { name: 'a foreign host name', config: {}, headers: { Host: 'evil.example' }, refused: 403 },
  { name: 'a foreign page', config: {}, headers: { Origin: 'http://evil.example' }, refused: 403 },
  {
    name: 'a foreign page with the key',
    config: ENABLED,
    headers: { Origin: 'http://evil.example', ...bearer(KEY) },
    isKeyed: true,
  },
];

/** A rule, and whether it lets a client in for a command: `isKeyed` is all that differs between the ways in. */
interface Rule {
  readonly name: string;
  readonly rule?: Partial<CommandRule>;
  readonly allows: (command: string, isKeyed: boolean) => boolean;
}

const RULES: readonly Rule[] = [
  { name: 'no rule', allows: () => false },
  { name: 'everything', rule: {}, allows: () => true },
  { name: 'media', rule: { commands: ['media.*'] }, allows: (command) => command.startsWith('media.') },
  { name: 'the key', rule: { keys: ['default'] }, allows: (_, isKeyed) => isKeyed },
  { name: 'another address', rule: { clients: ['192.0.2.0/24'] }, allows: () => false },
  { name: 'another machine', rule: { hosts: ['b'] }, allows: () => false },
  { name: 'another label', rule: { labels: { site: 'y' } }, allows: () => false },
];

/** One request per route and method of the hub, and one per command. */
const CALLS = routeCases('a')
  .filter(({ method, isForwarded }) => method !== 'POST' || isForwarded)
  .map((each) => ({ ...each, command: each.method === 'POST' ? each.name : undefined }));
type Call = (typeof CALLS)[number];

/** Whether `call` is made by `way` under `rule`: in the proof all of them, here those on which the rule has an effect. */
const isWanted = (rule: Rule, way: Way, call: Call) =>
  process.env['HOSTWIRE_FULL'] === '1' ||
  RULES.indexOf(rule) < 2 ||
  (way.refused === undefined && call.command !== undefined);

t.test('[I.hub.access] [I.hub.ws-access] [I.hub.commands] every route, way in and rule', async (t) => {
  const many = new Many(t);
  const machine = await PlayedMachine.start(t, 0, ({ name }) => ANSWERS[name] ?? done());
  let requests = 0;
  let allowed = 0;
  for (const each of RULES) {
    const { name, rule, allows } = each;
    const commands = rule === undefined ? {} : { r: { commands: ['*'], labels: {}, ...rule } };
    const agents = { a: { url: machine.url, labels: { site: 'x' } } };
    const hub = await startHub(t, agents, { hub: { commands } });
    await hub.host('a', isUp);
    t.strictSame(
      CALLS.flatMap(({ command = [] }) => command).toSorted(),
      [...new Set(ADAPTER_CASES.map(({ command }) => command))].toSorted(),
      'every command has a route',
    );
    for (const way of WAYS) {
      const wanted = CALLS.filter((call) => isWanted(each, way, call));
      if (wanted.length === 0) continue;
      hub.reconfigure(agents, { ...way.config, hub: { commands } });
      for (const { method, target, body, command, needed } of wanted) {
        const path = target.split('?')[0] ?? '';
        const headers = {
          ...way.headers,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        };
        const before = machine.asked.length;
        const answer = await ask(hub.port, target, {
          method,
          headers,
          ...(body === undefined ? {} : { body }),
        });
        requests++;
        const what = `${name}, ${way.name}: ${method} ${target} ${command ?? ''}`;
        const isPublic = needed === 'none' && path !== '/api/agent' && way.name !== 'a blocked address';
        // Agents prove themselves there in another way than with the key.
        const isProven = path === '/api/agent' && (way.refused === 401 || way.name === 'a foreign host name');
        // No key lets a page in there.
        const refused = path === '/api/agent' && 'Origin' in way.headers ? 403 : way.refused;
        const isRefused = refused !== undefined && !isPublic && !isProven;
        if (path.endsWith('/ws')) {
          const status = way.query === undefined ? (refused ?? 101) : 101;
          many.equal(await upgradeStatus(hub.port, `${path}${way.query ?? ''}`, way.headers), status, what);
        }
        const mayCommand = command === undefined || allows(command, way.isKeyed === true);
        const code = valuesOf(answer, 'x-error-code')[0];
        if (isRefused) many.equal(answer.status, refused, what);
        else if (!mayCommand) many.strictSame([answer.status, code], [403, 'command_not_allowed'], what);
        // The names of keys are for keys alone.
        else if (path === '/api/keys') many.equal(answer.status, way.isKeyed === true ? 200 : 401, what);
        else if (/\/(?:ws|agent)$/.test(path)) many.equal(answer.status, 426, what);
        else
          many.ok([200, 404, 409].includes(answer.status) && code === undefined, `${what}: ${answer.status}`);
        if (command !== undefined) {
          const isAsked = machine.asked.length > before;
          many.equal(isAsked, !isRefused && mayCommand, `${what}: whether the machine was asked`);
          if (isAsked) allowed++;
        }
      }
    }
    t.notOk(hub.log.join('').includes(KEY), 'the key is not logged');
    await hub.stop();
  }
  t.ok(allowed > 80, `${requests} requests, ${allowed} commands reached the machine`);
});

t.test("[I.hub.commands] a rule does not override the machine's flags; a reload revokes rules", async (t) => {
  const machine = await startCommanded(t);
  const agents = { a: { url: machine.service.baseUrl } };
  const all = { hub: { commands: { all: { commands: ['*'], labels: {} } } } };
  const hub = await startHub(t, agents, all);
  await hub.host('a', isUp);
  const lock = async () => {
    const answer = await ask(hub.port, '/api/hosts/a/pw/lock', { method: 'POST' });
    return [answer.status, valuesOf(answer, 'x-error-code')[0]];
  };
  t.strictSame(await lock(), [200, undefined]);
  machine.configure(allFlags(false));
  t.strictSame(await lock(), [403, 'feature_disabled']);
  hub.reconfigure(agents, {});
  t.strictSame(await lock(), [403, 'command_not_allowed']);
  const unknown = await ask(hub.port, '/api/hosts/nobody/pw/lock', { method: 'POST' });
  t.equal(unknown.status, 404);
});
