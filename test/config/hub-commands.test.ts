/** `hub.commands`: the rules that are accepted and refused. */
import t from 'tap';
import { load } from './loading.ts';

t.test('[8.hub-commands] a map of names to rules', async (t) => {
  const { config, origins } = load(t, {
    'config.yaml': `hub:
  commands:
    living-room:
      commands: [media.*, power.sleep]
      clients: [192.168.1.0/24, "2001:db8::/32"]
      hosts: [tv, desk]
      labels: {site: berlin}
    admins: {commands: ["*"], keys: [default]}
`,
    'config.json': '{"hub": {"commands": {"lock": {"commands": ["power.lock"]}}}}',
  });
  t.same(Object.keys(config.hub.commands).sort(), ['admins', 'living-room', 'lock']);
  t.same(config.hub.commands['living-room'], {
    commands: ['media.*', 'power.sleep'],
    clients: ['192.168.1.0/24', '2001:db8::/32'],
    hosts: ['tv', 'desk'],
    labels: { site: 'berlin' },
  });
  t.same(config.hub.commands['lock'], { commands: ['power.lock'], labels: {} });
  t.match(origins.get('hub.commands.admins'), /config\.yaml:8$/);
  t.equal(Object.keys(load(t, {}).config.hub.commands).length, 0, 'nothing is allowed by default');
});
