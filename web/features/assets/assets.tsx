import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount } from '../../format.ts';
import { Notice, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { useServices, useTitle } from '../../state/hooks.ts';
import { useMay } from '../../state/session.ts';
import { assetHref, parentOf } from './address.ts';
import type { Asset, AssetDetail, AssetMember, AssetPlan } from './api.ts';
import { AssetCharts } from './charts.tsx';
import { Children } from './children.tsx';
import { type Action, ActionDialog } from './dialogs.tsx';
import { DragContext, useDragging, useHeld } from './drag.ts';
import { Members } from './members.tsx';
import { Plan } from './plan.tsx';
import { Path, Siblings, Title } from './title.tsx';
import { type Conditions, useConditions, usePlan, useTree } from './use-tree.ts';
import '../shared/tables.css';
import './assets.css';
import type { Page } from '../../api/types.ts';

const NOWHERE: AssetPlan['places'] = [];

export function AssetsView() {
  const { router } = useServices();
  const { query, flash } = router.place.value;
  const path = query.get('path') || null;
  const { data, problem, loading, slow, reload } = useTree(path);
  const known = data?.isMissing === false ? data : null;
  const plan = usePlan(known?.asset?.asset_id ?? null);
  const conditions = useConditions(path, known?.members ?? null, plan.plan?.places ?? NOWHERE);
  const [action, setAction] = useState<Action | null>(null);
  const [message, setMessage] = useState('');
  const name = path === null ? 'Assets' : (path.split('/').at(-1) ?? path);
  useTitle(name);
  useFocusOnAsset(path);
  useEffect(() => setMessage(''), [path]);

  const done = (text: string, next?: string | null) => {
    setAction(null);
    if (next !== undefined && next !== path) return router.go(assetHref(next), { flash: text });
    setMessage(text);
    reload();
    plan.reload();
    return undefined;
  };

  const may = useMay('admin');
  const drag = useDragging(may, (dragged, to) =>
    setAction(
      dragged.kind === 'asset'
        ? { kind: 'move', asset: dragged.asset, to }
        : { kind: 'replace', member: dragged.member, to },
    ),
  );
  const shown = useHeld(
    { known, plan, conditions, problem, isSlow: slow && loading, message: message || flash },
    drag.dragged !== null,
  );

  if (data?.isMissing) return <Missing path={String(path)} />;
  const { asset = null, siblings = [], below } = shown.known ?? {};
  return (
    <DragContext.Provider value={drag}>
      {path !== null && <Path path={path} asset={asset} />}
      <Title
        name={name}
        asset={asset}
        childLevel={below?.items[0]?.level ?? null}
        isRoot={path === null}
        isEmpty={path === null && below?.items.length === 0}
        conditions={shown.conditions}
        setAction={setAction}
      />
      {asset && <Siblings asset={asset} siblings={siblings} />}
      <div role="status">{shown.message && <p class="flash-message">{shown.message}</p>}</div>
      {shown.isSlow && <SlowLine />}
      {shown.problem && !shown.known ? (
        <ProblemNotice problem={shown.problem} onRetry={reload} />
      ) : shown.known ? (
        <Content
          key={path ?? ''}
          {...shown.known}
          plan={shown.plan}
          conditions={shown.conditions}
          setAction={setAction}
        />
      ) : (
        <section class="panel asset-waiting waiting" aria-hidden="true">
          <span class="bar" />
        </section>
      )}
      {action && <ActionDialog action={action} onDone={done} onClose={() => setAction(null)} />}
    </DragContext.Provider>
  );
}

/** The link that was followed is gone, so the page takes the focus. */
function useFocusOnAsset(path: string | null) {
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [path]);
}

const Missing = ({ path }: { path: string }) => (
  <Notice isPage title={`There is no asset “${path}”`} tone="warn">
    <p>It was moved, renamed or retired, or the address is mistyped.</p>
    <p class="notice-actions">
      {parentOf(path) !== null && (
        <a class="button" href={assetHref(parentOf(path))}>
          To {parentOf(path)}
        </a>
      )}
      <a class="button" href={assetHref(null)}>
        To all assets
      </a>
    </p>
  </Notice>
);

interface Acting {
  setAction: (action: Action) => void;
}

function Content({
  path,
  asset,
  below,
  members,
  plan,
  conditions,
  setAction,
}: Acting & {
  path: string | null;
  asset: AssetDetail | null;
  below: Page<Asset>;
  members: Page<AssetMember>;
  plan: ReturnType<typeof usePlan>;
  conditions: Conditions;
}) {
  const direct = members.items.filter((member) => member.path === path);
  if (path === null && below.items.length === 0) return <FirstSteps setAction={setAction} />;
  return (
    <>
      {members.next !== null && (
        <p class="slow">
          More than {formatCount(members.items.length)} devices and sensors are below this. Counts and states
          are those of the first ones. An asset further down shows all of its own.
        </p>
      )}
      {below.items.length > 0 && <Children assets={below.items} conditions={conditions} />}
      {asset && (
        <Plan
          answer={plan}
          members={members.items}
          asset={asset}
          conditions={conditions}
          setAction={setAction}
        />
      )}
      {asset && <Members asset={asset} members={direct} conditions={conditions} onAct={setAction} />}
      {asset && members.items.length > 0 && (
        <AssetCharts asset={asset} members={members.items} conditions={conditions} />
      )}
    </>
  );
}

function FirstSteps({ setAction }: Acting) {
  const may = useMay('admin');
  return (
    <section class="panel first-steps" aria-labelledby="assets-first">
      <h2 id="assets-first">There are no assets yet</h2>
      <p>
        An asset is a site, an area, a line or a machine. Assets form a tree, and devices and sensors have
        their places in it.
      </p>
      <p>
        If devices announce a <code>site</code> in their birth messages, such as{' '}
        <code>Plant 1/Hall 2/Line 3</code>, the tree appears here by itself.
      </p>
      {may ? (
        <p>
          <button
            type="button"
            class="button main-button"
            onClick={() => setAction({ kind: 'create', parent: null })}
          >
            Create the first asset…
          </button>
        </p>
      ) : (
        <p>To create assets by hand, sign in with a token that has the scope admin.</p>
      )}
    </section>
  );
}
