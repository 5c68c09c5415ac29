/** The table of commands: flag, parameters, act, in this order. */
import t from 'tap';
import { Commands, defineCommand } from '#src/commands/command.js';
import { DEFAULT_CONFIG } from '#src/config/schema.js';
import { ServiceError } from '#src/errors.js';

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

t.test('a command is found by its name, checked, then run with what its check made', async (t) => {
  const calls: string[] = [];
  const commands = new Commands(tableOf(calls), () => DEFAULT_CONFIG.features);
  t.strictSame(commands.names, ['a.flagged', 'a.free']);
  t.strictSame(await commands.invoke('a.free', { value: 21 }), { result: { doubled: 42 } });
  t.strictSame(calls, ['check a.free', 'run a.free']);
  await t.rejects(commands.invoke('a.flagged', {}), { code: 'invalid_value' });
  t.strictSame(calls, ['check a.free', 'run a.free', 'check a.flagged'], 'refused parameters are not run');
});

t.test('a flag that is off is found out before anything is looked at, and at each call anew', async (t) => {
  const calls: string[] = [];
  let features = { ...DEFAULT_CONFIG.features, enable_sleep: false };
  const commands = new Commands(tableOf(calls), () => features);
  t.equal(await commands.invoke('a.flagged', {}), 'feature_disabled');
  t.strictSame(calls, []);
  t.strictSame(
    await commands.invoke('a.free', { value: 1 }),
    { result: { doubled: 2 } },
    'no flag, always allowed',
  );
  features = { ...features, enable_sleep: true };
  t.strictSame(await commands.invoke('a.flagged', { value: 2 }), { result: { doubled: 4 } });
});

t.test('an unknown name is refused with the known ones; a name stands once', async (t) => {
  const commands = new Commands(tableOf([]), () => DEFAULT_CONFIG.features);
  for (const name of ['a.other', 'constructor', '']) {
    await t.rejects(commands.invoke(name, {}), {
      code: 'unknown_action',
      details: { allowed: ['a.flagged', 'a.free'] },
    });
  }
  const rows = tableOf([]);
  t.throws(() => new Commands([...rows, ...rows], () => DEFAULT_CONFIG.features), /same name/);
});
