/** Failing sections are reported once per change, under the names that people filter by. */
import t from 'tap';
import { SECTION_BITS } from '#src/host/host.js';
import { Failures } from '#src/stats/failures.js';
import { ALL_DETAILS, DETAIL_BITS } from '#src/stats/needs.js';

const { cpu: CPU, memory: MEMORY, gpu: GPU, network: NETWORK } = SECTION_BITS;

const asked = (sections: number, withDetail = false, details = ALL_DETAILS) => ({
  sections,
  withDetail,
  details,
});

function watched() {
  const reported: string[] = [];
  const failures = new Failures((section, reason) => reported.push(`${section}: ${reason ?? 'back'}`));
  return { failures, take: () => reported.splice(0) };
}

t.test('once when it begins, once when it ends, again when the reason changes', async (t) => {
  const { failures, take } = watched();
  failures.note(asked(CPU | MEMORY), undefined);
  failures.note(asked(CPU | MEMORY), { memory: 'ENOENT' });
  failures.note(asked(CPU | MEMORY), { memory: 'ENOENT' });
  t.strictSame(take(), ['memory: ENOENT']);
  failures.note(asked(CPU | MEMORY), { memory: 'EACCES', cpu: 'EIO' });
  t.strictSame(take(), ['memory: EACCES', 'cpu: EIO']);
  failures.note(asked(CPU | MEMORY), { cpu: 'EIO' });
  failures.note(asked(CPU | MEMORY), undefined);
  failures.note(asked(CPU | MEMORY), undefined);
  t.strictSame(take(), ['memory: back', 'cpu: back']);
});

t.test('a reading of other sections says nothing about this one', async (t) => {
  const { failures, take } = watched();
  failures.note(asked(MEMORY), { memory: 'ENOENT' });
  take();
  failures.note(asked(CPU), undefined);
  failures.note(asked(0), undefined);
  failures.note(asked(CPU), { cpu: 'EIO' });
  t.strictSame(take(), ['cpu: EIO']);
  failures.note(asked(MEMORY), undefined);
  t.strictSame(take(), ['memory: back']);
});

t.test('sections have the names of the contract; the host as a whole is one more', async (t) => {
  const { failures, take } = watched();
  failures.note(asked(GPU | NETWORK), { gpu: 'x', network: 'y' });
  failures.note(asked(GPU | NETWORK), undefined);
  t.strictSame(take(), ['gpu: x', 'network: y', 'gpu: back', 'network: back']);
  failures.noteHost('torn');
  failures.noteHost('torn');
  failures.note(asked(0), undefined);
  t.strictSame(take(), ['host: torn', 'host: back']);
});

t.test('a detail that fails is reported until a reading with detail succeeds', async (t) => {
  const { failures, take } = watched();
  failures.note(asked(0, true), { sensors: 'EMFILE' });
  t.strictSame(take(), ['sensors: EMFILE']);
  failures.note(asked(CPU), undefined);
  t.strictSame(take(), [], 'a reading without detail says nothing about it');
  failures.note(asked(0, true, DETAIL_BITS.batteries), undefined);
  t.strictSame(take(), [], 'nor does one of another detail');
  failures.note(asked(0, true), undefined);
  t.strictSame(take(), ['sensors: back']);
});

t.test(
  '[3.parts-told] a failing part is reported when the failure lasts, and never a second time',
  async (t) => {
    const { failures, take } = watched();
    const eio = new Map([['sensors of nvme', 'EIO']]);
    failures.noteParts(eio);
    t.strictSame(take(), [], 'an answer may just be late');
    failures.noteParts(eio);
    failures.noteParts(eio);
    t.strictSame(take(), ['sensors of nvme: EIO']);
    for (let round = 0; round < 5; round++) {
      failures.noteParts(new Map());
      failures.noteParts(eio);
      failures.noteParts(eio);
    }
    t.strictSame(take(), [], 'one that comes and goes');
    const other = new Map([...eio, ['battery BAT0', 'ENODEV']]);
    failures.noteParts(other);
    failures.noteParts(other);
    t.strictSame(take(), ['battery BAT0: ENODEV']);
  },
);
