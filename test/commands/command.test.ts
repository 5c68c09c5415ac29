/** The table of commands: flag, parameters, act, in this order. */
import t from 'tap';
import { auditEnd, auditReport } from '#src/commands/audit.js';
import type { Command, Outcome, Step } from '#src/commands/command.js';
import { DEFAULT_CONFIG } from '#src/config/config.js';
import { ServiceError } from '#src/errors.js';
import type { LogFields } from '#src/log/format.js';
import { Commands } from '#src/machine/commands.js';
import { FakeConfig } from '../helpers/fakes/config.ts';
import { PowerRig } from '../helpers/fakes/power.ts';
import { callerAt, SENDER } from '../helpers/fakes/sender.ts';
import { invoke } from '../helpers/invoke.ts';

/** One command with a flag in the table of requests, `enable_sleep`, and one without. */
function tableOf(calls: string[]): readonly Command[] {
  return ['power.sleep', 'power.cancel'].map((name) => ({
    name,
    prepare({ value }) {
      calls.push(`check ${name}`);
      if (typeof value !== 'number') throw new ServiceError('invalid_value', 'value must be a number.');
      return () => {
        calls.push(`run ${name}`);
        return { result: { doubled: value * 2 } };
      };
    },
  }));
}

t.test('a command is found by its name, checked, then run with the result of its check', async (t) => {
  const calls: string[] = [];
  const commands = new Commands(tableOf(calls), new FakeConfig());
  t.strictSame(commands.names, ['power.sleep', 'power.cancel']);
  t.strictSame(await invoke(commands, 'power.cancel', { value: 21 }, SENDER), { result: { doubled: 42 } });
  t.strictSame(calls, ['check power.cancel', 'run power.cancel']);
  await t.rejects(invoke(commands, 'power.sleep', {}, SENDER), { code: 'invalid_value' });
  t.strictSame(
    calls,
    ['check power.cancel', 'run power.cancel', 'check power.sleep'],
    'refused parameters are not run',
  );
});

t.test('a flag that is off is noticed before anything else is read, and again at each call', async (t) => {
  const calls: string[] = [];
  const config = new FakeConfig({ ...DEFAULT_CONFIG.features, enable_sleep: false });
  const commands = new Commands(tableOf(calls), config);
  await t.rejects(invoke(commands, 'power.sleep', {}, SENDER), { code: 'feature_disabled', status: 403 });
  t.strictSame(calls, []);
  t.strictSame(commands.allowed, ['power.cancel']);
  t.strictSame(
    await invoke(commands, 'power.cancel', { value: 1 }, SENDER),
    { result: { doubled: 2 } },
    'no flag, always allowed',
  );
  config.features = { ...config.features, enable_sleep: true };
  t.strictSame(commands.allowed, ['power.sleep', 'power.cancel']);
  t.strictSame(await invoke(commands, 'power.sleep', { value: 2 }, SENDER), { result: { doubled: 4 } });
});

t.test('an unknown name is refused with the list of known ones; names are unique', async (t) => {
  const commands = new Commands(tableOf([]), new FakeConfig());
  for (const name of ['power.other', 'constructor', '']) {
    await t.rejects(invoke(commands, name, {}, SENDER), {
      code: 'unknown_action',
      details: { allowed: ['power.sleep', 'power.cancel'] },
    });
  }
  const rows = tableOf([]);
  t.throws(() => new Commands([...rows, ...rows], new FakeConfig()), /same name/);
  const unknown = rows.map((row) => ({ ...row, name: `${row.name}_too` }));
  t.throws(() => new Commands(unknown, new FakeConfig()), /not in the table/, 'its flag would be unknown');
});

