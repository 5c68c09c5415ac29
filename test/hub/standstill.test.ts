/** A hub that was suspended reads the requests that waited for it, but does not carry out the commands among them. */
import t from 'tap';
import { ask, jsonOf, RawConnection, requestBytes } from '../helpers/clients/http.ts';
import { until } from '../helpers/until.ts';
import { done, PlayedAgent } from './played-agent.ts';
import { isUp, startHub } from './setup.ts';

const ALL = { hub: { commands: { all: { commands: ['*'], labels: {} } } } };
const STOP_MS = 3500;
/** Nothing but what the test does ends it. */
const PATIENT = { commandMs: 300_000, answerMs: 300_000, headMs: 60_000, presenceMs: 600_000 };

const standStill = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STOP_MS);

t.test('[I.hub.standstill] a command that waited while the hub stood still is not done', async (t) => {
  const agent = await PlayedAgent.start(t, 0, () => done({ status: 'ok', message: 'Command initiated' }));
  const hub = await startHub(t, { a: { url: agent.url } }, ALL, PATIENT);
  await hub.host('a', isUp);
  const lock = requestBytes('/api/hosts/a/pw/lock', { method: 'POST' });
  const waiting = await RawConnection.openIn(t, hub.port);
  waiting.write(lock);
  // The hub is in this process: the bytes wait in the kernel, unread.
  standStill();
  const answer = await waiting.readAnswer('POST');
  t.equal(answer.status, 503);
  t.match(jsonOf(answer), { code: 'host_unreachable', details: { reason: 'the hub was suspended' } });
  t.equal(agent.at('power/lock').length, 0, 'the agent was not asked');
  t.match(hub.log.join(''), /power: lock refused: host_unreachable/);
  const again = await until(async () => {
    const next = await ask(hub.port, '/api/hosts/a/pw/lock', { method: 'POST' });
    return next.status === 200 ? next : undefined;
  });
  t.equal(again.status, 200, 'a moment later commands are taken again');
  t.equal(agent.at('power/lock').length, 1);
});
