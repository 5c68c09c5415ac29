/** The process commands on a machine of literals: parameters, guards, trees, answers. */
import t from 'tap';
import { feedbackCodeOf } from '#src/commands/feedback.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { ServiceError } from '#src/errors.js';
import { settle } from '../helpers/fakes/clock.ts';
import { OWN_PID, ProcessRig } from '../helpers/fakes/processes.ts';
import { callerAt, SENDER } from '../helpers/fakes/sender.ts';
import { invoke } from '../helpers/invoke.ts';

t.test('[7.kill] by number or by name; term comes first, and a stopped process is resumed', async (t) => {
  const rig = new ProcessRig();
  t.strictSame(await rig.ask('kill', { pid: 200, started_at: 1_000_050 }), {
    success: true,
    action: 'kill',
    message: 'Ended editor (200).',
    final: true,
    pid: 200,
    name: 'editor',
    count: 1,
  });
  t.strictSame(rig.host.sent, [
    [200, 'term'],
    [200, 'continue'],
  ]);
  rig.host.sent.length = 0;
  t.match(await rig.ask('kill', { name: 'helper', signal: 'kill' }), {
    message: 'Ended helper: 2 processes.',
    pid: undefined,
    name: 'helper',
    count: 2,
  });
  t.strictSame(rig.host.sent, [
    [201, 'kill'],
    [202, 'kill'],
  ]);
  t.ok(rig.log.includes('hostwire info: process: ending helper: kill'));
});

t.test('[7.kill-invalid] parameters that make no sense', async (t) => {
  const rig = new ProcessRig();
  const codeOf = async (params: Record<string, unknown>) => (await rig.refusal('kill', params)).code;
  t.equal(await codeOf({}), 'missing_field');
  for (const pid of [0, -1, 2 ** 31, 1.5, '200', Number.NaN, Number.POSITIVE_INFINITY, null, true, [200]])
    t.equal(await codeOf({ pid }), 'invalid_value', `pid ${String(pid)}`);
  for (const name of ['', 'x'.repeat(256), 7, null]) t.equal(await codeOf({ name }), 'invalid_value');
  const pid = 200;
  t.equal(await codeOf({ pid, name: 'editor' }), 'invalid_value');
  t.equal(await codeOf({ name: 'editor', started_at: 1 }), 'invalid_value');
  for (const started_at of ['1', Number.NaN]) t.equal(await codeOf({ pid, started_at }), 'invalid_value');
  for (const signal of ['TERM', 9, null, 'stop']) t.equal(await codeOf({ pid, signal }), 'invalid_value');
  for (const tree of [1, 'true', null]) t.equal(await codeOf({ pid, tree }), 'invalid_value');
  for (const timeout_ms of [-1, 60_001, '5', Number.NaN])
    t.equal(await codeOf({ pid, timeout_ms }), 'invalid_value');
  t.strictSame(rig.host.sent, []);
});

t.test('[7.kill-protected] processes that must not be ended, and nothing is touched', async (t) => {
  const rig = new ProcessRig();
  const refused = async (params: Record<string, unknown>, reason: RegExp) => {
    const error = await rig.refusal('kill', params);
    t.equal(feedbackCodeOf(error), 'PROTECTED', JSON.stringify(params));
    t.equal(error.status, 409);
    t.match(error.message, reason);
  };
  await refused({ pid: 1 }, /init system/);
  await refused({ pid: 2 }, /kernel/);
  await refused({ pid: 3, signal: 'kill' }, /kernel/);
  await refused({ pid: 40 }, /systemd-journald \(40\) belongs to the init system/);
  await refused({ pid: 50 }, /init system/);
  await refused({ pid: 51 }, /init system/);
  await refused({ pid: 60 }, /ancestor of this service/);
  await refused({ pid: OWN_PID }, /this service itself/);
  await refused({ name: 'systemd' }, /init system/);
  await refused({ name: 'node' }, /this service itself/);
  await refused({ pid: 60, tree: true }, /ancestor/);
  rig.host.processes.push({ pid: 400, name: 'systemd-tool', ppid: 200 });
  await refused({ pid: 200, tree: true }, /systemd-tool \(400\)/);
  t.strictSame(rig.host.sent, []);
  t.match(await rig.ask('kill', { pid: 300 }), { success: true }, 'another node by its number');
});

