/**
 * Peers that send faster than their bytes are worked off: what one read of a connection returns is bounded, by the
 * receive buffer that it inherits. The siege shows what that is for (attacks/pieces.ts).
 */
import { execFileSync } from 'node:child_process';
import process from 'node:process';
import t from 'tap';
import { RawConnection } from '../../helpers/clients/http.ts';
import { serveProgram } from '../../helpers/service/service.ts';

const skip = process.platform !== 'linux' && 'receive buffers are set on Linux alone';

t.test(
  '[7.fast-peers] the receive buffer of a connection is 64 KiB and does not grow',
  { skip },
  async (t) => {
    const service = await serveProgram(t);
    await RawConnection.openIn(t, service.port);
    const listed = execFileSync('ss', ['-Htnm', `sport = :${service.port}`], { encoding: 'utf8' });
    t.match(listed, /\brb65536\b/);
  },
);
