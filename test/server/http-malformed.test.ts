import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { registry } from '../../src/commands/index.ts';
import { startTestApp } from '../support/app.ts';
import { typedByAna } from '../support/commands/builders.ts';
import { startTestRedis, type TestRedis } from '../support/redis.ts';
import { signatureOf } from '../support/sign.ts';

const SECRET = '0123456789abcdef0123456789abcdef';
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

const slack = createStandInSlack({ rateLimits: false });
let redis: TestRedis;
let docket: Awaited<ReturnType<typeof startTestApp>>;
let slackServer: { close(): Promise<void> };
beforeAll(async () => {
  redis = await startTestRedis();
  slackServer = await slack.listen();
  docket = await startTestApp({
    DOCKET_ROLE: 'web',
    REDIS_URL: redis.url,
    SLACK_BOT_TOKEN: slack.tokens.bot,
    SLACK_SIGNING_SECRET: SECRET,
    SLACK_API_URL: slack.apiUrl,
    LOG_LEVEL: 'silent',
  });
});
afterAll(async () => {
  await docket.stop();
  await Promise.all([slackServer.close(), redis.close()]);
});

interface Sent {
  contentType: string;
  body: string | Buffer;
}

async function statusOf({ contentType, body }: Sent, signed: boolean): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${docket.port}/slack/events`, {
    method: 'POST',
    headers: { 'content-type': contentType, ...signatureOf(body, signed ? SECRET : 'another') },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  });
  await answer.body?.cancel();
  return answer.status;
}

const asForm = (body: string): Sent => ({ contentType: FORM, body });
const asPayload = (json: string) => asForm(new URLSearchParams({ payload: json }).toString());
const asJson = (body: string | Buffer): Sent => ({ contentType: JSON_TYPE, body });

/** What Slack sends, one of each kind, with the parts that Docket reads. */
const team = { id: 'T0ACME' };
const user = { id: 'U0ANA', name: 'ana', team_id: 'T0ACME' };
const channel = { id: 'C0DOCS', name: 'docs' };
const asked = { team, user, trigger_id: '1.2.a', response_url: 'http://127.0.0.1:9/response' };
const message = { type: 'message', channel: 'C0DOCS', user: 'U0ANA', ts: '1.1', text: 'Hi', team: 'T0ACME' };
const event = {
  type: 'event_callback',
  team_id: 'T0ACME',
  event_id: 'Ev1',
  authorizations: [{ team_id: 'T0ACME', enterprise_id: null, user_id: 'U0BOT', is_bot: true }],
  event: { ...message, subtype: 'message_changed', message, previous_message: message },
};
const payloads = [
  {
    ...{ ...asked, type: 'block_actions', channel, message },
    actions: [{ type: 'button', action_id: registry.buttons[0]?.action, value: '{}' }],
  },
  {
    ...{ ...asked, type: 'message_action', channel, message, message_ts: '1.1' },
    callback_id: registry.shortcuts[0]?.callbackId,
  },
  {
    ...{ ...asked, type: 'view_submission' },
    view: {
      ...{ id: 'V1', callback_id: registry.modals[0]?.callbackId, app_installed_team_id: 'T0ACME' },
      private_metadata: JSON.stringify({ channel }),
      state: { values: { domain: { text: { type: 'plain_text_input', value: 'docs.acme.com' } } } },
    },
  },
];
const command = {
  command: '/docs-export',
  text: 'help',
  ...typedByAna,
  response_url: 'http://127.0.0.1:9/response',
};

const gone = Symbol('gone');
const odd = [gone, null, true, 'x'.repeat(3000), [null], { id: null, channel: 1, length: 1 }];

/** The value with each of its parts in turn replaced by each odd thing, or left out. */
function* oddOnes(value: unknown): Generator<unknown> {
  yield* odd;
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    for (const other of oddOnes(part)) {
      const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...value };
      if (other === gone) delete copy[key];
      else copy[key] = other;
      yield copy;
    }
  }
}
const oddJson = (values: readonly object[]) =>
  values.flatMap((value) => [...oddOnes(value)].flatMap((one) => JSON.stringify(one) ?? []));

/** Of no kind that Slack sends. */
const deep = `${'{"event":{"type":"message","blocks":['.repeat(20_000)}${']}}'.repeat(20_000)}`;
const anyJson = fc.sample(fc.json({ maxDepth: 3 }), { numRuns: 500, seed: 1 });
const anyText = [
  ...fc.sample(fc.string({ unit: 'binary', maxLength: 100 }), { numRuns: 300, seed: 2 }),
  ...['null', '[]', '1', '""', '{', '{"__proto__":{"event":null}}', '{"constructor":1,"type":"constructor"}'],
  ...[deep, '['.repeat(500_000), '%', '&&==', 'payload', 'payload=', 'a'.repeat(1_000_000)],
];
const anyBytes = fc
  .sample(fc.uint8Array({ maxLength: 100 }), { numRuns: 200, seed: 3 })
  .map((bytes) => Buffer.from(bytes));

/** The bodies that were answered with what they must not be, twenty at a time. */
async function wrongly(sent: readonly Sent[], signed: boolean, isRight: (status: number) => boolean) {
  const left = [...sent];
  const wrong: unknown[] = [];
  async function work() {
    for (let one = left.pop(); one; one = left.pop()) {
      const status = await statusOf(one, signed);
      if (!isRight(status)) wrong.push([status, one.body.toString().slice(0, 500)]);
    }
  }
  await Promise.all(Array.from({ length: 20 }, work));
  return wrong;
}

const kinds: [string, Sent[]][] = [
  ['JSON', [...oddJson([event]), ...anyJson, ...anyText].map(asJson)],
  ['JSON that is not text', anyBytes.map(asJson)],
  ['a form with a payload', [...oddJson(payloads), ...anyJson, ...anyText].map(asPayload)],
  [
    'a form',
    [
      ...oddJson([command]).map((json) =>
        new URLSearchParams(Object.entries(JSON.parse(json) ?? {})).toString(),
      ),
      ...anyText,
    ].map(asForm),
  ],
  ['another type', anyText.map((body) => ({ contentType: 'multipart/form-data; boundary=x', body }))],
];

test.each(kinds)('no body that is malformed, as %s, ends the process', async (_, sent) => {
  expect(await wrongly(sent, true, (status) => [200, 400, 401, 404, 500].includes(status))).toEqual([]);
  expect(await wrongly(sent, false, (status) => status === 401)).toEqual([]);
  // It is still there, and takes what is in order.
  expect(await statusOf(asForm(new URLSearchParams(command).toString()), true)).toBe(200);
});
