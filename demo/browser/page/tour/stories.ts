import { LABELS, SAYS } from '../../../words.ts';
import type { Message } from '../../protocol.ts';
import { nodesOf, stringOf, textOf as wordOf } from '../blocks/block.ts';
import { toMondayMs } from '../panel/clock.ts';
import type { Page } from '../shell/page-context.ts';
import { at, COMPOSER, FORM, type Hands, messagesIn, PANEL, SITE, textOf } from './hands.ts';

export interface Story {
  name: string;
  tell(hands: Hands): Promise<void>;
}

/** Returns the newest message that says this and was not there when the story began; Docket's, unless `anybody` counts. */
type Find = (page: Page, says: RegExp, anybody?: boolean) => Message | undefined;

async function newOnes(hands: Hands): Promise<Find> {
  const before = await hands.until('the workspace', (page) => page.scene.workspace && messagesIn(page));
  const known = new Set(before.map(({ ts }) => ts));
  return (page, says, anybody = false) =>
    messagesIn(page).findLast(
      (message) =>
        !known.has(message.ts) &&
        (anybody || message.user === page.scene.workspace?.bot) &&
        says.test(textOf(message)),
    );
}

async function begin(hands: Hands): Promise<Find> {
  hands.page().showSite(undefined);
  hands.page().showPanel(false);
  await hands.speakAs('ana');
  await hands.open('#docs');
  await hands.until('Docket', ({ scene }) => (scene.bot?.state ?? 'up') === 'up');
  return newOnes(hands);
}

/** Returns the version after the one that production has. */
const nextVersion = ({ scene }: Page): string =>
  `4.${Number(/^4\.(\d+)$/.exec(scene.deployment?.serves?.version ?? '')?.[1] ?? 1) + 1}`;

/** Starts an export of the next version. A digest names the site, too, but no version. */
async function startExport(hands: Hands, found: Find): Promise<{ card: Message; version: string }> {
  const version = await hands.until('the workspace', nextVersion);
  await hands.type(`/docs-export docs.acme.com --version ${version}`);
  const card = await hands.until('the card', (page) => found(page, SAYS.cardOf(version)));
  return { card, version };
}

async function inAMinute(hands: Hands): Promise<void> {
  await exportToSite(hands, await begin(hands));
  await rowToPullRequest(hands, await begin(hands));
}

async function exportToSite(hands: Hands, found: Find): Promise<void> {
  await hands.say('Ana is about to publish a new version of the docs. She asks for an export.', COMPOSER);
  const { card, version } = await startExport(hands, found);
  await hands.say('The channel gets one message: the card, which shows the state.', at(card));
  await hands.thread(card);
  // After a pause, the end may be there in its place.
  const progress = await hands.until(
    'progress',
    (page) => found(page, SAYS.progress) ?? (found(page, SAYS.exported) && 'over'),
  );
  if (progress !== 'over')
    await hands.say('Its thread has the progress, which notifies nobody.', at(progress));
  const ending = await hands.until('the end of the export', (page) => found(page, SAYS.exported));
  await hands.say('Done. Ana is mentioned once, and sends the export to the docs site.', at(ending));
  await hands.click(LABELS.deploy, { message: ending });
  const live = await hands.until('the new version on the site', (page) => found(page, SAYS.live));
  await hands.say('The site has confirmed that it shows the new version.', at(live));
  const url = await hands.until('the site', ({ scene }) => scene.deployment?.url);
  hands.page().showSite({ url, title: 'production, as readers see it' });
  await hands.say(`Readers have ${version} now. No dashboard, no file to carry over.`, SITE);
  hands.page().showSite(undefined);
}

async function rowToPullRequest(hands: Hands, found: Find): Promise<void> {
  await hands.say('Next: what do readers miss? The same digest comes by itself every week.', COMPOSER);
  await hands.type('/docs-digest last week');
  const pull = await askAboutRow(hands, found);
  await hands.say('A pull request, from what readers did not find. Nobody left Slack.', at(pull));
}

/** Asks the agent about the first search of a digest. Returns the message with the pull request. */
async function askAboutRow(hands: Hands, found: Find): Promise<Message> {
  const digest = await hands.until('what readers looked for', (page) => {
    const message = found(page, new RegExp(SAYS.searched));
    return message && textOf(message).includes(LABELS.askAgent) && message;
  });
  await hands.thread(digest);
  await hands.say('Readers searched for this, and clicked nothing.', at(digest, SAYS.searched));
  await hands.click(LABELS.askAgent, { message: digest, below: SAYS.searched });
  await hands.until('the form', ({ scene }) => scene.modal);
  await hands.say("Ana asks the docs agent to fix it. She can change the request before it's sent.", FORM);
  for (;;) {
    const view = await hands.until('the form', ({ scene }) => scene.modal);
    if (Object.keys(view.errors).length > 0) throw new Error('The form asks for something else.');
    await hands.chooseFirst();
    await hands.click(view.submit ?? LABELS.ask);
    const next = await hands.until('an answer to the form', ({ scene }) =>
      scene.modal === undefined ? 'closed' : scene.modal.hash !== view.hash && 'more',
    );
    if (next === 'closed') break;
  }
  const card = await hands.until('the card of the job', (page) => found(page, SAYS.agentCard));
  await hands.thread(card);
  await hands.say('The docs agent works on it. A reply in this thread would reach it, too.', at(card));
  return hands.until('the pull request', (page) => found(page, SAYS.pullRequest));
}

