/** `hostwire keygen --tls`: what it writes, what it never overwrites, and that clients accept it by its pin. */
import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import t from 'tap';
import { generateCertificate } from '#src/cli/certificate.js';
import { daysLeft, namesOf, pinOf } from '#src/tls/certificate.js';
import { judgePair } from '#src/tls/pair.js';
import { RawConnection } from '../helpers/clients/http.ts';
import { listen } from '../helpers/clients/listen.ts';
import { type ConfigPart, runToEnd, serveProgram } from '../helpers/service/service.ts';
import { until } from '../helpers/until.ts';

const FACTS = { names: ['pc.example.org', 'pc', 'no good'], cwd: '/', isRoot: false };

t.test('[9.keygen-tls] a key and a certificate for the names of the machine and those given', async (t) => {
  const folder = path.join(t.testdir(), 'new/tls');
  const { text, exitCode } = await generateCertificate({ folder, names: ['10.0.0.7', 'pc.lan'] }, FACTS);
  t.equal(exitCode, 0);
  const read = (name: string) => ({
    path: path.join(folder, name),
    pem: readFileSync(path.join(folder, name), 'utf8'),
  });
  const pair = { cert: read('tls-cert.pem'), key: read('tls-key.pem') };
  t.same(judgePair(pair, Date.now()), { problems: [], warnings: [] });
  t.equal(statSync(pair.key.path).mode & 0o777, 0o600);
  const certificate = new X509Certificate(pair.cert.pem);
  t.same(namesOf(certificate), [
    ...[
      'pc.example.org',
      'pc',
      'pc.local',
      'localhost',
      '127.0.0.1',
      '0:0:0:0:0:0:0:1',
      '10.0.0.7',
      'pc.lan',
    ],
  ]);
  const days = (Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)) / 86_400_000;
  t.ok(days <= 825 && days > 824, 'more than Apple accepts are refused');
  t.ok(daysLeft(certificate, Date.now()) > 820);
  for (const part of [pair.key.path, pair.cert.path, pinOf(certificate), 'server:\n  tls:\n    cert: "'])
    t.match(text, part);
  t.notMatch(text, /BEGIN|chown/);
  t.match(
    (await generateCertificate({ folder: `${folder}2`, names: [] }, { ...FACTS, isRoot: true })).text,
    /chown USER /,
  );
});

t.test('[9.keygen-tls-kept] files that exist are never overwritten', async (t) => {
  for (const name of ['tls-key.pem', 'tls-cert.pem']) {
    const folder = t.testdir({ [name]: 'mine' });
    const { text, exitCode } = await generateCertificate({ folder, names: [] }, FACTS);
    t.equal(exitCode, 1);
    t.equal(text, `${path.join(folder, name)} already exists and is not overwritten\n`);
    t.same(readdirSync(folder), [name], 'and nothing else is left there');
    t.equal(readFileSync(path.join(folder, name), 'utf8'), 'mine');
  }
  const folder = t.testdir({ file: 'mine' });
  const { text } = await generateCertificate({ folder: path.join(folder, 'file'), names: [] }, FACTS);
  t.match(text, /cannot be written: (?:EEXIST|ENOTDIR)|already exists/);
});

t.test(
  '[9.keygen-tls-use] the program makes them, Node serves with them, and the pin is the one printed',
  async (t) => {
    const folder = t.testdir();
    const { code, stdout } = await runToEnd(['keygen', '--tls', '--out', folder, 'my.example.org']);
    t.equal(code, 0);
    const read = (name: string) => readFileSync(path.join(folder, name));
    const cert = read('tls-cert.pem');
    const server = https.createServer({ cert, key: read('tls-key.pem') }, (_request, response) =>
      response.end('ok'),
    );
    const port = await listen(t, server);
    const answer = await new Promise<string>((resolve, reject) => {
      // Trusted as its own authority, and checked for its name.
      const options = { port, host: '127.0.0.1', servername: 'my.example.org', ca: cert, agent: false };
      https
        .get(options, (response) => response.on('data', (bytes) => resolve(String(bytes))))
        .on('error', reject);
    });
    t.equal(answer, 'ok');
    t.match(
      stdout,
      new RegExp(`^Pin: +${pinOf(new X509Certificate(cert)).replaceAll(/[+/]/g, '\\$&')}$`, 'm'),
    );
  },
);

t.test(
  '[8.tls-program] the program serves with them; doctor shows the certificate; a wrong key stops the start',
  async (t) => {
    const folder = t.testdir({
      'config.yaml': 'server:\n  tls:\n    cert: tls-cert.pem\n    key: tls-key.pem\n',
    });
    const file = path.join(folder, 'config.yaml');
    await generateCertificate({ folder, names: [] }, FACTS);
    const { stdout, code } = await runToEnd(['doctor', '--host', '127.0.0.1', '--port', '0'], { file });
    t.equal(code, 0);
    t.match(stdout, /^certificate +ok +for pc.example.org, .*; 82\d days left; pin sha256\/\S{44}$/m);
    const other = path.join(folder, 'other');
    await generateCertificate({ folder: other, names: [] }, FACTS);
    renameSync(path.join(other, 'tls-key.pem'), path.join(folder, 'tls-key.pem'));
    const { stderr, code: failed } = await runToEnd(['--port', '0'], { file });
    t.equal(failed, 1);
    t.match(
      stderr,
      /config.yaml:4: server.tls.key: \S+tls-key.pem: does not match the certificate in \S+tls-cert.pem; .*\n$/,
    );
  },
);

t.test(
  '[8.tls-program] two ports are named; files that are replaced are taken, a bad pair is not',
  async (t) => {
    const folder = t.testdir({ old: {}, new: {} });
    const at = (name: string) => path.join(folder, name);
    for (const name of ['old', 'new']) await generateCertificate({ folder: at(name), names: [] }, FACTS);
    const tls = { cert: at('old/tls-cert.pem'), key: at('old/tls-key.pem'), port: 0 };
    // As a file spells it.
    const service = await serveProgram(t, { config: { server: { tls } } as unknown as ConfigPart });
    const [, plain, secure] =
      /listening on http:\S+:(\d+) and https:\S+:(\d+)\n/.exec(service.stderr()) ?? [];
    t.equal(Number(plain), service.port);
    const pinNow = async () => {
      const connection = await RawConnection.openSecure(Number(secure));
      const { pin } = connection;
      connection.destroy();
      return pin;
    };
    const pinIn = (file: string) => pinOf(new X509Certificate(readFileSync(at(file))));
    const [old, next] = ['old', 'new'].map((name) => pinIn(`${name}/tls-cert.pem`));
    t.equal(await pinNow(), old);
    renameSync(at('new/tls-cert.pem'), at('old/tls-cert.pem'));
    await until(() => service.stderr().includes('does not match the certificate in'));
    t.match(
      service.stderr(),
      /error: the configuration was not reloaded, .*server.tls.key: \S+old\/tls-key.pem: does not match/,
    );
    t.equal(await pinNow(), old, 'half a pair');
    renameSync(at('new/tls-key.pem'), at('old/tls-key.pem'));
    // uWebSockets.js resets a connection that arrives in the instant of the change (docs/engines.md).
    await until(async () => (await pinNow().catch(() => undefined)) === next);
    t.equal(service.stderr().split('does not match').length, 2, 'one error');
  },
);
