import { type ReactNode, useState } from 'react';
import type { TimelineEntry } from '../../protocol.ts';
import { usePage } from '../shell/page-context.ts';

const WAYS: { way: TimelineEntry['way']; label: string; short: string }[] = [
  { way: 'slack → docket', label: 'Slack → Docket', short: 'S→D' },
  { way: 'docket → slack', label: 'Docket → Slack', short: 'D→S' },
  { way: 'docket → platform', label: 'Docket → platform', short: 'D→P' },
  { way: 'docket → deployment', label: 'Docket → deployment', short: 'D→W' },
  { way: 'docket → git host', label: 'Docket → Git host', short: 'D→G' },
  { way: 'visitor', label: 'Your trouble', short: 'You' },
];
const SHOWN = 200;

const isWrong = (outcome: string | undefined) => outcome !== undefined && !/^([23]\d\d|done)$/.test(outcome);

/** Each request in and out, newest first, with what it caused. */
export function Timeline(): ReactNode {
  const { timeline } = usePage().scene;
  const [hidden, setHidden] = useState<Set<string>>(new Set());
  const [shown, setShown] = useState(SHOWN);
  const chosen = timeline.filter(({ way }) => !hidden.has(way));
  const toggle = (way: string) =>
    setHidden((before) => {
      const after = new Set(before);
      if (!after.delete(way)) after.add(way);
      return after;
    });
  return (
    <div className="timeline">
      <fieldset className="ways">
        <legend className="unseen">Shown requests</legend>
        {WAYS.map(({ way, label }) => (
          <label key={way} className={`way ${classOf(way)}`}>
            <input type="checkbox" checked={!hidden.has(way)} onChange={() => toggle(way)} />
            {label}
          </label>
        ))}
      </fieldset>
      <ol>
        {chosen.slice(0, shown).map((entry) => (
          <Row key={entry.n} entry={entry} />
        ))}
      </ol>
      {chosen.length === 0 && <p className="none">Nothing was sent yet.</p>}
      {chosen.length > shown && (
        <button type="button" className="button" onClick={() => setShown(shown + SHOWN)}>
          Show {Math.min(SHOWN, chosen.length - shown)} more
        </button>
      )}
    </div>
  );
}

const classOf = (way: string) => way.replaceAll(' ', '').replace('→', '-');

function Row({ entry }: { entry: TimelineEntry }): ReactNode {
  const { atMs, way, name, outcome, tookMs, caused } = entry;
  const kind = WAYS.find((one) => one.way === way);
  return (
    <li className={isWrong(outcome) ? 'wrong' : ''}>
      <span className={`way ${classOf(way)}`} title={kind?.label}>
        {kind?.short}
      </span>
      <div>
        <span className="request">{name}</span>
        {caused.length > 0 && <small className="caused">{caused.join(' · ')}</small>}
      </div>
      <div className="result">
        <span>{outcome ?? '…'}</span>
        <small>
          {tookMs !== undefined && `${Math.round(tookMs)} ms · `}
          {new Date(atMs).toLocaleTimeString('en-GB')}
        </small>
      </div>
    </li>
  );
}
