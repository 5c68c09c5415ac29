/** Which service `hostwire top` reaches, and which key it gets. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { parseArguments } from '#src/cli/arguments.js';
import { findTarget } from '#src/cli/target.js';
import { makePair } from '../helpers/certificates.ts';
import { type ConfigPart, configWith } from '../helpers/fakes/config-parts.ts';
import { emptyFolder } from '../helpers/scope.ts';

const words = (...args: readonly string[]) => parseArguments(['top', ...args]);
const never = () => t.fail('the configuration is not read') as never;
const targetOf = (config: ConfigPart, variables: Record<string, string> = {}, ...args: readonly string[]) =>
  findTarget(words(...args).top, variables, () => configWith(config));

const folder = emptyFolder(t, 'reach');
const keyFile = path.join(folder, 'key');
writeFileSync(keyFile, 'from a file\n', { mode: 0o600 });

t.test(
  '[9.top-target] without an address it is the service of the configuration, with its key',
  async (t) => {
    const auth = { enabled: true, api_key: 'k'.repeat(40) };
    t.same(targetOf({ server: { port: 9000 } }), {
      url: 'http://127.0.0.1:9000',
      key: undefined,
      pin: undefined,
    });
    t.same(targetOf({ server: { host: '192.0.2.1' }, auth }).url, 'http://192.0.2.1:9990');
    t.equal(targetOf({ server: { host: '::' } }).url, 'http://127.0.0.1:9990');
    t.equal(targetOf({ server: { host: '::1' } }).url, 'http://[::1]:9990');
    t.equal(targetOf({ auth }).key, auth.api_key);
    t.equal(targetOf({ auth }, { HOSTWIRE_KEY: 'mine' }).key, 'mine');
  },
);

t.test('[9.top-target] its certificate is known by its pin', async (t) => {
  const pair = await makePair({});
  const tls = {
    cert: { path: 'c', pem: pair.cert },
    key: { path: 'k', pem: pair.key },
  };
  const { url, pin } = targetOf({ server: { tls } } as ConfigPart);
  t.equal(url, 'https://127.0.0.1:9990');
  t.match(pin, /^sha256\/[\w+/]{43}=$/);
  const both = targetOf({ server: { port: 80, tls: { ...tls, port: 443 } } } as ConfigPart);
  t.same([both.url, both.pin], ['http://127.0.0.1:80', undefined], 'plain HTTP stays on this machine');
});

t.test("[9.top-key] another service never gets this machine's key", async (t) => {
  const reach = (variables: Record<string, string>, ...args: readonly string[]) =>
    findTarget(words(...args).top, variables, never);
  t.same(reach({ HOSTWIRE_AUTH_API_KEY: 'local' }, 'http://pc:9990'), {
    url: 'http://pc:9990',
    key: undefined,
    pin: undefined,
  });
  t.equal(reach({ HOSTWIRE_KEY: 'mine' }, 'pc').key, 'mine');
  t.equal(reach({ HOSTWIRE_KEY: 'mine' }, 'pc', '--key-file', keyFile).key, 'from a file');
  t.throws(() => reach({}, 'pc', '--key-file', path.join(folder, 'none')), /--key-file cannot be opened/);
  writeFileSync(path.join(folder, 'empty'), '');
  t.throws(() => reach({}, 'pc', '--key-file', path.join(folder, 'empty')), /expected 1 to 1024/);
});

t.test('[9.options] addresses of top, and a key in none of them', async (t) => {
  const urlOf = (text: string) => findTarget(words(text).top, {}, never).url;
  t.equal(urlOf('pc'), 'http://pc:9990');
  t.equal(urlOf('pc:80'), 'http://pc');
  t.equal(urlOf('[fe80::1]:99'), 'http://[fe80::1]:99');
  t.equal(urlOf('[fe80::a]'), 'http://[fe80::a]:9990');
  t.equal(urlOf('http://pc'), 'http://pc', 'a whole address is taken as it is');
  t.equal(urlOf('https://example.org/pc/'), 'https://example.org/pc');
  for (const bad of ['http://u:secret@pc', 'http://pc?api_key=secret', 'ftp://pc', 'http://', 'http://pc#x'])
    t.match(words(bad).problem?.text, /is not the address of a service/, bad);
  t.match(findTarget(words('hub:9980', 'b').top, {}, never), { url: 'http://hub:9980', machine: 'b' });
  t.match(words('a', 'b', 'c').problem?.text, /unexpected argument "c"/);
  t.match(words('https://pc', '--pin', 'x').problem?.text, /--pin expects sha256/);
  t.match(words('http://pc', '--pin', `sha256/${'A'.repeat(43)}=`).problem?.text, /--pin needs .*https/);
  t.match(words('--key-file=a', '--key-file=b').problem?.text, /--key-file was given twice/);
  for (const args of [['--once'], ['--key-file=x'], ['--pin=x']])
    t.match(parseArguments(['check', ...args]).problem?.text, /can only be used with top/);
  t.equal(words('--json').problem, undefined);
});
