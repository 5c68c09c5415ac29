/** The button that has another machine wake one that is not there; its state shows whether it has come up. */
import type { HostRow } from '../../src/wire/hub.ts';
import { useMay } from '../access.ts';
import { post } from '../requests.ts';
import { useActs } from './notice.tsx';

const T = {
  wake: 'Wake',
  wakeName: (name: string) => `Wake ${name}`,
  wakeBy: (id: string) => `${id} can wake it`,
  sent: 'Packets sent',
} as const;

interface WakeProps {
  readonly of: Pick<HostRow, 'id' | 'name'> & {
    /** The ids of machines that can wake it. */
    readonly wakers: readonly string[];
  };
  /** The class of the button. */
  readonly kind: string;
}

/** Shows the result in place of its label. */
export function Wake({ of: { id, name, wakers }, kind }: WakeProps) {
  const may = useMay();
  const { notice, isBusy, run } = useActs();
  const [first] = wakers;
  if (first === undefined || !may('wake')) return null;
  const wake = async () => {
    await post(`/api/hosts/${id}/wake`, {});
    return T.sent;
  };
  return (
    <>
      <button
        type="button"
        class={kind}
        disabled={isBusy}
        title={notice?.text ?? T.wakeBy(first)}
        aria-label={T.wakeName(name)}
        onClick={() => void run(wake)}
      >
        {notice?.text ?? T.wake}
      </button>
      <span class="unseen" role="status">
        {notice?.text}
      </span>
    </>
  );
}
