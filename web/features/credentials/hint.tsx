import { useMay } from '../../state/session.ts';

/** Renders the link to the page that issues the account of a device. */
export function IssueHint() {
  const may = useMay('admin');
  if (!may) return null;
  return (
    <>
      {' '}
      <a class="link" href="/credentials">
        Issue a credential
      </a>{' '}
      to the device first.
    </>
  );
}
