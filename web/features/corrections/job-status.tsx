import { problemText } from '../../api/request.ts';
import { formatCounted } from '../../format.ts';
import { useKept } from '../../state/hooks.ts';
import type { JobState } from './job.ts';
import { createJobs } from './job.ts';

/** Renders the progress of the correction that runs, or how the last one ended. @param props `message`: about an undo; may be empty */
export function JobStatus({ message }: { message: string }) {
  const jobs = useKept(createJobs);
  const now = jobs.state.value;
  return (
    <div role="status">
      {message !== '' && <p class="correction-job">{message}</p>}
      {now && (
        <div class="correction-job" data-tone={now.state === 'stopped' ? 'warn' : undefined}>
          <p>
            <strong>{now.job.title}:</strong> {stateText(now)}
          </p>
          {now.state === 'running' && <Progress {...now} />}
          <p class="correction-buttons">
            {now.state === 'running' && <Action label="Stop" onPress={jobs.stop} />}
            {now.state === 'stopped' && <Action label="Continue" onPress={jobs.resume} />}
            {now.state !== 'running' && (
              <Action label={now.state === 'done' ? 'Close' : 'Give up'} onPress={jobs.discard} />
            )}
          </p>
        </div>
      )}
    </div>
  );
}

const Action = ({ label, onPress }: { label: string; onPress: () => void }) => (
  <button type="button" class="button" onClick={onPress}>
    {label}
  </button>
);

/** A job of one part has no known progress. */
const Progress = ({ parts, done }: JobState) => (
  <progress
    aria-label="Progress"
    {...(parts && parts.length > 1 ? { value: done, max: parts.length } : undefined)}
  />
);

function stateText({ job, state, samples, problem }: JobState): string {
  const sum = `${formatCounted(samples, 'sample')} ${job.past}`;
  if (state === 'done') return `${sum}.`;
  if (state === 'running') return `${sum} so far. You may leave this page, but not close it.`;
  const reason = problem ? problemText(problem) : 'You stopped it.';
  return `${sum} so far. ${reason} Continue goes on where it ended. What is done stays, and can be undone.`;
}
