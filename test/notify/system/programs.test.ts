/**
 * Debian's Alertmanager takes our alerts, with the configuration of the page, and its webhook our messages; apprise sends ntfy
 * and Gotify as we do.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import type { TargetEntry } from '#src/config/rows/notify-rows.js';
import { formOf } from '#src/notify/forms.js';
import { type Message, messageOf } from '#src/notify/message.js';
import { attempt, deliver } from '#src/notify/target.js';
import { listen } from '../../helpers/clients/listen.ts';
import { until } from '../../helpers/until.ts';
import { startAlertmanager, startWebhook, whyNo } from '../../metrics/programs.ts';
import { begins, down, ends } from '../events.ts';
import { type Received, receive } from '../receive.ts';

/** A mail server that accepts everything. */
async function receiveMail(t: Test) {
  const mails: string[] = [];
  const server = net.createServer((socket) => {
    let text = '';
    let isData = false;
    socket.write('220 mail\r\n');
    socket.setEncoding('utf8').on('error', () => undefined);
    socket.on('data', (piece) => {
      text += piece;
      for (let end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n'); end >= 0; ) {
        const line = text.slice(0, end);
        text = text.slice(end + (isData ? 5 : 2));
        if (isData) mails.push(line);
        isData = !isData && line.toUpperCase() === 'DATA';
        socket.write(isData ? '354 go on\r\n' : line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
        end = text.indexOf(isData ? '\r\n.\r\n' : '\r\n');
      }
    });
  });
  return { mails, address: `127.0.0.1:${await listen(t, server)}` };
}

const nowSeconds = () => Math.floor(Date.now() / 1000);
const now = nowSeconds();
const never = new AbortController().signal;
const entryOf = (entry: Partial<TargetEntry>): TargetEntry => ({
  type: 'alertmanager',
  min_severity: 'info',
  ...entry,
});

/** Sends, and expects that it is accepted. */
async function put(t: Test, entry: TargetEntry, message: Message): Promise<void> {
  const options = { name: 'a', entry, link: () => 'http://pc1:9990', unixMs: Date.now };
  t.same(
    await attempt(message, options, never),
    { kind: 'sent' },
    `${message.stage} ${message.labels['alertname']}`,
  );
}

const PAGE = path.resolve(import.meta.dirname, '../../../../../docs/notifications.md');

t.test(
  '[12.notify-alertmanager] Alertmanager groups, sends mail and Slack, and keeps quiet about a machine that is down, as the page configures it',
  { skip: whyNo('prometheus-alertmanager') },
  async (t) => {
    const [slack, mail] = [await receive(t), await receiveMail(t)];
    const [, page = ''] =
      /<!-- alertmanager\.yml -->\n```yaml\n([^`]+)```/.exec(readFileSync(PAGE, 'utf8')) ?? [];
    const yaml = page
      .replace('mail.lan:25', mail.address)
      .replace('https://hooks.slack.com', `http://${slack.address}`)
      .replace('group_wait: 30s', 'group_wait: 1s')
      .replace('group_interval: 5m', 'group_interval: 1s');
    t.equal(yaml.split('127.0.0.1').length, 3, 'both receivers are here');
    const url = await startAlertmanager(t, yaml);
    const entry = entryOf({ url: `${url}/` });
    const alerts = async () =>
      (await (await fetch(`${url}/api/v2/alerts`)).json()) as readonly {
        readonly labels: Readonly<Record<string, string>>;
        readonly status: { readonly state: string };
      }[];
    const full = begins('disk-full disk.used_percent//srv', { severity: 'critical', begin: now - 60 });
    const message = messageOf('begin', full, undefined, 'pc1');
    await put(t, entry, message);
    await until(() => slack.received.length === 1 && mail.mails.length === 1, 'one of each');
    t.match(slack.received[0]?.url, '/services/T0/B0/x');
    t.match(mail.mails[0], 'disk-full');
    await put(t, entry, { ...message, stage: 'lasts' });
    t.same(
      (await alerts()).map(({ labels }) => labels),
      [message.labels],
      'the same alert, with its labels as they are',
    );
    await put(t, entry, messageOf('end', full, ends(full, 60), 'pc1'));
    await until(() => slack.received.length === 2 && mail.mails.length === 2, 'its end');
    t.match(slack.received[1]?.body, 'RESOLVED');
    // An end without its beginning, as of an event that was brief: nothing is sent for it.
    const brief = begins('brief', { begin: now - 9 });
    await put(t, entry, messageOf('was', brief, ends(brief, 5), 'pc1'));
    const gone = { ...down(), begin: now };
    await put(t, entry, messageOf('begin', gone, undefined, 'pc1'));
    await until(() => slack.received.length === 3 && mail.mails.length === 3);
    await put(t, entry, messageOf('begin', { ...begins('hot'), begin: now }, undefined, 'pc1'));
    await put(t, entry, messageOf('begin', { ...begins('hot'), begin: now }, undefined, 'pc2'));
    await until(() => mail.mails.length === 4, 'that of the other machine');
    t.match(mail.mails[3], 'pc2');
    await until(async () => (await alerts()).some(({ status }) => status.state === 'suppressed'));
    const states = new Map(
      (await alerts()).map(({ labels, status }) => [
        `${labels['alertname']} ${labels['instance']}`,
        status.state,
      ]),
    );
    t.equal(states.get('hot pc1'), 'suppressed', 'its machine is down');
    t.notOk(mail.mails.some((each) => each.includes('brief')));
  },
);

