import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react';
import type { Visitor } from '../../protocol.ts';
import { follow, trouble as make, act as send } from '../state/live.ts';
import { applied, NOTHING } from '../state/reducer.ts';
import { sceneOf } from '../state/scene.ts';
import type { Deed, Page, Place, Problem, Question } from './page-context.ts';

const TICK_MS = 5000;
/** On a phone, one pane shows at a time (`style/phone.css`). */
const isPhone = () => matchMedia('(max-width: 700px)').matches;

/** The time of the demo: of this machine, plus what it was moved by. */
function useNow(aheadMs: number): number {
  const [, tick] = useReducer((ticks: number) => ticks + 1, 0);
  useEffect(() => {
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return Date.now() + aheadMs;
}

interface Asked {
  question: Question;
  answer(yes: boolean): void;
}

/** Everything that the page keeps. */
export function usePageState(): { page: Page; connected: boolean; asked: Asked | undefined } {
  const [as, setAs] = useState<Visitor>('ana');
  const [world, change] = useReducer(applied, NOTHING);
  const [connected, setConnected] = useState(false);
  const [place, setPlace] = useState<Place>();
  const [thread, setThread] = useState<Page['thread']>();
  const [drafts, setDrafts] = useState<Record<string, string>>({});
  const [listed, setListed] = useState(false);
  const [panelled, setPanelled] = useState(false);
  const [welcomed, setWelcomed] = useState(true);
  const [site, showSite] = useState<Page['site']>();
  const [problem, say] = useState<Problem>();
  const [asked, setAsked] = useState<Asked>();
  useEffect(() => follow(as, change, setConnected), [as]);

  const scene = useMemo(() => sceneOf(world), [world]);
  const nowMs = useNow(scene.clock?.aheadMs ?? 0);
  const current = useRef(as);
  current.current = as;

  const act = useCallback(async (deed: Deed, at: Problem['at'] = 'channel') => {
    say(undefined);
    if (deed.do === 'write') setWelcomed(false);
    const outcome = await send({ ...deed, as: current.current });
    if (!outcome.ok) say({ text: outcome.problem ?? 'That did not work.', at });
    return outcome;
  }, []);
  const trouble = useCallback(async (wanted: Parameters<typeof make>[0]) => {
    say(undefined);
    const outcome = await make(wanted);
    if (!outcome.ok) say({ text: outcome.problem ?? 'That did not work.', at: 'panel' });
    return outcome;
  }, []);
  const ask = useCallback(
    (question: Question) =>
      new Promise<boolean>((resolve) => {
        const answer = (yes: boolean) => {
          setAsked(undefined);
          resolve(yes);
        };
        setAsked({ question, answer });
      }),
    [],
  );

  // Whoever comes sees #docs first, where everybody is.
  const first = scene.conversations.find(({ label }) => label === '#docs') ?? scene.conversations[0];
  const isThere =
    place === 'home' || (place && scene.conversations.some(({ id }) => id === place.conversation));
  const shown = isThere ? place : first && { conversation: first.id };
  const me = scene.workspace?.me.id ?? '';
  const open = shown !== 'home' && thread?.channel === shown?.conversation ? thread : undefined;
  const isOpen = problem?.at === 'panel' ? panelled : problem?.at === open?.root;
  const closeOthers = () => {
    setListed(false);
    if (isPhone()) setPanelled(false);
  };
  const page: Page = {
    scene,
    as,
    me,
    nowMs,
    place: shown,
    thread: open,
    drafts,
    listed,
    panelled,
    welcomed,
    site,
    problem: problem && (isOpen ? problem : { ...problem, at: 'channel' }),
    act,
    trouble,
    ask,
    dismiss: () => say(undefined),
    speakAs(visitor) {
      if (visitor === as) return;
      say(undefined);
      setDrafts({});
      change({ fresh: true, put: [], gone: [] });
      setAs(visitor);
    },
    go(to) {
      say(undefined);
      closeOthers();
      setPlace(to);
    },
    openList: () => setListed(true),
    showPanel: setPanelled,
    dismissWelcome: () => setWelcomed(false),
    showSite,
    openThread: (channel, root) => {
      closeOthers();
      setPlace({ conversation: channel });
      setThread({ channel, root });
    },
    closeThread: () => setThread(undefined),
    write: (key, text) => setDrafts((before) => ({ ...before, [key]: text })),
  };
  return { page, connected, asked };
}
