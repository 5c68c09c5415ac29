/** A machine is described once its probers and its devices have answered; capabilities that must not be asked are not. */
import t from 'tap';
import { describeMachine, type HostDescription } from '#src/host/describe.js';
import type { Capability, Finding } from '#src/host/finding.js';

const row = (subject: string): Finding => ({
  subject,
  status: 'works',
  source: 'there',
  reason: null,
  remedy: null,
});

const machine = () => {
  const asked: string[] = [];
  const describer = (name: Capability) => ({
    describe: async () => {
      asked.push(name);
      return [row(name)];
    },
  });
  return {
    asked,
    capabilities: {
      processes: describer('processes'),
      power: describer('power'),
      media: describer('media'),
      discovery: describer('discovery'),
    },
  };
};

t.test('[9.doctor-gpu] a device that is slow to answer is waited for', async (t) => {
  const { asked, capabilities } = machine();
  let readings = 0;
  const describe = (): HostDescription => {
    readings++;
    return { findings: [row(`cpu-${readings}`)], isPending: readings < 4 };
  };
  const findings = await describeMachine(describe, capabilities, new Set());
  t.strictSame(
    findings.map(({ subject }) => subject),
    ['cpu-4', 'processes', 'power', 'media', 'discovery'],
  );
  t.strictSame(asked, ['processes', 'power', 'media', 'discovery']);
});

t.test('[9.doctor-processes] [9.doctor-media] [9.doctor-power] excluded ones are not asked', async (t) => {
  const { asked, capabilities } = machine();
  const settled = (): HostDescription => ({ findings: [row('cpu')], isPending: false });
  const findings = await describeMachine(
    settled,
    capabilities,
    new Set(['media', 'power', 'processes', 'discovery']),
  );
  t.strictSame(findings, [row('cpu')]);
  t.strictSame(asked, []);
});
