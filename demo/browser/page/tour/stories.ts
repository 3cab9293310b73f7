import type { Message } from '../../protocol.ts';
import { toMondayMs } from '../panel/clock.ts';
import type { Page } from '../shell/page-context.ts';
import { fromDocket, type Hands, textOf } from './hands.ts';

export interface Story {
  name: string;
  tell(hands: Hands): Promise<void>;
}

/** Returns what finds Docket's newest message that says this, and was not there when the story began. */
async function newOnes(hands: Hands): Promise<(page: Page, says: RegExp) => Message | undefined> {
  const before = await hands.until('the workspace', (page) => page.scene.workspace && fromDocket(page));
  const known = new Set(before.map(({ ts }) => ts));
  return (page, says) =>
    fromDocket(page).findLast((message) => !known.has(message.ts) && says.test(textOf(message)));
}

async function begin(hands: Hands): Promise<Awaited<ReturnType<typeof newOnes>>> {
  await hands.speakAs('ana');
  await hands.open('#docs');
  await hands.until('Docket', ({ scene }) => (scene.bot?.state ?? 'up') === 'up');
  return newOnes(hands);
}

const VERSION = '4.2';

async function exportSite(hands: Hands): Promise<void> {
  const found = await begin(hands);
  hands.say('Ana asks for a static export of the docs.');
  await hands.type(`/docs-export docs.acme.com --version ${VERSION}`);
  hands.say('One message is the card. It is edited as the export goes on; its thread has the rest.');
  const card = await hands.until('the card', (page) => found(page, /docs\.acme\.com/));
  await hands.thread(card);
  await hands.until('progress', (page) => found(page, /\d ?%/));
  hands.say('Try it: kill -9 Docket in the panel now. The export goes on, and finishes once.');
  const ending = await hands.until('the end of the export', (page) => found(page, /is exported/));
  await hands.point(ending);
  hands.say(
    'The bundle is ready. [Update production] notifies the self-hosted site, which fetches the bundle.',
  );
  await hands.click('Update production', { message: ending, below: '' });
  const served = await hands.until('the updated site', (page) => found(page, /production serves it since/));
  await hands.point(served);
  await hands.openSite();
  hands.say(`production serves the new version. If no tab opened: click ${VERSION} in the panel.`);
}

const FOLLOW_UP = 'Also add error handling to the quickstart.';

async function agent(hands: Hands): Promise<void> {
  const found = await begin(hands);
  hands.say('Ana gives the docs agent a task; the thread follows its job.');
  await hands.type('/docs-agent new Add an example to the quickstart');
  const card = await hands.until('the card of the job', (page) => {
    const message = found(page, /docs agent · /i);
    return message && (message.threadTs === undefined || message.threadTs === message.ts) && message;
  });
  await hands.thread(card);
  hands.say('The agent works on a branch; its progress shows in the thread.');
  const opened = await hands.until('the pull request', (page) => found(page, /opened a pull request/));
  hands.say('A pull request. [Preview] builds its branch, so that everybody can look at it.');
  await hands.click('Preview', { message: opened, below: '' });
  const ready = (page: Page) => found(page, /The preview of .+ is ready/);
  await hands.point(await hands.until('the preview', ready));
  hands.say('[Open preview] shows the pages. A reply in the thread is the next instruction.');
  await hands.type(FOLLOW_UP, card);
  await hands.until(
    'the second instruction',
    ({ scene }) => scene.agentJobs.some(({ prompts }) => prompts.length > 1) || undefined,
  );
  hands.say('The reply went to the agent as it is; the 👀 shows that it was accepted.');
  await hands.until('the end of the work', (page) => {
    const job = page.scene.agentJobs.find(({ prompts }) => prompts.includes(FOLLOW_UP));
    const now = fromDocket(page).find(({ ts }) => ts === card.ts);
    return job?.status === 'completed' && now && /Ready/.test(textOf(now));
  });
  const older = await hands.until('the older preview', (page) => found(page, /older than the agent/));
  hands.say('Done. The preview is older than this work, so it is built again.');
  await hands.click('Refresh preview', { message: older, below: '' });
  await hands.click('Open preview', { message: await hands.until('the preview', ready), below: '' });
  hands.say('The preview shows the latest work. If no tab opened: click [Open preview].');
}

const QUESTION = 'How often does a webhook retry?';

