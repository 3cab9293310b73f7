import type { ReactNode } from 'react';
import { PULL_REQUEST_CHANGES, type PullRequestChange, SWITCHES, type Switch } from '../../protocol.ts';
import { keyed } from '../blocks/keyed.ts';
import { usePage } from '../shell/page-context.ts';
import { MOVES } from './clock.ts';

const SWITCH_TEXTS: Record<Switch, [name: string, about: string]> = {
  'fail-next-export': ['Fail the next export', 'it ends with an error of the platform'],
  'slow-answers': ['Slow answers', 'the platform takes seconds for each'],
  'platform-429': ['429 for a minute', 'the platform has had too many requests'],
  'platform-500': ['500s', 'the platform answers with errors'],
  'lose-next-answer': ['Lose the next answer', 'what was asked for happens, nobody hears it'],
  'slack-429': ['Slack 429', 'Slack has had too many posts'],
  'fail-next-deployment': ['Fail the next deployment', 'the site rejects the export'],
  'fail-next-preview': ['Fail the next preview', 'the platform cannot build the branch'],
  'fail-next-agent': ['Fail the next agent request', 'the agent ends without a result'],
};

const CHANGE_TEXTS: Record<PullRequestChange, string> = {
  merge: 'Merge the pull request',
  'request-changes': 'Request changes',
  'fail-checks': 'Fail the checks',
};

export function TroubleTab(): ReactNode {
  return (
    <>
      <Processes />
      <Clock />
      <Switches />
      <PullRequest />
      <Production />
      <Platform />
    </>
  );
}

function Processes(): ReactNode {
  const { scene, trouble } = usePage();
  const { bot, redis } = scene;
  const about = [
    bot?.pid !== undefined && `pid ${bot.pid}`,
    bot?.restarts ? `${bot.restarts} × restarted` : '',
  ];
  // Where the stand-ins run alone, Docket is somebody else's business.
  if (!bot && !redis) return null;
  return (
    <section>
      <h3>Processes</h3>
      <div className="process">
        <span className={`lamp ${bot?.state ?? 'down'}`} aria-hidden="true" />
        <div>
          <b>Docket</b> {bot?.state ?? 'unknown'}
          <small>{about.filter(Boolean).join(' · ')}</small>
        </div>
        <button
          type="button"
          className="button danger"
          disabled={bot?.state !== 'up'}
          onClick={() => trouble({ do: 'kill-bot' })}
        >
          kill -9
        </button>
      </div>
      <div className="process">
        <span className={`lamp ${redis?.up ? 'up' : 'down'}`} aria-hidden="true" />
        <div>
          <b>Redis</b> {redis?.up ? 'up' : 'stopped'}
        </div>
        <button
          type="button"
          className={redis?.up ? 'button danger' : 'button primary'}
          onClick={() => trouble({ do: 'redis', up: !redis?.up })}
        >
          {redis?.up ? 'Stop' : 'Start'} Redis
        </button>
      </div>
    </section>
  );
}

function Clock(): ReactNode {
  const { nowMs, trouble } = usePage();
  const now = new Date(nowMs);
  const day = now.toLocaleDateString('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });
  return (
    <section>
      <h3>Clock</h3>
      <p className="clock">
        <time dateTime={now.toISOString()}>
          {day}, <b>{now.toLocaleTimeString('en-GB', { timeStyle: 'short' })}</b>
        </time>
      </p>
      <div className="row">
        {MOVES.map(({ label, byMs }) => (
          <button
            key={label}
            type="button"
            className="button"
            onClick={() => trouble({ do: 'move-clock', byMs: byMs(nowMs) })}
          >
            {label}
          </button>
        ))}
      </div>
    </section>
  );
}

function Switches(): ReactNode {
  const { scene, trouble } = usePage();
  const timeOf = (ms: number) => new Date(ms + (scene.clock?.aheadMs ?? 0)).toLocaleTimeString('en-GB');
  return (
    <section>
      <h3>Make trouble</h3>
      {SWITCHES.map((name) => {
        const state = scene.switches?.on[name];
        const [label, about] = SWITCH_TEXTS[name];
        return (
          <label key={name} className="switch">
            <input
              type="checkbox"
              role="switch"
              aria-checked={state !== undefined}
              checked={state !== undefined}
              onChange={({ target }) => trouble({ do: 'switch', name, on: target.checked })}
            />
            <span>
              {label}
              <small>{state?.untilMs === undefined ? about : `until ${timeOf(state.untilMs)}`}</small>
            </span>
          </label>
        );
      })}
      <button type="button" className="button" onClick={() => trouble({ do: 'end-links' })}>
        End the links now
      </button>
    </section>
  );
}

function PullRequest(): ReactNode {
  const { scene, trouble } = usePage();
  if (!scene.gitHost) return null;
  const { open } = scene.gitHost;
  return (
    <section>
      <h3>The pull request</h3>
      <p className="none">
        {open === undefined
          ? 'None is open. Ask the docs agent for something.'
          : `${open} is open. Docket reads it every five minutes, so the clock moves on by as much.`}
      </p>
      <div className="row">
        {PULL_REQUEST_CHANGES.map((change) => (
          <button
            key={change}
            type="button"
            className="button"
            disabled={open === undefined}
            onClick={() => trouble({ do: 'pull-request', change })}
          >
            {CHANGE_TEXTS[change]}
          </button>
        ))}
      </div>
    </section>
  );
}

function Production(): ReactNode {
  const { deployment } = usePage().scene;
  if (!deployment) return null;
  const { url, serves } = deployment;
  return (
    <section>
      <h3>What production has</h3>
      {serves ? (
        <div className="job">
          <a className="site" href={url} target="_blank" rel="noopener noreferrer">
            {serves.version ?? 'An export without a version'}
          </a>
          <span className="state completed">live</span>
          <small>{serves.jobId}</small>
        </div>
      ) : (
        <p className="none">Nothing yet. No export has gone live on it.</p>
      )}
    </section>
  );
}

function Platform(): ReactNode {
  const { exports, agentJobs, limits } = usePage().scene;
  return (
    <section>
      <h3>What the platform has</h3>
      {exports.length + agentJobs.length === 0 && <p className="none">No exports and no agent jobs yet.</p>}
      {exports.map(({ id, domain, status, fraction }) => (
        <div key={id} className="job">
          <b>{domain}</b>
          <span className={`state ${status}`}>{status}</span>
          <progress value={fraction} max={1} aria-label={`${id}: ${Math.round(fraction * 100)} %`} />
          <small>{id}</small>
        </div>
      ))}
      {agentJobs.map(({ id, status, prompts, prLink }) => (
        <div key={id} className="job">
          <b>Agent job</b>
          <span className={`state ${status}`}>{status}</span>
          <small>{id}</small>
          <ol>
            {keyed(prompts).map(({ key, item }) => (
              <li key={key}>{item}</li>
            ))}
          </ol>
          {prLink !== undefined && (
            <a href={prLink} target="_blank" rel="noopener noreferrer">
              Pull request
            </a>
          )}
        </div>
      ))}
      {limits && (
        <dl>
          <dt>Agent requests this hour</dt>
          <dd>{`${limits.instructions.used} of ${limits.instructions.of}`}</dd>
          <dt>Analytics this hour</dt>
          <dd>{`${limits.analytics.used} of ${limits.analytics.of}`}</dd>
          <dt>Refused by Slack</dt>
          <dd>{limits.slackRefused}</dd>
        </dl>
      )}
    </section>
  );
}
