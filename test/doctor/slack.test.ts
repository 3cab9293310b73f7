import { expect, test } from 'vitest';
import { readSettings } from '../../src/config/settings.ts';
import { lineOfError } from '../../src/doctor/slack.ts';
import { SlackApiError } from '../../src/slack/errors.ts';

test.each(['ENOTFOUND', 'EAI_AGAIN'])("without DNS (%s), Slack's own address is not to blame", (code) => {
  const settings = readSettings({
    ...{ SLACK_BOT_TOKEN: 'xoxb-1', SLACK_APP_TOKEN: 'xapp-1' },
    ...{ DOCS_API_URL: 'http://127.0.0.1:9', DOCS_API_KEY: 'adm_1' },
  });
  const error = new SlackApiError('unreachable', 'auth.test', code);
  expect(lineOfError(settings, 'SLACK_BOT_TOKEN', 'Copy it again.', error)).toEqual({
    status: 'wrong',
    about: 'SLACK_BOT_TOKEN',
    text: `This machine can't look up slack.com (${code}). Check its DNS and its network, and HTTPS_PROXY if it is set.`,
  });
});
