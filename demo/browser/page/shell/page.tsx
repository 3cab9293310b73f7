import type { ReactNode } from 'react';
import { Conversation, Thread } from '../conversation/conversation.tsx';
import { Home } from '../conversation/home.tsx';
import { Confirm } from '../modal/confirm.tsx';
import { Modal } from '../modal/modal.tsx';
import { Panel } from '../panel/panel.tsx';
import { CaptionBox } from '../tour/caption.tsx';
import { TourBar, useTour, Welcome } from '../tour/tour.tsx';
import { DocketMark } from './mark.tsx';
import { type Page, PageContext } from './page-context.ts';
import { Sidebar } from './sidebar.tsx';
import { useTheme } from './theme.ts';
import { usePageState } from './use-page.ts';

export function WholePage(): ReactNode {
  const { page, connected, asked } = usePageState();
  const [theme, setTheme] = useTheme();
  const { place, thread, scene, panelled, site } = page;
  const tour = useTour(page);
  const other = theme === 'dark' ? 'light' : 'dark';
  const classes = ['page', panelled && 'with-panel', thread && 'with-thread'].filter(Boolean);
  return (
    <PageContext value={page}>
      <div className={classes.join(' ')} data-pane={paneOnPhone(page)}>
        <header className="top">
          <DocketMark />
          <b>Docket</b>
          <TourBar tour={tour} />
          <button
            type="button"
            className="icon"
            aria-label={`Use the ${other} theme`}
            title={`Use the ${other} theme`}
            onClick={() => setTheme(other)}
          >
            {theme === 'dark' ? '☀' : '☾'}
          </button>
          <button
            type="button"
            className="icon"
            aria-expanded={panelled}
            onClick={() => page.showPanel(!panelled)}
          >
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
          place && (
            <Conversation key={place.conversation} id={place.conversation}>
              {page.welcomed && <Welcome tour={tour} onClose={page.dismissWelcome} />}
            </Conversation>
          )
        )}
        {place === undefined && <main className="conversation" />}
        {thread && <Thread channel={thread.channel} root={thread.root} />}
        {panelled && <Panel />}
        {site && (
          <section className="site-window" aria-label={site.title}>
            <header className="pane-head">
              <h2>{site.title}</h2>
              <a href={site.url} target="_blank" rel="noopener noreferrer">
                Open in a tab
              </a>
              <button
                type="button"
                className="close"
                aria-label="Close the site"
                onClick={() => page.showSite(undefined)}
              >
                ✕
              </button>
            </header>
            <iframe src={site.url} title={site.title} sandbox="" />
          </section>
        )}
        <CaptionBox tour={tour} />
      </div>
      {scene.modal && <Modal view={scene.modal} />}
      {asked && <Confirm question={asked.question} answer={asked.answer} />}
    </PageContext>
  );
}

/** The one pane that a phone shows. */
function paneOnPhone({ panelled, listed, thread }: Page): string {
  if (panelled) return 'panel';
  if (listed) return 'sidebar';
  return thread ? 'thread' : 'conversation';
}
