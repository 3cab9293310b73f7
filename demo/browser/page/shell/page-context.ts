import { createContext, useContext } from 'react';
import type { Action, Outcome, Trouble, Visitor } from '../../protocol.ts';
import type { Scene } from '../state/scene.ts';

type Without<A> = A extends unknown ? Omit<A, 'as'> : never;
/** What the visitor does, as the person they speak as. */
export type Deed = Without<Action>;

/** Where the visitor is: a conversation, or Docket's Home. */
export type Place = { conversation: string } | 'home';

/** The drafts of one composer: a conversation's or a thread's. */
export const draftKey = (channel: string, threadTs?: string): string => `${channel} ${threadTs ?? ''}`;

/** What went wrong, and where that is said. */
export interface Problem {
  text: string;
  /** The root of the open thread for what was done in it. */
  at: 'channel' | 'panel' | (string & {});
}

export interface Page {
  scene: Scene;
  as: Visitor;
  me: string;
  nowMs: number;
  place: Place | undefined;
  thread: { channel: string; root: string } | undefined;
  drafts: Readonly<Record<string, string>>;
  /** The list of conversations is open; where there is room, it always shows. */
  listed: boolean;
  panelled: boolean;
  /** The first screen still says what Docket does. */
  welcomed: boolean;
  /** A site that is shown in the page. */
  site: { url: string; title: string } | undefined;
  problem: Problem | undefined;
  /** Does it, and keeps what Slack's client would say there. */
  act(deed: Deed, at?: Problem['at']): Promise<Outcome>;
  trouble(wanted: Trouble): Promise<Outcome>;
  speakAs(visitor: Visitor): void;
  go(place: Place): void;
  openList(): void;
  showPanel(shown: boolean): void;
  dismissWelcome(): void;
  showSite(site: Page['site']): void;
  openThread(channel: string, root: string): void;
  closeThread(): void;
  write(key: string, text: string): void;
  dismiss(): void;
  /** Asks first, by a dialog. */
  ask(question: Question): Promise<boolean>;
}

export interface Question {
  title: string;
  text: string;
  yes: string;
  no: string;
  danger: boolean;
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error('The page is drawn inside of a PageContext.');
  return page;
}
