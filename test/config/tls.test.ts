/** `server.tls`: which keys belong together, whose files are used, which pairs are refused, and what is warned of. */
import { chmodSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { checkConfiguration } from '#src/cli/check.js';
import { loadConfig } from '#src/config/load.js';
import { makePair, type TestPair } from '../helpers/certificates.ts';
import { until } from '../helpers/until.ts';
import {
  type Files,
  makeFolder,
  namedProblemsIn,
  namedProblemsOf,
  optionsFor,
  shortProblemsOf,
  writeFiles,
} from './loading.ts';
import { startReloader } from './reloading.ts';
import { filesOf, TLS_CONFIG } from './tls-files.ts';

const [pair, other] = await Promise.all([makePair(), makePair({ name: 'other' })]);

t.test('[8.tls-keys] cert and key belong together, and the port to both', async (t) => {
  const of = (text: string) => shortProblemsOf(t, { ...filesOf(pair), 'config.yaml': text });
  t.same(of('server:\n  tls: {cert: cert.pem}'), [
    'config.yaml:2 server.tls.cert needs server.tls.key; set it too',
  ]);
  t.same(of('server:\n  tls: {key: key.pem}'), [
    'config.yaml:2 server.tls.key needs server.tls.cert; set it too',
  ]);
  t.same(of('server:\n  tls:\n    port: 9443'), [
    'config.yaml:3 server.tls.port needs server.tls.cert and server.tls.key; set them too',
  ]);
  t.same(of(`${TLS_CONFIG}    port: 9990`), [
    'config.yaml:5 server.tls.port server.port is 9990 too, by default; without server.tls.port that port speaks HTTPS',
  ]);
  t.same(of(`${TLS_CONFIG}    port: 80\n  port: 80`).length, 1, 'the same port twice');
  t.same(of(`${TLS_CONFIG}    port: 0\n  port: 0`), [], 'two free ones');
  t.same(of('server: {tls: on}'), [
    'config.yaml:1 server.tls expected a map of keys such as cert, found a string',
  ]);
  t.same(of('server: {tls: {crt: x}}'), [
    'config.yaml:1 server.tls.crt unknown key; did you mean server.tls.cert?',
  ]);
  const [pasted] = of(`server: {tls: {key: "${pair.key.replaceAll('\n', '\\n')}"}}`);
  t.match(
    pasted,
    /^config.yaml:1 server.tls.key expected the path of a PEM file with the private key, found/,
  );
  t.notMatch(pasted, /BEGIN/, 'a key in place of its path is not shown');
});

t.test('[8.tls-load] the pair is part of the configuration, and check shows its paths only', async (t) => {
  const folder = makeFolder(t);
  writeFiles(folder, filesOf(pair));
  const { config, notices, watch } = loadConfig(optionsFor(folder));
  const at = (name: string) => path.join(folder, name);
  t.same(config.server.tls, {
    cert: { path: at('cert.pem'), pem: pair.cert },
    key: { path: at('key.pem'), pem: pair.key },
    port: undefined,
  });
  t.same(notices, []);
  t.ok(watch.includes(at('cert.pem')) && watch.includes(at('key.pem')));
  const { text, exitCode } = checkConfiguration(optionsFor(folder));
  t.equal(exitCode, 0);
  t.match(text, `server.tls.key = "${at('key.pem')}"`);
  t.notMatch(text, /BEGIN/);
});

t.test('[8.tls-refused] a pair that cannot be used is refused with its file and the reason', async (t) => {
  const rsa = await makePair({ rsaBits: 1024 });
  const issuer = await makePair({ name: 'issuer', isIssuer: true });
  const issued = await makePair({ issuer });
  const cases: readonly (readonly [Partial<TestPair>, string])[] = [
    [
      { key: other.key },
      'key key.pem: does not match the certificate in cert.pem; name the key that it was made with',
    ],
    [
      { cert: issuer.cert + issued.cert, key: issued.key },
      'key key.pem: matches certificate 2 in cert.pem; put that one first there',
    ],
    [{ cert: 'x' }, 'cert cert.pem: contains no certificate in PEM form; name the file of the certificate'],
    [
      { cert: pair.key },
      'cert cert.pem: contains a private key and no certificate; are server.tls.cert and server.tls.key swapped?',
    ],
    [
      { cert: pair.cert.replace(/.{60}/, 'A'.repeat(60)) },
      'cert cert.pem: certificate 1 in it cannot be read; copy the file again',
    ],
    [
      { cert: `${pair.cert}${pair.cert.slice(0, 99)}\n-----END CERTIFICATE-----` },
      'cert cert.pem: certificate 2 in it cannot be read; copy the file again',
    ],
    [
      { key: pair.cert },
      'key key.pem: contains a certificate and no private key; are server.tls.cert and server.tls.key swapped?',
    ],
    [{ key: 'x' }, 'key key.pem: contains no private key in PEM form; name the file of the key'],
    [
      { key: pair.key.replace(/\n.{40}/, '\nAAAA') },
      'key key.pem: contains a private key that cannot be read; copy the file again',
    ],
    [
      { key: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n' },
      'key key.pem: is encrypted; write it without a passphrase: openssl pkey -in key.pem -out FILE',
    ],
    [
      rsa,
      'key key.pem: contains a key that browsers do not accept; use EC (P-256, P-384, P-521), or RSA with at least 2048 bits',
    ],
    [{ cert: '\0' }, 'cert cert.pem: contains a NUL character; save it as UTF-8'],
  ];
  for (const [change, wanted] of cases) {
    const line = wanted.startsWith('cert') ? 3 : 4;
    t.same(namedProblemsOf(t, filesOf({ ...pair, ...change })), [`config.yaml:${line} server.tls.${wanted}`]);
  }
  const missing = { ...filesOf(pair), 'config.yaml': TLS_CONFIG.replace('key.pem', 'none.pem') };
  t.same(namedProblemsOf(t, missing), [
    'config.yaml:4 server.tls.key none.pem: cannot be opened: it does not exist; correct the path, or create the file',
  ]);
  t.same(namedProblemsOf(t, filesOf(await makePair({ rsaBits: 2048 }))), [], 'RSA of 2048 bits');
});

t.test('[8.tls-warnings] an expired certificate, a chain out of order', async (t) => {
  const issuer = await makePair({ name: 'issuer', isIssuer: true });
  const issued = await makePair({ issuer });
  const cases: readonly (readonly [TestPair, RegExp | undefined])[] = [
    [
      await makePair({ fromDays: -9, untilDays: -1 }),
      /cert.pem: the certificate expired on \d{4}-\d\d-\d\d; clients will reject it$/,
    ],
    [
      await makePair({ fromDays: 2 }),
      /cert.pem: the certificate is not valid until .*; clients will reject it before then$/,
    ],
    [await makePair({ untilDays: 13 }), /cert.pem: the certificate expires on .*, in less than 14 days$/],
    [await makePair({ untilDays: 14 }), undefined],
    [{ ...issued, cert: issued.cert + issuer.cert }, undefined],
    [{ ...issued, cert: issued.cert + other.cert }, /certificate 2 in it did not issue certificate 1/],
  ];
  for (const [made, wanted] of cases) {
    const folder = makeFolder(t);
    writeFiles(folder, filesOf(made));
    const { notices } = loadConfig(optionsFor(folder));
    t.equal(notices.length, wanted === undefined ? 0 : 1);
    if (wanted !== undefined) t.match(notices, [{ level: 'warn', text: wanted }]);
  }
});

t.test('[8.tls-rights] files that others can read or write', async (t) => {
  const uid = process.getuid?.() ?? 0;
  const folder = makeFolder(t);
  writeFiles(folder, filesOf(pair));
  const at = (name: string) => path.join(folder, name);
  const problems = () => namedProblemsIn(folder, uid);
  t.same(problems(), []);
  chmodSync(at('cert.pem'), 0o644);
  chmodSync(at('key.pem'), 0o640);
  t.same(problems(), [], 'a group may read the key, as ssl-cert does');
  chmodSync(at('key.pem'), 0o644);
  t.same(problems(), ['config.yaml:4 server.tls.key key.pem: can be read by others; run chmod o-r on it']);
  chmodSync(at('key.pem'), 0o602);
  t.same(problems(), [
    'config.yaml:4 server.tls.key key.pem: can be written by others; run chmod go-w on it',
  ]);
  chmodSync(at('key.pem'), 0o600);
  chmodSync(at('cert.pem'), 0o666);
  t.same(problems(), [
    'config.yaml:3 server.tls.cert cert.pem: can be written by others; run chmod go-w on it',
  ]);
  chmodSync(at('cert.pem'), 0o644);
});

/** A day is 20 ms. `certs`: the certificates that were applied. */
function start(t: Test, files: Files) {
  const started = startReloader(t, files, {}, undefined, 20);
  return { ...started, certs: () => started.applied.map(({ server }) => server.tls.cert?.pem) };
}

t.test('[8.tls-reload] a new pair is taken, a bad one keeps the old with one error', async (t) => {
  const { folder, reloader, config, said, certs } = start(t, filesOf(pair));
  reloader.reload();
  t.same(certs(), [], 'nothing has changed');
  writeFiles(folder, { 'cert.pem': other.cert });
  reloader.reload();
  const error =
    'error: the configuration was not reloaded, the old one stays in effect: config.yaml:4: server.tls.key: key.pem: does not match the certificate in cert.pem; name the key that it was made with';
  t.same(said, [error]);
  t.equal(config.current.server.tls.cert?.pem, pair.cert);
  writeFiles(folder, { 'key.pem': other.key });
  reloader.reload();
  t.same(certs(), [other.cert]);
  t.same(said, [error]);
});

t.test('[8.tls-reload-watch] files renamed over, and links that are switched', async (t) => {
  const renamed = start(t, filesOf(pair));
  renamed.reloader.start();
  writeFiles(renamed.folder, { 'new-cert': other.cert, 'new-key': other.key });
  renameSync(renamed.at('new-key'), renamed.at('key.pem'));
  renameSync(renamed.at('new-cert'), renamed.at('cert.pem'));
  await until(() => renamed.certs().length > 0);
  t.same(renamed.certs(), [other.cert], 'renamed over');

  const config = TLS_CONFIG.replace('cert.pem', 'live/cert.pem').replace('key.pem', 'live/key.pem');
  const linked = start(t, {
    'config.yaml': config,
    ...Object.fromEntries(
      [pair, other].flatMap(({ cert, key }, index) => [
        [`archive/cert${index}.pem`, cert],
        [`archive/key${index}.pem`, key],
      ]),
    ),
    'live/cert.pem': pair.cert,
    'live/key.pem': pair.key,
  });
  const link = (index: number) => {
    for (const name of ['cert', 'key']) {
      unlinkSync(linked.at(`live/${name}.pem`));
      symlinkSync(`../archive/${name}${index}.pem`, linked.at(`live/${name}.pem`));
    }
  };
  link(0);
  linked.reloader.start();
  link(1);
  await until(() => linked.certs().length > 0);
  t.same(linked.certs(), [other.cert], 'a link to the renewed files, as certbot keeps them');
});

t.test('[8.tls-reload-mount] a folder behind a link that is switched', async (t) => {
  const { folder, at, reloader, certs } = start(t, filesOf(pair));
  reloader.close();
  writeFiles(folder, {
    'v1/cert.pem': pair.cert,
    'v1/key.pem': pair.key,
    'v2/cert.pem': other.cert,
    'v2/key.pem': other.key,
  });
  for (const name of ['cert.pem', 'key.pem']) {
    unlinkSync(at(name));
    symlinkSync(`..data/${name}`, at(name));
  }
  symlinkSync('v1', at('..data'));
  reloader.start();
  t.same(certs(), [], 'the same pair');
  symlinkSync('v2', at('..new'));
  renameSync(at('..new'), at('..data'));
  await until(() => certs().length > 0);
  t.same(certs(), [other.cert], 'as Kubernetes mounts a secret');
});

t.test('[8.tls-warnings] a certificate that comes near its end while the service runs', async (t) => {
  // Its last fortnight begins in 5 s; the minute is that of makePair.
  const soon = await makePair({ untilDays: 14 - 55 / 86_400 });
  const { reloader, said } = start(t, filesOf(soon));
  t.same(said, []);
  reloader.start();
  await until(() => said.length > 0);
  t.match(said, [/^warn: cert.pem: the certificate expires on .*, in less than 14 days$/]);
  await sleep(100);
  t.equal(said.length, 1, 'once');
});

t.test('[8.tls-restart] to switch TLS on or off, or its port, needs a restart', async (t) => {
  const { folder, at, reloader, applied, said } = start(t, filesOf(pair));
  writeFiles(folder, { 'config.yaml': 'server: {max_streams: 3}' });
  reloader.reload();
  t.same(said, [
    `warn: server.tls.cert is now no value: restart needed, "cert.pem" stays in effect`,
    `warn: server.tls.key is now no value: restart needed, "key.pem" stays in effect`,
  ]);
  t.match(applied, [{ server: { max_streams: 3, tls: { cert: { path: at('cert.pem') } } } }]);
  writeFiles(folder, { 'config.yaml': `${TLS_CONFIG}    port: 9443` });
  reloader.reload();
  t.match(said.at(-1), 'server.tls.port is now 9443: restart needed, no value stays in effect');
});