const FOLLOW_UP = 'Also add error handling to the quickstart.';
const SECOND = 'And mention the timeouts.';

async function agent(hands: Hands): Promise<void> {
  const found = await begin(hands);
  await hands.say('Ana asks the docs agent for something.', COMPOSER);
  await hands.type('/docs-agent new Add an example to the quickstart');
  const card = await hands.until('the card of the job', (page) => found(page, SAYS.agentCard));
  await hands.thread(card);
  await hands.say('This thread follows the job. The agent works on a branch.', at(card));
  const opened = await hands.until('the pull request', (page) => found(page, SAYS.pullRequest));
  await hands.say('A pull request. Before anybody merges it, Ana looks at the pages.', at(opened));
  await hands.click(LABELS.buildPreview, { message: opened });
  const ready = await hands.until('the preview', (page) => found(page, SAYS.previewReady));
  await showPreview(hands, ready, 'The preview shows what the agent wrote.');
  await hands.say('A reply in the thread is the next request.', COMPOSER);
  await hands.type(FOLLOW_UP, card);
  await hands.type(SECOND, card);
  const resultOf = (page: Page) => found(page, SAYS.resultOf(SECOND));
  // On a slow machine, the agent may be done with the first one.
  const waiting = await hands.until('the wait', (page) => found(page, SAYS.waiting) ?? resultOf(page));
  if (SAYS.waiting.test(textOf(waiting)))
    await hands.say('The agent still works on the first one, so the second one waits for it.', at(waiting));
  await hands.until('the end of the second one', resultOf);
  const older = await hands.until('the older preview', (page) => found(page, SAYS.previewOld));
  await hands.say('The agent has changed the branch, so the preview is out of date.', at(older));
  const foundAgain = await newOnes(hands);
  await hands.click(LABELS.buildAgain, { message: older });
  const again = await hands.until('the new preview', (page) => foundAgain(page, SAYS.previewReady));
  await showPreview(hands, again, 'The preview shows the latest work.');
  await hands.say(
    'The page is right, so Ben merges the pull request. The clock moves on by 5 minutes.',
    at(again),
  );
  await hands.page().trouble({ do: 'pull-request', change: 'merge' });
  const merged = await hands.until('the merge', (page) => found(page, SAYS.merged));
  await hands.say('Docket has seen that, and says so without a mention.', at(merged));
  await hands.until('the card', (page) =>
    messagesIn(page).some((one) => one.ts === card.ts && SAYS.mergedBy.test(textOf(one))),
  );
  await hands.say('The card says who merged it.', at(card));
}

async function showPreview(hands: Hands, message: Message, line: string): Promise<void> {
  const buttons = message.blocks.flatMap(({ elements }) => nodesOf(elements));
  const url = stringOf(buttons.find(({ text }) => wordOf(text) === LABELS.openPreview)?.url);
  await hands.say('[Open preview] opens the pages.', at(message));
  if (url === undefined) throw new Error('The preview has no link.');
  hands.page().showSite({ url, title: 'A preview of the branch' });
  await hands.say(line, SITE);
  hands.page().showSite(undefined);
}

const QUESTION = 'How often does a webhook retry?';

async function conversation(hands: Hands): Promise<void> {
  const found = await begin(hands);
  await hands.speakAs('ben');
  await hands.open('#docs');
  await hands.type(QUESTION);
  const question = await hands.until('the question', (page) => found(page, /webhook retry/, true));
  await hands.say('Ben has found a gap in the docs, and asks Ana about it.', at(question));
  await hands.speakAs('ana');
  await hands.open('#docs');
  await hands.thread(question);
  await hands.type('Three times. The guide does not say so.', question);
  await hands.type('@Docket Add this to the webhooks guide', question);
  const offer = await hands.until('the offer', (page) => found(page, SAYS.earlierMessages));
  await hands.say('Docket shows Ana alone, word by word, what else would be sent.', at(offer));
  await hands.click(LABELS.sendQuoted, { message: offer });
  const request = await hands.until('the pull request', (page) => found(page, SAYS.pullRequest));
  await hands.say(
    'The agent knew what the conversation was about. [Behind the scenes] shows what it got.',
    at(request),
  );
}

