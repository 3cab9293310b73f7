import { type ReactNode, useState } from 'react';
import { Conversation, Thread } from '../conversation/conversation.tsx';
import { Home } from '../conversation/home.tsx';
import { Confirm } from '../modal/confirm.tsx';
import { Modal } from '../modal/modal.tsx';
import { Panel } from '../panel/panel.tsx';
import { Tour } from '../tour/tour.tsx';
import { DocketMark } from './mark.tsx';
import { PageContext } from './page-context.ts';
import { Sidebar } from './sidebar.tsx';
import { useTheme } from './theme.ts';
import { usePageState } from './use-page.ts';

export function WholePage(): ReactNode {
  const { page, connected, asked } = usePageState();
  const [theme, setTheme] = useTheme();
  const [panel, setPanel] = useState(() => matchMedia('(min-width: 901px)').matches);
  const { place, thread, scene } = page;
  const other = theme === 'dark' ? 'light' : 'dark';
  return (
    <PageContext value={page}>
      <div className={['page', panel && 'with-panel', thread && 'with-thread'].filter(Boolean).join(' ')}>
        <header className="top">
          <DocketMark />
          <b>Docket</b>
          <Tour />
          <button
            type="button"
            className="icon"
            aria-label={`Use the ${other} theme`}
            title={`Use the ${other} theme`}
            onClick={() => setTheme(other)}
          >
            {theme === 'dark' ? '☀' : '☾'}
          </button>
          <button type="button" className="icon" aria-expanded={panel} onClick={() => setPanel(!panel)}>
            Behind the scenes
          </button>
        </header>
        {!connected && (
          <p className="reconnecting" role="status">
            {scene.workspace ? 'Reconnecting…' : 'Connecting…'}
          </p>
        )}
        <Sidebar />
        {place === 'home' ? (
          <Home />
        ) : (
          place && <Conversation key={place.conversation} id={place.conversation} />
        )}
        {place === undefined && <main className="conversation" />}
        {thread && <Thread channel={thread.channel} root={thread.root} />}
        {panel && <Panel onHide={() => setPanel(false)} />}
      </div>
      {scene.modal && <Modal view={scene.modal} />}
      {asked && <Confirm question={asked.question} answer={asked.answer} />}
    </PageContext>
  );
}
