import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createAppUrl, manifestFor, readPublicUrl } from '../../src/setup/manifest.ts';

const yaml = readFileSync(new URL('../../manifest.yml', import.meta.url), 'utf8');

const ofLink = (link: string) => JSON.parse(new URL(link).searchParams.get('manifest_json') ?? '');

test('the link holds the manifest with the public address in each place of the example', () => {
  const manifest = ofLink(createAppUrl(manifestFor(yaml, 'https://docket.acme.com')));
  expect(JSON.stringify(manifest)).not.toContain('example.com');
  expect(manifest).toEqual(parse(yaml.replaceAll('docket.example.com', 'docket.acme.com')));
});

test('without an address it is for Socket Mode, and else the same', () => {
  const manifest = ofLink(createAppUrl(manifestFor(yaml, undefined)));
  expect(JSON.stringify(manifest)).not.toMatch(/"(?:request_)?url"/);
  const original = parse(yaml);
  expect(manifest.settings.socket_mode_enabled).toBe(true);
  expect(manifest.oauth_config).toEqual(original.oauth_config);
  expect(manifest.settings.event_subscriptions.bot_events).toEqual(
    original.settings.event_subscriptions.bot_events,
  );
  expect(manifest.features.slash_commands.map(({ command }: { command: string }) => command)).toEqual(
    original.features.slash_commands.map(({ command }: { command: string }) => command),
  );
});

test.each(['https://docket.acme.com', undefined])(
  'with the address %s it fits the schema of Slack',
  (address) => {
    const schema = readFileSync(
      new URL('../fixtures/slack-manifest.schema.2.0.0.json', import.meta.url),
      'utf8',
    );
    const check = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(
      JSON.parse(schema),
    );
    check(manifestFor(yaml, address));
    expect(check.errors).toBeNull();
  },
);

test('browsers and servers take the link', () => {
  expect(createAppUrl(manifestFor(yaml, 'https://docket.acme.com')).length).toBeLessThan(8000);
});

test.each([
  ['docket.acme.com', 'https://docket.acme.com'],
  ['https://docket.acme.com:8443/slack/events', 'https://docket.acme.com:8443'],
  ['https://acme.com/docket', 'https://acme.com/docket'],
  ['acme.com/apps/docket/', 'https://acme.com/apps/docket'],
  ['https://acme.com/docket/slack/events/', 'https://acme.com/docket'],
])('%s is the address %s', (typed, url) => expect(readPublicUrl(typed)).toEqual({ url }));

test.each([
  'http://docket.acme.com',
  'localhost',
  '10.0.0.1',
  'https://[::1]',
  'docket.local',
  'https://u@docket.acme.com',
  'https://docket.acme.com/?key=1',
  'https://docket.acme.com/#top',
  '',
])('%j is none', (typed) => expect(readPublicUrl(typed)).toEqual({ problem: expect.any(String) }));
