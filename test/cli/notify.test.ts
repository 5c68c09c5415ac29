/** `hostwire notify test`: what is sent, the answers that are printed, and no secret in them. */
import http from 'node:http';
import t, { type Test } from 'tap';
import { testTargets } from '#src/cli/notify.js';
import { loadConfig } from '#src/config/load.js';
import { makeFolder, optionsFor, writeFiles } from '../config/loading.ts';
import { listen } from '../helpers/clients/listen.ts';

async function setUp(t: Test, more: object = {}) {
  const received: string[] = [];
  const server = http.createServer((request, response) => {
    received.push(`${request.url} ${request.headers['x-gotify-key']}`);
    response.writeHead(request.url === '/message' ? 401 : 200).end('{"answer":\n1}');
  });
  const url = `http://127.0.0.1:${await listen(t, server)}`;
  const folder = makeFolder(t);
  const targets = {
    hook: { type: 'webhook', url: `${url}/secret` },
    push: { type: 'gotify', url, token_file: 'token' },
    dead: { type: 'ntfy', url: 'http://127.0.0.1:1', topic: 'a' },
  };
  writeFiles(folder, { 'config.json': JSON.stringify({ ...more, notify: { targets } }), token: 'tk_secret' });
  return { options: optionsFor(folder), received };
}

t.test(
  '[9.notify-test] sends one message to each target, or to the one named, and prints the answers',
  async (t) => {
    const { options, received } = await setUp(t);
    t.same(await testTargets('hook', options), { text: 'hook: accepted (200) {"answer": 1}\n', exitCode: 0 });
    t.same(received, ['/secret undefined']);
    t.same(await testTargets(undefined, options), {
      text: [
        'hook: accepted (200) {"answer": 1}\n',
        'push: it refuses a message (401) {"answer": 1}\n',
        'dead: connection refused\n',
      ].join(''),
      exitCode: 1,
    });
    t.same(received.slice(1).sort(), ['/message tk_secret', '/secret undefined']);
  },
);

t.test('[9.notify-test-hub] with the configuration of a hub, too', async (t) => {
  const { options, received } = await setUp(t, { hub: { agents: { nas: { url: 'http://nas.lan:9990' } } } });
  t.match(await testTargets('hook', options), { exitCode: 0 });
  t.equal(received.length, 1);
  const { notices } = loadConfig({ ...options, role: 'hub' });
  t.strictSame(
    notices.map(({ text }) => text).filter((text) => text.includes('notify')),
    [],
  );
});

t.test('[9.notify-test-refused] a target that is not there is a sentence', async (t) => {
  const { options } = await setUp(t);
  t.same(await testTargets('phone', options), {
    text: '"phone" is not a target in notify.targets of the configuration: it names hook, push, dead\n',
    exitCode: 1,
  });
  t.same(await testTargets(undefined, optionsFor(makeFolder(t))), {
    text: 'there is no target in notify.targets of the configuration: it names none\n',
    exitCode: 1,
  });
});
