import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount, formatCounted } from '../../format.ts';
import { Breadcrumbs } from '../../kit/navigation.tsx';
import { Notice, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { useServices, useTitle } from '../../state/hooks.ts';
import { useMay } from '../../state/session.ts';
import { assetHref, parentOf, stepsOf, wallHref } from './address.ts';
import type { Asset, AssetDetail, AssetMember, Level } from './api.ts';
import { AssetCharts } from './charts.tsx';
import { Children } from './children.tsx';
import { conditionWords } from './condition.ts';
import { type Action, ActionDialog } from './dialogs.tsx';
import { Members } from './members.tsx';
import { type Conditions, useConditions, useTree } from './use-tree.ts';
import '../shared/tables.css';
import './assets.css';
import type { Page } from '../../api/types.ts';

export function AssetsView() {
  const { router } = useServices();
  const { query, flash } = router.place.value;
  const path = query.get('path') || null;
  const { data, problem, loading, slow, reload } = useTree(path);
  const known = data?.isMissing === false ? data : null;
  const conditions = useConditions(path, known?.members ?? null);
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
    return undefined;
  };

  if (data?.isMissing) return <Missing path={String(path)} />;
  const isEmpty = path === null && known?.below.items.length === 0;
  const steps = path === null ? [] : stepsOf(path).slice(0, -1);
  return (
    <>
      {path !== null && (
        <Breadcrumbs
          steps={[
            { label: 'Assets', href: assetHref(null) },
            ...steps.map((step) => ({ label: step.name, href: assetHref(step.path) })),
          ]}
        />
      )}
      <Title
        name={name}
        asset={known?.asset ?? null}
        childLevel={known?.below.items[0]?.level ?? null}
        isRoot={path === null}
        isEmpty={isEmpty}
        {...{ conditions, setAction }}
      />
      <div role="status" class="asset-message">
        {(message || flash) && <p class="flash-message">{message || flash}</p>}
      </div>
      {slow && loading && <SlowLine />}
      {problem && !known ? (
        <ProblemNotice problem={problem} onRetry={reload} />
      ) : known ? (
        <Content key={path ?? ''} {...known} {...{ conditions, setAction }} />
      ) : (
        <section class="panel asset-waiting waiting" aria-hidden="true">
          <span class="bar" />
        </section>
      )}
      {action && <ActionDialog action={action} onDone={done} onClose={() => setAction(null)} />}
    </>
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

function Title({
  name,
  asset,
  childLevel,
  isRoot,
  isEmpty,
  conditions,
  setAction,
}: Acting & {
  name: string;
  asset: AssetDetail | null;
  childLevel: Level | null;
  isRoot: boolean;
  isEmpty: boolean;
  conditions: Conditions;
}) {
  const may = useMay('admin');
  return (
    <div class="title">
      <div>
        <h1>{name}</h1>
        {isRoot ? (
          <p class="lead">Sites, lines and machines, and the devices and sensors at them.</p>
        ) : (
          asset && <Facts asset={asset} conditions={conditions} />
        )}
      </div>
      <div class="asset-actions">
        {asset && may && (
          <>
            <button type="button" class="button" onClick={() => setAction({ kind: 'change', asset })}>
              Rename …
            </button>
            <button type="button" class="button" onClick={() => setAction({ kind: 'move', asset })}>
              Move …
            </button>
            <button type="button" class="button" onClick={() => setAction({ kind: 'retire', asset })}>
              Retire …
            </button>
          </>
        )}
        {asset && (
          <a class="button" href={wallHref(asset.path, childLevel ?? asset.level)}>
            On the wall
          </a>
        )}
        {isRoot && (
          <>
            <a class="button" href="/api/v1/asset-tree" download="assets.csv" data-native>
              Export CSV
            </a>
            {may && (
              <button type="button" class="button" onClick={() => setAction({ kind: 'import' })}>
                Import CSV …
              </button>
            )}
          </>
        )}
        {may && !isEmpty && (isRoot || asset) && asset?.level !== 'machine' && (
          <button
            type="button"
            class="button main-button"
            onClick={() => setAction({ kind: 'create', parent: asset })}
          >
            Create an asset …
          </button>
        )}
      </div>
    </div>
  );
}

function Facts({ asset, conditions }: { asset: AssetDetail; conditions: Conditions }) {
  const { whole, isKnown } = conditions;
  const { text, tone } = conditionWords(whole);
  return (
    <ul class="facts">
      <li>{asset.level}</li>
      {whole.devices + whole.sensors > 0 && (
        <>
          <li class="asset-condition" data-tone={tone}>
            {text}
          </li>
          <li>{formatCounted(whole.devices, 'device')}</li>
          {isKnown && <li>{formatCounted(whole.sensors, 'sensor')}</li>}
        </>
      )}
    </ul>
  );
}

function Content({
  path,
  asset,
  below,
  members,
  conditions,
  setAction,
}: Acting & {
  path: string | null;
  asset: AssetDetail | null;
  below: Page<Asset>;
  members: Page<AssetMember>;
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
            Create the first asset …
          </button>
        </p>
      ) : (
        <p>To create assets by hand, sign in with a token that has the scope admin.</p>
      )}
    </section>
  );
}
