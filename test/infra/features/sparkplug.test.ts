import { expect, test } from '@jest/globals';
import { takesSparkplug } from '../../../api/features/sparkplug/settings.ts';
import { useBuilds } from '../../support/kubernetes/build.ts';
import { ourWorkloads, settingsOf } from '../../support/kubernetes/workloads.ts';

const builds = useBuilds();

test('Kubernetes: Sparkplug host: one process in overlays/sparkplug, and no process elsewhere', () => {
  // Jobs receive no messages.
  const receivers = ourWorkloads(builds).filter(
    (entry) => entry.workload.kind !== 'Job' && takesSparkplug(settingsOf(builds, entry)),
  );
  expect(receivers.map(({ where }) => where)).toEqual(['overlays/sparkplug StatefulSet/millrace-sparkplug']);
  expect(receivers[0]?.workload.spec.replicas).toBe(1);
});