async function weekly(hands: Hands): Promise<void> {
  const found = await begin(hands);
  await hands.say('Each week, a channel can get a digest of how people and AI read the docs.', COMPOSER);
  await setUpDigest(hands, found);
  const { digest } = await nextMonday(hands);
  await hands.say('The digest of the week: posted once, even if Docket is killed at 9:00.', at(digest));
}

async function setUpDigest(hands: Hands, found: Find): Promise<void> {
  await hands.type('/docs-digest create');
  await hands.until('the form', ({ scene }) => scene.modal);
  await hands.say('One form: the channel, the day, the time.', FORM);
  await hands.click(LABELS.setUp);
  const created = await hands.until(
    'the word that it is set up',
    (page) =>
      found(page, SAYS.digestSetUp) ??
      (Object.keys(page.scene.modal?.errors ?? {}).length > 0 && ('exists' as const)),
  );
  if (created === 'exists') {
    await hands.say('The channel has a digest from the last time. One is enough.', FORM);
    await hands.closeForm();
  } else await hands.say('It is set up. The clock now moves to Monday, 9:01.', COMPOSER);
}

/** Moves the clock. Returns the digest that is posted then, and how to find what comes with it. */
async function nextMonday(hands: Hands): Promise<{ digest: Message; found: Find }> {
  const found = await newOnes(hands);
  const byMs = await hands.until('the clock', ({ nowMs }) => toMondayMs(nowMs));
  await hands.page().trouble({ do: 'move-clock', byMs });
  const digest = await hands.until('the digest', (page) => {
    const message = found(page, SAYS.digestSpoken);
    return message && !message.ephemeral && message;
  });
  return { digest, found };
}

/** The weeks from a merge on a Monday to the digest that has two whole weeks after it. */
const WEEKS_LATER = 3;

async function didItHelp(hands: Hands): Promise<void> {
  const begun = await begin(hands);
  await hands.say(
    'A request from a digest is fixed and merged. Did it help? Ana waits for Monday.',
    COMPOSER,
  );
  await setUpDigest(hands, begun);
  const { found } = await nextMonday(hands);
  const pull = await askAboutRow(hands, found);
  await hands.say('A pull request, from what readers did not find. Ben merges it.', at(pull));
  await hands.until('the pull request at its host', ({ scene }) => scene.gitHost?.open);
  await hands.page().trouble({ do: 'pull-request', change: 'merge' });
  const merged = await hands.until('the merge', (page) => found(page, SAYS.merged));
  await hands.say('Merged. Now the clock moves on by three weeks, from Monday to Monday.', at(merged));
  let { digest } = await nextMonday(hands);
  for (let week = 1; week < WEEKS_LATER; week += 1) ({ digest } = await nextMonday(hands));
  // Its numbers are asked for after those of the digest.
  await hands.page().trouble({ do: 'move-clock', byMs: 11 * 60_000 });
  // An older digest may have such a line, too.
  const line = await hands.until('the line', (page) =>
    messagesIn(page).find((one) => one.threadTs === digest.ts && SAYS.since.test(textOf(one))),
  );
  await hands.thread(digest);
  await hands.say('The digest says what readers have done since: numbers, and no promises.', at(line));
}

async function breakIt(hands: Hands): Promise<void> {
  const found = await begin(hands);
  await hands.say('Docket promises: nothing is lost, nothing happens twice. Ana starts an export.', COMPOSER);
  const { card } = await startExport(hands, found);
  await hands.thread(card);
  await hands.until('progress', (page) => found(page, SAYS.progress));
  hands.page().showPanel(true);
  await hands.say('In the middle of it, the tour kills Docket.', PANEL);
  await hands.click('kill -9', 'panel');
  await hands.until('the end of Docket', ({ scene }) => scene.bot?.state !== 'up');
  await hands.until('the new Docket', ({ scene }) => scene.bot?.state === 'up');
  await hands.say('A new process takes over from what was stored.', PANEL);
  if (matchMedia('(max-width: 900px)').matches) hands.page().showPanel(false);
  await hands.thread(card);
  const ending = await hands.until('the end of the export', (page) => found(page, SAYS.exported));
  await hands.say(
    'The export was started once and ends once. [Behind the scenes] has more trouble to try.',
    at(ending),
  );
}

/** The one that the first screen offers. */
export const IN_A_MINUTE: Story = { name: 'Show me in 60 s', tell: inAMinute };
export const BREAK_IT: Story = { name: 'Now break it', tell: breakIt };
export const STORIES: Story[] = [
  IN_A_MINUTE,
  { name: 'The docs agent', tell: agent },
  { name: 'Earlier messages', tell: conversation },
  { name: 'A weekly digest', tell: weekly },
  { name: 'Did it help?', tell: didItHelp },
  BREAK_IT,
];
