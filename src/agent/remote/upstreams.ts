/** The upstreams of one machine, and what of it is the same however it is reached. */
import type { Caller } from '../../access/caller.ts';
import { ServiceError } from '../../errors.ts';
import { ALL_SECTIONS } from '../../host/host.ts';
import type { Condition } from '../../machine/registry.ts';
import type { Question } from '../../machine/requests.ts';
import type { Params } from '../../params.ts';
import { FRESH_MS } from '../../stats/freshness.ts';
import type { View } from '../../stats/view.ts';
import type { HostRow } from '../../wire/hub.ts';
import { readJsonObject } from '../protocol/json.ts';
import type { SampleLines } from '../protocol/sample-lines.ts';
import type { RemoteClient } from './ask.ts';
import type { RemoteDeps } from './deps.ts';
import type { InterestMessage } from './pushed.ts';
import { HostSample } from './sample.ts';
import { findMalformed } from './sample-shape.ts';
import { bitsOf, namesOf } from './section-names.ts';
import { Upstream, type UpstreamOwner } from './upstream.ts';

export class Upstreams {
  readonly #deps: RemoteDeps;
  readonly #owner: UpstreamOwner;
  #plain: Upstream | undefined;
  #detailed: Upstream | undefined;

  constructor(deps: RemoteDeps, owner: UpstreamOwner) {
    this.#deps = deps;
    this.#owner = owner;
  }

  get all(): readonly Upstream[] {
    return [this.#plain, this.#detailed].filter((upstream) => upstream !== undefined);
  }

  /** The newest sample with the most sections. */
  get newest(): HostSample | undefined {
    const [plain, detailed] = [this.#plain?.current, this.#detailed?.current];
    return plain?.sections === ALL_SECTIONS ? plain : (detailed ?? plain);
  }

  of({ withDetail }: View): Upstream {
    if (withDetail) {
      this.#detailed ??= new Upstream(this.#deps, this.#owner, true);
      return this.#detailed;
    }
    this.#plain ??= new Upstream(this.#deps, this.#owner, false);
    return this.#plain;
  }

  /** As RemoteHost.usage; `client`: asks where no sample is young enough. */
  async usage(client: RemoteClient, view: View, who: Caller): Promise<Buffer> {
    const { sections, withDetail } = view;
    const current = (withDetail ? this.#detailed : this.#plain)?.current;
    const isYoung = current !== undefined && this.#deps.clock.now() - current.takenAtMs < FRESH_MS;
    if (isYoung && current.has(view)) return current.payload(view);
    const bytes = await this.request(
      client,
      'usage',
      { sections: namesOf(sections), detail: withDetail },
      who,
    );
    const malformed = findMalformed(readJsonObject(bytes) ?? {});
    if (malformed === undefined) return bytes;
    const reason = `its samples are malformed: ${malformed}`;
    throw new ServiceError('host_unreachable', 'The machine sent no valid sample.', { reason });
  }

  /** The answer of `client` to a question. Rejects with ServiceError. */
  async request(client: RemoteClient, what: Question, params: Params, who: Caller): Promise<Buffer> {
    const deadlineMs = this.#deps.clock.now() + this.#deps.times.headMs;
    return (await client.ask({ what, params, who, deadlineMs })).bytes;
  }

  /** The sections to ask the machine for; undefined: none. */
  get interest(): InterestMessage | undefined {
    const [plain, detail] = [this.#plain?.asked, this.#detailed?.asked];
    if (plain === undefined && detail === undefined) return undefined;
    return { sections: namesOf(plain ?? 0), ...(detail !== undefined && { detail: namesOf(detail) }) };
  }

  /** Asks for what is wanted and was not asked for. */
  ask(): void {
    for (const upstream of this.all) if (upstream.asked === undefined) upstream.ask();
  }

  /** `nowMs`: of the hub's clock. Throws BadSample. */
  take(lines: SampleLines, nowMs: number): void {
    for (const upstream of this.all) {
      const { withDetail } = upstream;
      const joined = upstream.asked === undefined ? undefined : lines.join(withDetail);
      if (joined === undefined) continue;
      const { plain, detail = [] } = lines.head;
      const sections = bitsOf(withDetail ? detail : plain);
      upstream.take(new HostSample(joined.event, sections, nowMs, joined.members));
    }
  }

  /** The machine is gone. */
  lost(): void {
    for (const upstream of this.all) upstream.lost();
  }

  dropUnwanted(): void {
    for (const upstream of this.all) {
      if (upstream.isWanted) continue;
      upstream.close();
      if (upstream === this.#plain) this.#plain = undefined;
      else this.#detailed = undefined;
    }
  }

  /** Ends all streams. */
  close(): void {
    for (const upstream of this.all) upstream.close();
  }

  /** The row of /api/hosts. */
  row({
    id,
    name,
    labels,
    condition,
  }: Pick<HostRow, 'id' | 'name' | 'labels'> & { readonly condition: Condition }): HostRow {
    const samples = this.all.flatMap(({ takenAtMs }) => takenAtMs ?? []);
    const age =
      samples.length === 0 ? null : Math.round(this.#deps.clock.now() - Math.max(...samples)) / 1000;
    return { id, name, labels, ...condition, sample_age: age };
  }
}