t.test('[7.kill-protected] pid 1 whatever its name', async (t) => {
  const rig = new ProcessRig();
  rig.host.processes[0] = { pid: 1, name: 'my-container', ppid: 0 };
  t.equal(feedbackCodeOf(await rig.refusal('kill', { pid: 1 })), 'PROTECTED');
});

t.test(
  '[7.kill-protected] processes that Windows cannot run without, whatever the case of their names',
  async (t) => {
    for (const name of [
      'csrss.exe',
      'wininit.exe',
      'LSASS.EXE',
      'services.exe',
      'smss.exe',
      'WinLogon.exe',
    ]) {
      const rig = new ProcessRig();
      rig.host.processes.push({ pid: 700, name, ppid: 4 });
      for (const params of [{ pid: 700 }, { name }, { pid: 700, signal: 'kill', tree: true }]) {
        const error = await rig.refusal('kill', params);
        t.equal(feedbackCodeOf(error), 'PROTECTED', name);
        t.match(error.message, /Windows needs to run/);
      }
      t.strictSame(rig.host.sent, []);
    }
    const rig = new ProcessRig();
    // Readings go up by number.
    rig.host.processes.splice(3, 0, { pid: 4, name: 'System', ppid: 0, isKernelThread: true });
    t.match((await rig.refusal('kill', { pid: 4 })).message, /kernel/);
    rig.host.processes.push({ pid: 700, name: 'notepad.exe', ppid: 200 });
    t.match(await rig.ask('kill', { pid: 700 }), { success: true }, 'any other');
  },
);

t.test('[7.kill-conflict] a pid that now belongs to another process', async (t) => {
  const rig = new ProcessRig();
  for (const started_at of [1_000_048, 1_000_052, 0]) {
    const error = await rig.refusal('kill', { pid: 200, started_at });
    t.equal(error.code, 'process_changed');
    t.equal(feedbackCodeOf(error), 'CONFLICT');
  }
  // The clocks' seconds may fall either way.
  for (const started_at of [1_000_049, 1_000_051, 1_000_050.4])
    t.match(await rig.ask('kill', { pid: 200, started_at }), { success: true });
});

t.test('[7.kill-not-found] no such process, one that has ended, one that is just ending', async (t) => {
  const rig = new ProcessRig();
  for (const params of [{ pid: 12345 }, { name: 'nobody' }, { pid: 203 }, { name: 'ended' }]) {
    const error = await rig.refusal('kill', params);
    t.equal(error.code, 'process_not_found', JSON.stringify(params));
    t.equal(feedbackCodeOf(error), 'NOT_FOUND');
  }
  rig.host.signal = () => 'gone';
  t.equal((await rig.refusal('kill', { pid: 200 })).code, 'process_not_found');
});

t.test('[7.kill-timeout] a process that does not end in time, and kill forces it', async (t) => {
  const rig = new ProcessRig();
  rig.host.stubborn.add(201);
  const error = await rig.refusal('kill', { name: 'helper', timeout_ms: 50 });
  t.equal(feedbackCodeOf(error), 'TIMEOUT');
  t.equal(error.status, 500);
  t.match(error.message, /1 of 2 processes of helper are still running\. Use the signal kill to force it\./);
  t.match(error.details, { reason: 'not ended within 50 ms', count: 1 });
});

t.test('[7.kill-denied] a process that this user may not end', async (t) => {
  const rig = new ProcessRig();
  rig.host.denied.add(200);
  t.equal(feedbackCodeOf(await rig.refusal('kill', { pid: 200 })), 'PROTECTED');
});

