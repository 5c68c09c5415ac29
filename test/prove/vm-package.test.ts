/** A Debian machine under qemu with the Debian package in it: see test/vm/README.md. */
import t from 'tap';
import { whyNoImage } from '../vm/image.ts';

const reason = whyNoImage();
if (reason === undefined) await import('../vm/package-proof.ts');
else t.plan(0, reason);
