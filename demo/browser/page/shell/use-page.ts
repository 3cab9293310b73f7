import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from 'react';
import type { Visitor } from '../../protocol.ts';
import { follow, trouble as make, act as send } from '../state/live.ts';
import { applied, NOTHING } from '../state/reducer.ts';
import { sceneOf } from '../state/scene.ts';
import type { Deed, Page, Place, Question } from './page-context.ts';

const TICK_MS = 5000;

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
  const [problem, say] = useState<string>();
  const [asked, setAsked] = useState<Asked>();
  useEffect(() => follow(as, change, setConnected), [as]);

  const scene = useMemo(() => sceneOf(world), [world]);
  const nowMs = useNow(scene.clock?.aheadMs ?? 0);
  const current = useRef(as);
  current.current = as;

  const act = useCallback(async (deed: Deed) => {
    say(undefined);
    const outcome = await send({ ...deed, as: current.current });
    if (!outcome.ok) say(outcome.problem ?? 'That did not work.');
    return outcome;
  }, []);
  const trouble = useCallback(async (wanted: Parameters<typeof make>[0]) => {
    say(undefined);
    const outcome = await make(wanted);
    if (!outcome.ok) say(outcome.problem ?? 'That did not work.');
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
  const page: Page = {
    scene,
    as,
    me,
    nowMs,
    place: shown,
    thread: shown !== 'home' && thread?.channel === shown?.conversation ? thread : undefined,
    drafts,
    problem,
    act,
    trouble,
    ask,
    say,
    speakAs(visitor) {
      if (visitor === as) return;
      say(undefined);
      setDrafts({});
      change({ fresh: true, put: [], gone: [] });
      setAs(visitor);
    },
    go(to) {
      say(undefined);
      setPlace(to);
    },
    openThread: (channel, root) => {
      setPlace({ conversation: channel });
      setThread({ channel, root });
    },
    closeThread: () => setThread(undefined),
    write: (key, text) => setDrafts((before) => ({ ...before, [key]: text })),
  };
  return { page, connected, asked };
}