t.test('[7.kill-tree] parents first, then children that appear during the kill', async (t) => {
  const rig = new ProcessRig();
  rig.host.onRead = (count) => {
    if (count === 1) rig.host.processes.push({ pid: 500, name: 'late', ppid: 202 });
  };
  t.match(await rig.ask('kill', { pid: 200, tree: true }), { count: 4, name: 'editor' });
  t.strictSame(
    rig.host.sent.filter(([, signal]) => signal === 'term').map(([pid]) => pid),
    [200, 201, 202, 500],
  );
});

t.test('[7.kill-tree] before a kill the tree is stopped', async (t) => {
  const rig = new ProcessRig();
  rig.host.onRead = (count) => {
    if (count === 1) rig.host.processes.push({ pid: 500, name: 'late', ppid: 202 });
  };
  t.match(await rig.ask('kill', { pid: 200, tree: true, signal: 'kill' }), { count: 4 });
  t.strictSame(rig.host.sent, [
    [200, 'stop'],
    [201, 'stop'],
    [202, 'stop'],
    [500, 'stop'],
    [200, 'kill'],
    [201, 'kill'],
    [202, 'kill'],
    [500, 'kill'],
  ]);
});

t.test('[7.kill-tree] all or nothing: stopped processes resume if one may not be ended', async (t) => {
  const rig = new ProcessRig();
  rig.host.denied.add(202);
  const error = await rig.refusal('kill', { pid: 200, tree: true, signal: 'kill' });
  t.equal(feedbackCodeOf(error), 'PROTECTED');
  t.strictSame(rig.host.sent, [
    [200, 'stop'],
    [201, 'stop'],
    [200, 'continue'],
    [201, 'continue'],
  ]);
  const failing = new ProcessRig();
  failing.host.onRead = (count) => {
    if (count === 1) failing.host.failure = new Error('no more descriptors');
  };
  await t.rejects(invoke(failing.commands, 'process.kill', { pid: 200, tree: true, signal: 'kill' }, SENDER));
  t.strictSame(
    failing.host.sent,
    ['stop', 'continue'].flatMap((signal) => [200, 201, 202].map((pid) => [pid, signal])),
  );
});

t.test('[7.kill-tree] a tree that keeps growing is not followed forever', async (t) => {
  const rig = new ProcessRig();
  rig.host.onRead = (count) => void rig.host.processes.push({ pid: 1000 + count, name: 'new', ppid: 200 });
  const { count } = await rig.ask('kill', { pid: 200, tree: true });
  t.ok(Number(count) <= 12, `${count}`);
});

t.test('[7.process-flag] off by default, and checked before the parameters', async (t) => {
  const rig = new ProcessRig();
  rig.config.features = DEFAULT_CONFIG.features;
  for (const name of ['process.kill', 'process.launch'])
    await t.rejects(invoke(rig.commands, name, {}, SENDER), { code: 'feature_disabled' });
});

t.test(
  '[7.process-unsupported] where processes cannot be reached: NOT_SUPPORTED with the reason',
  async (t) => {
    const rig = new ProcessRig();
    rig.host.reason = 'the kernel is older than 5.3';
    for (const [action, params] of [
      ['kill', { pid: 200 }],
      ['launch', { app: 'x' }],
    ] as const) {
      const error = await rig.refusal(action, params);
      t.equal(feedbackCodeOf(error), 'NOT_SUPPORTED');
      t.match(error.details, { reason: 'the kernel is older than 5.3' });
    }
  },
);

t.test('[7.processes-busy] too many at a time', async (t) => {
  const rig = new ProcessRig();
  rig.host.failure = Object.assign(new Error('start a thread'), { code: 'EAGAIN' });
  t.equal((await rig.refusal('kill', { pid: 200 })).code, 'not_possible_now');
});

