import { useState } from 'preact/hooks';
import { Copyable, CopyButton } from '../components/controls.tsx';
import { ProblemNotice, SlowLine } from '../components/notice.tsx';
import { formatBytes, formatCount, formatDateTime, formatZone, NOTHING } from '../format.ts';
import { useUnmatchedTopics } from '../state/device.ts';
import { useServices } from '../state/hooks.ts';
import { escapeLine, previewOf } from './text.ts';
import '../styles/dead-letters.css';
import type { UnmatchedTopics as Answer, UnmatchedTopic } from '../api/types.ts';

/** Characters of a payload in a row, and below it. The API keeps 2 KiB. */
const ROW_CHARACTERS = 256;
const PAYLOAD_CHARACTERS = 2048;

/** What the list covers, by where its messages come from. */
const COVERED: Record<Answer['source'], string> = {
  embedded:
    'Millrace drops and counts messages on topics that neither it nor a mapping knows. MQTT 3.1.1 gets a plain PUBACK, MQTT 5 a PUBACK with 0x90. A mapping makes measurements of them.',
  external:
    'Behind an external broker Millrace subscribes to its own topics and to those of mappings only. A message on any other topic stays at the broker and is not listed here. Look at the log of the broker for those.',
  none: 'This process receives nothing over MQTT, so it lists nothing. Ask a process with the role all or ingest.',
};

/** Messages on topics outside the contract, which would otherwise go unnoticed. */
export function UnmatchedTopics() {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { data, problem, slow, reload } = useUnmatchedTopics();
  return (
    <section class="panel" id="unmatched-topics" aria-label="Unmatched topics">
      <div class="panel-head">
        <h2>Unmatched topics</h2>
        {data && (
          <p class="panel-note">
            Counted by this process since {formatDateTime(Date.parse(data.since), zone)}
          </p>
        )}
      </div>
      {slow && <SlowLine />}
      {problem && !data && <ProblemNotice problem={problem} onRetry={reload} />}
      {data && <p class="unmatched-note">{COVERED[data.source]}</p>}
      {data && data.items.length === 0 && data.source === 'embedded' && (
        <p class="none">No message came on an unknown topic.</p>
      )}
      {data && data.items.length > 0 && <Table items={data.items} zone={zone} />}
    </section>
  );
}

const Table = ({ items, zone }: { items: UnmatchedTopic[]; zone: 'local' | 'utc' }) => (
  <table class="plain stacks unmatched">
    <caption class="visually-hidden">Unmatched topics, the newest first</caption>
    <thead>
      <tr>
        <th scope="col">Topic</th>
        <th scope="col" class="col-count number">
          Messages
        </th>
        <th scope="col" class="col-last">
          Last {formatZone(zone, Date.now())}
        </th>
        <th scope="col">Last payload</th>
        <th scope="col">Suggestion</th>
      </tr>
    </thead>
    <tbody>
      {items.map((item) => (
        <Row key={item.topic} item={item} zone={zone} />
      ))}
    </tbody>
  </table>
);

const Suggestion = ({ topic }: { topic: string | null }) =>
  topic === null ? (
    <span class="quiet" title="No topic of Millrace is close">
      {NOTHING}
    </span>
  ) : (
    <span class="suggestion">
      <code>{escapeLine(topic)}</code> <CopyButton text={topic} what="the topic" />
    </span>
  );

function Row({ item, zone }: { item: UnmatchedTopic; zone: 'local' | 'utc' }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <tr>
        <th scope="row" class="wraps">
          <code>{escapeLine(item.topic)}</code>
        </th>
        <td class="col-count number">{formatCount(item.count)}</td>
        <td class="col-last">
          <time datetime={item.ts}>{formatDateTime(Date.parse(item.ts), zone)}</time>
        </td>
        <td class="wraps whole">
          <code>{previewOf(item.payload_base64, ROW_CHARACTERS)}</code>{' '}
          <span class="quiet">{formatBytes(item.size)}</span>
        </td>
        <td class="wraps whole">
          {item.mapping === null ? (
            <Suggestion topic={item.suggestion} />
          ) : (
            <button type="button" class="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? 'Hide the mapping' : 'Propose a mapping'}
              <span class="visually-hidden"> for {escapeLine(item.topic)}</span>
            </button>
          )}
        </td>
      </tr>
      {isOpen && item.mapping !== null && (
        <tr class="proposal">
          <td class="whole" colSpan={5}>
            <Proposal item={item} mapping={item.mapping} />
          </td>
        </tr>
      )}
    </>
  );
}

function Proposal({ item, mapping }: { item: UnmatchedTopic; mapping: string }) {
  const payload = previewOf(item.payload_base64, PAYLOAD_CHARACTERS);
  const isCut = payload.endsWith('…') || item.size > PAYLOAD_CHARACTERS;
  const test = `npm run mappings -- test mappings.yaml --topic ${quoted(item.topic)} --payload ${quoted(payload)}`;
  return (
    <ol class="proposal-steps">
      <li>
        Save this draft as <code>mappings.yaml</code>, or add its entry to the file that you have. Check which
        level is <code>{'{device}'}</code>, and add units.
        <Copyable text={mapping} what={`Mapping for ${escapeLine(item.topic)}`} />
      </li>
      <li>
        See what the last message becomes.
        {isCut && ' Only its beginning is kept here, so put in the whole payload.'}
        <Copyable text={test} what={`Command for ${escapeLine(item.topic)}`} />
      </li>
      <li>
        Set <code>MQTT_MAPPINGS=mappings.yaml</code> and restart the process.{' '}
        <a class="link" href="/docs/reference/mappings" data-native>
          All members of a mapping
        </a>
      </li>
    </ol>
  );
}

/** @returns a word of a shell */
const quoted = (text: string): string => `'${escapeLine(text).replaceAll("'", "'\\''")}'`;
