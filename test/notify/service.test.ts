/** From the end of a rule in a running service to the phone: the events that it serves are those that it sends. */
import '../helpers/service/dead-buses.ts';
import t from 'tap';
import { FAKE_EVENT, FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';
import { receive } from './receive.ts';

t.test(
  '[12.notify-service] a rule that begins and ends is sent, with its cause, and the heartbeat is requested',
  async (t) => {
    const { received, url } = await receive(t);
    const by = (method: string) => received.filter((each) => each.method === method);
    const history = new FakeHistory();
    const phone = { type: 'ntfy', url, topic: 'alerts', min_severity: 'info' } as const;
    const notify = {
      targets: { phone },
      batch_seconds: 0,
      heartbeat: { url, interval_seconds: 10 },
    };
    await serveHere(
      t,
      fixtureHost(),
      {
        host: { name: 'pc1' },
        watch: { rules: { busy: { series: 'cpu.load', above: 90, for_seconds: 30 } } },
        notify,
      },
      { history },
    );
    await until(() => by('GET').length > 0, 'the heartbeat');
    history.notify(FAKE_EVENT);
    await until(() => by('POST').length === 1, 'the beginning');
    history.notify({ ...FAKE_EVENT, state: 'end', at: FAKE_EVENT.at + 75, value: 12 });
    await until(() => by('POST').length === 2, 'the end');
    const [begin, end] = by('POST').map(({ body }) => JSON.parse(body));
    t.match(begin, { topic: 'alerts', title: 'pc1: warning', priority: 4 });
    t.match(
      begin.message,
      /^Processor load is 97\.5 %, limit 90 %\nBegan .*\.\nUsed most: burn 13 % of the processor\.$/,
    );
    t.match(end, { title: 'pc1: ended', sequence_id: begin.sequence_id });
    t.match(end.message, /^Processor load is back to 12 %, limit 90 %\n.*lasted 1 min 15 s\./);
  },
);

t.test(
  '[12.mute] a running service sends nothing of what is muted, and what lasts when that is over',
  async (t) => {
    const { received, url } = await receive(t);
    const history = new FakeHistory();
    const hook = { type: 'webhook', url, min_severity: 'info' } as const;
    const rule = { series: 'cpu.load', above: 90, for_seconds: 30 };
    const service = await serveHere(
      t,
      fixtureHost(),
      {
        watch: { rules: { busy: rule, other: rule } },
        notify: { targets: { hook }, batch_seconds: 0 },
      },
      { history },
    );
    const mute = async (seconds: number) => {
      const answer = await fetch(`${service.baseUrl}/api/events/mute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ what: 'busy', seconds }),
      });
      t.equal(answer.status, 200);
    };
    await mute(60);
    history.notify(FAKE_EVENT);
    history.notify({ ...FAKE_EVENT, rule: 'other' });
    const rules = () => received.map(({ body }) => JSON.parse(body).commonLabels.alertname);
    await until(() => received.length === 1, 'that of the other rule');
    t.strictSame(rules(), ['other']);
    await mute(0);
    await until(() => received.length === 2, 'what still lasts');
    t.strictSame(rules(), ['other', 'busy']);
  },
);
