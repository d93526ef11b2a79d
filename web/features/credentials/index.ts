/** Accounts of devices at the embedded broker. */
import type { Feature } from '../../feature.ts';
import { IssueHint } from './hint.tsx';

export const credentialsFeature: Feature = {
  name: 'credentials',
  page: {
    label: 'Credentials',
    words: 'accounts secrets passwords',
    place: 'navigation',
    scope: 'admin',
    load: () => import('./credentials.tsx').then(({ CredentialsView }) => CredentialsView),
  },
  slots: { stepsAccount: IssueHint },
};