async function conversation(hands: Hands): Promise<void> {
  const found = await begin(hands);
  await hands.speakAs('ben');
  await hands.open('#docs');
  hands.say('Ben and Ana talk about a gap in the docs.');
  await hands.type(QUESTION);
  const question = await hands.until('the question', (page) => newestWith(page, QUESTION));
  await hands.speakAs('ana');
  await hands.open('#docs');
  await hands.thread(question);
  await hands.type('Three times. The guide does not say so.', question);
  await hands.type('@Docket Add this to the webhooks guide', question);
  const offer = await hands.until('the offer', (page) => found(page, /can go along/));
  hands.say('Docket shows Ana alone, word by word, what would go to the agent with her instruction.');
  await hands.point(offer);
  await hands.click('Send with the 2 messages above', {
    message: offer,
    below: 'Nothing else of the conversation',
  });
  hands.say('The agent gets the instruction and the two messages, as quotes.');
  const request = await hands.until('the pull request', (page) => found(page, /opened a pull request/));
  await hands.point(request);
  hands.say('The agent knew what the conversation was about. The panel shows what it got.');
}

/** Returns the newest message in #docs with this text. */
function newestWith({ scene }: Page, text: string): Message | undefined {
  const id = scene.conversations.find(({ label }) => label === '#docs')?.id ?? '';
  return (scene.messages.get(id) ?? []).findLast((message) => textOf(message).includes(text));
}

async function weekly(hands: Hands): Promise<void> {
  const found = await begin(hands);
  hands.say('A weekly digest of how people and AI read the docs, set up in a modal.');
  await hands.type('/docs-digest create');
  await hands.until('the modal', ({ scene }) => scene.modal);
  await hands.click('Set up');
  const created = await hands.until('the word that it is set up', (page) =>
    found(page, /first one|Set up|set up/),
  );
  await hands.point(created);
  hands.say('Docket sends Ana a preview as a direct message; nobody else sees it.');
  await hands.type('/docs-digest preview');
  await hands.until('the preview', (page) =>
    fromDocket(page).findLast((message) => message.ephemeral && message.ts > created.ts),
  );
  hands.say('The clock moves to Monday, 9:01, and Docket posts the digest by itself.');
  const posted = await newOnes(hands);
  let moved = 0;
  await hands.until('the clock', ({ nowMs }) => {
    moved = toMondayMs(nowMs);
    return true;
  });
  await hands.trouble({ do: 'move-clock', byMs: moved });
  const digest = await hands.until('the digest', (page) => {
    const message = posted(page, /views|readers/i);
    return message && !message.ephemeral && message;
  });
  await hands.point(digest);
  hands.say('The digest of the week: posted once, however often you kill Docket or move the clock.');
}

const MISSED = 'Searched, nothing clicked';

async function fromRow(hands: Hands): Promise<void> {
  const found = await begin(hands);
  hands.say('A digest of last week shows what readers searched for in vain.');
  await hands.type('/docs-digest last week');
  const digest = await hands.until('what readers looked for', (page) => {
    const message = found(page, new RegExp(MISSED));
    return message && /Ask the agent/.test(textOf(message)) && message;
  });
  await hands.thread(digest);
  await hands.point(digest);
  hands.say('Ana asks the docs agent to work on one of these rows.');
  await hands.click('Ask the agent', { message: digest, below: MISSED });
  await hands.until('the modal', ({ scene }) => scene.modal);
  hands.say('The instruction can be changed before it is sent.');
  for (;;) {
    const view = await hands.until('the modal', ({ scene }) => scene.modal);
    if (Object.keys(view.errors).length > 0) throw new Error('The modal wants something else.');
    await hands.chooseFirst();
    await hands.click(view.submit ?? 'Ask');
    const next = await hands.until('an answer to the modal', ({ scene }) =>
      scene.modal === undefined ? 'closed' : scene.modal.hash !== view.hash && 'more',
    );
    if (next === 'closed') break;
  }
  hands.say('The agent works in its own thread; its result appears under the digest.');
  const request = await hands.until('the pull request', (page) =>
    fromDocket(page).findLast(
      (message) => message.threadTs === digest.threadTs && /The agent opened/.test(textOf(message)),
    ),
  );
  await hands.point(request);
  hands.say('From what readers did not find to a pull request, without leaving Slack.');
}

export const STORIES: Story[] = [
  { name: 'An export', tell: exportSite },
  { name: 'The docs agent', tell: agent },
  { name: 'The conversation goes along', tell: conversation },
  { name: 'A weekly digest', tell: weekly },
  { name: 'From a digest row to a pull request', tell: fromRow },
];
