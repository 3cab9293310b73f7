import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createAppUrl, readPublicUrl } from '../../src/setup/main.ts';

const yaml = readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8');
const schema = readFileSync(new URL('../fixtures/slack-manifest.schema.2.0.0.json', import.meta.url), 'utf8');

const manifestFor = (publicUrl: string | undefined) =>
  JSON.parse(new URL(createAppUrl(yaml, publicUrl)).searchParams.get('manifest_json') ?? '');

test('the link holds the manifest with the public address in each place of the example', () => {
  const manifest = manifestFor('https://docket.acme.com');
  expect(manifest).toEqual(parse(yaml.replaceAll('docket.example.com', 'docket.acme.com')));
});

test('the link of one of several workspaces has its address', () => {
  const link = createAppUrl(yaml, 'https://docket.acme.com', 'globex');
  const manifest = new URL(link).searchParams.get('manifest_json') ?? '';
  expect(manifest).toContain('https://docket.acme.com/slack/globex/events');
  expect(manifest).not.toContain('/slack/events');
});

test('without an address it is for Socket Mode, and else the same', () => {
  const manifest = manifestFor(undefined);
  expect(JSON.stringify(manifest)).not.toMatch(/"(?:request_)?url"/);
  const { settings, features, oauth_config } = parse(yaml);
  expect(manifest.settings).toMatchObject({
    socket_mode_enabled: true,
    event_subscriptions: { bot_events: settings.event_subscriptions.bot_events },
  });
  expect(manifest.oauth_config).toEqual(oauth_config);
  expect(manifest.features.slash_commands).toMatchObject(
    features.slash_commands.map(({ url: _, ...command }: Record<string, unknown>) => command),
  );
});

test.each(['https://docket.acme.com', undefined])(
  'with the address %s it fits the schema of Slack, and browsers and servers take the link',
  (address) => {
    const check = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(
      JSON.parse(schema),
    );
    check(manifestFor(address));
    expect(check.errors).toBeNull();
    expect(createAppUrl(yaml, address).length).toBeLessThan(8000);
  },
);

test.each([
  ['https://docket.acme.com/', 'https://docket.acme.com'],
  ['https://acme.com/docket/slack/events/', 'https://acme.com/docket'],
  ['https://acme.com/slack/globex/events', 'https://acme.com'],
  ['http://docket.acme.com', undefined],
  ['docket.acme.com', undefined],
])('%s is the address %s', (typed, url) => expect(readPublicUrl(typed)).toBe(url));