t.test(
  'a route can refuse before it reads the name of the action, when every command of a group is off',
  async (t) => {
    const config = new FakeConfig({ ...DEFAULT_CONFIG.features, enable_sleep: false });
    const commands = new Commands(tableOf([]), config);
    const reported: string[] = [];
    commands.onReport(({ name, isRefused }) => reported.push(`${name} ${isRefused}`));
    t.throws(() => commands.refuseDisabled('power.sleep', SENDER), { code: 'feature_disabled' });
    t.doesNotThrow(() => commands.refuseDisabled('power.', SENDER), 'one of them is allowed');
    config.features = { ...config.features, enable_media: false };
    t.throws(() => commands.refuseDisabled('media.', SENDER), { code: 'feature_disabled' });
    t.strictSame(reported, ['power.sleep true', 'media true']);
    config.features = DEFAULT_CONFIG.features;
    t.doesNotThrow(() => commands.refuseDisabled('power.sleep', SENDER));
  },
);

t.test('every answer is reported with its sender, a refusal before the act as such', async (t) => {
  const config = new FakeConfig({ ...DEFAULT_CONFIG.features, enable_sleep: false });
  const commands = new Commands(tableOf([]), config);
  const reported: unknown[] = [];
  commands.onReport(({ name, caller, answer, isRefused }) =>
    reported.push([name, caller, answer instanceof ServiceError ? answer.code : answer.result, isRefused]),
  );
  await invoke(commands, 'power.cancel', { value: 1 }, SENDER);
  await t.rejects(invoke(commands, 'power.cancel', {}, SENDER), { code: 'invalid_value' });
  await t.rejects(invoke(commands, 'power.sleep', { value: 1 }, SENDER), { code: 'feature_disabled' });
  await t.rejects(invoke(commands, "power.'; DROP", {}, SENDER), { code: 'unknown_action' });
  t.strictSame(reported, [
    ['power.cancel', SENDER, { doubled: 2 }, false],
    ['power.cancel', SENDER, 'invalid_value', true],
    ['power.sleep', SENDER, 'feature_disabled', true],
  ]);
});

t.test(
  'the steps of a command after its answer are reported with its sender, and to its follower',
  async (t) => {
    const { power, commands } = new PowerRig();
    const lines: string[] = [];
    const log = {
      audit: (text: string, fields: LogFields = {}) => void lines.push(`${text} ${fields['key']}`),
    };
    const seen: string[] = [];
    const caller = callerAt('::1', 'desk');
    commands.onStep((command, step) => {
      seen.push(`${command.name} ${step.stage}`);
      auditEnd(log, command, step);
    });
    const own: string[] = [];
    const follower = { owner: {}, onStep: ({ stage }: Step) => own.push(stage) };
    await commands.prepare('power.sleep', { delay: 60 }, caller)(follower);
    await commands.prepare('power.cancel', {}, caller)();
    t.strictSame([seen, own], [['power.sleep cancelled'], ['cancelled']]);
    await commands.prepare('power.restart', { delay: 60 }, caller)();
    power.close();
    t.strictSame(lines, ['power: sleep cancelled desk', 'power: restart failed desk']);
  },
);

t.test('the audit trail has a line per command, with its client and its outcome', async (t) => {
  const lines: unknown[] = [];
  const outcomes: Readonly<Record<string, Outcome | ServiceError>> = {
    done: { result: { pid: 7, name: 'mpv', message: 'Ended' } },
    accepted: { result: {}, isFollowed: true },
    failed: { result: {}, failure: new ServiceError('not_possible_now', 'No player.', { reason: 'no bus' }) },
    refused: new ServiceError('not_supported', 'No.', { reason: 'no logind' }),
  };
  const caller = callerAt('::1', 'default');
  const log = {
    audit: (text: string, fields?: object) => void lines.push([text, JSON.parse(JSON.stringify(fields))]),
  };
  for (const [name, answer] of Object.entries(outcomes))
    auditReport(log, { name: `power.${name}`, caller, answer, isRefused: false, follower: undefined });
  const client = { address: '::1', keyed: true, key: 'default' };
  t.strictSame(lines, [
    ['power: done done', { ...client, pid: 7, name: 'mpv' }],
    ['power: accepted accepted', client],
    ['power: failed failed: not_possible_now', { ...client, reason: 'no bus' }],
    ['power: refused refused: not_supported', { ...client, reason: 'no logind' }],
  ]);
});
