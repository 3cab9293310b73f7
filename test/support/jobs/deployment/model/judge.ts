import type { Engine } from '../../faults/engine.ts';
import type { Clicked } from './people.ts';
import type { Receiver, Taken } from './receivers.ts';
import type { Claim, Seen, SeenButton } from './shown.ts';

const HOUR_MS = 3_600_000;
/** The limit of a call that began before, with its margins. */
const CALL_MS = 15_000;
const RENEW_MS = 30 * 24 * HOUR_MS;

/** Each attempt has at most so many messages: a line, a question, an end and trouble. */
const MOST_POSTS = 4;

/** Claims that the deployment has the version now. */
const PRESENT: readonly (Claim | undefined)[] = ['has', 'live', 'kept', 'unlinked'];

/** A click that Docket has taken, and that asks for a version. */
interface Ask {
  deployment: string;
  version: string;
  atMs: number;
  button: SeenButton;
  /** What Docket knew to be there, other than this version. */
  over: string | undefined;
}

/** What people see, and when neither Docket nor they can do anything for a link. */
interface Outside {
  /** What Slack shows now, and all that was ever posted. */
  shown: () => Seen[];
  posted: () => Seen[];
  say: (what: string) => unknown;
  troubleUntilMs: () => number;
}

const firstLine = ({ text }: Seen) => `"${text.split('\n')[0]}"`;

