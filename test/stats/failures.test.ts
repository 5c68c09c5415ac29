/** Failing sections are told once a change, under the names that people filter by. */
import t from 'tap';
import { SECTION_BITS } from '#src/host/host.js';
import { Failures } from '#src/stats/failures.js';

const { cpu: CPU, memory: MEMORY, gpu: GPU, network: NETWORK } = SECTION_BITS;

function watched() {
  const told: string[] = [];
  const failures = new Failures((section, reason) => told.push(`${section}: ${reason ?? 'back'}`));
  return { failures, take: () => told.splice(0) };
}

t.test('once when it begins, once when it ends, again when the reason is another', async (t) => {
  const { failures, take } = watched();
  failures.note(CPU | MEMORY, undefined);
  failures.note(CPU | MEMORY, { memory: 'ENOENT' });
  failures.note(CPU | MEMORY, { memory: 'ENOENT' });
  t.strictSame(take(), ['memory: ENOENT']);
  failures.note(CPU | MEMORY, { memory: 'EACCES', cpu: 'EIO' });
  t.strictSame(take(), ['memory: EACCES', 'cpu: EIO']);
  failures.note(CPU | MEMORY, { cpu: 'EIO' });
  failures.note(CPU | MEMORY, undefined);
  failures.note(CPU | MEMORY, undefined);
  t.strictSame(take(), ['memory: back', 'cpu: back']);
});

t.test('a reading of other sections says nothing of this one', async (t) => {
  const { failures, take } = watched();
  failures.note(MEMORY, { memory: 'ENOENT' });
  take();
  failures.note(CPU, undefined);
  failures.note(0, undefined);
  failures.note(CPU, { cpu: 'EIO' });
  t.strictSame(take(), ['cpu: EIO']);
  failures.note(MEMORY, undefined);
  t.strictSame(take(), ['memory: back']);
});

t.test('sections have the names of the contract; the host as a whole is one more', async (t) => {
  const { failures, take } = watched();
  failures.note(GPU | NETWORK, { gpus: 'x', interfaces: 'y' });
  failures.note(GPU | NETWORK, undefined);
  t.strictSame(take(), ['gpu: x', 'network: y', 'gpu: back', 'network: back']);
  failures.noteHost('torn');
  failures.noteHost('torn');
  failures.note(0, undefined);
  t.strictSame(take(), ['host: torn', 'host: back']);
});

t.test('[3.parts-told] a part of a section is told when it lasts, and only once for good', async (t) => {
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
});
