/** The table of commands: flag, parameters, act, in this order. */
import t from 'tap';
import { auditCommands } from '#src/commands/audit.js';
import { Commands, defineCommand, type Outcome } from '#src/commands/command.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { ServiceError } from '#src/errors.js';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { SENDER } from '../helpers/fakes/sender.ts';
import { invoke } from '../helpers/invoke.ts';

function tableOf(calls: string[]) {
  const row = (name: string, feature: 'enable_sleep' | undefined) =>
    defineCommand({
      name,
      feature,
      check(params) {
        calls.push(`check ${name}`);
        if (typeof params['value'] !== 'number')
          throw new ServiceError('invalid_value', 'value must be a number.');
        return params['value'];
      },
      run(value) {
        calls.push(`run ${name}`);
        return { result: { doubled: value * 2 } };
      },
    });
  return [row('a.flagged', 'enable_sleep'), row('a.free', undefined)];
}

t.test('a command is found by its name, checked, then run with the result of its check', async (t) => {
  const calls: string[] = [];
  const commands = new Commands(tableOf(calls), new FakeConfig());
  t.strictSame(commands.names, ['a.flagged', 'a.free']);
  t.strictSame(await invoke(commands, 'a.free', { value: 21 }, SENDER), { result: { doubled: 42 } });
  t.strictSame(calls, ['check a.free', 'run a.free']);
  await t.rejects(invoke(commands, 'a.flagged', {}, SENDER), { code: 'invalid_value' });
  t.strictSame(calls, ['check a.free', 'run a.free', 'check a.flagged'], 'refused parameters are not run');
});

t.test('a flag that is off is noticed before anything else is read, and again at each call', async (t) => {
  const calls: string[] = [];
  const config = new FakeConfig({ ...DEFAULT_CONFIG.features, enable_sleep: false });
  const commands = new Commands(tableOf(calls), config);
  await t.rejects(invoke(commands, 'a.flagged', {}, SENDER), { code: 'feature_disabled', status: 403 });
  t.strictSame(calls, []);
  t.strictSame(commands.allowed, ['a.free']);
  t.strictSame(
    await invoke(commands, 'a.free', { value: 1 }, SENDER),
    { result: { doubled: 2 } },
    'no flag, always allowed',
  );
  config.features = { ...config.features, enable_sleep: true };
  t.strictSame(commands.allowed, ['a.flagged', 'a.free']);
  t.strictSame(await invoke(commands, 'a.flagged', { value: 2 }, SENDER), { result: { doubled: 4 } });
});

t.test('an unknown name is refused with the list of known ones; names are unique', async (t) => {
  const commands = new Commands(tableOf([]), new FakeConfig());
  for (const name of ['a.other', 'constructor', '']) {
    await t.rejects(invoke(commands, name, {}, SENDER), {
      code: 'unknown_action',
      details: { allowed: ['a.flagged', 'a.free'] },
    });
  }
  const rows = tableOf([]);
  t.throws(() => new Commands([...rows, ...rows], new FakeConfig()), /same name/);
});

t.test(
  'a route can refuse before it reads the name of the action, when every command of a group is off',
  async (t) => {
    const config = new FakeConfig({ ...DEFAULT_CONFIG.features, enable_sleep: false });
    const commands = new Commands(tableOf([]), config);
    t.throws(() => commands.refuseDisabled('a.flagged'), { code: 'feature_disabled' });
    t.doesNotThrow(() => commands.refuseDisabled('a.'), 'one of them is allowed');
    config.features = DEFAULT_CONFIG.features;
    t.doesNotThrow(() => commands.refuseDisabled('a.flagged'));
  },
);

t.test('every answer is reported with its sender, a refusal before the act as such', async (t) => {
  const config = new FakeConfig({ ...DEFAULT_CONFIG.features, enable_sleep: false });
  const commands = new Commands(tableOf([]), config);
  const reported: unknown[] = [];
  commands.onReport(({ name, sender, answer, isRefused }) =>
    reported.push([name, sender, answer instanceof ServiceError ? answer.code : answer.result, isRefused]),
  );
  await invoke(commands, 'a.free', { value: 1 }, SENDER);
  await t.rejects(invoke(commands, 'a.free', {}, SENDER), { code: 'invalid_value' });
  await t.rejects(invoke(commands, 'a.flagged', { value: 1 }, SENDER), { code: 'feature_disabled' });
  await t.rejects(invoke(commands, "a.'; DROP", {}, SENDER), { code: 'unknown_action' });
  t.strictSame(reported, [
    ['a.free', SENDER, { doubled: 2 }, false],
    ['a.free', SENDER, 'invalid_value', true],
    ['a.flagged', SENDER, 'feature_disabled', true],
  ]);
});

t.test('the audit trail has a line per command, with its client and its outcome', async (t) => {
  const lines: unknown[] = [];
  const outcomes: Readonly<Record<string, Outcome | ServiceError>> = {
    done: { result: { pid: 7, name: 'mpv', message: 'Ended' } },
    accepted: { result: {}, isFollowed: true },
    failed: { result: {}, failure: new ServiceError('not_possible_now', 'No player.', { reason: 'no bus' }) },
    refused: new ServiceError('not_supported', 'No.', { reason: 'no logind' }),
  };
  const rows = Object.entries(outcomes).map(([name, outcome]) =>
    defineCommand({
      name: `power.${name}`,
      feature: undefined,
      check: () => undefined,
      run() {
        if (outcome instanceof ServiceError) throw outcome;
        return outcome;
      },
    }),
  );
  const commands = new Commands(rows, new FakeConfig());
  auditCommands(commands, { audit: (text, fields) => lines.push([text, fields]) });
  const sender = { address: '::1', isKeyed: true };
  for (const name of Object.keys(outcomes))
    await invoke(commands, `power.${name}`, {}, sender).catch(() => undefined);
  const client = { address: '::1', keyed: true };
  t.strictSame(lines, [
    ['power: done done', { ...client, pid: 7, name: 'mpv' }],
    ['power: accepted accepted', client],
    ['power: failed failed: not_possible_now', { ...client, reason: 'no bus' }],
    ['power: refused refused: not_supported', { ...client, reason: 'no logind' }],
  ]);
});
