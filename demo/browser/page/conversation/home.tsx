import { type ReactNode, useEffect } from 'react';
import { Blocks } from '../blocks/blocks.tsx';
import { DocketMark } from '../shell/mark.tsx';
import { usePage } from '../shell/page-context.ts';
import { Around } from './around.tsx';

/** Docket's Home, as this person sees it. */
export function Home(): ReactNode {
  const { scene, problem, act, as } = usePage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is opened once by each person.
  useEffect(() => void act({ do: 'open-home' }), [as]);
  const view = scene.home;
  return (
    <main className="conversation">
      <header className="pane-head">
        <DocketMark />
        <h1>Docket</h1>
        <span>Home</span>
      </header>
      <div className="home">
        {problem !== undefined && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
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
