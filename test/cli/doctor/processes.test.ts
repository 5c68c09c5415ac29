/** What `hostwire doctor` says of processes. */
import t from 'tap';
import { examineProcesses, judgeProcesses } from '#src/cli/doctor/processes.js';
import { DEFAULT_CONFIG } from '#src/config/schema.js';
import { FakeProcessHost } from '../../helpers/fakes/processes.ts';

const configWith = (features: Partial<typeof DEFAULT_CONFIG.features> = {}) => ({
  ...DEFAULT_CONFIG,
  features: { ...DEFAULT_CONFIG.features, ...features },
});
const CONTROL_ON = configWith({ enable_process_control: true });

const lines = (...given: Parameters<typeof judgeProcesses>) =>
  judgeProcesses(...given).map(({ section, state, source, reason, remedy }) =>
    [`${section} ${state}: ${source}`, reason, remedy].filter((part) => part !== undefined).join(' | '),
  );

t.test('[9.doctor-processes] the list, and what can be done to them', async (t) => {
  t.strictSame(lines({ listed: 143, whyNoControl: null }, CONTROL_ON), [
    'processes ok: 143 processes in /proc',
    'process-control ok: possible',
  ]);
  t.strictSame(lines({ listed: 1, whyNoControl: null }, configWith()), [
    'processes ok: 1 process in /proc',
    'process-control partly: possible | features.enable_process_control is off | set features.enable_process_control to true',
  ]);
  t.strictSame(lines({ listed: new Error('EACCES: open /proc'), whyNoControl: null }, CONTROL_ON), [
    'processes missing: /proc | EACCES: open /proc',
    'process-control ok: possible',
  ]);
  const reasons = new Map([
    ['processes are seen through another root than /proc', 'leave host.proc and host.sys at /proc and /sys'],
    [
      '/proc shows other processes than this service can reach',
      "give the container the host's processes (--pid host)",
    ],
    ['the kernel is older than 5.3', ''],
  ]);
  for (const [whyNoControl, remedy] of reasons)
    t.equal(
      lines({ listed: 2, whyNoControl }, CONTROL_ON)[1],
      `process-control missing: not possible | ${whyNoControl}${remedy === '' ? '' : ` | ${remedy}`}`,
    );
});

t.test('[9.doctor-processes] switched off, or not known here: nothing is listed', async (t) => {
  const host = new FakeProcessHost();
  let reads = 0;
  host.onRead = () => reads++;
  const off = await examineProcesses(host, configWith({ enable_processes: false }));
  t.match(off, [{ section: 'processes', state: 'partly', reason: 'features.enable_processes is off' }]);
  t.equal(reads, 0);
  t.match(await examineProcesses(undefined, CONTROL_ON), [{ section: 'processes', state: 'missing' }]);
});

t.test('[9.doctor-processes] a machine is asked once, and nothing is done to it', async (t) => {
  const host = new FakeProcessHost();
  const [list] = await examineProcesses(host, CONTROL_ON);
  t.equal(list?.source, `${host.processes.length} processes in /proc`);
  host.failure = new Error('EMFILE: open /proc');
  host.reason = 'the kernel is older than 5.3';
  t.match(await examineProcesses(host, CONTROL_ON), [
    { section: 'processes', state: 'missing', reason: 'EMFILE: open /proc' },
    { section: 'process-control', state: 'missing', reason: 'the kernel is older than 5.3' },
  ]);
  t.strictSame([host.sent, host.launched], [[], []]);
});
