/** From the end of a rule in a running service to the phone: the events that it serves are those that it sends. */
import '../helpers/service/dead-buses.ts';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { FAKE_EVENT, FakeHistory } from '../helpers/fakes/history.ts';
import { fixtureHost } from '../helpers/fakes/host.ts';
import { serveHere } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

t.test(
  '[12.notify-service] a rule that begins and ends is sent, with its cause, and the heartbeat is requested',
  async (t) => {
    const bodies: string[] = [];
    let beats = 0;
    const server = http.createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      request.on('end', () => {
        if (request.method === 'GET') beats++;
        else bodies.push(body);
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
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
    await until(() => beats > 0, 'the heartbeat');
    history.notify(FAKE_EVENT);
    await until(() => bodies.length === 1, 'the beginning');
    history.notify({ ...FAKE_EVENT, state: 'end', at: FAKE_EVENT.at + 75, value: 12 });
    await until(() => bodies.length === 2, 'the end');
    const [begin, end] = bodies.map((body) => JSON.parse(body));
    t.match(begin, { topic: 'alerts', title: 'pc1: warning', priority: 4 });
    t.match(
      begin.message,
      /^Processor load is 97\.5 %, limit 90 %\nBegan .*\.\nUsed most: burn 13 % of the processor\.$/,
    );
    t.match(end, { title: 'pc1: ended', sequence_id: begin.sequence_id });
    t.match(end.message, /^Processor load is back to 12 %, limit 90 %\n.*lasted 1 min 15 s\./);
  },
);
