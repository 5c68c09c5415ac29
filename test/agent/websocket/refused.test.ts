/** Clients that may not be agents of the hub: wrong proofs, and limits on what a stranger can make the hub keep. */
import t, { type Test } from 'tap';
import { ask } from '../../helpers/clients/http.ts';
import { until } from '../../helpers/until.ts';
import { type StartedHub, startHub } from '../../hub/setup.ts';
import { Dialler, dialled, KEY, OTHER_KEY, proofOf } from './setup.ts';

t.setTimeout(280_000);

const REFUSED = { code: 1008, reason: 'the id or its key is not one of hub.agents' };

/** Checks that the stranger was not taken for the machine and was sent no proof. */
async function untouched(t: Test, hub: StartedHub, agent: Dialler): Promise<void> {
  t.same(agent.on('proof'), [], 'it got nothing that was made with a key');
  t.match(await hub.host('pc'), { state: 'unknown', reason: 'not connected yet' });
  t.notMatch(hub.log.join(''), KEY);
}

t.test('[I.hub.dial.proof] a wrong key, a wrong id, and the proof of the other side', async (t) => {
  const hub = await startHub(t, { pc: dialled(), nas: dialled(OTHER_KEY) });
  for (const claim of [
    { key: OTHER_KEY },
    { key: '' },
    { id: 'nobody' },
    { id: 'constructor' },
    { id: 'nas' },
    { side: 'hub' },
  ]) {
    const agent = new Dialler(t, hub.port);
    await agent.claim(claim);
    t.same(await agent.end(), REFUSED, JSON.stringify(claim));
    await untouched(t, hub, agent);
  }
  t.match(hub.log.join(''), /refused an agent: it does not have the key of pc/);
  const right = new Dialler(t, hub.port);
  const terms = await right.claim();
  t.same(await right.next('proof'), { hub: 'testhub', proof: proofOf(KEY, 'hub', terms) }, 'the right one');
  t.notMatch(JSON.stringify(right.heard), KEY, 'no frame has the key');
});

t.test('[I.hub.dial.replay] a proof is wrong on any other connection', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const first = new Dialler(t, hub.port);
  const [id = '', run = '', hubNonce = '', nonce = ''] = await first.claim();
  const { proof: hubProof = '' } = await first.next('proof');
  first.socket.terminate();
  const proof = proofOf(KEY, 'agent', [id, run, hubNonce, nonce]);
  // The hub's own proof is not an agent's.
  for (const replayed of [proof, hubProof]) {
    const second = new Dialler(t, hub.port);
    t.not((await second.next('challenge'))['nonce'], hubNonce, 'each connection has a nonce of its own');
    second.say('proof', { id, run, nonce, proof: replayed });
    t.same(await second.end(), REFUSED);
    await untouched(t, hub, second);
  }
});

t.test('[I.hub.dial.malformed] anything but a proof ends the connection', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const proof = 'A'.repeat(43);
  const claim = { id: 'pc', run: 'r', nonce: proof, proof };
  const cases: readonly ((agent: Dialler) => void)[] = [
    (agent) => agent.say('status', { state: 'online', run: 'r' }),
    (agent) => agent.say('proof', { ...claim, proof: `${proof}A` }),
    (agent) => agent.say('proof', { ...claim, nonce: 5 }),
    (agent) => agent.say('proof', { ...claim, id: 'a/b' }),
    (agent) => agent.say('proof', 'x'),
    (agent) => agent.say('proof', { ...claim, more: 'x'.repeat(4096) }),
    (agent) => agent.socket.send('no newline'),
    (agent) => agent.socket.send(Buffer.from('proof\n{}')),
    (agent) => {
      for (let i = 0; i < 20; i++) agent.socket.ping();
    },
  ];
  for (const [at, say] of cases.entries()) {
    const agent = new Dialler(t, hub.port);
    await agent.next('challenge');
    say(agent);
    t.same(await agent.end(), { code: 1008, reason: 'a message is malformed' }, `case ${at}`);
    await untouched(t, hub, agent);
  }
});

t.test('[I.hub.dial.access] rules of addresses hold, the key of viewers is not needed', async (t) => {
  const agents = { pc: dialled() };
  const auth = { enabled: true, api_key: 'v'.repeat(40) };
  const hub = await startHub(t, agents, { auth });
  t.equal((await ask(hub.port, '/api/hosts')).status, 401, 'viewers need it');
  const agent = new Dialler(t, hub.port);
  await agent.claim();
  await agent.next('proof');
  hub.reconfigure(agents, { auth: { ...auth, blocked_ips: ['127.0.0.1'] } });
  t.match(await agent.end(), { reason: 'the hub no longer takes the address of this machine' });
  const blocked = new Dialler(t, hub.port);
  t.equal(await until(() => blocked.status), 403);
  hub.reconfigure(agents, { auth: { ...auth, allowed_ips: ['192.0.2.1'] } });
  const stranger = new Dialler(t, hub.port);
  t.equal(await until(() => stranger.status), 403, 'not on the list');
  hub.reconfigure(agents, {});
  const page = new Dialler(t, hub.port, { origin: `http://127.0.0.1:${hub.port}` });
  t.equal(await until(() => page.status), 403, 'a page, be it of the hub itself');
  t.equal((await ask(hub.port, '/api/agent')).status, 426);
  hub.reconfigure({});
  const late = new Dialler(t, hub.port);
  t.equal(await until(() => late.status), 404, 'where nobody dials in');
});

t.test('[I.hub.dial.budget] connections without a proof are few, and short', async (t) => {
  const hub = await startHub(t, { pc: dialled() });
  const idle = Array.from({ length: 16 }, () => new Dialler(t, hub.port));
  for (const each of idle) await each.next('challenge');
  const further = new Dialler(t, hub.port);
  await further.next('challenge');
  t.match(await idle[0]?.end(), { reason: 'too many others prove themselves now' }, 'the oldest makes room');
  for (const each of [...idle.slice(1), further])
    t.same(await each.end(), { code: 1008, reason: 'the proof took too long' });
  const [open, failed] = [[] as Dialler[], [] as Dialler[]];
  while (failed.length === 0 && open.length < 60) {
    const agent = new Dialler(t, hub.port);
    await until(() => agent.status ?? agent.on('challenge')[0]);
    if (agent.status !== undefined) failed.push(agent);
    else {
      open.push(agent);
      await agent.claim({ key: OTHER_KEY });
      await agent.end();
    }
  }
  t.equal(open.length, 30, 'attempts of one address per minute');
  t.equal(failed[0]?.status, 429);
  t.ok(hub.log.filter((line) => line.includes('was refused')).length <= 2, 'the log is not flooded');
});
