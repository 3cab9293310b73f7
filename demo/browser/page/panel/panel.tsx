import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { usePage } from '../shell/page-context.ts';
import { Problem } from '../shell/problem.tsx';
import { Timeline } from './timeline.tsx';
import { TroubleTab } from './trouble.tsx';

const TABS = ['Trouble', 'Timeline'] as const;

/** What the platform and the bot are doing, and what can be done to them. */
export function Panel(): ReactNode {
  const { showPanel } = usePage();
  const [tab, setTab] = useState<(typeof TABS)[number]>('Trouble');
  const onKeyDown = ({ key, currentTarget }: KeyboardEvent) => {
    if (key !== 'ArrowRight' && key !== 'ArrowLeft') return;
    const other = tab === 'Trouble' ? 'Timeline' : 'Trouble';
    setTab(other);
    currentTarget.querySelector<HTMLElement>(`[data-tab="${other}"]`)?.focus();
  };
  return (
    <aside className="panel" aria-label="Behind the scenes">
      <div className="tabs">
        <div role="tablist" tabIndex={-1} onKeyDown={onKeyDown}>
          {TABS.map((name) => (
            <button
              key={name}
              id={`tab-${name}`}
              type="button"
              role="tab"
              data-tab={name}
              aria-selected={tab === name}
              aria-controls={tab === name ? 'panel-tab' : undefined}
              tabIndex={tab === name ? 0 : -1}
              onClick={() => setTab(name)}
            >
              {name}
            </button>
          ))}
        </div>
        <button type="button" className="close" aria-label="Hide this panel" onClick={() => showPanel(false)}>
          ✕
        </button>
      </div>
      <Problem at="panel" />
      <div className="panel-body" id="panel-tab" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === 'Trouble' ? <TroubleTab /> : <Timeline />}
      </div>
    </aside>
  );
}
