/** A Debian machine under qemu, hostwire in it as the shipped units: see test/vm/README.md. */
import t from 'tap';
import { whyNoImage } from '../vm/image.ts';

const reason = whyNoImage();
if (reason === undefined) await import('../vm/proof.ts');
else t.plan(0, reason);
