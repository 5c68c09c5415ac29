/** Answers and topics of one machine that are not what the contract promises: no client gets them. */
import t from 'tap';
import { OWN_ACCOUNT } from '#src/access/caller.js';
import { Calls } from '#src/agent/remote/calls.js';
import { PushedTopics } from '#src/agent/remote/pushed.js';
import { ask, jsonOf } from '../helpers/clients/http.ts';
import { FakeClock } from '../helpers/fakes/clock.ts';
import { done, PlayedAgent } from './played-agent.ts';
import { isUp, startHub } from './setup.ts';

const NESTED = `${'['.repeat(5000)}${']'.repeat(5000)}`;
/** The bytes of a text in which U+00FF stands for a byte that UTF-8 never has. */
const bytesOf = (text: string) => Buffer.from(text, 'latin1');

t.test('[I.hub.hostile] answers that are not what was asked for are not passed on', async (t) => {
  let result: unknown;
  const agent = await PlayedAgent.start(t, 0, () => ({ ...done(), result }));
  const hub = await startHub(t, { a: { url: agent.url } });
  await hub.host('a', isUp);
  for (result of [[], 5, 'x']) {
    const answer = await ask(hub.port, '/api/hosts/a/media/status');
    t.equal(answer.status, 503, JSON.stringify(result));
    t.match(jsonOf(answer), {
      code: 'host_unreachable',
      details: { reason: 'its answer is malformed' },
    });
  }
  result = { timestamp: 1, uptime: 1, disks: null };
  const usage = await ask(hub.port, '/api/hosts/a/usage');
  t.equal(usage.status, 503);
  t.match(jsonOf(usage), { details: { reason: 'its samples are malformed: disks' } });
  result = { status: 'idle' };
  t.equal((await ask(hub.port, '/api/hosts/a/media/status')).status, 200);
});

t.test('[I.hub.hostile] answers and topics over a broker', async (t) => {
  const clock = new FakeClock();
  let sent = '';
  const publish = (_id: string, _name: string, payload: string) => {
    sent = payload;
    return true;
  };
  const calls = new Calls({ hub: 'h', clock, answerMs: 10, publish });
  const question = { what: 'media', params: {}, who: OWN_ACCOUNT, deadlineMs: 1000 };
  const answered = async (result: string) => {
    const found = calls.question('a', question).then(
      ({ bytes }) => bytes.toString(),
      (error: Error) => error.constructor.name,
    );
    const { id } = JSON.parse(sent);
    calls.take('a', bytesOf(`{"id":"${id}","stage":"done","run":"r","clock":1,"result":${result}}`));
    await clock.advance(2000);
    return await found;
  };
  t.equal(await answered('{"a":1}'), '{"a":1}');
  t.equal(await answered('null'), '{}', 'a command that returns nothing');
  for (const result of ['5', '[]', '"x"', `{"x":${NESTED}}`, '{"x":"\xff"}'])
    t.equal(await answered(result), 'ServiceError', result.slice(0, 20));
  const payloads: string[] = [];
  const topics = new PushedTopics(() => undefined);
  topics.follow('media', { onPayload: (json) => payloads.push(json), onLost: () => undefined });
  for (const text of ['{"title":"\xff"}', `{"title":${NESTED}}`, '[]', '{"title":"A"}'])
    topics.take('media', bytesOf(text));
  t.same(payloads, ['{"title":"A"}']);
});
