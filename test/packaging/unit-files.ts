/** The units of packaging/systemd. */
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../../../..');
export const SYSTEM_UNIT = path.join(ROOT, 'packaging/systemd/system/hostwire.service');
export const HUB_UNIT = path.join(ROOT, 'packaging/systemd/system/hostwire-hub.service');
export const USER_UNIT = path.join(ROOT, 'packaging/systemd/user/hostwire.service');