t.test('[7.launch] only apps of the configuration, with the arguments it gives', async (t) => {
  const rig = new ProcessRig();
  rig.config.apps = {
    player: {
      command: '/usr/bin/player',
      args: ['--full'],
      env: { A: '1', B: '' },
      allow_args: true,
      cwd: '/srv',
    },
    plain: { command: '/usr/bin/plain', args: [], env: {}, allow_args: false },
  };
  t.strictSame(await rig.ask('launch', { app: 'player', args: ['film.mkv'] }), {
    success: true,
    action: 'launch',
    message: 'Started player.',
    final: true,
    pid: 4711,
    name: 'player',
  });
  await rig.ask('launch', { app: 'plain', args: [] });
  t.strictSame(rig.host.launched, [
    {
      program: '/usr/bin/player',
      arguments: ['--full', 'film.mkv'],
      environment: ['A=1', 'B='],
      folder: '/srv',
    },
    { program: '/usr/bin/plain', arguments: [], environment: [] },
  ]);
  const codeOf = async (params: Record<string, unknown>) => (await rig.refusal('launch', params)).code;
  t.equal(await codeOf({}), 'missing_field');
  for (const app of ['nothing', 'constructor', '__proto__', ''])
    t.equal(await codeOf({ app }), 'not_found', app);
  t.equal(await codeOf({ app: 7 }), 'invalid_value');
  t.equal(await codeOf({ app: 'plain', args: ['x'] }), 'invalid_value', 'it takes none');
  for (const args of ['x', [7], ['a\0b'], ['x'.repeat(4097)], Array(65).fill('x'), null])
    t.equal(await codeOf({ app: 'player', args }), 'invalid_value');
  t.equal(rig.host.launched.length, 2);
  rig.host.failure = new Error('posix_spawn: No such file or directory');
  const error = await rig.refusal('launch', { app: 'plain' });
  t.equal(error.code, 'action_failed');
  t.match(error.details, { reason: 'posix_spawn: No such file or directory' });
  t.equal(feedbackCodeOf(error), 'INTERNAL');
});

t.test('every error of a command has a code for its feedback', async (t) => {
  const codeOf = (code: ConstructorParameters<typeof ServiceError>[0]) =>
    feedbackCodeOf(new ServiceError(code, 'x'));
  t.equal(codeOf('player_not_found'), 'NOT_FOUND');
  t.equal(codeOf('power_pending'), 'CONFLICT');
  t.equal(codeOf('not_possible_now'), 'CONFLICT');
  t.equal(codeOf('internal_error'), 'INTERNAL');
  t.equal(feedbackCodeOf(new ServiceError('action_failed', 'x', { feedback: 'odd' })), 'INTERNAL');
});

t.test('[7.kill] one address does not use up the threads that wait for ends', async (t) => {
  const rig = new ProcessRig();
  const waiting: (() => void)[] = [];
  rig.host.waitForEnd = async (processes) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return processes.map(() => true);
  };
  const kill = (address: string, isKeyed = false) =>
    invoke(rig.commands, 'process.kill', { pid: 200 }, { ...callerAt(address), isKeyed }).then(
      () => 'ended',
      (error: { readonly code: string }) => error.code,
    );
  const many = Array.from({ length: 40 }, () => kill('192.0.2.1'));
  await settle();
  t.equal(waiting.length, 6, 'a quarter of 24');
  const others = [kill('192.0.2.2'), kill('192.0.2.3', true)];
  await settle();
  t.equal(waiting.length, 8);
  for (let i = 0; i < 100; i++) void kill(`198.51.100.${i}`);
  await settle();
  t.equal(waiting.length, 19, 'three quarters for clients without the key, and one with it');
  for (const resolve of waiting) resolve();
  t.strictSame(await Promise.all(others), ['ended', 'ended']);
  const ends = await Promise.all(many);
  t.equal(ends.filter((end) => end === 'not_possible_now').length, 34);
});