t.test(
  '[12.notify-webhook] webhook runs a program of its owner with the values of each message',
  { skip: whyNo('webhook') },
  async (t) => {
    const hooks = [
      {
        id: 'hostwire',
        'execute-command': '/bin/echo',
        'pass-arguments-to-command': [
          { source: 'payload', name: 'status' },
          { source: 'payload', name: 'alerts.0.labels.alertname' },
          { source: 'payload', name: 'alerts.0.annotations.summary' },
          { source: 'header', name: 'webhook-id' },
        ],
        'include-command-output-in-response': true,
        'trigger-rule': {
          match: { type: 'value', value: '4', parameter: { source: 'payload', name: 'version' } },
        },
      },
    ];
    const url = await startWebhook(t, hooks);
    const entry = entryOf({ type: 'webhook', url: `${url}/hooks/hostwire` });
    const full = begins('disk-full disk.used_percent//srv', { text: 'Disk /srv is 91 % full' });
    const end = ends(full, 60, { text: 'Disk /srv is 80 % full' });
    for (const [message, words] of [
      [messageOf('begin', full, undefined, 'pc1'), 'firing disk-full Disk /srv is 91 % full'],
      [messageOf('end', full, end, 'pc1'), 'resolved disk-full Disk /srv is 80 % full'],
    ] as const) {
      const options = { name: 'a', entry, link: () => undefined, unixMs: Date.now };
      const { status, body } = await deliver(message, options, never);
      t.same([status, body], [200, `${words} msg_${message.id}\n`]);
    }
    const lost = entryOf({ type: 'webhook', url: `${url}/hooks/nobody` });
    const options = { name: 'a', entry: lost, link: () => undefined, unixMs: Date.now };
    t.match(await attempt(messageOf('begin', full, undefined, 'pc1'), options, never), {
      kind: 'refused',
      reason: 'it refuses a message (404)',
    });
  },
);

const BEGAN = messageOf('begin', begins('hot', { severity: 'critical' }), undefined, 'pc1');
/** One line, as an argument. */
const words = { ...BEGAN, details: [] };
const LINK = 'http://pc1:9990/';

async function apprise(t: Test, urlOf: (address: string) => string): Promise<Received> {
  const { received, address } = await receive(t);
  const args = ['-t', words.title, '-b', words.summary, urlOf(address)];
  await new Promise<void>((resolve, reject) => {
    execFile('apprise', args, (error) => (error === null ? resolve() : reject(error)));
  });
  const [only, ...more] = received;
  t.same(more, []);
  if (only === undefined) throw new Error('apprise has sent nothing');
  return only;
}

const ours = (entry: Partial<TargetEntry>) =>
  formOf(words, { name: 'a', entry: entryOf({ url: 'http://a', ...entry }), link: LINK, now: nowSeconds() });

/** Its bytes without the blanks that Python writes. */
const compact = (body: string) => JSON.stringify(JSON.parse(body));

t.test(
  '[12.notify-apprise] ntfy: the bytes of apprise, and as JSON what it writes in headers',
  { skip: whyNo('apprise') },
  async (t) => {
    const theirs = await apprise(
      t,
      (address) => `ntfy://${address}/alerts?priority=max&tags=rotating_light&click=${LINK}`,
    );
    const form = ours({ type: 'ntfy', topic: 'alerts' });
    t.same([theirs.method, theirs.url], ['POST', new URL(form.url).pathname]);
    t.equal(theirs.headers['content-type'], form.headers['Content-Type']);
    const { priority, tags, click, sequence_id: sequence, ...shared } = JSON.parse(form.body);
    t.equal(compact(theirs.body), JSON.stringify(shared));
    t.match(theirs.headers, { 'x-priority': 'max', 'x-tags': tags.join(), 'x-click': click });
    t.same([priority, typeof sequence], [5, 'string'], '5 is max');
  },
);

t.test(
  '[12.notify-apprise] Gotify: the header and the fields of apprise',
  { skip: whyNo('apprise') },
  async (t) => {
    const theirs = await apprise(t, (address) => `gotify://${address}/tk?priority=high`);
    const form = ours({ type: 'gotify', token_file: { path: '/t', secret: 'tk' } });
    t.same([theirs.method, theirs.url], ['POST', new URL(form.url).pathname]);
    for (const name of ['Content-Type', 'X-Gotify-Key'])
      t.equal(theirs.headers[name.toLowerCase()], form.headers[name], name);
    const { extras, ...shared } = JSON.parse(form.body);
    t.strictSame(JSON.parse(theirs.body), shared, 'high is 8, as critical');
    t.same(extras, { 'client::notification': { click: { url: LINK } } });
  },
);
