/** Drives under a real kernel: qemu's NVMe, SATA, SCSI and virtio disks in a small machine of their own. */
import t from 'tap';
import { whyNoImage } from '../vm/image.ts';

const reason = whyNoImage();
if (reason === undefined) await import('../vm/drives-proof.ts');
else t.plan(0, reason);
