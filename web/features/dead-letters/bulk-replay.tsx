import { useEffect, useRef, useState } from 'preact/hooks';
import type { Problem, Query } from '../../api/request.ts';
import { problemWords, toProblem } from '../../api/request.ts';
import { formatCount, formatCounted, formatDateTime } from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { Cancel, Dialog, DialogProblem } from '../shared/dialog.tsx';
import { deadLetterHref } from './address.ts';
import { readDeadLetters, replayDeadLetter } from './api.ts';
import { reasonsOf } from './codes.tsx';
import type { Collected, Replayed } from './replay.tsx';
import { collect, countRefused, isStored, MOST_AT_ONCE, replayAll, sumReplays } from './replay.tsx';
import { escapeLine } from './text.ts';

/** Maximum number of listed results. */
const MOST_LISTED = 100;

/**
 * Renders the button and the dialog that replay all dead letters of the list.
 *
 * @param props `query`: range, device and code of the list
 */
export function BulkReplay({ query, onDone }: { query: Query; onDone: () => void }) {
  const [asking, setAsking] = useState(false);
  const may = useMay('admin');
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={!may}
        title={may ? undefined : scopeText('Replay', 'admin')}
        onClick={() => setAsking(true)}
      >
        Replay all…
      </button>
      {asking && (
        <BulkDialog
          query={query}
          onClose={() => {
            setAsking(false);
            onDone();
          }}
        />
      )}
    </>
  );
}

type Step = 'counting' | 'asking' | 'running' | 'done';

function BulkDialog({ query, onClose }: { query: Query; onClose: () => void }) {
  const { client } = useServices();
  const [step, setStep] = useState<Step>('counting');
  const [counted, setCounted] = useState(0);
  const [collected, setCollected] = useState<Collected | null>(null);
  const [replayed, setReplayed] = useState<Replayed[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const abort = useRef(new AbortController());
  // The list may change while the dialog is open. The confirmation of the user applies to the list at the time of opening.
  const asked = useRef(query);

  useEffect(() => {
    const { signal } = abort.current;
    const readPage = (query: Query) => readDeadLetters(client, query, signal);
    collect(readPage, asked.current, { signal, onCount: setCounted }).then(
      (all) => {
        setCollected(all);
        setStep('asking');
      },
      (error) => !signal.aborted && setProblem(toProblem(error)),
    );
    return () => abort.current.abort();
  }, [client]);

  async function run() {
    setStep('running');
    await replayAll((id) => replayDeadLetter(client, id), collected?.heads ?? [], {
      signal: abort.current.signal,
      onReplayed: (one) => setReplayed((before) => [...before, one]),
    });
    setStep('done');
  }

  const total = collected?.heads.length ?? 0;
  return (
    <Dialog title={titleOf(step, total)} busy={step === 'running'} onClose={onClose}>
      {problem && <DialogProblem {...problemWords(problem)} />}
      {step === 'counting' && !problem && (
        <p role="status">Counting… {counted > 0 && formatCount(counted)}</p>
      )}
      {step === 'asking' && collected && <Question collected={collected} onConfirm={run} />}
      {(step === 'running' || step === 'done') && (
        <Progress
          total={total}
          replayed={replayed}
          isDone={step === 'done'}
          onStop={() => abort.current.abort()}
        />
      )}
      {(step === 'counting' || problem) && (
        <p class="dialog-actions">
          <Cancel />
        </p>
      )}
    </Dialog>
  );
}

function titleOf(step: Step, total: number) {
  if (step === 'counting') return 'Replay all dead letters of this list?';
  const what = formatCounted(total, 'dead letter');
  if (step === 'asking') return `Replay ${what}?`;
  return step === 'running' ? `Replaying ${what}` : 'The replay has ended';
}

function Question({
  collected: { heads, incomplete, hasMore },
  onConfirm,
}: {
  collected: Collected;
  onConfirm: () => void;
}) {
  const refusals = heads.reduce((sum, head) => sum + countRefused(head), 0);
  return (
    <>
      <p>
        They have {formatCounted(refusals, 'refusal')}. Each goes through ingest again. Valid measurements are
        committed under their own time. A second replay does no harm, and the dead letters stay until they
        expire.
      </p>
      {incomplete > 0 && (
        <p>
          {formatCounted(incomplete, 'further dead letter')} cannot be replayed, since not all of the payload
          was kept.
        </p>
      )}
      {hasMore && (
        <p class="dialog-warning">
          There are more. This replays the newest {formatCount(MOST_AT_ONCE)}. Choose a shorter range, a
          device or a code for the others.
        </p>
      )}
      <p class="dialog-actions">
        <Cancel />
        <button type="button" class="button main-button" disabled={heads.length === 0} onClick={onConfirm}>
          Replay {formatCounted(heads.length, 'dead letter')}
        </button>
      </p>
    </>
  );
}

function Progress({
  total,
  replayed,
  isDone,
  onStop,
}: {
  total: number;
  replayed: Replayed[];
  isDone: boolean;
  onStop: () => void;
}) {
  const { accepted, refused, failed } = sumReplays(replayed);
  const isWell = refused === 0 && failed === 0 && replayed.length === total;
  const tone = isWell ? 'good' : 'warn';
  return (
    <>
      <progress
        class="bulk-progress"
        value={replayed.length}
        max={total}
        aria-label="Dead letters replayed"
      />
      <p role="status" class="bulk-sum" data-tone={isDone ? tone : undefined}>
        {formatCount(replayed.length)} of {formatCounted(total, 'dead letter')}. Stored:{' '}
        {formatCount(accepted)}. Refused again: {formatCount(refused)}.
        {failed > 0 && ` Failed: ${formatCounted(failed, 'dead letter')}.`}
      </p>
      {isDone && replayed.length > 0 && <Results replayed={replayed} />}
      <p class="dialog-actions">
        {isDone ? (
          <Cancel label="Close" />
        ) : (
          <button type="button" class="button" onClick={onStop}>
            Stop
          </button>
        )}
      </p>
    </>
  );
}

/** Renders the result of each dead letter. Dead letters that are not stored come first. */
function Results({ replayed }: { replayed: Replayed[] }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const sorted = [...replayed].sort((a, b) => Number(isStored(a)) - Number(isStored(b)));
  return (
    <>
      <ul class="bulk-results" tabIndex={0} aria-label="Result of each dead letter">
        {sorted.slice(0, MOST_LISTED).map((each) => (
          <li key={each.head.id} data-stored={isStored(each)}>
            <a class="link" href={deadLetterHref(each.head.id)}>
              <time datetime={each.head.ts}>{formatDateTime(Date.parse(each.head.ts), zone)}</time>
            </a>{' '}
            {each.head.device !== null && escapeLine(each.head.device)}: {resultText(each)}
          </li>
        ))}
      </ul>
      {sorted.length > MOST_LISTED && <p>The first {formatCount(MOST_LISTED)} are listed.</p>}
    </>
  );
}

function resultText(replayed: Replayed): string {
  if ('problem' in replayed) return `${problemWords(replayed.problem).title}.`;
  const { accepted, refused } = replayed.result;
  const [first] = refused;
  if (!first) return `${formatCount(accepted)} stored`;
  const [reason = first.code] = reasonsOf(refused, first.code, 1);
  return `${formatCount(accepted)} stored, ${formatCount(refused.length)} refused again: ${escapeLine(reason)}`;
}
