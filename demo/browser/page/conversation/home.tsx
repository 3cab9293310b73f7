import { type ReactNode, useEffect } from 'react';
import { Blocks } from '../blocks/blocks.tsx';
import { BackToList } from '../shell/back.tsx';
import { DocketMark } from '../shell/mark.tsx';
import { usePage } from '../shell/page-context.ts';
import { Problem } from '../shell/problem.tsx';
import { Around } from './around.tsx';

/** Docket's Home, as this person sees it. */
export function Home(): ReactNode {
  const { scene, act, as } = usePage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is opened once by each person.
  useEffect(() => void act({ do: 'open-home' }), [as]);
  const view = scene.home;
  return (
    <main className="conversation">
      <header className="pane-head">
        <BackToList />
        <DocketMark />
        <h1>Docket</h1>
        <span>Home</span>
      </header>
      <div className="home">
        <Problem at="channel" />
        {view ? (
          <Around target={{ view: view.id }}>
            <Blocks blocks={view.blocks} />
          </Around>
        ) : (
          <p className="empty">Docket is asked for this page…</p>
        )}
      </div>
    </main>
  );
}