/** Compares what Slack shows and what Docket sends with what the receivers really have. */
export function createJudge(engine: Engine, receivers: ReadonlyMap<string, Receiver>, outside: Outside) {
  const { now, plan, problems } = engine;
  const asks: Ask[] = [];
  /**
   * After a restore: asked for after the backup; messages of after the backup, which Docket does not know unless it edits
   * them; deployments that have something else.
   */
  const lost = new Set<string>();
  const orphans = new Map<string, unknown>();
  const unsure = new Set<string>();
  let restoredAtMs = -Infinity;

  const problem = (text: string) => {
    if (!problems.includes(text)) problems.push(text);
  };
  const isKept = ({ ts = '', content }: Seen) => orphans.get(ts) !== content;
  const shown = () => outside.shown().filter(isKept);
  const posted = () => outside.posted().filter(isKept);
  const asksFor = (name: string, version: string) =>
    asks.filter((ask) => ask.deployment === name && ask.version === version);
  const lastAskMs = (name: string, version: string) => asksFor(name, version).at(-1)?.atMs ?? 0;

  /** An old one must not go over a newer one, unless somebody who read both names wanted it. */
  function checkOrder(name: string, next: Taken, before: Taken | undefined) {
    outside.say(`${name} takes ${next.version}`);
    unsure.delete(name);
    // A start that came late, and the second one, which somebody asked for in between.
    if (before === undefined || before.version === next.version) return;
    // A later request for it has not arrived yet.
    const sent = asksFor(name, before.version).filter(({ atMs }) => atMs <= before.atMs);
    const beforeMs = sent.at(-1)?.atMs ?? 0;
    const all = asksFor(name, next.version);
    const wanted = all.at(-1);
    if (wanted === undefined || wanted.atMs < beforeMs)
      return problem(
        `(d) ${name}: ${next.version} is sent over ${before.version}, which was asked for later`,
      );
    const { over, button } = wanted;
    const oldMs = all.at(-2)?.atMs ?? Infinity;
    // What was asked for before a restore may be new to Docket.
    const isOld = oldMs < beforeMs && oldMs > restoredAtMs;
    if (isOld && over !== undefined && !button.text.includes(over))
      problem(`(d) ${name}: ${next.version} goes over ${over}, but the click named only "${button.text}"`);
  }

  function checkLink(name: string, receiver: Receiver, version: string, endsMs: number) {
    const serves = receiver.serves();
    if (serves?.version !== version || !serves.isConfirmed || receiver.links.get(version) !== endsMs) return;
    const isOver = endsMs >= lastAskMs(name, version) + RENEW_MS;
    const isFinal = receiver.refusedRenewals.has(version) || unsure.has(name);
    const troubleMs = Math.max(receiver.troubleUntilMs(), outside.troubleUntilMs(), restoredAtMs);
    if (isOver || isFinal || troubleMs > endsMs - HOUR_MS) return;
    const line = lineOf(name, version);
    problem(`(c) ${name}: the link of ${version} ended, but Slack says ${line && firstLine(line)}`);
  }

  for (const [name, receiver] of receivers) {
    receiver.hooks.onDropped = (version, has) => {
      const isLong = has.isConfirmed && now() > has.sinceMs + CALL_MS;
      // After a restore, nothing is sent that nobody asked for since.
      const isOwn = unsure.has(name)
        ? now() > restoredAtMs + CALL_MS && lastAskMs(name, version) < restoredAtMs
        : isLong;
      if (isOwn) problem(`(d) ${name} gets ${version}, though it has ${has.version} for long`);
    };
    receiver.hooks.onTaken = (next, before) => checkOrder(name, next, before);
    receiver.hooks.onLink = (version, endsMs) =>
      plan(endsMs + 1, () => checkLink(name, receiver, version, endsMs));
  }

  const isOf = (one: Seen, name: string, version: string) =>
    one.kind !== 'other' && one.deployment === name && one.version === version;
  /** Docket may have found a message of after the backup again, unchanged. */
  const lineOf = (name: string, version: string) =>
    [...shown(), ...outside.shown()].find((one) => isOf(one, name, version));

  function checkLine(line: Seen, name: string, version: string, receiver: Receiver) {
    const { claim } = line;
    const serves = receiver.serves();
    const isServed = serves?.version === version;
    if (claim === undefined) return problem(`${firstLine(line)} claims nothing that is known`);
    // Docket has forgotten a request that came after the backup, and its message stays as it was.
    if (lost.has(`${name} ${version}`)) return;
    if (claim === 'pending') return problem(`${firstLine(line)} for ever`);
    if (unsure.has(name) || !serves?.isConfirmed) return;
    // The answer was lost on Docket's side, and it says so.
    const served = lineOf(name, serves.version)?.claim ?? '';
    if (!isServed && ['unclear', 'left'].includes(served)) return;
    const isWrong = isServed ? ['replaced', 'failed'].includes(claim) : PRESENT.includes(claim);
    if (isWrong) problem(`(a) ${firstLine(line)}, but ${name} has ${serves.version}`);
  }

  /** One message; no question about what was replaced. */
  function checkNoise(name: string, version: string, receiver: Receiver, home: Seen) {
    const of = (some: Seen[]) => some.filter((one) => isOf(one, name, version));
    const line = lineOf(name, version);
    const isLost = lost.has(`${name} ${version}`);
    if (line === undefined) return isLost || problem(`nothing is shown of ${version} for ${name}`);
    checkLine(line, name, version, receiver);
    const all = of(shown());
    if (all.length > 1) problem(`(e) several: ${all.map(({ text }) => JSON.stringify(text))}`);
    const [posts, attempts] = [of(posted()).length, asksFor(name, version).length];
    if (posts > attempts * MOST_POSTS && !isLost)
      problem(`(e) ${posts} messages, for ${attempts} attempts of ${version}`);
    const serves = receiver.serves();
    const isReplaced =
      line.claim === 'replaced' ||
      (serves?.isConfirmed && serves.version !== version && serves.atMs > lastAskMs(name, version));
    const isAsked = line.kind === 'question' || new RegExp(`${name} · \\S+ \\(?${version}`).test(home.text);
    // After a restore, Docket does not know a question of after the backup.
    if (isAsked && isReplaced && !unsure.has(name) && !isLost)
      problem(`(e) ${name} has ${serves?.version}, but a question about ${version} is open`);
  }

  return {
    /** Call it before a click; what it returns, after. */
    before(button: SeenButton) {
      const { deployment: name = '', version = '', label } = button;
      const receiver = receivers.get(name);
      const serves = receiver?.serves();
      const isOther = serves?.isConfirmed && serves.version !== version && !unsure.has(name);
      const over = isOther ? serves.version : undefined;
      const atMs = now();
      return ({ isTaken, reply }: Clicked) => {
        const starts = /^(?:Deploy (?:to|again)|Try|Start anyway|Go back)/.test(label);
        if (isTaken && starts) {
          asks.push({ deployment: name, version, atMs, button, over });
          lost.delete(`${name} ${version}`);
        }
        if (isTaken && label === 'It started: watch it')
          receiver?.vouch(
            version,
            lastAskMs(name, version),
            lastAskMs(name, serves?.version ?? '') > lastAskMs(name, version),
          );
        if (!starts && /^Deploying/.test(reply?.text ?? '')) problem(`[${label}] answers "${reply?.text}"`);
      };
    },

    /** The data are those of `atMs`. */
    restored(atMs: number) {
      restoredAtMs = now();
      for (const [name, { taken }] of receivers) {
        if (taken.length > 0) unsure.add(name);
        for (const one of taken) one.isConfirmed = false;
      }
      for (const ask of asks) if (ask.atMs > atMs) lost.add(`${ask.deployment} ${ask.version}`);
      for (const { ts = '', kind, content } of posted()) {
        if (kind !== 'other' && Number(ts) * 1000 > atMs) orphans.set(ts, content);
      }
    },

    /** What holds at any moment. */
    always() {
      for (const line of shown()) {
        const { kind, claim, deployment: name = '', version } = line;
        if (kind === 'other' || !PRESENT.includes(claim)) continue;
        const has = receivers.get(name)?.taken.some((one) => one.version === version);
        if (!has) problem(`(a) ${firstLine(line)}, but ${name} never took ${version}`);
      }
    },

    /** What holds once everything was answered, and everything is shown. */
    settled(home: Seen) {
      this.always();
      for (const [name, receiver] of receivers) {
        const versions = new Set(asks.flatMap((ask) => (ask.deployment === name ? [ask.version] : [])));
        for (const version of versions) checkNoise(name, version, receiver, home);
        const current = [...versions].flatMap((version) => {
          const line = lost.has(`${name} ${version}`) ? undefined : lineOf(name, version);
          return line && PRESENT.includes(line.claim) ? [line] : [];
        });
        if (current.length > 1 && !unsure.has(name)) problem(`(b) current: ${current.map(firstLine)}`);
      }
    },
  };
}
